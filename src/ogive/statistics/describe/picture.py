"""Described variables as a picture, a panel for each, and as a chapter of a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, Dot, DotChart
from ogive.showing.parts import Html, Row, say, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import columns_of, label_of, lines, notes, titles
from ogive.statistics.describe.text import about
from ogive.statistics.describe.variables import Number, Share, Variable

# --- Points with intervals, for every column of the table

Point = tuple[float, float, float]
"""A number with the ends of its interval."""


@dataclass(frozen=True)
class Panel:
    """A mean or a share of every column of the table.

    Fields:
        name: What it is of: the variable, with the value or category that is counted.
        column: The variable.
        share: Whether the numbers are shares, between 0 and 1.
        points: One for each column of the table; None where noise leaves it undefined.
    """

    name: str
    column: str
    share: bool
    points: tuple[Point | None, ...]


def panels(found: DescribeEstimate) -> list[Panel]:
    """The panels of all variables, in the order of the table."""
    return [panel for variable in found for panel in _of_variable(found, variable)]


def _of_variable(found: DescribeEstimate, variable: Variable) -> Iterator[Panel]:
    name = variable.column
    each: list[Any] = [found.of(name, group) for group in columns_of(found)]
    if isinstance(variable, Number):
        bounded = found.bounded(name)
        yield Panel(name, name, False, tuple(_number(parts["mean"]) if bounded else None for parts in each))
    elif isinstance(variable, Share):
        yield Panel(label_of(variable), name, True, tuple(_number(parts["proportion"]) for parts in each))
    else:
        for place, category in enumerate(each[0]["histogram"].categories):
            points = tuple(_category(parts["histogram"], place) for parts in each)
            yield Panel(f"{name} = {category}", name, True, points)


def _number(estimate: Any) -> Point | None:
    return (estimate.value, *estimate.interval()) if estimate.defined else None


def _category(estimate: Any, place: int) -> Point | None:
    return (estimate.shares[place], *estimate.intervals()[place]) if estimate.defined else None


_WIDTH = 7.2
_HEAD, _TITLE, _ROW, _TICKS = 0.9, 0.3, 0.24, 0.3
"""Heights in inches: of the picture's title, and of a panel's title, lines and numbers."""

_SMALL, _LARGE = 8, 9
_LEAST = 0.65


def draw(found: DescribeEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw means and shares, each variable on an axis of its own."""
    look = styled(style, color=BLUE, linestyle="none", label="released" if found.private else "exact")
    label = look.pop("label")
    shown = columns_of(found)
    drawn = panels(found)
    panel_height = _TITLE + _ROW * len(shown) + _TICKS
    axes = new_axes(ax)
    figure = axes.get_figure(root=True)
    if len(figure.get_axes()) == 1:  # a picture of its own is as high as its panels
        figure.set_size_inches(_WIDTH, _HEAD + panel_height * len(drawn))
    axes.set_axis_off()
    inches = axes.get_window_extent().height / figure.dpi
    # letters of panels that share a picture with others are smaller, down to what can be read
    scale = min(1.0, max(_LEAST, inches / (panel_height * len(drawn))))
    names = titles(found)
    left = min(0.3, 0.03 + 0.012 * max(map(len, names)))
    for number, panel in enumerate(drawn):
        bottom = 1 - (number + (_TITLE + _ROW * len(shown)) / panel_height) / len(drawn)
        height = _ROW * len(shown) / panel_height / len(drawn)
        place = axes.inset_axes((left, bottom, 0.98 - left, height))
        for line, point in enumerate(panel.points):
            if point is not None:
                value, low, high = (number * (100 if panel.share else 1) for number in point)
                place.hlines(line, low, high, color=look["color"], linewidth=5, alpha=0.35)
                place.plot([value], [line], marker="o", markersize=5, **look)
        place.set_yticks(range(len(shown)), names, parse_math=False, fontsize=scale * _SMALL)
        place.set_ylim(len(shown) - 0.5, -0.5)
        place.tick_params(labelsize=scale * _SMALL, pad=3 * scale)
        title = f"{panel.name}, {'%' if panel.share else 'mean'}"
        place.set_title(title, loc="left", fontsize=scale * _LARGE, pad=5 * scale, color=GRAY, parse_math=False)
        lighten(place, grid="x")
    (sure, *_) = (variable.confidence_level for variable in found)
    axes.plot([], [], marker="o", markersize=5, **look, label=f"{label}, with {100 * sure:.6g} % CI")
    legend(axes)
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]}", found.caption, private=found.private)
    return axes


