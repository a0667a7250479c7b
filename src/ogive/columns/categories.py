"""Values that name a class or a category, and columns of them: labels, and categories, declared or not."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar, get_args

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import AS_WRITTEN, among
from ogive.errors import ParameterError, plain, quoted

# --- Values

LabelValue = bool | int | float | str
LabelValues = tuple[LabelValue, ...]
Place = TypeVar("Place")

BLANKS = " \t\n\r\v\f\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200C))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What may stand around a text without making it another one: Unicode's blanks, those of no width, too."""
TRUTH = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}
"""Truth values by the texts that write them."""

# what is released must be readable when it is stored
LARGEST_LABEL = 1 << 62
LONGEST_LABEL = 4000


def storable(value: LabelValue) -> bool:
    """Whether a label can be read again once it is stored: no NaN, no endless text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_LABEL
    return abs(value) < LARGEST_LABEL  # NaN is not


def trimmed(value: Any) -> Any:
    """A value as it is compared: blanks around a text do not matter, whether it was declared or stands in a cell."""
    return value.strip(BLANKS) if isinstance(value, str) else value


def told_apart(values: Iterable[LabelValue]) -> list[LabelValue]:
    """Values as they must differ where each is named once."""
    return list(values) if AS_WRITTEN.get() else [trimmed(value) for value in values]


def known_values(places: Iterable[tuple[LabelValue, Place]]) -> dict[Any, Place]:
    """What belongs to each declared value, by the values that `as_declared` makes of cells.

    Numbers and truth values compare as numbers, text as text; a number also names the text that writes it.
    """
    listed = list(places)
    return {as_text(value): place for value, place in listed} | {trimmed(value): place for value, place in listed}


def as_declared(value: Any, declared: Collection[Any]) -> Any:
    """A value as a list of declared values, `trimmed`, has it; what it means depends on no other record.

    A truth value may be declared as a text of `TRUTH`, and such a text is the truth value, in each of its spellings,
    unless several of these were declared.
    """
    if isinstance(value, str):
        value = trimmed(value)
        truth = TRUTH.get(value)
        if truth is not None and value not in declared:
            # numbers are found by truth values, too, and are not meant
            if any(each is truth for each in declared):
                return truth
            words = [word for word in spellings(value) if word in declared]
            return words[0] if len(words) == 1 else value
    elif isinstance(value, bool | np.bool_) and value not in declared:
        return next((word for word, truth in TRUTH.items() if truth == value and word in declared), value)
    return value


def spellings(value: str) -> list[str]:
    """The texts that mean what a text means: those of its truth value where it writes one, else itself, trimmed."""
    value = trimmed(value)
    return [word for word, truth in TRUTH.items() if truth is TRUTH.get(value)] or [value]


def as_text(value: Any) -> str:
    """A declared value as a text writes it, without blanks around it."""
    return str(value).lower() if isinstance(value, bool) else trimmed(str(value))


def is_value(text: str) -> bool:
    """Whether a text writes a number, a date or a time."""
    for kind in (float, datetime.datetime.fromisoformat):
        with contextlib.suppress(ValueError):
            kind(text)
            return True
    return False


def text_field(data: dict[str, Any], name: str) -> str:
    """A field of stored data that holds text."""
    value = data.get(name)
    if not isinstance(value, str):
        raise ParameterError(f"a column's field {quoted(name)} must be text, got {quoted(value)}")
    return value


def values_field(data: dict[str, Any], name: str) -> LabelValues:
    """A field of stored data that holds a list of values."""
    values = data.get(name)
    if not isinstance(values, list) or not all(isinstance(value, LabelValue) for value in values):
        raise ParameterError(f"a column's field {quoted(name)} must be a list of values")
    return tuple(values)


# --- Columns of categories

MembershipPolicy = Literal["refuse", "no", "drop"]
MEMBERSHIP_POLICIES: tuple[MembershipPolicy, ...] = get_args(MembershipPolicy)
ListingPolicy = Literal["refuse", "count", "drop"]
LISTING_POLICIES: tuple[ListingPolicy, ...] = get_args(ListingPolicy)
MAX_SYMBOLS = 1 << 24
MAX_LISTED = 1000
"""Values of one column that are counted one by one, at most."""


class _Numbered:
    """A column of which the number of a value is its symbol."""

    @property
    def size(self) -> int:
        """How many symbols there are."""
        raise NotImplementedError

    def symbols(self, values: Float64) -> Int64:
        """Symbol of each number, which is the symbol already."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each symbol, twice."""
        places = np.arange(float(self.size))
        return places, places


@dataclass(frozen=True)
class Categories(_Numbered):
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
class Membership(_Numbered):
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
        ParameterError: the column is not a name, or missing values mean something else.
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
class Listed(_Numbered):
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


# --- Columns of two classes


@dataclass(frozen=True)
class Label(_Numbered):
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
        both = {*told_apart(self.positive)} & {*told_apart(self.negative or ())}
        if both:
            value = sorted(str(value).lower() if isinstance(value, bool) else repr(value) for value in both)[0]
            alike = "" if {*self.positive} & {*(self.negative or ())} else "; blanks around a text do not matter"
            raise ParameterError(f"{plain(value)} cannot be in both classes{alike}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        negative = None if self.negative is None else list(self.negative)
        return {"column": self.column, "positive": list(self.positive), "negative": negative}

    @property
    def size(self) -> int:
        """Two classes: 0 is the negative one, 1 the positive one."""
        return 2

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Label:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        negative = data.get("negative")
        return Label(
            text_field(data, "column"),
            values_field(data, "positive"),
            None if negative is None else values_field(data, "negative"),
        )
