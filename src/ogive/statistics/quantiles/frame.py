"""Quantiles as columns of a data frame: a row for each."""

from __future__ import annotations

from typing import Any

from ogive.statistics.quantiles.estimate import QuantileEstimates


def columns(estimate: QuantileEstimates) -> dict[str, Any]:
    """Probability, quantile, and the ends of its interval."""
    low, high = zip(*estimate.intervals, strict=True)
    return {
        "probability": list(estimate.probabilities),
        "value": estimate.values,
        "low": list(low),
        "high": list(high),
    }