# --- The chapter of the report

_MOST_PICTURES = 24
"""More variables than these are not drawn; the table has them all."""


def chapter(found: DescribeEstimate, truth: DescribeEstimate | None) -> Chapter:
    """What described variables say."""
    if truth is not None:
        if not isinstance(truth, DescribeEstimate) or truth.private:
            raise ParameterError("the truth of described variables must be exact values of the same variables")
        truth = found.exact(truth)
    assert found.provenance is not None
    names = [variable.column for variable in found]
    title = about(found)
    of_groups = "" if found.by is None else f" of each of {len(found.groups)} groups of {found.by},"
    counting = [variable.column for variable in found if variable.count_missing]
    known = f"; of {', '.join(counting)} how many records have a value" if counting else ""
    return Chapter(
        title=f"{title[0].upper()}{title[1:]}",
        subject=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        provenance=found.provenance,
        headline=f"{', '.join(names)}{'' if found.by is None else f', by {found.by}'}.",
        error=tuple(map(say, notes(found))),
        released=(
            say(
                f"The following{of_groups} within one guarantee: of numbers the sums of the values and of their "
                f"squares, and their distribution at public thresholds; of counted values how many records have "
                f"them{known}."
            ),
        ),
        pictures=_pictures(found, truth),
        alike=bool(found.groups),
        tables=(_table(found, "Characteristics"), None if truth is None else _table(truth, "True values")),
        details=(
            ("Variables", f"{len(names)}"),
            *((("Groups", "public" if found.public_groups else "private"),) if found.groups else ()),
        ),
        exact=truth is not None,
    )


def _table(found: DescribeEstimate, caption: str) -> Html:
    rows: list[Row] = [(line.indented, list(line.cells)) for line in lines(found)]
    return table(caption, ("Variable", *titles(found)), rows)


def _pictures(found: DescribeEstimate, truth: DescribeEstimate | None) -> tuple[Picture, ...]:
    """Of groups a chart for each mean and share; of all records together one chart of all shares."""
    drawn = panels(found)
    exact = [None] * len(drawn) if truth is None or not found.private else panels(truth)
    both = list(zip(drawn, exact, strict=True))
    if not found.groups:
        shares = [pair for pair in both if pair[0].share]
        dots = [_dot(panel.name, panel.points[0], other.points[0] if other else None) for panel, other in shares]
        left, what = len(dots) - MOST_ROWS, "shares"
        some = [_chart(found, "Shares", "Share of the records", dots[:MOST_ROWS], shares=True)] if dots else []
        return _noted([Picture(chart) for chart in some], left, what)
    if len(titles(found)) > MOST_ROWS:
        return ()
    made = [Picture(_of_groups(found, panel, other), panel.name) for panel, other in both[:_MOST_PICTURES]]
    return _noted(made, len(both) - _MOST_PICTURES, "means and shares")


def _noted(pictures: list[Picture], left: int, what: str) -> tuple[Picture, ...]:
    """The pictures; the last says how many numbers are in the table alone."""
    if left > 0:
        pictures[-1] = dataclasses.replace(pictures[-1], note=f"{left:,} more {what} are in the table alone.")
    return tuple(pictures)


def _of_groups(found: DescribeEstimate, panel: Panel, exact: Panel | None) -> DotChart:
    others = [None] * len(panel.points) if exact is None else exact.points
    dots = [_dot(*each) for each in zip(titles(found), panel.points, others, strict=True)]
    title = f"{'Share of records with ' if panel.share else 'Mean of '}{panel.name} by {found.by}"
    return _chart(found, title, "Share of the records" if panel.share else "Mean", dots, shares=panel.share)


def _dot(name: str, point: Point | None, exact: Point | None) -> Dot:
    value, low, high = (None, 0.0, 0.0) if point is None else point
    return Dot(name, value, low, high, None if exact is None else exact[0])


def _chart(found: DescribeEstimate, title: str, label: str, dots: list[Dot], *, shares: bool) -> DotChart:
    level = words.percent(found.variables[0].confidence_level)
    truth = (("truth", "True value of these records"),) if any(dot.truth is not None for dot in dots) else ()
    return DotChart(
        title=title,
        label=label,
        dots=tuple(dots),
        summary=f"{title}: each with its {level} interval. The table below has the numbers.",
        shares=shares,
        legend=(("interval", f"{level} interval for the population"), *truth),
    )
