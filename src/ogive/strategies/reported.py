"""Strategies that describe curves of the local model: counts of tree nodes, or of groups of bins, from reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, cast

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import all_whole, plain_fields
from ogive.errors import ParameterError
from ogive.local.oracles import UnaryOracle, oracle_from_dict
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteGaussian, law_from_dict, round_up_root
from ogive.privacy import Adjacency, Loss
from ogive.strategies.base import Level, PlainStrategy, Readers, histogram
from ogive.strategies.counts import GroupedHistogram
from ogive.strategies.tree import LeastSquaresTree

# --- Cumulative counts from reports about the nodes of a hierarchy
#
# Nobody measures with this strategy. Owners report through a `TreeOracle`, whose estimates of the nodes' counts are
# unbiased; this says what noise they have, so that curves, bands, smoothing and sums of batches need nothing new.
# An answer holds the counts of all nodes, lowest level first, on the scale where a record counts 2^BITS.
#
# The noise, given the records. With n people of whom n_l report on level l, each node's estimate is n / n_l times a sum
# over these people of independent, bounded terms. The matrix of second moments of one person's terms at a level is
#
#     Hadamard response   c^2 I,                      c = (e^epsilon + 1) / (e^epsilon - 1)
#     unary response      v I + 2 e e^T,              v = 4 e^epsilon / (e^epsilon - 1)^2, e the person's own node
#
# exactly: terms of two nodes are uncorrelated about their means, which are not both above 0. So the covariance of a
# level's estimates is at most (n^2 / n_l) c^2 I, or (n^2 / n_l) diag(v + 2 p) with p the nodes' shares of the records:
# in the order of positive semidefinite matrices, so that it holds for every linear combination, cumulative counts
# included. That counts, besides the randomization, that the people who report on a level are a random part of all (up
# to one part in n for levels of equal size). What bands simulate is independent normal noise of these
# variances; sums of so many independent terms are nearly normal.

BITS = 8


class _Reported(PlainStrategy, ABC):
    """What strategies of reports share: a curator who measures the same with noise of these laws.

    Fields:
        shift: Fractional bits of an answer beyond those of that strategy's.
    """

    oracle: TreeOracle | UnaryOracle
    shift: ClassVar[int] = 0

    @property
    @abstractmethod
    def inner(self) -> LeastSquaresTree | GroupedHistogram:
        """The same blocks or groups and laws, measured by a curator."""

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.inner.levels

    @abstractmethod
    def least_variances(self, people: int | None) -> list[float]:
        """Least variance of a count of people, of each level; `people` is None where only the strategy knows them."""

    def check_noise(self, people: int | None) -> None:
        """Refuse laws that state less noise than the reports of these people have."""
        scale = 4.0 ** (self.shift or HISTOGRAM_BITS)
        laws = [cast(DiscreteGaussian, level.law) for level in reversed(self.levels)]
        for law, least in zip(laws, self.least_variances(people), strict=True):
            if float(law.sigma) ** 2 < scale * least * (1 - 1e-9):
                raise ParameterError("less noise is stated than the reports have")

    def measure(self, counts: Int64) -> Int64:
        """What reports without any noise would say, shape (M,)."""
        inner = self.inner
        counted = histogram(counts, inner.size, terms=inner.size, weight=1 << self.shift)
        return np.asarray(inner.measure(counted) << self.shift)

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of one owner's report.

        Raises:
            ParameterError: the number of records would be private, which whoever gets the reports can count; or less
                noise is stated than the reports have.
        """
        if adjacency is not Adjacency.REPLACE:
            raise ParameterError("reports can be counted, so only `REPLACE` is hidden by them")
        self.check_noise(None)
        return self.oracle.loss

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N), in time O(N): for a hierarchy the best linear unbiased ones."""
        return np.ldexp(self.inner.estimate(answer, None if total is None else total << self.shift), -self.shift)

    def variance(self, *, total_known: bool) -> Float64:
        """Bound of the variance of the noise in each cumulative count, shape (N,).

        For a hierarchy it is attained but for terms of a record's share.
        """
        return np.ldexp(self.inner.variance(total_known=total_known), -2 * self.shift)


@dataclass(frozen=True)
class ReportedTree(_Reported):
    """Counts of nested blocks as randomized reports gave them, combined by least squares.

    Fields:
        oracle: How each owner's bin was randomized; its branching gives the blocks.
        reports: How many reports there were on each level, top level first.
        laws: Noise of each level's counts, top level first, on the scale where a record counts 2^BITS.

    Raises:
        ParameterError: there is not one number of reports and one law for every level.

    Source:
        Kulkarni, Cormode and Srivastava (2019) for the hierarchy; Hay et al. (2010) for the least squares.
    """

    oracle: TreeOracle
    reports: tuple[int, ...]
    laws: tuple[DiscreteGaussian, ...]

    name: ClassVar[str] = "reports"
    shift: ClassVar[int] = BITS

    def __post_init__(self) -> None:
        reports, laws = tuple(self.reports), tuple(self.laws)
        levels = self.oracle.levels
        if len(reports) != levels or len(laws) != levels:
            raise ParameterError(
                f"a hierarchy of {levels} levels needs a number of reports and a law for each, "
                f"got {len(reports)} and {len(laws)}"
            )
        all_whole(reports, "reports", 0)
        if not all(isinstance(law, DiscreteGaussian) for law in laws):
            raise ParameterError("the noise of reports is described by DiscreteGaussian laws")
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "laws", laws)

    @property
    def size(self) -> int:
        """Number of bins."""
        return self.oracle.size

    @cached_property
    def inner(self) -> LeastSquaresTree:
        """The same blocks and laws, measured by a curator; lowest level first."""
        blocks = tuple(self.oracle.branching**level for level in range(self.oracle.levels))
        return LeastSquaresTree(self.size, blocks, self.laws[::-1])

    def least_variances(self, people: int | None) -> list[float]:
        sums = _reports_alone(self.oracle, self.reports)
        stated = sum(self.reports) if self.oracle.split == "users" else self.reports[0]
        everybody = stated if people is None else people
        if everybody < stated:
            raise ParameterError(f"{stated} reports are stated, of {everybody} people")
        unknown = max(1.0, float(everybody)) ** 2  # as of a level without a report
        if not all(self.reports):
            return [unknown] * self.oracle.levels
        return [min(unknown, (everybody / stated) ** 2 * each) for each in self.oracle.variances(sums)]

    def answer(self, counts: Sequence[Float64]) -> Int64:
        """Fixed-point counts of the nodes that hold a bin, shape (M,), from all nodes' counts, top level first."""
        parts = [level[: here.nodes] for level, here in zip(reversed(counts), self.levels, strict=True)]
        return np.rint(np.ldexp(np.concatenate(parts), BITS)).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size, **plain_fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ReportedTree:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        oracle = oracle_from_dict(data["oracle"])
        if not isinstance(oracle, TreeOracle) or oracle.size != data["size"]:
            raise ParameterError(f"a curve of reports needs a tree oracle of {data['size']} bins")
        return cls(oracle, tuple(data["reports"]), tuple(map(law_from_dict, data["laws"])))  # type: ignore[arg-type]


