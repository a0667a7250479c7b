"""Bounds for people: some lines of text."""

from __future__ import annotations

from typing import Any

from ogive.showing.view import Card
from ogive.statistics.bounds.estimate import BoundsEstimate


def summary(estimate: BoundsEstimate) -> str:
    """Some lines of plain text."""
    head = f"bounds of {estimate.column} ({estimate.provenance})"
    if not estimate.defined:
        return (
            f"{head}\nundefined: no order of magnitude clearly holds records; use a larger privacy budget or a larger "
            "base"
        )
    lines = [head, f"{estimate.low:g} to {estimate.high:g}"]
    if estimate.strategy is None:
        lines.append(f"{estimate.records_outside:,} records outside")
    else:
        lines += [
            f"both ends hold records: {100 * (1 - estimate.wrong_end):.4g} % confidence",
            f"at most {estimate.records_outside:,} records outside: {100 * estimate.confidence_level:g} % confidence",
        ]
    return "\n".join(lines)


def short(estimate: BoundsEstimate) -> str:
    """A few words."""
    found = f"{estimate.low:g} to {estimate.high:g}" if estimate.defined else "undefined"
    return f"of {estimate.column}: {found}"


def card(estimate: BoundsEstimate) -> Card:
    """What notebooks show."""
    lines = summary(estimate).split("\n")[1:]
    return Card(f"Bounds of {estimate.column}", [("privacy", estimate.caption)], notes=lines)


# --- Columns of a data frame


def columns(estimate: BoundsEstimate) -> dict[str, Any]:
    """Column, both bounds, and how many records may lie outside."""
    return {
        "column": [estimate.column],
        "low": [estimate.low],
        "high": [estimate.high],
        "records_outside": [estimate.records_outside],
    }
