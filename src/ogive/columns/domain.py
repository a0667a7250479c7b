"""Several columns side by side, and what the columns of a table hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ogive.columns.categories import MAX_SYMBOLS, Categories, Label, Listed, Membership
from ogive.columns.grids import Binning, Column
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, quoted

MAX_GROUPS = 1000


def _none_known(columns: Sequence[str]) -> Sequence[str]:
    """Which columns have missing values, where the table is not read for it."""
    return ()


def _no_remedy(column: str) -> str:
    """Nothing: the table's numbers have a type."""
    return ""


@dataclass(frozen=True)
class Schema:
    """What the columns of a table hold, which is public.

    Fields:
        columns: Their names, in order.
        kind: Of a column: "numbers", "truth values", "dates", "times", "text", "no values at all", or others. Of a text
            file this reads cells.
        guessed: Whether kinds are guessed from the cells, since the table declares none.
        person: The column that identifies the person; None where a person has one record.
        with_missing: Which of some columns have missing values, as far as the table can be read for it. This is secret,
            and may only tell more of what a refusal of missing values tells anyway.
        number_remedy: What makes numbers of a column of text whose cells look like numbers with decimal commas, or with
            points between thousands, as its kind is guessed; nothing for others.
    """

    columns: tuple[str, ...]
    kind: Callable[[str], str]
    guessed: bool
    person: str | None = None
    with_missing: Callable[[Sequence[str]], Sequence[str]] = _none_known
    number_remedy: Callable[[str], str] = _no_remedy


@dataclass(frozen=True)
class Domain:
    """Several columns side by side; a symbol is one combination of their bins and categories.

    Symbols are numbered with the last column fastest: of two columns of sizes (a, b), `i * b + j`.

    Fields:
        columns: At least one; no two of one name.

    Raises:
        ParameterError: there is no column, or one twice.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise ParameterError("name at least one column")
        names = [column.column for column in self.columns]
        twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if twice is not None:
            raise ParameterError(f"each column must be named once, but {quoted(twice)} is named twice")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Symbols of each column."""
        return tuple(column.size for column in self.columns)

    @cached_property
    def size(self) -> int:
        """Symbols of all columns together, k."""
        return math.prod(self.sizes)

    def check_size(self, most: int = MAX_SYMBOLS) -> int:
        """The number of symbols, if it is not too large to be held in an array.

        Raises:
            ParameterError: it is.
        """
        if self.size > most:
            raise ParameterError(f"the columns have {self.size} combinations of bins, more than {most}; use fewer bins")
        return self.size

    def symbols(self, rows: Float64) -> Int64:
        """Symbol of each row of numbers, shape (n,) from (n, columns), in 0..size-1; no NaN."""
        first, *others = self.columns
        result = first.symbols(rows[:, 0])
        for number, column in enumerate(others, 1):
            result = result * column.size + column.symbols(rows[:, number])
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"columns": [{"type": column.kind, **column.to_dict()} for column in self.columns]}

    @staticmethod
    def from_dict(data: Any) -> Domain:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        columns = data.get("columns") if isinstance(data, dict) else None
        if not isinstance(columns, list) or not all(isinstance(each, dict) for each in columns):
            raise ParameterError("a domain must be an object with a list of columns")
        kinds: dict[Any, Any] = {column.kind: column for column in (Binning, Categories, Label, Listed, Membership)}
        unknown = [each for each in columns if str(each.get("type")) not in kinds]
        if unknown:
            raise ParameterError(
                f"a column's type must be {', '.join(kinds)}, got {quoted(str(unknown[0].get('type'))[:40])}"
            )
        return Domain(tuple(kinds[each["type"]].from_dict(each) for each in columns))
