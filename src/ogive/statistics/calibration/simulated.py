"""What is simulated of a calibration test with its noise: the p-value, and intervals that hold for all groups at once.

The random numbers are public and fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import betainccinv, betaincinv

from ogive.core.arrays import Float64
from ogive.noise import KeyedSource
from ogive.statistics.calibration.sums import Measured, Sums, Within, statistic
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.bands import upper_quantile

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
