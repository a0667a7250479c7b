"""How large the statistic is for a model that is right, by simulation that knows the noise.

If labels are independent with the predicted probabilities, a group's deviation D is a centered sum of
independent 0-1 variables of variance V = sum p (1 - p), plus noise of a public law. V is estimated from what is
published: the number of records of the group from the sums, the spread of p within it from the curve of
probabilities, the mean of p from both. Sampled deviations are binomial with this mean and variance.

Where the difference itself was measured, its noise is independent of the expected counts, so they are held
at their published values, which makes the reference exact but for V. Where four counts were measured, the
noises of D and E are correlated, and the whole release is simulated around the estimated expected counts.

The random numbers are public and fixed. The p-value (r + 1) / (R + 1) counts the r of R simulated statistics that
are at least the published one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogive.noise import KeyedSource
from ogive.statistics.calibration_sums import Measured, Sums, statistic
from ogive.statistics.curve import Curve

Float64 = NDArray[np.float64]

SIMULATIONS = 9999
_SEED = 0x686F736D6572  # public and fixed
_BATCH_VALUES = 1 << 20


@dataclass(frozen=True)
class Predicted:
    """The labels of a model that is right, group by group, as far as the published numbers tell.

    Fields:
        records: Records of each group, at least 0, shape (Q,).
        mean: Mean probability, shape (Q,).
        variance: Sum of p (1 - p), shape (Q,).
    """

    records: Float64
    mean: Float64
    variance: Float64


def predicted(sums: Sums, measured: Measured, curve: Curve, thresholds: Float64) -> Predicted:
    """Estimate what the labels of a right model would be.

    Args:
        sums: Published counts, consistent.
        measured: Their noise.
        curve: Published distribution of the probabilities.
        thresholds: Upper ends of the groups, shape (Q,).
    """
    records = np.maximum(sums.expected.sum(axis=0), 0.0)
    low = np.concatenate(([0.0], thresholds[:-1]))
    center, spread = _within(curve, low, thresholds)
    known = np.divide(sums.expected[1], records, out=center.copy(), where=records > 0)
    # two estimates of the mean: from the sums, and from the curve, whose error is below the group's width
    noise = np.divide(measured.expected_variance, records**2, out=np.full(records.shape, np.inf), where=records > 0)
    prior = np.maximum((thresholds - low) ** 2 / 12, 1e-300)
    weight = prior / (prior + noise)
    mean = np.clip(weight * known + (1 - weight) * center, low, thresholds)
    return Predicted(records, mean, records * np.maximum(mean * (1 - mean) - spread, 0.0))


def _within(curve: Curve, low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Mean and variance of the probabilities within each group, from the smoothed curve, bins being uniform."""
    edges = np.concatenate(([curve.grid.low], curve.thresholds))
    mass = np.diff(np.concatenate(([0.0], curve.probabilities)))
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    group = np.searchsorted(high, curve.thresholds, side="left")
    count = np.bincount(group, mass, len(high))
    empty = count <= 0
    scale = np.where(empty, 1.0, count)
    mean = np.where(empty, (low + high) / 2, np.bincount(group, mass * middle, len(high)) / scale)
    square = np.bincount(group, mass * ((middle - mean[group]) ** 2 + width**2 / 12), len(high)) / scale
    return mean, np.where(empty, (high - low) ** 2 / 12, square)


def bootstrap_p_value(
    observed: float,
    sums: Sums,
    right: Predicted,
    measured: Measured,
    *,
    total: int | None,
    floor: float,
    simulations: int = SIMULATIONS,
) -> float:
    """Share of releases of a right model whose statistic is at least the observed one; counts the release itself.

    Args:
        observed: Published statistic.
        sums: Published counts, consistent.
        right: What a right model's labels would be.
        measured: Noise of the release.
        total: Number of records where that is public.
        floor: Smallest expected count to divide by.
        simulations: Number of simulated releases, R.

    Privacy:
        Post-processing.
    """
    groups = len(right.mean)
    source = KeyedSource.from_seed(_SEED)
    rng = np.random.Generator(np.random.PCG64(_SEED))
    batch = max(1, _BATCH_VALUES // (4 * groups))
    reached = 0
    for start in range(0, simulations, batch):
        runs = min(batch, simulations - start)
        deviation = _deviations(right, runs, rng)
        noise = measured.consistent(measured.noise(runs, groups, source), None if total is None else 0)
        difference = noise.difference + np.stack([-deviation, deviation], axis=1)
        expected = sums.expected
        if measured.form == "counts":
            expected = np.stack([right.records * (1 - right.mean), right.records * right.mean]) + noise.expected
        reached += int(np.sum(statistic(difference, expected, floor) >= observed * (1 - 1e-12)))
    return (reached + 1) / (simulations + 1)


def _deviations(right: Predicted, runs: int, rng: np.random.Generator) -> Float64:
    """Observed minus expected positives of a right model, shape (runs, Q): binomials of the wanted two moments."""
    flip = right.mean > 0.5
    expected = right.records * np.where(flip, 1 - right.mean, right.mean)
    share = 1 - np.divide(right.variance, expected, out=np.zeros_like(expected), where=expected > 0)
    trials = np.maximum(np.rint(expected / np.clip(share, 2.0**-40, 1.0)), 1).astype(np.int64)
    chance = np.clip(expected / trials, 0, 1)
    found: Float64 = rng.binomial(trials, chance, size=(runs, len(expected))) - trials * chance
    found[:, flip] *= -1
    return found
