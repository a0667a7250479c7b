"""What is measured so that a whole distribution function can be estimated, and what strategies share.

A strategy turns the histogram x of N bins (int64) into integer measurements, says which
independent integer noise is added where, what that costs, and how the noisy measurements
become estimates of the N cumulative counts:

    answer   = measure(x) + spread(noise)            integers
    estimate = estimate(answer, total)               floats; linear in the answer

`measure` and `spread` are integer linear maps, so parties that each hold some records can
add up `measure` of their own histograms and any division of the noise. Privacy is a
property of the strategy alone (`loss`), computed from its fields and the adjacency.

Of integer measurements with independent noise, level by level: if a change of one record moves those of level l by
at most `l1[l]` in sum of absolute values, discrete Laplace noise of scale b_l there costs `l1[l] / b_l` of epsilon,
and the levels add up. Discrete Gaussian noise costs `l2_squared[l] / (2 sigma_l^2)` of rho. All exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Protocol, Self, TypeGuard, cast, runtime_checkable

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import WIDE, KeptByType, Range, all_whole, array_of, plain_fields, whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.noise.base import Law
from ogive.privacy import Adjacency, ApproxDP, Loss, PureDP, ZeroConcentratedDP

MeasuredPrivacy = PureDP | ZeroConcentratedDP


@dataclass(frozen=True)
class Level:
    """One level of noise nodes: how many there are, and the law each is drawn from, independently."""

    nodes: int
    law: Law


@runtime_checkable
class Strategy(Protocol, metaclass=KeptByType):
    """Interface; frozen plain data with no subclass. Bins and nodes are 0-based in code.

    `size` is N, the number of published thresholds. Point i (0-based) is the number of
    records in bins 0..i. Arrays may have leading batch dimensions, written `...`.
    """

    name: ClassVar[str]

    @property
    def size(self) -> int:
        """Number of bins and of published points, N."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """The independent noise variables, level by level."""

    def measure(self, counts: Int64) -> Int64:
        """Exact integer measurements, shape (M,), of a histogram, shape (N,)."""

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """What the node noise (per level, shape (..., nodes)) adds to the measurements, shape (..., M)."""

    def loss(self, adjacency: Adjacency) -> Loss:
        """The exact (or safely rounded up) privacy loss of publishing the answer."""

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N), from answers, shape (..., M); unbiased, but for `Approximating` ones.

        `total` is the number of records where that is public (REPLACE), else None. With a
        known total the last point equals it exactly and the others are conditioned on it.
        """

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each estimated cumulative count, shape (N,)."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.strategies.strategy_from_dict` inverts it."""


LOUD = 0.25
"""Noise at a threshold, as a share of the records, from which a curve says little: its band holds nearly all curves."""

FAR = 8.0
"""Times the largest deviation of a measured sum: estimates from them deviate by less than that."""


def noise_share(strategy: Strategy, records: float, *, total_known: bool) -> float:
    """Root mean square of the noise over the thresholds, as a share of the records."""
    if records <= 0:
        return math.inf
    largest = math.sqrt(max((float(level.law.variance) for level in strategy.levels), default=0.0))
    if FAR * largest < LOUD * records:
        return 0.0
    return deviation(cast(Hashable, strategy), total_known=total_known) / records


@lru_cache(maxsize=64)
def deviation(strategy: Any, *, total_known: bool) -> float:
    """Root mean square of the noise over the thresholds, in records."""
    return math.sqrt(float(np.mean(strategy.variance(total_known=total_known))))


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


def approximates(strategy: Strategy) -> TypeGuard[Approximating]:
    """Whether a strategy is an `Approximating` one; asks its type alone, so that no features are computed."""
    return hasattr(type(strategy), "features")


Readers = Mapping[str, Callable[[Any], Any]]


