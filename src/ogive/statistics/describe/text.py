"""Described variables for people: the first table of a report."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from ogive.showing.view import Card
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import Line, columns_of, lines, notes, titles
from ogive.statistics.describe.variables import KNOWN
from ogive.statistics.groups.view import WIDEST
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate, ProportionEstimate

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


# --- Columns of a data frame

_QUARTILES = ("q1", "median", "q3")


def columns(found: DescribeEstimate) -> dict[str, Any]:
    """The variable, the value that is counted, the group, the number's name, the number, its error and its interval.

    The group of all records is None. The standard error of an SD is that of its noise alone.
    """
    names = ("variable", "value", "group", "statistic", "estimate", "standard_error", "low", "high")
    rows = []
    for variable in found:
        counted = str(getattr(variable, "positive", "")) or None
        for group in columns_of(found):
            parts = found.of(variable.column, group)
            for part, estimate in parts.items():
                shown = None if group is None else str(group)
                if part == KNOWN:
                    rows.append((variable.column, None, shown, "missing", *_missing(estimate)))
                elif isinstance(estimate, HistogramEstimate):
                    rows += [(variable.column, row[0], shown, *row[1:]) for row in _categories(estimate)]
                elif not (found.bounded(variable.column) and _has_records(parts, estimate)):
                    rows += [(variable.column, counted, shown, row[0], *(None,) * 4) for row in _rows(estimate)]
                else:
                    rows += [(variable.column, counted, shown, *row) for row in _rows(estimate)]
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _has_records(parts: Mapping[str, Any], estimate: Any) -> bool:
    """Whether noise leaves records; of none there is no median, whatever is read off the noise."""
    return not isinstance(estimate, QuantileEstimates) or parts["mean"].defined


def _rows(estimate: Any) -> Iterator[tuple[str, float | None, float | None, float | None, float | None]]:
    if isinstance(estimate, QuantileEstimates):
        for name, value, low, high in zip(_QUARTILES, estimate.numbers, estimate.low, estimate.high, strict=True):
            yield name, value, None, low, high
        return
    assert isinstance(estimate, NumberEstimate)
    if isinstance(estimate, MeanEstimate | ProportionEstimate):
        yield "n", max(0.0, estimate.records), None, None, None
    if not estimate.defined:
        yield estimate.what, None, None, None, None
        return
    yield estimate.what, estimate.value, estimate.standard_error, *estimate.interval()
    if isinstance(estimate, MeanEstimate):
        yield "sd", estimate.standard_deviation, estimate.standard_deviation_error, None, None


def _missing(known: Any) -> tuple[float | None, ...]:
    """The share of the records without a value, its error and interval."""
    if not known.defined:
        return (None,) * 4
    low, high = known.interval()
    return 1 - known.value, known.standard_error, 1 - high, 1 - low


def _categories(found: HistogramEstimate) -> Iterator[tuple[str | None, str, float | None, Any, Any, Any]]:
    """How many records there are, and the share of each category."""
    yield None, "n", max(0.0, found.records), None, None, None
    for category, share, error, (low, high) in zip(
        found.categories, found.shares, found.standard_errors, found.intervals(), strict=True
    ):
        told = (share, error, low, high) if found.defined else (None, None, None, None)
        yield category, "proportion", *told
