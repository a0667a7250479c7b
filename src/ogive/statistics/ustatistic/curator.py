"""U-statistics from a curator who sees the records."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from ogive.accounting import gaussian_grant, gaussian_mu, pure_epsilon
from ogive.accounting.losses import LEAST_SIGMA
from ogive.columns import Domain
from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.kernels import AbsoluteDifference, Equal, PairMeanKernel, SignProduct, Untied
from ogive.kernels.base import MAX_BITS, Measure, Scale
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale, too_much_noise
from ogive.noise.base import MAX_SCALE
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, Cells, CellsQuery, DegreesQuery, KernelQuery, RowValues, design_cells
from ogive.queries.kernels import MOST_BITS, ExactMeansQuery, check_totals, counts_class, degree, moves, reach
from ogive.statistics.ustatistic.base import ANY_BINS, BinnedMethod, MeanMethod, MeanTask, QueryT, ShapeMeans, best
from ogive.statistics.ustatistic.laws import LARGEST_PAIRWISE
from ogive.statistics.ustatistic.means import (
    Matrices,
    Means,
    checked_matrices,
    hoeffding,
    middle_of,
    nearest_covariance,
    on_simplex,
    roots,
    two_sample_hoeffding,
)

# --- Exact means


@dataclass(frozen=True)
class Exact(MeanMethod):
    """The exact means, of records that one may see."""

    name: ClassVar[str] = "exact"

    query: ExactMeansQuery

    @property
    def predicted(self) -> float:
        return 0.0

    def means(self, answer: Answer) -> Means:
        sizes, means, variance = self.query.read(answer.values)
        values, nothing = np.array(means), np.zeros(len(means))
        known = self.task.terms.adjacency is Adjacency.REPLACE
        classes = sizes if known and self.task.classes is not None else None
        records = sum(sizes) if known else None
        bound = partial(sampling_bound, self.task.measure, self.domain, values, sizes)
        return Means(values, np.diag(nothing), bound, nothing, records, classes, variance)


def exact(task: MeanTask) -> Exact:
    """The query for the exact means."""
    return Exact(task, ExactMeansQuery(task.rows(ANY_BINS), task.measure, task.number_of_classes), ANY_BINS)


# --- Noise on the means themselves, and how it is divided between them
#
# Numbers that are measured together share one loss (`queries.kernels.moves`), divided without a look at records. Of
# Kendall's tau-b and gamma sign products get the noise that they would have alone, and shares of untied pairs what then
# costs nothing more. Gini's coefficient is divided for a coefficient of 1/2, where an error of the mean counts half as
# much as one of the distance, and an AUC of private labels for 0.8 at 30 % positives. Any other measure of m kernels
# gives all the same.

_ROOM = 1 - Fraction(1, 1 << 48)

Division = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
"""Scales of Laplace noise, and variances of Gaussian noise, of each number; 1 is what it would have alone."""


def division(measure: Measure) -> Division:
    """The division that the text above describes."""
    kernels, one = measure.kernels, Fraction(1)
    if kernels == (SignProduct(), Untied((0,)), Untied((1,))):
        return (one, 4 * one, 4 * one), (one, one * 8 / 3, one * 8 / 3)
    if kernels == (SignProduct(), Untied((0, 1))):
        return (one, 2 * one), (one, one * 4 / 3)
    if kernels == (AbsoluteDifference(), PairMeanKernel()):
        return (one * 8 / 5, one * 8 / 3), (one * 3 / 2, 3 * one)
    if counts_class(measure):
        return (one * 3 / 2, 3 * one), (one * 4 / 3, 4 * one)
    return (len(kernels) * one,) * len(kernels), (len(kernels) * one,) * len(kernels)


def design_kernels(rows: RowValues, measure: Measure, privacy: Privacy, *, records: int | None = None) -> KernelQuery:
    """The least noise on the means of a measure's kernels that meets a guarantee, for a public number of records."""
    extremes = moves(measure)

    def change(shares: tuple[Fraction, ...], power: int, bits: int) -> Fraction:
        one, rounding = 1 << bits, int(len(extremes) > 1)
        pairs = (zip(extreme, shares, strict=True) for extreme in extremes)
        return max(sum(((abs(e) * one + rounding) ** power / each for e, each in pair), Fraction(0)) for pair in pairs)

    def designed(grant: Privacy) -> KernelQuery:
        laws, bits = divided_noise(grant, division(measure), change, records)
        return KernelQuery(rows, measure, laws, bits)

    result = fitting_designs(privacy, [designed], "a mean over pairs")
    return min(result, key=lambda query: query.laws[0].variance / 4.0**query.bits)