class PlainStrategy:
    """What strategies share whose plain data are their fields: each measurement has a noise variable of its own.

    `readers` say how fields are read that are written otherwise than they are held.
    """

    name: ClassVar[str]
    readers: ClassVar[Readers] = {}

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself, level by level."""
        return noise[0] if len(noise) == 1 else np.concatenate(noise, axis=-1)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.strategies.strategy_from_dict` inverts it."""
        return {"name": self.name, **plain_fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is out of range.
        """
        kind: Any = cls
        values = {}
        for field in fields(kind):
            value, reader = data[field.name], cls.readers.get(field.name)
            if field.name == "laws":
                value = tuple(map(law_from_dict, value))
            values[field.name] = value if reader is None else reader(value)
        result: Self = kind(**values)
        return result


@runtime_checkable
class Pointwise(Strategy, Protocol):
    """A strategy whose points can be opened one at a time, each with its own few noise nodes."""

    def measure_at(self, counts: Int64, points: Int64) -> Int64:
        """Exact measurements of the given 0-based points, shape (points,)."""

    def nodes_at(self, points: Int64) -> tuple[Int64, ...]:
        """Per level of `levels`, the 0-based noise node of each point, shape (points,)."""

    def spread_at(self, noise: tuple[Int64, ...]) -> Int64:
        """What the noise of those nodes (per level, shape (..., points)) adds to each point, shape (..., points)."""

    def estimate_at(self, answer: Int64, points: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts at the given points from their answers, shape (..., points).

        A known total is used where the last point is among them.
        """


def check_levels(size: Any, spacings: Sequence[Any], laws: Sequence[Law], *, what: str) -> None:
    """Refuse a size below 1, a wrong number of laws, or laws of two kinds."""
    whole(size, "size", 1)
    all_whole(spacings, what, 1)
    laplace = all(isinstance(law, DiscreteLaplace) for law in laws)
    if not laplace and not all(isinstance(law, DiscreteGaussian) for law in laws):
        raise ParameterError("`laws` must all be DiscreteLaplace or all DiscreteGaussian")


def moved_counts(adjacency: Adjacency) -> int:
    """How many counts of disjoint blocks one change of a record moves, each by 1."""
    return 2 if adjacency is Adjacency.REPLACE else 1


def measured_loss(laws: Sequence[Law], *, l1: Sequence[int], l2_squared: Sequence[int]) -> MeasuredPrivacy:
    """Add up the levels' losses exactly."""
    epsilon, rho = Fraction(0), Fraction(0)
    for law, absolute, squared in zip(laws, l1, l2_squared, strict=True):
        if isinstance(law, DiscreteLaplace):
            epsilon += absolute / law.scale
        elif isinstance(law, DiscreteGaussian):
            rho += squared / (2 * law.sigma**2)
    return PureDP(epsilon) if epsilon else ZeroConcentratedDP(rho)


def measured_laws(
    privacy: MeasuredPrivacy, shares: Sequence[Fraction], *, l1: Sequence[int], l2_squared: Sequence[int]
) -> tuple[DiscreteLaplace | DiscreteGaussian, ...]:
    """Noise laws that spend at most `privacy`, divided between the levels by `shares` (sum 1).

    Scales are rounded up to ones that the samplers accept.
    """
    if isinstance(privacy, PureDP):
        scales = [change / (share * privacy.epsilon) for share, change in zip(shares, l1, strict=True)]
        round_up_scale(max(scales))  # a refusal says how far the largest is too large
        return tuple(DiscreteLaplace(round_up_scale(scale)) for scale in scales)
    variances = [change / (2 * share * privacy.rho) for share, change in zip(shares, l2_squared, strict=True)]
    round_up_root(max(variances))
    return tuple(DiscreteGaussian(round_up_root(variance)) for variance in variances)


def given_total(values: Float64, covariance: Float64, total: int) -> Float64:
    """Unbiased cumulative counts, shape (batch, N), conditioned on the number of records, in place.

    `covariance` is that of each estimated count with the estimated total, shape (N,).
    """
    values += (covariance / covariance[-1]) * (total - values[:, -1:])
    values[:, -1] = total
    return values


def variance_given_total(variance: Float64, covariance: Float64) -> Float64:
    """Variance of cumulative counts that `given_total` has conditioned, shape (N,)."""
    values: Float64 = np.maximum(variance - covariance**2 / covariance[-1], 0.0)
    values[-1] = 0.0
    return values


def check_design(size: Any, privacy: Any, adjacency: Any) -> None:
    """Refuse a size below 1, and privacy or adjacency of another type."""
    whole(size, "size", 1)
    if isinstance(privacy, ApproxDP):
        raise ParameterError("noise is designed for `PureDP` or `ZeroConcentratedDP`; convert `ApproxDP` first")
    if not isinstance(privacy, PureDP | ZeroConcentratedDP):
        raise ParameterError(f"`privacy` must be `PureDP` or `ZeroConcentratedDP`, got {quoted(privacy)}")
    if not isinstance(adjacency, Adjacency):
        raise ParameterError(
            f"`adjacency` must be Adjacency.REPLACE or Adjacency.ADD_OR_REMOVE, got {quoted(adjacency)}"
        )


def batch(answer: Any, width: int) -> tuple[Int64, tuple[int, ...]]:
    """Answers as rows, shape (batch, width), and their leading dimensions."""
    values = array_of(answer, np.int64)
    if values.ndim == 0 or values.shape[-1] != width:
        raise ParameterError(f"an answer must hold {width} measurements, got shape {values.shape}")
    return np.ascontiguousarray(values.reshape(-1, width)), values.shape[:-1]


def histogram(counts: Any, size: int, *, terms: int = 0, weight: int = 1) -> Int64:
    """Counts of the bins as contiguous int64, shape (size,), of which so many, times a weight each, may be added up."""
    values = np.ascontiguousarray(array_of(counts), dtype=np.int64)
    if values.shape != (size,):
        raise ParameterError(f"a histogram must have shape ({size},), got {values.shape}")
    if terms and max(int(values.max()), -int(values.min())) * terms * weight > WIDE:
        Range.sums(values, weight).check(WIDE, "sums of this many records do not fit answers of 64 bits")
    return values
