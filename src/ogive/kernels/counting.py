"""Exact counts of pairs in O(n log n): concordant, discordant and tied, greater and equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class PairCounts:
    """Pairs of records of two columns; every pair is concordant, discordant or tied somewhere.

    Fields:
        pairs: n (n - 1) / 2.
        concordant, discordant: Pairs that both columns order the same way, and opposite ways.
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

    Source:
        Knight, A computer method for calculating Kendall's tau with ungrouped data, JASA 1966.
    """
    pairs = len(first) * (len(first) - 1) // 2
    order = np.lexsort((second, first))
    ranks, sizes = np.unique(second, return_inverse=True, return_counts=True)[1:]
    ranked, ordered_first = ranks.astype(np.int64)[order], first[order]
    tied_first, tied_both = _in_runs([ordered_first]), _in_runs([ordered_first, ranked])
    tied_second = int((sizes * (sizes - 1) // 2).sum())
    discordant = int(inversions(ranked))
    ordered = pairs - tied_first - tied_second + tied_both
    return PairCounts(pairs, ordered - discordant, discordant, tied_first, tied_second, tied_both)


def tied(columns: list[Float64]) -> int:
    """Pairs of records that are equal in all of some columns, each of shape (n,)."""
    order = np.lexsort(columns)
    return _in_runs([column[order] for column in columns])


def _in_runs(columns: list[NDArray[Any]]) -> int:
    """Pairs of neighbors, next or further, that are equal in all of some columns, where equal records are together."""
    size = len(columns[0])
    fresh = np.zeros(size, dtype=np.bool_)
    fresh[:1] = True
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    runs = np.diff(np.append(np.flatnonzero(fresh), size))
    return int((runs * (runs - 1) // 2).sum())


def count_greater(positives: Float64, negatives: Float64) -> tuple[int, int]:
    """Pairs of one of each sample in which the positive is greater, and in which both are equal."""
    ordered = np.sort(negatives)
    below = int(np.searchsorted(ordered, positives, side="left").sum())
    not_above = int(np.searchsorted(ordered, positives, side="right").sum())
    return below, not_above - below


@njit(cache=True)
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
