"""What the curve of probabilities says about the records within each group, and how it sharpens the expected counts.

The mean probability of a group is E1 / (E0 + E1) as measured, and it can be read off the curve. There it is an
average over the group's width w of the curve's error, which counts for nothing at both ends, so noise of standard
deviation t moves it by about w t / 2 / (E0 + E1), and the place of records within their bins by the bins' width /
sqrt(12) at most. Both are post-processing of what was paid for, with
independent noise, so they are averaged by their precision; the result is kept between the group's ends, where
the true mean lies. That matters where few positives are expected, as E1 stands in a denominator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.statistics.calibration.sums import Measured, Sums
from ogive.statistics.curve.estimate import Curve


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
