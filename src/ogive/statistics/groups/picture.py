"""Estimates of groups over each other, single numbers side by side: picture and chapter of a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Unpack

from ogive.columns import LabelValue
from ogive.core.rooms import room
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, Dot, DotChart
from ogive.showing.parts import Row, say, table
from ogive.showing.pictures import (
    COLORS,
    Style,
    caption,
    heading_of,
    intervals,
    legend,
    lighten,
    new_axes,
    new_figure,
    retitle,
    styled,
)
from ogive.statistics.base import Estimate
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.text import about, cells, notes, titles_of
from ogive.statistics.sums.estimate import NumberEstimate, ProportionEstimate

# --- Small multiples: each group in axes of its own

MOST_TOGETHER, MOST_PANELS = 4, 60
"""Groups whose curves and bands are still told apart in one picture, and most that a page of panels holds."""

_COLUMNS = 3
_WIDTH, _HEIGHT, _ABOVE = 3.3, 2.5, 0.8
"""Inches of one panel, and of what stands above all."""


def draw_panels(
    found: GroupEstimates[Any], draw: Callable[..., Any], names: Sequence[str], style: dict[str, Any]
) -> Any:
    """Draw each group into axes of its own; the guarantee stands above them once."""
    number = len(found.groups)
    columns = _COLUMNS if number > _COLUMNS + 1 else 2
    rows = -(-number // columns)
    figure = new_figure((columns * _WIDTH, rows * _HEIGHT + _ABOVE))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, (axes, name, estimate) in enumerate(zip(panels.flat, names, found.estimates, strict=False)):
        draw(estimate, axes, **style)
        shown = dict.fromkeys(axes.get_legend_handles_labels()[1])
        if axes.get_legend() is not None:
            axes.get_legend().remove()
        heading_of(axes).only(name)
        if place + columns < number:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        else:
            axes.tick_params(labelbottom=True)
        if place % columns:
            axes.set_ylabel("")
    for axes in panels.flat[number:]:
        axes.remove()
    title = about(found)
    heading = f"{title[0].upper()}{title[1:]} by {found.by}: {'; '.join(shown)}\n{found.caption}"
    figure.suptitle(heading, fontsize=9.5, x=0.01, ha="left", parse_math=False, wrap=True)
    return panels.flat[0]


_DASHES = ("-", "--", ":", "-.")


def draw(found: GroupEstimates[Any], ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw all groups into one picture with a legend; 5 to 60 groups side by side, in axes of their own."""
    styled(style)
    look: dict[str, Any] = {name: value for name, value in style.items() if name != "label"}
    before = f"{style['label']}, " if "label" in style else ""
    first = found.estimates[0]
    own = room(type(first), "picture")
    if hasattr(first, "reading"):
        axes = _numbers(found, ax, {"color": COLORS[0], **style})
    elif hasattr(own, "draw_groups"):
        labels = [f"{before}{_label(found.by, group, estimate)}" for group, estimate in found]
        axes = own.draw_groups(found.estimates, labels, ax, COLORS, look, found.caption)
        retitle(axes, f"by {found.by}")
        legend(axes)
    elif ax is None and MOST_TOGETHER < len(found.groups) <= MOST_PANELS:
        names = [f"{before}{_label(found.by, group, estimate)}" for group, estimate in found]
        axes = draw_panels(found, own.draw, names, {"color": COLORS[0], **look})
    else:
        axes = ax
        for number, (group, estimate) in enumerate(found):
            turn = number if "color" in look else number // len(COLORS)
            dashes = {"linestyle": _DASHES[turn % len(_DASHES)]} if turn else {}
            color = COLORS[number % len(COLORS)]
            mine = {"color": color, **dashes, **look, "label": f"{before}{_label(found.by, group, estimate)}"}
            # one guarantee for all, which stands above them once
            alike = estimate if found.provenance is None else estimate.with_provenance(found.provenance)
            axes = own.draw(alike, axes, **mine)
        seen = set()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label in seen:  # what all groups have in common is said once
                handle.set_label("_")
            seen.add(label)
        retitle(axes, f"by {found.by}")
        legend(axes)
    return axes


def _label(by: str, group: LabelValue, estimate: Estimate) -> str:
    """What the legend says of a group: its name, and a number where the picture has one for each curve."""
    name = group if isinstance(group, str) else f"{by} = {group}"
    plot = room(type(estimate), "picture")
    return f"{name}: {plot.key(estimate)}" if hasattr(plot, "key") else name


def _numbers(found: GroupEstimates[Any], ax: Any, style: Style) -> Any:
    """A point with its interval for each group, one below the other."""
    told = [(str(group), estimate) for group, estimate in found if estimate.defined]
    if not told:
        raise ParameterError("noise leaves no number of any group to draw")
    axes = new_axes(ax, size=(7.2, max(2.6, 1.6 + 0.32 * len(told))))
    names, each = zip(*told, strict=True)
    intervals(axes, names, [one.value for one in each], [one.interval() for one in each], style)
    axes.set_xlabel(f"{each[0].subject}, with {100 * each[0].confidence_level:.6g} % intervals")
    axes.set_ylabel(found.by)
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]} by {found.by}", found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes


