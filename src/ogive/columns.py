"""Columns of a table and their public domains.

A record becomes a row of numbers, one for each column: a number of the grid, or the place of a category
in its declared list. A `Domain` puts several columns side by side and numbers the combinations of
their bins and categories, its symbols. Nothing here needs more than numpy, so that it can be shipped to devices.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.errors import ParameterError, plain, quoted
from ogive.grids import Bound, Grid

MissingPolicy = Literal["refuse", "low", "high", "drop"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
OutsidePolicy = Literal["clip", "refuse"]
OUTSIDE_POLICIES: tuple[OutsidePolicy, ...] = get_args(OutsidePolicy)
FRACTION_POLICIES = ("up", "refuse")
MembershipPolicy = Literal["refuse", "no", "drop"]
MEMBERSHIP_POLICIES: tuple[MembershipPolicy, ...] = get_args(MembershipPolicy)
ListingPolicy = Literal["refuse", "count", "drop"]
LISTING_POLICIES: tuple[ListingPolicy, ...] = get_args(ListingPolicy)
MAX_GROUPS = 1000
MAX_SYMBOLS = 1 << 24
MAX_LISTED = 1000
"""Values of one column that are counted one by one, at most."""

LabelValue = bool | int | float | str
Missing = MissingPolicy | Bound
"""What a missing value means: one of `MISSING_POLICIES`, or the public value that it is counted as."""
LabelValues = tuple[LabelValue, ...]

# what is released must be readable when it is stored
LARGEST_LABEL = 1 << 62
LONGEST_LABEL = 4000


def storable(value: LabelValue) -> bool:
    """Whether a label can be read again once it is stored: no NaN, no endless text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_LABEL
    return abs(value) < LARGEST_LABEL  # NaN is not


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
        if not self._has_policy:
            object.__setattr__(self, "missing", self._public_value())

    @property
    def _has_policy(self) -> bool:
        return isinstance(self.missing, str) and self.missing in MISSING_POLICIES

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
        fractions = _text(data, "fractions") if "fractions" in data else "up"
        missing = data.get("missing")
        if isinstance(missing, bool) or not isinstance(missing, str | int | float):
            raise ParameterError(f"a column's field 'missing' must be text or a number, got {quoted(missing)}")
        return Binning(_text(data, "column"), grid, missing, _text(data, "outside"), fractions)


@dataclass(frozen=True)
class Label:
    """The class of a record, one of two.

    Fields:
        column: Name of a column of numbers, truth values or text.
        positive: Values of the positive class, public.
        negative: Values of the negative class; None means the only other value in the records. A value of neither
            class, or a missing value, is an error.

    Raises:
        ParameterError: a class has no value, or a value is in both, is not finite, or is too large to be stored.
    """

    kind: ClassVar[str] = "label"
    """In digests and stored files, whatever the class is called."""

    column: str
    positive: tuple[LabelValue, ...] = (1,)
    negative: tuple[LabelValue, ...] | None = (0,)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ParameterError(f"the label must be a column's name, got {quoted(self.column)}")
        for name in ("positive", "negative"):
            values = getattr(self, name)
            if values is None and name == "negative":
                continue
            if not isinstance(values, tuple) or not values or not all(isinstance(v, LabelValue) for v in values):
                raise ParameterError(
                    f"`{name}` must be the values of a class, for example ('yes',), got {quoted(values)}"
                )
            if not all(map(storable, values)):
                raise ParameterError(
                    f"`{name}` must hold texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
                )
        both = set(self.positive) & set(self.negative or ())
        if both:
            value = sorted(str(value).lower() if isinstance(value, bool) else repr(value) for value in both)[0]
            raise ParameterError(f"{plain(value)} cannot be in both classes")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        negative = None if self.negative is None else list(self.negative)
        return {"column": self.column, "positive": list(self.positive), "negative": negative}

    @property
    def size(self) -> int:
        """Two classes: 0 is the negative one, 1 the positive one."""
        return 2

    def symbols(self, values: Float64) -> Int64:
        """Class of each number, which is 0 or 1."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each class, twice."""
        return np.arange(2.0), np.arange(2.0)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Label:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        negative = data.get("negative")
        return Label(
            _text(data, "column"), _values(data, "positive"), None if negative is None else _values(data, "negative")
        )


