"""A mean over triples from one randomized response of every record's owner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.kernels.triples import TripleTable
from ogive.local import RandomizedResponse
from ogive.queries import Answer
from ogive.statistics.ustatistic.base import KernelMeans, MeanTask, check_served, check_simple, sampling_of
from ogive.statistics.ustatistic.means import degree_three
from ogive.statistics.ustatistic.means.generic import on_simplex
from ogive.statistics.ustatistic.reference_shapes import shape_means
from ogive.statistics.ustatistic.reports.method import OneReport, report_epsilon

_ANY_BINS = 2


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
            whole, sampling = degree_three.variances(self.oracle, self.tensor, shares, max(3, self.task.records))
            found.append(float(shape.gradient[0]) ** 2 * (whole - sampling))
        return float(np.mean(found))

    def means(self, answer: Answer) -> KernelMeans:
        """The mean, with the variances at the distribution that is nearest to the estimated one."""
        value = degree_three.mean(self.oracle, answer.values, self.tensor)
        records, size = int(answer.values.sum()), self.oracle.size
        keep = float(self.oracle.keep)
        shares = (answer.values / records - (1 - keep) / size) / keep
        whole, sampling = degree_three.variances(self.oracle, self.tensor, on_simplex(shares, size), records)
        randomization = np.array([[max(whole - sampling, 0.0)]])
        return KernelMeans(np.array([value]), randomization, sampling_of(np.array([[sampling]])), np.zeros(1), records)


def triples(task: MeanTask, name: str) -> TripleReports:
    """Responses for a mean over triples.

    Raises:
        ParameterError, UnsupportedError: the oracle is not k-ary randomized response, there are other kernels, or the
            trust model asks for no reports.
    """
    check_simple(task, name)
    if name != RandomizedResponse.name:
        raise ParameterError(f"a mean over triples is read off responses of krr only; use `method='krr'`, not {name}")
    if len(task.measure.kernels) != 1:
        raise ParameterError("a kernel of three records is measured alone")
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    oracle = RandomizedResponse(task.domain(_ANY_BINS).size, epsilon)
    method = TripleReports(task, _ANY_BINS, oracle)
    check_served(task.terms, method.query)
    return method
