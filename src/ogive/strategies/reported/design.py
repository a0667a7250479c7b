"""From sums of reports to a curve's strategy and answer, and which hierarchy predicts the smallest error."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Int64
from ogive.errors import ParameterError
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteGaussian, round_up_root
from ogive.strategies.reported.strategy import BITS, ReportedTree

BRANCHINGS = range(2, 9)
MOST_THRESHOLDS = 1 << 20
# reference shapes put up to about so many times the even share of their records into one node
_PEAK = 2.0
# what the choice is made for; it hardly depends on the number of people
_NOMINAL = 1_000_000
# longer reports must be worth it
_WORTH = 0.7


def read_reports(oracle: TreeOracle, sums: Int64) -> tuple[ReportedTree, Int64]:
    """The strategy and the answer that some sums of reports stand for.

    Unary responses have more noise in nodes that hold many; the largest estimated share of a level's nodes bounds it.
    Where a level got no report at all, nothing is known but the number of people: all counts are even shares then, and
    the noise says that they may be off by everybody.

    Args:
        oracle: How the reports were made.
        sums: What they add up to.

    Privacy:
        Post-processing of randomized reports; costs nothing.
    """
    people = oracle.reports(sums)
    reports = oracle.level_reports(sums)
    if not reports.all():
        return _unknown(oracle, people, reports)
    counts = oracle.counts(sums)
    largest = [float(np.clip(level.max(), people / len(level), people)) for level in counts]
    strategy = ReportedTree(oracle, _whole(reports), _laws(oracle, sums, largest))
    return strategy, strategy.answer(counts)


def expected_tree(oracle: TreeOracle, records: int) -> ReportedTree:
    """The strategy that so many people's reports would make, for predictions."""
    sums = np.zeros(oracle.shape, dtype=np.int64)
    reports = oracle.layout.reports(sums)
    if oracle.split == "budget":
        reports[:] = max(1, records)
    else:
        each, more = divmod(max(oracle.levels, records), oracle.levels)
        reports[:] = each + (np.arange(oracle.levels) < more)
    # an even share of a node is of the bins that there are, not of those that fill the tree up
    spans = np.array([float(oracle.branching**level) for level in reversed(range(oracle.levels))])
    largest = records * np.minimum(1.0, _PEAK * spans / oracle.size)
    return ReportedTree(oracle, _whole(reports), _laws(oracle, sums, largest.tolist()))


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

    Args:
        size: Number of bins, N, 2 to 2^20.
        epsilon: Privacy of one report.
        branching: Children of a node; None for the best of 2 to 8.
        nodes: "hadamard" or "unary"; None for unary where that takes three tenths off the variance.
        split: "users" or "budget"; None for the better one.
        seed: Public; decides who is asked which level.

    Raises:
        ParameterError: an argument is out of range.
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


def _laws(oracle: TreeOracle, sums: Int64, largest: Sequence[float]) -> tuple[DiscreteGaussian, ...]:
    bounds = zip(oracle.variances(sums), oracle.slopes(sums), largest, strict=True)
    return tuple(_law(variance + max(0.0, slope) * most) for variance, slope, most in bounds)


def _law(variance: float) -> DiscreteGaussian:
    return DiscreteGaussian(round_up_root(Fraction(variance) * 4**BITS))


def _whole(reports: Int64) -> tuple[int, ...]:
    return tuple(int(each) for each in reports)


def _unknown(oracle: TreeOracle, people: int, reports: Int64) -> tuple[ReportedTree, Int64]:
    laws = (_law(max(1.0, float(people)) ** 2),) * oracle.levels
    strategy = ReportedTree(oracle, _whole(reports), laws)
    even = people / oracle.size
    counts = []
    for level in range(1, oracle.levels + 1):
        span = oracle.branching ** (oracle.levels - level)
        starts = span * np.arange(oracle.branching**level)
        counts.append(even * np.clip(oracle.size - starts, 0, span))
    return strategy, strategy.answer(counts)
