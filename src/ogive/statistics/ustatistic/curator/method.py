"""A pairwise statistic from those who see records: exact, with noise on its means, or on counts of bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.cells import MOST_SYMBOLS
from ogive.kernels.triples import of_triples
from ogive.privacy import Adjacency, PureDP
from ogive.queries import Answer, Cells, CellsQuery, KernelQuery, design_cells
from ogive.queries.exact import ExactMeansQuery
from ogive.statistics.ustatistic.base import (
    KernelMeans,
    MeanTask,
    best,
    candidate_bins,
    check_pairs,
    check_served,
    check_simple,
    farthest,
    of_classes,
    sampling_of,
)
from ogive.statistics.ustatistic.curator import cells as noisy_cells
from ogive.statistics.ustatistic.curator.noisy_kernels import (
    design_kernels,
    kernel_means,
    noise_variances,
    sampling_bound,
)
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, rounded_means, shape_means

MOST_CELLS = 1 << 10
"""Most counts that bins which nobody named are refined to."""

PATIENCE = 2
_ANY_BINS = 2


@dataclass(frozen=True)
class Exact:
    """The exact means, of records that one may see."""

    name: ClassVar[str] = "exact"
    rounded: ClassVar[bool] = False

    task: MeanTask

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.task.domain(_ANY_BINS)

    @property
    def query(self) -> ExactMeansQuery:
        """The query for the exact means."""
        classes = 0 if self.task.classes is None else self.task.classes.size
        return ExactMeansQuery(self.task.rows(_ANY_BINS), self.task.measure, classes)

    @property
    def predicted(self) -> float:
        """There is no error."""
        return 0.0

    def means(self, answer: Answer) -> KernelMeans:
        """The means, without error but that of sampling."""
        sizes, means, variance = self.query.read(answer.values)
        values, measure, domain = np.array(means), self.task.measure, self.domain

        def sampling(gradient: Float64) -> float | None:
            return sampling_bound(measure, gradient, values, domain, sizes)

        nothing = np.zeros(len(values))
        classes = sizes if self.task.classes is not None else None
        records = sum(sizes) if self.task.terms.adjacency is Adjacency.REPLACE else None
        return KernelMeans(
            values, np.diag(nothing), sampling, nothing, records, classes if records is not None else None, variance
        )


@dataclass(frozen=True)
class Kernels:
    """Noise on the exact mean of every kernel.

    Fields:
        task: The statistic and the terms.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "kernel"
    rounded: ClassVar[bool] = False

    task: MeanTask
    query: KernelQuery

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.task.domain(_ANY_BINS)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance."""
        classes = 0 if self.task.classes is None else self.task.classes.size
        totals = (max(1, self.task.records // classes),) * classes if classes else (self.task.records,)
        shapes = shape_means(self.task.measure, self.domain, classes)
        found = [shape.gradient**2 @ noise_variances(self.query, totals, shape.means) for shape in shapes]
        return float(np.mean(found))

    def means(self, answer: Answer) -> KernelMeans:
        """The noisy means."""
        means = kernel_means(self.query, answer)
        measure, domain, totals = self.task.measure, self.domain, answer.totals
        assert totals is not None, "under ADD_OR_REMOVE no price was named"

        def sampling(gradient: Float64) -> float | None:
            return sampling_bound(measure, gradient, means.values, domain, totals)

        classes = totals if self.task.classes is not None else None
        return KernelMeans(means.values, means.covariance, sampling, means.quantization, means.records, classes)


def kernels(task: MeanTask) -> Kernels:
    """The least noise on the means.

    Raises:
        ParameterError, UnsupportedError, ScaleError: means cannot be asked for.
    """
    check_simple(task, Kernels.name)
    rows, terms = task.rows(_ANY_BINS), task.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        only = of_classes(task.measure) or of_triples(task.measure)
        other = "" if only else "`method='cells'`, or "
        tuples = "triples" if of_triples(task.measure) else "pairs"
        raise ParameterError(
            f"what one record can change in a mean over {tuples} depends on the number of records, which is private "
            f"here; use {other}`adjacency REPLACE`"
        )
    query = design_kernels(rows, task.measure, terms.privacy, records=terms.records)
    check_served(terms, query)
    return Kernels(task, query)


@dataclass(frozen=True)
class Counts:
    """Noise on the count of every combination of bins, from which the means are computed.

    Fields:
        task: The statistic and the terms.
        bins: Number of bins of the free columns.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "cells"
    rounded: ClassVar[bool] = True

    task: MeanTask
    bins: int
    query: CellsQuery

    @cached_property
    def domain(self) -> Domain:
        """What the kernels look at."""
        return self.task.domain(self.bins)

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
        """Every kernel between symbols."""
        return tuple(kernel.matrix(self.domain, self.task.matrix) for kernel in self.task.measure.kernels)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias."""
        classes = 0 if self.task.classes is None else self.task.classes.size
        shapes = shape_means(self.task.measure, self.task.domain(_ANY_BINS), classes)
        query = self.task.terms.noise_of(self.query)
        return float(np.mean([self._predicted(shape, query) for shape in shapes]))

    def _predicted(self, shape: ShapeMeans, query: CellsQuery) -> float:
        symbols, size = self.domain.symbols(shape.rows), self.domain.size
        classes = None if self.task.classes is None else shape.classes
        bias = shape.gradient @ (rounded_means(self.matrices, symbols, classes) - shape.means)
        combined = np.tensordot(shape.gradient, np.stack(self.matrices), axes=1)
        known = self.task.terms.adjacency is Adjacency.REPLACE
        records = self.task.records
        if classes is None:
            shares = np.bincount(symbols, minlength=size) / len(symbols)
            variance = noisy_cells.variance(query, combined, shares, records, total_known=known)
        else:
            counts = [np.bincount(symbols[classes == each], minlength=size) for each in (1, 0)]
            positive, negative = (each / each.sum() for each in counts)
            sizes = (max(1.0, records / 2), max(1.0, records / 2))
            variance = noisy_cells.two_sample_variance(query, combined, positive, negative, sizes, total_known=known)
        return float(variance + bias**2)

    def means(self, answer: Answer) -> KernelMeans:
        """Means of the kernels from the noisy counts."""
        reach = farthest(self.task, self.domain, self.matrices)
        means_of = noisy_cells.means if self.task.classes is None else noisy_cells.two_sample_means
        means = means_of(self.query, answer, self.matrices, reach)
        moved = np.minimum(means.quantization**2, [each.max() for each in reach])
        public = answer.total is not None
        classes = answer.totals if public and self.task.classes is not None else None
        records = means.records if public else None
        return KernelMeans(means.values, means.covariance, sampling_of(means.sampling), moved, records, classes)


def counts(task: MeanTask) -> Counts:
    """The best number of bins, with the least noise on their counts.

    Raises:
        ParameterError, UnsupportedError, ScaleError: counts cannot be asked for.
    """
    check_pairs(task, Counts.name)
    check_simple(task, Counts.name)
    bins = candidate_bins(task.columns, most=MOST_CELLS)
    return best((partial(_counts, task, each) for each in bins), patience=PATIENCE)


def _counts(task: MeanTask, bins: int) -> Counts:
    found = []
    cells = Cells(task.rows(bins).domain)
    task.domain(bins).check_size(MOST_SYMBOLS)  # or there is no kernel between them to read the answer with
    privacy = task.terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    for granted in dict.fromkeys((privacy, pure)):
        query = design_cells(cells, granted, task.terms.unit, public_classes=task.classes is not None)
        check_served(task.terms, query)
        found.append(partial(Counts, task, bins, query))
    return best(found)
