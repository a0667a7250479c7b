"""From noisy group sums to expected and observed counts that agree, and to the statistic; all linear but the last.

Expected and observed counts of a group add up to the same number of records. Where four sums were measured
with equal noise, r = (E0 + E1) - (O0 + O1) is noise only, and the best linear correction takes r / 4 from each
E and gives it to each O; then D1 = O1 - E1 = -D0 with half the variance. Where the number n of all records is
public, (n - sum of all groups) / (2 Q) is added to every expected and observed count, again the best linear
correction; it leaves D as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import bdtr, betainccinv, betaincinv, ndtr

from ogive.core.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.noise.laws import draw_public
from ogive.queries import GroupSumsQuery
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.significance import beyond

GroupLaw = DiscreteLaplace | DiscreteGaussian

Constants = Literal["exact", "paper"]
CONSTANTS: tuple[Constants, ...] = get_args(Constants)


@dataclass(frozen=True)
class Sums:
    """Counts of the groups in records, shape (..., 2, Q), the negatives first.

    Fields:
        expected: Sums of 1 - p and of p.
    """

    expected: Float64
    difference: Float64

    @property
    def observed(self) -> Float64:
        """Counts of labels 0 and 1."""
        return self.expected + self.difference


@dataclass(frozen=True)
class Measured:
    """What was measured of the groups, apart from the numbers.

    Fields:
        form: "counts" (four sums a group) or "difference" (three).
        expected, observed: Noise as in `GroupSumsQuery`; None where there is none.
        constants: "exact" makes sums agree; "paper" leaves them as measured.
    """

    form: str
    bits: int
    expected: GroupLaw | None
    observed: GroupLaw | None
    constants: str = "exact"

    @staticmethod
    def of(query: GroupSumsQuery, *, noisy: bool, constants: str) -> Measured:
        """Describe what a group sums query measures."""
        expected, observed = (query.expected, query.observed) if noisy else (None, None)
        return Measured(query.form, query.groups.bits, expected, observed, constants)

    @property
    def rows(self) -> int:
        """Number of measurements in each group."""
        return 4 if self.form == "counts" else 3

    @property
    def difference_variance(self) -> float:
        """Variance of the noise on each group's observed minus expected count."""
        fine = 4.0**-self.bits
        if self.expected is None or self.observed is None:
            return 0.0
        if self.form == "difference":
            return self.observed.variance * fine
        return (self.expected.variance * fine + self.observed.variance) / (2 if self.constants == "exact" else 1)

    @property
    def expected_variance(self) -> float:
        """Variance of the noise on each expected count, before a public total is used."""
        if self.expected is None:
            return 0.0
        agreed = self.form == "counts" and self.constants == "exact"
        return self.expected.variance * 4.0**-self.bits * (0.75 if agreed else 1.0)

    @property
    def scales(self) -> Float64:
        """Scales of Laplace laws or standard deviations of normal ones, in units of the values, shape (rows,)."""
        laws = (self.expected, self.expected, *[self.observed] * (self.rows - 2))
        return np.array([float(law.scale if isinstance(law, DiscreteLaplace) else law.sigma) for law in laws if law])

    def consistent(self, values: Int64, total: int | None) -> Sums:
        """Make measurements of shape (..., 4 or 3, Q) agree: expected counts and differences."""
        fine = 2.0**-self.bits
        expected: Float64
        difference: Float64
        expected = np.multiply(values[..., :2, :], fine)
        groups = values.shape[-1]
        if self.form == "difference":
            change = values[..., 2, :] * fine
            difference = np.stack([-change, change], axis=-2)
        else:
            observed = values[..., 2:, :].astype(np.float64)
            if self.constants == "exact":
                excess = (expected.sum(axis=-2) - observed.sum(axis=-2))[..., None, :]
                expected = expected - excess / 4
                observed = observed + excess / 4
                change = (observed[..., 1, :] - observed[..., 0, :] + expected[..., 0, :] - expected[..., 1, :]) / 2
                difference = np.stack([-change, change], axis=-2)
            else:
                difference = observed - expected
        if total is not None and self.constants == "exact":
            lacking = total - expected.sum(axis=(-2, -1))
            expected = expected + lacking[..., None, None] / (2 * groups)
        return Sums(expected, difference)

    def noise(self, runs: int, groups: int, source: KeyedSource) -> Int64:
        """Independent draws of the noise of a whole release, shape (runs, 4 or 3, Q)."""
        if self.expected is None or self.observed is None:
            return np.zeros((runs, self.rows, groups), dtype=np.int64)
        parts = (
            law.sample(runs * rows * groups, source=source).reshape(runs, rows, groups)
            for law, rows in ((self.expected, 2), (self.observed, self.rows - 2))
        )
        return np.concatenate(list(parts), axis=1)


