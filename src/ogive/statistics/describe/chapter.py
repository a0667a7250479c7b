"""The chapter of described variables: the first table of a report."""

from __future__ import annotations

import dataclasses

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.chapter import Chapter, Picture
from ogive.html.chart_dots import MOST_ROWS, Dot, DotChart
from ogive.html.markup import Html
from ogive.html.parts import Row, say, table
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import lines, notes, titles
from ogive.statistics.describe.panels import Panel, Point, panels
from ogive.statistics.describe.text import about

_MOST_PICTURES = 24
"""More variables than these are not drawn; the table has them all."""


def chapter(found: DescribeEstimate, truth: DescribeEstimate | None) -> Chapter:
    """What described variables say.

    Args:
        found: As released.
        truth: The same without noise, or None.

    Raises:
        ParameterError: the truth is private, or of other variables or groups.
    """
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