def fitting_designs(privacy: Privacy, makers: Iterable[Callable[[Privacy], QueryT]], what: str) -> list[QueryT]:
    """The designs for a guarantee, and for the pure one that implies it, whose noise can be drawn."""
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    results: list[QueryT] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    for grant, make in itertools.product(dict.fromkeys((privacy, pure)), makers):
        try:
            results.append(make(grant))
        except ScaleError as problem:
            if not isinstance(grant, ApproxDP):
                failed.append((grant, problem))
    if not results:
        raise too_much_noise(privacy, what, failed)
    return results


def divided_noise(
    privacy: Privacy,
    divided: Division,
    change: Callable[[tuple[Fraction, ...], int, int], Fraction],
    records: int | None,
) -> tuple[tuple[DiscreteLaplace | DiscreteGaussian, ...], int]:
    """Noise that is divided between some numbers, Laplace for PureDP and else Gaussian, and their fractional bits.

    `change` leads from scales (power 1) or variances (power 2) and bits to what the numbers cost with such noise.
    """
    scales, variances = divided
    if isinstance(privacy, PureDP):
        bits = fitting_bits(change(scales, 1, 0) / privacy.epsilon * max(scales), records)
        unit = change(scales, 1, bits) / privacy.epsilon
        round_up_scale(unit * max(scales))  # a refusal says how far the largest is too large
        return tuple(DiscreteLaplace(round_up_scale(unit * each)) for each in scales), bits
    # the square of how much a record may move numbers, in standard deviations
    if isinstance(privacy, ZeroConcentratedDP):
        mu_squared = 2 * privacy.rho
    else:
        mu_squared = Fraction(gaussian_mu(privacy.epsilon, privacy.delta)) ** 2
    bits = fitting_bits(Fraction(math.sqrt(change(variances, 2, 0) / mu_squared * max(variances))), records)
    if isinstance(privacy, ApproxDP):  # discrete noise of integers, each of a sigma of 2^bits / mu or more
        try:
            mu = gaussian_grant(privacy, integers=len(variances), per_unit=2.0**bits)
        except ParameterError as problem:
            raise ScaleError(problem.marked) from None
        mu_squared = Fraction(mu) ** 2 * _ROOM
    unit = change(variances, 2, bits) / mu_squared
    round_up_root(unit * max(variances))
    sigmas = (max(round_up_root(unit * each), Fraction(LEAST_SIGMA)) for each in variances)
    return tuple(map(DiscreteGaussian, sigmas)), bits


def fitting_bits(scale: Fraction, records: int | None) -> int:
    """As many fractional bits as leave room for the noise, of this scale without any, and for the records."""
    room = math.floor(math.log2(MAX_SCALE / scale)) - 1 if scale > 0 else MOST_BITS
    return max(0, min(MOST_BITS, room, 30 if records is None else 60 - records.bit_length()))


def kernel_means(query: KernelQuery, answer: Answer) -> Means:
    """What the noisy numbers say of the means."""
    totals = check_totals(answer.totals or (), query.degree)
    spread = answer.adding / answer.honest if answer.noisy else 0.0
    exact = [Fraction(value, 1 << query.bits) for value in answer.values.tolist()]
    values = [
        float(scale.zero + size * each) for each, (scale, size) in zip(exact, _scales(query, totals), strict=True)
    ]
    ones = float(exact[1]) if query.counted else None
    if ones is not None:
        noise = cumulants(query.laws[1], query.bits, spread=spread)
        values[1] = 2 * (ones * (totals[0] - ones) + noise.variance) / (totals[0] * (totals[0] - 1))
    means = np.array(values)
    variances = noise_variances(query, totals, means, spread=spread, ones=ones)
    return Means(means, np.diag(variances), None, np.zeros(len(values)), sum(totals))


