"""Areas between groups for people: a table of all pairs, and a line for each group."""

from __future__ import annotations

import itertools
import math
from typing import Any

from ogive.core.digits import number
from ogive.showing.view import Card, aligned, level
from ogive.statistics.group_auc.estimate import Area, GroupAucEstimate

_LONG = 40
_MOST_DIFFERENCES = 6


def summary(found: GroupAucEstimate) -> str:
    """Two tables in plain text, and lines below them."""
    head = f"AUC of {found.score.column} for {found.label.column} by {found.group.column} ({found.caption})"
    parts = [
        aligned([(title(found), *found.names), *rows(found)]),
        aligned([group_titles(found), *group_rows(found)]),
        list(notes(found)),
    ]
    return "\n".join([head, *(f"  {line}" for lines in parts for line in lines)])


def short(found: GroupAucEstimate) -> str:
    """A few words: the columns and the groups."""
    return f"of {found.score.column[:_LONG]} by {found.group.column[:_LONG]}: {len(found.names)} groups"


def card(found: GroupAucEstimate) -> Card:
    """What notebooks show."""
    name = f"AUC of {found.score.column} for {found.label.column} by {found.group.column}"
    below = [f"{row[0]}: " + ", ".join(map(" ".join, zip(group_titles(found)[1:], row[1:], strict=True)))
             for row in group_rows(found)]  # fmt: skip
    facts = [("privacy", found.caption)]
    return Card(name, facts, (title(found), *found.names), rows(found), [*below, *notes(found)])


def title(found: GroupAucEstimate) -> str:
    """Heading of the names of rows."""
    return "positives \\ negatives"


def rows(found: GroupAucEstimate) -> list[tuple[str, ...]]:
    """A line for each group of positives."""
    return [(name, *map(told, row)) for name, row in zip(found.names, found.table(), strict=True)]


def group_titles(found: GroupAucEstimate) -> tuple[str, ...]:
    """Headings of the lines of groups."""
    return (found.group.column, "positives", "negatives", "AUC within", "BPSN AUC", "BNSP AUC")


def group_rows(found: GroupAucEstimate) -> list[tuple[str, ...]]:
    """A line for each group: its classes, and the areas within it and against all others."""
    lines = []
    for name, (negatives, positives) in zip(found.names, found.sizes, strict=True):
        areas = (found.between(name, name), found.bpsn(name), found.bnsp(name))
        lines.append((name, f"{positives:,.0f}", f"{negatives:,.0f}", *map(told, areas)))
    return lines


def told(area: Area) -> str:
    """An area with its interval."""
    if math.isnan(area.value):
        return "-"
    return "{} ({} to {})".format(*(number(each, area.high - area.low) for each in area))


def notes(found: GroupAucEstimate) -> tuple[str, ...]:
    """What is said below the tables."""
    said = [
        f"rows: group of the positives; columns: group of the negatives; {level(found)} intervals, each alone, for the "
        "population",
        "BPSN: positives of all other groups against negatives of this one; BNSP: positives of this one against "
        "negatives of all others",
    ]
    pairs = list(itertools.combinations(found.names, 2))
    if len(pairs) <= _MOST_DIFFERENCES:
        for one, other in pairs:
            within, across = found.difference(one, other), found.cross_difference(one, other)
            if math.isnan(within.value) and math.isnan(across.value):
                continue
            said.append(
                f"{one} and {other}: AUC within {difference(within)}; {one} over {other} less {other} over {one} "
                f"{difference(across)}"
            )
    if not found.defined:
        said.append("warning: noise may account for a whole class of every pair; no area is defined")
    elif math.isfinite(found.tie_bound):
        said.append(f"ties within bins move an AUC within a group by at most {found.tie_bound:.2g}, which is included")
    return tuple(said)


def difference(area: Area) -> str:
    """A difference of two areas, with its sign."""
    if math.isnan(area.value):
        return "undefined"
    value, low, high = (number(each, area.high - area.low) for each in area)
    return f"{'+' if area.value > 0 else ''}{value} ({low} to {high})"


# --- A line in a table of groups


def line_about(found: GroupAucEstimate) -> str:
    """What was released."""
    return f"AUC of {found.score.column} for {found.label.column} within groups of {found.group.column}"


def line_titles(found: GroupAucEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return tuple(f"{found.group.column} = {name}" for name in found.names)


def line_cells(found: GroupAucEstimate) -> tuple[str, ...]:
    """The area within each group, with its interval."""
    return tuple(told(found.between(name, name)) for name in found.names)


# --- Columns of a data frame


def columns(found: GroupAucEstimate) -> dict[str, Any]:
    """Groups of positives and negatives, with the area and the ends of its interval."""
    areas = list(itertools.chain(*found.table()))
    pairs = list(itertools.product(found.names, found.names))
    return {
        "positives": [group for group, _ in pairs],
        "negatives": [group for _, group in pairs],
        "auc": [area.value for area in areas],
        "auc_low": [area.low for area in areas],
        "auc_high": [area.high for area in areas],
    }
