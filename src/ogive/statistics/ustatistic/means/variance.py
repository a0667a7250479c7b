"""Exact covariances of estimated means: of the randomization given the records, and of the records themselves.

With S the sum of the reports' vectors phi and Q the estimated diagonal, a mean is (S'AS - Q) / (n (n - 1)). Its error
given the records is a sum over reports (linear, and quadratic in one report) plus a sum over pairs of different
reports, which is uncorrelated with it. Each part is a sum over counts of symbols, so time is O(k^2).
Proofs: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ogive.arrays import Float64
from ogive.statistics.ustatistic.reports.base import Prepared, ReportLaw


def estimated(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, plausible: Float64) -> Float64:
    """Covariance of the randomization, from the reports alone.

    The linear part is of second order in the counts. Unbiased counts make it too large by four times the
    sum over pairs, on average, which is taken off. Plausible counts are spread more evenly than the records where noise
    is large, and the errors of smooth kernels look too small then; they give what the linear part is at least.

    Args:
        law: Of the reports.
        prepared: Symmetric matrices in the law's coordinates.
        counts: Unbiased counts of symbols, shape (k,).
        plausible: Counts that are at least 0, with the same total.

    Returns:
        Covariances, shape (m, m), a positive semidefinite matrix.
    """
    paired, own = _paired(law, prepared, plausible)
    least = _linear(law, prepared, plausible, plausible)
    alone = _linear(law, prepared, counts, plausible)
    return least + _excess(alone, 4 * paired + least) + 2 * (paired - own)


def _paired(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64) -> tuple[Float64, Float64]:
    """What all pairs of reports bring, and what pairs of a report with itself would, shape (m, m) each."""
    n = float(counts.sum())
    scale = (n * (n - 1)) ** 2

    def paired(i: int, j: int) -> float:
        return law.trace(prepared[i], prepared[j], counts, counts) / scale

    def own(i: int, j: int) -> float:
        return float(counts @ law.symbol_traces(prepared[i], prepared[j])) / scale

    return symmetric(len(prepared), paired), symmetric(len(prepared), own)


def _linear(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, weights: Float64) -> Float64:
    """Covariance of single reports, of which `weights` have each symbol, among others with `counts`."""
    n = float(weights.sum())
    others = [2 * ((each.left @ counts)[:, None] - each.left) for each in prepared]

    def alone(i: int, j: int) -> float:
        return float(weights @ law.single(prepared[i], others[i], prepared[j], others[j])) / (n * (n - 1)) ** 2

    return symmetric(len(prepared), alone)


def _excess(found: Float64, expected: Float64) -> Float64:
    """The covariance nearest to the difference of two, in scales that both give: its own may vanish in one place."""
    scale = np.sqrt(np.diagonal(found) + np.diagonal(expected))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh((found - expected) / np.outer(scale, scale))
    nearest: Float64 = (vectors * np.maximum(values, 0)) @ vectors.T * np.outer(scale, scale)
    return (nearest + nearest.T) / 2


def two_sample_estimated(
    law: ReportLaw,
    prepared: Sequence[Prepared],
    counts: tuple[Float64, Float64],
    plausible: tuple[Float64, Float64],
) -> Float64:
    """Covariance of the randomization of two-sample means, from the reports alone; see `estimated`.

    Args:
        law: Of the reports.
        prepared: Matrices in the law's coordinates; rows are of the positive class.
        counts: Unbiased counts of symbols in the positive and in the negative class.
        plausible: Counts of both that are at least 0, with the same totals.

    Returns:
        Covariances, shape (m, m), a positive semidefinite matrix.
    """
    both = _across(law, prepared, plausible)
    least = _sides(law, prepared, plausible, plausible)
    return least + _excess(_sides(law, prepared, counts, plausible), 2 * both + least) + both


def _sides(
    law: ReportLaw,
    prepared: Sequence[Prepared],
    counts: tuple[Float64, Float64],
    weights: tuple[Float64, Float64],
) -> Float64:
    """Covariance of single reports of either class, of which `weights` have each symbol, against the other's counts."""
    positive, negative = weights
    n_positive, n_negative = positive.sum(), negative.sum()
    rows = [(each.left @ counts[1] / n_negative)[:, None] for each in prepared]
    columns = [(each.right @ counts[0] / n_positive)[:, None] for each in prepared]

    def sides(i: int, j: int) -> float:
        first = law.form(positive, rows[i], rows[j])[0] / n_positive**2
        return float(first + law.form(negative, columns[i], columns[j])[0] / n_negative**2)

    return symmetric(len(prepared), sides)


def _across(law: ReportLaw, prepared: Sequence[Prepared], counts: tuple[Float64, Float64]) -> Float64:
    """What pairs of a report of each class bring, shape (m, m)."""
    positive, negative = counts
    pairs = positive.sum() * negative.sum()

    def both(i: int, j: int) -> float:
        return float(law.trace(prepared[i], prepared[j], negative, positive) / pairs**2)

    return symmetric(len(prepared), both)


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
