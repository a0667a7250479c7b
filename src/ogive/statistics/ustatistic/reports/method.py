"""A pairwise statistic from one randomized report of every record's owner: k-ary response, unary bits, or Haar bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ogive.accounting.losses import pure_epsilon
from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.kernels import AbsoluteDifference
from ogive.kernels.base import Kernel
from ogive.kernels.cells import column_nodes, widths
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, UnaryOracle
from ogive.local.base import Oracle
from ogive.local.rounding import rounded
from ogive.noise import KeyedSource
from ogive.privacy import Privacy, PureDP
from ogive.queries import Answer, ReportsQuery
from ogive.statistics.ustatistic.base import (
    KernelMeans,
    MeanTask,
    best,
    candidate_bins,
    check_served,
    farthest,
    sampling_of,
)
from ogive.statistics.ustatistic.means import expected_error as predicted
from ogive.statistics.ustatistic.means import generic, two_sample
from ogive.statistics.ustatistic.means.rounding_bias import corrected
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, rounded_means, shape_means
from ogive.statistics.ustatistic.reports.base import check_pairwise
from ogive.statistics.ustatistic.reports.laws import law_of

ORACLES = (RandomizedResponse.name, UnaryOracle.name, HaarOracle.name)
"""How a symbol may be randomized, by the name of the method."""

MOST_SYMBOLS = 1 << 10
"""Most symbols of a pair matrix that bins which nobody named are refined to."""

_ANY_BINS = 2
# of the roundings of imagined records
_SEED = 0x726F756E

PATIENCE = 2
"""How many numbers of bins in a row may be worse than the best before no more are tried; noise grows with bins."""


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
        classes = 0 if self.task.classes is None else self.task.classes.size
        shapes = shape_means(self.task.measure, self.task.domain(2), classes)
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
            means = two_sample.means(self.oracle, answer.values, self.matrices, reach)
            sizes = tuple(law_of(self.inner).records(each) for each in answer.values)
        else:
            means = generic.means(self.oracle, answer.values, self.matrices, reach)
            sizes = None
        moved = np.minimum(means.quantization**2, [each.max() for each in reach])
        return KernelMeans(means.values, means.covariance, sampling_of(means.sampling), moved, means.records, sizes)


def reports(task: MeanTask, name: str) -> Reports:
    """The best number of bins for one oracle.

    Raises:
        ParameterError, UnsupportedError: the oracle does not fit what is asked.
    """
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
    domain = task.domain(_ANY_BINS)
    smooth = all(kernel.lipschitz(domain) is not None for kernel in task.measure.kernels)
    return HaarOracle(size, epsilon, weights="geometric" if smooth else "uniform")