@dataclass(frozen=True)
class Categories:
    """A column of which every value is one of a public list.

    Fields:
        column: Name of a column of numbers, truth values or text.
        values: The categories, in the order that ranks them where ranks matter. Any other value is an error.

    Raises:
        ParameterError: there are no categories or too many, or two are the same, or one could not be stored.
    """

    kind: ClassVar[str] = "categories"
    """In digests and stored files, whatever the class is called."""

    column: str
    values: tuple[LabelValue, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        if not isinstance(self.values, tuple) or not all(isinstance(value, LabelValue) for value in self.values):
            raise ParameterError(
                f"categories of column {quoted(self.column)} must be a list of values, got {quoted(self.values)}"
            )
        if not 1 <= len(self.values) <= MAX_SYMBOLS:
            raise ParameterError(f"there must be 1 to {MAX_SYMBOLS} categories, got {len(self.values)}")
        if not all(map(storable, self.values)):
            raise ParameterError(
                f"`categories` must be texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
            )
        if len(set(self.values)) < len(self.values):
            raise ParameterError(f"each category of column {quoted(self.column)} must be named once")

    @property
    def size(self) -> int:
        """Number of categories."""
        return len(self.values)

    def symbols(self, values: Float64) -> Int64:
        """Place of each category in the list, of which the numbers are the places already."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each category, twice."""
        places = np.arange(float(self.size))
        return places, places

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "values": list(self.values)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Categories:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        return Categories(_text(data, "column"), _values(data, "values"))


@dataclass(frozen=True)
class Membership:
    """Whether a record's value is one of a public list; any other value is not.

    Fields:
        column: Name of a column of numbers, truth values or text.
        values: The list; None takes every value that is not missing.
        missing: What a missing value means: "refuse" (an error), "no" (it is not in the list) or "drop" (not counted;
            only where the number of records is private).

    Raises:
        ParameterError: the list is empty or too long, or a value is in it twice or could not be stored.
    """

    kind: ClassVar[str] = "membership"
    """In digests and stored files, whatever the class is called."""

    column: str
    values: LabelValues | None
    missing: str = "refuse"

    def __post_init__(self) -> None:
        among(self.missing, "missing", MEMBERSHIP_POLICIES)
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        if self.values is None:
            return
        if not isinstance(self.values, tuple) or not all(isinstance(value, LabelValue) for value in self.values):
            raise ParameterError(
                f"the values of column {quoted(self.column)} that count must be a list, got {quoted(self.values)}"
            )
        if not 1 <= len(self.values) <= MAX_SYMBOLS:
            raise ParameterError(f"1 to {MAX_SYMBOLS} values can count, got {len(self.values)}")
        if not all(map(storable, self.values)):
            raise ParameterError(
                f"values that count must be texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
            )

    @property
    def size(self) -> int:
        """Two symbols: 1 for a value in the list, 0 for any other."""
        return 2

    def symbols(self, values: Float64) -> Int64:
        """Symbol of each number, which is 0 or 1."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each symbol, twice."""
        return np.arange(2.0), np.arange(2.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        values = None if self.values is None else list(self.values)
        return {"column": self.column, "values": values, "missing": self.missing}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Membership:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        listed = _values(data, "values") if data.get("values", ()) is not None else None
        return Membership(_text(data, "column"), listed, _text(data, "missing"))


@dataclass(frozen=True)
class OpenCategories:
    """A column of which nobody has listed the values; every value that occurs is counted.

    What a record counts as depends on its own value alone: text as it is written, a number in its shortest form. A
    value that could not be stored is counted among the records and nowhere else.

    Fields:
        column: Name of a column of numbers, truth values or text.
        missing: What a missing value means: "refuse" (an error), "count" (counted in a place of its own, which is
            public) or "drop" (not counted; only where the number of records is private).

    Raises:
        ParameterError: the column is no name, or missing values mean something else.
    """

    column: str
    missing: str = "refuse"

    def __post_init__(self) -> None:
        among(self.missing, "missing", LISTING_POLICIES)
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "missing": self.missing}


@dataclass(frozen=True)
class Listed:
    """Which of some declared values a record has, or whether it has another one or none.

    Symbols are the places of the declared values, then a place of any other value and one of a missing value, where
    these are counted.

    Fields:
        column: Name of a column of numbers, truth values or text.
        values: The declared values, public, in the order in which they are counted.
        other: What a value that is not declared means: "refuse" (an error), "count" (a place of its own) or "drop" (not
            counted; only where the number of records is private).
        missing: The same of a missing value.

    Raises:
        ParameterError: the list is empty or too long, or a value is in it twice or could not be stored.
    """

    kind: ClassVar[str] = "listed"
    """In digests and stored files, whatever the class is called."""

    column: str
    values: LabelValues
    other: str = "refuse"
    missing: str = "refuse"

    def __post_init__(self) -> None:
        among(self.other, "other", LISTING_POLICIES)
        among(self.missing, "missing", LISTING_POLICIES)
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        if not isinstance(self.values, tuple) or not all(isinstance(value, LabelValue) for value in self.values):
            raise ParameterError(
                f"the values of column {quoted(self.column)} must be a list such as ('A', 'B'), "
                f"got {quoted(self.values)}"
            )
        if not 1 <= len(self.values) <= MAX_LISTED:
            raise ParameterError(f"1 to {MAX_LISTED} values can be counted, got {len(self.values)}")
        if not all(map(storable, self.values)):
            raise ParameterError(
                f"values to count must be texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
            )
        if len(set(self.values)) < len(self.values):
            raise ParameterError(
                f"each value of column {quoted(self.column)} must be named once; true is 1, and false is 0"
            )
        if self.size < 2:
            raise ParameterError(
                f"one value of column {quoted(self.column)} alone cannot be compared with others; name more values"
            )

    @property
    def other_place(self) -> int | None:
        """The symbol of a value that is not declared, where it is counted."""
        return len(self.values) if self.other == "count" else None

    @property
    def missing_place(self) -> int | None:
        """The symbol of a missing value, where it is counted."""
        return len(self.values) + (self.other == "count") if self.missing == "count" else None

    @property
    def size(self) -> int:
        """The declared values, and the places of other and of missing ones that are counted."""
        return len(self.values) + (self.other == "count") + (self.missing == "count")

    def symbols(self, values: Float64) -> Int64:
        """Symbol of each number, which is the symbol already."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each symbol, twice."""
        places = np.arange(float(self.size))
        return places, places

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "values": list(self.values), "other": self.other, "missing": self.missing}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Listed:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        return Listed(_text(data, "column"), _values(data, "values"), _text(data, "other"), _text(data, "missing"))


