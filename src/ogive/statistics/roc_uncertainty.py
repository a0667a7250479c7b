"""What noise and sampling make uncertain about a ROC curve: the interval of its area and its band."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ogive.statistics.bands import simultaneous_band
from ogive.statistics.curve import Curve
from ogive.statistics.roc_band import RocBand, band_of_rates, class_ends
from ogive.statistics.roc_interval import auc_interval
from ogive.statistics.roc_noise import (
    KNOWN_SIZES,
    KNOWN_SUM,
    MOST_SIMULATIONS,
    NOTHING_KNOWN,
    SimulatedNoise,
    default_simulations,
    pull_of_total,
    share_excess,
    simulate_noise,
)

Float64 = NDArray[np.float64]


class Uncertainty:
    """Errors of the two curves of one release, simulated once for each number of simulations.

    Args:
        negatives: Curve of that class.
        positives: Curve of the other.
        total: Number of records of both where that is public and the release used it, else None.
        positive_when: "high" or "low".
    """

    def __init__(self, negatives: Curve, positives: Curve, *, total: int | None, positive_when: str) -> None:
        self._curves = (negatives, positives)
        self._strategy = negatives.strategy
        self._total = total
        self._positive_when = positive_when
        if negatives.total is not None:
            self._known = KNOWN_SIZES
        else:
            self._known = NOTHING_KNOWN if total is None else KNOWN_SUM
        self._simulated: dict[int, SimulatedNoise] = {}

    @cached_property
    def linear(self) -> Float64:
        """The best linear estimates of both curves, not smoothed, shape (2, N)."""
        raw = np.stack([curve.raw for curve in self._curves])
        if self._strategy is None or self._known != KNOWN_SUM:
            return raw
        assert self._total is not None
        return share_excess(raw, pull_of_total(self._strategy), self._total)

    @cached_property
    def released(self) -> Float64:
        """The smoothed curves, which stand in for the true ones, shape (2, N)."""
        return np.stack([curve.cumulative for curve in self._curves])

    def interval(self, released: float, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends for the area under the curve; see `roc_interval`."""
        simulations = self._simulations(tail)
        return auc_interval(
            released,
            self.linear,
            self.released,
            self._noise(simulations),
            positive_when=self._positive_when,
            tail=tail,
            target=target,
            simulations=simulations,
        )

    def band(self, tail: Fraction, target: str) -> RocBand:
        """Ends for the whole curve; see `roc_band`. Each class gets half of the tail."""
        fpr, tpr = (self._class_ends(k, tail / 2, target) for k in range(2))
        return band_of_rates(fpr, tpr, float(1 - tail), target)

    def _class_ends(self, k: int, tail: Fraction, target: str) -> tuple[Float64, Float64]:
        """Ends of the share called positive of one class, at all thresholds at once, each shape (N + 1,)."""
        curve = self._curves[k]
        simulations = self._simulations(tail)
        noise = None if self._known == KNOWN_SIZES else self._noise(simulations)
        if noise is not None:
            low, high = class_ends(self.linear[k], noise, tail, target)
        else:
            band = simultaneous_band(
                curve.grid,
                curve.raw,
                strategy=self._strategy,
                total=curve.total,
                confidence_level=float(1 - tail),
                target=target,
                simulations=None if self._strategy is None else simulations,
            )
            low, high = band.low, band.high
        low, high = np.concatenate(([0.0], low)), np.concatenate(([0.0], high))
        return (low, high) if self._positive_when == "low" else (1 - high[::-1], 1 - low[::-1])

    def _simulations(self, tail: Fraction) -> int:
        usual = MOST_SIMULATIONS if self._strategy is None else default_simulations(self._strategy)
        return max(usual, math.ceil(4 / tail))  # a quantile of half of the tail is the smallest that is asked for

    def _noise(self, simulations: int) -> SimulatedNoise | None:
        if self._strategy is None:
            return None
        if simulations not in self._simulated:
            self._simulated[simulations] = simulate_noise(
                self._strategy,
                self.released,
                known=self._known,
                positive_when=self._positive_when,
                simulations=simulations,
            )
        return self._simulated[simulations]
