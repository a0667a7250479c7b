"""Means of kernels over all pairs of records, from noisy counts of every symbol.

The counts h have independent symmetric noise Z of known variance s and fourth cumulant c: y = h + Z. With A a kernel
between symbols, h'Ah - h.diag A is twice its sum over pairs, and

    E (y'Ay - y.diag A) = h'Ah - h.diag A + s tr A,

so taking s tr A away makes it unbiased. Where the number of records n is known, counts are first moved evenly to add
up to it, which replaces Z by Pi Z and A by B = Pi A Pi, Pi = I - 11'/k: constants then come out exactly. Given the
records, the covariance of two such sums is, with g = 2 A h - diag A,

    s (Pi g).(Pi g2) + 2 s^2 <B, B2> + c sum_i B_ii B2_ii,

and the same with y for h and -2 s^2 for 2 s^2 is unbiased for it. Where n is private, a mean U is the ratio to the
same sum of the constant kernel 1, and A - U takes the place of A. Pairs of two classes have no diagonal.

Proofs: docs/proofs/central_pairs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.checks import array_of
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.queries import Answer, CellsQuery
from ogive.statistics.ustatistic.means.generic import on_simplex
from ogive.statistics.ustatistic.means.means import Means
from ogive.statistics.ustatistic.means.variance import hoeffding, two_sample_hoeffding
from ogive.statistics.ustatistic.reports.base import LARGEST_PAIRWISE

Matrices = Sequence[ArrayLike] | Float64


@dataclass(frozen=True)
class Cumulants:
    """What is known of symmetric noise, in records.

    Fields:
        variance: Second cumulant.
        fourth: Fourth cumulant: fourth moment less three times the squared variance.
    """

    variance: float
    fourth: float


NOTHING = Cumulants(0.0, 0.0)


def cumulants(law: DiscreteLaplace | DiscreteGaussian, bits: int, *, spread: float = 1.0) -> Cumulants:
    """Of noise on numbers that count 2^bits; those of several shares add up, `spread` times those of the law."""
    variance, fourth = law.variance, 0.0  # a discrete Gaussian of such a sigma has the cumulants of a continuous one
    if isinstance(law, DiscreteLaplace):
        ratio = math.exp(-1 / float(law.scale))
        fourth = 2 * ratio * (1 + 10 * ratio + ratio**2) / (1 - ratio) ** 4 - 3 * variance**2
    return Cumulants(variance * spread / 4.0**bits, fourth * spread / 16.0**bits)


def means(query: CellsQuery, answer: Answer, matrices: Matrices, spreads: Matrices | None = None) -> Means:
    """Estimate U-statistics of some kernels from one set of noisy counts, in O(k^2).

    Args:
        query: What was asked.
        answer: Noisy counts, and the number of records where it is public.
        matrices: Kernels between symbols, each of shape (k, k) and symmetric.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Returns:
        Unbiased estimates where the number of records is public, else ratios of such; NaN where the noisy number of
        pairs is not above 0. Covariances are unbiased too, but for what keeps them above that of the squared noise.

    Raises:
        ParameterError: a matrix is of another size or not symmetric, or there are too many symbols for matrices.
        DataError: there are fewer than two records.

    Privacy: post-processing of noisy counts.
    """
    counts, noise = _counts(query, answer)
    kernels = _checked(matrices, len(counts), symmetric=True)
    total = answer.total
    if total is not None and total < 2:
        raise DataError(f"a mean over pairs needs at least two records, got {total}")
    middles = [(kernel.max() + kernel.min()) / 2 for kernel in kernels]
    centered = [kernel - middle for kernel, middle in zip(kernels, middles, strict=True)]
    even = _even(counts, total)
    pairs = float(total * (total - 1)) if total is not None else _sum(even, np.ones_like(centered[0]), noise, total)
    if not (pairs > 0 and even.sum() > 1):
        return _undefined(len(kernels))
    sums = np.array([_sum(even, each, noise, total) for each in centered]) / pairs
    if total is None:
        centered = [each - value for each, value in zip(centered, sums, strict=True)]
    covariance = _covariance(even, centered, noise, total is not None) / pairs**2
    records = max(2, round(float(counts.sum()))) if total is None else total
    distribution = on_simplex(even / max(float(even.sum()), 1.0), len(even))
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        found = [_sum(even, each, noise, total) / pairs for each in _checked(spreads, len(counts), symmetric=True)]
        quantization = np.sqrt(np.maximum(found, 0.0))
    return Means(sums + middles, covariance, hoeffding(kernels, distribution, records), quantization, records)


def two_sample_means(query: CellsQuery, answer: Answer, matrices: Matrices, spreads: Matrices | None = None) -> Means:
    """Estimate two-sample U-statistics of some kernels from noisy counts, of which the last column is of two classes.

    Args:
        query: What was asked.
        answer: Noisy counts, and the sizes of both classes where they are public.
        matrices: Kernels between symbols of the other columns, each of shape (k, k); rows are of the positive class.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Returns:
        As `means`.

    Raises:
        ParameterError: there are other than two classes, a matrix is of another size, or there are too many symbols.
        DataError: a class has no record.
    """
    if query.cells.domain.sizes[-1] != 2:
        raise ParameterError(f"a mean over two samples needs two classes, got {query.cells.domain.sizes[-1]}")
    counts, noise = _counts(query, answer)
    size = len(counts) // 2
    kernels = _checked(matrices, size, symmetric=False)
    known = answer.totals if answer.totals is not None and len(answer.totals) == 2 else None
    if known is not None and 0 in known:
        empty = "negative" if known[0] == 0 else "positive"
        raise DataError(f"the {empty} class has no record; a two-sample statistic needs one of each")
    negative, positive = (_even(counts[each::2], None if known is None else known[each]) for each in range(2))
    sizes = np.array([negative.sum(), positive.sum()]) if known is None else np.array(known, dtype=np.float64)
    if not (sizes > 0).all():
        return _undefined(len(kernels))
    middles = [(kernel.max() + kernel.min()) / 2 for kernel in kernels]
    centered = [kernel - middle for kernel, middle in zip(kernels, middles, strict=True)]
    negative, positive = negative / sizes[0], positive / sizes[1]
    values = np.array([positive @ each @ negative for each in centered])
    if known is None:
        centered = [each - value for each, value in zip(centered, values, strict=True)]
    covariance = _two_sample_covariance(positive, negative, centered, noise, sizes, known is not None)
    records = sizes if known is not None else np.maximum(np.rint(sizes), 1)
    sampling = two_sample_hoeffding(
        kernels, on_simplex(positive, size), on_simplex(negative, size), float(records[1]), float(records[0])
    )
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        found = [positive @ each @ negative for each in _checked(spreads, size, symmetric=False)]
        quantization = np.sqrt(np.maximum(found, 0.0))
    return Means(values + middles, covariance, sampling, quantization, int(records.sum()))


def variance(query: CellsQuery, matrix: Float64, distribution: Float64, records: float, *, total_known: bool) -> float:
    """Variance that the noise would give to a mean, for a public guess of the records.

    Args:
        query: What would be asked.
        matrix: The kernel, or kernels combined by their weights, shape (k, k), symmetric.
        distribution: Shares of symbols, shape (k,), which sum to 1.
        records: How many, at least 2.
        total_known: Whether their number is public.
    """
    counts, noise = records * distribution, cumulants(query.law, query.bits)
    pairs = records * (records - 1)
    shifted = matrix if total_known else matrix - _sum(counts, matrix, NOTHING, None) / pairs
    linear, squared = _parts(counts, [shifted], noise, total_known)
    return float((linear + squared)[0, 0]) / pairs**2


def two_sample_variance(
    query: CellsQuery,
    matrix: Float64,
    positive: Float64,
    negative: Float64,
    sizes: tuple[float, float],
    *,
    total_known: bool,
) -> float:
    """Variance that the noise would give to a two-sample mean; see `variance`.

    Args:
        query: What would be asked.
        matrix: The kernel, shape (k, k); rows are of the positive class.
        positive: Shares of symbols in the positive class, shape (k,).
        negative: Shares of symbols in the negative class, shape (k,).
        sizes: Records of the negative and of the positive class.
        total_known: Whether these are public.
    """
    noise = cumulants(query.law, query.bits)
    shifted = matrix if total_known else matrix - positive @ matrix @ negative
    linear, squared = _two_sample_parts(positive, negative, [shifted], noise, np.array(sizes), total_known)
    return float((linear + squared)[0, 0])


def _counts(query: CellsQuery, answer: Answer) -> tuple[Float64, Cumulants]:
    counts = np.ldexp(answer.values.astype(np.float64), -query.bits)
    noise = cumulants(query.law, query.bits, spread=answer.adding / answer.honest) if answer.noisy else NOTHING
    return counts, noise


def _even(counts: Float64, total: int | None) -> Float64:
    """Counts moved evenly so that they add up to a known total."""
    return counts if total is None else counts + (total - counts.sum()) / len(counts)


def _sum(counts: Float64, matrix: Float64, noise: Cumulants, total: int | None) -> float:
    """Twice the sum of a kernel over pairs, without bias; `counts` are even where the total is known."""
    trace = np.trace(matrix) - (0.0 if total is None else float(matrix.sum()) / len(matrix))
    return float(counts @ matrix @ counts - counts @ np.diagonal(matrix) - noise.variance * trace)


def _covariance(counts: Float64, matrices: Sequence[Float64], noise: Cumulants, known: bool) -> Float64:
    """Estimated covariance of `_sum` of some kernels, shape (m, m)."""
    linear, squared = _parts(counts, matrices, noise, known)
    # noisy counts make the linear part too large by twice the part of the squared Gaussian noise
    excess = 4 * noise.variance**2 * _products([_projected(each, known) for each in matrices])
    return _at_least_zero(linear - excess) + squared


def _parts(counts: Float64, matrices: Sequence[Float64], noise: Cumulants, known: bool) -> tuple[Float64, Float64]:
    """Covariance of what is linear in the noise, and of what is quadratic; they are uncorrelated."""
    slopes = np.array([2 * each @ counts - np.diagonal(each) for each in matrices])
    if known:
        slopes = slopes - slopes.mean(axis=1)[:, None]
    projected = [_projected(each, known) for each in matrices]
    diagonals = np.array([np.diagonal(each) for each in projected])
    squared = 2 * noise.variance**2 * _products(projected) + noise.fourth * diagonals @ diagonals.T
    return noise.variance * slopes @ slopes.T, squared


def _two_sample_covariance(
    positive: Float64, negative: Float64, matrices: Sequence[Float64], noise: Cumulants, sizes: Float64, known: bool
) -> Float64:
    """Estimated covariance of two-sample means, from noisy shares."""
    linear, squared = _two_sample_parts(positive, negative, matrices, noise, sizes, known)
    return _at_least_zero(linear - 2 * squared) + squared


def _two_sample_parts(
    positive: Float64, negative: Float64, matrices: Sequence[Float64], noise: Cumulants, sizes: Float64, known: bool
) -> tuple[Float64, Float64]:
    rows = np.array([each @ negative for each in matrices])
    columns = np.array([positive @ each for each in matrices])
    if known:
        rows, columns = (each - each.mean(axis=1)[:, None] for each in (rows, columns))
    linear = noise.variance * (rows @ rows.T / sizes[1] ** 2 + columns @ columns.T / sizes[0] ** 2)
    squared = noise.variance**2 * _products([_projected(each, known) for each in matrices])
    return linear, squared / (sizes[0] * sizes[1]) ** 2


def _projected(matrix: Float64, known: bool) -> Float64:
    """Pi A Pi where the total is known, else A."""
    if not known:
        return matrix
    left = matrix - matrix.mean(axis=0)
    found: Float64 = left - left.mean(axis=1)[:, None]
    return found


def _products(matrices: Sequence[Float64]) -> Float64:
    """Sums of products of all entries, shape (m, m)."""
    return np.array([[float(np.vdot(one, other)) for other in matrices] for one in matrices])


def _at_least_zero(covariance: Float64) -> Float64:
    """The nearest matrix that is a covariance: an unbiased estimate of one may not be."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    found: Float64 = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return found


def _undefined(kernels: int) -> Means:
    """Where noise leaves no pairs."""
    unknown = np.full((kernels, kernels), math.nan)
    return Means(np.full(kernels, math.nan), unknown, None, np.zeros(kernels), 0)


def _checked(matrices: Matrices, size: int, *, symmetric: bool) -> list[Float64]:
    if size > LARGEST_PAIRWISE:
        raise ParameterError(
            f"a matrix over pairs of {size} symbols is too large; use at most {LARGEST_PAIRWISE} bins in all"
        )
    found = []
    for each in matrices:
        matrix = array_of(each, np.float64)
        if matrix.shape != (size, size):
            raise ParameterError(f"a matrix must be of shape ({size}, {size}), got {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ParameterError("a matrix must hold finite numbers")
        if symmetric:
            if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * (1 + float(np.abs(matrix).max()))):
                raise ParameterError("a kernel must be symmetric: replace f(x, y) by (f(x, y) + f(y, x)) / 2")
            matrix = (matrix + matrix.T) / 2
        found.append(matrix)
    return found
