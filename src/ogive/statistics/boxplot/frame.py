"""Boxes as columns of a data frame: a row for each group."""

from __future__ import annotations

from typing import Any

from ogive.statistics.boxplot.boxes import NUMBERS, Intervals
from ogive.statistics.boxplot.estimate import Boxplots


def columns(boxplots: Boxplots) -> dict[str, Any]:
    """Group, five numbers, ends of intervals, records beyond the whiskers, and records; None where not told."""
    boxes = boxplots.boxes
    found: dict[str, Any] = {} if boxplots.by is None else {boxplots.by: [box.group for box in boxes]}
    for name in NUMBERS:
        found[name] = [boxplots.grid.label(getattr(box, name)) if box.told else None for box in boxes]
    for name in Intervals._fields:
        intervals = [getattr(box.intervals, name, None) if box.told else None for box in boxes]
        for place, end in enumerate(("low", "high")):
            found[f"{name}_{end}"] = [None if ends is None else boxplots.grid.label(ends[place]) for ends in intervals]
    for name in ("below", "above", "records"):
        found[name] = [getattr(box, name) for box in boxes]
    return found
