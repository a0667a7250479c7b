"""What noise and sampling make uncertain about a ROC curve: the interval of its area and its band."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from ogive.arrays import Float64
from ogive.statistics.confidence import Target, simulations_needed
from ogive.statistics.curve.bands.band import clustered_ends
from ogive.statistics.curve.bands.simultaneous import band_ends, simulate_maxima, upper_quantile
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.roc.band import RocBand, band_of_rates, class_ends
from ogive.statistics.roc.interval import auc_interval
from ogive.statistics.roc.noise import (
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
from ogive.statistics.roc.null import RankTest, rank_test
from ogive.statistics.roc.readings import Ends, Prevalence, prevalence_of
from ogive.statistics.significance.result import Alternative

_ROUNDING = 2.0**-40
_DEVIATIONS = 3
_USUAL_TAIL = Fraction(1, 20)


class Uncertainty:
    """Errors of the two curves of one release, simulated once for each number of simulations.

    Args:
        negatives: Curve of that class.
        positives: Curve of the other.
        total: Number of records of both where that is public and the release used it, else None.
        positive_when: "high" or "low".
        rows_of_one: Most records of one person, which may all be alike.
    """

    def __init__(
        self, negatives: Curve, positives: Curve, *, total: int | None, positive_when: str, rows_of_one: int
    ) -> None:
        self._curves = (negatives, positives)
        self._rows = rows_of_one
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

    @property
    def classes_seen(self) -> bool:
        """Whether noise alone is unlikely to have made either class: its size is above 3 standard deviations.

        Exact sizes need only be above 0.
        """
        if min(curve.records for curve in self._curves) <= 0:
            return False
        if self._strategy is None or self._known == KNOWN_SIZES:
            return True
        variance = float(self._strategy.variance(total_known=False)[-1])
        if self._known == KNOWN_SUM:
            variance /= 2  # a known sum takes half of it out of each size
        return float(self.linear[:, -1].min()) > _DEVIATIONS * math.sqrt(variance)

    def interval(self, released: float, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends for the area under the curve; see `roc_interval`."""
        simulations = self._simulations(tail, Fraction(1, 2))
        return auc_interval(
            released,
            self.linear,
            self.released,
            self._noise(simulations),
            positive_when=self._positive_when,
            tail=tail,
            target=target,
            simulations=simulations,
            rows_of_one=self._rows,
        )

    def band(self, tail: Fraction, target: str) -> RocBand:
        """Ends for the whole curve; see `roc_band`. Each class gets half of the tail."""
        simulations = self._simulations(tail, Fraction(1, 4))
        fpr, tpr = (self._class_ends(k, tail / 2, target, simulations) for k in range(2))
        return band_of_rates(fpr, tpr, float(1 - tail), target)

    def test(self, alternative: Alternative) -> RankTest:
        """Whether both classes have one distribution of scores; see `roc.null`. It shares the interval's simulation."""
        return rank_test(
            self.linear,
            self._noise(self._simulations(_USUAL_TAIL, Fraction(1, 2))),
            known=self._known,
            total=self._total,
            positive_when=self._positive_when,
            alternative=alternative,
        )

    def readings(self, tail: Fraction, target: Target) -> tuple[Ends, Ends, Prevalence]:
        """Ends for both rates at all thresholds and for the prevalence, each with a third of the tail."""
        simulations = self._simulations(tail, Fraction(1, 12))
        fpr, tpr = (_rising(*self._class_ends(k, tail / 3, target, simulations)) for k in range(2))
        return fpr, tpr, self._prevalence(tail / 3, target, simulations)

    def _prevalence(self, tail: Fraction, target: Target, simulations: int) -> Prevalence:
        sampling = None if target == "sample" else tail
        negatives, positives = (float(size) for size in self.linear[:, -1])
        noise = None if self._known == KNOWN_SIZES else self._noise(simulations)
        if noise is None:
            return prevalence_of((positives, positives), (negatives, negatives), sampling, self._rows)
        if sampling is not None:
            sampling = tail = tail / 2
        # of a known sum one error is that of both sizes, else each has its own
        reach = upper_quantile(np.abs(noise.last), tail if self._known == KNOWN_SUM else tail / 2)
        most = math.inf if self._total is None else float(self._total)
        fewest_and_most = tuple(
            (float(max(0, math.ceil(size - reach))), float(min(most, max(0, math.floor(size + reach)))))
            for size in (positives, negatives)
        )
        return prevalence_of(fewest_and_most[0], fewest_and_most[1], sampling, self._rows)

    def _class_ends(self, k: int, tail: Fraction, target: str, simulations: int) -> tuple[Float64, Float64]:
        """Ends of the share called positive of one class, at all thresholds at once, each shape (N + 1,)."""
        curve = self._curves[k]
        noise = None if self._known == KNOWN_SIZES else self._noise(simulations)
        clustered = target == "population" and self._rows > 1
        if clustered:  # half of the tail for noise, half for sampling
            target, tail = "sample", tail / 2
        if noise is not None:
            low, high = class_ends(self.linear[k], noise, tail, target)
        else:
            maxima = None
            if self._strategy is not None:
                maxima = simulate_maxima(self._strategy, total_known=True, simulations=simulations)
            low, high = band_ends(curve.raw, maxima, tail, target, curve.total)
        if clustered:
            low, high = clustered_ends(low, high, float(self.linear[k, -1]) / self._rows, tail)
        low, high = _outwards(low, -1), _outwards(high, 1)
        return (low, high) if self._positive_when == "low" else (1 - high[::-1], 1 - low[::-1])

    def _simulations(self, tail: Fraction, share: Fraction) -> int:
        """Number of simulations that a quantile at this share of the tail needs."""
        strategy = self._strategy
        usual = MOST_SIMULATIONS if strategy is None else default_simulations(strategy)
        nodes = 1 if strategy is None else 2 * sum(level.nodes for level in strategy.levels)
        return simulations_needed(1 - tail, share=share, nodes=nodes, usual=usual)

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


def _rising(low: Float64, high: Float64) -> Ends:
    """Ends that do not decrease, as what lies between them does not."""
    return Ends(np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1])


def _outwards(ends: Float64, side: int) -> Float64:
    """Ends with the 0 before the first threshold, moved out by more than rounding can have moved them in.

    Shares of records are compared with these ends: one that is too far in by a rounding error alone would take
    a threshold for stricter than it is.
    """
    moved = np.concatenate(([0.0], ends))
    moved[1:-1] = np.clip(moved[1:-1] + side * _ROUNDING, 0.0, 1.0)
    return moved
