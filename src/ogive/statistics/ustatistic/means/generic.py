"""Means of kernels over all pairs of records, from reports of randomized response, unary encoding or Haar coefficients.

Every report gives a vector phi with the unit vector of its symbol as mean, so the mean of phi_i'A phi_j over pairs of
different reports is unbiased for the U-statistic of the binned records. It needs the sums of the reports alone: with
S the sum of all phi, pairs of different reports add up to S'AS less the diagonal.

Source: Bell, Bellet, Gascon and Kulkarni 2020, Algorithm 1; Wang, Blocki, Li and Jha 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64, Int64
from ogive.checks import array_of
from ogive.errors import DataError, ParameterError
from ogive.statistics.ustatistic.means.means import Means
from ogive.statistics.ustatistic.means.variance import estimated, hoeffding
from ogive.statistics.ustatistic.reports.base import ReportLaw
from ogive.statistics.ustatistic.reports.laws import law_of


def means(
    oracle: Any,
    sums: Int64,
    matrices: Sequence[ArrayLike] | Float64,
    spreads: Sequence[ArrayLike] | Float64 | None = None,
) -> Means:
    """Estimate U-statistics of some kernels from one set of reports, in O(k^2) after the reports are added up.

    Estimates are unbiased for the binned records, whatever their distribution, and constants come out exactly. Errors
    are exact covariances at estimated counts.

    Args:
        oracle: "krr", "unary" or "haar".
        sums: Of reports, of the oracle's shape.
        matrices: Kernels between symbols, each of shape (k, k) and symmetric.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Returns:
        Estimates with their covariances.

    Raises:
        ParameterError: a matrix is of another size or not symmetric, or there are too many symbols for matrices.
        DataError: there are fewer than two reports.

    Privacy: post-processing of randomized reports.
    """
    law = law_of(oracle)
    kernels = checked_matrices(law, oracle, matrices, symmetric=True)
    n = law.records(sums)
    if n < 2:
        raise DataError(f"a mean over pairs needs at least 2 reports, got {n}")
    counts = law.counts(sums)
    distribution = on_simplex(counts[: oracle.size] / n, law.size)
    values, prepared = [], []
    for kernel in kernels:
        middle = (kernel.max() + kernel.min()) / 2  # constants cost nothing and need not be rounded
        ready = law.prepare(kernel - middle)
        whole = counts @ ready.matrix @ counts - law.diagonal(sums, ready)
        values.append(middle + whole / (n * (n - 1)))
        prepared.append(ready)
    covariance = estimated(law, prepared, counts, n * distribution)
    sampling = hoeffding([each.matrix for each in prepared], distribution, n)
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        for place, spread in enumerate(checked_matrices(law, oracle, spreads, symmetric=True)):
            whole = counts @ spread @ counts - law.diagonal(sums, law.prepare(spread))
            quantization[place] = math.sqrt(max(float(whole), 0.0) / (n * (n - 1)))
    return Means(np.array(values), covariance, sampling, quantization, n)


def checked_matrices(
    law: ReportLaw, oracle: Any, matrices: Sequence[ArrayLike] | Float64, *, symmetric: bool
) -> list[Float64]:
    """Matrices over the law's symbols.

    Symbols that only fill the domain up to a power of two never occur. They repeat the last one, so that constants stay
    constant.

    Raises:
        ParameterError: one is not square of the oracle's size, not finite, or not symmetric though it must be.
    """
    found = []
    for each in matrices:
        matrix = array_of(each, np.float64)
        if matrix.shape not in ((oracle.size, oracle.size), (law.size, law.size)):
            raise ParameterError(f"a matrix must be of shape ({oracle.size}, {oracle.size}), got {matrix.shape}")
        if not math.isfinite(matrix.max() - matrix.min()):
            raise ParameterError("a matrix must hold finite numbers")
        uneven = matrix - matrix.T if symmetric else np.zeros((1, 1))
        most = max(float(uneven.max()), 0.0)  # of the difference and of its transpose
        if most > 1e-9 * max(float(matrix.max()), -float(matrix.min())):
            raise ParameterError("a kernel must be symmetric: replace f(x, y) by (f(x, y) + f(y, x)) / 2")
        if most:
            matrix = matrix - uneven / 2
        missing = law.size - len(matrix)
        found.append(np.pad(matrix, ((0, missing), (0, missing)), mode="edge") if missing else matrix)
    return found


def on_simplex(shares: Float64, size: int) -> Float64:
    """The nearest distribution to estimated shares, filled up with zeros to `size` symbols.

    Source: Held, Wolfe and Crowder 1974.
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    found = np.zeros(size)
    found[: len(shares)] = np.maximum(shares - shift, 0)
    found /= found.sum()
    return found
