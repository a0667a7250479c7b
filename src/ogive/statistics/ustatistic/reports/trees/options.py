"""The options of an AUC from trees: what every owner reports of a tree over the scores, and how two trees are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ogive.checks import among, whole
from ogive.errors import ParameterError, quoted
from ogive.local import TreeOracle
from ogive.local.design import design_tree
from ogive.local.tree import COMPOSITIONS, NODES, SPLITS, Composition, NodeReport, Split
from ogive.parameters import one_of
from ogive.privacy import ApproxDP, Privacy, check_privacy
from ogive.statistics.ustatistic.base import MethodOptions
from ogive.statistics.ustatistic.reports.method import report_epsilon
from ogive.statistics.ustatistic.reports.trees.auc import check_a, check_prune, error_bound, prunes, threshold_of
from ogive.statistics.ustatistic.reports.trees.bounds import VARIANTS, Sizes, Variant
from ogive.statistics.ustatistic.reports.trees.reports import expected_noise

CHILDREN = (2, 4)
"""Children of a node that are compared where nobody named how many."""


@dataclass(frozen=True)
class HierarchyAuc(MethodOptions):
    """AUC with public labels, from one report of every owner on a tree over the scores.

    `Ustatistic(method="hierarchy")` uses the default options.

    Fields:
        variant: Value of pairs within a pruned node: "half", or "zero", which is biased towards 0 and less noisy.
        a: A node is refined if the product of its counts is at least a times the product of their standard deviations:
            "auto" minimizes the proved bound, "paper" is its closed form, or a number above 1.
        prune: Whether nodes are pruned. "auto" refines all nodes if the additional variance is smaller than the
            possible bias of pruning.
        split: "users" (an owner reports on one level) or "budget" (on all, with a share of epsilon).
        composition: Composition of a split budget: "basic" (the default), "advanced" (as in the paper) or "exact". The
            last two require a guarantee with a delta.
        branching: Children of a node, 2 to 8; by default 2 or 4, whichever has the smaller predicted error.
        nodes: "hadamard" (an index and a bit) or "unary" (a bit for each node of levels of up to 1024: longer, less
            noise at a large epsilon).

    Raises:
        ParameterError: a field is out of range, or is incompatible with another.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5, corrected; `docs/proofs/hierarchy.md`.

    Example:
        >>> import ogive
        >>> tree = ogive.HierarchyAuc(split="budget", composition="exact", branching=4)
        >>> asked = ogive.Ustatistic(("score", "ill"), "auc", bounds=(0, 1), method=tree)
    """

    name: ClassVar[str] = "hierarchy"

    variant: Variant = one_of(*VARIANTS)
    a: Literal["auto", "paper"] | float = "auto"
    prune: Literal["auto"] | bool = "auto"
    split: Split = one_of(*SPLITS)
    composition: Composition | None = None
    branching: int | None = None
    nodes: NodeReport = one_of(*NODES)

    def __post_init__(self) -> None:
        among(self.variant, "variant", VARIANTS)
        among(self.split, "split", SPLITS)
        among(self.nodes, "nodes", NODES)
        check_a(self.a)
        check_prune(self.prune)
        if self.prune is False and (self.variant, self.a) != ("half", "auto"):
            raise ParameterError(
                "`variant` and `a` are for discarded nodes, and `prune=False` discards none; leave them out"
            )
        if self.composition is not None:
            among(self.composition, "composition", COMPOSITIONS)
        if self.split == "users" and self.composition is not None:
            raise ParameterError(
                f"`composition={quoted(self.composition)}` shares a budget out among levels, and no owner reports "
                "on two of them under `split='users'`; use `split='budget'`, or leave it out"
            )
        if self.split == "budget" and self.composition is None:
            object.__setattr__(self, "composition", "basic")
        if self.branching is not None:
            whole(self.branching, "branching", 2, 8)

    @property
    def branchings(self) -> tuple[int, ...]:
        """The numbers of children that are compared."""
        return CHILDREN if self.branching is None else (self.branching,)

    def oracle(self, leaves: int, privacy: Privacy, *, branching: int) -> TreeOracle:
        """The randomizer of every owner's leaf.

        Args:
            leaves: Number of leaves, or of bins that are padded to them.
            privacy: Of a report.
            branching: Children of a node.

        Raises:
            ParameterError: the composition requires a delta and the guarantee has none, or gives no guarantee at this
                delta.
        """
        asked: dict[str, Any] = {"branching": branching, "split": self.split, "nodes": self.nodes}
        if self.composition in (None, "basic"):
            return design_tree(leaves, report_epsilon(privacy, 1), **asked)
        if not isinstance(privacy, ApproxDP):
            raise ParameterError(
                f"`composition={quoted(self.composition)}` needs a guarantee with a delta, and there is none; "
                "without one use `composition='basic'`"
            )
        return design_tree(leaves, privacy.epsilon, privacy.delta, composition=self.composition, **asked)

    def sizes(self, oracle: TreeOracle, positives: int, negatives: int, ties: str = "half") -> Sizes:
        """The quantities on which bounds depend, for the expected number of reports on each level."""
        v, w = (max(each.most for each in expected_noise(oracle, size)) for size in (positives, negatives))
        return Sizes(positives, negatives, v, w, oracle.levels, oracle.branching, self.variant, ties)

    def threshold(self, sizes: Sizes) -> float | None:
        """The pruning threshold; None if all nodes are refined.

        Raises:
            ParameterError: there are too many nodes to refine all.
        """
        a = threshold_of(sizes, self.a)
        return a if prunes(sizes, a, self.prune) else None

    def bound(
        self,
        positives: int,
        negatives: int,
        *,
        bins: int,
        privacy: Privacy,
        ties: str = "half",
        against: str = "sample",
    ) -> float:
        """Upper bound of the mean squared error of the AUC of the rounded scores, from public numbers.

        Args:
            positives: Records of the positive class.
            negatives: Records of the negative class.
            bins: Of the scores.
            privacy: Of every report.
            ties: "half" or "strict": what pairs in one bin count.
            against: "sample" for the AUC of these records, "population" for the AUC of the population; see
                `ogive.statistics.ustatistic.reports.trees.auc.error_bound`.

        Returns:
            The bound; infinite where nothing is proved, as for a near 1.

        Raises:
            ParameterError: an argument is out of range, or the options leave branching open.

        Example:
            >>> import ogive
            >>> bound = ogive.HierarchyAuc(branching=2).bound(10**6, 10**6, bins=1024, privacy=ogive.PureDP(1))
            >>> 0.09 < bound**0.5 < 0.1
            True
        """
        if self.branching is None:
            raise ParameterError("a bound needs the number of children of a node; name it, for example `branching=2`")
        oracle = self.oracle(bins, check_privacy(privacy), branching=self.branching)
        sizes = self.sizes(oracle, positives, negatives, ties)
        return error_bound(sizes, self.threshold(sizes), shared=self.split == "budget", against=against)
