"""A ROC curve in one line of a table, beside those of other groups."""

from __future__ import annotations

import math

from ogive import digits
from ogive.contrast import Number
from ogive.statistics.roc.estimate import RocEstimate


def about(found: RocEstimate) -> str:
    """What was released."""
    return f"ROC curve of {found.score} for {found.label.column}"


def titles(found: RocEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return "negatives", "positives", "AUC", f"{100 * found.confidence_level:.6g} % interval"


def cells(found: RocEstimate) -> tuple[str, ...]:
    """Numbers of both classes, and the area with its interval."""
    known = "" if found.public_labels or not found.private else "about "
    sizes = [f"{known}{size:.0f}" for size in found.classes]
    if not found.defined:
        return (*sizes, "-", "-")
    ends = found.auc_interval()
    area, low, high = (digits.number(each, ends[1] - ends[0]) for each in (found.auc, *ends))
    return (*sizes, area, f"{low} to {high}")


def number(found: RocEstimate, confidence_level: float, probability: float) -> Number:
    """The area under the curve with its interval."""
    name = f"AUC of {found.score} for {found.label.column}"
    if not found.defined:
        return Number(name, math.nan, 0.0, 1.0)
    low, high = found.auc_interval(confidence_level)
    return Number(name, found.auc, low, high)
