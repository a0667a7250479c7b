"""Areas between groups: a table of all pairs, colored by their distance from chance, and a chapter of a report."""

from __future__ import annotations

import itertools
import math
from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, Dot, DotChart
from ogive.showing.parts import Html, Row, say, table
from ogive.showing.pictures import GRAY, Style, caption, legend, new_axes, styled
from ogive.showing.view import level
from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.group_auc.text import group_rows, group_titles, notes, rows, title, told

_COLORS = "RdYlBu"
_OPACITY, _LEAST, _CELL, _FRAME = 0.8, 3.6, 1.3, 0.94
_MOST_SHOWN = 8
"""Groups of a table whose cells have room for intervals."""


def draw(found: GroupAucEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the area of every pair of groups as a colored table: red below chance, blue above."""
    look = styled(style, color=GRAY, linewidth=1.6, label="within a group")
    if not found.defined:
        raise ParameterError("noise leaves no areas to draw")
    count = len(found.names)
    axes = new_axes(ax, size=(_LEAST + _CELL * count, _LEAST + 0.6 * count))
    shown = np.ma.masked_invalid(found.auc)
    axes.imshow(shown, cmap=_COLORS, vmin=0.0, vmax=1.0, alpha=_OPACITY, aspect="auto")
    for row, areas in enumerate(found.table()):
        for column, area in enumerate(areas):
            text = told(area).replace(" (", "\n(", 1) if count <= _MOST_SHOWN else told(area).split(" ")[0]
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color="black", parse_math=False)
    from matplotlib.patches import Rectangle

    label, color = look.pop("label"), look.pop("color")
    for place in range(count):
        corner = place - _FRAME / 2
        named = None if place else label
        frame = Rectangle((corner, corner), _FRAME, _FRAME, fill=False, edgecolor=color, label=named, **look)
        axes.add_patch(frame)
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(range(count), labels=found.names, parse_math=False)
    axes.set_xlabel(f"Negatives of {found.group.column} ({level(found)} intervals)")
    axes.set_ylabel(f"Positives of {found.group.column}")
    title = f"AUC of {found.score.column} for {found.label.column} between groups"
    caption(axes, title, found.caption, private=found.private)
    legend(axes)
    return axes


# --- The chapter of the report

USELESS = 0.25
"""A wider interval for the AUC of these records carries little information: half of the way from chance to perfect."""


def chapter(found: GroupAucEstimate, truth: GroupAucEstimate | None) -> Chapter:
    """What areas between groups say."""
    if truth is not None and (not isinstance(truth, GroupAucEstimate) or truth.private or truth.domain != found.domain):
        raise ParameterError(f"the truth for {found.score.column} must be exact, of the same bins, groups and classes")
    assert found.provenance is not None
    exact = truth if found.private else None
    grid = found.score.grid
    return Chapter(
        title=f"AUC of {found.score.column} for {found.label.column} by {found.group.column}",
        subject=f"{found.score.column}, {found.label.column} and {found.group.column}",
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=(
            say(
                f"How many records of each group and class have a {found.score.column} in each of {grid.bins:,} public "
                "bins. All areas and differences are computed from these noisy counts at no further cost."
            ),
        ),
        pictures=_pictures(found, exact),
        tables=(
            table("AUC of every pair of groups", (title(found), *found.names), _table(rows(found))),
            table("Each group", group_titles(found), _table(group_rows(found))),
            None if exact is None else table("True areas", (title(exact), *exact.names), _table(rows(exact))),
        ),
        details=(("Measured", f"{found.counts.size:,} combinations of bin, group and class"),),
        warning=_useless(found),
        exact=truth is not None,
    )


def _table(lines: list[tuple[str, ...]]) -> list[Row]:
    return [(each[0], each[1:]) for each in lines]


def _pictures(found: GroupAucEstimate, exact: GroupAucEstimate | None) -> tuple[Picture, ...]:
    pairs = list(itertools.product(range(len(found.names)), repeat=2))
    if not found.defined or len(pairs) > MOST_ROWS:
        return ()
    areas, truth = found.table(), None if exact is None else exact.auc
    dots = tuple(
        Dot(
            f"within {found.names[g]}" if g == h else f"positives {found.names[g]}, negatives {found.names[h]}",
            *areas[g][h],
            None if truth is None or math.isnan(truth[g, h]) else float(truth[g, h]),
        )
        for g, h in pairs
    )
    interval = f"{words.percent(found.confidence_level)} interval for the population"
    chart = DotChart(
        title=f"AUC of {found.score.column} by {found.group.column}",
        label="Chance that the positive record is ranked above the negative one",
        dots=dots,
        summary=f"The AUC of positives of each group against negatives of each group. {_headline(found)}",
        shares=True,
        legend=(("interval", interval), *((("truth", "True area of these records"),) if exact is not None else ())),
    )
    return (Picture(chart),)


def _headline(found: GroupAucEstimate) -> str:
    within = {name: found.between(name, name) for name in found.names}
    seen = {name: area for name, area in within.items() if not math.isnan(area.value)}
    if not seen:
        return "Noise may account for a whole class of every group, so no AUC within a group is defined."
    worst, best = min(seen, key=lambda name: seen[name].value), max(seen, key=lambda name: seen[name].value)
    if len(seen) == 1:
        return f"The AUC within {best} is {told(seen[best])}; of other groups noise leaves none."
    return (
        f"Within groups of {found.group.column} the AUC is lowest for {worst}, {told(seen[worst])}, and highest for "
        f"{best}, {told(seen[best])}."
    )


def _error(found: GroupAucEstimate) -> tuple[Html, ...]:
    return tuple(say(f"{line[0].upper()}{line[1:]}.") for line in notes(found))


def _useless(found: GroupAucEstimate) -> str | None:
    if not found.private:
        return None
    help_ = "Use a larger privacy budget, more records, fewer bins or fewer groups."
    if not found.defined:
        return f"The noise is larger than the classes of every group. {help_}"
    widths = {
        name: found.between(name, name, target="sample").high - found.between(name, name, target="sample").low
        for name in found.names
    }
    wide = [name for name, width in widths.items() if width >= USELESS]
    if wide:
        return f"The AUC of these records is hardly known within {', '.join(wide)}. {help_}"
    return None
