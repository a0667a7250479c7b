"""Columns of categories: all declared, some declared, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.columns.values import (
    LONGEST_LABEL,
    LabelValue,
    LabelValues,
    as_declared,
    as_text,
    known_values,
    storable,
    text_field,
    told_apart,
    values_field,
)
from ogive.errors import ParameterError, quoted

MembershipPolicy = Literal["refuse", "no", "drop"]
MEMBERSHIP_POLICIES: tuple[MembershipPolicy, ...] = get_args(MembershipPolicy)
ListingPolicy = Literal["refuse", "count", "drop"]
LISTING_POLICIES: tuple[ListingPolicy, ...] = get_args(ListingPolicy)
MAX_SYMBOLS = 1 << 24
MAX_LISTED = 1000
"""Values of one column that are counted one by one, at most."""


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
        if len({*told_apart(self.values)}) < len(self.values):
            raise ParameterError(
                f"each category of column {quoted(self.column)} must be named once; blanks around a text do not matter"
            )

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
        return Categories(text_field(data, "column"), values_field(data, "values"))


@dataclass(frozen=True)
class Membership:
    """Whether a record's value is one of a public list; any other value is not.

    Fields:
        column: Name of a column of numbers, truth values or text.
        values: The list; None takes every value that is not missing.
        missing: What a missing value means: "refuse" (an error), "no" (it is not in the list) or "drop" (not counted;
            only where the number of records is private).
        others: The values that are not in the list, public; a value of neither list is an error. None takes any other.

    Raises:
        ParameterError: a list is empty or too long, or holds a value that could not be stored; or a value is in both.
    """

    kind: ClassVar[str] = "membership"
    """In digests and stored files, whatever the class is called."""

    column: str
    values: LabelValues | None
    missing: str = "refuse"
    others: LabelValues | None = None

    def __post_init__(self) -> None:
        among(self.missing, "missing", MEMBERSHIP_POLICIES)
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        if self.values is not None:
            self._check(self.values, "count")
        if self.others is None:
            return
        self._check(self.others, "do not count")
        if self.values is None:
            raise ParameterError(
                f"any value of column {quoted(self.column)} counts, so that none can be named that does not"
            )
        twice = _shared(self.values, self.others)
        if twice:
            raise ParameterError(f"{quoted(twice[0])} of column {quoted(self.column)} cannot both count and not count")

    def _check(self, values: LabelValues, verb: str) -> None:
        """Refuse a list that nobody can name or store."""
        if not isinstance(values, tuple) or not all(isinstance(value, LabelValue) for value in values):
            raise ParameterError(
                f"the values of column {quoted(self.column)} that {verb} must be a list, got {quoted(values)}"
            )
        if not 1 <= len(values) <= MAX_SYMBOLS:
            raise ParameterError(f"1 to {MAX_SYMBOLS} values can {verb.replace('do ', '')}, got {len(values)}")
        if not all(map(storable, values)):
            raise ParameterError(
                f"values that {verb} must be texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
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
        others = {} if self.others is None else {"others": list(self.others)}
        return {"column": self.column, "values": values, "missing": self.missing, **others}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Membership:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        listed = values_field(data, "values") if data.get("values", ()) is not None else None
        others = values_field(data, "others") if "others" in data else None
        return Membership(text_field(data, "column"), listed, text_field(data, "missing"), others)


def _shared(values: LabelValues, declared: LabelValues) -> list[LabelValue]:
    """The values that readers take for one of the declared ones, in any of their spellings."""
    alike = known_values((value, None) for value in declared)
    return [value for value in values if any(as_declared(each, alike) in alike for each in (value, as_text(value)))]


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
        if len({*told_apart(self.values)}) < len(self.values):
            raise ParameterError(
                f"each value of column {quoted(self.column)} must be named once; true is 1, and false is 0, and blanks "
                "around a text do not matter"
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
        return Listed(
            text_field(data, "column"),
            values_field(data, "values"),
            text_field(data, "other"),
            text_field(data, "missing"),
        )
