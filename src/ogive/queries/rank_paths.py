"""By how many records several bins together are off as quantiles: the score of a joint selection.

Bins o_1 <= ... <= o_m divide the records into m + 1 parts. A bin's records may be divided between the parts on its two
sides in any ratio. Were the bins exactly right, part k would hold the share of the records that lies between the wanted
quantiles k and k + 1. The score is how far the parts are from that, with the best division of every bin:

    fixed total:  sum over parts of |part - share * n| / 2, the records to be replaced until the bins are exactly right,
    free total:   the least over N of the sum of |part - share * N|, the records to be added or removed until then.

With x_k the records below the cut in bin o_k less the wanted number, the sum is the length of the walk 0, x_1, ...,
x_m, end on the line. Every x_k may lie anywhere in an interval of the ranks of its bin, and the shortest walk through
intervals is the lazy one: keep the set of best places, and leave it only for an interval that it does not meet.

Source: Gillenwater, Joseph and Kulesza 2021 for the sum with a fixed total and no shared values. Proofs:
`docs/proofs/joint.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Int64


@dataclass(frozen=True)
class Ranks:
    """Ranks of the bins of a histogram, and the wanted ones, as multiples of one part in `unit` of a record.

    Fields:
        below, upto: Records below each bin, and with its own, times `unit`; shape (bins,).
        records: Number of records.
        unit: Common denominator of the probabilities.
        wanted: Probabilities times `unit`, not decreasing.
    """

    below: Int64
    upto: Int64
    records: int
    unit: int
    wanted: tuple[int, ...]

    @classmethod
    def of(cls, sums: Int64, unit: int, wanted: Sequence[int]) -> Ranks:
        """The ranks of a histogram."""
        upto = np.cumsum(sums) * unit
        return cls(upto - sums * unit, upto, int(sums.sum()), unit, tuple(wanted))

    def too_high(self, number: int) -> Int64:
        """How far each bin lies above the wanted rank of a quantile, 0 if it does not; shape (bins,)."""
        return np.maximum(0, self.below - self.wanted[number] * self.records)

    def too_low(self, number: int) -> Int64:
        """The same below."""
        return np.maximum(0, self.wanted[number] * self.records - self.upto)

    def lengths(self, bins: Int64, totals: Int64) -> Int64:
        """Lengths of the shortest walks.

        Args:
            bins: Shape (rows, quantiles), not decreasing in a row.
            totals: The number of records N that wanted ranks are shares of, shape (rows,).

        Returns:
            Shape (rows,).
        """
        low = high = length = np.zeros(len(bins), np.int64)
        ends = self.unit * (self.records - totals)
        for number in range(len(self.wanted) + 1):
            if number < len(self.wanted):
                aim = self.wanted[number] * totals
                first, last = self.below[bins[:, number]] - aim, self.upto[bins[:, number]] - aim
            else:
                first = last = ends
            length = length + np.maximum(0, first - high) + np.maximum(0, low - last)
            # the nearest end where the interval is not met, else what both have in common
            low, high = np.clip(low, first, last), np.clip(high, first, last)
        return length

    def free_lengths(self, bins: Int64) -> Int64:
        """The least lengths over all whole numbers of records, shape (rows,): they are convex in that number."""
        here = np.full(len(bins), self.records, np.int64)
        reach = self.lengths(bins, here) // self.unit + 1
        low, high = np.maximum(0, here - reach), here + reach
        while True:
            open_ = low < high
            if not open_.any():
                return self.lengths(bins, low)
            middle = (low + high) // 2
            falls = open_ & (self.lengths(bins, middle) > self.lengths(bins, middle + 1))
            low = np.where(falls, middle + 1, low)
            high = np.where(open_ & ~falls, middle, high)
