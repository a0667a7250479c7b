"""Noisy counts at a few thresholds, and straight lines in between: the result of adaptive quantiles.

Each count was a query of its own, at a threshold that may depend on the counts before it. The strategy holds the
thresholds in the order of these queries, and the law of the noise, which every count has of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import is_whole
from ogive.core.parameters import plain_fields
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, GaussianDP, PureDP
from ogive.strategies.base import Level, batch, histogram
from ogive.strategies.counted_noise import check_counted, counted_loss, read_counted_law


@dataclass(frozen=True)
class OpenedThresholds:
    """Noisy counts of the records at or below some thresholds, with linear interpolation between them.

    Fields:
        size: Number of bins, N.
        points: 0-based thresholds in the order they were asked, each once. Where the number of records is
            private the last one, N - 1, is among them.
        law: Noise of every count, on the scale where a record counts 2^bits.
        bits: Fractional bits of the counts.
    """

    size: int
    points: tuple[int, ...]
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    name: ClassVar[str] = "adaptive"

    def __post_init__(self) -> None:
        check_counted(self.size, (self.law,), self.bits)
        points = tuple(self.points)
        numbers = bool(points) and all(map(is_whole, points))
        if not numbers or len(set(points)) < len(points) or not 0 <= min(points) <= max(points) < self.size:
            raise ParameterError(
                f"`points` must be different whole numbers from 0 to {self.size - 1}, got {quoted(points)}"
            )
        object.__setattr__(self, "points", points)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per count."""
        return (Level(len(self.points), self.law),)

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (T, N)."""
        below = (np.arange(self.size) <= np.array(self.points)[:, np.newaxis]).astype(np.int64)
        scaled: Int64 = below << self.bits
        return scaled

    def measure(self, counts: Int64) -> Int64:
        """Cumulative counts at the points times 2^bits, shape (T,)."""
        totals = np.cumsum(histogram(counts, self.size))
        if int(totals[-1]) >= 1 << (61 - self.bits):
            raise DataError("this many records do not fit the fixed-point counts of adaptive quantiles")
        scaled: Int64 = totals[np.array(self.points)] << self.bits
        return scaled

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every count has its own."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> PureDP | GaussianDP:
        """Exact loss of all counts together.

        Privacy:
            One record moves every count by one at most; the count of all records only where it is private.
        """
        moved = len(self.points)
        if adjacency is Adjacency.REPLACE and self.size - 1 in self.points:
            moved = max(1, moved - 1)
        return counted_loss(self.law, self.bits, l1=moved, l2_squared=moved, integers=len(self.points))

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N): the noisy counts at their thresholds, straight lines between."""
        rows, shape = batch(answer, len(self.points))
        return self._between(np.ldexp(rows.astype(np.float64), -self.bits), total).reshape(*shape, self.size)

    def matched(self, answer: Int64, total: int | None) -> Float64:
        """The same with counts and thresholds each put in order and matched by rank, clipped to what is possible.

        A monotone curve; sorting never takes the counts farther from the true ones, which are in order.
        """
        rows, shape = batch(answer, len(self.points))
        counts = np.maximum(np.ldexp(rows.astype(np.float64), -self.bits), 0.0)
        if total is not None:
            counts = np.minimum(counts, total)
            if self.size - 1 in self.points:
                counts[:, self.points.index(self.size - 1)] = total
        ranked = np.empty_like(counts)
        ranked[:, self._order] = np.sort(counts, axis=1)
        return self._between(ranked, total).reshape(*shape, self.size)

    @cached_property
    def _order(self) -> Int64:
        return np.argsort(np.array(self.points), kind="stable")

    @cached_property
    def _places(self) -> tuple[Int64, Float64]:
        """For each threshold the knot before it (0 is the start of the axis), and how far it is to the next."""
        knots = self._knots
        bins = np.arange(1, self.size + 1)
        before = np.searchsorted(knots, bins, side="left") - 1
        return before, (bins - knots[before]) / np.diff(knots)[before]

    @cached_property
    def _knots(self) -> Int64:
        """Numbers of bins below the points, with the ends of the axis, increasing."""
        return np.unique(np.array([0, *(point + 1 for point in self.points), self.size]))

    def _between(self, counts: Float64, total: int | None) -> Float64:
        """Straight lines through the counts, shape (rows, N)."""
        start = np.zeros((len(counts), 1))
        inner = counts[:, self._order]
        if self.size - 1 in self.points:
            inner = inner[:, :-1] if total is not None else inner
        elif total is None:
            raise ParameterError("the number of records is private and was not asked for, so no curve can be drawn")
        parts = [start, inner] if total is None else [start, inner, np.full((len(counts), 1), float(total))]
        at_knots = np.concatenate(parts, axis=1)
        before, share = self._places
        values: Float64 = at_knots[:, before] + share * (at_knots[:, before + 1] - at_knots[:, before])
        if total is not None:
            values[:, -1] = total
        return values

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,), the thresholds taken as given."""
        before, share = self._places
        noisy = np.ones(len(self._knots))
        noisy[0] = 0.0
        if total_known or self.size - 1 not in self.points:
            noisy[-1] = 0.0
        values: Float64 = (1 - share) ** 2 * noisy[before] + share**2 * noisy[before + 1]
        return values * (self.law.variance / 4.0**self.bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> OpenedThresholds:
        """Rebuild from `to_dict`."""
        law = read_counted_law(data["law"], "adaptive quantiles take")
        if not isinstance(data["points"], list | tuple):
            raise ParameterError(f"`points` must be a list of whole numbers, got {quoted(data['points'])}")
        return OpenedThresholds(data["size"], tuple(data["points"]), law, data["bits"])
