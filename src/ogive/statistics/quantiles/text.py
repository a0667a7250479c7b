"""Quantiles for people: a small table of text."""

from __future__ import annotations

from typing import Any

from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.showing import Card

_SHOWN = 3


def summary(estimate: QuantileEstimates) -> str:
    """A table in plain text."""
    percent = f"{100 * estimate.confidence_level:g} % CI"
    lines = [
        f"quantiles of {estimate.column} ({estimate.provenance})",
        f"{'probability':>11}  {'value':>20}  {percent}",
    ]
    for p, value, (a, b) in zip(estimate.probabilities, estimate.values, estimate.intervals, strict=True):
        lines.append(f"{p:>11g}  {_short(value):>20}  {_short(a)} to {_short(b)}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def short(estimate: QuantileEstimates) -> str:
    """A few words: the quantiles that are shown first."""
    pairs = list(zip(estimate.probabilities, estimate.values, strict=True))
    shown = ", ".join(f"{p:g} at {_short(value)}" for p, value in pairs[:_SHOWN])
    return f"of {estimate.column}: {shown}{', ...' if len(pairs) > _SHOWN else ''}"


def card(estimate: QuantileEstimates) -> Card:
    """What notebooks show."""
    rows = [
        (f"{p:g}", _short(value), f"{_short(low)} to {_short(high)}")
        for p, value, (low, high) in zip(estimate.probabilities, estimate.values, estimate.intervals, strict=True)
    ]
    headings = ("probability", "value", f"{100 * estimate.confidence_level:g} % interval")
    return Card(f"Quantiles of {estimate.column}", [("privacy", estimate.caption)], headings, rows)
