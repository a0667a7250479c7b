"""A contrast in a line, and as a small table in a notebook."""

from __future__ import annotations

from typing import Any

from ogive.statistics.base import Card
from ogive.statistics.groups.contrasts.contrast import Contrast


def summary(found: Contrast) -> str:
    """What is compared, the value and its interval."""
    if not found.defined:
        return f"{found.head}: noise leaves no number"
    value, low, high = found.shown
    return f"{found.head}: {value} ({100 * found.confidence_level:.6g} % CI {low} to {high})"


def card(found: Contrast) -> Card:
    """What notebooks show."""
    title = f"{found.head[0].upper()}{found.head[1:]}"
    if not found.defined:
        return Card(title, [("privacy", found.caption)], notes=("Noise leaves no number.",))
    value, low, high = found.shown
    interval = f"{100 * found.confidence_level:.6g} % CI"
    return Card(
        title,
        [("privacy", found.caption)],
        headings=("", found.kind, interval),
        rows=((found.what, value, f"{low} to {high}"),),
    )


# --- Columns of a data frame


def columns(found: Contrast) -> dict[str, Any]:
    """What is compared, the value, its standard error and interval."""
    return {
        "kind": [found.kind],
        "what": [found.what],
        "by": [found.by],
        "group": [found.group],
        "other": [found.other],
        "value": [found.value],
        "standard_error": [found.standard_error],
        "low": [found.low],
        "high": [found.high],
        "confidence_level": [found.confidence_level],
    }
