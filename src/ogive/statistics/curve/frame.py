"""A curve as columns of a data frame: a row for each threshold."""

from __future__ import annotations

from typing import Any

from ogive.statistics.curve.estimate import Curve


def columns(curve: Curve) -> dict[str, Any]:
    """Threshold, and the count and share of the records at or below it."""
    labels = curve.labels
    return {
        "threshold": labels if curve.grid.unit == "number" else labels.tolist(),
        "count": curve.cumulative,
        "share": curve.probabilities,
    }
