"""Exact covariances of estimated means: of the randomization given the records, and of the records themselves.

With S the sum of the reports' vectors phi and Q the estimated diagonal, a mean is (S'AS - Q) / (n (n - 1)). Its error
given the records is a sum over reports (linear, and quadratic in one report) plus a sum over pairs of different
reports, which is uncorrelated with it. Each part is a sum over counts of symbols, so time is O(k^2).
Proofs: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ogive.statistics.pairwise.laws import Prepared, ReportLaw

Float64 = NDArray[np.float64]


def conditional(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64) -> Float64:
    """Covariance of the randomization, given the records.

    Args:
        law: Of the reports.
        prepared: Symmetric matrices in the law's coordinates.
        counts: True counts of symbols, shape (k,), or an estimate of them; at least two records in all.

    Returns:
        Covariances, shape (m, m): exact for true counts.
    """
    n = float(counts.sum())
    others = [2 * ((each.left @ counts)[:, None] - each.left) for each in prepared]

    def pair(i: int, j: int) -> float:
        one, other = prepared[i], prepared[j]
        alone = counts @ law.single(one, others[i], other, others[j])
        paired = law.trace(one, other, counts, counts) - counts @ law.symbol_traces(one, other)
        return float(alone + 2 * paired) / (n * (n - 1)) ** 2

    return symmetric(len(prepared), pair)


def two_sample_conditional(
    law: ReportLaw, prepared: Sequence[Prepared], positive: Float64, negative: Float64
) -> Float64:
    """Covariance of the randomization of two-sample means, given the records of both classes.

    Args:
        law: Of the reports.
        prepared: Matrices in the law's coordinates; rows are of the positive class.
        positive: Counts of symbols in the positive class, shape (k,).
        negative: Counts of symbols in the negative class, shape (k,).

    Returns:
        Covariances, shape (m, m): exact for true counts.
    """
    n_positive, n_negative = positive.sum(), negative.sum()
    rows = [(each.left @ negative / n_negative)[:, None] for each in prepared]
    columns = [(each.right @ positive / n_positive)[:, None] for each in prepared]

    def pair(i: int, j: int) -> float:
        first = law.form(positive, rows[i], rows[j])[0] / n_positive**2
        second = law.form(negative, columns[i], columns[j])[0] / n_negative**2
        both = law.trace(prepared[i], prepared[j], negative, positive) / (n_positive * n_negative) ** 2
        return float(first + second + both)

    return symmetric(len(prepared), pair)


def hoeffding(matrices: Sequence[Float64], distribution: Float64, records: float) -> Float64:
    """Covariance of U-statistics of records that are drawn from a distribution over symbols.

    Source: Hoeffding 1948: 2 (2 (n - 2) zeta_1 + zeta_2) / (n (n - 1)).

    Args:
        matrices: Symmetric, each of shape (k, k).
        distribution: Shares of symbols, shape (k,), which sum to 1.
        records: How many, at least 2.

    Returns:
        Covariances, shape (m, m).
    """
    given = [matrix @ distribution for matrix in matrices]
    means = [distribution @ each for each in given]

    def pair(i: int, j: int) -> float:
        first = distribution @ (given[i] * given[j]) - means[i] * means[j]
        second = distribution @ (matrices[i] * matrices[j]) @ distribution - means[i] * means[j]
        return float(2 * (2 * (records - 2) * first + second) / (records * (records - 1)))

    return symmetric(len(matrices), pair)


def two_sample_hoeffding(
    matrices: Sequence[Float64], positive: Float64, negative: Float64, n_positive: float, n_negative: float
) -> Float64:
    """Covariance of two-sample U-statistics of records that are drawn from one distribution for each class.

    Args:
        matrices: Rows are of the positive class, each of shape (k, k).
        positive: Shares of symbols in the positive class, shape (k,).
        negative: Shares of symbols in the negative class, shape (k,).
        n_positive: Records of the positive class.
        n_negative: Records of the negative class.

    Returns:
        Covariances, shape (m, m).
    """
    rows = [matrix @ negative for matrix in matrices]
    columns = [positive @ matrix for matrix in matrices]
    means = [positive @ each for each in rows]

    def pair(i: int, j: int) -> float:
        product = means[i] * means[j]
        first = positive @ (rows[i] * rows[j]) - product
        second = negative @ (columns[i] * columns[j]) - product
        both = positive @ (matrices[i] * matrices[j]) @ negative - product
        return float(((n_negative - 1) * first + (n_positive - 1) * second + both) / (n_positive * n_negative))

    return symmetric(len(matrices), pair)


def symmetric(size: int, pair: Callable[[int, int], float]) -> Float64:
    """A symmetric matrix from its entries on and above the diagonal, shape (size, size)."""
    found = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            found[i, j] = found[j, i] = pair(i, j)
    return found