Column = Binning | Categories | Label | Listed | Membership
"""A column whose values are declared."""
ReadColumn = Column | OpenCategories
"""A column of which an aggregate reads the values."""


def may_drop(column: ReadColumn) -> bool:
    """Whether records with a missing value, or one that is not declared, are not counted."""
    if isinstance(column, Listed):
        return "drop" in (column.other, column.missing)
    return isinstance(column, Binning | Membership | OpenCategories) and column.missing == "drop"


@dataclass(frozen=True)
class Schema:
    """What the columns of a table hold, which is public.

    Fields:
        columns: Their names, in order.
        kind: Of a column: "numbers", "truth values", "dates", "times", "text", "no values at all", or others. Of a text
            file this reads cells.
        guessed: Whether kinds are guessed from the cells, since the table declares none.
        person: The column that identifies the person; None where a person has one record.
    """

    columns: tuple[str, ...]
    kind: Callable[[str], str]
    guessed: bool
    person: str | None = None


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
        found = np.zeros(len(rows), dtype=np.int64)
        for number, column in enumerate(self.columns):
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


def is_value(text: str) -> bool:
    """Whether a text writes a number, a date or a time."""
    for kind in (float, datetime.datetime.fromisoformat):
        with contextlib.suppress(ValueError):
            kind(text)
            return True
    return False


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ParameterError(f"a column's field {quoted(name)} must be text, got {quoted(value)}")
    return value


def _values(data: dict[str, Any], name: str) -> tuple[LabelValue, ...]:
    values = data.get(name)
    if not isinstance(values, list) or not all(isinstance(value, LabelValue) for value in values):
        raise ParameterError(f"a column's field {quoted(name)} must be a list of values")
    return tuple(values)
