"""A cross table for people: counts with margins and shares of rows, and the test in a line."""

from __future__ import annotations

import math

from ogive.statistics.crosstab.estimate import Association, CrosstabEstimate
from ogive.statistics.histogram.text import percent
from ogive.statistics.showing import Card, aligned

_LONG = 40
_LEAST = 0.001


def summary(found: CrosstabEstimate) -> str:
    """A table in plain text, and lines below it."""
    head = f"{found.row} by {found.column} ({found.caption})"
    lines = aligned([(title(found), *titles(found)), *rows(found)])
    return "\n".join([head, *(f"  {line}" for line in (*lines, *notes(found)))])


def short(found: CrosstabEstimate) -> str:
    """A few words: the columns and the size."""
    return f"of {found.row[:_LONG]} by {found.column[:_LONG]}: {found.shape[0]} x {found.shape[1]}"


def card(found: CrosstabEstimate) -> Card:
    """What notebooks show."""
    facts = [("privacy", found.caption)]
    return Card(
        f"{found.row} by {found.column}", facts, (title(found), *titles(found)), rows(found), list(notes(found))
    )


def title(found: CrosstabEstimate) -> str:
    """Heading of the names of rows."""
    return f"{found.row} \\ {found.column}"


def titles(found: CrosstabEstimate) -> tuple[str, ...]:
    """Headings of the columns: names and the margin."""
    return (*found.column_names, "all")


def rows(found: CrosstabEstimate) -> list[tuple[str, ...]]:
    """A line for each row, with shares of the row, and one of the margins."""
    lines = []
    for name, counts, shares, total in zip(
        found.row_names, found.counts, found.row_shares, found.row_totals, strict=True
    ):
        cells = (cell(count, share) for count, share in zip(counts, shares, strict=True))
        lines.append((name, *cells, f"{total:,.0f}"))
    margins = (f"{total:,.0f}" for total in found.column_totals)
    return [*lines, ("all", *margins, f"{max(0.0, found.records):,.0f}")]


def cell(count: float, share: float) -> str:
    """A count with its share of the row."""
    return f"{count:,.0f} ({'-' if math.isnan(share) else percent(share)})"


def notes(found: CrosstabEstimate) -> tuple[str, ...]:
    """What is said below the table."""
    percents = "percent of the row"
    if found.private:
        percents += "; every count and total has noise of its own, so they need not add up"
    lines = [percents, f"independence: {independence(found)}"]
    if found.compares_rows and found.defined:
        of, (one, other) = f"{found.column} = {found.column_names[1]}", found.row_names
        lines.append(f"share of {of}, {one} - {other}: {_points(found.risk_difference())}, {level(found)} interval")
        lines.append(f"share of {of}, {one} / {other}: {_ratio(found.relative_risk())}")
        lines.append(f"odds ratio: {_ratio(found.odds_ratio())}")
    if found.private:
        lines.append(f"noise of a count: +/- {max(map(max, found.noise_errors)):,.2g} (standard deviation)")
    return tuple(lines)


def independence(found: CrosstabEstimate) -> str:
    """The result of the test of independence, in a line."""
    test = found.independence
    if test is None:
        return "undefined: the noise leaves no records"
    counted = " (noise included)" if found.private else ""
    return f"chi-square {test.chi_square:.1f}, {p_text(test.p_value)}{counted}"


def p_text(value: float) -> str:
    """A p-value as papers print it."""
    return f"p < {_LEAST}" if value < _LEAST else f"p = {value:.3f}"


def level(found: CrosstabEstimate) -> str:
    """The confidence level in percent."""
    return f"{100 * found.confidence_level:g} %"


def _points(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    return f"{100 * found.value:.1f} points ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _ratio(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    high = f"{found.high:.2f}" if found.high < 1e4 else "no bound"
    return f"{found.value:.2f} ({found.low:.2f} to {high})"
