"""How well each of several ways to measure suits some records: the score by which one is selected privately.

A linear way to measure has a noise-free image of the records' curve. With C the cumulative counts and R x the
difference of image and curve, a linear map of the histogram x, the distance

    d(x) = || R x ||,   || v ||^2 = 2 / N * sum of v_j^2

is the bias in records, in L2 over the axis [-1, 1]. Being a norm of a linear map, it moves by at most
|| R (x - x') || between two histograms: by the largest distance between two columns of R if a record is
replaced, by the largest norm of a column if one is added. Both are computed from R, for every strategy alike. (For an
orthogonal projection I - P is a contraction, so the former is at most the norm of a step, sqrt(2); for an unbiased
strategy R = 0.) The score minus sqrt(d^2 + c^2), with c the public size of the noise, moves by no more than d does.

Scores are rounded to integers, of 2^-8 records each, so they move by at most one more, and by less than one more by
the rounding of floating point, as long as there are at most 2^31 records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency
from ogive.strategies import Strategy
from ogive.strategies.base import approximates

FRACTION_BITS = 8
MOST_RECORDS = 1 << 31
LARGEST_SIZE = 1024
_UNIT = 1 << FRACTION_BITS
_ROOM = 1 + 1e-6


@dataclass(frozen=True)
class ApproximationScore:
    """Minus the predicted error of each way to measure, from its bias on the records and the size of its noise.

    Fields:
        size: Number of bins of the histogram that is scored.
        strategies: The ways, each for at most 1024 bins, all for as many; bins are joined to as many first. Those
            that are unbiased have no distance whatever the records.
        noise: Of each, the public size of its noise in units of 2^-8 records, L2 on the axis [-1, 1].
        total_known: Whether the number of records is public, so that images are pinned to it.
    """

    size: int
    strategies: tuple[Strategy, ...]
    noise: tuple[int, ...]
    total_known: bool

    def __post_init__(self) -> None:
        sizes = {strategy.size for strategy in self.strategies}
        if not self.strategies or len(sizes) != 1 or len(self.noise) != len(self.strategies):
            raise ParameterError("`candidates` must all be for one number of bins, each with a size of its noise")
        if not 1 <= self._bins <= min(self.size, LARGEST_SIZE):
            raise ParameterError(f"`candidates` must be for 1 to {min(self.size, LARGEST_SIZE)} bins, got {self._bins}")
        if not all(isinstance(each, int) and 0 <= each < 1 << 50 for each in self.noise):
            raise ParameterError(f"sizes of noise must be whole numbers from 0 to 2^50, got {quoted(self.noise)}")

    @property
    def method(self) -> str:
        """What the selection is called in the provenance of a curve."""
        return "selected"

    @property
    def _bins(self) -> int:
        return self.strategies[0].size

    @property
    def candidates(self) -> int:
        """Number of strategies that are compared."""
        return len(self.strategies)

    def scores(self, sums: Int64) -> Int64:
        """Minus sqrt(distance^2 + noise^2) of each way, in units of 2^-8 records, rounded.

        Raises:
            UnsupportedError: there are more than 2^31 records.
        """
        counts = self._joined(sums)
        if int(counts.sum()) > MOST_RECORDS:
            raise UnsupportedError("private selection is for at most 2^31 records")
        found = [
            -round(math.hypot(self._distance(strategy, counts) * _UNIT, noise))
            for strategy, noise in zip(self.strategies, self.noise, strict=True)
        ]
        return np.array(found, dtype=np.int64)

    def _joined(self, sums: Int64) -> Int64:
        """Records per bin of the coarser grid."""
        if self._bins == self.size:
            return sums
        starts = np.arange(self._bins, dtype=np.int64) * self.size // self._bins
        joined: Int64 = np.add.reduceat(sums, starts)
        return joined

    def _distance(self, strategy: Strategy, counts: Int64) -> float:
        if not approximates(strategy):
            return 0.0
        total = int(counts.sum()) if self.total_known else None
        gap = strategy.estimate(strategy.measure(counts), total) - np.cumsum(counts)
        return float(np.sqrt(2 * np.mean(gap**2)))

    def sensitivity(self, adjacency: Adjacency) -> int:
        """Largest change of a score by one record, from the columns of every candidate's map."""
        moved = max(self._moved(strategy, adjacency) for strategy in self.strategies)
        return math.ceil(moved * _ROOM * _UNIT) + 2

    def _moved(self, strategy: Any, adjacency: Adjacency) -> float:
        return _largest_change(strategy, self.total_known, adjacency)

    def monotone(self, adjacency: Adjacency) -> bool:
        """Always false: one record may raise one candidate's score and lower another's."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "score": "approximation",
            "size": self.size,
            "strategies": [strategy.to_dict() for strategy in self.strategies],
            "noise": list(self.noise),
            "total_known": self.total_known,
        }


@lru_cache(maxsize=64)
def _largest_change(strategy: Any, total_known: bool, adjacency: Adjacency) -> float:
    """Largest change of the distance by one record; 0 for unbiased strategies."""
    if not approximates(strategy):
        return 0.0
    columns = residuals(strategy, total_known=total_known)
    squares = np.einsum("ij,ij->i", columns, columns)
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return math.sqrt(float(squares.max()))
    between = squares[:, np.newaxis] + squares - 2 * (columns @ columns.T)
    return math.sqrt(max(0.0, float(between.max())))


def residuals(strategy: Strategy, *, total_known: bool) -> Float64:
    """The map R of a strategy for one record in each bin, shape (N, N), scaled so that plain norms are those of L2."""
    size = strategy.size
    each = np.eye(size, dtype=np.int64)
    measured = np.array([strategy.measure(row) for row in each])
    curves = strategy.estimate(measured, 1 if total_known else None)
    steps = np.cumsum(each, axis=1)
    values: Float64 = (curves - steps) * math.sqrt(2 / size)
    return values
