"""Kernels of one column of numbers: absolute difference (Gini), half its square (variance), mean of the pair.

All closed forms hold on any grid. x is uniform on a cell of middle m and width w, y on the same or a disjoint one, and
s is the sum of both widths:

    |x - y|        mean |m - m'|, or w/3 in one cell; from |m - m'| - s/2 to |m - m'| + s/2, or 0 to w
    (x - y)^2 / 2  mean ((m - m')^2 + (w^2 + w'^2)/12) / 2, also in one cell; halves of the squares of those ends
    (x + y) / 2    mean (m + m')/2, within s/4 of it
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.kernels.base import BITS, Scale, column_of, exact_dot, paired_rows, pairs_of, step, steps
from ogive.kernels.cells import Named, check_count, check_numbers, ends, middles, widths


class _OfNumbers(Named):
    """A kernel of one column of numbers; `title` names it in messages."""

    title: ClassVar[str]

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of numbers."""
        check_count(columns, 1, self.title)
        check_numbers(columns, self.title)


@dataclass(frozen=True)
class AbsoluteDifference(_OfNumbers):
    """`|x - y|`; its mean over pairs is Gini's mean difference."""

    name: ClassVar[str] = "absolute_difference"
    title: ClassVar[str] = "the absolute difference"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray(np.abs(left[..., 0] - right[..., 0]))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to the distance of the bounds."""
        low, high = ends(columns.columns[0])
        return 0.0, high - low

    def lipschitz(self, columns: Domain) -> float | None:
        """1."""
        return 1.0

    def cell_means(self, columns: Domain) -> Float64:
        """Mean distance of two cells."""
        middle, width = middles(columns.columns[0]), widths(columns.columns[0])
        means = np.abs(middle[:, None] - middle)
        np.fill_diagonal(means, width / 3)
        return means

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Smallest and largest distance of two cells."""
        lows, highs = columns.columns[0].cells()
        least = np.maximum(np.maximum(lows[:, None] - highs, lows - highs[:, None]), 0.0)
        most = np.maximum(highs[:, None] - lows, highs - lows[:, None])
        return least, most

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Gini's mean difference, by sorting."""
        values = np.sort(paired_rows(rows, 1)[:, 0])
        return float((values - values[0]) @ _coefficients(len(values)) / pairs_of(len(values)))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 2^-bits of the bounds."""
        return Scale(step(columns, bits), Fraction(0), 1 << bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of distances of rounded values."""
        return exact_dot(_coefficients(len(rows)), np.sort(steps(rows, columns, bits)))


@dataclass(frozen=True)
class HalfSquare(_OfNumbers):
    """(x - y)^2 / 2; its mean over pairs is the sample variance, with denominator n - 1.

    The variance also follows from sums of x and x^2; this kernel serves as a comparison.
    """

    name: ClassVar[str] = "half_square"
    title: ClassVar[str] = "the variance"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray((left[..., 0] - right[..., 0]) ** 2 / 2)

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to half the squared distance of the bounds."""
        low, high = ends(columns.columns[0])
        return 0.0, (high - low) ** 2 / 2

    def lipschitz(self, columns: Domain) -> float | None:
        """The distance of the bounds."""
        low, high = ends(columns.columns[0])
        return high - low

    def cell_means(self, columns: Domain) -> Float64:
        """Mean over two cells."""
        middle, square = middles(columns.columns[0]), widths(columns.columns[0]) ** 2 / 12
        return np.asarray(((middle[:, None] - middle) ** 2 + square[:, None] + square) / 2)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Least and largest value over two cells."""
        least, most = AbsoluteDifference().cell_extremes(columns)
        return least**2 / 2, most**2 / 2

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Sample variance, with denominator n - 1."""
        return float(np.var(paired_rows(rows, 1)[:, 0], ddof=1))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Values are rounded to 2^-bits of the bounds, so squares are in steps of 4^-bits."""
        return Scale(step(columns, bits) ** 2 / 2, Fraction(0), 1 << (2 * bits))

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of squared distances of rounded values: n times the sum of squares less the squared sum."""
        values = steps(rows, columns, bits)
        return len(rows) * exact_dot(values, values) - int(values.sum()) ** 2


@dataclass(frozen=True)
class PairMeanKernel(_OfNumbers):
    """(x + y) / 2; its mean over pairs is the mean. It provides the covariance for ratios to the mean."""

    name: ClassVar[str] = "pair_mean"
    title: ClassVar[str] = "the mean"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray((left[..., 0] + right[..., 0]) / 2)

    def range(self, columns: Domain) -> tuple[float, float]:
        """The bounds."""
        return ends(columns.columns[0])

    def lipschitz(self, columns: Domain) -> float | None:
        """Half."""
        return 0.5

    def cell_means(self, columns: Domain) -> Float64:
        """Mean of the two midpoints."""
        middle = middles(columns.columns[0])
        return np.asarray((middle[:, None] + middle) / 2)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Means of both lower ends and of both upper ends."""
        lows, highs = columns.columns[0].cells()
        return (lows[:, None] + lows) / 2, (highs[:, None] + highs) / 2

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Mean of the values."""
        return float(np.mean(paired_rows(rows, 1)[:, 0]))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Half steps of 2^-bits of the bounds, from the lower bound; one record moves a pair half the range."""
        return Scale(step(columns, bits) / 2, Fraction(column_of(columns).grid.low), 1 << bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum over pairs of both rounded values: every record is in n - 1 pairs."""
        return (len(rows) - 1) * int(steps(rows, columns, bits).sum())


def _coefficients(records: int) -> Int64:
    """How often the i-th smallest value is the larger of a pair, less how often it is the smaller."""
    return 2 * np.arange(records, dtype=np.int64) - (records - 1)
