"""An AUC with public labels from reports about a tree over the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from ogive.core.arrays import Float64
from ogive.core.checks import among, whole
from ogive.core.parameters import one_of
from ogive.errors import ParameterError, quoted
from ogive.kernels import Greater
from ogive.kernels.cells import widths
from ogive.local import PublicClasses, TreeOracle
from ogive.local.tree import COMPOSITIONS, NODES, SPLITS, Composition, NodeReport, Split, design_tree
from ogive.privacy import ApproxDP, Privacy, check_privacy
from ogive.queries import Answer
from ogive.statistics.ustatistic.base import (
    ANY_BINS,
    KernelMeans,
    MeanTask,
    MethodOptions,
    ShapeMeans,
    best,
    check_served,
    shape_means,
)
from ogive.statistics.ustatistic.reports.method import OneReport, report_epsilon
from ogive.statistics.ustatistic.reports.trees import auc as hierarchy
from ogive.statistics.ustatistic.reports.trees import bounds as auc_bounds
from ogive.statistics.ustatistic.reports.trees.auc import (
    check_a,
    check_prune,
    error_bound,
    expected_noise,
    prunes,
    threshold_of,
)
from ogive.statistics.ustatistic.reports.trees.bounds import VARIANTS, Sizes, Variant

# --- Options

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


# --- The method

DEFAULT_BINS = 1 << 10
DEFAULTS = HierarchyAuc()
_SURE = 2.0
_CLEAR = 0.05


@dataclass(frozen=True)
class Hierarchical(OneReport):
    """One report of every owner about one level of a tree over the scores.

    Fields:
        task: The statistic and the terms.
        bins: Number of leaves, or of bins that were padded to them.
        oracle: Classes beside a tree oracle.
        options: How two trees are read.
    """

    name: ClassVar[str] = "hierarchy"
    task: MeanTask
    bins: int
    oracle: PublicClasses
    options: HierarchyAuc

    @property
    def tree(self) -> Any:
        """The oracle of the scores."""
        return self.oracle.inner

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias of rounding to leaves.

        Of discarded nodes it has the most that they may lose instead of their variance.
        """
        half = max(1, self.task.records // 2)
        sizes = self.options.sizes(self.tree, half, half, self._ties)
        threshold = self.options.threshold(sizes)
        shapes = shape_means(self.task.measure, self.task.domain(ANY_BINS), 2)
        linear, products = np.mean([self._variances(shape, half) for shape in shapes], axis=0).tolist()
        bias = 0.0 if self._points else float(np.mean([self._bias(shape) ** 2 for shape in shapes]))
        return float(bias + linear + (products if threshold is None else auc_bounds.lost_bound(sizes, threshold)))

    def _bias(self, shape: ShapeMeans) -> float:
        """How far rounding to leaves moves the area, with pairs in one leaf counted half."""
        symbols = self.domain.symbols(shape.rows)
        positives, negatives = (
            np.bincount(symbols[shape.classes == place], minlength=self.tree.padded) for place in (1, 0)
        )
        wins = positives @ (np.cumsum(negatives) - negatives / 2)
        return float(wins / (positives.sum() * negatives.sum()) - shape.means[0])

    def _variances(self, shape: ShapeMeans, records: int) -> tuple[float, float]:
        """What is linear in the noise of the nodes of one class, and products of both, of this many records of each.

        The first is the sum over nodes of squared counts of the other class, by which a child's count is multiplied,
        times its variance; the second that over pairs of children of one node.
        """
        tree = self.tree
        symbols = self.domain.symbols(shape.rows)
        held = []
        for place in (1, 0):
            counts = np.bincount(symbols[shape.classes == place], minlength=tree.padded)
            held.append(counts * (records / counts.sum()))
        linear = products = 0.0
        for level, noise in enumerate(expected_noise(tree, records)):
            size = tree.branching ** (tree.levels - level - 1)
            x, y = (each.reshape(-1, tree.branching, size).sum(axis=2) for each in held)
            v, w = (noise.variance + (noise.slope + noise.curve * each) * each for each in (x, y))
            tied = 0.5 if level == tree.levels - 1 and self._ties == "half" else 0.0
            linear += float((_above(x, tied) ** 2 * w + _above(y[:, ::-1], tied)[:, ::-1] ** 2 * v).sum())
            products += float((_above(v, tied**2) * w).sum())
        return linear / records**4, products / records**4

    @cached_property
    def _points(self) -> bool:
        """Whether a leaf holds one value, so that pairs in it are ties; else their order is not known."""
        return not widths(self.domain.columns[0]).any()

    @property
    def _ties(self) -> str:
        [kernel] = self.task.measure.kernels
        assert isinstance(kernel, Greater)
        return kernel.ties if self._points else "half"

    def means(self, answer: Answer) -> KernelMeans:
        """The AUC, its noise, and how far discarded nodes and rounding may have moved it."""
        options = self.options
        found = hierarchy.auc(
            self.oracle, answer.values, a=options.a, prune=options.prune, variant=options.variant, ties=self._ties
        )
        sizes = found.sizes
        moved = found.bias_estimate + (0.0 if self._points else self._one_leaf(answer) / 2)

        def sampling(gradient: Float64) -> float:
            return found.sampling_variance

        classes = (sizes.negatives, sizes.positives)
        variance = np.array([[found.variance]])
        return KernelMeans(np.array([found.value]), variance, sampling, np.array([moved]), sum(classes), classes)

    def _one_leaf(self, answer: Answer) -> float:
        """Share of pairs whose scores are in one leaf, as far as reports tell.

        It is estimated at the finest level whose noise allows it, and taken to fall from there as for scores that are
        spread out within the nodes.
        """
        tree, size = self.tree, [int(self.tree.reports(each)) for each in answer.values]
        noise = [np.array(tree.variances(each)) for each in answer.values]
        counts = [tree.counts(each) for each in answer.values]
        share = 1.0
        for level in range(tree.levels):
            nodes = tree.branching ** (level + 1)
            deviation = math.sqrt(nodes * noise[0][level] * noise[1][level]) / (size[0] * size[1])
            if deviation > _CLEAR and level:
                share /= tree.branching
                continue
            found = float(counts[0][level] @ counts[1][level]) / (size[0] * size[1])
            share = min(share, max(0.0, found) + _SURE * deviation)
        return share


def _above(values: Float64, own: float) -> Float64:
    """Sums over the later children of a node, and a share of a child's own."""
    sums: Float64 = values[:, ::-1].cumsum(axis=1)[:, ::-1] - (1 - own) * values
    return sums


def hierarchical(task: MeanTask, options: HierarchyAuc = DEFAULTS) -> Hierarchical:
    """The tree with the best number of children of those allowed; 1024 leaves where their number is free."""
    kernels = task.measure.kernels
    if task.classes is None or len(kernels) != 1 or not isinstance(kernels[0], Greater) or task.classes.size != 2:
        raise ParameterError("method hierarchy is for an AUC with public labels; use method krr, unary or haar")
    return best(partial(_made, task, options, branching) for branching in options.branchings)


def _made(task: MeanTask, options: HierarchyAuc, branching: int) -> Hierarchical:
    assert task.classes is not None
    bins = DEFAULT_BINS if task.free else 1
    tree = options.oracle(task.domain(bins).size, task.terms.privacy, branching=branching)
    if tree.tallied < tree.levels:
        raise ParameterError(
            f"reports about {tree.size} bins cannot be added up in memory; take at most {branching**tree.tallied}"
        )
    method = Hierarchical(task, bins, PublicClasses(tree, task.classes.size), options)
    check_served(task.terms, method.query)
    return method
