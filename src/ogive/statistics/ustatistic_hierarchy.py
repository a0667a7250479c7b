"""An AUC with public labels from reports about a tree over the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels import Greater
from ogive.kernels.cells import widths
from ogive.local import PublicClasses, TreeOracle
from ogive.queries import Answer, ReportsQuery
from ogive.statistics.pairwise import auc_bounds, hierarchy
from ogive.statistics.ustatistic_reference import Judged, judged
from ogive.statistics.ustatistic_reports import report_epsilon
from ogive.statistics.ustatistic_ways import Asked, Found, best, check_served

Float64 = NDArray[np.float64]

DEFAULT_BINS = 1 << 10
BRANCHINGS = (2, 4)
_ANY_BINS = 2
_SURE = 2.0
_CLEAR = 0.05


@dataclass(frozen=True)
class Hierarchical:
    """One report of every owner about one level of a tree over the scores.

    Fields:
        asked: The statistic and the terms.
        bins: Number of leaves, or of bins that were padded to them.
        oracle: Classes beside a tree oracle.
    """

    name: ClassVar[str] = "hierarchy"
    rounded: ClassVar[bool] = True

    asked: Asked
    bins: int
    oracle: PublicClasses

    @cached_property
    def domain(self) -> Domain:
        """The score."""
        return self.asked.domain(self.bins)

    @property
    def query(self) -> ReportsQuery:
        """The reports."""
        return ReportsQuery(self.asked.rows(self.bins), self.oracle, self.asked.rounding)

    @property
    def tree(self) -> Any:
        """The oracle of the scores."""
        return self.oracle.inner

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the noise that is linear in the counts, and the most of the rest."""
        half = max(1, self.asked.records // 2)
        tree = self.tree
        each = half * tree.levels * tree.scale**2 if tree.split == "users" else half * tree.scale**2
        sizes = auc_bounds.Sizes(half, half, each, each, tree.levels, tree.branching, "half", self._ties)
        threshold = hierarchy.threshold_of(sizes, "auto")
        rest = min(auc_bounds.all_nodes_variance(sizes), auc_bounds.lost_bound(sizes, threshold))
        shapes = judged(self.asked.measure, self.asked.domain(_ANY_BINS), 2)
        return float(np.mean([self._linear(shape) * each / half for shape in shapes])) / half + rest

    def _linear(self, shape: Judged) -> float:
        """Sum over nodes of squared shares of what a child's count is multiplied with, of both classes."""
        tree = self.tree
        symbols = self.domain.symbols(shape.rows)
        shares = []
        for place in (1, 0):
            counts = np.bincount(symbols[shape.classes == place], minlength=tree.padded).astype(np.float64)
            shares.append(counts / counts.sum())
        total = 0.0
        for level in range(tree.levels):
            size = tree.branching ** (tree.levels - level - 1)
            positive, negative = (each.reshape(-1, tree.branching, size).sum(axis=2) for each in shares)
            above = positive[:, ::-1].cumsum(axis=1)[:, ::-1] - positive
            below = negative.cumsum(axis=1) - negative
            total += float((above**2).sum() + (below**2).sum())
        return total

    @cached_property
    def _points(self) -> bool:
        """Whether a leaf holds one value, so that pairs in it are ties; else their order is not known."""
        return not widths(self.domain.columns[0]).any()

    @property
    def _ties(self) -> str:
        [kernel] = self.asked.measure.kernels
        assert isinstance(kernel, Greater)
        return kernel.ties if self._points else "half"

    def found(self, answer: Answer) -> Found:
        """The AUC, its noise, and how far discarded nodes and rounding may have moved it."""
        found = hierarchy.auc(self.oracle, answer.values, ties=self._ties)
        sizes = found.sizes
        moved = found.bias_estimate + (0.0 if self._points else self._one_leaf(answer) / 2)

        def sampling(gradient: Float64) -> float:
            return found.sampling_variance

        classes = (sizes.negatives, sizes.positives)
        variance = np.array([[found.variance]])
        return Found(np.array([found.value]), variance, sampling, np.array([moved]), sum(classes), classes)

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


def hierarchical(asked: Asked) -> Hierarchical:
    """The tree with the best number of children; 1024 leaves where their number is free.

    Raises:
        ParameterError, UnsupportedError: this is no AUC with public labels, or reports cannot be asked for.
    """
    kernels = asked.measure.kernels
    if asked.classes is None or len(kernels) != 1 or not isinstance(kernels[0], Greater) or asked.classes.size != 2:
        raise ParameterError("method hierarchy is for an AUC with public labels; use method krr, unary or haar")
    return best(partial(_made, asked, branching) for branching in BRANCHINGS)


def _made(asked: Asked, branching: int) -> Hierarchical:
    epsilon = report_epsilon(asked.terms.privacy, asked.terms.unit.max_rows_per_person)
    assert asked.classes is not None
    bins = DEFAULT_BINS if asked.free else 1
    tree = TreeOracle(asked.domain(bins).size, epsilon, branching=branching)
    way = Hierarchical(asked, bins, PublicClasses(tree, asked.classes.size))
    check_served(asked.terms, way.query)
    return way
