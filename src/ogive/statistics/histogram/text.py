"""A histogram for people: a table of lines."""

from __future__ import annotations

import math
from typing import Any

from ogive.core.digits import number
from ogive.showing.view import Card, aligned, level
from ogive.statistics.histogram.estimate import HistogramEstimate

_SHOWN, _LONG = 4, 40


def summary(found: HistogramEstimate) -> str:
    """A table in plain text: category, count, share and interval."""
    head = f"histogram of {found.column} ({found.caption})"
    lines = aligned([(found.column, *titles(found)), *rows(found)])
    return "\n".join([head, *(f"  {line}" for line in lines), *(f"  {each}" for each in notes(found))])


def short(found: HistogramEstimate) -> str:
    """A few words: the categories."""
    listed = ", ".join(found.categories[:_SHOWN]) + (", ..." if len(found.categories) > _SHOWN else "")
    return f"of {found.column[:_LONG]}: {listed[:_LONG]}"


def card(found: HistogramEstimate) -> Card:
    """What notebooks show."""
    title = f"Histogram of {found.column}"
    return Card(title, [("privacy", found.caption)], (found.column, *titles(found)), rows(found), notes(found))


def titles(found: HistogramEstimate) -> tuple[str, ...]:
    """Headings of the columns after the first."""
    return "count", "share", f"{level(found)} interval"


def rows(found: HistogramEstimate) -> list[tuple[str, ...]]:
    """A line for each category, then all records."""
    lines = []
    for name, count, share, (low, high) in zip(
        found.categories, found.counts, found.shares, found.intervals(), strict=True
    ):
        told = (percent(share), f"{percent(low)} to {percent(high)}") if found.defined else ("-", "-")
        lines.append((name, f"{count:,.0f}", *told))
    return [*lines, ("all", f"{max(0.0, found.records):,.0f}", "", "")]


def notes(found: HistogramEstimate) -> list[str]:
    """What the errors are, and of categories that were found which there may be besides."""
    return [note(found), *([] if (besides := unseen(found)) is None else [besides])]


def unseen(found: HistogramEstimate) -> str | None:
    """What is not shown of a column whose categories were found."""
    if found.threshold is None or not found.private:
        return None
    rare = (
        f"categories were found: values with fewer than about {found.threshold:,} records may exist and are not shown"
    )
    if found.unseen is None:
        return f"{rare}; shares are of the records shown"
    error = math.hypot(*found.noise_errors)
    return f"{rare}; about {found.unseen:,.0f} records have such values (+/- {error:,.2g})"


def note(found: HistogramEstimate) -> str:
    """What the errors are."""
    if not found.defined:
        return "undefined: the noise leaves no records; use a larger budget"
    if not found.private:
        return "intervals are for shares of the population: sampling error"
    noise = number(max(found.noise_errors), max(found.noise_errors))
    return (
        "intervals are for shares of the population: sampling error and noise; noise of a count: "
        f"+/- {noise} (standard deviation)"
    )


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


# --- A line in a table of groups


def line_about(found: HistogramEstimate) -> str:
    """What was released."""
    return f"histogram of {found.column} with {level(found)} intervals of the shares"


def line_titles(found: HistogramEstimate) -> tuple[str, ...]:
    """Headings of the cells: the categories."""
    return found.categories


def line_cells(found: HistogramEstimate) -> tuple[str, ...]:
    """Count of each category, and its share with the interval."""
    if not found.defined:
        return ("-",) * len(found.categories)
    rows = zip(found.counts, found.shares, found.intervals(), strict=True)
    return tuple(
        f"{count:,.0f} ({percent(share)}, {100 * low:.1f} to {100 * high:.1f})" for count, share, (low, high) in rows
    )


# --- Columns of a data frame


def columns(found: HistogramEstimate) -> dict[str, Any]:
    """Categories with counts, shares, errors and the ends of intervals."""
    intervals, counted = found.intervals(), found.count_intervals()
    return {
        "category": list(found.categories),
        "count": list(found.counts),
        "count_error": list(found.noise_errors),
        "count_low": [low for low, _ in counted],
        "count_high": [high for _, high in counted],
        "share": list(found.shares),
        "share_error": list(found.standard_errors),
        "share_low": [low for low, _ in intervals],
        "share_high": [high for _, high in intervals],
    }
