"""Bands for precision and recall, and for gain and lift, from those of the two classes and of the prevalence.

At threshold j a share x of the negatives and y of the positives is called positive, and a share p of the records is
positive. With confidence 1 - a, x and y lie within the ends of their classes at all thresholds at once, and p within an
interval: each of the three gets a third of a. What is read off them is monotone in each,

    precision  p y / (p y + (1 - p) x)       rises with y and p, falls with x
    flagged    p y + (1 - p) x               rises with x and y, straight in p
    lift       1 / (p + (1 - p) x / y)       falls with x / y, monotone in p

so that its ends are values at ends, and all of them hold at all thresholds at once with confidence 1 - a.

The prevalence among the records follows from the noisy sizes of the classes, each within a quantile of its noise. For
the population, records are a random sample of it, and the interval is that of Clopper and Pearson at the ends of the
sizes, with half of the error probability for noise and half for sampling: their lower end rises with the number of
positives and falls with that of negatives, so it is smallest at the smallest of the one and the largest of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.statistics.confidence import Target


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
        confidence_level: Probability that all ends hold at once, at least.
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
        confidence_level: Probability that all ends hold at once, at least.
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
    """Ends of the share of positives.

    Args:
        positives: Least and most records of that class.
        negatives: Least and most records of the other.
        tail: Error probability of sampling; None for the records themselves.
        rows_of_one: Most records of one person, which may all be alike: so many count as one.
    """
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
    found: Float64 = function.reduceat(padded, np.stack([first, last], axis=1).ravel())[::2]
    return found
