"""A pairwise statistic from those who see records: exact, with noise on its means, or on counts of bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.accounting import pure_epsilon
from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.cells import MOST_SYMBOLS
from ogive.privacy import Adjacency, PureDP
from ogive.queries import Answer, Cells, CellsQuery, KernelQuery, design_cells
from ogive.queries.exact import ExactMeansQuery
from ogive.statistics.ustatistic.base import (
    Asked,
    Found,
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
from ogive.statistics.ustatistic.reference_shapes import Judged, judged, rounded_means

Float64 = NDArray[np.float64]

MOST_CELLS = 1 << 10
"""Most counts that bins which nobody named are refined to."""

PATIENCE = 2
_ANY_BINS = 2


@dataclass(frozen=True)
class Exact:
    """The exact means, of records that one may see."""

    name: ClassVar[str] = "exact"
    rounded: ClassVar[bool] = False

    asked: Asked

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.asked.domain(_ANY_BINS)

    @property
    def query(self) -> ExactMeansQuery:
        """The exact means."""
        classes = 0 if self.asked.classes is None else self.asked.classes.size
        return ExactMeansQuery(self.asked.rows(_ANY_BINS), self.asked.measure, classes)

    @property
    def predicted(self) -> float:
        """There is no error."""
        return 0.0

    def found(self, answer: Answer) -> Found:
        """The means, without error but that of sampling."""
        sizes, means = self.query.read(answer.values)
        values, measure, domain = np.array(means), self.asked.measure, self.domain

        def sampling(gradient: Float64) -> float | None:
            return sampling_bound(measure, gradient, values, domain, sizes)

        nothing = np.zeros(len(values))
        classes = sizes if self.asked.classes is not None else None
        records = sum(sizes) if self.asked.terms.adjacency is Adjacency.REPLACE else None
        return Found(values, np.diag(nothing), sampling, nothing, records, classes if records is not None else None)


@dataclass(frozen=True)
class Kernels:
    """Noise on the exact mean of every kernel.

    Fields:
        asked: The statistic and the terms.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "kernel"
    rounded: ClassVar[bool] = False

    asked: Asked
    query: KernelQuery

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.asked.domain(_ANY_BINS)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance."""
        classes = 0 if self.asked.classes is None else self.asked.classes.size
        totals = (max(1, self.asked.records // classes),) * classes if classes else (self.asked.records,)
        shapes = judged(self.asked.measure, self.domain, classes)
        found = [shape.gradient**2 @ noise_variances(self.query, totals, shape.means) for shape in shapes]
        return float(np.mean(found))

    def found(self, answer: Answer) -> Found:
        """The noisy means."""
        means = kernel_means(self.query, answer)
        measure, domain, totals = self.asked.measure, self.domain, answer.totals
        assert totals is not None, "under ADD_OR_REMOVE no price was named"

        def sampling(gradient: Float64) -> float | None:
            return sampling_bound(measure, gradient, means.values, domain, totals)

        classes = totals if self.asked.classes is not None else None
        return Found(means.values, means.covariance, sampling, means.quantization, means.records, classes)


def kernels(asked: Asked) -> Kernels:
    """The least noise on the means.

    Raises:
        ParameterError, UnsupportedError, ScaleError: means cannot be asked for.
    """
    check_simple(asked, Kernels.name)
    rows, terms = asked.rows(_ANY_BINS), asked.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        other = "" if of_classes(asked.measure) else "method='cells', or "
        raise ParameterError(
            "what one record can change in a mean over pairs depends on the number of records, which is private here; "
            f"use {other}adjacency REPLACE"
        )
    query = design_kernels(rows, asked.measure, terms.privacy, records=terms.records)
    check_served(terms, query)
    return Kernels(asked, query)


@dataclass(frozen=True)
class Counts:
    """Noise on the count of every combination of bins, from which the means are computed.

    Fields:
        asked: The statistic and the terms.
        bins: Number of bins of the free columns.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "cells"
    rounded: ClassVar[bool] = True

    asked: Asked
    bins: int
    query: CellsQuery

    @cached_property
    def domain(self) -> Domain:
        """What the kernels look at."""
        return self.asked.domain(self.bins)

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
        """Every kernel between symbols."""
        return tuple(kernel.matrix(self.domain, self.asked.matrix) for kernel in self.asked.measure.kernels)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias."""
        classes = 0 if self.asked.classes is None else self.asked.classes.size
        shapes = judged(self.asked.measure, self.asked.domain(_ANY_BINS), classes)
        query = self.asked.terms.noise_of(self.query)
        return float(np.mean([self._predicted(shape, query) for shape in shapes]))

    def _predicted(self, shape: Judged, query: CellsQuery) -> float:
        symbols, size = self.domain.symbols(shape.rows), self.domain.size
        classes = None if self.asked.classes is None else shape.classes
        bias = shape.gradient @ (rounded_means(self.matrices, symbols, classes) - shape.means)
        combined = np.tensordot(shape.gradient, np.stack(self.matrices), axes=1)
        known = self.asked.terms.adjacency is Adjacency.REPLACE
        records = self.asked.records
        if classes is None:
            shares = np.bincount(symbols, minlength=size) / len(symbols)
            variance = noisy_cells.variance(query, combined, shares, records, total_known=known)
        else:
            counts = [np.bincount(symbols[classes == each], minlength=size) for each in (1, 0)]
            positive, negative = (each / each.sum() for each in counts)
            sizes = (max(1.0, records / 2), max(1.0, records / 2))
            variance = noisy_cells.two_sample_variance(query, combined, positive, negative, sizes, total_known=known)
        return float(variance + bias**2)

    def found(self, answer: Answer) -> Found:
        """Means of the kernels from the noisy counts."""
        reach = farthest(self.asked, self.domain, self.matrices)
        means_of = noisy_cells.means if self.asked.classes is None else noisy_cells.two_sample_means
        means = means_of(self.query, answer, self.matrices, reach)
        moved = np.minimum(means.quantization**2, [each.max() for each in reach])
        public = answer.total is not None
        classes = answer.totals if public and self.asked.classes is not None else None
        records = means.records if public else None
        return Found(means.values, means.covariance, sampling_of(means.sampling), moved, records, classes)


def counts(asked: Asked) -> Counts:
    """The best number of bins, with the least noise on their counts.

    Raises:
        ParameterError, UnsupportedError, ScaleError: counts cannot be asked for.
    """
    check_pairs(asked, Counts.name)
    check_simple(asked, Counts.name)
    bins = candidate_bins(asked.columns, most=MOST_CELLS)
    return best((partial(_counts, asked, each) for each in bins), patience=PATIENCE)


def _counts(asked: Asked, bins: int) -> Counts:
    found = []
    cells = Cells(asked.rows(bins).domain)
    asked.domain(bins).check_size(MOST_SYMBOLS)  # or there is no kernel between them to read the answer with
    privacy = asked.terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    for granted in dict.fromkeys((privacy, pure)):
        query = design_cells(cells, granted, asked.terms.unit, public_classes=asked.classes is not None)
        check_served(asked.terms, query)
        found.append(partial(Counts, asked, bins, query))
    return best(found)
