"""What noise and sampling make uncertain about a ROC curve: the interval of its area and its band."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ogive.columns.axis import to_shares
from ogive.core.arrays import Float64, Int64
from ogive.statistics.confidence import Target, simulations_needed
from ogive.statistics.curve.approximating import clustered_ends
from ogive.statistics.curve.bands import band_ends, simulate_maxima, upper_quantile
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.roc import area
from ogive.statistics.roc.area import RankTest, SimulatedNoise
from ogive.statistics.significance import Alternative

# --- The band of a ROC curve
#
# Each class gets half of the error probability. With confidence, the shares called positive at every
# threshold j are then within [x_j-, x_j+] for the negatives and [y_j-, y_j+] for the positives. Nothing but
# monotonicity carries over to the curve: whatever the curve does between thresholds,
#
#     R(u) >= y_j-  for every j with x_j+ <= u,        R(u) <= y_j+  for every j with x_j- > u,
#
# where R(u) is the largest share of true positives at a share of false positives of at most u.
#
# The ends of a class are those of its curve (`curve.bands`), of a size that is public or private.
#
# The bands of the classes count noise, sampling (for the population) and the noise in the class sizes. Union bounds
# and worst cases at every threshold make the band conservative.


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


# --- Bands for precision and recall, and for gain and lift
#
# At threshold j a share x of the negatives and y of the positives is called positive, and a share p of the records is
# positive. With confidence 1 - a, x and y lie within the ends of their classes at all thresholds at once, and p within
# an interval: each of the three gets a third of a. What is read off them is monotone in each,
#
#     precision  p y / (p y + (1 - p) x)       rises with y and p, falls with x
#     flagged    p y + (1 - p) x               rises with x and y, straight in p
#     lift       1 / (p + (1 - p) x / y)       falls with x / y, monotone in p
#
# so that its ends are values at ends, and all of them hold at all thresholds at once with confidence 1 - a.
#
# The prevalence among the records follows from the noisy sizes of the classes, each within a quantile of its noise. For
# the population, records are a random sample of it, and the interval is that of Clopper and Pearson at the ends of the
# sizes, with half of the error probability for noise and half for sampling: their lower end rises with the number of
# positives and falls with that of negatives, so it is smallest at the smallest of the one and the largest of the other.


class Ends(NamedTuple):
    """A lower and an upper end, at every threshold."""

    low: Float64
    high: Float64


class Prevalence(NamedTuple):
    """Ends for the share of positives."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PrecisionRecallBand:
    """Ends for precision and recall, which hold at all thresholds at once.

    Fields:
        thresholds: As of the ROC curve, shape (N + 1,).
        recall: Ends of the share of the positives that are called positive, shape (N + 1,) each, not decreasing.
        precision: Ends of the share of positives among those called positive, shape (N + 1,) each; the upper one is 1
            where perhaps none is.
        prevalence: Ends of the share of positives among all.
        target: "population" or "sample".
    """

    thresholds: Float64
    recall: Ends
    precision: Ends
    prevalence: Prevalence
    confidence_level: float
    target: Target

    def outline(self, points: int = 400) -> tuple[Float64, Float64, Float64]:
        """What to shade: recalls, and the least and the most precision of thresholds that may have each."""
        return _outline(self.recall, self.precision, points)


@dataclass(frozen=True, eq=False)
class LiftBand:
    """Ends for gain and lift, which hold at all thresholds at once.

    Fields:
        thresholds: As of the ROC curve, shape (N + 1,).
        flagged: Ends of the share of all records that are called positive, shape (N + 1,) each, not decreasing.
        captured: Ends of the share of the positives among them, shape (N + 1,) each, not decreasing.
        lift: Ends of captured over flagged, shape (N + 1,) each; the upper one may be infinite.
        prevalence: Ends of the share of positives among all.
        target: "population" or "sample".
    """

    thresholds: Float64
    flagged: Ends
    captured: Ends
    lift: Ends
    prevalence: Prevalence
    confidence_level: float
    target: Target

    def outline(self, points: int = 400) -> tuple[Float64, Float64, Float64]:
        """What to shade: shares flagged, and the least and the most lift of thresholds that may flag each."""
        return _outline(self.flagged, self.lift, points)