def statistic(difference: Float64, expected: Float64, floor: float) -> Float64:
    """Sum over groups and classes of difference^2 / max(expected, floor), shape (...)."""
    result: Float64 = np.sum(difference**2 / np.maximum(expected, floor), axis=(-2, -1))
    return result


def debiased(difference: Float64, expected: Float64, floor: float, variance: float) -> float:
    """The statistic with every squared difference lowered by the variance of its noise, at least to 0."""
    return float(np.sum(np.maximum(0.0, difference**2 - variance) / np.maximum(expected, floor)))


# --- Records within each group, by the curve of probabilities
#
# The mean probability of a group is E1 / (E0 + E1) as measured, and it can be read off the curve. There it is an
# average over the group's width w of the curve's error, which counts for nothing at both ends, so noise of standard
# deviation t moves it by about w t / 2 / (E0 + E1), and the place of records within their bins by the bins' width /
# sqrt(12) at most. Both are post-processing with independent noise, so they are averaged by their precision; the result
# is moved between the group's ends, where the true mean lies. That matters where few positives are expected, as E1
# stands in a denominator.


@dataclass(frozen=True)
class Within:
    """Probabilities within each group, by the curve; shape (Q,) each.

    Fields:
        wander: About how far noise on the curve and the bins' width move the mean, per record of the group for
            the first and as they are for the second: (product with 1 / records, constant), shape (2, Q).
    """

    low: Float64
    high: Float64
    mean: Float64
    spread: Float64
    wander: Float64

    @staticmethod
    def of(curve: Curve, thresholds: Float64) -> Within:
        """Read the smoothed curve, with records spread evenly over their bins.

        `thresholds`: Upper ends of the groups, all on the curve's grid, shape (Q,).
        """
        low = np.concatenate(([0.0], thresholds[:-1]))
        edges = np.concatenate(([curve.grid.low], curve.thresholds))
        mass = np.diff(np.concatenate(([0.0], curve.probabilities)))
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        group = np.searchsorted(thresholds, curve.thresholds, side="left")
        count = np.bincount(group, mass, len(thresholds))
        empty = count <= 0
        scale = np.where(empty, 1.0, count)
        mean = np.where(empty, (low + thresholds) / 2, np.bincount(group, mass * middle, len(thresholds)) / scale)
        square = np.bincount(group, mass * ((middle - mean[group]) ** 2 + width**2 / 12), len(thresholds)) / scale
        spread = np.where(empty, (thresholds - low) ** 2 / 12, square)
        noise = 0.0
        if curve.strategy is not None:
            noise = float(np.sqrt(curve.strategy.variance(total_known=curve.total is not None).mean()))
        bins = np.full(len(thresholds), float(width.max()) / np.sqrt(12))
        return Within(low, thresholds, mean, spread, np.stack([(thresholds - low) * noise / 2, bins]))

    def sharpened(self, sums: Sums, measured: Measured) -> Sums:
        """Expected counts with the mean that sums and curve give together; exact sums and those of the paper stay."""
        if measured.expected is None or measured.constants == "paper":
            return sums
        records = sums.expected.sum(axis=-2)
        seen = records > 0
        scale = np.where(seen, records, 1.0)
        known = np.where(seen, sums.expected[..., 1, :] / scale, self.mean)
        noise = measured.expected_variance / scale**2
        wander = np.minimum((self.wander[0] / scale) ** 2 + self.wander[1] ** 2, (self.high - self.low) ** 2 / 12)
        weight = np.where(seen, wander / (wander + noise), 0.0)
        mean = np.clip(weight * known + (1 - weight) * self.mean, self.low, self.high)
        return Sums(np.stack([records * (1 - mean), records * mean], axis=-2), sums.difference)


# --- Simulations of a calibration test with its noise, from public and fixed random numbers

TESTED, FEWEST_SIMULATIONS = 9999, 999
"""Simulations for a p-value, and fewest where there are many groups."""

_SIMULATED_VALUES = 20_000_000
_BATCH_VALUES = 1 << 20
_TEST_SEED, _CURVE_SEED = 0x686F736D6572, 0x72656C6961626C65  # public and fixed


