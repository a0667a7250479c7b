"""From noisy group sums to expected and observed counts that agree, and to the statistic; all linear but the last.

Expected and observed counts of a group add up to the same number of records. Where four sums were measured
with equal noise, r = (E0 + E1) - (O0 + O1) is noise only, and the best linear correction takes r / 4 from each
E and gives it to each O; then D1 = O1 - E1 = -D0 with half the variance. Where the number n of all records is
public, (n - sum of all groups) / (2 Q) is added to every expected and observed count, again the best linear
correction; it leaves D as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.queries import GroupSumsQuery
from ogive.statistics.curve.estimate import Curve

GroupLaw = DiscreteLaplace | DiscreteGaussian

Constants = Literal["exact", "paper"]
CONSTANTS: tuple[Constants, ...] = get_args(Constants)


@dataclass(frozen=True)
class Sums:
    """Counts of the groups in records, shape (..., 2, Q), the negatives first.

    Fields:
        expected: Sums of 1 - p and of p.
        difference: Observed minus expected counts of both classes.
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
        bits: Fractional bits of what is not a count.
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
        low, high: Ends of the group.
        mean: Mean probability.
        spread: Variance of the probabilities.
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

        Args:
            curve: Published distribution of the probabilities.
            thresholds: Upper ends of the groups, all on the curve's grid, shape (Q,).
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
        """Expected counts with the mean that the sums and the curve give together; differences stay.

        Sums without noise and those of the paper stay as they are.

        Args:
            sums: Counts of shape (..., 2, Q).
            measured: Their noise.
        """
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