def noise_variances(
    query: KernelQuery, totals: tuple[int, ...], means: Float64, *, spread: float = 1.0, ones: float | None = None
) -> Float64:
    """Variance that the noise gives to each mean, shape (kernels,); `ones` is a noisy count of the positive class."""
    results = []
    for number, (law, (_, size)) in enumerate(zip(query.laws, _scales(query, totals), strict=True)):
        noise = cumulants(law, query.bits, spread=spread)
        if not query.counted or number != 1:
            results.append(float(size) ** 2 * noise.variance)
            continue
        # of 2 (m (n - m) + s) / (n (n - 1)), m a noisy count, where slope is (n - 2 m)^2 of the exact one
        records = totals[0]
        if ones is None:
            slope = records**2 - 2 * records * (records - 1) * float(means[1])
        else:
            slope = (records - 2 * ones) ** 2 - 4 * noise.variance
        squared = noise.fourth + 2 * noise.variance**2
        results.append((max(slope, 0.0) * noise.variance + squared) * (2 / (records * (records - 1))) ** 2)
    return np.array(results)


def _scales(query: KernelQuery, totals: tuple[int, ...]) -> list[tuple[Scale, Fraction]]:
    """Scale of each kernel, and the size of a step of its mean."""
    scales = [kernel.scale(query.columns, MAX_BITS) for kernel in query.measure.kernels]
    return [(scale, scale.unit * scale.swing / reach(totals, query.degree)) for scale in scales]


def sampling_bound(
    measure: Measure, columns: Domain, means: Float64, totals: tuple[int, ...], gradient: Float64
) -> float | None:
    """Bound the variance of a measure of exact means around its value for the population, to first order.

    A U-statistic's variance is at most 2 zeta / n, 3 zeta / n of triples, and zeta / n_min of two samples, with zeta
    the variance of its kernel, which is at most (m - a)(b - m) of mean m within [a, b].
    """
    kernels = measure.kernels
    # values of all kernels on one pair, or corners of a box that holds them
    corners: list[tuple[float, ...]] = list(itertools.product(*(kernel.range(columns) for kernel in kernels)))
    if kernels == (SignProduct(), Untied((0,)), Untied((1,))):
        corners = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 1, 1), (1, 1, 1)]
    elif kernels == (SignProduct(), Untied((0, 1))):
        corners = [(0, 0), (-1, 1), (1, 1)]
    elif counts_class(measure):
        corners = [(0, 0), (0, 1), (1, 1)]
    states = np.array(corners) @ gradient
    below, above = (float(each) for each in (gradient @ means - states.min(), states.max() - gradient @ means))
    if min(below, above) <= 1e-12 * (below + above):
        return None
    return below * above / float(reach(totals, degree(measure)))


