"""Noisy counts of a few groups of bins, or at a few thresholds, with straight lines in between, and their noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import discrete_loss, gaussian_grant
from ogive.accounting.losses import LEAST_SIGMA
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import ROOM, among, is_whole, refuse_sums, whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.privacy import (
    MAX_ROWS_PER_PERSON,
    Adjacency,
    ApproxDP,
    GaussianDP,
    Privacy,
    PureDP,
    ZeroConcentratedDP,
    check_privacy,
)
from ogive.strategies.base import Level, PlainStrategy, Readers, batch, histogram, moved_counts

# --- Noise for a few whole counts, with the constants of real-valued Gaussian noise
#
# Counts that get Gaussian noise are scaled by 2^20 first, so that the discrete Gaussian is as good as the continuous
# one (`ogive.accounting.losses`) and an (epsilon, delta) guarantee is spent exactly. Counts that get discrete Laplace
# noise stay as they are: that is pure differential privacy at any scale.

BITS = 20
MOST_BITS = 30


def check_counted(size: Any, laws: Sequence[Any], bits: Any) -> None:
    """Refuse a size below 1, laws of two kinds, or fractional bits that do not go with them."""
    whole(size, "size", 1)
    whole(bits, "bits", 0, MOST_BITS)
    check_laws(laws)


def check_laws(laws: Sequence[Any]) -> None:
    """Refuse laws of two kinds, or Gaussian ones that are too fine for integers."""
    gaussian = all(isinstance(law, DiscreteGaussian) and law.sigma >= LEAST_SIGMA for law in laws)
    if not gaussian and not all(isinstance(law, DiscreteLaplace) for law in laws):
        raise ParameterError(
            f"`laws` must all be DiscreteLaplace, or all DiscreteGaussian of a sigma of at least {LEAST_SIGMA}"
        )


def read_counted_law(data: Any, who_takes: str) -> DiscreteLaplace | DiscreteGaussian:
    """The law of plain data, of a kind that counts get; `who_takes` begins the refusal of another."""
    law = law_from_dict(data)
    if not isinstance(law, DiscreteLaplace | DiscreteGaussian):
        raise ParameterError(f"{who_takes} DiscreteLaplace or DiscreteGaussian noise, got {quoted(law)}")
    return law


def counted_noise(
    privacy: Privacy, *, l1: int, l2_squared: int, integers: int, rows: int = 1, bits: int = BITS
) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    """The least noise of every count that meets a guarantee, and the fractional bits of the counts."""
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(l1 * rows / privacy.epsilon)), 0
    change = Fraction(l2_squared * rows * rows) * 4**bits
    if isinstance(privacy, ZeroConcentratedDP):
        variance = change / (2 * privacy.rho)
    else:
        try:
            mu = gaussian_grant(privacy, integers=integers, per_unit=float(change) ** 0.5)
        except ParameterError:
            raise ParameterError(
                f"{privacy} asks for finer Gaussian noise than integers can have; "
                "use a larger delta or a smaller epsilon, or `PureDP`, which implies it"
            ) from None
        variance = change / (Fraction(mu) ** 2 * (1 - Fraction(1, 1 << 48)))
    return DiscreteGaussian(max(round_up_root(variance), Fraction(LEAST_SIGMA))), bits


def counted_loss(
    law: DiscreteLaplace | DiscreteGaussian, bits: int, *, l1: int, l2_squared: int, integers: int
) -> PureDP | GaussianDP:
    """The exact loss of counts that each get noise of one law; the inverse of `counted_noise`."""
    if isinstance(law, DiscreteLaplace):
        return PureDP(l1 * 2**bits / law.scale)
    return discrete_loss(Fraction(l2_squared * 4**bits), law.sigma, integers)


# --- Counts at the ends of a few intervals


class _StraightLines(PlainStrategy, ABC):
    """What strategies share that measure a few counts, with noise of one law, and draw straight lines in between."""

    size: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int
    what: ClassVar[str]
    """Whose counts they are, in messages."""

    @property
    @abstractmethod
    def edges(self) -> Int64:
        """How many bins lie below each end of a line, from 0 to N, increasing."""

    @property
    @abstractmethod
    def counted(self) -> int:
        """Number of counts."""

    @property
    def levels(self) -> tuple[Level, ...]:
        return (Level(self.counted, self.law),)

    def _checked(self, counts: Int64) -> Int64:
        """The histogram, of which sums times 2^bits fit."""
        values = histogram(counts, self.size)
        refuse_sums(values, 1 << self.bits, ROOM, f"this many records do not fit the fixed-point counts of {self.what}")
        return values

    def _loss(self, moved: int) -> PureDP | GaussianDP:
        """That of counts of which so many change by one."""
        return counted_loss(self.law, self.bits, l1=moved, l2_squared=moved, integers=self.counted)

    def _counts(self, answer: Int64) -> tuple[Float64, tuple[int, ...]]:
        """Noisy counts, shape (rows, counts), and the leading dimensions of the answers."""
        rows, shape = batch(answer, self.counted)
        return np.ldexp(rows.astype(np.float64), -self.bits), shape

    @cached_property
    def _places(self) -> tuple[Int64, Float64]:
        """For each threshold the edge before it, and how far it is to the next, above 0 and at most 1."""
        bins = np.arange(1, self.size + 1)
        before = np.searchsorted(self.edges, bins, side="left") - 1
        return before, (bins - self.edges[before]) / np.diff(self.edges)[before]

    def _between(self, at_edges: Float64, total: int | None) -> Float64:
        """Values at all thresholds, shape (rows, N), from those at the edges but the first, where they are 0."""
        padded = np.concatenate([np.zeros((len(at_edges), 1)), at_edges], axis=1)
        before, share = self._places
        values: Float64 = padded[:, before] + share * (padded[:, before + 1] - padded[:, before])
        if total is not None:
            values[:, -1] = total
        return values


# --- Counts of groups of neighboring bins
#
# The curve is measured at the groups' ends alone: a record belongs to one group, so noise for a change of two counts by
# one each (REPLACE), or of one count (ADD_OR_REMOVE), hides it. Within a group records are taken to be spread evenly,
# which is where the bias comes from.

DEFAULT_GROUPS = 30
ACCOUNTINGS = ("joint", "naive")


@dataclass(frozen=True)
class GroupedHistogram(_StraightLines):
    """Noisy counts of groups of bins, with linear interpolation between the groups' ends.

    Fields:
        groups: Number of groups, B; group k ends after bin round(k N / B).
        law: Noise of every count, on the scale where a record counts 2^bits.
    """

    size: int
    groups: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    name: ClassVar[str] = "histogram"
    what: ClassVar[str] = "a histogram"
    readers: ClassVar[Readers] = {"law": partial(read_counted_law, who_takes="a histogram takes")}

    def __post_init__(self) -> None:
        check_counted(self.size, (self.law,), self.bits)
        check_groups(self.groups)
        if self.groups > self.size:
            raise ParameterError(f"{self.size} bins make at most as many groups, got groups = {self.groups}")

    @cached_property
    def edges(self) -> Int64:
        """How many bins lie below each end of a group, from 0 to N, shape (B + 1,)."""
        twice = 2 * np.arange(self.groups + 1, dtype=np.int64) * self.size
        ends: Int64 = (twice + self.groups) // (2 * self.groups)
        ends.flags.writeable = False
        return ends

    @property
    def counted(self) -> int:
        return self.groups

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (B, N)."""
        group = np.searchsorted(self.edges, np.arange(self.size), side="right") - 1
        inside: Int64 = (group == np.arange(self.groups)[:, np.newaxis]).astype(np.int64)
        return np.asarray(inside << self.bits)

    def measure(self, counts: Int64) -> Int64:
        """Counts of the groups times 2^bits, shape (B,)."""
        return np.asarray(np.add.reduceat(self._checked(counts), self.edges[:-1]) << self.bits)

    def loss(self, adjacency: Adjacency) -> PureDP | GaussianDP:
        """Exact loss.

        Privacy:
            A replaced record changes two counts by one at most, an added one changes one.
        """
        return self._loss(moved_counts(adjacency))

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N): exact sums of the groups' counts at their ends, straight lines between.

        A known total is used by the best linear rule: every group gives up the same part of the surplus.
        """
        counts, shape = self._counts(answer)
        if total is not None:
            counts += (total - counts.sum(axis=1, keepdims=True)) / self.groups
        return self._between(np.cumsum(counts, axis=1), total).reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        group, share = self._places
        weight = group + share  # sum of the weights of the groups' counts
        values: Float64 = group + share**2
        if total_known:
            values = np.maximum(values - weight**2 / self.groups, 0.0)
            values[-1] = 0.0
        return values * (self.law.variance / 4.0**self.bits)


def check_groups(groups: Any) -> int:
    """Return a number of groups as it is."""
    return whole(groups, "groups", 1)


def design_histogram(
    size: int,
    *,
    privacy: Privacy,
    adjacency: Adjacency,
    rows: int = 1,
    groups: int = DEFAULT_GROUPS,
    accounting: str = "joint",
) -> GroupedHistogram:
    """Design a histogram with the least noise for a guarantee.

    Args:
        size: Number of bins, N.
        privacy: Guarantee for all counts together; discrete Laplace noise for PureDP, else discrete Gaussian.
        adjacency: Which data sets are adjacent.
        rows: Number of records of one person that the guarantee protects together.
        groups: Number of groups; at most one per bin is made.
        accounting: "joint": a record is in one group, so all counts together cost no more than two of them. "naive"
            charges every count a share of epsilon and delta, as if a record were in all groups. It needs far more
            noise and serves to reproduce the paper.

    Raises:
        ParameterError: an argument is out of range.
        ScaleError: the noise is larger than can be drawn.

    Source:
        Tao and Sarwate, Section 4, with exact accounting.
    """
    check_privacy(privacy)
    whole(rows, "rows", 1, MAX_ROWS_PER_PERSON)
    among(accounting, "accounting", ACCOUNTINGS)
    groups = min(check_groups(groups), size)
    if accounting == "joint":
        changes = moved_counts(adjacency)
        law, bits = counted_noise(privacy, l1=changes, l2_squared=changes, integers=groups, rows=rows)
    else:
        law, bits = counted_noise(equal_share(privacy, groups), l1=1, l2_squared=1, integers=1, rows=rows)
    return GroupedHistogram(size, groups, law, bits)


def equal_share(privacy: Privacy, parts: int) -> Privacy:
    """An equal part of a guarantee by basic composition."""
    match privacy:
        case PureDP():
            return PureDP(privacy.epsilon / parts)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(privacy.rho / parts)
        case ApproxDP():
            return ApproxDP(Fraction(privacy.epsilon) / parts, Fraction(privacy.delta) / parts)


# --- Counts at a few thresholds: the result of adaptive quantiles
#
# Each count was a query of its own, at a threshold that may depend on the counts before it.


def _read_points(points: Any) -> tuple[Any, ...]:
    if not isinstance(points, list | tuple):
        raise ParameterError(f"`points` must be a list of whole numbers, got {quoted(points)}")
    return tuple(points)


@dataclass(frozen=True)
class OpenedThresholds(_StraightLines):
    """Noisy counts of the records at or below some thresholds, with linear interpolation between them.

    Fields:
        points: 0-based thresholds in the order they were asked, each once. Where the number of records is
            private the last one, N - 1, is among them.
        law: Noise of every count, on the scale where a record counts 2^bits.
    """

    size: int
    points: tuple[int, ...]
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    name: ClassVar[str] = "adaptive"
    what: ClassVar[str] = "adaptive quantiles"
    readers: ClassVar[Readers] = {
        "points": _read_points,
        "law": partial(read_counted_law, who_takes="adaptive quantiles take"),
    }

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
    def counted(self) -> int:
        return len(self.points)

    @cached_property
    def edges(self) -> Int64:
        """Numbers of bins below the points, with the ends of the axis, increasing."""
        return np.unique(np.array([0, *(point + 1 for point in self.points), self.size]))

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (T, N)."""
        below = (np.arange(self.size) <= np.array(self.points)[:, np.newaxis]).astype(np.int64)
        return np.asarray(below << self.bits)

    def measure(self, counts: Int64) -> Int64:
        """Cumulative counts at the points times 2^bits, shape (T,)."""
        return np.asarray(np.cumsum(self._checked(counts))[np.array(self.points)] << self.bits)

    def loss(self, adjacency: Adjacency) -> PureDP | GaussianDP:
        """Exact loss of all counts together.

        Privacy:
            One record moves every count by one at most; the count of all records only where it is private.
        """
        moved = len(self.points)
        if adjacency is Adjacency.REPLACE and self.size - 1 in self.points:
            moved = max(1, moved - 1)
        return self._loss(moved)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N): the noisy counts at their thresholds, straight lines between."""
        counts, shape = self._counts(answer)
        return self._through(counts, total).reshape(*shape, self.size)

    def matched(self, answer: Int64, total: int | None) -> Float64:
        """The same with counts and thresholds each put in order and matched by rank, clipped to what is possible.

        A monotone curve; sorting never takes the counts farther from the true ones, which are in order.
        """
        counts, shape = self._counts(answer)
        counts = np.maximum(counts, 0.0)
        if total is not None:
            counts = np.minimum(counts, total)
            if self.size - 1 in self.points:
                counts[:, self.points.index(self.size - 1)] = total
        ranked = np.empty_like(counts)
        ranked[:, self._order] = np.sort(counts, axis=1)
        return self._through(ranked, total).reshape(*shape, self.size)

    @cached_property
    def _order(self) -> Int64:
        return np.argsort(np.array(self.points), kind="stable")

    def _through(self, counts: Float64, total: int | None) -> Float64:
        """Straight lines through the counts, shape (rows, N)."""
        inner = counts[:, self._order]
        if self.size - 1 in self.points:
            inner = inner[:, :-1] if total is not None else inner
        elif total is None:
            raise ParameterError("the number of records is private and was not asked for, so no curve can be drawn")
        if total is not None:
            inner = np.concatenate([inner, np.full((len(counts), 1), float(total))], axis=1)
        return self._between(inner, total)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,), the thresholds taken as given."""
        before, share = self._places
        noisy = np.ones(len(self.edges))
        noisy[0] = 0.0
        if total_known or self.size - 1 not in self.points:
            noisy[-1] = 0.0
        values: Float64 = (1 - share) ** 2 * noisy[before] + share**2 * noisy[before + 1]
        return values * (self.law.variance / 4.0**self.bits)
