"""Rows of a plan side by side: every plan is printed by these columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """One column.

    Fields:
        title: Its heading.
        cell: What it says of a row.
        left: Whether cells are set to the left, as texts are.
        least: How wide it is at least.
    """

    title: str
    cell: Callable[[RowT], str]
    left: bool = False
    least: int = 0


class Table(Generic[RowT]):
    """Cells of all rows, aligned, so that rows can be shown in several parts.

    Args:
        columns: From left to right.
        rows: All that will be shown.
    """

    def __init__(self, columns: Sequence[Column[RowT]], rows: Sequence[RowT]) -> None:
        self._columns = columns
        cells = [[column.cell(row) for row in rows] for column in columns]
        self._widths = [
            max([column.least, len(column.title), *map(len, shown)])
            for column, shown in zip(columns, cells, strict=True)
        ]

    @property
    def heading(self) -> str:
        """The titles."""
        return self._line([column.title for column in self._columns])

    def line(self, row: RowT) -> str:
        """The cells of one row."""
        return self._line([column.cell(row) for column in self._columns])

    def _line(self, cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for column, width, cell in zip(self._columns, self._widths, cells, strict=True)
        ]
        return "  ".join(parts).rstrip()
