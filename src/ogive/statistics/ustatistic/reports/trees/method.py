"""An AUC with public labels from reports about a tree over the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.kernels import Greater
from ogive.kernels.cells import widths
from ogive.local import PublicClasses
from ogive.queries import Answer
from ogive.statistics.ustatistic.base import KernelMeans, MeanTask, best, check_served
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, shape_means
from ogive.statistics.ustatistic.reports.method import OneReport
from ogive.statistics.ustatistic.reports.trees import auc as hierarchy
from ogive.statistics.ustatistic.reports.trees import bounds as auc_bounds
from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc
from ogive.statistics.ustatistic.reports.trees.reports import expected_noise

DEFAULT_BINS = 1 << 10
DEFAULTS = HierarchyAuc()
_ANY_BINS = 2
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
        shapes = shape_means(self.task.measure, self.task.domain(_ANY_BINS), 2)
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
        """What is linear in the noise of the nodes of one class, and products of both, of so many records of each.

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
    """The tree with the best number of children of those allowed; 1024 leaves where their number is free.

    Raises:
        ParameterError, UnsupportedError: this is no AUC with public labels, or reports cannot be asked for.
    """
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
