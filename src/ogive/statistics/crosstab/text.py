"""A cross table for people: counts with margins and shares of rows, and the test in a line."""

from __future__ import annotations

import itertools
import math
from typing import Any

from ogive.statistics.base import Card, aligned, level
from ogive.statistics.crosstab.estimate import Association, CrosstabEstimate
from ogive.statistics.histogram.text import percent

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


def _points(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    return f"{100 * found.value:.1f} points ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _ratio(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    high = f"{found.high:.2f}" if found.high < 1e4 else "no bound"
    return f"{found.value:.2f} ({found.low:.2f} to {high})"


# --- A line in a table of groups


def line_about(found: CrosstabEstimate) -> str:
    """What was released."""
    return f"cross table of {found.row} and {found.column}, with shares of the rows"


def line_titles(found: CrosstabEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    names = itertools.product(found.row_names, found.column_names)
    return (*(f"{found.row} = {row}, {found.column} = {column}" for row, column in names), "independence")


def line_cells(found: CrosstabEstimate) -> tuple[str, ...]:
    """Counts with the share of the row, and the test of independence."""
    pairs = zip(itertools.chain(*found.counts), itertools.chain(*found.row_shares), strict=True)
    return (*(cell(count, share) for count, share in pairs), independence(found))


# --- Columns of a data frame


def columns(found: CrosstabEstimate) -> dict[str, Any]:
    """Combinations with counts, shares, errors and the ends of intervals."""
    names = list(itertools.product(found.row_names, found.column_names))

    def flat(table: Any) -> list[Any]:
        return [each for row in table for each in row]

    counted, shares = flat(found.count_intervals()), flat(found.row_share_intervals())
    return {
        "row": [row for row, _ in names],
        "column": [column for _, column in names],
        "count": flat(found.counts),
        "count_error": flat(found.noise_errors),
        "count_low": [low for low, _ in counted],
        "count_high": [high for _, high in counted],
        "row_share": flat(found.row_shares),
        "row_share_low": [low for low, _ in shares],
        "row_share_high": [high for _, high in shares],
        "column_share": flat(found.column_shares),
    }
