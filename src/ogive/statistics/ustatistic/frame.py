"""A pairwise statistic as columns of a data frame: one row."""

from __future__ import annotations

from typing import Any

from ogive.statistics.ustatistic.estimate import UstatisticEstimate


def columns(estimate: UstatisticEstimate) -> dict[str, Any]:
    """What was measured, its value, its error, and the ends of its interval."""
    low, high = estimate.interval()
    return {
        "statistic": [estimate.title],
        "value": [estimate.value],
        "total_error": [estimate.total_error],
        "low": [low],
        "high": [high],
    }