def precision_ends(fpr: Ends, tpr: Ends, prevalence: Prevalence) -> Ends:
    """Ends of the precision at every threshold; 0 and 1 where perhaps nothing is called positive."""

    def at(y: Float64, x: Float64, p: float, nothing: float) -> Float64:
        called = p * y + (1 - p) * x
        return np.divide(p * y, called, out=np.full_like(called, nothing), where=called > 0)

    low = at(tpr.low, fpr.high, prevalence.low, 0.0)
    high = at(tpr.high, fpr.low, prevalence.high, 1.0)
    # where none may be called positive, precision is 1 by convention
    return Ends(low, np.where((fpr.low <= 0) & (tpr.low <= 0), 1.0, high))


def flagged_ends(fpr: Ends, tpr: Ends, prevalence: Prevalence) -> Ends:
    """Ends of the share of all records that are called positive."""

    def at(x: Float64, y: Float64, p: float) -> Float64:
        return p * y + (1 - p) * x

    low = np.minimum(*(at(fpr.low, tpr.low, p) for p in prevalence))
    high = np.maximum(*(at(fpr.high, tpr.high, p) for p in prevalence))
    return Ends(low, high)


def lift_ends(fpr: Ends, tpr: Ends, prevalence: Prevalence) -> Ends:
    """Ends of the lift; where perhaps none is called positive its limit is 1 over the prevalence."""

    def at(ratio: Float64, p: float) -> Float64:
        # 0 times an infinite ratio is 0: all records are positive then
        below = p + np.where(np.isinf(ratio), math.inf if p < 1 else 0.0, (1 - p) * np.where(np.isinf(ratio), 0, ratio))
        return np.divide(1.0, below, out=np.full_like(below, math.inf), where=below > 0)

    least = np.divide(fpr.low, tpr.high, out=np.where(fpr.low > 0, math.inf, 0.0), where=tpr.high > 0)
    most = np.divide(fpr.high, tpr.low, out=np.full_like(fpr.high, math.inf), where=tpr.low > 0)
    low = np.minimum(*(at(most, p) for p in prevalence))
    high = np.maximum(*(at(least, p) for p in prevalence))
    return Ends(low, high)


def prevalence_of(
    positives: tuple[float, float], negatives: tuple[float, float], tail: Fraction | None, rows_of_one: int = 1
) -> Prevalence:
    """Ends of the share of positives."""
    fewest, most = positives
    others_fewest, others_most = negatives
    if tail is None:
        low = fewest / (fewest + others_most) if fewest > 0 else 0.0
        high = most / (most + others_fewest) if others_fewest > 0 else 1.0
        return Prevalence(low, high)
    from scipy.special import betaincinv  # slow to import

    half = float(tail / 2)
    fewest, most, others_fewest, others_most = (
        size / rows_of_one for size in (fewest, most, others_fewest, others_most)
    )
    low = float(betaincinv(fewest, others_most + 1, half)) if fewest > 0 else 0.0
    high = float(betaincinv(most + 1, others_fewest, 1 - half)) if others_fewest > 0 else 1.0
    return Prevalence(low, high)


def _outline(across: Ends, up: Ends, points: int) -> tuple[Float64, Float64, Float64]:
    """Over places from 0 to 1, the least and the most of what thresholds there may have."""
    places = np.linspace(0.0, 1.0, points)
    # thresholds whose ends hold a place are neighbors, since ends do not decrease
    first = np.minimum(np.searchsorted(across.high, places, side="left"), len(across.high) - 1)
    last = np.maximum(np.searchsorted(across.low, places, side="right"), first + 1)
    return places, _reduced(np.minimum, up.low, first, last), _reduced(np.maximum, up.high, first, last)


def _reduced(function: np.ufunc, values: Float64, first: Int64, last: Int64) -> Float64:
    padded = np.append(values, values[-1])
    result: Float64 = function.reduceat(padded, np.stack([first, last], axis=1).ravel())[::2]
    return result