def simulations_of(groups: int) -> int:
    """How many simulations are affordable."""
    return min(TESTED, max(FEWEST_SIMULATIONS, _SIMULATED_VALUES // (4 * groups)))


# --- The p-value: the law of the statistic under perfect calibration, with the noise
#
# If labels are independent with the predicted probabilities, a group's deviation D is a centered sum of
# independent 0-1 variables of variance V = sum p (1 - p), plus noise of a public law. V is estimated from what is
# published: the number of records of the group from the sums, the spread of p within it from the curve of
# probabilities, the mean of p from both (`Within`). Sampled deviations are binomial with this mean and
# variance.
#
# Where the difference itself was measured, its noise is independent of that of the expected counts. Given these, the
# statistic is a sum of w D^2 over independent groups, whose law is computed: each term is rounded to 1/512 of the
# observed sum, and their laws are convolved. Where four counts were measured, the noises of D and E are correlated, and
# the sums are simulated around the estimated expected counts: then the p-value (r + 1) / (R + 1) counts the r of R
# simulated statistics that are at least the published one, and with r = 0 it is no more than a bound.

_CELLS = 512
SMALLEST_P_VALUE = 1e-12
"""A smaller p-value is not told: the binomials are approximate, and that much the less the farther out."""


@dataclass(frozen=True)
class Predicted:
    """The labels under perfect calibration, group by group, as far as the published numbers determine them.

    Fields:
        expected: Expected negatives and positives of each group, at least 0, shape (2, Q).
        variance: Sum of p (1 - p), shape (Q,).
    """

    expected: Float64
    variance: Float64

    @staticmethod
    def of(sums: Sums, within: Within) -> Predicted:
        """Take records and means from the sharpened sums, the spread of the probabilities from the curve."""
        expected = np.maximum(sums.expected, 0.0)
        records = expected.sum(axis=0)
        binomial = expected[0] * expected[1] / np.where(records > 0, records, 1.0)
        return Predicted(expected, np.maximum(binomial - records * within.spread, 0.0))


def computed_p_value(observed: float, sums: Sums, within: Within, measured: Measured, *, floor: float) -> float:
    """Chance that the statistic of a right model, whose difference was measured, is at least the observed one."""
    if observed <= 0:
        return 1.0
    trials, chance, _ = _binomials(Predicted.of(sums, within))
    weights = np.sum(1 / np.maximum(sums.expected, floor), axis=0)
    exact, scale = measured.observed is None, np.zeros((1, 1, 1))
    points, masses = binomial_atoms(trials, chance, reach=10.0, atoms=640 if exact else 160)
    points -= (trials * chance)[:, None]
    if measured.observed is not None:
        scale = measured.scales[-1:, None, None] * 2.0**-measured.bits
    normal = exact or isinstance(measured.observed, DiscreteGaussian)
    edges = np.sqrt((np.arange(_CELLS) + 0.5) * observed / _CELLS)
    law, beyond_all = np.zeros(_CELLS), 0.0
    law[0] = 1.0
    for weight, places, mass in zip(weights, points, masses, strict=True):
        r, each = (edges / math.sqrt(weight))[:, None], places[None]
        far = np.abs(each) > r if exact else sum(noise_beyond(r + way * each, scale, normal) for way in (1, -1))
        after = np.asarray(far @ mass)  # chance of a term above each edge
        beyond_all += float(law @ after[::-1])
        law = np.convolve(law, -np.diff(after, prepend=1.0))[:_CELLS]
    return min(1.0, max(beyond_all, SMALLEST_P_VALUE))


def bootstrap_p_value(
    observed: float,
    sums: Sums,
    within: Within,
    measured: Measured,
    *,
    total: int | None,
    floor: float,
    simulations: int | None = None,
) -> float:
    """Share of releases of a right model whose statistic is at least the observed one; counts the release itself.

    Privacy:
        Post-processing.
    """
    groups = len(within.mean)
    if simulations is None:
        simulations = simulations_of(groups)
    right = Predicted.of(sums, within)
    source = KeyedSource.from_seed(_TEST_SEED)
    rng = np.random.Generator(np.random.PCG64(_TEST_SEED))
    batch = max(1, _BATCH_VALUES // (4 * groups))
    reached = 0
    for start in range(0, simulations, batch):
        runs = min(batch, simulations - start)
        deviation = _deviations(right, runs, rng)
        noise = measured.consistent(measured.noise(runs, groups, source), None if total is None else 0)
        difference = noise.difference + np.stack([-deviation, deviation], axis=1)
        expected = sums.expected
        if measured.form == "counts":
            again = Sums(right.expected + noise.expected, difference)
            expected = within.sharpened(again, measured).expected
        reached += int(np.sum(statistic(difference, expected, floor) >= observed * (1 - 1e-12)))
    return (reached + 1) / (simulations + 1)


def _binomials(right: Predicted) -> tuple[Int64, Float64, Any]:
    """Trials and chances of binomials of the wanted two moments, and which count negatives; each shape (Q,)."""
    expected = right.expected.min(axis=0)
    share = 1 - np.divide(right.variance, expected, out=np.zeros_like(expected), where=expected > 0)
    trials = np.maximum(np.rint(expected / np.clip(share, 2.0**-40, 1.0)), 1).astype(np.int64)
    return trials, np.clip(expected / trials, 0, 1), right.expected[1] > expected


def _deviations(right: Predicted, runs: int, rng: np.random.Generator) -> Float64:
    """Observed minus expected positives of a right model, shape (runs, Q)."""
    trials, chance, flip = _binomials(right)
    result: Float64 = rng.binomial(trials, chance, size=(runs, len(trials))) - trials * chance
    result[:, flip] *= -1
    return result


# --- Intervals of the groups' shares of positives, with the exact law of the noise and binomial sampling
#
# Let a group have N records of mean probability m and chance x of a positive label, and measure D of the positives less
# N m, E_1 of N m and E_0 of N (1 - m). For numbers c in [0, 1] and m_0
#
#     T = D + c (E_1 - m_0 (E_0 + E_1)) + (1 - c) B + (m_0 - x) (E_0 + E_1)
#       = (positives - N x) + noise,
#
# where B is the sum of p - m_0 over the records of the group by the curve, which is right up to its noise and half a
# bin's width for each record, and m_0 the middle of the group. B has little noise in narrow groups and E_1 in wide
# ones: c makes the interval short. The noise is a sum of independent variables with weights that depend on x, all of
# known laws but that of B, which adds up many and is taken as one of the same variance. The interval holds every x for
# which T is not surprising on either side, with binomial positives (unequal chances stray less: Hoeffding 1956), the
# worst places within bins, and one standard deviation of noise more records than measured. Groups shown together share
# the error probability equally. A public total is not used, so that the noise of different groups is independent.

_NONE = 1e-6  # counts below it are none
_ATOMS, _BEYOND = 128, 6.0  # atoms of a binomial, and how many standard deviations they reach
_DEVIATIONS, _CHOICES, _HALVINGS = 2.8, np.linspace(0, 1, 11), 24
_DRAWS = 200  # of the curve's noise, for its variance


@dataclass(frozen=True)
class Moments:
    """Sums of p less the middle of the group over the records of each group, shape (Q,).

    Fields:
        value: By the curve; 0 where nothing is known.
        deviation: Standard deviation of its noise.
        reach: Most that a record's p may be off.
    """

    value: Float64
    deviation: Float64
    reach: Float64

    @staticmethod
    def of(curve: Curve, within: Within) -> Moments:
        """From the raw estimate, which has no bias."""
        edges = np.concatenate(([curve.grid.low], curve.thresholds))
        group = np.searchsorted(within.high, curve.thresholds, side="left")
        middle = (within.low + within.high) / 2
        weights = np.zeros((len(group), len(middle)))
        weights[np.arange(len(group)), group] = (edges[1:] + edges[:-1]) / 2 - middle[group]
        value, squares = np.diff(curve.raw, prepend=0.0) @ weights, np.zeros(len(middle))
        if curve.strategy is not None:
            levels, rng = curve.strategy.levels, np.random.Generator(np.random.PCG64(_CURVE_SEED))
            rows = max(1, _BATCH_VALUES // sum(level.nodes for level in levels))
            for start in range(0, _DRAWS, rows):
                sizes = [(min(rows, _DRAWS - start), level.nodes) for level in levels]
                noise = tuple(
                    draw_public(level.law, size, rng, rounded=True) for level, size in zip(levels, sizes, strict=True)
                )
                errors = curve.strategy.estimate(curve.strategy.spread(noise), None if curve.total is None else 0)
                squares += np.sum((np.diff(errors, prepend=0.0, axis=-1) @ weights) ** 2, axis=0)
        width = np.full(len(middle), float(np.diff(edges).max()))
        return Moments(value, np.sqrt(squares / _DRAWS), np.minimum(width, within.high - within.low) / 2)


def share_intervals(
    values: Int64,
    within: Within,
    measured: Measured,
    moments: Moments,
    *,
    confidence_level: float,
    rows_of_one: int = 1,
    simultaneous: bool = True,
) -> tuple[Float64, Float64]:
    """Ends of the intervals for each group's chance of a positive label, each shape (Q,), from what was measured."""
    sums, k = measured.consistent(values, None), rows_of_one
    (negatives, positives), difference = sums.expected / k, sums.difference[1] / k
    tail = float(1 - check_level(confidence_level)) / (len(positives) if simultaneous else 1)
    if measured.expected is None or measured.observed is None:
        counts, others = positives + difference, negatives - difference
        low = np.where(counts > _NONE, betaincinv(np.maximum(counts, _NONE), others + 1, tail / 2), 0.0)
        return low, np.where(others > _NONE, betainccinv(counts + 1, np.maximum(others, _NONE), tail / 2), 1.0)
    scales = measured.scales[:, None] / k
    units = measured.consistent(np.eye(measured.rows, dtype=np.int64)[:, :, None], None)
    of_negatives, of_positives, of_difference = (
        each * scales for each in (units.expected[:, 0], units.expected[:, 1], units.difference[:, 1])
    )
    normal = isinstance(measured.expected, DiscreteGaussian)

    middle, of_curve = (within.low + within.high) / 2, moments.deviation / k
    reach = np.sum(np.square(of_negatives + of_positives), axis=0) * (1.0 if normal else 2.0)
    trials = np.ceil(np.maximum(negatives + positives + np.sqrt(reach), 0.0)).astype(np.int64)
    # the noise of E_1 - m_0 (E_0 + E_1), and c by the width that it makes where the probabilities are right
    tilted = (1 - middle) * of_positives - middle * of_negatives
    spread = np.sum((of_difference + _CHOICES[:, None, None] * tilted) ** 2, axis=1) * (1.0 if normal else 2.0)
    spread += ((1 - _CHOICES[:, None]) * of_curve) ** 2 + trials * middle * (1 - middle)
    bias = (1 - _CHOICES[:, None]) * trials * moments.reach
    turn = _CHOICES[np.argmin(_DEVIATIONS * np.sqrt(spread) + bias, axis=0)]
    of_curve = (1 - turn) * of_curve / (1.0 if normal else math.sqrt(2))

    def chance(x: Float64, sign: float) -> Float64:
        """That T is as far above what is measured (sign 1) or below it (-1), or farther, at chances x."""
        first, second = turn * (1 - middle) + middle - x, middle - x - turn * middle
        weights = np.vstack([of_difference + first * of_positives + second * of_negatives, of_curve])
        away = difference + first * positives + second * negatives + (1 - turn) * moments.value / k
        away = sign * away - (1 - turn) * trials * moments.reach
        points, masses = binomial_atoms(trials, x)
        far = away[:, None] - sign * (points - (trials * x)[:, None])
        return np.asarray(np.sum(masses * noise_beyond(far, weights.T[:, None, :], normal), axis=1))

    ends = []
    for sign in (1.0, -1.0):
        outside, inside = (np.zeros_like(middle), np.ones_like(middle))[:: int(sign)]
        for _ in range(_HALVINGS):
            tried = (outside + inside) / 2
            fits = chance(tried, sign) > tail / 2
            outside, inside = np.where(fits, outside, tried), np.where(fits, tried, inside)
        ends.append(outside)
    return ends[0], ends[1]


def binomial_atoms(
    trials: Int64, chances: Float64, *, reach: float = _BEYOND, atoms: int = _ATOMS
) -> tuple[Float64, Float64]:
    """Places and masses of binomial counts, shape (Q, atoms); neighbors are one atom where there are many."""
    far = reach * (np.sqrt(trials * chances * (1 - chances)) + 2)
    start = np.maximum(np.floor(trials * chances - far), 0)
    step = np.maximum(np.ceil(2 * far / atoms), 1)
    edges = start[:, None] + step[:, None] * np.arange(atoms + 1)
    below = np.where(edges > 0, bdtr(np.clip(edges - 1, 0, trials[:, None]), trials[:, None], chances[:, None]), 0.0)
    return edges[:, :-1] + (step[:, None] - 1) / 2, np.diff(below, axis=1)


def noise_beyond(t: Float64, weights: Float64, normal: bool) -> Float64:
    """P(noise > t) of a sum of independent Laplace or normal variables with these scales, along the last axis."""
    if normal:
        return np.asarray(ndtr(-t / np.sqrt(np.sum(weights**2, axis=-1))))
    return beyond(t, 0.0, np.abs(weights))
