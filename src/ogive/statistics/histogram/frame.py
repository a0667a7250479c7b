"""A histogram as columns of a data frame: a row for each category."""

from __future__ import annotations

from typing import Any

from ogive.statistics.histogram.estimate import HistogramEstimate


def columns(found: HistogramEstimate) -> dict[str, Any]:
    """Categories with counts, shares, errors and the ends of intervals."""
    intervals, counted = found.intervals(), found.count_intervals()
    return {
        "category": list(found.categories),
        "count": list(found.counts),
        "count_error": list(found.noise_errors),
        "count_low": [low for low, _ in counted],
        "count_high": [high for _, high in counted],
        "share": list(found.shares),
        "share_error": list(found.standard_errors),
        "share_low": [low for low, _ in intervals],
        "share_high": [high for _, high in intervals],
    }
