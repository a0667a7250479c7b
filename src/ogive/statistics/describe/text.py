"""Described variables for people: the first table of a report."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import Line, lines, notes, titles
from ogive.statistics.groups.text import WIDEST
from ogive.statistics.showing import Card

_GAP = "  "
_INNER = "  "
_LONGEST = 40
_SHOWN = 4


def summary(found: DescribeEstimate) -> str:
    """A table of at most 100 columns; groups that do not fit beside each other follow below."""
    head = textwrap.wrap(f"{about(found)} ({found.caption})", WIDEST, subsequent_indent=_INNER)
    body = lines(found)
    labels = [_cut(f"{_INNER * line.inner}{line.label}") for line in body]
    shown = list(head)
    for number, block in enumerate(_blocks(found, body, labels)):
        shown += ([""] if number else []) + block
    for note in notes(found):
        shown += textwrap.wrap(note, WIDEST, break_long_words=False, break_on_hyphens=False)
    return "\n".join(shown)


def _blocks(found: DescribeEstimate, body: list[Line], labels: list[str]) -> Iterator[list[str]]:
    """Parts of the table, each with as many columns as fit."""
    first = max(map(len, ("Variable", *labels)))
    columns = [[title, *(line.cells[place] for line in body)] for place, title in enumerate(map(_cut, titles(found)))]
    widths = [max(map(len, column)) for column in columns]
    start = 0
    while start < len(columns):
        end, taken = start, first
        while end < len(columns) and (end == start or taken + len(_GAP) + widths[end] <= WIDEST):
            taken += len(_GAP) + widths[end]
            end += 1
        some = range(start, end)
        yield [
            _GAP.join([label.ljust(first), *(columns[place][row].rjust(widths[place]) for place in some)]).rstrip()
            for row, label in enumerate(["Variable", *labels])
        ]
        start = end


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def about(found: DescribeEstimate) -> str:
    """What was released."""
    number = len(found)
    variables = f"{number} variable{'s' if number > 1 else ''} described"
    return variables if found.by is None else f"{variables} by {found.by}"


def short(found: DescribeEstimate) -> str:
    """A few words: which variables, and of which groups."""
    names = [each.column for each in found]
    listed = ", ".join(name[:_LONGEST] for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return listed if found.by is None else f"{listed} by {found.by[:_LONGEST]}"


def card(found: DescribeEstimate) -> Card:
    """What notebooks show."""
    title = about(found)
    rows = [(line.indented, *line.cells) for line in lines(found)]
    return Card(title, [("privacy", found.caption)], ("Variable", *titles(found)), rows, notes(found))
