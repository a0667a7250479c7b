"""Local sensitivity of a GNMax answer's cost within d changed teachers, as a maximum over a range of chances.

Nothing is asked of the cost but that it never falls in q. The chances q within d changed teachers fill an interval; the
intervals of neighbours are nested, and so are the cells that cover them, for the cells are fixed beforehand by public
numbers alone. Hence the maximum over them is smooth (`docs/proofs/pate_sensitivity.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.pate.costs.gnmax import GnmaxBound
from ogive.pate.sensitivity.extremes import Rivals, log_extremes
from ogive.pate.sensitivity.neighbours import log_neighbour_bounds

CELLS = 4000


@dataclass(frozen=True)
class Cells:
    """Cells of equal width in s = sqrt(-log q), from an even split to unanimous votes.

    Fields:
        start: s of the largest chance.
        width: Of a cell.
        count: How many.
    """

    start: float
    width: float
    count: int

    @classmethod
    def of(cls, rivals: Rivals, *, classes: int, count: int = CELLS) -> Cells:
        """Cells that every histogram of as many teachers and classes shares."""
        start = math.sqrt(-rivals.log_cap)
        end = math.sqrt(-rivals.log_unanimous(classes))
        return cls(start, max(end - start, 1e-9) / count, count)

    def log_ends(self) -> tuple[Float64, Float64]:
        """Log chances at the smaller and at the larger end of every cell, each shape (count,)."""
        logs: Float64 = -((self.start + self.width * np.arange(self.count + 1, dtype=np.float64)) ** 2)
        return logs[1:], logs[:-1]

    def place(self, log_q: Float64) -> Int64:
        """The cell of each chance, same shape."""
        cell = np.floor((np.sqrt(-log_q) - self.start) / self.width).astype(np.int64)
        return np.clip(cell, 0, self.count - 1)


def cell_sensitivities(bound: GnmaxBound, cells: Cells, *, classes: int) -> Float64:
    """A bound on the local sensitivity at every chance of a cell, shape (cells,)."""
    small, large = cells.log_ends()
    low, _ = log_neighbour_bounds(small, bound.sigma, classes)
    _, high = log_neighbour_bounds(large, bound.sigma, classes)
    return np.asarray(np.maximum(bound.beta(high) - bound.beta(small), bound.beta(large) - bound.beta(low)))


def range_profiles(ordered: Int64, rivals: Rivals, cells: Cells, sensitivities: Float64) -> Float64:
    """Largest bound within d changed teachers, d = 0, 1, ...

    Args:
        ordered: Counts of every query in falling order, shape (queries, classes).
        rivals: Chances by gap.
        cells: The cells.
        sensitivities: Of each cell.

    Returns:
        Shape (queries, teachers), never falling along the last axis.
    """
    low, high = log_extremes(ordered, rivals)
    out = np.empty(low.shape)
    # small chances lie in late cells
    _fill_maxima(cells.place(high), cells.place(low), sensitivities, out)
    return out


@njit(error_model="numpy")
def _fill_maxima(first: Int64, last: Int64, values: Float64, out: Float64) -> None:
    """Maximum of values[first..last] for ranges that only widen along a row; every value is seen once a row."""
    for row in range(out.shape[0]):
        left, right = first[row, 0], first[row, 0]
        most = values[left]
        for column in range(out.shape[1]):
            while left > first[row, column]:
                left -= 1
                most = max(most, values[left])
            while right < last[row, column]:
                right += 1
                most = max(most, values[right])
            out[row, column] = most
