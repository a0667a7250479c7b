"""Counts of a few groups of neighboring bins, each with independent noise, and straight lines in between.

The curve is measured at the groups' ends alone: a record belongs to one group, so noise for a change of two counts
by one each (REPLACE), or of one count (ADD_OR_REMOVE), hides it. Within a group records are taken to be spread
evenly, which is where the bias comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, whole
from ogive.core.parameters import plain_fields
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy, PureDP, ZeroConcentratedDP, check_privacy
from ogive.strategies.base import Level, batch, histogram, moved_counts
from ogive.strategies.counted_noise import check_counted, check_rows, counted_loss, counted_noise, read_counted_law

DEFAULT_GROUPS = 30
ACCOUNTINGS = ("joint", "naive")


@dataclass(frozen=True)
class GroupedHistogram:
    """Noisy counts of groups of bins, with linear interpolation between the groups' ends.

    Fields:
        size: Number of bins, N.
        groups: Number of groups, B; group k ends after bin round(k N / B).
        law: Noise of every count, on the scale where a record counts 2^bits.
        bits: Fractional bits of the counts.
    """

    size: int
    groups: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    name: ClassVar[str] = "histogram"

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
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per group."""
        return (Level(self.groups, self.law),)

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (B, N)."""
        group = np.searchsorted(self.edges, np.arange(self.size), side="right") - 1
        inside: Int64 = (group == np.arange(self.groups)[:, np.newaxis]).astype(np.int64)
        scaled: Int64 = inside << self.bits
        return scaled

    def measure(self, counts: Int64) -> Int64:
        """Counts of the groups times 2^bits, shape (B,)."""
        sums = np.add.reduceat(histogram(counts, self.size), self.edges[:-1])
        if int(np.abs(sums).sum()) >= 1 << (61 - self.bits):
            raise DataError("this many records do not fit the fixed-point counts of a histogram")
        scaled: Int64 = sums << self.bits
        return scaled

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every count has its own."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> PureDP | GaussianDP:
        """Exact loss.

        Privacy:
            A replaced record changes two counts by one at most, an added one changes one.
        """
        changes = moved_counts(adjacency)
        return counted_loss(self.law, self.bits, l1=changes, l2_squared=changes, integers=self.groups)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N): exact sums of the groups' counts at their ends, straight lines between.

        A known total is used by the best linear rule: every group gives up the same part of the surplus.
        """
        rows, shape = batch(answer, self.groups)
        counts = np.ldexp(rows.astype(np.float64), -self.bits)
        if total is not None:
            counts += (total - counts.sum(axis=1, keepdims=True)) / self.groups
        values = self.between(np.cumsum(counts, axis=1))
        if total is not None:
            values[:, -1] = total
        return values.reshape(*shape, self.size)

    def between(self, at_ends: Float64) -> Float64:
        """Values at all thresholds, shape (rows, N), from those at the groups' ends, shape (rows, B)."""
        padded = np.concatenate([np.zeros((len(at_ends), 1)), at_ends], axis=1)
        group, share = self._places
        values: Float64 = padded[:, group] + share * (padded[:, group + 1] - padded[:, group])
        return values

    @cached_property
    def _places(self) -> tuple[Int64, Float64]:
        """Group of each threshold, and where in it the threshold lies, above 0 and at most 1."""
        bins = np.arange(self.size)
        group = np.searchsorted(self.edges, bins, side="right") - 1
        widths = np.diff(self.edges)[group]
        return group, (bins + 1 - self.edges[group]) / widths

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        group, share = self._places
        weight = group + share  # sum of the weights of the groups' counts
        values: Float64 = group + share**2
        if total_known:
            values = np.maximum(values - weight**2 / self.groups, 0.0)
            values[-1] = 0.0
        return values * (self.law.variance / 4.0**self.bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> GroupedHistogram:
        """Rebuild from `to_dict`."""
        law = read_counted_law(data["law"], "a histogram takes")
        return GroupedHistogram(data["size"], data["groups"], law, data["bits"])


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
    check_rows(rows)
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
