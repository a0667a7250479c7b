"""A number in one line of a table, beside those of other groups."""

from __future__ import annotations

from ogive import digits
from ogive.contrast import Number
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate, ProportionEstimate
from ogive.statistics.sums.text import NOTHING, between, deviation, level, shown, size


def about(found: NumberEstimate) -> str:
    """What was released."""
    return f"{found.what} of {found.subject}"


def titles(found: NumberEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    number = found.what, "standard error", f"{level(found)} interval"
    if not isinstance(found, MeanEstimate | ProportionEstimate):
        return number
    spread = isinstance(found, MeanEstimate) and found.has_spread
    return ("n", found.what, "SD", *number[1:]) if spread else ("n", *number)


def cells(found: NumberEstimate) -> tuple[str, ...]:
    """The number of records where it is known, the number with the standard deviation of the values, and its errors."""
    records = [size(found)] if isinstance(found, MeanEstimate | ProportionEstimate) else []
    if not found.defined:
        return (*records, *(NOTHING,) * (len(titles(found)) - len(records)))
    spread = deviation(found) if isinstance(found, MeanEstimate) else None
    error = digits.number(found.standard_error, found.standard_error)
    return (*records, shown(found, found.value), *([] if spread is None else [spread]), error, between(found))


def number(found: NumberEstimate, confidence_level: float, probability: float) -> Number:
    """The number with its interval and standard error; every number that there can be where noise leaves none."""
    low, high = found.interval(confidence_level)
    return Number(about(found), found.value, low, high, found.standard_error)