# --- The chapter of the report

_Part = TypeVar("_Part")

_MOST_PICTURES = 12


def chapter(found: GroupEstimates[Any], truth: GroupEstimates[Any] | None) -> Chapter:
    """What estimates of groups say."""
    if truth is not None and (not isinstance(truth, GroupEstimates) or truth.private):
        raise ParameterError(f"the truth of groups of {found.by} must be exact values of the same groups")
    exact: tuple[Any, ...] = (None,) * len(found) if truth is None else found.exact(truth)
    assert found.provenance is not None
    each = [
        room(type(estimate), "picture").chapter(estimate, other)
        for estimate, other in zip(found.estimates, exact, strict=True)
    ]
    names = [f"{found.by} = {group}" for group in found.groups]
    pictures = [
        dataclasses.replace(part.pictures[0], name=name)
        for name, part in zip(names, each, strict=True)
        if part.pictures
    ]
    left = len(pictures) - _MOST_PICTURES
    shown = pictures[:_MOST_PICTURES]
    if left > 0:
        last: Picture = shown[-1]
        shown[-1] = dataclasses.replace(last, note=f"{left:,} more groups are not drawn.")
    if not shown:
        shown = _number_words(found, exact)
    known = "The group of each record is public, and so is the number of records in each group."
    return Chapter(
        title=f"{each[0].title} by {found.by}",
        subject=each[0].subject,
        provenance=found.provenance,
        headline=" ".join(f"{name}: {part.headline}" for name, part in zip(names[:3], each, strict=False)),
        error=(
            say("The noise of different groups is independent. Smaller groups have larger errors."),
            *_common([part.error for part in each]),
        ),
        released=(
            say(f"The following of each of {len(found)} groups of {found.by}, all under one guarantee."),
            *_common([part.released for part in each]),
            *(say(f"{note[0].upper()}{note[1:]}.") for note in notes(found)),
            *((say(known),) if found.private and found.public_groups else ()),
        ),
        pictures=tuple(shown),
        alike=True,
        tables=(
            _table(found),
            _contrasts(found),
            None if truth is None else _table(dataclasses.replace(found, estimates=exact), "True values"),
        ),
        details=(("Groups", "public" if found.public_groups else "private"), *_common([part.details for part in each])),
        warning=each[0].warning if all(part.warning for part in each) else None,
        exact=truth is not None,
    )


def _number_words(found: GroupEstimates[Any], exact: tuple[Any, ...]) -> list[Picture]:
    """One chart of the number of every group, where groups have numbers."""
    numbers = [each for each in found.estimates if isinstance(each, NumberEstimate)]
    if not numbers or len(numbers) < len(found) or len(numbers) > MOST_ROWS:
        return []
    first = numbers[0]
    dots = tuple(
        Dot(
            f"{found.by} {group}",
            each.value if each.defined else None,
            *(each.interval() if each.defined else (0.0, 0.0)),
            other.value if first.private and other is not None and other.defined else None,
        )
        for group, each, other in zip(found.groups, numbers, exact, strict=True)
    )
    interval = f"{words.percent(first.confidence_level)} interval for the population"
    truth = (("truth", "True value of these records"),) if any(dot.truth is not None for dot in dots) else ()
    chart = DotChart(
        title=f"{first.what.capitalize()} of {first.subject} by {found.by}",
        label=f"{first.what.capitalize()} of {first.subject}",
        dots=dots,
        summary=f"The {first.what} of {first.subject} of each group of {found.by} with its interval.",
        shares=isinstance(first, ProportionEstimate),
        legend=(("interval", interval), *truth),
    )
    return [Picture(chart)]


def _common(each: list[tuple[_Part, ...]]) -> list[_Part]:
    """What the chapters of all groups say alike; what they say of one group alone is in the table."""
    return [part for part in each[0] if all(part in other for other in each[1:])]


def _contrasts(found: GroupEstimates[Any]) -> Any:
    """A table of differences and ratios, where there are any."""
    if not found.contrasts:
        return None
    rows: list[Row] = []
    for each in found.contrasts:
        value, low, high = map(words.minus, each.shown) if each.defined else ("-", "-", "-")
        ends = f"{low} to {high}" if each.defined else "-"
        head = each.head
        rows.append((f"{head[0].upper()}{head[1:]}", [value, words.percent(each.confidence_level), ends]))
    about = "Intervals count the noise and the sampling of both groups. A dash stands where noise leaves no number."
    return table("Groups compared", ("Comparison", "Value", "Level", "Interval"), rows, about)


def _table(found: GroupEstimates[Any], caption: str | None = None) -> Any:
    rows: list[Row] = [(str(group), list(cells(estimate))) for group, estimate in found]
    what = about(found)
    return table(caption or f"{what[0].upper()}{what[1:]}", (found.by, *titles_of(found)), rows)
