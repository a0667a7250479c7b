"""Kernels that compare: products of signs (Kendall) and greater (AUC).

They look at the order of values alone, so they jump and have no Lipschitz constant. Two different
cells are always ordered; values of one wide cell are free, and equal with probability 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.columns import Domain
from ogive.kernels.cells import check_count, widths
from ogive.kernels.counting import count_greater, count_pairs
from ogive.kernels.exact import BITS, COUNTS, HALVES, SIGNS, Scale, finite_rows, paired_rows, split_classes
from ogive.kernels.matrices import Indicator, Named, around, combined, sign_extremes, signs

TIES = ("half", "strict")
"""What a tie counts for in an AUC: half a pair in the right order, or nothing."""


@dataclass(frozen=True)
class SignProduct(Named):
    """sign(y - y') sign(z - z') of two columns; its mean over pairs is Kendall's tau-a, in which ties count 0."""

    name: ClassVar[str] = "sign_product"
    samples: ClassVar[int] = 1

    def check(self, columns: Domain) -> None:
        """Refuse anything but two columns."""
        check_count(columns, 2, "Kendall's tau")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """1 for concordant pairs, -1 for discordant ones, 0 for ties."""
        return np.asarray(np.sign(left[..., 0] - right[..., 0]) * np.sign(left[..., 1] - right[..., 1]))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From -1 to 1."""
        return -1.0, 1.0

    def lipschitz(self, columns: Domain) -> float | None:
        """None: signs are not continuous."""
        return None

    def cell_means(self, columns: Domain) -> Float64:
        """Products of both columns' signs; 0 within a cell of either."""
        return combined([signs(column) for column in columns.columns])

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Extremes of products of signs."""
        (first_low, first_high), (second_low, second_high) = (sign_extremes(column) for column in columns.columns)
        products = [
            combined([first, second]) for first in (first_low, first_high) for second in (second_low, second_high)
        ]
        return np.minimum.reduce(products), np.maximum.reduce(products)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Kendall's tau-a: concordant minus discordant pairs, divided by all pairs."""
        counts = count_pairs(*paired_rows(rows, 2).T)
        return (counts.concordant - counts.discordant) / counts.pairs

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Whole pairs; one record turns a pair from concordant to discordant."""
        return SIGNS

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Concordant minus discordant pairs."""
        counts = count_pairs(rows[:, 0], rows[:, 1])
        return counts.concordant - counts.discordant


@dataclass(frozen=True)
class Greater(Indicator):
    """1 if a score of the positive class exceeds one of the negative class; its mean is the AUC.

    Fields:
        ties: "half" counts equal scores as half a pair (as rank statistics do), "strict" as none.

    Raises:
        ParameterError: ties is neither.
    """

    ties: str = "half"

    name: ClassVar[str] = "greater"
    samples: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_ties(self.ties)

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of scores."""
        check_count(columns, 1, "the AUC of two samples")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """1, or 0, or what a tie counts for; `left` is of the positive class."""
        above = np.asarray(left[..., 0] > right[..., 0], dtype=np.float64)
        return above + np.asarray(left[..., 0] == right[..., 0]) / 2 if self.ties == "half" else above

    def cell_means(self, columns: Domain) -> Float64:
        """1 below the diagonal; half within a wide cell, and what a tie counts for within a point."""
        (column,) = columns.columns
        means = (signs(column) + 1) / 2
        if self.ties == "strict":
            means[np.diag_indices_from(means)] = np.where(widths(column) > 0, 0.5, 0.0)
        return means

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """0 and 1 within a wide cell, else equal."""
        (column,) = columns.columns
        return around(self.cell_means(columns), np.where(widths(column) > 0, 0.5, 0.0))

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """AUC, by ranks."""
        positives, negatives = split_classes(finite_rows(rows, 1), classes)
        greater, equal = count_greater(positives[:, 0], negatives[:, 0])
        ordered = tie_sum(greater, equal, self.ties) * float(tie_scale(self.ties).unit)
        return ordered / (len(positives) * len(negatives))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Half pairs if ties count half, else whole ones."""
        return tie_scale(self.ties)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Pairs of one of each class in the right order, in units of `scale`."""
        positives, negatives = split_classes(rows, classes)
        return tie_sum(*count_greater(positives[:, 0], negatives[:, 0]), self.ties)


def check_ties(ties: str) -> None:
    """Refuse an unknown rule of ties."""
    among(ties, "ties", TIES)


def tie_scale(ties: str) -> Scale:
    """Half pairs if ties count half, else whole ones."""
    return HALVES if ties == "half" else COUNTS


def tie_sum(greater: int, equal: int, ties: str) -> int:
    """Pairs in the right order, in units of `tie_scale`."""
    return 2 * greater + equal if ties == "half" else greater