# --- From sums of reports to a curve's strategy and answer, and which hierarchy predicts the smallest error

BRANCHINGS = range(2, 9)
MOST_THRESHOLDS = 1 << 20
_PEAK = 2.0  # reference shapes put up to about this many times the even share of their records into one node
_NOMINAL = 1_000_000  # people that the choice is made for; it hardly depends on their number
_WORTH = 0.7  # of the variance: longer reports must be worth it


def read_reports(oracle: TreeOracle, sums: Int64) -> tuple[ReportedTree, Int64]:
    """The strategy and the answer that some sums of reports stand for.

    Unary responses have more noise in nodes that hold many; the largest estimated share of a level's nodes bounds it.
    Where a level got no report at all, nothing is known but the number of people: all counts are even shares then, and
    the noise says that they may be off by everybody.

    Privacy:
        Post-processing of randomized reports; costs nothing.
    """
    people = oracle.reports(sums)
    reports = oracle.level_reports(sums)
    if not reports.all():
        return _unknown(oracle, people, reports)
    counts = oracle.counts(sums)
    largest = [float(np.clip(level.max(), people / len(level), people)) for level in counts]
    strategy = ReportedTree(oracle, tuple(reports.tolist()), _laws(oracle, sums, largest))
    return strategy, strategy.answer(counts)


def expected_tree(oracle: TreeOracle, records: int) -> ReportedTree:
    """The strategy that reports of `records` people would make, for predictions."""
    each, more = divmod(max(oracle.levels, records), oracle.levels)
    reports = each + (np.arange(oracle.levels) < more)
    if oracle.split == "budget":
        reports[:] = max(1, records)
    sums = _reports_alone(oracle, reports)
    # an even share of a node is of the bins that there are, not of those that fill the tree up
    spans = np.array([float(oracle.branching**level) for level in reversed(range(oracle.levels))])
    largest = records * np.minimum(1.0, _PEAK * spans / oracle.size)
    return ReportedTree(oracle, tuple(reports.tolist()), _laws(oracle, sums, largest.tolist()))


@lru_cache(maxsize=256)
def design_reports(
    size: int,
    epsilon: Fraction,
    *,
    branching: int | None = None,
    nodes: str | None = None,
    split: str | None = None,
    seed: int = 0,
) -> TreeOracle:
    """The hierarchy with the smallest predicted mean variance of cumulative counts.

    `size`: Number of bins, N, 2 to 2^20. `branching`: Children of a node; None for the best of 2 to 8. `nodes`:
    "hadamard" or "unary"; None for unary where that takes three tenths off the variance. `split`: "users" or "budget";
    None for the better one. `seed`: Public; decides who is asked which level.
    """
    if not 2 <= size <= MOST_THRESHOLDS:
        raise ParameterError(f"reports serve 2 to {MOST_THRESHOLDS} thresholds, got {size}")
    ranked: list[tuple[float, TreeOracle]] = []
    for children in BRANCHINGS if branching is None else (branching,):
        for each in ("hadamard", "unary") if nodes is None else (nodes,):
            for way in ("users", "budget") if split is None else (split,):
                oracle = TreeOracle(size, epsilon, seed=seed, branching=children, nodes=each, split=way)
                if oracle.tallied < oracle.levels:
                    continue
                variance = expected_tree(oracle, _NOMINAL).variance(total_known=True).mean()
                dear = nodes is None and each == "unary"
                ranked.append((float(variance) / (_WORTH if dear else 1.0), oracle))
    if not ranked:
        raise ParameterError(f"a hierarchy of {branching} children a node does not serve {size} thresholds; take fewer")
    return min(ranked, key=lambda each: each[0])[1]


