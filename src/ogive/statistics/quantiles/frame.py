"""Quantiles as columns of a data frame: a row for each."""

from __future__ import annotations

from typing import Any

from ogive.statistics.quantiles.estimate import QuantileEstimates


def columns(estimate: QuantileEstimates) -> dict[str, Any]:
    """Probability, quantile, and the ends of its interval; None where noise leaves no records."""
    low, high = zip(*estimate.intervals, strict=True)
    told = {"value": estimate.values, "low": list(low), "high": list(high)}
    if not estimate.told:
        told = {name: [None] * len(low) for name in told}
    return {"probability": list(estimate.probabilities), **told}
