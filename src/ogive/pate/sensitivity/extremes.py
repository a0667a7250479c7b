"""Chances of losing the plurality within d changed teachers: the largest and the smallest, for every d.

The largest is at the histogram that moves d votes from the first class to the second; the smallest at the one that
moves d votes to the first class, each from the class that is then second. Both are extreme in the order of prefix sums
of sorted gaps (`docs/proofs/pate_sensitivity.md`).

Every chance is a function of the sorted histogram alone, summed in one order: two ways to the same histogram give the
same bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ogive.arrays import Float64, Int64
from ogive.compiling import njit

# below this log a chance is summed in logs, since its smaller terms would leave the doubles
_FAINT = -600.0


class Rivals(NamedTuple):
    """Chance that one rival wins over the first class, by the gap between them.

    Fields:
        logs: Natural logs, shape (teachers + 1,).
        chances: The same, zero where they leave the doubles.
        log_cap: log(1 - 1/classes), above which no chance of losing the plurality lies.
    """

    logs: Float64
    chances: Float64
    log_cap: float

    @property
    def teachers(self) -> int:
        """Votes in a histogram."""
        return self.logs.size - 1

    @classmethod
    def of(cls, sigma: float, *, teachers: int, classes: int, tie_gap: float = 0.0) -> Rivals:
        """Tabulate Phi(-(gap - tie_gap) / (sqrt 2 sigma)).

        Args:
            sigma: Standard deviation of the noise of a count.
            teachers: Votes in a histogram.
            classes: At least 2.
            tie_gap: What integer noise takes off every gap, since it ties: 0 for continuous noise.
        """
        logs = log_ndtr(-(np.arange(teachers + 1) - tie_gap) / (math.sqrt(2) * sigma))
        return cls(logs, np.exp(logs), math.log1p(-1 / classes))

    def log_unanimous(self, classes: int) -> float:
        """The smallest there is: all teachers agree."""
        row = np.zeros(classes, np.int64)
        row[0] = self.teachers
        return float(log_losing_row(row, self.logs, self.chances, self.log_cap))


def sorted_votes(votes: Int64) -> Int64:
    """Counts of every query in falling order, shape (queries, classes)."""
    return np.ascontiguousarray(np.sort(votes, axis=1)[:, ::-1])


def log_extremes(ordered: Int64, rivals: Rivals) -> tuple[Float64, Float64]:
    """The least and the largest log chance within d changed teachers, each shape (queries, teachers), d = 0, 1, ...

    Where the first two classes can be made equal the largest is the cap.
    """
    shape = (ordered.shape[0], rivals.teachers)
    low, high = np.empty(shape), np.empty(shape)
    _fill_extremes(ordered, rivals.logs, rivals.chances, rivals.log_cap, low, high)
    return low, high


@njit(error_model="numpy")
def log_losing_row(row: Int64, logs: Float64, chances: Float64, cap: float) -> float:
    """Log of the sum over rivals; classes without votes are one term."""
    first = row[0]
    least = logs[first - row[1]]
    total = 0.0
    at = 1
    if least > _FAINT:
        while at < row.size and row[at] > 0:
            total += chances[first - row[at]]
            at += 1
        total += (row.size - at) * chances[first]
        summed: float = min(math.log(total), cap)
        return summed
    while at < row.size and row[at] > 0:
        total += math.exp(logs[first - row[at]] - least)
        at += 1
    total += (row.size - at) * math.exp(logs[first] - least)
    faint: float = min(least + math.log(total), cap)
    return faint


@njit(error_model="numpy")
def raise_once(row: Int64) -> bool:
    """Move a vote from the first class to the second, if the first stays first."""
    if row[0] - row[1] < 2:
        return False
    row[0] -= 1
    row[1] += 1
    return True


@njit(error_model="numpy")
def lower_once(row: Int64) -> bool:
    """Move a vote from the second class to the first, if there is one; the last of those that tie, so order stays."""
    level = row[1]
    if level == 0:
        return False
    at = 1
    while at + 1 < row.size and row[at + 1] == level:
        at += 1
    row[at] -= 1
    row[0] += 1
    return True


@njit(error_model="numpy")
def _fill_extremes(ordered: Int64, logs: Float64, chances: Float64, cap: float, low: Float64, high: Float64) -> None:
    for query in range(ordered.shape[0]):
        row = ordered[query].copy()
        going = True
        for distance in range(high.shape[1]):
            high[query, distance] = log_losing_row(row, logs, chances, cap) if going else cap
            going = going and raise_once(row)
        row = ordered[query].copy()
        least = 0.0
        going = True
        for distance in range(low.shape[1]):
            if going:
                least = log_losing_row(row, logs, chances, cap)
            low[query, distance] = least
            going = going and lower_once(row)
