"""A simultaneous band for the whole ROC curve, from simultaneous bands for the two class curves.

Each class gets half of the error probability. With confidence, the shares called positive at every
threshold j are then within [x_j-, x_j+] for the negatives and [y_j-, y_j+] for the positives. Nothing but
monotonicity carries over to the curve: whatever the curve does between thresholds,

    R(u) >= y_j-  for every j with x_j+ <= u,        R(u) <= y_j+  for every j with x_j- > u,

where R(u) is the largest share of true positives at a share of false positives of at most u.

A class whose size is private has F_i = C_i / C_N, and its linear estimates R obey R_i - F_i R_N = e_i - F_i e_N, at
most max(e_i, e_i - e_N) above 0. For the population the sampling error of the class is added, so each side of
the band gets half of its error probability, and as width the quantile of the sum of two independent one-sided maxima

    max over i of max(e_i, e_i - e_N) / R_N  +  max over t of F(t) - F0(t)   for as few records as noise allows.

The
bands of the classes count noise, sampling (for the population) and the noise in the class sizes. Union bounds
and worst cases at every threshold make the band conservative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Float64
from ogive.axis import to_shares
from ogive.statistics.curve.bands.simultaneous import one_sided_distances, private_total_ends, tidy, upper_quantile
from ogive.statistics.roc.noise import SimulatedNoise


def class_ends(raw: Float64, noise: SimulatedNoise, tail: Fraction, target: str) -> tuple[Float64, Float64]:
    """Ends for the distribution function of one class of private size, at all thresholds at once, shape (N,) each.

    Args:
        raw: Linear estimates of the cumulative counts, shape (N,).
        noise: Simulated for them.
        tail: Error probability; for the population, one over the number of simulations more.
        target: "population" or "sample".
    """
    low, high = private_total_ends(raw, noise.maxima, tail, "sample")
    records = float(raw[-1])
    if target == "population" and records > upper_quantile(noise.maxima.ratio, tail):
        fewest = max(1, math.floor(records - float(np.abs(noise.last).max())))
        sums = noise.ratio_above / records + one_sided_distances(fewest, len(noise.ratio_above))
        low, high = tidy(raw / records, upper_quantile(sums, tail / 2))
    low[-1] = high[-1] = 1.0
    return low, high


@dataclass(frozen=True, eq=False)
class RocBand:
    """Two step functions that enclose the whole ROC curve with the stated confidence.

    Fields:
        fpr: False positive rates at which an end may step, increasing from 0 to 1, shape (M,).
        low, high: Ends from each fpr up to the next, shape (M,).
        confidence_level: Lower limit of the probability that the band contains the whole curve.
        target: "population" or "sample".
    """

    fpr: Float64
    low: Float64
    high: Float64
    confidence_level: float
    target: str

    def __post_init__(self) -> None:
        for values in (self.fpr, self.low, self.high):
            values.flags.writeable = False

    def __call__(self, fpr: Any) -> tuple[Any, Any]:
        """Ends at any shares of false positives in [0, 1], each of the shape of fpr.

        Raises:
            ParameterError: a share is outside [0, 1].
        """
        wanted = to_shares(fpr, "fpr")
        at = np.searchsorted(self.fpr, wanted, side="right") - 1
        return self.low[at], self.high[at]

    @property
    def mean_width(self) -> float:
        """Area between the two ends."""
        return float(np.sum(np.diff(self.fpr) * (self.high - self.low)[:-1]))

    def __str__(self) -> str:
        """One line: what is held between the ends, and how far they are apart."""
        return (
            f"{self.confidence_level:.6g} band for the {self.target} ROC curve, {self.mean_width:.2g} wide on average"
        )


def band_of_rates(
    fpr: tuple[Float64, Float64], tpr: tuple[Float64, Float64], confidence_level: float, target: str
) -> RocBand:
    """The band that follows from ends of both rates at every threshold, each pair low and high, shape (N + 1,)."""
    steps = np.union1d(np.concatenate(fpr), (0.0, 1.0))
    # ends may wiggle: the best lower end so far, and the best upper end from here on
    order = np.argsort(fpr[1], kind="stable")
    reached = np.concatenate(([0.0], np.maximum.accumulate(tpr[0][order])))
    low = reached[np.searchsorted(fpr[1][order], steps, side="right")]
    order = np.argsort(fpr[0], kind="stable")
    capped = np.concatenate((np.minimum.accumulate(tpr[1][order][::-1])[::-1], [1.0]))
    high = capped[np.searchsorted(fpr[0][order], steps, side="right")]
    crossed = low > high  # the ends of the classes contradict each other: nothing is claimed there
    low[crossed], high[crossed] = 0.0, 1.0
    return RocBand(steps, low, high, confidence_level, target)


def whole_square(confidence_level: float, target: str) -> RocBand:
    """The trivial band, which holds every curve."""
    return RocBand(np.array([0.0, 1.0]), np.zeros(2), np.ones(2), confidence_level, target)
