"""Means of kernels from a curator, with noise on counts of symbols or on the means themselves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import gaussian_grant, gaussian_mu, pure_epsilon
from ogive.accounting.losses import LEAST_SIGMA
from ogive.columns import Domain
from ogive.core.arrays import Float64
from ogive.core.checks import array_of
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.kernels import AbsoluteDifference, PairMeanKernel, SignProduct, Untied
from ogive.kernels.base import MAX_BITS, Measure
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale, too_much_noise
from ogive.noise.base import MAX_SCALE
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, CellsQuery, KernelQuery, RowValues
from ogive.queries.kernels import MOST_BITS, check_totals, counts_class, degree, moves, reach
from ogive.statistics.ustatistic.means import Means, hoeffding, on_simplex, two_sample_hoeffding
from ogive.statistics.ustatistic.reports.laws import LARGEST_PAIRWISE

# --- Means from noisy counts of symbols
#
# The counts h have independent symmetric noise Z of known variance s and fourth cumulant c: y = h + Z. With A a kernel
# between symbols, h'Ah - h.diag A is twice its sum over pairs, and
#
#     E (y'Ay - y.diag A) = h'Ah - h.diag A + s tr A,
#
# so taking s tr A away makes it unbiased. Where the number of records n is known, counts are first moved evenly to add
# up to it, which replaces Z by Pi Z and A by B = Pi A Pi, Pi = I - 11'/k: constants then come out exactly. Given the
# records, the covariance of two such sums is, with g = 2 A h - diag A,
#
#     s (Pi g).(Pi g2) + 2 s^2 <B, B2> + c sum_i B_ii B2_ii,
#
# and the same with y for h and -2 s^2 for 2 s^2 is unbiased for it. Where n is private, a mean U is the ratio to the
# same sum of the constant kernel 1, and A - U takes the place of A. Pairs of two classes have no diagonal.
#
# Proofs: docs/proofs/central_pairs.md.

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


# --- Noise on the means themselves, and how it is divided between them
#
# Numbers that are measured together share one loss (`queries.kernels.moves`), and how much each gets is chosen here,
# without a look at records:
#
# - Kendall's tau-b and gamma: sign products get the noise that they would have alone, and shares of untied pairs what
#   then costs nothing more. A record that turns pairs around leaves them untied.
# - Gini's coefficient G: an error of the mean counts G times as much as one of the distance; best for G = 1/2.
# - AUC of private labels: an error of n+ counts AUC |1 - 2 share of positives| times as much; best for 0.32, which is
#   an AUC of 0.8 at 30 % positives.
#
# Any other measure of m kernels gives all the same.

USUAL_BITS = 30
_LARGEST_NUMBER = 60  # bits
_ALMOST = 1e-12
_ROOM = 1 - Fraction(1, 1 << 48)


@dataclass(frozen=True)
class Division:
    """How noise is divided between the numbers of a measure; 1 is what a number would have alone.

    Fields:
        scales: Of Laplace noise, relative to each other.
        variances: Of Gaussian noise, relative to each other.
    """

    scales: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]


def division(measure: Measure) -> Division:
    """The division that the text above describes."""
    kernels, one = measure.kernels, Fraction(1)
    if kernels == (SignProduct(), Untied((0,)), Untied((1,))):
        return Division((one, 4 * one, 4 * one), (one, one * 8 / 3, one * 8 / 3))
    if kernels == (SignProduct(), Untied((0, 1))):
        return Division((one, 2 * one), (one, one * 4 / 3))
    if kernels == (AbsoluteDifference(), PairMeanKernel()):
        return Division((one * 8 / 5, one * 8 / 3), (one * 3 / 2, 3 * one))
    if counts_class(measure):
        return Division((one * 3 / 2, 3 * one), (one * 4 / 3, 4 * one))
    return Division((len(kernels) * one,) * len(kernels), (len(kernels) * one,) * len(kernels))


def design_kernels(rows: RowValues, measure: Measure, privacy: Privacy, *, records: int | None = None) -> KernelQuery:
    """The least noise on the means of a measure's kernels that meets a guarantee, for a public number of records.

    Discrete Laplace noise for PureDP; for other guarantees that or discrete Gaussian noise, whichever is less.
    """
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    found, failed = [], []
    for grant in dict.fromkeys((privacy, pure)):
        try:
            if isinstance(grant, PureDP):
                found.append(_laplace(rows, measure, grant, records))
            else:
                found.append(_gaussian(rows, measure, grant, records))
        except ScaleError as problem:
            if not isinstance(grant, ApproxDP):
                failed.append((grant, problem))
    if not found:
        raise too_much_noise(privacy, "a mean over pairs", failed)
    return min(found, key=lambda query: query.laws[0].variance / 4.0**query.bits)


def _laplace(rows: RowValues, measure: Measure, privacy: PureDP, records: int | None) -> KernelQuery:
    shares = division(measure).scales
    bits = fitting_bits(_change(measure, shares, 1, 0) / privacy.epsilon * max(shares), records)
    unit = _change(measure, shares, 1, bits) / privacy.epsilon
    round_up_scale(unit * max(shares))  # a refusal says how far the largest is too large
    return KernelQuery(rows, measure, tuple(DiscreteLaplace(round_up_scale(unit * each)) for each in shares), bits)


def _gaussian(
    rows: RowValues, measure: Measure, privacy: ApproxDP | ZeroConcentratedDP, records: int | None
) -> KernelQuery:
    shares = division(measure).variances
    mu_squared = squared_ratio(privacy)
    square = _change(measure, shares, 2, 0) / mu_squared * max(shares)
    bits = fitting_bits(Fraction(math.sqrt(square)), records)
    if isinstance(privacy, ApproxDP):
        mu_squared = squared_ratio_of_integers(privacy, len(shares), bits)
    unit = _change(measure, shares, 2, bits) / mu_squared
    round_up_root(unit * max(shares))
    sigmas = (max(round_up_root(unit * each), Fraction(LEAST_SIGMA)) for each in shares)
    return KernelQuery(rows, measure, tuple(map(DiscreteGaussian, sigmas)), bits)


def squared_ratio(privacy: ApproxDP | ZeroConcentratedDP) -> Fraction:
    """The square of how much a record may move numbers with Gaussian noise, in standard deviations."""
    if isinstance(privacy, ZeroConcentratedDP):
        return 2 * privacy.rho
    return Fraction(gaussian_mu(privacy.epsilon, privacy.delta)) ** 2


def squared_ratio_of_integers(privacy: ApproxDP, integers: int, bits: int) -> Fraction:
    """The same for discrete noise of so many integers with fractional bits, each of a sigma of 2^bits / mu or more."""
    try:
        mu = gaussian_grant(privacy, integers=integers, per_unit=2.0**bits)
    except ParameterError as problem:
        raise ScaleError(problem.marked) from None
    return Fraction(mu) ** 2 * _ROOM


def _change(measure: Measure, shares: tuple[Fraction, ...], power: int, bits: int) -> Fraction:
    """What the numbers cost whose noise has these scales (power 1) or variances (power 2)."""
    extremes = moves(measure)
    one, rounding = 1 << bits, int(len(extremes) > 1)
    return max(
        sum(((abs(e) * one + rounding) ** power / share for e, share in zip(extreme, shares, strict=True)), Fraction(0))
        for extreme in extremes
    )


def fitting_bits(scale: Fraction, records: int | None) -> int:
    """As many fractional bits as leave room for the noise, of this scale without any, and for so many records."""
    room = math.floor(math.log2(MAX_SCALE / scale)) - 1 if scale > 0 else MOST_BITS
    numbers = _LARGEST_NUMBER - records.bit_length() if records is not None else USUAL_BITS
    return max(0, min(MOST_BITS, room, numbers))


def kernel_means(query: KernelQuery, answer: Answer) -> Means:
    """What the noisy numbers say of the means.

    Privacy: post-processing of noisy numbers.
    """
    totals = check_totals(answer.totals or (), query.degree)
    noises = _noises(query, answer.adding / answer.honest) if answer.noisy else (NOTHING,) * len(query.laws)
    values, variances = [], []
    for number, (value, noise) in enumerate(zip(answer.values.tolist(), noises, strict=True)):
        exact = Fraction(value, 1 << query.bits)
        if query.counted and number == 1:
            ones, records = float(exact), totals[0]
            pairs = records * (records - 1)
            values.append(2 * (ones * (records - ones) + noise.variance) / pairs)
            slope = max((records - 2 * ones) ** 2 - 4 * noise.variance, 0.0)
            variances.append(_counted_variance(slope, noise, records))
            continue
        scale = query.measure.kernels[number].scale(query.columns, MAX_BITS)
        size = scale.unit * scale.swing / reach(totals, query.degree)
        values.append(float(scale.zero + size * exact))
        variances.append(float(size) ** 2 * noise.variance)
    return Means(np.array(values), np.diag(variances), None, np.zeros(len(values)), sum(totals))


def noise_variances(query: KernelQuery, totals: tuple[int, ...], means: Float64) -> Float64:
    """Variance that the noise gives to each mean, shape (kernels,)."""
    found = []
    for number, noise in enumerate(_noises(query, 1.0)):
        if query.counted and number == 1:
            records = totals[0]
            slope = max(records**2 - 2 * records * (records - 1) * float(means[1]), 0.0)
            found.append(_counted_variance(slope, noise, records))
            continue
        scale = query.measure.kernels[number].scale(query.columns, MAX_BITS)
        found.append(float(scale.unit * scale.swing / reach(totals, query.degree)) ** 2 * noise.variance)
    return np.array(found)


def sampling_bound(
    measure: Measure, gradient: Float64, means: Float64, columns: Domain, totals: tuple[int, ...]
) -> float | None:
    """Bound the variance of a measure of exact means around its value for the population, to first order.

    A U-statistic's variance is at most 2 zeta / n, 3 zeta / n of triples, and zeta / n_min of two samples, with zeta
    the variance of its kernel; and a variable of mean m within [a, b] has a variance of at most (m - a)(b - m). The
    kernel here is the measure's kernels weighted by its gradient.

    Args:
        measure: Whose kernels.
        gradient: Derivatives of the measure, shape (kernels,).
        means: Of the kernels, perhaps noisy, shape (kernels,).
        columns: What the kernels look at.
        totals: Records, or those of each class.
    """
    states = np.array(_states(measure, columns)) @ gradient
    below, above = (float(each) for each in (gradient @ means - states.min(), states.max() - gradient @ means))
    if min(below, above) <= _ALMOST * (below + above):
        return None
    return below * above / float(reach(totals, degree(measure)))


def _states(measure: Measure, columns: Domain) -> list[tuple[float, ...]]:
    """Values of all kernels on one pair, or corners of a box that holds them."""
    kernels = measure.kernels
    if kernels == (SignProduct(), Untied((0,)), Untied((1,))):
        return [(0, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 1, 1), (1, 1, 1)]
    if kernels == (SignProduct(), Untied((0, 1))):
        return [(0, 0), (-1, 1), (1, 1)]
    if counts_class(measure):
        return [(0, 0), (0, 1), (1, 1)]
    return list(itertools.product(*(kernel.range(columns) for kernel in kernels)))


def _noises(query: KernelQuery, spread: float) -> tuple[Cumulants, ...]:
    return tuple(cumulants(law, query.bits, spread=spread) for law in query.laws)


def _counted_variance(slope: float, noise: Cumulants, records: int) -> float:
    """Of 2 (m (n - m) + s) / (n (n - 1)), m a noisy count, where slope is (n - 2 m)^2 of the exact one."""
    squared = noise.fourth + 2 * noise.variance**2
    return (slope * noise.variance + squared) * (2 / (records * (records - 1))) ** 2
