"""Parts of a ROC curve: the area over a range of false positive rates, and one rate at a fixed value of the other.

Ends come from the band of the whole curve. Wherever it holds the curve, its integrals hold the area over every range,
its ends at a false positive rate hold the sensitivity there, and the first places where its two ends reach a
sensitivity hold the false positive rate at which the curve does. So all intervals of one level hold at once, whichever
ranges and rates are read, also those that were chosen after a look at the curve.

McClish's standardization of an area A over rates from a to b maps the area under the diagonal, (b^2 - a^2) / 2, to 1/2
and the largest one, b - a, to 1.

Source: McClish 1989, Analyzing a portion of the ROC curve; docs/proofs/roc.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ogive.arrays import Float64
from ogive.axis import to_shares
from ogive.errors import ParameterError, quoted
from ogive.statistics.confidence import Target
from ogive.statistics.roc.band import RocBand
from ogive.statistics.roc.points import value_after, value_before

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
    """A range of false positive rates.

    Raises:
        ParameterError: an end is not a number in [0, 1], or the range is empty.
    """
    low, high = checked_rate(min_fpr, "min_fpr"), checked_rate(max_fpr, "max_fpr")
    if low >= high:
        if low == 0:
            raise ParameterError("`max_fpr` must be above 0")
        raise ParameterError(f"`min_fpr` must be below `max_fpr`, got {low:g} and {high:g}")
    return low, high


def checked_rate(given: Any, name: str) -> float:
    """One number in [0, 1].

    Raises:
        ParameterError: it is not.
    """
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
