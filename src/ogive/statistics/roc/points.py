"""ROC curves as points: rates, area, distance, precision and lift; plain arithmetic on arrays.

A curve is given by false-positive shares x and true-positive shares y, shape (N + 1,), both not
decreasing, from (0, 0) to (1, 1). Between points it is a straight line: within a cell of the grid, scores are
ties, and the line is what ties one half stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64

Orientation = Literal["high", "low"]
ORIENTATIONS: tuple[Orientation, ...] = get_args(Orientation)


def rates(cumulative: Float64, positive_when: str) -> Float64:
    """Share of a class that is called positive at every threshold, from none to all, shape (N + 1,).

    Args:
        cumulative: Counts of the class at or below each threshold, not decreasing, the last above 0, shape (N,).
        positive_when: "high" (positive is a score above the threshold, thresholds falling) or "low" (positive
            is a score at or below it, thresholds rising).
    """
    shares = np.clip(np.concatenate(([0.0], cumulative / cumulative[-1])), 0.0, 1.0)
    shares[-1] = 1.0
    values: Float64 = shares if positive_when == "low" else np.ascontiguousarray(1.0 - shares[::-1])
    return values


def area(x: Float64, y: Float64) -> float:
    """Area under a curve by trapezoids: the chance of ranking a random pair rightly, ties one half."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def tie_bound(x: Float64, y: Float64) -> float:
    """Most that the area can differ from that of the ungridded scores: half the chance of a tie."""
    return float(np.sum(np.diff(x) * np.diff(y)) / 2)


def value_after(x: Float64, y: Float64, at: Float64) -> Float64:
    """The curve at each share of false positives in [0, 1], the upper end where it is vertical."""
    last = np.searchsorted(x, at, side="right") - 1
    after = np.minimum(last + 1, len(x) - 1)
    return _between(x, y, last, after, at)


def value_before(x: Float64, y: Float64, at: Float64) -> Float64:
    """The curve at each share of false positives in [0, 1], the lower end where it is vertical."""
    first = np.searchsorted(x, at, side="left")
    return _between(x, y, np.maximum(first - 1, 0), first, at, from_right=True)


def _between(x: Float64, y: Float64, left: Int64, right: Int64, at: Float64, *, from_right: bool = False) -> Float64:
    """Straight line from point `left` to point `right`; exactly an end where `at` is that end."""
    width = x[right] - x[left]
    part = np.divide(at - x[left], width, out=np.full(len(at), 1.0 if from_right else 0.0), where=width > 0)
    values: Float64 = y[left] + part * (y[right] - y[left])
    return np.where(part == 1.0, y[right], values)


def distance(x1: Float64, y1: Float64, x2: Float64, y2: Float64) -> float:
    """Integral of the absolute difference of two curves over the share of false positives; exact.

    Between merged breakpoints both are straight, so the difference runs from a to b on a width w: the area
    is w (|a| + |b|) / 2, or w (a^2 + b^2) / (2 (|a| + |b|)) where it changes sign. Vertical parts
    have no width; next to them the limits from the proper side are taken.
    """
    ends = np.union1d(x1, x2)
    a = value_after(x1, y1, ends[:-1]) - value_after(x2, y2, ends[:-1])
    b = value_before(x1, y1, ends[1:]) - value_before(x2, y2, ends[1:])
    sizes = np.abs(a) + np.abs(b)
    crossed = np.divide(a * a + b * b, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return float(np.sum(np.diff(ends) * np.where(a * b < 0, crossed, sizes)) / 2)


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """Precision and recall at every threshold.

    Fields:
        thresholds: As of the ROC curve, shape (N + 1,).
        recall: Share of the positives that are called positive, not decreasing.
        precision: Share of positives among those called positive; 1 where none is.
        average_precision: Precision averaged over recall, as a sum of steps.
    """

    thresholds: Float64
    recall: Float64
    precision: Float64
    average_precision: float


@dataclass(frozen=True, eq=False)
class Lift:
    """How much richer in positives those called positive are than all records, at every threshold.

    Fields:
        thresholds: As of the ROC curve, shape (N + 1,).
        flagged: Share of all records that are called positive, not decreasing.
        captured: Share of the positives among them, the cumulative gain.
        lift: Captured over flagged; 1 at the last threshold, and the limit 1 / prevalence where none is flagged.
    """

    thresholds: Float64
    flagged: Float64
    captured: Float64
    lift: Float64


def precision_recall(
    thresholds: Float64, x: Float64, y: Float64, negatives: float, positives: float
) -> PrecisionRecall:
    """Precision and recall from rates and class sizes."""
    called = positives * y + negatives * x
    precision = np.divide(positives * y, called, out=np.ones_like(called), where=called > 0)
    average = float(np.sum(np.diff(y) * precision[1:]))
    return PrecisionRecall(thresholds, y, precision, average)


def lift(thresholds: Float64, x: Float64, y: Float64, negatives: float, positives: float) -> Lift:
    """Gain and lift from rates and class sizes."""
    everybody = negatives + positives
    flagged = (positives * y + negatives * x) / everybody
    ratio = np.divide(y, flagged, out=np.full_like(y, everybody / positives), where=flagged > 0)
    return Lift(thresholds, flagged, y, ratio)
