"""A volume under the ROC surface from one randomized report of every record's owner, whose class is public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.kernels.cells import widths
from ogive.kernels.surface import vus
from ogive.local import HaarOracle, PublicClasses
from ogive.queries import Answer
from ogive.statistics.ustatistic.base import KernelMeans, MeanTask, best, candidate_bins, check_served
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, shape_means
from ogive.statistics.ustatistic.reports.method import MOST_SYMBOLS, PATIENCE, OneReport, oracle_of, report_epsilon
from ogive.statistics.ustatistic.reports.surface import estimator as vus_local
from ogive.statistics.ustatistic.reports.surface.variance import LARGEST

_ANY_BINS = 2


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
        shapes = shape_means(self.task.measure, self.task.domain(_ANY_BINS), classes)
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
    """The best number of bins for one oracle.

    Raises:
        ParameterError, UnsupportedError: the oracle does not fit what is asked.
    """
    measure, classes = task.measure.name, task.classes
    if classes is None or len(task.measure.kernels) != 1:
        raise ParameterError(f"{measure} is no volume under one ROC surface of public classes")
    if task.rounding != "simple":
        raise ParameterError(f"{measure} jumps from 0 to 1, so leave out `rounding='randomized'`")
    if task.matrix != "average":
        raise ParameterError(f"{measure} counts one of the orders of scores in one bin, so matrix must be average")
    most = min(MOST_SYMBOLS, LARGEST // classes.size)
    bins = candidate_bins(task.columns, most=most, powers=name == HaarOracle.name)
    return best((partial(_made, task, name, each, classes.size) for each in bins), patience=PATIENCE)


def _made(task: MeanTask, name: str, bins: int, classes: int) -> Surface:
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    size = task.domain(bins).size
    vus_local.check_surface(classes, size)
    method = Surface(task, bins, PublicClasses(oracle_of(task, name, size, epsilon), classes))
    check_served(task.terms, method.query)
    return method
