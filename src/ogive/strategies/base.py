"""What is measured so that a whole distribution function can be estimated.

A strategy turns the histogram x of N bins (int64) into integer measurements, says which
independent integer noise is added where, what that costs, and how the noisy measurements
become estimates of the N cumulative counts:

    answer   = measure(x) + spread(noise)            integers
    estimate = estimate(answer, total)               floats; linear in the answer

`measure` and `spread` are integer linear maps, so parties that each hold some records can
add up `measure` of their own histograms and any division of the noise. Privacy is a
property of the strategy alone (`loss`), computed from its fields and the adjacency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from ogive.arrays import Float64, Int64
from ogive.noise.base import Law
from ogive.privacy import Adjacency, Loss


@dataclass(frozen=True)
class Level:
    """One level of noise nodes: how many there are, and the law each is drawn from, independently."""

    nodes: int
    law: Law


@runtime_checkable
class Strategy(Protocol):
    """Interface; frozen plain data with no subclass. Bins and nodes are 0-based in code.

    `size` is N, the number of published thresholds. Point i (0-based) is the number of
    records in bins 0..i. Arrays may have leading batch dimensions, written `...`.
    """

    name: ClassVar[str]

    @property
    def size(self) -> int:
        """Number of bins and of published points, N."""
        ...

    @property
    def levels(self) -> tuple[Level, ...]:
        """The independent noise variables, level by level."""
        ...

    def measure(self, counts: Int64) -> Int64:
        """Exact integer measurements, shape (M,), of a histogram, shape (N,)."""
        ...

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """What the node noise (per level, shape (..., nodes)) adds to the measurements, shape (..., M)."""
        ...

    def loss(self, adjacency: Adjacency) -> Loss:
        """The exact (or safely rounded up) privacy loss of publishing the answer."""
        ...

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N), from answers, shape (..., M); unbiased, but for `Approximating` ones.

        `total` is the number of records where that is public (REPLACE), else None. With a
        known total the last point equals it exactly and the others are conditioned on it.
        """
        ...

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each estimated cumulative count, shape (N,)."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.strategies.strategy_from_dict` inverts it."""
        ...


@runtime_checkable
class Approximating(Strategy, Protocol):
    """A strategy that measures less than a whole curve, so its estimate has a bias besides its noise.

    The bias depends on the shape of the data, vanishes for curves of the strategy's own shape, and no amount of
    records makes it smaller. `variance` is that of the noise alone. The measurements are sums over records:

        measure(counts) = features @ counts,   features of shape (M, N).

    Fields of its answers are not independent estimates of thresholds, so statements about the whole curve go back to
    what all curves with these measurements have in common.
    """

    @property
    def features(self) -> Int64:
        """What one record in each bin adds to the measurements, shape (M, N)."""
        ...


def approximates(strategy: Strategy) -> bool:
    """Whether a strategy is an `Approximating` one; asks its type alone, so that no features are computed."""
    return hasattr(type(strategy), "features")


@runtime_checkable
class Pointwise(Strategy, Protocol):
    """A strategy whose points can be opened one at a time, each with its own few noise nodes."""

    def measure_at(self, counts: Int64, points: Int64) -> Int64:
        """Exact measurements of the given 0-based points, shape (points,)."""
        ...

    def nodes_at(self, points: Int64) -> tuple[Int64, ...]:
        """Per level of `levels`, the 0-based noise node of each point, shape (points,)."""
        ...

    def spread_at(self, noise: tuple[Int64, ...]) -> Int64:
        """What the noise of those nodes (per level, shape (..., points)) adds to each point, shape (..., points)."""
        ...

    def estimate_at(self, answer: Int64, points: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts at the given points from their answers, shape (..., points).

        A known total is used where the last point is among them.
        """
        ...
