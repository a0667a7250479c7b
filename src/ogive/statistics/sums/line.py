"""A number in one line of a table, beside those of other groups."""

from __future__ import annotations

import math

from ogive.contrast import Number
from ogive.statistics.sums.estimate import NumberEstimate


def about(found: NumberEstimate) -> str:
    """What was released."""
    return f"{found.what} of {found.subject}"


def titles(found: NumberEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return found.what, "standard error", f"{100 * found.confidence_level:.6g} % interval"


def cells(found: NumberEstimate) -> tuple[str, ...]:
    """The number, its standard error and its interval."""
    if not found.defined:
        return "-", "-", "-"
    low, high = found.interval()
    return f"{found.value:.6g}", f"{found.standard_error:.3g}", f"{low:.6g} to {high:.6g}"


def number(found: NumberEstimate, confidence_level: float, probability: float) -> Number:
    """The number with its interval and standard error."""
    if not found.defined:
        return Number(about(found), math.nan, -math.inf, math.inf, math.nan)
    low, high = found.interval(confidence_level)
    return Number(about(found), found.value, low, high, found.standard_error)
