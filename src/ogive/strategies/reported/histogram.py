"""Counts of groups of bins from randomized reports: what a histogram of the local model is made of.

As for `reported`, nobody measures with it: owners report their group of bins through a `UnaryOracle`, and this says
what noise the counts have. With n reports, v0 the variance of one bit and h of the people in a group, its count has
the variance n v0 + h, independently of the other groups' counts. What is stated for all of them is that of the fullest.
An answer holds the groups' counts on the scale where a record counts 2^BITS.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.local.oracles import oracle_from_dict
from ogive.local.unary import UnaryOracle
from ogive.noise import DiscreteGaussian, law_from_dict, round_up_root
from ogive.privacy import Adjacency, Loss
from ogive.strategies.base import Level
from ogive.strategies.histogram import GroupedHistogram

BITS = 20  # so many that the smallest noise that is stated, that of one record, is fine enough for a histogram's laws

# reference shapes put up to about so many times the even share of their records into one group
_PEAK = 4.0


@dataclass(frozen=True)
class ReportedHistogram:
    """Counts of groups of bins as randomized reports gave them, with linear interpolation in between.

    Fields:
        size: Number of bins, N; as many as the groups or more.
        oracle: How each owner's group was randomized; one symbol a group.
        law: Noise of every count, on the scale where a record counts 2^BITS.

    Raises:
        ParameterError: there are more groups than bins, or the oracle or the law is of another kind.

    Source:
        Wang, Blocki, Li and Jha (2017).
    """

    size: int
    oracle: UnaryOracle
    law: DiscreteGaussian

    name: ClassVar[str] = "reported_histogram"

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, UnaryOracle) or not isinstance(self.law, DiscreteGaussian):
            raise ParameterError("a histogram of reports needs a unary oracle and a DiscreteGaussian law")
        assert self.plain.groups == self.oracle.size

    @cached_property
    def plain(self) -> GroupedHistogram:
        """The same groups and law, measured by a curator."""
        return GroupedHistogram(self.size, self.oracle.size, self.law, BITS)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per group."""
        return self.plain.levels

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (B, N)."""
        return self.plain.features

    def measure(self, counts: Int64) -> Int64:
        """What reports without any noise would say, shape (B,)."""
        return self.plain.measure(counts)

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every count has its own."""
        return self.plain.spread(noise)

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of one owner's report.

        Raises:
            ParameterError: the number of records would be private; whoever gets the reports can count them.
        """
        if adjacency is not Adjacency.REPLACE:
            raise ParameterError("reports can be counted, so only `REPLACE` is hidden by them")
        return self.oracle.loss

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N): sums of the groups' counts at their ends, straight lines between."""
        return self.plain.estimate(answer, total)

    def variance(self, *, total_known: bool) -> Float64:
        """Bound of the variance of the noise in each cumulative count, shape (N,)."""
        return self.plain.variance(total_known=total_known)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "size": self.size, "oracle": self.oracle.to_dict(), "law": self.law.to_dict()}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> ReportedHistogram:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        return ReportedHistogram(data["size"], oracle_from_dict(data["oracle"]), law_from_dict(data["law"]))  # type: ignore[arg-type]


def read_histogram(size: int, oracle: UnaryOracle, sums: Int64) -> tuple[ReportedHistogram, Int64]:
    """The strategy and the answer that some sums of reports stand for.

    Args:
        size: Number of bins.
        oracle: How the reports were made.
        sums: What they add up to.

    Privacy:
        Post-processing of randomized reports; costs nothing.
    """
    people, counts = oracle.reports(sums), oracle.counts(sums)
    fullest = float(np.clip(counts.max(), people / oracle.size, people))
    answer = np.rint(np.ldexp(counts, BITS)).astype(np.int64)
    return _stated(size, oracle, people, fullest), answer


def expected_histogram(size: int, oracle: UnaryOracle, records: int) -> ReportedHistogram:
    """The strategy that so many people's reports would make, for predictions."""
    return _stated(size, oracle, records, records * min(1.0, _PEAK / oracle.size))


def _stated(size: int, oracle: UnaryOracle, people: int, fullest: float) -> ReportedHistogram:
    variance = max(1.0, people * oracle.noise_variance + fullest)
    return ReportedHistogram(size, oracle, DiscreteGaussian(round_up_root(Fraction(variance) * 4**BITS)))
