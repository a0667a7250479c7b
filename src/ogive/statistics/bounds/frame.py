"""Bounds as columns of a data frame: one row."""

from __future__ import annotations

from typing import Any

from ogive.statistics.bounds.estimate import BoundsEstimate


def columns(estimate: BoundsEstimate) -> dict[str, Any]:
    """Column, both bounds, and how many records may lie outside."""
    return {
        "column": [estimate.column],
        "low": [estimate.low],
        "high": [estimate.high],
        "records_outside": [estimate.records_outside],
    }
