"""Distribution of the statistic under perfect calibration, by simulation that includes the noise.

If labels are independent with the predicted probabilities, a group's deviation D is a centered sum of
independent 0-1 variables of variance V = sum p (1 - p), plus noise of a public law. V is estimated from what is
published: the number of records of the group from the sums, the spread of p within it from the curve of
probabilities, the mean of p from both (`Within`). Sampled deviations are binomial with this mean and
variance.

Where the difference itself was measured, its noise is independent of that of the expected counts, so these are
held at their published values, and the reference is exact but for the shape and variance of the sums of labels. Where
four counts were measured, the noises of D and E are correlated, and the sums are simulated around the estimated
expected counts.

The random numbers are public and fixed. The p-value (r + 1) / (R + 1) counts the r of R simulated statistics that
are at least the published one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Float64
from ogive.noise import KeyedSource
from ogive.statistics.calibration.sums import Measured, Sums, Within, statistic

SIMULATIONS, FEWEST_SIMULATIONS = 9999, 999
_SIMULATED_VALUES = 20_000_000  # fewer simulations where there are so many groups
_SEED = 0x686F736D6572  # public and fixed
_BATCH_VALUES = 1 << 20


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
        simulations = min(SIMULATIONS, max(FEWEST_SIMULATIONS, _SIMULATED_VALUES // (4 * groups)))
    right = Predicted.of(sums, within)
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
    found: Float64 = rng.binomial(trials, chance, size=(runs, len(expected))) - trials * chance
    found[:, flip] *= -1
    return found
