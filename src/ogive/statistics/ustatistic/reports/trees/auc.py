"""The AUC from randomized reports about the nodes of a tree over scores.

Labels are public, scores are not. Every owner says, noisily, in which node of one level of a tree over the scores it
is; the noisy trees of the two classes are walked together, level by level, and pairs are counted where they part.

Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5, corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ogive.arrays import Int64, UInt8
from ogive.checks import among
from ogive.errors import ParameterError, quoted
from ogive.statistics.ustatistic.reports.trees.bounds import (
    TIES,
    VARIANTS,
    Sizes,
    all_nodes_variance,
    best_a,
    closed_form_a,
    lost_bound,
    mse_bound,
)
from ogive.statistics.ustatistic.reports.trees.counts import NoisyTree
from ogive.statistics.ustatistic.reports.trees.reports import trees
from ogive.statistics.ustatistic.reports.trees.walk import MOST_NODES, walk

AGAINST = ("sample", "population")
FORMULAS = ("auto", "paper")
_LARGEST_A = 1e6


@dataclass(frozen=True)
class HierarchicalAuc:
    """An AUC, how noisy it is, and what was not looked into.

    Fields:
        value: The estimate; unbiased if all nodes were looked into. Noise may take it out of [0, 1].
        variance: Estimate of the variance of the randomization given the records, at least that of products of noise.
        bias_bound: Root of a bound of the mean squared error that is made in nodes that were not looked into, whatever
            the scores; 0 if all were.
        discarded_share: Estimate of the share of all pairs that are in such nodes; noisy, so it may be below 0. The
            bias is at most half of the true share ("half"), or the whole ("zero").
        recursed: Nodes that were looked into, from the root's level on.
        discarded: Nodes that were not.
        a: Threshold; None if all nodes were looked into.
        sizes: Numbers of records, noise of nodes and form of the trees.
        shared: Whether every report answers all levels, so that levels count the same records.
    """

    value: float
    variance: float
    bias_bound: float
    discarded_share: float
    recursed: tuple[int, ...]
    discarded: tuple[int, ...]
    a: float | None
    sizes: Sizes
    shared: bool

    @property
    def standard_error(self) -> float:
        """Root of the variance."""
        return math.sqrt(self.variance)

    @property
    def clipped(self) -> float:
        """The value within [0, 1], to be shown and nothing else: it is biased."""
        return min(1.0, max(0.0, self.value))

    @property
    def sampling_variance(self) -> float:
        """About the most that the AUC of a sample varies around the population's, for such sizes and value.

        Source: van Dantzig 1951, Birnbaum and Klose 1957: at most AUC (1 - AUC) / min(n+, n-).
        """
        return self.clipped * (1 - self.clipped) / min(self.sizes.positives, self.sizes.negatives)

    @property
    def bias_estimate(self) -> float:
        """At most so large is the bias if the estimated share of the discarded pairs is right."""
        whole = max(0.0, self.discarded_share)
        return whole / 2 if self.sizes.variant == "half" else whole

    def bound(self, against: str = "sample") -> float:
        """At least the mean squared error, whatever the scores, before any report is seen.

        Args:
            against: "sample" for the AUC of these records, "population" for that of where they come from. What is
                proved where reports answer one level each is for the population; for the sample it takes the
                number of levels as a factor, which simulations do not show.

        Raises:
            ParameterError: against is neither.
        """
        return error_bound(self.sizes, self.a, shared=self.shared, against=against)


def error_bound(sizes: Sizes, a: float | None, *, shared: bool, against: str = "sample") -> float:
    """At least the mean squared error of the AUC, whatever the scores.

    Args:
        sizes: Of the problem.
        a: Threshold; None if all nodes are looked into.
        shared: Whether every report answers all levels.
        against: "sample" or "population".

    Raises:
        ParameterError: against is neither.

    Source: Theorem 3, corrected; `docs/proofs/hierarchy.md`.
    """
    among(against, "against", AGAINST)
    found = all_bound(sizes) if a is None else mse_bound(sizes, a)
    if not shared:
        return found * sizes.levels if against == "sample" else found
    if against == "sample":
        return found
    # of any distribution, the AUC of a sample has at most this variance
    return (math.sqrt(found) + math.sqrt(0.25 / min(sizes.positives, sizes.negatives))) ** 2


def all_bound(sizes: Sizes) -> float:
    """At least the variance of the AUC if all nodes are looked into, whatever the scores."""
    linear = (sizes.branching - 1) * sizes.levels + (0.25 if sizes.ties == "half" else 0.0)
    return linear * sum(sizes.squares) / sizes.pairs**2 + all_nodes_variance(sizes)


def auc(
    oracle: Any,
    sums: Int64,
    *,
    a: str | float = "auto",
    prune: str | bool = "auto",
    variant: str = "half",
    ties: str = "half",
    reports: tuple[Int64, UInt8] | None = None,
) -> HierarchicalAuc:
    """Estimate the AUC of two public classes from reports of a hierarchical oracle.

    Args:
        oracle: `PublicClasses` of two classes over a `TreeOracle`; class 1 has the larger scores.
        sums: Of reports, of the oracle's shape, (2, ...).
        a: A node is refined if the product of its counts is at least a times the product of their standard deviations:
            "auto" minimizes the proved bound, "paper" is its closed form, or a number above 1.
        prune: Whether nodes are pruned. "auto" refines all nodes if the additional variance is smaller than the
            possible bias of pruning.
        variant: What pairs in discarded nodes count: "half" or "zero".
        ties: What pairs in one leaf count: "half", as the Mann-Whitney statistic does, or "strict" for nothing.
        reports: Numbers and payloads of the reports, where the tree has levels of more than 2^20 nodes.

    Raises:
        ParameterError: an argument is out of range, the oracle is another one, or all nodes are too many.
        DataError: a class has no report, or none at some level.

    Privacy: post-processing of randomized reports; classes are public.
    """
    positive, negative = trees(oracle, sums, reports)
    shared = oracle.inner.split == "budget"
    return auc_of_trees(positive, negative, a=a, prune=prune, variant=variant, ties=ties, shared=shared)


def auc_of_trees(
    positive: NoisyTree,
    negative: NoisyTree,
    *,
    a: str | float = "auto",
    prune: str | bool = "auto",
    variant: str = "half",
    ties: str = "half",
    shared: bool = False,
) -> HierarchicalAuc:
    """Estimate the AUC from two noisy trees of one form.

    Args:
        positive: Scores that should be larger.
        negative: Scores that should be smaller.
        a: As for `auc`.
        prune: As for `auc`.
        variant: As for `auc`.
        ties: As for `auc`.
        shared: Whether all levels count the same records, which only bounds depend on.

    Raises:
        ParameterError: an argument is out of range, the trees differ in form, or there are too many nodes.
    """
    among(variant, "variant", VARIANTS)
    among(ties, "ties", TIES)
    sizes = sizes_of(positive, negative, variant, ties)
    threshold = threshold_of(sizes, a)
    if prunes(sizes, threshold, prune):
        found, bias = walk(positive, negative, a=threshold, variant=variant, ties=ties), lost_bound(sizes, threshold)
    else:
        found, bias = walk(positive, negative, a=None, variant=variant, ties=ties), 0.0
    return HierarchicalAuc(
        value=found.pairs / sizes.pairs,
        variance=max(0.0, found.least, found.variance) / sizes.pairs**2,
        bias_bound=math.sqrt(bias),
        discarded_share=found.discarded_pairs / sizes.pairs,
        recursed=found.recursed,
        discarded=found.discarded,
        a=threshold if bias else None,
        sizes=sizes,
        shared=shared,
    )


def sizes_of(positive: NoisyTree, negative: NoisyTree, variant: str = "half", ties: str = "half") -> Sizes:
    """What bounds for two trees depend on.

    Raises:
        ParameterError: the trees differ in form.
    """
    if positive.branching != negative.branching or len(positive.noise) != len(negative.noise):
        raise ParameterError("the trees of both classes must have as many levels and children")
    v, w = (max(noise.most for noise in tree.noise) for tree in (positive, negative))
    return Sizes(positive.records, negative.records, v, w, len(positive.noise), positive.branching, variant, ties)


def check_a(a: Any) -> None:
    """Refuse what asks for no threshold.

    Raises:
        ParameterError: it is not "auto", "paper" or a number above 1.
    """
    if isinstance(a, str) and a in FORMULAS:
        return
    if isinstance(a, bool) or not isinstance(a, int | float) or not 1 < a <= _LARGEST_A:
        raise ParameterError(
            f"`a` must be 'auto', 'paper' or a number above 1 and at most {_LARGEST_A:g}, got {quoted(a)}"
        )


def check_prune(prune: Any) -> None:
    """Refuse what does not say whether nodes are discarded.

    Raises:
        ParameterError: it is neither "auto" nor a truth value.
    """
    if not isinstance(prune, bool) and prune != "auto":
        raise ParameterError(f"`prune` must be 'auto', True or False, got {quoted(prune)}")


def threshold_of(sizes: Sizes, a: str | float) -> float:
    """The threshold that `a` asks for.

    Raises:
        ParameterError: it is not "auto", "paper" or a number above 1.
    """
    if a == "auto":
        return best_a(sizes)
    if a == "paper":
        # v = c n levels of each class; where they differ in more than size, the larger c
        c = max(sizes.positive_variance / sizes.positives, sizes.negative_variance / sizes.negatives) / sizes.levels
        return closed_form_a(sizes.positives, sizes.negatives, c, sizes.levels, variant=sizes.variant)
    check_a(a)
    return float(a)


def prunes(sizes: Sizes, a: float, prune: str | bool) -> bool:
    """Whether nodes are discarded.

    Raises:
        ParameterError: prune is neither "auto" nor a truth value, or there are too many nodes to look into all.
    """
    large = sizes.branching**sizes.levels > MOST_NODES
    if prune is False and large:
        raise ParameterError(
            f"{sizes.levels} levels have more than {MOST_NODES} nodes to look into; prune, or use fewer levels"
        )
    check_prune(prune)
    if isinstance(prune, bool):
        return prune
    return large or all_nodes_variance(sizes) >= lost_bound(sizes, a)
