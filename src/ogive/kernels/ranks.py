"""Kernels that compare: signs (Kendall), greater (AUC), ties and equality; exact counts of pairs and null variances.

Kernels of order look at the order of values alone, so they jump and have no Lipschitz constant. Two different
cells are always ordered; values of one wide cell are free, and equal with probability 0.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, refuse_masked
from ogive.core.compiling import njit
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.base import (
    BITS,
    COUNTS,
    HALVES,
    SIGNS,
    Indicator,
    Kernel,
    Scale,
    apart_extremes,
    around,
    check_count,
    check_label,
    check_points,
    check_records,
    combined,
    finite_rows,
    paired_rows,
    pairs_of,
    sign_extremes,
    signs,
    split_classes,
    widths,
)

# --- Exact counts of pairs, in O(n log n)


@dataclass(frozen=True)
class PairCounts:
    """Pairs of records of two columns; every pair is concordant, discordant or tied somewhere.

    Fields:
        pairs: n (n - 1) / 2.
        concordant, discordant: Pairs that both columns order in the same way, and in opposite ways.
        tied_first, tied_second, tied_both: Pairs that are equal in the first column (whatever the second says), in the
            second, and in both.
    """

    pairs: int
    concordant: int
    discordant: int
    tied_first: int
    tied_second: int
    tied_both: int


def count_pairs(first: Float64, second: Float64) -> PairCounts:
    """Count the pairs of two columns, by sorting both and counting inversions while merging.

    Raises:
        ParameterError: the columns are not of one length.
        DataError: something is masked, or they are so long that counts could leave 64 bits.

    Source:
        Knight, A computer method for calculating Kendall's tau with ungrouped data, JASA 1966.
    """
    if np.ndim(first) != 1 or np.shape(first) != np.shape(second):
        raise ParameterError(
            f"count pairs of two columns of one length, got shapes {np.shape(first)} and {np.shape(second)}"
        )
    check_records(len(first))
    refuse_masked(first)
    refuse_masked(second)
    pairs = pairs_of(len(first))
    different, seconds, sizes = np.unique(second, return_inverse=True, return_counts=True)
    both = np.sort(_numbered(first) * different.size + seconds)
    firsts, ranked = np.divmod(both, different.size)
    tied_first, tied_both = _in_runs(firsts), _in_runs(both)
    tied_second = int((sizes * (sizes - 1) // 2).sum())
    discordant = int(inversions(ranked))
    ordered = pairs - tied_first - tied_second + tied_both
    return PairCounts(pairs, ordered - discordant, discordant, tied_first, tied_second, tied_both)


def tied(columns: list[Float64]) -> int:
    """Pairs of records that are equal in all of some columns, each of shape (n,)."""
    check_records(len(columns[0]))
    together: NDArray[Any] = columns[0]
    for column in columns[1:]:
        different, numbers = np.unique(column, return_inverse=True)
        together = _numbered(together) * different.size + numbers
    return _in_runs(np.sort(together))


def _numbered(values: NDArray[Any]) -> Int64:
    """Ranks of values among the different ones, equal for equal values: below n, so that products of two fit."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _in_runs(ordered: NDArray[Any]) -> int:
    """Pairs of equal values where equal ones are together."""
    fresh = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    runs = np.diff(np.concatenate([[0], fresh, [ordered.size]]))
    return int((runs * (runs - 1) // 2).sum())


def count_greater(positives: Float64, negatives: Float64) -> tuple[int, int]:
    """Pairs of one of each sample in which the positive is greater, and in which both are equal."""
    check_records(len(positives) + len(negatives))
    ordered, result = np.sort(negatives), np.sort(positives)
    below = int(np.searchsorted(ordered, result, side="left").sum())
    not_above = int(np.searchsorted(ordered, result, side="right").sum())
    return below, not_above - below


@njit()
def inversions(values: Int64) -> int:
    """Pairs i < j with values[i] > values[j], by merging runs from the bottom up."""
    size = values.size
    source, target = values.copy(), np.empty_like(values)
    total = 0
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle = min(start + width, size)
            end = min(start + 2 * width, size)
            left, right = start, middle
            for place in range(start, end):
                if left < middle and (right >= end or source[left] <= source[right]):
                    target[place] = source[left]
                    left += 1
                else:
                    target[place] = source[right]
                    total += middle - left
                    right += 1
        source, target = target, source
        width *= 2
    return total


# --- Products of signs, and greater

TIES = ("half", "strict")
"""What a tie counts for in an AUC: half a pair in the right order, or nothing."""


class _Counted(Indicator):
    """A kernel whose pairs are counted, in whole or in half ones; of `_width` columns."""

    _width: ClassVar[int | None] = None

    @abstractmethod
    def _count(self, rows: Float64) -> int:
        """Over all pairs, in units of `scale`."""

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The U-statistic of exact rows, from counts of pairs."""
        rows = paired_rows(rows, self._width)
        return self._unit.mean(self._count(rows), pairs_of(len(rows)))

    @property
    def _unit(self) -> Scale:
        return COUNTS

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Whole pairs, or half ones where ties count half."""
        return self._unit

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum over all pairs, in units of `scale`."""
        return self._count(rows)


@dataclass(frozen=True)
class SignProduct(_Counted):
    """sign(y - y') sign(z - z') of two columns; its mean over pairs is Kendall's tau-a, in which ties count 0."""

    name: ClassVar[str] = "sign_product"
    _width: ClassVar[int | None] = 2

    def check(self, columns: Domain) -> None:
        """Refuse anything but two columns."""
        check_count(columns, 2, "Kendall's tau")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray(np.sign(left[..., 0] - right[..., 0]) * np.sign(left[..., 1] - right[..., 1]))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From -1 to 1."""
        return -1.0, 1.0

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

    @property
    def _unit(self) -> Scale:
        return SIGNS  # one record turns a pair from concordant to discordant

    def _count(self, rows: Float64) -> int:
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
        among(self.ties, "ties", TIES)

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
        return tie_scale(self.ties).mean(tie_sum(greater, equal, self.ties), len(positives) * len(negatives))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Half pairs if ties count half, else whole ones."""
        return tie_scale(self.ties)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Pairs of one of each class in the right order, in units of `scale`."""
        positives, negatives = split_classes(rows, classes)
        return tie_sum(*count_greater(positives[:, 0], negatives[:, 0]), self.ties)


def tie_scale(ties: str) -> Scale:
    """Half pairs if ties count half, else whole ones."""
    return HALVES if ties == "half" else COUNTS


def tie_sum(greater: int, equal: int, ties: str) -> int:
    """Pairs in the right order, in units of `tie_scale`."""
    return 2 * greater + equal if ties == "half" else greater


# --- An AUC whose labels are private: score and label in one record


@dataclass(frozen=True)
class ScoreOrder(_Counted):
    """1 if the record of the positive class has the greater score; else, and within a class, 0.

    Rows are (score, label), the label 1 for the positive class. The AUC is the mean of this kernel over that of
    `Untied((1,))`, the share of pairs whose labels differ: both are of the same responses.

    Fields:
        ties: Value of equal scores of different classes: "half" or "strict" (nothing).

    Raises:
        ParameterError: ties is neither.
    """

    ties: str = "half"

    name: ClassVar[str] = "score_order"
    _width: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        among(self.ties, "ties", TIES)

    def check(self, columns: Domain) -> None:
        """Refuse anything but a score and a label of two classes."""
        check_count(columns, 2, "an AUC with private labels")
        check_label(columns.columns[1])

    def __call__(self, left: Float64, right: Float64) -> Float64:
        greater = Greater(self.ties)
        above, below = greater(left, right), greater(right, left)
        sign = left[..., 1] - right[..., 1]
        return np.asarray(np.where(sign > 0, above, np.where(sign < 0, below, 0.0)))

    def cell_means(self, columns: Domain) -> Float64:
        """Those of `Greater`, where labels differ."""
        return _between(Greater(self.ties).cell_means(Domain(columns.columns[:1])))

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Those of `Greater`, where labels differ."""
        least, most = Greater(self.ties).cell_extremes(Domain(columns.columns[:1]))
        return _between(least), _between(most)

    @property
    def _unit(self) -> Scale:
        return tie_scale(self.ties)

    def _count(self, rows: Float64) -> int:
        positive = rows[:, 1] == 1
        return tie_sum(*count_greater(rows[positive, 0], rows[~positive, 0]), self.ties)


def auc_factor(records: int, positives: int) -> float:
    """Factor from the mean of `ScoreOrder` over all pairs to the AUC, for known class sizes.

    Args:
        records: Number of all records, at least 2.
        positives: Number of records of the positive class, at least 1 and fewer than all.

    Raises:
        DataError: a class is empty.
    """
    if not 0 < positives < records:
        raise DataError("an AUC needs a record of each class")
    return pairs_of(records) / (positives * (records - positives))


def _between(scores: Float64) -> Float64:
    """Matrix over (score, label) from one over scores, rows of the positive class."""
    size = len(scores)
    whole = np.zeros((size, 2, size, 2))
    whole[:, 1, :, 0] = scores
    whole[:, 0, :, 1] = scores.T
    return whole.reshape(2 * size, 2 * size)


# --- Whether two records are the same: ties (of Kendall's tau-b and gamma) and collisions


@dataclass(frozen=True)
class Untied(_Counted):
    """1 if two records differ in each of some columns, else 0; the denominator of tau-b and gamma.

    Fields:
        columns: Indices of one or two columns in the domain; the kernel ignores the others.

    Raises:
        ParameterError: there are no indices, more than two or equal ones, or one is not a whole number from 0.
    """

    columns: tuple[int, ...] = (0,)

    name: ClassVar[str] = "untied"

    def __post_init__(self) -> None:
        places = self.columns
        whole = isinstance(places, tuple) and all(type(place) is int and place >= 0 for place in places)
        if not whole or not 1 <= len(places) <= 2 or len(set(places)) < len(places):
            raise ParameterError(
                f"`columns` must be one or two different places of columns, 0 or more, got {quoted(places)}"
            )

    def check(self, columns: Domain) -> None:
        """Refuse a domain without these columns."""
        if max(self.columns) >= len(columns.columns):
            raise ParameterError(
                f"untied looks at column {max(self.columns)}, counted from 0, but there are {len(columns.columns)}"
            )

    def __call__(self, left: Float64, right: Float64) -> Float64:
        places = list(self.columns)
        return np.asarray(np.all(left[..., places] != right[..., places], axis=-1), dtype=np.float64)

    def cell_means(self, columns: Domain) -> Float64:
        """0 within a point of any of the columns, else 1."""
        return self.cell_extremes(columns)[1]

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """0 and 1 within a wide cell, else equal."""
        parts = []
        for number, column in enumerate(columns.columns):
            ones = np.ones((column.size, column.size))
            parts.append(apart_extremes(column) if number in self.columns else (ones, ones))
        return combined([least for least, _ in parts]), combined([most for _, most in parts])

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Share of pairs that differ in each of the columns."""
        rows = paired_rows(rows)
        if max(self.columns) >= rows.shape[1]:
            raise ParameterError(f"`rows` must have more than {max(self.columns)} columns, got {rows.shape[1]}")
        return super().exact(rows)

    def _count(self, rows: Float64) -> int:
        chosen = [rows[:, place] for place in self.columns]
        untied = pairs_of(len(rows)) - sum(tied([column]) for column in chosen)
        return untied + tied(chosen) if len(chosen) > 1 else untied


@dataclass(frozen=True)
class Equal(_Counted):
    """1 if two records are equal in every column, else 0; its mean is the collision probability."""

    name: ClassVar[str] = "equal"

    def check(self, columns: Domain) -> None:
        """Refuse columns whose bins hold many values, since exact values would almost never be equal."""
        check_points(columns, "collision")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray(np.all(left == right, axis=-1), dtype=np.float64)

    def cell_means(self, columns: Domain) -> Float64:
        """The identity."""
        return np.eye(columns.size)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """The identity, twice."""
        return np.eye(columns.size), np.eye(columns.size)

    def _count(self, rows: Float64) -> int:
        return tied(list(rows.T))


# --- Variances of rank statistics if the null hypothesis holds, with what ties take off them
#
# P is the number of pairs in order of two classes (ties one half), and S concordant minus discordant pairs of two
# columns. Ties only make both variances smaller. Formulas: docs/proofs/significance.md.
#
# Source:
#     Lehmann 1975, Nonparametrics; Kendall 1970, Rank correlation methods.


def tie_share(counts: Float64, records: float) -> float:
    """What ties take off the variance of P as a share of it: sum (t^3 - t) / (n^3 - n)."""
    tied = np.maximum(counts, 1.0)
    return min(1.0, float(np.sum(tied**3 - tied)) / max(records**3 - records, 1.0))


def in_order_variance(negatives: float, positives: float, ties: float = 0.0) -> float:
    """Variance of P for two classes of these sizes; `ties` is the `tie_share`."""
    return negatives * positives * (negatives + positives + 1) / 12 * (1 - ties)


def kendall_variance(records: int, first: Float64 | None = None, second: Float64 | None = None) -> float:
    """Variance of concordant minus discordant pairs; without runs of equal values where these are not given."""
    n = float(records)
    result = _runs(np.array([n])) / 18
    if first is None or second is None:
        return result
    pairs = [float(np.sum(t * (t - 1))) / 2 for t in (first, second)]
    triples = [float(np.sum(t * (t - 1) * (t - 2))) for t in (first, second)]
    result -= (_runs(first) + _runs(second)) / 18
    result += 2 * pairs[0] * pairs[1] / (n * (n - 1))
    return result + (triples[0] * triples[1] / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)


def null_variance(kernel: Kernel, rows: Float64, classes: Int64 | None) -> float | None:
    """Variance of the mean of a kernel over pairs of these rows under the null hypothesis; None of other kernels.

    `rows`: Columns of the kernel, shape (n, columns). `classes`: The public class of each row, if there are classes.
    """
    n = len(rows)
    pairs = n * (n - 1) / 2
    if isinstance(kernel, SignProduct):
        return kendall_variance(n, _sizes(rows[:, 0]), _sizes(rows[:, 1])) / pairs**2
    if isinstance(kernel, Greater) and kernel.ties == "half" and classes is not None:
        positives = float(np.count_nonzero(classes))
        product = (n - positives) * positives
        return in_order_variance(n - positives, positives, tie_share(_sizes(rows[:, 0]), n)) / product**2
    if isinstance(kernel, ScoreOrder) and kernel.ties == "half":
        positives = float(np.count_nonzero(rows[:, 1] == 1))
        return in_order_variance(n - positives, positives, tie_share(_sizes(rows[:, 0]), n)) / pairs**2
    return None


def _runs(sizes: Float64) -> float:
    return float(np.sum(sizes * (sizes - 1) * (2 * sizes + 5)))


def _sizes(values: Float64) -> Float64:
    return np.unique(values, return_counts=True)[1].astype(np.float64)
