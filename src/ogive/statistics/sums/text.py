"""A number for people: some lines of text."""

from __future__ import annotations

from typing import Any

from ogive.core import digits
from ogive.core.digits import number
from ogive.showing.view import Card, level
from ogive.statistics.contrast import Number
from ogive.statistics.sums.estimate import (
    CountEstimate,
    MeanEstimate,
    NumberEstimate,
    ProportionEstimate,
    SumEstimate,
    listed,
)

NOTHING = "-"
"""What is shown of a number that noise hides."""

_WIDTH = 4.0
"""Standard errors in the width of an interval of about 95 %."""


def summary(found: NumberEstimate) -> str:
    """Some lines of plain text."""
    head = f"{found.what} of {found.subject} ({found.caption})"
    return "\n".join([head, *(f"  {name + ':':<10}{value}" for name, value in _facts(found))])


def short(found: NumberEstimate) -> str:
    """A few words: the number and its standard error."""
    value = shown(found, found.value) if found.defined else "undefined"
    return f"of {found.subject[:80]}: {value}"


def card(found: NumberEstimate) -> Card:
    """What notebooks show."""
    return Card(f"{found.what.capitalize()} of {found.subject}", [*_facts(found), ("privacy", found.caption)])


def _facts(found: NumberEstimate) -> list[tuple[str, str]]:
    if not found.defined:
        return [
            (
                "value",
                "undefined: the noise leaves no records; use a larger budget, or check the condition if there is one",
            )
        ]
    rows = [("value", shown(found, found.value))]
    spread = deviation(found) if isinstance(found, MeanEstimate) else None
    if spread is not None:
        rows.append(
            (
                "SD",
                f"{NOTHING} (undefined: noise made the variance 0)" if spread == NOTHING else spread + _off(found),
            )
        )
    if found.private or found.sampling_error is not None:
        rows.append(("interval", f"{between(found)} ({level(found)}, {counted(found)})"))
    if found.private:
        rows.append(("noise", f"+/- {number(found.noise_error, found.noise_error)} (standard deviation)"))
    if isinstance(found, MeanEstimate | SumEstimate) and found.private and found.rounding_of_each:
        rows.append(("rounding", _rounding(found)))
    if isinstance(found, MeanEstimate | SumEstimate) and found.private:
        rows.append(("bounds", _bounds(found)))
    if isinstance(found, CountEstimate | ProportionEstimate) and found.private and found.values is not None:
        low, _ = found.noise_interval()
        if low <= 0:
            rows.append(("note", f"perhaps no record has the value {listed(found.values)}; check its spelling"))
    if isinstance(found, ProportionEstimate | MeanEstimate):
        rows.append(("records", _about(found)))
    return rows


def _rounding(found: MeanEstimate | SumEstimate) -> str:
    """To what values were rounded, how far that may have moved the number, and whether the interval counts it."""
    step = f"values count in steps of {float(found.lattice.step):.6g}"
    if found.rounding is None:
        return f"{step}: at most {found.rounding_of_each:.2g} of each record, which the interval does not count"
    return f"{step}: at most +/- {found.rounding:.2g}, which the interval counts"


def _bounds(found: MeanEstimate | SumEstimate) -> str:
    """The bounds, and what values outside are; where the mean is at one, most values may be outside."""
    low, high = float(found.lattice.low), float(found.lattice.high)
    said = f"values outside {low:g} to {high:g} count as the nearer bound"
    if isinstance(found, MeanEstimate) and not low < found.value < high:
        said += "; the mean is at a bound, so most values may lie outside"
    return said


def between(found: NumberEstimate, confidence_level: float | None = None) -> str:
    """The interval, as two numbers."""
    low, high = found.interval(confidence_level)
    return f"{shown(found, low)} to {shown(found, high)}"


def counted(found: NumberEstimate) -> str:
    """What the interval is for, and which errors it includes."""
    if isinstance(found, CountEstimate | SumEstimate):
        return f"for {those(found)}: noise alone"
    return f"for the population: sampling error{' and noise' if found.private else ''}"


def those(found: NumberEstimate) -> str:
    """Which records a count or a sum is of: where a person may have several, of those that were kept."""
    source = found.provenance
    if source is None or source.person is None:
        return "these records"
    return f"the kept records, at most {source.max_rows_per_person} of each person"


def shown(found: NumberEstimate, value: float, beside: float | None = None) -> str:
    """A number with the digits that the width of the interval leaves; four or more where that has none."""
    low, high = found.interval()
    if isinstance(found, CountEstimate) and not high > low:
        return f"{value:,.0f}"
    return number(value, high - low if high > low else abs(value if beside is None else beside) / 1000)


def size(found: MeanEstimate | ProportionEstimate) -> str:
    """How many records there are, noise included."""
    return f"{max(0, round(found.records)):,}"


def _about(found: MeanEstimate | ProportionEstimate) -> str:
    """How many records there are, and whether that is exact."""
    if not found.private:
        return size(found)
    return f"about {size(found)} (private)" if found.measured.total is None else f"{size(found)} (public)"


def deviation(found: MeanEstimate) -> str | None:
    """The standard deviation of the values; a dash where noise hides it, None where none was measured."""
    if found.standard_deviation is None:
        return None
    if found.standard_deviation == 0 and found.private:
        return NOTHING  # noise took the variance to 0 or below
    low, high = found.interval()
    width = max(high - low, _WIDTH * (found.standard_deviation_error or 0.0))
    return number(found.standard_deviation, width) if width else shown(found, found.standard_deviation, found.value)


def _off(found: NumberEstimate) -> str:
    """How far noise moves the standard deviation."""
    error = found.standard_deviation_error if isinstance(found, MeanEstimate) else None
    return f" (noise: +/- {number(error, error)})" if error else ""


# --- A line in a table of groups


def line_about(found: NumberEstimate) -> str:
    """What was released."""
    return f"{found.what} of {found.subject}"


def line_titles(found: NumberEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    number = found.what, "standard error", f"{level(found)} interval"
    if not isinstance(found, MeanEstimate | ProportionEstimate):
        return number
    spread = isinstance(found, MeanEstimate) and found.has_spread
    return ("n", found.what, "SD", *number[1:]) if spread else ("n", *number)


def line_cells(found: NumberEstimate) -> tuple[str, ...]:
    """The number of records where it is known, the number with the standard deviation of the values, and its errors."""
    records = [size(found)] if isinstance(found, MeanEstimate | ProportionEstimate) else []
    if not found.defined:
        return (*records, *(NOTHING,) * (len(line_titles(found)) - len(records)))
    spread = deviation(found) if isinstance(found, MeanEstimate) else None
    error = digits.number(found.standard_error, found.standard_error)
    return (*records, shown(found, found.value), *([] if spread is None else [spread]), error, between(found))


def line_number(found: NumberEstimate, confidence_level: float, probability: float) -> Number:
    """The number with its interval and standard error; every number that there can be where noise leaves none."""
    low, high = found.interval(confidence_level)
    return Number(line_about(found), found.value, low, high, found.standard_error)


# --- Columns of a data frame


def columns(estimate: NumberEstimate) -> dict[str, Any]:
    """The number, its errors, and the ends of its interval."""
    low, high = estimate.interval()
    return {
        "statistic": [estimate.what],
        "of": [estimate.subject],
        "value": [estimate.value],
        "standard_error": [estimate.standard_error],
        "noise_error": [estimate.noise_error],
        "low": [low],
        "high": [high],
    }