@dataclass(frozen=True)
class Kernels(MeanMethod):
    """Noise on the exact mean of every kernel."""

    name: ClassVar[str] = "kernel"

    query: KernelQuery

    def _predicted(self, shape: ShapeMeans) -> float:
        classes, records = self.task.number_of_classes, self.task.records
        totals = (max(1, records // classes),) * classes if classes else (records,)
        return float(shape.gradient**2 @ noise_variances(self.query, totals, shape.means))

    def means(self, answer: Answer) -> Means:
        means, totals = kernel_means(self.query, answer), answer.totals
        assert totals is not None, "under ADD_OR_REMOVE no price was named"
        classes = totals if self.task.classes is not None else None
        bound = partial(sampling_bound, self.task.measure, self.domain, means.values, totals)
        return replace(means, sampling=bound, classes=classes)


def kernels(task: MeanTask) -> Kernels:
    """The least noise on the means."""
    task.check(Kernels.name)
    if task.terms.adjacency is Adjacency.ADD_OR_REMOVE:
        other = "`method='cells'`, or " if task.tuples == "pairs" else ""
        tuples = "triples" if task.tuples == "triples" else "pairs"
        raise ParameterError(
            f"what one record can change in a mean over {tuples} depends on the number of records, which is private "
            f"here; use {other}`adjacency REPLACE`"
        )
    rows, terms = task.rows(ANY_BINS), task.terms
    query = design_kernels(rows, task.measure, terms.privacy, records=terms.records)
    return Kernels(task, task.served(query), ANY_BINS)


# --- Means from noisy counts of symbols
#
# The counts have independent symmetric noise Z of known variance s and fourth cumulant c: y = h + Z. With A a kernel
# between symbols, y'Ay - y.diag A - s tr A is unbiased for twice its sum over pairs. Where their number is known,
# counts are first moved evenly to add up to it, which replaces Z by Pi Z, Pi = I - 11'/k; where it is private a
# mean U is the ratio to the same sum of the constant kernel 1, and A - U takes the place of A. Pairs of two classes
# have no diagonal. Proofs, with the covariances: docs/proofs/central_pairs.md.


@dataclass(frozen=True)
class Cumulants:
    """Variance and fourth cumulant (fourth moment less three times the squared variance) of noise, in records."""

    variance: float
    fourth: float


def cumulants(law: DiscreteLaplace | DiscreteGaussian, bits: int, *, spread: float = 1.0) -> Cumulants:
    """Of noise on numbers that count 2^bits; those of several shares add up, `spread` times those of the law."""
    variance, fourth = law.variance, 0.0  # a discrete Gaussian of such a sigma has the cumulants of a continuous one
    if isinstance(law, DiscreteLaplace):
        ratio = math.exp(-1 / float(law.scale))
        fourth = 2 * ratio * (1 + 10 * ratio + ratio**2) / (1 - ratio) ** 4 - 3 * variance**2
    return Cumulants(variance * spread / 4.0**bits, fourth * spread / 16.0**bits)


def counted_means(query: CellsQuery, answer: Answer, matrices: Matrices, spreads: Matrices | None = None) -> Means:
    """Estimate U-statistics of some kernels from one set of noisy counts; matrices and spreads are as of `means`."""
    counts, noise = _noisy_counts(query, answer)
    kernels = _checked(matrices, len(counts), symmetric=True)
    total = answer.total
    if total is not None and total < 2:
        raise DataError(f"a mean over pairs needs at least two records, got {total}")
    middles = [middle_of(kernel) for kernel in kernels]
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
    results = [_sum(even, each, noise, total) / pairs for each in _checked(spreads, len(counts), symmetric=True)]
    sampling = hoeffding(kernels, distribution, records)
    return Means(sums + middles, covariance, sampling, roots(results, len(kernels)), records)


def two_sample_counted_means(
    query: CellsQuery, answer: Answer, matrices: Matrices, spreads: Matrices | None = None
) -> Means:
    """The same of two samples, where the last column is of two classes; rows of matrices are of the positive one."""
    if query.cells.domain.sizes[-1] != 2:
        raise ParameterError(f"a mean over two samples needs two classes, got {query.cells.domain.sizes[-1]}")
    counts, noise = _noisy_counts(query, answer)
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
    middles = [middle_of(kernel) for kernel in kernels]
    centered = [kernel - middle for kernel, middle in zip(kernels, middles, strict=True)]
    negative, positive = negative / sizes[0], positive / sizes[1]
    values = np.array([positive @ each @ negative for each in centered])
    if known is None:
        centered = [each - value for each, value in zip(centered, values, strict=True)]
    linear, squared = _two_sample_parts(positive, negative, centered, noise, sizes, known is not None)
    covariance = nearest_covariance(linear - 2 * squared) + squared
    records = sizes if known is not None else np.maximum(np.rint(sizes), 1)
    sampling = two_sample_hoeffding(
        kernels, on_simplex(positive, size), on_simplex(negative, size), float(records[1]), float(records[0])
    )
    results = [positive @ each @ negative for each in _checked(spreads, size, symmetric=False)]
    moved = roots(results, len(kernels))
    return Means(values + middles, covariance, sampling, moved, int(records.sum()), known)


def counted_variance(
    query: CellsQuery, matrix: Float64, distribution: Float64, records: float, *, total_known: bool
) -> float:
    """Variance that the noise would give to the mean of a symmetric kernel, for a public guess of the records."""
    counts, noise = records * distribution, cumulants(query.law, query.bits)
    pairs = records * (records - 1)
    shifted = matrix if total_known else matrix - _sum(counts, matrix, Cumulants(0.0, 0.0), None) / pairs
    linear, squared = _parts(counts, [shifted], noise, total_known)
    return float((linear + squared)[0, 0]) / pairs**2


def two_sample_counted_variance(
    query: CellsQuery, matrix: Float64, shares: Sequence[Float64], sizes: tuple[float, float], *, total_known: bool
) -> float:
    """The same of two samples, positive shares first; `sizes` are those of the negative and of the positive class."""
    (positive, negative), noise = shares, cumulants(query.law, query.bits)
    shifted = matrix if total_known else matrix - positive @ matrix @ negative
    linear, squared = _two_sample_parts(positive, negative, [shifted], noise, np.array(sizes), total_known)
    return float((linear + squared)[0, 0])


def _noisy_counts(query: CellsQuery, answer: Answer) -> tuple[Float64, Cumulants]:
    counts = np.ldexp(answer.values.astype(np.float64), -query.bits)
    return counts, cumulants(query.law, query.bits, spread=answer.adding / answer.honest if answer.noisy else 0.0)


def _even(counts: Float64, total: int | None) -> Float64:
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
    return nearest_covariance(linear - excess) + squared


def _parts(counts: Float64, matrices: Sequence[Float64], noise: Cumulants, known: bool) -> tuple[Float64, Float64]:
    """Covariance of what is linear in the noise, and of what is quadratic; they are uncorrelated."""
    slopes = np.array([2 * each @ counts - np.diagonal(each) for each in matrices])
    if known:
        slopes = slopes - slopes.mean(axis=1)[:, None]
    projected = [_projected(each, known) for each in matrices]
    diagonals = np.array([np.diagonal(each) for each in projected])
    squared = 2 * noise.variance**2 * _products(projected) + noise.fourth * diagonals @ diagonals.T
    return noise.variance * slopes @ slopes.T, squared


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
    if not known:
        return matrix
    left = matrix - matrix.mean(axis=0)
    return np.asarray(left - left.mean(axis=1)[:, None])


def _products(matrices: Sequence[Float64]) -> Float64:
    return np.array([[float(np.vdot(one, other)) for other in matrices] for one in matrices])


def _undefined(kernels: int) -> Means:
    unknown = np.full((kernels, kernels), math.nan)
    return Means(np.full(kernels, math.nan), unknown, None, np.zeros(kernels), 0)


def _checked(matrices: Matrices | None, size: int, *, symmetric: bool) -> list[Float64]:
    if size > LARGEST_PAIRWISE:
        raise ParameterError(
            f"a matrix over pairs of {size} symbols is too large; use at most {LARGEST_PAIRWISE} bins in all"
        )
    return checked_matrices(size, matrices, symmetric=symmetric)


@dataclass(frozen=True)
class Counts(BinnedMethod):
    """Noise on the count of every combination of bins, from which the means are computed."""

    name: ClassVar[str] = "cells"

    query: CellsQuery

    def _predicted(self, shape: ShapeMeans) -> float:
        bias, combined, shares = self._on_bins(shape, self.domain.symbols(shape.rows))
        query, records = self.task.terms.noise_of(self.query), self.task.records
        known = self.task.terms.adjacency is Adjacency.REPLACE
        if self.task.classes is None:
            return bias + counted_variance(query, combined, shares[0], records, total_known=known)
        half = max(1.0, records / 2)
        return bias + two_sample_counted_variance(query, combined, shares, (half, half), total_known=known)

    def means(self, answer: Answer) -> Means:
        means_of = counted_means if self.task.classes is None else two_sample_counted_means
        means = means_of(self.query, answer, self.matrices, self.reach)
        return self._within_reach(means if answer.total is not None else replace(means, records=None))


def counts(task: MeanTask) -> Counts:
    """The best number of bins, with the least noise on their counts."""
    task.check(Counts.name, pairs=True)
    return task.best_bins(partial(_counts, task), most=1 << 10)


def _counts(task: MeanTask, bins: int) -> Counts:
    results = []
    cells = Cells(task.rows(bins).domain)
    task.domain(bins).check_size(LARGEST_PAIRWISE)  # or there is no matrix over pairs to read the answer with
    privacy = task.terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    for granted in dict.fromkeys((privacy, pure)):
        query = design_cells(cells, granted, task.terms.unit, public_classes=task.classes is not None)
        results.append(partial(Counts, task, task.served(query), bins))
    return best(results)


# --- Collision probability by clipped degrees
#
# A noisy bound of the largest count comes first, for a part of the guarantee; the equal pairs then need noise for that
# bound alone (`queries.degrees`). The part is chosen from public numbers: with k values and n records a count is about
# n / k, and more where it deviates.

# parts of the guarantee that the largest count may have
SHARES = tuple(Fraction(part, 32) for part in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16))
_GROUPS = 20


@dataclass(frozen=True)
class Degrees(MeanMethod):
    """Noise on the largest count, and on the equal pairs with degrees that it bounds."""

    name: ClassVar[str] = "degrees"

    query: DegreesQuery

    def unless_beaten(self, other: MeanMethod) -> MeanMethod:
        """The method itself where it errs less than another one on every reference shape, else the other."""
        wins = all(self._predicted(shape) < self._of_other(other, shape) for shape in self.task.shapes)
        return self if wins else other

    def _predicted(self, shape: ShapeMeans) -> float:
        records = self.task.records
        largest = round(_expected_largest(records * float(self._shares(shape).max()))) << self.query.bits
        error = _deviation(self.query, self.query.degree(largest, records), records)
        return float(shape.gradient[0] ** 2) * error**2

    def _of_other(self, other: MeanMethod, shape: ShapeMeans) -> float:
        if not isinstance(other, Counts):
            return other.predicted
        equal, shares = np.eye(self.domain.size), self._shares(shape)
        query = self.task.terms.noise_of(other.query)
        variance = counted_variance(query, equal, shares, self.task.records, total_known=True)
        return float(shape.gradient[0] ** 2) * variance

    def _shares(self, shape: ShapeMeans) -> Float64:
        """Shares of all values, the same within a few groups: there may be more values than imagined records."""
        size = self.domain.size
        groups = np.arange(size) * min(size, _GROUPS) // size
        held = np.bincount(groups[self.domain.symbols(shape.rows)], minlength=min(size, _GROUPS))
        return np.asarray((held / held.sum() / np.bincount(groups))[groups])

    def means(self, answer: Answer) -> Means:
        (records,) = check_totals(answer.totals or ())
        largest, pairs = answer.values.tolist()
        degree = self.query.degree(largest, records)
        scale = Fraction(2 * degree, records * (records - 1) << self.query.bits)
        value = float(scale * pairs)
        error = _deviation(self.query, degree, records, spread=answer.adding / answer.honest) if answer.noisy else 0.0

        def sampling(gradient: Float64) -> float | None:
            return float(gradient[0] ** 2) * degree_sampling_bound(value, degree, records)

        return Means(np.array([value]), np.array([[error**2]]), sampling, np.zeros(1), records)


def counts_equal_pairs(measure: Measure) -> bool:
    """Whether a measure is made of the number of equal pairs alone."""
    return measure.kernels == (Equal(),)


def degrees(task: MeanTask) -> Degrees:
    """The least noise on equal pairs with a noisy bound of their degrees."""
    if not counts_equal_pairs(task.measure):
        raise ParameterError(
            "method degrees is for the collision entropy and its probability, whose pairs are equal or not; "
            "use `method='kernel'`"
        )
    task.check(Degrees.name)
    terms = task.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        raise ParameterError(
            "a mean over pairs divides by the number of records, which is private here; use `method='cells'`, or "
            "`adjacency REPLACE`"
        )
    query = design_degrees(Cells(task.rows(ANY_BINS).domain), terms.privacy, records=task.records)
    return Degrees(task, task.served(query), ANY_BINS)


def design_degrees(cells: Cells, privacy: Privacy, *, records: int) -> DegreesQuery:
    """The least noise on equal pairs that meets a guarantee, if all values are equally frequent."""

    def designed(share: Fraction, grant: Privacy) -> DegreesQuery:
        # the largest count has a share of epsilon, or of the squared ratio of Gaussian noise
        parts = 1 / share, 1 / (1 - share)
        laws, bits = divided_noise(
            grant, (parts, parts), lambda shares, power, bits: Fraction(1 << power * bits), records
        )
        return DegreesQuery(cells, laws, bits)

    result = fitting_designs(privacy, [partial(designed, share) for share in SHARES], "a number of pairs")
    usual = round(_expected_largest(records / cells.domain.size))
    return min(result, key=lambda query: _deviation(query, query.degree(usual << query.bits, records), records))


def _expected_largest(mean: float) -> float:
    """About the largest of many counts with this mean: three standard deviations above it."""
    return mean + 3 * math.sqrt(mean)


def _deviation(query: DegreesQuery, degree: int, records: int, *, spread: float = 1.0) -> float:
    noise = cumulants(query.laws[1], query.bits, spread=spread)
    return 2 * degree * math.sqrt(noise.variance) / (records * (records - 1))


def degree_sampling_bound(value: float, degree: int, records: int) -> float:
    """Bound the variance of the exact collision probability U around the population's, to first order.

    The variance of the mean share of a record is at most U (q - U), with q the largest share, and that of a pair
    U (1 - U); the largest count is at most T + 1.
    """
    inside = min(max(value, 0.0), 1.0)
    largest = min(1.0, (degree + 1) / records)
    first = inside * max(largest - inside, 0.0)
    pairs = inside * (1 - inside)
    return (4 * (records - 2) * first + 2 * pairs) / (records * (records - 1))
