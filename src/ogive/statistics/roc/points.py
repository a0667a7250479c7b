"""ROC curves as points: rates, area, distance, precision and lift, and parts of them; plain arithmetic.

A curve is given by false-positive shares x and true-positive shares y, shape (N + 1,), both not
decreasing, from (0, 0) to (1, 1). Between points it is a straight line: within a cell of the grid, scores are
ties, and the line is what ties one half stands for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ogive.columns.axis import to_shares
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, quoted
from ogive.statistics.confidence import Target
from ogive.statistics.roc.uncertainty import RocBand

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


# --- Parts of a ROC curve: partial areas, and one rate at a value of the other
#
# Ends come from the band of the whole curve. Wherever it holds the curve, its integrals hold the area over every range,
# its ends at a false positive rate hold the sensitivity there, and the first places where its two ends reach a
# sensitivity hold the false positive rate at which the curve does. So all intervals of one level hold at once,
# whichever ranges and rates are read, also those that were chosen after a look at the curve.
#
# McClish's standardization of an area A over rates from a to b maps the area under the diagonal, (b^2 - a^2) / 2, to
# 1/2 and the largest one, b - a, to 1.
#
# Source: McClish 1989, Analyzing a portion of the ROC curve; docs/proofs/roc.md.

_ROUNDING = 2.0**-40
"""Rates that differ by less are one: 1 - 0.9 is not quite 0.1."""


class Rate(NamedTuple):
    """A number that is read off a ROC curve, and the ends between which the true one lies.

    Fields:
        value: As released; NaN where the curve is not defined.
        low, high: Ends of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PartialAuc:
    """Area under a ROC curve over a range of false positive rates.

    Fields:
        min_fpr, max_fpr: The range.
        value: The area, at most max_fpr - min_fpr; NaN where the curve is not defined.
        low, high: Ends between which the true area lies.
        confidence_level: Probability that it does, at least.
        target: "population" or "sample".
    """

    min_fpr: float
    max_fpr: float
    value: float
    low: float
    high: float
    confidence_level: float
    target: Target

    @property
    def standardized(self) -> Rate:
        """The area mapped so that chance is 1/2 and a perfect score is 1; below 1/2 is worse than chance.

        Source:
            McClish 1989; scikit-learn's `roc_auc_score(max_fpr=...)` is the same number.
        """
        best = self.max_fpr - self.min_fpr
        chance = best * (self.max_fpr + self.min_fpr) / 2
        return Rate(*((1 + (area - chance) / (best - chance)) / 2 for area in (self.value, self.low, self.high)))

    @property
    def mean_sensitivity(self) -> Rate:
        """The area divided by the width of the range: the average sensitivity over these false positive rates."""
        return Rate(*(area / (self.max_fpr - self.min_fpr) for area in (self.value, self.low, self.high)))

    def __str__(self) -> str:
        """One line: the range, the area and its standardized value, each with its interval."""
        scaled = self.standardized
        return (
            f"area over false positive rates from {self.min_fpr:g} to {self.max_fpr:g}: {self.value:.4g} "
            f"({self.low:.4g} to {self.high:.4g}), standardized {scaled.value:.4g} ({scaled.low:.4g} to "
            f"{scaled.high:.4g})"
        )


def checked_range(min_fpr: Any, max_fpr: Any) -> tuple[float, float]:
    """A range of false positive rates."""
    low, high = checked_rate(min_fpr, "min_fpr"), checked_rate(max_fpr, "max_fpr")
    if low >= high:
        if low == 0:
            raise ParameterError("`max_fpr` must be above 0")
        raise ParameterError(f"`min_fpr` must be below `max_fpr`, got {low:g} and {high:g}")
    return low, high


def checked_rate(given: Any, name: str) -> float:
    """One number in [0, 1]."""
    rate = to_shares(given, name)
    if rate.ndim:
        raise ParameterError(f"`{name}` must be one number between 0 and 1, got {quoted(given)}")
    return float(rate)


def partial_area(x: Float64, y: Float64, start: float, end: float) -> float:
    """Area under straight lines between the points of a curve, over rates from `start` to `end`; exact."""
    places = np.concatenate(([start], x[(x > start) & (x < end)], [end]))
    heights = value_after(x, y, places[:-1]) + value_before(x, y, places[1:])
    return float(np.sum(np.diff(places) * heights) / 2)


def highest_within(x: Float64, y: Float64, fpr: float) -> float:
    """Largest sensitivity of a curve at a false positive rate, the upper end where it is vertical."""
    return float(value_after(x, y, np.array([min(1.0, fpr + _ROUNDING)]))[0])


def first_reaching(x: Float64, y: Float64, sensitivity: float) -> float:
    """Smallest false positive rate at which a curve reaches a sensitivity."""
    return float(value_before(y, x, np.array([max(0.0, sensitivity - _ROUNDING)]))[0])


def area_ends(band: RocBand, start: float, end: float) -> tuple[float, float]:
    """Areas under both ends of a band, over rates from `start` to `end`."""
    widths = np.diff(np.clip(np.append(band.fpr, 1.0), start, end))
    low, high = (float(np.sum(widths * ends)) for ends in (band.low, band.high))
    return low, high


def rate_ends(band: RocBand, sensitivity: float) -> tuple[float, float]:
    """Ends of the smallest false positive rate at which the curve that a band holds reaches a sensitivity."""
    first = (np.flatnonzero(ends >= sensitivity) for ends in (band.high, band.low))
    low, high = (float(band.fpr[places[0]]) if places.size else 1.0 for places in first)
    return low, high


def around(value: float, low: float, high: float) -> Rate:
    """A number with its interval, which is extended to it: released curves are smoothed, and the band is not."""
    if math.isnan(value):
        return Rate(value, low, high)
    return Rate(value, min(low, value), max(high, value))
