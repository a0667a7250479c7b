"""The chapter of estimates of groups: a table of all groups, and the picture of each."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.chapter import Chapter, Picture
from ogive.html.chart_dots import MOST_ROWS, Dot, DotChart
from ogive.html.parts import Row, say, table
from ogive.rooms import room
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.text import about, cells, notes, titles_of
from ogive.statistics.sums.estimate import NumberEstimate, ProportionEstimate

_Part = TypeVar("_Part")

_MOST_PICTURES = 12


def chapter(found: GroupEstimates[Any], truth: GroupEstimates[Any] | None) -> Chapter:
    """What estimates of groups say.

    Args:
        found: As released.
        truth: The same without noise, of the same groups, or None.

    Raises:
        ParameterError: the truth is private, or of other groups.
    """
    if truth is not None and (not isinstance(truth, GroupEstimates) or truth.private):
        raise ParameterError(f"the truth of groups of {found.by} must be exact values of the same groups")
    exact: tuple[Any, ...] = (None,) * len(found) if truth is None else found.exact(truth)
    assert found.provenance is not None
    each = [
        room(type(estimate), "chapter").chapter(estimate, other)
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
        shown = _numbers(found, exact)
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


def _numbers(found: GroupEstimates[Any], exact: tuple[Any, ...]) -> list[Picture]:
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
