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
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from scipy.special import betainccinv, betaincinv

from ogive.core.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.queries import GroupSumsQuery
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.bands import upper_quantile
from ogive.statistics.curve.estimate import Curve

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

TESTED, BOUNDED, FEWEST_SIMULATIONS = 9999, 9999, 999
"""Simulations for a p-value and for intervals, and fewest of either where there are many groups."""

_SIMULATED_VALUES = 20_000_000
_BATCH_VALUES = 1 << 20
_TEST_SEED, _INTERVAL_SEED = 0x686F736D6572, 0x72656C6961626C65  # public and fixed
_SLACK = 1e-6  # room for rounding before whole numbers are taken


def _affordable(most: int, groups: int) -> int:
    return min(most, max(FEWEST_SIMULATIONS, _SIMULATED_VALUES // (4 * groups)))


# --- The p-value: the statistic under perfect calibration, by simulation that includes the noise
#
# If labels are independent with the predicted probabilities, a group's deviation D is a centered sum of
# independent 0-1 variables of variance V = sum p (1 - p), plus noise of a public law. V is estimated from what is
# published: the number of records of the group from the sums, the spread of p within it from the curve of
# probabilities, the mean of p from both (`Within`). Sampled deviations are binomial with this mean and
# variance.
#
# Where the difference itself was measured, its noise is independent of that of the expected counts, so these are
# held at their published values, and the reference is exact but for the shape and variance of the sums of labels. Where
# four counts were measured, the noises of D and E are correlated, and the sums are simulated around the estimated
# expected counts.
#
# The p-value (r + 1) / (R + 1) counts the r of R simulated statistics that are at least the published one.


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
        simulations = _affordable(TESTED, groups)
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


def _deviations(right: Predicted, runs: int, rng: np.random.Generator) -> Float64:
    """Observed minus expected positives of a right model, shape (runs, Q): binomials of the wanted two moments."""
    expected = right.expected.min(axis=0)
    flip = right.expected[1] > expected
    share = 1 - np.divide(right.variance, expected, out=np.zeros_like(expected), where=expected > 0)
    trials = np.maximum(np.rint(expected / np.clip(share, 2.0**-40, 1.0)), 1).astype(np.int64)
    chance = np.clip(expected / trials, 0, 1)
    result: Float64 = rng.binomial(trials, chance, size=(runs, len(expected))) - trials * chance
    result[:, flip] *= -1
    return result


# --- Shares of positives that hold for all groups at once, counting noise and sampling
#
# Half of the error probability goes to the noise. With t a simulated quantile of the largest noise of any group on
# observed counts, on their differences from the expected ones and on numbers of records, each in units of its
# average, all true counts lie within t such sizes of the published ones. A true number of positives is
# then in the intersection of two ranges: around the published number, and around difference plus
# records times a probability between the group's ends.
#
# The other half goes to sampling, group by group: Clopper and Pearson's interval for a positives and b negatives,
# which grows with a and falls with b, at the least favorable whole numbers that the noise leaves. Records with
# unequal probabilities stray less than binomial counts do (Hoeffding 1956), so the level holds for them as well.


def share_intervals(
    sums: Sums,
    within: Within,
    measured: Measured,
    *,
    total: int | None,
    confidence_level: float,
    rows_of_one: int = 1,
) -> tuple[Float64, Float64]:
    """Ends of the intervals for each group's chance of a positive label, each shape (Q,)."""
    groups = sums.expected.shape[-1]
    tail = 1 - check_level(confidence_level)
    margins = Margins(0.0, 0.0, 0.0)
    if measured.expected is not None:
        tail = tail / 2
        margins = noise_margins(measured, groups, total_known=total is not None, tail=tail)
    records = sums.expected.sum(axis=0)
    fewest, most = np.maximum(records - margins.records, 0), np.maximum(records + margins.records, 0)
    ends = ((1 - within.high, 1 - within.low), (within.low, within.high))
    ranges = []
    for observed, difference, (low, high) in zip(sums.observed, sums.difference, ends, strict=True):
        few = np.maximum(observed - margins.observed, fewest * low + difference - margins.difference)
        many = np.minimum(observed + margins.observed, most * high + difference + margins.difference)
        ranges.append((np.maximum(np.ceil(few - _SLACK), 0), np.maximum(np.floor(many + _SLACK), 0)))
    (few_negative, many_negative), (few, many) = ranges
    each = float(tail) / (2 * groups)
    k = rows_of_one
    start = np.where(few > 0, betaincinv(np.maximum(few, 1) / k, many_negative / k + 1, each), 0.0)
    end = np.where(few_negative > 0, betainccinv(many / k + 1, np.maximum(few_negative, 1) / k, each), 1.0)
    return start, end


@dataclass(frozen=True)
class Margins:
    """Bounds that the noise of every group stays within, all at once, in records.

    Fields:
        observed, difference, records: On observed counts, their differences from the expected ones, and their sum.
    """

    observed: float
    difference: float
    records: float


def noise_margins(measured: Measured, groups: int, *, total_known: bool, tail: Fraction) -> Margins:
    """Simulate the bounds that hold except with probability `tail`."""
    simulations = max(_affordable(BOUNDED, groups), math.ceil(2 / tail))
    source = KeyedSource.from_seed(_INTERVAL_SEED)
    batch = max(1, _BATCH_VALUES // (4 * groups))
    largest = np.empty((3, simulations))
    for start in range(0, simulations, batch):
        runs = min(batch, simulations - start)
        noise = measured.consistent(measured.noise(runs, groups, source), 0 if total_known else None)
        here = slice(start, start + runs)
        largest[0, here] = np.abs(noise.observed).max(axis=(-2, -1))
        largest[1, here] = np.abs(noise.difference).max(axis=(-2, -1))
        largest[2, here] = np.abs(noise.expected.sum(axis=-2)).max(axis=-1)
    scales = np.maximum(largest.mean(axis=1), 1e-300)
    reach = upper_quantile((largest / scales[:, None]).max(axis=0), tail)
    observed, difference, records = (reach * scales).tolist()
    return Margins(observed, difference, records)
