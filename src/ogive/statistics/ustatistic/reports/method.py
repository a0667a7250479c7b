"""A pairwise statistic from one randomized report of every record's owner: of pairs, triples, or public classes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ogive.accounting.losses import pure_epsilon
from ogive.columns import Domain
from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.kernels import AbsoluteDifference
from ogive.kernels.base import Kernel
from ogive.kernels.cells import column_nodes, widths
from ogive.kernels.surface import vus
from ogive.kernels.triples import TripleTable
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, UnaryOracle
from ogive.local.base import Oracle
from ogive.local.values import rounded
from ogive.noise import KeyedSource
from ogive.privacy import Privacy, PureDP
from ogive.queries import Answer, ReportsQuery
from ogive.statistics.ustatistic import expected_error as predicted
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic.base import (
    ANY_BINS,
    PATIENCE,
    KernelMeans,
    MeanTask,
    ShapeMeans,
    best,
    candidate_bins,
    check_served,
    check_simple,
    farthest,
    rounded_means,
    sampling_of,
    shape_means,
)
from ogive.statistics.ustatistic.means import corrected, on_simplex
from ogive.statistics.ustatistic.reports import surface as vus_local
from ogive.statistics.ustatistic.reports.laws import check_pairwise, law_of
from ogive.statistics.ustatistic.reports.surface import LARGEST

ORACLES = (RandomizedResponse.name, UnaryOracle.name, HaarOracle.name)
"""How a symbol may be randomized, by the name of the method."""

MOST_SYMBOLS = 1 << 10
"""Most symbols of a pair matrix that bins which nobody named are refined to."""

# of the roundings of imagined records
_SEED = 0x726F756E


def report_epsilon(privacy: Privacy, rows: int) -> Fraction:
    """Epsilon of one report where a person may send so many.

    Reports cost pure epsilon whatever was granted: sqrt(2 rho) of a zero-concentrated guarantee.
    """
    whole = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    return whole.epsilon / rows


class OneReport:
    """What is asked where every owner sends one report: a task at a number of bins, with the oracle."""

    rounded: ClassVar[bool] = True

    task: MeanTask
    bins: int
    oracle: Oracle

    @cached_property
    def domain(self) -> Domain:
        """What the kernels look at."""
        return self.task.domain(self.bins)

    @property
    def query(self) -> ReportsQuery:
        """The reports."""
        return ReportsQuery(self.task.rows(self.bins), self.oracle, self.task.rounding)


@dataclass(frozen=True)
class Reports(OneReport):
    """One report of every owner, whose sums give the kernels' means.

    Fields:
        task: The statistic and the terms.
        bins: Number of bins of the free columns.
        oracle: How symbols are randomized; with a public class beside them where there is one.
    """

    task: MeanTask
    bins: int
    oracle: Oracle

    @property
    def name(self) -> str:
        """Of the oracle that hides the symbol."""
        return str(self.inner.name)

    @property
    def inner(self) -> Any:
        """The oracle of the symbols, without public classes."""
        return self.oracle.inner if isinstance(self.oracle, PublicClasses) else self.oracle

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
        """Every kernel between symbols."""
        kernels = self.task.measure.kernels
        if self.task.rounding == "randomized":
            return tuple(self._at_nodes(kernel) for kernel in kernels)
        return tuple(kernel.matrix(self.domain, self.task.matrix) for kernel in kernels)

    def _at_nodes(self, kernel: Kernel) -> Float64:
        """A kernel at the nodes; for an average without the bias of pairs of evenly spread values within a cell."""
        matrix = kernel.matrix(self.domain, "nodes")
        column = self.domain.columns[0]
        if self.task.matrix == "average" and isinstance(kernel, AbsoluteDifference) and widths(column).any():
            return corrected(matrix, column_nodes(column))
        return matrix

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias."""
        shapes = shape_means(self.task.measure, self.task.domain(ANY_BINS), self.task.number_of_classes)
        return float(np.mean([self._predicted(shape) for shape in shapes]))

    def _predicted(self, shape: ShapeMeans) -> float:
        symbols = rounded(self.domain, shape.rows, self.task.rounding, source=KeyedSource.from_seed(_SEED))
        classes = None if self.task.classes is None else shape.classes
        bias = shape.gradient @ (rounded_means(self.matrices, symbols, classes) - shape.means)
        # a linear combination of kernels is a kernel, whose variance is that of the delta method
        combined = [np.tensordot(shape.gradient, np.stack(self.matrices), axes=1)]
        size, records = self.domain.size, self.task.records
        if classes is None:
            shares = np.bincount(symbols, minlength=size) / len(symbols)
            errors = predicted.covariance(self.inner, combined, shares, records)
        else:
            counts = [np.bincount(symbols[classes == each], minlength=size) for each in (1, 0)]
            positive, negative = (each / each.sum() for each in counts)
            half = max(1, records // 2)
            errors = predicted.two_sample_covariance(self.inner, combined, positive, negative, (half, half))
        return float(errors.randomization[0, 0] + bias**2)

    def means(self, answer: Answer) -> KernelMeans:
        """Means of the kernels, with the noise that the reports really had."""
        reach = farthest(self.task, self.domain, self.matrices)
        if isinstance(self.oracle, PublicClasses):
            found = means.two_sample_means(self.oracle, answer.values, self.matrices, reach)
            sizes = tuple(law_of(self.inner).records(each) for each in answer.values)
        else:
            found = means.means(self.oracle, answer.values, self.matrices, reach)
            sizes = None
        moved = np.minimum(found.quantization**2, [each.max() for each in reach])
        return KernelMeans(found.values, found.covariance, sampling_of(found.sampling), moved, found.records, sizes)


def reports(task: MeanTask, name: str) -> Reports:
    """The best number of bins for one oracle."""
    bins = candidate_bins(task.columns, most=MOST_SYMBOLS, powers=name == HaarOracle.name)
    return best((partial(_made, task, name, each) for each in bins), patience=PATIENCE)


def _made(task: MeanTask, name: str, bins: int) -> Reports:
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    size = task.domain(bins).size
    check_pairwise(size)
    inner = oracle_of(task, name, size, epsilon)
    method = Reports(task, bins, inner if task.classes is None else PublicClasses(inner, task.classes.size))
    check_served(task.terms, method.query)
    return method


def oracle_of(task: MeanTask, name: str, size: int, epsilon: Fraction) -> Oracle:
    """The oracle of so many symbols that a name stands for."""
    if name == RandomizedResponse.name:
        return RandomizedResponse(size, epsilon)
    if name == UnaryOracle.name:
        return UnaryOracle(size, epsilon)
    # smooth kernels hardly depend on fine levels, so these are asked less often
    domain = task.domain(ANY_BINS)
    smooth = all(kernel.lipschitz(domain) is not None for kernel in task.measure.kernels)
    return HaarOracle(size, epsilon, weights="geometric" if smooth else "uniform")


# --- Means over triples


@dataclass(frozen=True)
class TripleReports(OneReport):
    """One response of every owner, whose sums give the mean over triples.

    Fields:
        task: The statistic and the terms.
        bins: Number of bins of a column that leaves it open; the table fixes it.
        oracle: How symbols are randomized.
    """

    task: MeanTask
    bins: int
    oracle: RandomizedResponse

    @property
    def name(self) -> str:
        """Of the oracle."""
        return str(self.oracle.name)

    @property
    def tensor(self) -> Float64:
        """The table over triples."""
        [kernel] = self.task.measure.kernels
        assert isinstance(kernel, TripleTable)
        return kernel.table

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance of the randomization."""
        found = []
        for shape in shape_means(self.task.measure, self.domain, 0):
            shares = np.bincount(self.domain.symbols(shape.rows), minlength=self.domain.size) / len(shape.rows)
            whole, sampling = means.variances(self.oracle, self.tensor, shares, max(3, self.task.records))
            found.append(float(shape.gradient[0]) ** 2 * (whole - sampling))
        return float(np.mean(found))

    def means(self, answer: Answer) -> KernelMeans:
        """The mean, with the variances at the distribution that is nearest to the estimated one."""
        value = means.mean(self.oracle, answer.values, self.tensor)
        records, size = int(answer.values.sum()), self.oracle.size
        keep = float(self.oracle.keep)
        shares = (answer.values / records - (1 - keep) / size) / keep
        whole, sampling = means.variances(self.oracle, self.tensor, on_simplex(shares, size), records)
        randomization = np.array([[max(whole - sampling, 0.0)]])
        return KernelMeans(np.array([value]), randomization, sampling_of(np.array([[sampling]])), np.zeros(1), records)


def triples(task: MeanTask, name: str) -> TripleReports:
    """Responses for a mean over triples."""
    check_simple(task, name)
    if name != RandomizedResponse.name:
        raise ParameterError(f"a mean over triples is read off responses of krr only; use `method='krr'`, not {name}")
    if len(task.measure.kernels) != 1:
        raise ParameterError("a kernel of three records is measured alone")
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    oracle = RandomizedResponse(task.domain(ANY_BINS).size, epsilon)
    method = TripleReports(task, ANY_BINS, oracle)
    check_served(task.terms, method.query)
    return method


# --- The volume under a ROC surface


@dataclass(frozen=True)
class Surface(OneReport):
    """One report of every owner, whose sums give a histogram of each class.

    Fields:
        task: The statistic and the terms.
        bins: Number of bins of the score.
        oracle: Classes beside the oracle of the scores.
    """

    task: MeanTask
    bins: int
    oracle: PublicClasses

    @property
    def name(self) -> str:
        """Of the oracle that hides the score."""
        return str(self.oracle.inner.name)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias, with as many records in every class."""
        classes = self.oracle.classes
        shapes = shape_means(self.task.measure, self.task.domain(ANY_BINS), classes)
        return float(np.mean([self._predicted(shape) for shape in shapes]))

    def _predicted(self, shape: ShapeMeans) -> float:
        classes, symbols = self.oracle.classes, self.domain.symbols(shape.rows)
        counts = [np.bincount(symbols[shape.classes == each], minlength=self.domain.size) for each in range(classes)]
        histograms = np.stack([each / each.sum() for each in counts])
        sizes = (max(1, self.task.records // classes),) * classes
        variance = vus_local.predicted(self.oracle.inner, histograms, sizes)
        bias = vus(histograms) - shape.means[0]
        return float(shape.gradient[0] ** 2 * (variance + bias**2))

    def means(self, answer: Answer) -> KernelMeans:
        """The volume, with the noise that the reports really had."""
        found = vus_local.volume(self.oracle, answer.values, wide=widths(self.domain.columns[0]) > 0)

        def sampling(gradient: Float64) -> float:
            return float(gradient[0] ** 2 * found.sampling_variance)

        variance, moved = np.array([[found.variance]]), np.array([found.quantization])
        return KernelMeans(np.array([found.value]), variance, sampling, moved, sum(found.records), found.records)


def surface(task: MeanTask, name: str) -> Surface:
    """The best number of bins for one oracle."""
    measure, classes = task.measure.name, task.classes
    if classes is None or len(task.measure.kernels) != 1:
        raise ParameterError(f"{measure} is no volume under one ROC surface of public classes")
    if task.rounding != "simple":
        raise ParameterError(f"{measure} jumps from 0 to 1, so leave out `rounding='randomized'`")
    if task.matrix != "average":
        raise ParameterError(f"{measure} counts one of the orders of scores in one bin, so matrix must be average")
    most = min(MOST_SYMBOLS, LARGEST // classes.size)
    bins = candidate_bins(task.columns, most=most, powers=name == HaarOracle.name)
    return best((partial(_made_surface, task, name, each, classes.size) for each in bins), patience=PATIENCE)


def _made_surface(task: MeanTask, name: str, bins: int, classes: int) -> Surface:
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    size = task.domain(bins).size
    vus_local.check_surface(classes, size)
    method = Surface(task, bins, PublicClasses(oracle_of(task, name, size, epsilon), classes))
    check_served(task.terms, method.query)
    return method