# --- One rate at a value of the other, pointwise
#
# Let x and y be the rates of two classes at every threshold, joined by straight lines, and R the y where x is u. With
# any fixed slope b, the errors of y_c - b (x_c - u) at the point c where x_c is u are those of R, with a variance s_c^2
# of noise and sampling of both classes. Which point is that one is not known. Those whose released x is near u hold it
# with error probability a / 4, as the released curve errs no more than that without bias, and
#
#     min over these c of  y_c - b (x_c - u) - z s_c,      max over these c of  y_c - b (x_c - u) + z s_c
#
# hold R with 1 - a / 4 - 2 Phi(-z), whatever b is. With the slope of the released curve as b, or less where that is
# narrower, these numbers are nearly alike, so that the interval is not much wider than that of a single one. Errors are
# taken as normal. Between thresholds errors are averages of those at both, so their deviations are at most the larger.
#
# Source: Berger and Boos 1994 for the first step; docs/proofs/roc.md.

_NEAR = Fraction(1, 4)
"""Part of the error probability for which thresholds hold the rate that is asked for."""


class Rates(NamedTuple):
    """Share of a class that is called positive at every threshold, shape (N + 1,) each.

    Fields:
        raw: Estimate without bias.
        deviation: Standard deviation of its noise and, for the population, of sampling.
        released: The smoothed one.
    """

    raw: Float64
    deviation: Float64
    released: Float64


def pointwise_ends(x: Rates, y: Rates, u: float, tail: Fraction) -> tuple[float, float]:
    """Ends of the rate `y` where `x` is `u`."""
    z_near, z = (-NormalDist().inv_cdf(float(part * tail / 2)) for part in (_NEAR, 1 - _NEAR))
    near = z_near * x.deviation
    first, last = np.flatnonzero(x.released + near >= u), np.flatnonzero(x.released - near <= u)
    here = slice(max(0, int(first[0]) - 1), int(last[-1]) + 2)
    around = np.clip(u + np.array([-1, 1]) * (2 * np.interp(u, x.released, x.deviation) + 1 / len(near)), 0, 1)
    steepest = float(np.diff(np.interp(around, x.released, y.released))[0] / np.diff(around)[0])
    best = (0.0, 1.0)
    for slope in (steepest, steepest / 2, 0.0):
        reach = z * np.hypot(y.deviation, slope * x.deviation)
        reach = np.maximum(reach, np.maximum(np.append(reach[1:], 0), np.append(0, reach[:-1])))
        middle = y.raw - slope * (x.raw - u)
        ends = max(0.0, float(np.min((middle - reach)[here]))), min(1.0, float(np.max((middle + reach)[here])))
        best = min(best, ends, key=lambda each: each[1] - each[0])
    return best


# --- All of it for one estimate

_ROUNDING = 2.0**-40
_DEVIATIONS = 3
_USUAL_TAIL = Fraction(1, 20)


