"""A histogram as bars with intervals, also of several groups below each other, and as a chapter of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, Dot, DotChart
from ogive.showing.parts import Html, Row, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import level
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.histogram.text import percent, unseen

_ROW, _MARGIN, _TALLEST = 0.32, 1.5, 40.0
_WIDTH = 0.8


def draw(found: HistogramEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the share of each category as a bar, and its interval as a line, the first category on top."""
    look = styled(style, label="released" if found.private else "exact")
    axes = draw_groups((found,), (look.pop("label"),), ax, (BLUE,), look, found.caption)
    legend(axes)
    return axes


def draw_groups(
    estimates: Sequence[HistogramEstimate],
    labels: Sequence[str],
    ax: Any,
    colors: Sequence[str],
    look: Mapping[str, Any],
    clause: str,
) -> Any:
    """Draw the bars of several groups below each other, within each category."""
    told = [number for number, each in enumerate(estimates) if each.defined]
    if not told:
        raise ParameterError("noise leaves no records to draw")
    first, bars = estimates[0], len(estimates[0].categories) * len(estimates)
    axes = new_axes(ax, size=(7.2, min(_TALLEST, _MARGIN + _ROW * bars)))
    categories, width = first.categories, _WIDTH / len(estimates)
    for number in told:
        found = estimates[number]
        places = [len(categories) - 1 - place + _WIDTH / 2 - (number + 0.5) * width for place in range(len(categories))]
        mine = {"color": colors[number % len(colors)], "alpha": 0.55, **look}
        axes.barh(places, [100 * share for share in found.shares], height=0.9 * width, label=labels[number], **mine)
        lows, highs = zip(*((100 * low, 100 * high) for low, high in found.intervals()), strict=True)
        name = f"{level(found)} intervals for the population" if number == told[0] else None
        axes.hlines(places, lows, highs, color=GRAY, linewidth=1.6, label=name)
        axes.plot([*lows, *highs], [*places, *places], "|", color=GRAY, markersize=7)
    axes.set_yticks(range(len(categories) - 1, -1, -1), labels=categories, parse_math=False)
    axes.set_ylim(-0.7, len(categories) - 0.3)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("Share of the records (%)")
    axes.set_ylabel(first.column)
    caption(axes, f"Histogram of {first.column}", clause, private=first.private)
    lighten(axes, grid="x")
    return axes


# --- The chapter of the report

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


def chapter(found: HistogramEstimate, truth: HistogramEstimate | None) -> Chapter:
    """What a histogram says."""
    if truth is not None and (not isinstance(truth, HistogramEstimate) or truth.private):
        raise ParameterError(f"the truth for {found.column} must be the exact histogram of the same categories")
    assert found.provenance is not None
    counts = None if truth is None else found.exact_counts(truth)
    exact = counts if found.private else None
    besides = unseen(found)
    return Chapter(
        title=f"Histogram of {found.column}",
        subject=found.column,
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=(
            say("How many records there are of each category, and nothing else."),
            *(() if besides is None else (say(f"{besides[0].upper()}{besides[1:]}."),)),
        ),
        pictures=_pictures(found, exact),
        tables=(_table(found, exact),),
        details=(("Measured", f"{len(found.categories)} categories"),),
        warning=_useless(found),
        exact=truth is not None,
    )


def _headline(found: HistogramEstimate) -> str:
    if not found.defined:
        return f"The shares of {found.column} are undefined: with the noise, the number of records is below 1."
    share, most = max(zip(found.shares, found.categories, strict=True), key=lambda each: each[0])
    return f"The most frequent category of {found.column} is {most}, with {words.percent(share, 1)} of the records."


def _error(found: HistogramEstimate) -> tuple[Html, ...]:
    if not found.defined:
        return (say("Nothing can be said."),)
    sure = words.percent(found.confidence_level)
    said = [say(f"Each interval holds the share in the population that the records are from, with {sure} confidence.")]
    if found.private:
        reach = max(high - count for count, (_, high) in zip(found.counts, found.count_intervals(), strict=True))
        said.append(
            say(
                strong(f"{reach:,.0f} records"),
                f" more or less than said may be in a category of these records, with {sure} confidence for each. The "
                f"noise has a standard deviation of {max(found.noise_errors):,.2g} records.",
            )
        )
    return tuple(said)


def _pictures(found: HistogramEstimate, exact: tuple[float, ...] | None) -> tuple[Picture, ...]:
    if not found.defined or len(found.categories) > MOST_ROWS:
        return ()
    shown: tuple[float | None, ...] = (None,) * len(found.categories)
    total = 0.0 if exact is None else float(np.sum(exact))
    if exact is not None and total:
        shown = tuple(count / total for count in exact)
    dots = tuple(
        Dot(name, share, low, high, true)
        for name, share, (low, high), true in zip(found.categories, found.shares, found.intervals(), shown, strict=True)
    )
    interval = f"{words.percent(found.confidence_level)} interval for the population"
    chart = DotChart(
        title=f"Histogram of {found.column}",
        label="Share of the records",
        dots=dots,
        summary=f"The share of each category with its interval. {_headline(found)}",
        shares=True,
        legend=(("interval", interval), *((("truth", "True share of these records"),) if exact is not None else ())),
    )
    return (Picture(chart),)


def _table(found: HistogramEstimate, exact: tuple[float, ...] | None) -> Html | None:
    if not found.defined:
        return None
    head = [found.column, "Count", "Share", "Low", "High", *(["True count"] if exact is not None else [])]
    rows: list[Row] = []
    for place, (name, (low, high)) in enumerate(zip(found.categories, found.intervals(), strict=True)):
        told = [f"{found.counts[place]:,.0f}", *map(percent, (found.shares[place], low, high))]
        rows.append((name, [*told, *([] if exact is None else [f"{exact[place]:,.0f}"])]))
    return table("Counts and shares", head, rows)


def _useless(found: HistogramEstimate) -> str | None:
    if not found.private:
        return None
    help_ = "Use a larger privacy budget, more records, or fewer categories."
    if not found.defined:
        return f"With the noise, the number of records is below 1. {help_}"
    records = max(1.0, found.records)
    if max(high - low for low, high in found.count_intervals()) >= USELESS * records:
        return f"The noise leaves open more than half of the records. {help_}"
    return None
