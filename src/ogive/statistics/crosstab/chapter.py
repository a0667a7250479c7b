"""The chapter of a cross table: the table, the test, and how far off counts may be."""

from __future__ import annotations

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.chapter import Chapter, Picture
from ogive.html.chart_dots import MOST_ROWS, Dot, DotChart
from ogive.html.markup import Html
from ogive.html.parts import Row, say, strong, table
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.text import notes, p_text, rows, title, titles

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


def chapter(found: CrosstabEstimate, truth: CrosstabEstimate | None) -> Chapter:
    """What a cross table says.

    Args:
        found: As released.
        truth: The exact table of the same records, or None.

    Raises:
        ParameterError: the truth is private or of other columns or values.
    """
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