class Uncertainty:
    """Errors of the two curves of one release, simulated once for each number of simulations."""

    def __init__(
        self, negatives: Curve, positives: Curve, *, total: int | None, positive_when: str, rows_of_one: int
    ) -> None:
        self._curves = (negatives, positives)
        self._rows = rows_of_one
        self._strategy = negatives.strategy
        self._total = total
        self._positive_when = positive_when
        if negatives.total is not None:
            self._known = area.KNOWN_SIZES
        else:
            self._known = area.NOTHING_KNOWN if total is None else area.KNOWN_SUM
        self._simulated: dict[int, SimulatedNoise] = {}

    @cached_property
    def linear(self) -> Float64:
        """The best linear estimates of both curves, not smoothed, shape (2, N)."""
        raw = np.stack([curve.raw for curve in self._curves])
        if self._strategy is None or self._known != area.KNOWN_SUM:
            return raw
        assert self._total is not None
        return area.share_excess(raw, area.pull_of_total(self._strategy), self._total)

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
        if self._strategy is None or self._known == area.KNOWN_SIZES:
            return True
        variance = float(self._strategy.variance(total_known=False)[-1])
        if self._known == area.KNOWN_SUM:
            variance /= 2  # a known sum takes half of it out of each size
        return float(self.linear[:, -1].min()) > _DEVIATIONS * math.sqrt(variance)

    def interval(self, released: float, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends for the area under the curve."""
        simulations = self._simulations(tail, Fraction(1, 2))
        return area.auc_interval(
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
        """Ends for the whole curve. Each class gets half of the tail."""
        simulations = self._simulations(tail, Fraction(1, 4))
        fpr, tpr = (self._class_ends(k, tail / 2, target, simulations) for k in range(2))
        return band_of_rates(fpr, tpr, float(1 - tail), target)

    def rate_ends(self, k: int, u: float, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends of the rate of the other class where that of class `k` is `u`, for this one number."""
        return pointwise_ends(self._rates(k, target), self._rates(1 - k, target), u, tail)

    def _rates(self, k: int, target: str) -> Rates:
        size, released = float(self.released[k, -1]), self.released[k] / self.released[k, -1]
        variance = np.zeros(len(released))
        if self._strategy is not None and self._known == area.KNOWN_SIZES:
            variance = self._strategy.variance(total_known=True) / size**2
        elif self._strategy is not None:
            # of e_i - F_i e_N, where a known sum takes half of the error of the total away
            alone, pull = self._strategy.variance(total_known=False), area.pull_of_total(self._strategy)
            last = float(alone[-1]) / (2 if self._known == area.KNOWN_SUM else 1)
            alone = alone - pull**2 * (float(alone[-1]) - last)
            variance = np.maximum(alone + (released**2 - 2 * released * pull) * last, 0.0) / size**2
        if target == "population":
            likely = (released * size + 2) / (size + 4)
            variance = variance + self._rows * likely * (1 - likely) / size
        shares = (self.linear[k] / self.linear[k, -1], np.sqrt(variance), released)
        raw, deviation, smooth = (np.append(0.0, each) for each in shares)
        deviation[0] = deviation[-1] = 0.0
        if self._positive_when == "low":
            return Rates(raw, deviation, smooth)
        return Rates(1 - raw[::-1], deviation[::-1], 1 - smooth[::-1])

    def test(self, alternative: Alternative) -> RankTest:
        """Whether both classes have one distribution of scores; see `roc.null`. It shares the interval's simulation."""
        return area.rank_test(
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
        noise = None if self._known == area.KNOWN_SIZES else self._noise(simulations)
        if noise is None:
            return prevalence_of((positives, positives), (negatives, negatives), sampling, self._rows)
        if sampling is not None:
            sampling = tail = tail / 2
        # of a known sum one error is that of both sizes, else each has its own
        reach = upper_quantile(np.abs(noise.last), tail if self._known == area.KNOWN_SUM else tail / 2)
        most = math.inf if self._total is None else float(self._total)
        fewest_and_most = tuple(
            (float(max(0, math.ceil(size - reach))), float(min(most, max(0, math.floor(size + reach)))))
            for size in (positives, negatives)
        )
        return prevalence_of(fewest_and_most[0], fewest_and_most[1], sampling, self._rows)

    def _class_ends(self, k: int, tail: Fraction, target: str, simulations: int) -> tuple[Float64, Float64]:
        """Ends of the share called positive of one class, at all thresholds at once, each shape (N + 1,)."""
        curve = self._curves[k]
        noise = None if self._known == area.KNOWN_SIZES else self._noise(simulations)
        clustered = target == "population" and self._rows > 1
        if clustered:  # half of the tail for noise, half for sampling
            target, tail = "sample", tail / 2
        maxima = None if noise is None else noise.maxima
        if noise is None and self._strategy is not None:
            maxima = simulate_maxima(self._strategy, total_known=True, simulations=simulations)
        low, high = band_ends(self.linear[k], maxima, tail, target, curve.total)
        if clustered:
            low, high = clustered_ends(low, high, float(self.linear[k, -1]) / self._rows, tail)
        low, high = _outwards(low, -1), _outwards(high, 1)
        return (low, high) if self._positive_when == "low" else (1 - high[::-1], 1 - low[::-1])

    def _simulations(self, tail: Fraction, share: Fraction) -> int:
        """Number of simulations that a quantile at this share of the tail needs."""
        strategy = self._strategy
        usual = area.MOST_SIMULATIONS if strategy is None else area.default_simulations(strategy)
        nodes = 1 if strategy is None else 2 * sum(level.nodes for level in strategy.levels)
        return simulations_needed(1 - tail, share=share, nodes=nodes, usual=usual)

    def _noise(self, simulations: int) -> SimulatedNoise | None:
        if self._strategy is None:
            return None
        if simulations not in self._simulated:
            self._simulated[simulations] = area.simulate_noise(
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

    One that is too far in would make a threshold stricter than it is.
    """
    moved = np.concatenate(([0.0], ends))
    moved[1:-1] = np.clip(moved[1:-1] + side * _ROUNDING, 0.0, 1.0)
    return moved
