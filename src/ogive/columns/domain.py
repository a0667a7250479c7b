"""A column of numbers on a grid, several columns side by side, and what the columns of a table hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.columns.categories import (
    MAX_SYMBOLS,
    Categories,
    Label,
    Listed,
    Membership,
    OpenCategories,
    is_value,
    text_field,
)
from ogive.columns.grids import Bound, Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among
from ogive.errors import ParameterError, quoted

# --- A column of numbers or dates on a grid

MissingPolicy = Literal["refuse", "low", "high", "drop"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
OutsidePolicy = Literal["clip", "refuse"]
OUTSIDE_POLICIES: tuple[OutsidePolicy, ...] = get_args(OutsidePolicy)
FRACTION_POLICIES = ("up", "refuse")
Missing = MissingPolicy | Bound
"""What a missing value means: one of `MISSING_POLICIES`, or the public value that it is counted as."""


@dataclass(frozen=True)
class Binning:
    """How a record is mapped to a bin.

    Fields:
        column: Name of a numeric or temporal column.
        grid: Public thresholds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (counted at that
            bound), "drop" (not counted; only where the number of records is private), or a public value within the
            bounds, as which it is counted. Dates and times are held as ISO text.
        outside: What a value outside the grid's bounds means: "clip" (counted at the nearer bound) or
            "refuse" (an error).
        fractions: What a value between two whole numbers means on a grid of integers: "up" (counted at the next
            whole number, as a distribution function counts it) or "refuse" (an error: it has no place there).
    """

    kind: ClassVar[str] = "binning"
    """In digests and stored files, whatever the class is called."""

    column: str
    grid: Grid
    missing: Missing = "refuse"
    outside: str = "clip"
    fractions: str = "up"

    def __post_init__(self) -> None:
        among(self.outside, "outside", OUTSIDE_POLICIES)
        among(self.fractions, "fractions", FRACTION_POLICIES)
        if self.fractions == "refuse" and self.grid.kind != "integers":
            raise ParameterError("only a grid of integers can refuse fractions; leave out `fractions='refuse'`")
        if not isinstance(self.missing, str) or self.missing not in MISSING_POLICIES:
            object.__setattr__(self, "missing", self._public_value())

    def _public_value(self) -> float | str:
        """The value that missing ones count as, in its one spelling."""
        try:
            value = self.grid.value(self.missing, "missing")
        except ParameterError:
            if not isinstance(self.missing, str) or is_value(self.missing):
                raise
            raise ParameterError(
                "`missing` must be refuse, low, high, drop, or a public value that replaces them, got "
                f"{quoted(self.missing)}"
            ) from None
        if self.holds_fractions(np.array([value])):
            raise ParameterError(f"`missing` must be a whole number for this column, got {quoted(self.missing)}")
        label = self.grid.label(value)
        return label if isinstance(label, float) else str(label.isoformat())

    @property
    def substitute(self) -> float | None:
        """The number of the grid that a missing value counts as; None where it is refused or dropped."""
        match self.missing:
            case "refuse" | "drop":
                return None
            case "low":
                return self.grid.low
            case "high":
                return self.grid.high
        return self.grid.value(self.missing, "missing")

    def on(self, grid: Grid) -> Binning:
        """The column of imagined records, of which none is missing, on a grid that may have other bounds."""
        missing = self.missing if self.substitute is None else "low"
        return dataclasses.replace(self, grid=grid, missing=missing)

    @property
    def shape(self) -> tuple[int, ...]:
        """Records per bin: (N,)."""
        return (self.grid.bins,)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {"column": self.column, "grid": self.grid.to_dict(), "missing": self.missing, "outside": self.outside}
        return data if self.fractions == "up" else {**data, "fractions": self.fractions}

    @property
    def size(self) -> int:
        """Number of bins."""
        return self.grid.bins

    def symbols(self, values: Float64) -> Int64:
        """0-based bin of each number of the grid, which is not NaN; values outside are clipped."""
        return self.grid.bin_of(values)

    def holds_fractions(self, values: Float64) -> bool:
        """Whether some of these numbers, which may be NaN or infinite, are fractions that the column refuses."""
        return self.fractions == "refuse" and bool((np.floor(values) < values).any())

    def cells(self) -> tuple[Float64, Float64]:
        """Smallest and largest number in each bin, each of shape (bins,); the same for whole numbers."""
        highs = self.grid.thresholds
        if self.grid.kind == "integers":
            return highs, highs
        return np.concatenate([[self.grid.low], highs[:-1]]), highs

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Binning:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        grid = Grid.from_dict(data.get("grid") or {})
        fractions = text_field(data, "fractions") if "fractions" in data else "up"
        missing = data.get("missing")
        if isinstance(missing, bool) or not isinstance(missing, str | int | float):
            raise ParameterError(f"a column's field 'missing' must be text or a number, got {quoted(missing)}")
        return Binning(text_field(data, "column"), grid, missing, text_field(data, "outside"), fractions)


# --- The columns of a table, and combinations of their values

MAX_GROUPS = 1000

Column = Binning | Categories | Label | Listed | Membership
"""A column whose values are declared."""
ReadColumn = Column | OpenCategories
"""A column of which an aggregate reads the values."""


def may_drop(column: ReadColumn) -> bool:
    """Whether records with a missing value, or one that is not declared, are not counted."""
    if isinstance(column, Listed):
        return "drop" in (column.other, column.missing)
    return isinstance(column, Binning | Membership | OpenCategories) and column.missing == "drop"


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
        found = first.symbols(rows[:, 0])
        for number, column in enumerate(others, 1):
            found = found * column.size + column.symbols(rows[:, number])
        return found

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
