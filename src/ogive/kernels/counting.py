"""Exact counts of pairs in O(n log n): concordant, discordant and tied, greater and equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Float64, Int64
from ogive.checks import refuse_masked
from ogive.compiling import njit
from ogive.errors import ParameterError
from ogive.kernels.exact import check_records


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
    pairs = len(first) * (len(first) - 1) // 2
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
    ordered, found = np.sort(negatives), np.sort(positives)
    below = int(np.searchsorted(ordered, found, side="left").sum())
    not_above = int(np.searchsorted(ordered, found, side="right").sum())
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
