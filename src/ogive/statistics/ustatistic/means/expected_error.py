"""Errors of means over pairs before any report is collected, for an assumed distribution of the records.

Source: Lemma 1 of Bell, Bellet, Gascon and Kulkarni 2020 for randomized response; the same for unary encoding and Haar
coefficients, whose diagonal is estimated: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.checks import array_of
from ogive.errors import ParameterError
from ogive.statistics.ustatistic.means.generic import checked_matrices
from ogive.statistics.ustatistic.means.variance import hoeffding, symmetric, two_sample_hoeffding
from ogive.statistics.ustatistic.reports.base import ReportLaw
from ogive.statistics.ustatistic.reports.laws import law_of


@dataclass(frozen=True)
class Predicted:
    """Covariances of m estimated means when records are drawn from a known distribution.

    Fields:
        randomization: Mean over records of the covariance given the records, shape (m, m).
        sampling: Covariance of the exact means of the records, shape (m, m).
    """

    randomization: Float64
    sampling: Float64

    @property
    def total(self) -> Float64:
        """Covariance against the population, shape (m, m)."""
        return self.randomization + self.sampling


def variance(oracle: Any, matrix: ArrayLike, distribution: ArrayLike, records: int) -> float:
    """Variance of one estimated mean, of randomization and sampling together.

    Args:
        oracle: "krr", "unary" or "haar".
        matrix: Symmetric kernel between symbols, shape (k, k).
        distribution: Shares of symbols, shape (k,).
        records: Number of reports, at least 2.

    Raises:
        ParameterError: an argument is of another shape or out of range.
    """
    return float(covariance(oracle, [matrix], distribution, records).total[0, 0])


def covariance(oracle: Any, matrices: Sequence[ArrayLike], distribution: ArrayLike, records: int) -> Predicted:
    """Covariances of estimated means of symmetric kernels.

    Args:
        oracle: "krr", "unary" or "haar".
        matrices: Kernels between symbols, each of shape (k, k) and symmetric.
        distribution: Shares of symbols, shape (k,).
        records: Number of reports, at least 2.

    Raises:
        ParameterError: an argument is of another shape or out of range.
    """
    law = law_of(oracle)
    kernels = [_middled(each) for each in checked_matrices(law, oracle, matrices, symmetric=True)]
    shares = _checked_shares(law, oracle, distribution)
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")
    prepared = [law.prepare(kernel) for kernel in kernels]
    drifts = [2 * (records - 1) * (each.left @ shares)[:, None] for each in prepared]
    pairs = records * (records - 1)

    def pair(i: int, j: int) -> float:
        one, other = prepared[i], prepared[j]
        alone = records * (shares @ law.single(one, drifts[i], other, drifts[j]))
        varied = shares @ law.form(shares, one.left, other.left)
        varied -= law.form(shares, (one.left @ shares)[:, None], (other.left @ shares)[:, None])[0]
        paired = law.trace(one, other, shares, shares)
        return float(alone / pairs + 4 * varied + 2 * paired) / pairs

    return Predicted(symmetric(len(kernels), pair), hoeffding(kernels, shares, records))


def two_sample_covariance(
    oracle: Any,
    matrices: Sequence[ArrayLike],
    positive: ArrayLike,
    negative: ArrayLike,
    records: tuple[int, int],
) -> Predicted:
    """Covariances of estimated two-sample means, of given numbers of records in each class.

    Args:
        oracle: "krr", "unary" or "haar", of the reports within a class.
        matrices: Kernels between symbols, each of shape (k, k); rows are of the positive class.
        positive: Shares of symbols in the positive class, shape (k,).
        negative: Shares of symbols in the negative class, shape (k,).
        records: Numbers of positive and of negative records, each at least 1.

    Raises:
        ParameterError: an argument is of another shape or out of range.
    """
    law = law_of(oracle)
    kernels = [_middled(each) for each in checked_matrices(law, oracle, matrices, symmetric=False)]
    up, down = (_checked_shares(law, oracle, each) for each in (positive, negative))
    n_up, n_down = records
    if min(records) < 1:
        raise ParameterError(f"a mean over two samples needs a record of each class, got {n_up} and {n_down}")
    prepared = [law.prepare(kernel) for kernel in kernels]

    def side(one: Float64, other: Float64, own: Float64, across: Float64, n_across: int) -> float:
        at_mean = law.form(own, (one @ across)[:, None], (other @ across)[:, None])[0]
        varied = across @ law.form(own, one, other) - at_mean
        return float(at_mean + varied / n_across)

    def pair(i: int, j: int) -> float:
        one, other = prepared[i], prepared[j]
        rows = side(one.left, other.left, up, down, n_down) / n_up
        columns = side(one.right, other.right, down, up, n_up) / n_down
        return rows + columns + law.trace(one, other, down, up) / (n_up * n_down)

    sampling = two_sample_hoeffding(kernels, up, down, n_up, n_down)
    return Predicted(symmetric(len(kernels), pair), sampling)


def _middled(matrix: Float64) -> Float64:
    return matrix - (float(matrix.max()) + float(matrix.min())) / 2


def _checked_shares(law: ReportLaw, oracle: Any, distribution: ArrayLike) -> Float64:
    shares = array_of(distribution, np.float64)
    if shares.shape != (oracle.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"a distribution must be {oracle.size} shares that sum to 1, got shape {shares.shape}")
    return np.pad(shares, (0, law.size - len(shares)))