def _reports_alone(oracle: TreeOracle, reports: Any) -> Int64:
    """Sums with the numbers of reports on each level, and nothing else."""
    sums = np.zeros(oracle.shape, dtype=np.int64)
    oracle.layout.reports(sums)[:] = reports
    return sums


def _laws(oracle: TreeOracle, sums: Int64, largest: Sequence[float]) -> tuple[DiscreteGaussian, ...]:
    bounds = zip(oracle.variances(sums), oracle.slopes(sums), largest, strict=True)
    return tuple(_law(variance + max(0.0, slope) * most) for variance, slope, most in bounds)


def _law(variance: float) -> DiscreteGaussian:
    return DiscreteGaussian(round_up_root(Fraction(variance) * 4**BITS))


def _unknown(oracle: TreeOracle, people: int, reports: Int64) -> tuple[ReportedTree, Int64]:
    laws = (_law(max(1.0, float(people)) ** 2),) * oracle.levels
    strategy = ReportedTree(oracle, tuple(reports.tolist()), laws)
    even = people / oracle.size
    counts = []
    for level in range(1, oracle.levels + 1):
        span = oracle.branching ** (oracle.levels - level)
        starts = span * np.arange(oracle.branching**level)
        counts.append(even * np.clip(oracle.size - starts, 0, span))
    return strategy, strategy.answer(counts)


# --- Counts of groups of bins from randomized reports
#
# As with `ReportedTree`, nobody measures with it: owners report their group of bins through a `UnaryOracle`, and this
# says what noise the counts have. With n reports, v0 the variance of one bit and h of the people in a group, its count
# has the variance n v0 + h, independently of the other groups' counts. What is stated for all of them is that of the
# fullest. An answer holds the groups' counts on the scale where a record counts 2^HISTOGRAM_BITS.

HISTOGRAM_BITS = 20
"""So many that the smallest noise that is stated, that of one record, is fine enough for a histogram's laws."""

# reference shapes put up to about this many times the even share of their records into one group
_HISTOGRAM_PEAK = 4.0


@dataclass(frozen=True)
class ReportedHistogram(_Reported):
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
    readers: ClassVar[Readers] = {"oracle": oracle_from_dict, "law": law_from_dict}

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, UnaryOracle) or not isinstance(self.law, DiscreteGaussian):
            raise ParameterError("a histogram of reports needs a unary oracle and a DiscreteGaussian law")
        assert self.inner.groups == self.oracle.size

    @cached_property
    def inner(self) -> GroupedHistogram:
        """The same groups and law, measured by a curator."""
        return GroupedHistogram(self.size, self.oracle.size, self.law, HISTOGRAM_BITS)

    @property
    def features(self) -> Int64:
        """What a record in each bin adds to the measurements, shape (B, N)."""
        return self.inner.features

    def least_variances(self, people: int | None) -> list[float]:
        return [_stated_variance(self.oracle, people or 0, (people or 0) / self.oracle.size)]


def read_histogram(size: int, oracle: UnaryOracle, sums: Int64) -> tuple[ReportedHistogram, Int64]:
    """The strategy and the answer that some sums of reports stand for.

    Privacy:
        Post-processing of randomized reports; costs nothing.
    """
    people, counts = oracle.reports(sums), oracle.counts(sums)
    fullest = float(np.clip(counts.max(), people / oracle.size, people))
    answer = np.rint(np.ldexp(counts, HISTOGRAM_BITS)).astype(np.int64)
    return _stated(size, oracle, people, fullest), answer


def expected_histogram(size: int, oracle: UnaryOracle, records: int) -> ReportedHistogram:
    """The strategy that reports of `records` people would make, for predictions."""
    return _stated(size, oracle, records, records * min(1.0, _HISTOGRAM_PEAK / oracle.size))


def _stated_variance(oracle: UnaryOracle, people: int, fullest: float) -> float:
    return max(1.0, people * oracle.noise_variance + fullest)


def _stated(size: int, oracle: UnaryOracle, people: int, fullest: float) -> ReportedHistogram:
    variance = _stated_variance(oracle, people, fullest)
    return ReportedHistogram(size, oracle, DiscreteGaussian(round_up_root(Fraction(variance) * 4**HISTOGRAM_BITS)))
