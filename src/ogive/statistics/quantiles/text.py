"""Quantiles for people: a small table of text."""

from __future__ import annotations

from typing import Any

from ogive.statistics.quantiles.estimate import QuantileEstimates


def summary(estimate: QuantileEstimates) -> str:
    """A table in plain text."""
    percent = f"{100 * estimate.confidence_level:g} % interval"
    lines = [
        f"quantiles of {estimate.column} ({estimate.provenance})",
        f"{'probability':>11}  {'value':>20}  {percent}",
    ]
    for p, value, (a, b) in zip(estimate.probabilities, estimate.values, estimate.intervals, strict=True):
        lines.append(f"{p:>11g}  {_short(value):>20}  {_short(a)} to {_short(b)}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
