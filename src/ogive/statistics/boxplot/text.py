"""Boxplots for people: a table."""

from __future__ import annotations

from typing import Any

from ogive.privacy import Adjacency
from ogive.showing.axis import shown
from ogive.showing.view import Card
from ogive.statistics.boxplot.boxes import CONFIDENCE_LEVEL, NUMBERS, Box, Interval, Intervals
from ogive.statistics.boxplot.estimate import PUBLIC_GROUPS, Boxplots

LOUD = 0.1
"""Noise, as a share of the records, from which quartiles are imprecise."""

_HEADINGS = ("low end", "Q1", "median", "Q3", "high end", "beyond", "records")
PERCENT = f"{100 * CONFIDENCE_LEVEL:g} %"


def head(boxplots: Boxplots) -> str:
    """What is shown, in a clause."""
    return f"boxplot of {boxplots.column}" + ("" if boxplots.by is None else f" by {boxplots.by}")


def rows(boxplots: Boxplots) -> list[tuple[str, ...]]:
    """The cells of each box: its group, five numbers, how many records lie beyond the whiskers, and of how many."""
    return [(_group(box), *_cells(boxplots, box)) for box in boxplots.boxes]


def notes(boxplots: Boxplots) -> list[str]:
    """Notes on how to read the boxes, such as which of them hold no records."""
    found = []
    if any(box.intervals for box in boxplots.boxes):
        found.append(
            f"in brackets: {PERCENT} confidence intervals for the population, simultaneous for the three of a box"
        )
    if boxplots.private and boxplots.public_groups:
        found.append(PUBLIC_GROUPS)
    if boxplots.method == "five_numbers":
        found.append("about as many records as were allowed lie beyond the ends; they are not shown")
    elif boxplots.private:
        found.append("outliers are synthetic: they follow from the private curve, and none of them is a record")
    for box in boxplots.boxes:
        name = "the box" if box.group is None else f"the box of {box.group}"
        if not box.told:
            found.append(f"{name} is empty: {no_records(boxplots)}")
        elif box.flat:
            found.append(
                f"{name} is flat: at least half of the records seem to have the same value, or to differ by less "
                "than a bin"
            )
    if any(curve.approximates for curve in boxplots.curves):
        found.append("the boxes come from approximate curves: they are too tall if the bounds are far too wide")
    for box, curve in zip(boxplots.boxes, boxplots.curves, strict=False):
        if boxplots.private and box.told and curve.rmse() >= LOUD:
            name = "the box" if box.group is None else f"the box of {box.group}"
            found.append(
                f"{name} is imprecise: noise changes its curve by {curve.rmse():.2g} of the records (root mean "
                "square, before smoothing)"
            )
    return found


def no_records(boxplots: Boxplots) -> str:
    """Why a box is not drawn."""
    known = not boxplots.private or boxplots.public_groups
    return "there are no records" if known else "noise leaves no records"


def _terms(boxplots: Boxplots) -> str:
    known = "; groups are public" if boxplots.private and boxplots.public_groups else ""
    return f"{boxplots.provenance}{known}"


def _group(box: Box) -> str:
    return "all" if box.group is None else str(box.group)


def _cells(boxplots: Boxplots, box: Box) -> tuple[str, ...]:
    if not box.told:
        return ("-",) * len(_HEADINGS[:-1]) + ("0",)
    numbers = tuple(number(boxplots, box, name) for name in NUMBERS)
    beyond = "not shown" if box.below is None or box.above is None else f"{box.below} + {box.above}"
    sizes_are_known = not boxplots.private or boxplots.public_groups or _counted(boxplots)
    records = "private" if box.records is None else f"{'' if sizes_are_known else 'about '}{box.records:,.0f}"
    return (*numbers, beyond, records)


def number(boxplots: Boxplots, box: Box, name: str) -> str:
    """One number of a box, with its interval in brackets where it has one."""
    interval = getattr(box.intervals, name, None)
    value = alone(boxplots, box, name)
    return value if interval is None else f"{value} ({between(boxplots, interval)})"


def alone(boxplots: Boxplots, box: Box, name: str) -> str:
    """One number of a box with the digits of its interval, or of the widest where it has none."""
    interval = getattr(box.intervals, name, None)
    widths = [each.high - each.low for each in ((interval,) if interval else box.intervals or ())]
    return shown(boxplots.grid, getattr(box, name), max(widths, default=0.0))


def between(boxplots: Boxplots, interval: Interval) -> str:
    """The ends of an interval."""
    return " to ".join(shown(boxplots.grid, end, interval.high - interval.low) for end in interval)


def _counted(boxplots: Boxplots) -> bool:
    """Whether all records are in one box, and their number is public."""
    return boxplots.by is None and boxplots.adjacency is Adjacency.REPLACE


def summary(boxplots: Boxplots) -> str:
    """A table in plain text."""
    table = [("group" if boxplots.by is None else boxplots.by, *_HEADINGS), *rows(boxplots)]
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = [f"{head(boxplots)} ({_terms(boxplots)})"]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *notes(boxplots)])


def short(boxplots: Boxplots) -> str:
    """A few words."""
    boxes = len(boxplots.boxes)
    return f"{head(boxplots).removeprefix('boxplot ')}: {boxes} {'box' if boxes == 1 else 'boxes'}"


def card(boxplots: Boxplots) -> Card:
    """What notebooks show."""
    return Card(
        f"B{head(boxplots)[1:]}",
        [("privacy", _terms(boxplots))],
        ("group" if boxplots.by is None else boxplots.by, *_HEADINGS),
        rows(boxplots),
        notes(boxplots),
    )


# --- Columns of a data frame


def columns(boxplots: Boxplots) -> dict[str, Any]:
    """Group, five numbers, ends of intervals, records beyond the whiskers, and records; None where not told."""
    boxes = boxplots.boxes
    found: dict[str, Any] = {} if boxplots.by is None else {boxplots.by: [box.group for box in boxes]}
    for name in NUMBERS:
        found[name] = [boxplots.grid.label(getattr(box, name)) if box.told else None for box in boxes]
    for name in Intervals._fields:
        intervals = [getattr(box.intervals, name, None) if box.told else None for box in boxes]
        for place, end in enumerate(("low", "high")):
            found[f"{name}_{end}"] = [None if ends is None else boxplots.grid.label(ends[place]) for ends in intervals]
    for name in ("below", "above", "records"):
        found[name] = [getattr(box, name) for box in boxes]
    return found
