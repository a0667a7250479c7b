"""Estimates of groups for people: a small table.

The cells of a line are those of the module `text` beside the class of the estimates.
"""

from __future__ import annotations

from typing import Any

from ogive.core.rooms import room
from ogive.statistics.base import Card, Estimate, aligned
from ogive.statistics.groups.estimate import GroupEstimates

_SHOWN, _LONG = 4, 40

WIDEST = 100
"""Letters of a line that a terminal has room for."""


def summary(found: GroupEstimates[Any]) -> str:
    """A table in plain text, a line for each group; turned round where lines would be too long."""
    head = f"{about(found)} by {found.by} ({found.caption})"
    table = [(found.by, *titles_of(found)), *((str(group), *cells(estimate)) for group, estimate in found)]
    lines = aligned(table)
    if max(map(len, lines)) > WIDEST:
        turned = aligned(list(zip(*table, strict=True)))
        lines = min(lines, turned, key=lambda shown: max(map(len, shown)))
    return "\n".join([head, *lines, *map(str, found.contrasts), *notes(found)])


def short(found: GroupEstimates[Any]) -> str:
    """A few words: what of which groups."""
    listed = ", ".join(str(group) for group in found.groups[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
    return f"{about(found)[:_LONG]} by {found.by[:_LONG]}: {listed[:_LONG]}"


def card(found: GroupEstimates[Any]) -> Card:
    """What notebooks show."""
    rows = [(str(group), *cells(estimate)) for group, estimate in found]
    title = about(found)
    named = f"{title[0].upper()}{title[1:]} by {found.by}"
    said = [*map(str, found.contrasts), *notes(found)]
    return Card(named, [("privacy", found.caption)], (found.by, *titles_of(found)), rows, said)


def notes(found: GroupEstimates[Any]) -> list[str]:
    """What is said of groups that were found and not named: which there may be besides."""
    if found.threshold is None:
        return []
    return [
        f"groups were found: values of {found.by} with fewer than about {found.threshold:,} records are in no group, "
        "nor are records without a value"
    ]


def about(found: GroupEstimates[Any]) -> str:
    """What was released of each group."""
    return str(room(type(found.estimates[0]), "text").line_about(found.estimates[0]))


def titles_of(found: GroupEstimates[Any]) -> tuple[str, ...]:
    """Headings of a line for each group."""
    first: Estimate = found.estimates[0]
    titles: tuple[str, ...] = room(type(first), "text").line_titles(first)
    return titles


def cells(estimate: Estimate) -> tuple[str, ...]:
    """The cells of a group's line."""
    found: tuple[str, ...] = room(type(estimate), "text").line_cells(estimate)
    return found


# --- Columns of a data frame


def columns(found: GroupEstimates[Any]) -> dict[str, Any]:
    """The group, then what the frame of its estimate has."""
    each = [room(type(estimate), "text").columns(estimate) for estimate in found.estimates]
    sizes = [max(len(values) for values in part.values()) for part in each]
    name = "group" if found.by in each[0] else found.by
    groups = [group for group, size in zip(found.groups, sizes, strict=True) for _ in range(size)]
    return {name: groups, **{column: [value for part in each for value in part[column]] for column in each[0]}}
