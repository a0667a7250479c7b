"""A cross table as a picture, a bar of each row's shares for each column, and as a chapter of a report."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, Dot, DotChart
from ogive.showing.parts import Html, Row, say, strong, table
from ogive.showing.pictures import COLORS, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.base import level
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.text import independence, notes, p_text, rows, title, titles

_ROW, _MARGIN, _TALLEST, _WIDTH = 0.3, 1.9, 40.0, 0.8


def draw(found: CrosstabEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw within each row of the table a bar for each column: its share of the row, with the interval."""
    look = styled(style, alpha=0.55)
    if not found.defined:
        raise ParameterError("noise leaves no records to draw")
    before = f"{look.pop('label')}, " if "label" in look else ""
    rows, columns = found.shape
    axes = new_axes(ax, size=(7.2, min(_TALLEST, _MARGIN + _ROW * rows * columns)))
    width, shares, intervals = _WIDTH / columns, found.row_shares, found.row_share_intervals()
    for number, name in enumerate(found.column_names):
        places = [rows - 1 - row + _WIDTH / 2 - (number + 0.5) * width for row in range(rows)]
        bars = [0.0 if math.isnan(row[number]) else 100 * row[number] for row in shares]
        mine = {"color": COLORS[number % len(COLORS)], **look}
        axes.barh(places, bars, height=0.9 * width, label=f"{before}{found.column} = {name}", **mine)
        lows, highs = zip(*((100 * row[number][0], 100 * row[number][1]) for row in intervals), strict=True)
        axes.hlines(
            places, lows, highs, color=GRAY, linewidth=1.6, label=f"{level(found)} intervals" if not number else None
        )
    axes.set_yticks(range(rows - 1, -1, -1), labels=found.row_names, parse_math=False)
    axes.set_ylim(-0.7, rows - 0.3)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(f"Share of the row (%); {independence(found)}")
    axes.set_ylabel(found.row)
    caption(axes, f"{found.row} by {found.column}", found.caption, private=found.private)
    lighten(axes, grid="x")
    legend(axes)
    return axes


# --- The chapter of the report

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


def chapter(found: CrosstabEstimate, truth: CrosstabEstimate | None) -> Chapter:
    """What a cross table says."""
    if truth is not None and (not isinstance(truth, CrosstabEstimate) or truth.private or truth.listed != found.listed):
        raise ParameterError(f"the truth for {found.row} by {found.column} must be the exact table of the same values")
    assert found.provenance is not None
    exact = truth if found.private else None
    return Chapter(
        title=f"{found.row} by {found.column}",
        subject=f"{found.row} and {found.column}",
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=(say("How many records have each combination of values, and nothing else."),),
        pictures=_pictures(found, exact),
        tables=(
            table("Counts, and percent of the row", (title(found), *titles(found)), _rows(found)),
            None if exact is None else table("True counts", (title(exact), *titles(exact)), _rows(exact)),
        ),
        details=(("Measured", f"{found.shape[0] * found.shape[1]} combinations"),),
        warning=_useless(found),
        exact=truth is not None,
    )


def _rows(found: CrosstabEstimate) -> list[Row]:
    return [(each[0], each[1:]) for each in rows(found)]


def _pictures(found: CrosstabEstimate, exact: CrosstabEstimate | None) -> tuple[Picture, ...]:
    rows_, columns = found.shape
    if not found.defined or rows_ * columns > MOST_ROWS:
        return ()
    ends = found.row_share_intervals()
    dots = tuple(
        Dot(
            f"{found.column} {name} where {found.row} is {of}",
            found.row_shares[at][place],
            *ends[at][place],
            None if exact is None else exact.row_shares[at][place],
        )
        for at, of in enumerate(found.row_names)
        for place, name in enumerate(found.column_names)
    )
    interval = f"{words.percent(found.confidence_level)} interval for the population"
    chart = DotChart(
        title=f"{found.row} by {found.column}",
        label=f"Share of the records with the same {found.row}",
        dots=dots,
        summary=f"The share of each value of {found.column} among the records with each value of {found.row}. "
        f"{_headline(found)}",
        shares=True,
        legend=(("interval", interval), *((("truth", "True share of these records"),) if exact is not None else ())),
    )
    return (Picture(chart),)


def _headline(found: CrosstabEstimate) -> str:
    test = found.independence
    if test is None:
        return f"{found.row} and {found.column} are undefined: with the noise, the number of records is below 1."
    shown = "independence is rejected" if test.p_value <= 1 - found.confidence_level else "independence is not rejected"
    counted = ", noise included" if found.private else ""
    return (
        f"{found.row} by {found.column}: {shown} (chi-square {test.chi_square:.1f}, {p_text(test.p_value)}{counted})."
    )


def _error(found: CrosstabEstimate) -> tuple[Html, ...]:
    said = [say(f"{line[0].upper()}{line[1:]}.") for line in notes(found)[1:]]
    if found.private and found.defined:
        pairs = zip(found.counts, found.count_intervals(), strict=True)
        reach = max(high - count for row, ends in pairs for count, (_, high) in zip(row, ends, strict=True))
        sure = words.percent(found.confidence_level)
        said.append(
            say(
                strong(f"{reach:,.0f} records"),
                f" more or less than said may have a combination, of these records, with {sure} confidence for each.",
            )
        )
    return tuple(said)


def _useless(found: CrosstabEstimate) -> str | None:
    if not found.private:
        return None
    help_ = "Use a larger privacy budget, more records, or fewer values."
    if not found.defined:
        return f"With the noise, the number of records is below 1. {help_}"
    if max(high - low for row in found.count_intervals() for low, high in row) >= USELESS * found.records:
        return f"The noise leaves open more than half of the records. {help_}"
    return None
