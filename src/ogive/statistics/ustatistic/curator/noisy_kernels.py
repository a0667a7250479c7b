"""Means of kernels from a curator: how the noise is divided between several numbers, and what the numbers say.

Numbers that are measured together share one loss (`queries.kernels.moves`), and how much each gets is chosen here,
without a look at records:

- Kendall's tau-b and gamma: sign products get the noise that they would have alone, and shares of untied pairs what
  then costs nothing more. A record that turns pairs around leaves them untied.
- Gini's coefficient G: an error of the mean counts G times as much as one of the distance; best for G = 1/2.
- AUC of private labels: an error of n+ counts AUC |1 - 2 share of positives| times as much; best for 0.32, which is
  an AUC of 0.8 at 30 % positives.

Any other measure of m kernels gives all the same.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.accounting import gaussian_grant, gaussian_mu, pure_epsilon
from ogive.accounting.gaussian import LEAST_SIGMA
from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.errors import ParameterError, ScaleError
from ogive.kernels import AbsoluteDifference, PairMeanKernel, SignProduct, Untied
from ogive.kernels.base import Measure
from ogive.kernels.exact import MAX_BITS
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale, too_much_noise
from ogive.noise.rounding import MAX_SCALE
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, KernelQuery, RowValues
from ogive.queries.kernels import MOST_BITS, check_totals, counts_class, degree, moves, reach
from ogive.statistics.ustatistic.curator.cells import NOTHING, Cumulants, cumulants
from ogive.statistics.ustatistic.means.means import Means

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
    """The division that this module's text describes."""
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

    Args:
        rows: Columns of the kernels; of a two-sample measure then one column of classes.
        measure: Whose kernels.
        privacy: What all means together may cost.
        records: How many there are, where that is known; numbers then have as many bits as fit.

    Raises:
        ScaleError: the noise is larger than can be drawn.
        ParameterError: the kernels do not fit the columns.
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
    bits = _bits(_change(measure, shares, 1, 0) / privacy.epsilon * max(shares), records)
    unit = _change(measure, shares, 1, bits) / privacy.epsilon
    round_up_scale(unit * max(shares))  # a refusal says how far the largest is too large
    return KernelQuery(rows, measure, tuple(DiscreteLaplace(round_up_scale(unit * each)) for each in shares), bits)


def _gaussian(
    rows: RowValues, measure: Measure, privacy: ApproxDP | ZeroConcentratedDP, records: int | None
) -> KernelQuery:
    shares = division(measure).variances
    if isinstance(privacy, ZeroConcentratedDP):
        mu_squared = 2 * privacy.rho
    else:
        mu_squared = Fraction(gaussian_mu(privacy.epsilon, privacy.delta)) ** 2
    square = _change(measure, shares, 2, 0) / mu_squared * max(shares)
    bits = _bits(Fraction(math.sqrt(square)), records)
    if isinstance(privacy, ApproxDP):
        # every sigma is at least 2^bits / mu
        try:
            mu = gaussian_grant(privacy, integers=len(shares), per_unit=2.0**bits)
        except ParameterError as problem:
            raise ScaleError(problem.marked) from None
        mu_squared = Fraction(mu) ** 2 * _ROOM
    unit = _change(measure, shares, 2, bits) / mu_squared
    round_up_root(unit * max(shares))
    sigmas = (max(round_up_root(unit * each), Fraction(LEAST_SIGMA)) for each in shares)
    return KernelQuery(rows, measure, tuple(map(DiscreteGaussian, sigmas)), bits)


def _change(measure: Measure, shares: tuple[Fraction, ...], power: int, bits: int) -> Fraction:
    """What the numbers cost whose noise has these scales (power 1) or variances (power 2)."""
    extremes = moves(measure)
    one, rounding = 1 << bits, int(len(extremes) > 1)
    return max(
        sum(((abs(e) * one + rounding) ** power / share for e, share in zip(extreme, shares, strict=True)), Fraction(0))
        for extreme in extremes
    )


def _bits(scale: Fraction, records: int | None) -> int:
    """As many fractional bits as leave room for the noise, of this scale without any, and for so many records."""
    room = math.floor(math.log2(MAX_SCALE / scale)) - 1 if scale > 0 else MOST_BITS
    numbers = _LARGEST_NUMBER - records.bit_length() if records is not None else USUAL_BITS
    return max(0, min(MOST_BITS, room, numbers))


def kernel_means(query: KernelQuery, answer: Answer) -> Means:
    """What the noisy numbers say of the means.

    Args:
        query: What was asked.
        answer: The numbers, and the number of records or of each class.

    Returns:
        Unbiased means; the covariance is of the noise, exact but where a share of pairs follows from a noisy count.
        `sampling` is None: see `sampling_bound`.

    Raises:
        DataError: there are fewer than two records, or a class is empty.

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
    """Variance that the noise gives to each mean, shape (kernels,).

    Args:
        query: What would be asked.
        totals: Records, or those of the negative and of the positive class.
        means: A guess of the means; it matters only for the share of pairs whose labels differ.
    """
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

    Returns:
        The bound; None where the mean is at an extreme, or beyond it, which then tells nothing of the population's.
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
