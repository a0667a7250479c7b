"""U-statistics from a curator who sees the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.accounting.losses import LEAST_SIGMA
from ogive.columns import Domain
from ogive.core.arrays import Float64
from ogive.errors import ParameterError, ScaleError
from ogive.kernels import Equal
from ogive.kernels.base import Measure
from ogive.kernels.cells import MOST_SYMBOLS
from ogive.kernels.triples import of_triples
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale, too_much_noise
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, Cells, CellsQuery, DegreesQuery, KernelQuery, design_cells
from ogive.queries.kernels import ExactMeansQuery, check_totals
from ogive.statistics.ustatistic import noisy_kernels
from ogive.statistics.ustatistic.base import (
    ANY_BINS,
    PATIENCE,
    KernelMeans,
    MeanMethod,
    MeanTask,
    ShapeMeans,
    best,
    candidate_bins,
    check_pairs,
    check_served,
    check_simple,
    farthest,
    of_classes,
    rounded_means,
    sampling_of,
    shape_means,
)
from ogive.statistics.ustatistic.noisy_kernels import (
    cumulants,
    fitting_bits,
    sampling_bound,
    squared_ratio,
    squared_ratio_of_integers,
)

# --- Exact means, noise on means, and noise on counts of bins

MOST_CELLS = 1 << 10
"""Most counts that bins which nobody named are refined to."""


@dataclass(frozen=True)
class Exact:
    """The exact means, of records that one may see."""

    name: ClassVar[str] = "exact"
    rounded: ClassVar[bool] = False

    task: MeanTask

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.task.domain(ANY_BINS)

    @property
    def query(self) -> ExactMeansQuery:
        """The query for the exact means."""
        return ExactMeansQuery(self.task.rows(ANY_BINS), self.task.measure, self.task.number_of_classes)

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
        return self.task.domain(ANY_BINS)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance."""
        classes = self.task.number_of_classes
        totals = (max(1, self.task.records // classes),) * classes if classes else (self.task.records,)
        shapes = shape_means(self.task.measure, self.domain, classes)
        found = [shape.gradient**2 @ noisy_kernels.noise_variances(self.query, totals, shape.means) for shape in shapes]
        return float(np.mean(found))

    def means(self, answer: Answer) -> KernelMeans:
        """The noisy means."""
        means = noisy_kernels.kernel_means(self.query, answer)
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
    rows, terms = task.rows(ANY_BINS), task.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        only = of_classes(task.measure) or of_triples(task.measure)
        other = "" if only else "`method='cells'`, or "
        tuples = "triples" if of_triples(task.measure) else "pairs"
        raise ParameterError(
            f"what one record can change in a mean over {tuples} depends on the number of records, which is private "
            f"here; use {other}`adjacency REPLACE`"
        )
    query = noisy_kernels.design_kernels(rows, task.measure, terms.privacy, records=terms.records)
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
        shapes = shape_means(self.task.measure, self.task.domain(ANY_BINS), self.task.number_of_classes)
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
            variance = noisy_kernels.variance(query, combined, shares, records, total_known=known)
        else:
            counts = [np.bincount(symbols[classes == each], minlength=size) for each in (1, 0)]
            positive, negative = (each / each.sum() for each in counts)
            sizes = (max(1.0, records / 2), max(1.0, records / 2))
            variance = noisy_kernels.two_sample_variance(query, combined, positive, negative, sizes, total_known=known)
        return float(variance + bias**2)

    def means(self, answer: Answer) -> KernelMeans:
        """Means of the kernels from the noisy counts."""
        reach = farthest(self.task, self.domain, self.matrices)
        means_of = noisy_kernels.means if self.task.classes is None else noisy_kernels.two_sample_means
        means = means_of(self.query, answer, self.matrices, reach)
        moved = np.minimum(means.quantization**2, [each.max() for each in reach])
        public = answer.total is not None
        classes = answer.totals if public and self.task.classes is not None else None
        records = means.records if public else None
        return KernelMeans(means.values, means.covariance, sampling_of(means.sampling), moved, records, classes)


def counts(task: MeanTask) -> Counts:
    """The best number of bins, with the least noise on their counts."""
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


# --- Collision probability by clipped degrees
#
# A noisy bound of the largest count comes first, for a part of the guarantee; the equal pairs then need noise for that
# bound alone (`queries.degrees`). The part is chosen from public numbers: with k values and n records a count is about
# n / k, and more where it deviates. The larger the counts, the less the bound costs.

SHARES = tuple(Fraction(part, 32) for part in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16))
"""Parts of the guarantee that the largest count may have."""

_DEVIATIONS = 3
_GROUPS = 20


@dataclass(frozen=True)
class Degrees:
    """Noise on the largest count, and on the equal pairs with degrees that it bounds.

    Fields:
        task: The statistic and the terms.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "degrees"
    rounded: ClassVar[bool] = False

    task: MeanTask
    query: DegreesQuery

    @property
    def domain(self) -> Domain:
        """The values that records have."""
        return self.task.domain(ANY_BINS)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance."""
        return float(np.mean([self._predicted(shape) for shape in self._shapes]))

    def unless_beaten(self, other: MeanMethod) -> MeanMethod:
        """The method itself where it errs less than another one on every reference shape, else the other."""
        wins = all(self._predicted(shape) < self._of_other(other, shape) for shape in self._shapes)
        return self if wins else other

    @property
    def _shapes(self) -> tuple[ShapeMeans, ...]:
        return shape_means(self.task.measure, self.domain, 0)

    def _predicted(self, shape: ShapeMeans) -> float:
        records = self.task.records
        largest = round(_expected_largest(records * float(self._shares(shape).max()))) << self.query.bits
        error = _deviation(self.query, self.query.degree(largest, records), records)
        return float(shape.gradient[0] ** 2) * error**2

    def _of_other(self, other: MeanMethod, shape: ShapeMeans) -> float:
        """The variance of another method of a curator on a shape."""
        if not isinstance(other, Counts):
            return other.predicted
        equal, shares = np.eye(self.domain.size), self._shares(shape)
        query = self.task.terms.noise_of(other.query)
        variance = noisy_kernels.variance(query, equal, shares, self.task.records, total_known=True)
        return float(shape.gradient[0] ** 2) * variance

    def _shares(self, shape: ShapeMeans) -> Float64:
        """Shares of all values, the same within a few groups: there may be more values than imagined records."""
        size = self.domain.size
        groups = np.arange(size) * min(size, _GROUPS) // size
        held = np.bincount(groups[self.domain.symbols(shape.rows)], minlength=min(size, _GROUPS))
        found: Float64 = (held / held.sum() / np.bincount(groups))[groups]
        return found

    def means(self, answer: Answer) -> KernelMeans:
        """The collision probability."""
        (records,) = check_totals(answer.totals or ())
        largest, pairs = answer.values.tolist()
        degree = self.query.degree(largest, records)
        scale = Fraction(2 * degree, records * (records - 1) << self.query.bits)
        value = float(scale * pairs)
        error = _deviation(self.query, degree, records, spread=answer.adding / answer.honest) if answer.noisy else 0.0

        def sampling(gradient: Float64) -> float | None:
            return float(gradient[0] ** 2) * degree_sampling_bound(value, degree, records)

        return KernelMeans(np.array([value]), np.array([[error**2]]), sampling, np.zeros(1), records)


def counts_equal_pairs(measure: Measure) -> bool:
    """Whether a measure is made of the number of equal pairs alone."""
    return measure.kernels == (Equal(),)


def degrees(task: MeanTask) -> Degrees:
    """The least noise on equal pairs with a noisy bound of their degrees."""
    if not counts_equal_pairs(task.measure):
        raise ParameterError(
            "method degrees is for the collision entropy and its probability, whose pairs are equal or not; "
            "use `method='kernel'`"
        )
    check_simple(task, Degrees.name)
    terms = task.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        raise ParameterError(
            "a mean over pairs divides by the number of records, which is private here; use `method='cells'`, or "
            "`adjacency REPLACE`"
        )
    query = design_degrees(Cells(task.rows(ANY_BINS).domain), terms.privacy, records=task.records)
    check_served(terms, query)
    return Degrees(task, query)


def design_degrees(cells: Cells, privacy: Privacy, *, records: int) -> DegreesQuery:
    """The least noise on equal pairs that meets a guarantee, if all values are equally frequent."""
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    found: list[DegreesQuery] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    for grant in dict.fromkeys((privacy, pure)):
        for share in SHARES:
            try:
                found.append(_designed(cells, grant, share, records))
            except ScaleError as problem:
                if not isinstance(grant, ApproxDP):
                    failed.append((grant, problem))
    if not found:
        raise too_much_noise(privacy, "a number of pairs", failed)
    usual = round(_expected_largest(records / cells.domain.size))
    return min(found, key=lambda query: _deviation(query, query.degree(usual << query.bits, records), records))


def _designed(cells: Cells, privacy: Privacy, share: Fraction, records: int) -> DegreesQuery:
    """Noise of which the largest count has a share of epsilon, or of the squared ratio of Gaussian noise."""
    parts = (share, 1 - share)
    if isinstance(privacy, PureDP):
        bits = fitting_bits(1 / (min(parts) * privacy.epsilon), records)
        scales = [(1 << bits) / (part * privacy.epsilon) for part in parts]
        return DegreesQuery(cells, tuple(DiscreteLaplace(round_up_scale(each)) for each in scales), bits)
    mu_squared = squared_ratio(privacy)
    bits = fitting_bits(Fraction(math.sqrt(1 / (min(parts) * mu_squared))), records)
    if isinstance(privacy, ApproxDP):
        mu_squared = squared_ratio_of_integers(privacy, 2, bits)
    variances = [(1 << 2 * bits) / (part * mu_squared) for part in parts]
    round_up_root(max(variances))
    laws = tuple(DiscreteGaussian(max(round_up_root(each), Fraction(LEAST_SIGMA))) for each in variances)
    return DegreesQuery(cells, laws, bits)


def _expected_largest(mean: float) -> float:
    """About the largest of many counts with this mean."""
    return mean + _DEVIATIONS * math.sqrt(mean)


def _deviation(query: DegreesQuery, degree: int, records: int, *, spread: float = 1.0) -> float:
    """Standard deviation that the noise gives to the collision probability."""
    noise = cumulants(query.laws[1], query.bits, spread=spread)
    return 2 * degree * math.sqrt(noise.variance) / (records * (records - 1))


def degree_sampling_bound(value: float, degree: int, records: int) -> float:
    """Bound the variance of the exact collision probability U around the population's, to first order.

    With p the shares of the values and q the largest of them, the variance of the mean share of a record is
    sum p^3 - U^2, at most U (q - U), and that of a pair U (1 - U); the largest count is at most T + 1.
    """
    inside = min(max(value, 0.0), 1.0)
    largest = min(1.0, (degree + 1) / records)
    first = inside * max(largest - inside, 0.0)
    pairs = inside * (1 - inside)
    return (4 * (records - 2) * first + 2 * pairs) / (records * (records - 1))
