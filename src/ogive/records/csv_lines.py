"""Where in a CSV file a wrong cell is: the first row of which a condition holds, and the line on which it begins.

The engine that reads the cells counts a line break within quotes as none, so lines are counted here as editors do.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ogive.records import engine
from ogive.records.csv_header import open_text


def first_row(table: Any, conditions: Mapping[str, str]) -> tuple[str, int] | None:
    """The first row of which one of several conditions holds, with the name of the condition.

    Args:
        table: The file as a table of the engine.
        conditions: In the engine's language, by name.

    Returns:
        The name, and how many rows are before that row; None where no condition holds of any.
    """
    fields = [f"field{place}" for place in range(len(conditions))]
    asked = (f"({each}) AS {field}" for field, each in zip(fields, conditions.values(), strict=True))
    before = 0
    for flags in engine.stream(table.project(", ".join(asked)), fields):
        places = {name: each.index(True).as_py() for name, each in zip(conditions, flags, strict=True)}
        found = {name: place for name, place in places.items() if place >= 0}
        if found:
            name = min(found, key=lambda each: found[each])
            return name, before + found[name]
        before += len(flags[0])
    return None


def line_of(path: Path, row: int, *, separator: str, columns: int) -> int | None:
    """The line on which a row begins, where the header begins on line 1; None where it cannot be told.

    Args:
        path: A file with a header.
        row: How many rows are before it; blank lines are none, but of a file with one column.
        separator: What is between fields.
        columns: How many there are.
    """
    left = row + 1
    with open_text(path) as file, contextlib.suppress(csv.Error):
        rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), delimiter=separator, strict=True)
        line = 1
        for cells in rows:
            if cells or columns == 1:
                if left == 0:
                    return line
                left -= 1
            line = rows.line_num + 1
    return None
