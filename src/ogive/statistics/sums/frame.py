"""A number as columns of a data frame: one row."""

from __future__ import annotations

from typing import Any

from ogive.statistics.sums.estimate import NumberEstimate


def columns(estimate: NumberEstimate) -> dict[str, Any]:
    """The number, its errors, and the ends of its interval."""
    low, high = estimate.interval()
    return {
        "statistic": [estimate.what],
        "of": [estimate.subject],
        "value": [estimate.value],
        "standard_error": [estimate.standard_error],
        "noise_error": [estimate.noise_error],
        "low": [low],
        "high": [high],
    }
