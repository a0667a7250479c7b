"""Labels as codes, their classes or places, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.columns import (
    Binning,
    Categories,
    Domain,
    Label,
    LabelValue,
    Listed,
    Membership,
    OpenCategories,
    ReadColumn,
)
from ogive.columns.categories import TRUTH, as_declared, known_values, trimmed
from ogive.columns.predicates import Missing, Not
from ogive.core.arrays import Float64, Int64, UInt8
from ogive.errors import DataError, plain, quoted

# Numbers and truth values compare as numbers, so that 1, 1.0 and True are one value; text compares as text.

Columns = tuple[NDArray[Any], ...]
"""Some rows of several columns: float64 numbers of a grid, NaN where missing, or codes of labels."""

MISSING = 0
"""The code of a missing label."""

_UNKNOWN = 2
"""The class of a label that was not looked at yet."""

_REFUSED = -1
"""The symbol of a label that is an error."""


def declared_values(column: Categories | Label | Listed | Membership | OpenCategories) -> tuple[LabelValue, ...]:
    """The values of categories and classes that a question names."""
    if isinstance(column, Label):
        return (*column.positive, *(column.negative or ()))
    if isinstance(column, Membership):
        return (*(column.values or ()), *(column.others or ()))
    return () if isinstance(column, OpenCategories) else column.values


def check_label_kind(label: Label, kind: str) -> None:
    """Refuse a column that cannot hold labels, or not of the kind that the classes are written in."""
    wanted = declared_values(label)
    holds = _as_numbers(kind, wanted)
    if holds == "no values at all":
        return  # every label is missing, and that is said of the rows
    if holds not in ("numbers", "text"):
        raise DataError(
            f"label column {quoted(label.column)} holds {holds}, but numbers, truth values or text are needed"
        )
    if holds == "text" and not any(isinstance(value, str) for value in wanted):
        raise DataError(
            f"label column {quoted(label.column)} holds text; "
            "say which text is the positive class, for example `positive='yes'`"
        )
    if holds != "text" and all(isinstance(value, str) for value in wanted):
        raise DataError(
            f"label column {quoted(label.column)} holds {kind}, but its classes are given as text; "
            f"write them as {kind}, for example "
            + ("`positive=1`, `negative=0`" if kind == "numbers" else "`positive=True`, `negative=False`")
        )


def check_category_kind(declared: Categories | Listed | Membership | OpenCategories, kind: str, plural: str) -> None:
    """Refuse a column that cannot hold categories, or not of the kind that they are all written in."""
    holds = _as_numbers(kind, declared_values(declared))
    if holds == "no values at all":
        return
    if holds not in ("numbers", "text"):
        raise DataError(
            f"column {quoted(declared.column)} holds {holds}, but {plural} are numbers, truth values or texts"
        )
    if isinstance(declared, OpenCategories):
        return
    lists, example, parameter = {f"its {plural}": declared.values or ()}, "", plural
    if isinstance(declared, Listed):
        lists = {"the values to count": declared.values}
    if isinstance(declared, Membership):
        lists = {"the values to count": declared.values or (), "the values not to count": declared.others or ()}
        option = "positive"
        if plural == "events":
            lists = {"its events": declared.values or (), "its values of censored records": declared.others or ()}
            option = parameter = "observed"
        truth = any(isinstance(value, bool) for value in declared_values(declared))
        one = {"text": "'true'" if truth else "'yes'", "numbers": "1"}.get(kind, "True")
        example = f", for example `{option}={one}`"
    for values, named in lists.items():
        texts = [isinstance(value, str) for value in named]
        holds = _as_numbers(kind, named)
        if not isinstance(declared, Categories) and holds == "text" and named and not any(texts):
            raise DataError(
                f"column {quoted(declared.column)} holds text, but {values} are {_named_kind(named)}; write them as "
                f"texts{example}"
            )
        if holds != "text" and named and all(texts):
            values = f"its {plural}" if isinstance(declared, Listed) else values
            raise DataError(
                f"column {quoted(declared.column)} holds {kind}, but {values} are texts; write them as {kind}{example}",
                parameter=parameter,
            )


def _named_kind(values: tuple[LabelValue, ...]) -> str:
    return "truth values" if all(isinstance(value, bool) for value in values) else "numbers"


def _as_numbers(kind: str, values: tuple[LabelValue, ...]) -> str:
    """Truth values are texts where all declared texts write them, each once, and numbers otherwise."""
    if kind != "truth values":
        return kind
    words = [TRUTH.get(trimmed(value)) for value in values if isinstance(value, str)]
    return "text" if words and None not in words and len({*words}) == len(words) else "numbers"


def where_known(column: str, condition: str = "is not missing") -> str:
    """The option, marked, that leaves records without a value of a column out; its name alone where quotes are hard."""
    return _where(str(Missing(column)).removesuffix("is missing") + condition)


def where_missing(column: str) -> str:
    """The option, marked, that leaves those records alone."""
    return _where(str(Missing(column)))


def _where(condition: str) -> str:
    return "`where=`" if "`" in condition else f"`where={condition!r}`"


def ends_observation(columns: Sequence[ReadColumn]) -> bool:
    """Whether there is a time to an event, and a column that says of every record whether it had one."""
    timed = any(isinstance(each, Binning) and each.outside == "censor" for each in columns)
    return timed and any(isinstance(each, Membership) and each.others is not None for each in columns)


def _without(column: str, needed: str) -> str:
    """The refusal of records that lack what every one needs."""
    return (
        f"column {quoted(column)} has missing values; every record needs a {needed}, so leave the others out with "
        f"{where_known(column)}"
    )


class LabelCodes:
    """Numbers the distinct labels of a table, in the order in which they turn up."""

    def __init__(self) -> None:
        self.values: list[Any] = [None]
        self._codes: dict[Any, int] = {None: MISSING}

    def of(self, values: Iterable[Any]) -> Int64:
        """The code of each of some values of Python; None and NaN are `MISSING`."""
        return np.array([self.code(value) for value in values], dtype=np.int64)

    def code(self, value: Any) -> int:
        """The code of a label, which indexes `values`; None and NaN are `MISSING`."""
        if value != value:  # NaN
            return MISSING
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code


class Classes:
    """Tells classes by code, and sees a third class wherever it turns up."""

    def __init__(self, label: Label, labels: LabelCodes, measured: str | None = None) -> None:
        self._label = label
        self._measured = measured
        self._labels = labels
        self._other: Any = None
        self._table = np.zeros(0, dtype=np.uint8)

    def positive(self, codes: Int64) -> UInt8:
        """1 for each label of the positive class, 0 for the negative one."""
        values = self._labels.values
        if len(self._table) < len(values):
            grown = np.full(len(values), _UNKNOWN, dtype=np.uint8)
            grown[: len(self._table)] = self._table
            self._table = grown
        result = self._table[codes]
        if len(result) and result.max() == _UNKNOWN:
            present = np.flatnonzero(np.bincount(codes, minlength=len(values)))
            for code in present[self._table[present] == _UNKNOWN]:
                self._table[code] = self._class_of(int(code))
            result = self._table[codes]
        return result

    def _class_of(self, code: int) -> bool:
        label, value = self._label, self._labels.values[code]
        if code == MISSING:
            only = plain(repr(str(Not(Missing(label.column)))))
            raise DataError(
                f"label column {quoted(label.column)} has missing values; every record needs a class; of a table, "
                f"records without one are left out by `where={only}`, and how many they are stays private"
            )
        declared = (*map(trimmed, label.positive), *map(trimmed, label.negative or ()))
        if _among(value, label.positive, declared):
            return True
        if label.negative is None:
            if self._other is None:
                self._other = value
            if _among(value, (self._other,), (*declared, trimmed(self._other))):
                return False
            self._refuse_measured()
            raise DataError(
                f"label column {quoted(label.column)} holds more than two classes, or the positive one is misspelled; "
                "check `positive=`, or name the values of the negative class too with `negative=`"
            )
        if _among(value, label.negative, declared):
            return False
        self._refuse_measured()
        raise DataError(
            f"label column {quoted(label.column)} holds {'text' if isinstance(value, str) else 'numbers'} of "
            "neither class; name all values of each class with `positive=` and `negative=`"
        )

    def _refuse_measured(self) -> None:
        """Explain a third class where the measured column was named as the label."""
        if self._label.column == self._measured:
            raise DataError(
                f"column {quoted(self._measured)} is measured and is named as the label too, but holds more than two "
                "values; name the column that holds the classes as the label"
            )


def _among(value: Any, wanted: tuple[Any, ...], declared: tuple[Any, ...]) -> bool:
    """Whether labels are in a class; numbers and truth values compare as numbers, text as text, with blanks or not."""
    value = as_declared(value, declared)
    return any(isinstance(value, str) == isinstance(other, str) and value == other for other in map(trimmed, wanted))


class Places:
    """Finds the place of each label in a declared list, and sees any other label wherever it turns up."""

    def __init__(self, declared: Categories, labels: LabelCodes, *, one: str, parameter: str, undeclared: str) -> None:
        self._column = declared.column
        self._size = declared.size
        self._labels = labels
        self._one = one
        self._undeclared = undeclared
        self._parameter = parameter
        self._places = known_values((value, place) for place, value in enumerate(declared.values))
        self._table = np.zeros(0, dtype=np.int64)

    def number(self, codes: Int64) -> Int64:
        values = self._labels.values
        if len(self._table) < len(values):
            new = [
                self._places.get(as_declared(value, self._places), self._size) for value in values[len(self._table) :]
            ]
            self._table = np.concatenate([self._table, np.array(new, dtype=np.int64)])
        result = self._table[codes]
        if len(result) and int(result.max()) == self._size:
            if np.any(codes == MISSING):
                raise DataError(_without(self._column, self._one))
            raise DataError(f"column {quoted(self._column)} {self._undeclared}", parameter=self._parameter)
        return result


class Members:
    """Tells whether labels of a column of a domain are in a declared list."""

    def __init__(self, declared: Membership, labels: LabelCodes, domain: Domain) -> None:
        self._declared = declared
        self._domain = domain
        self._labels = labels
        values = declared.values
        others = declared.others
        self._known: dict[Any, float] | None = None
        if values is not None:
            self._known = known_values([(value, 0.0) for value in others or ()] + [(value, 1.0) for value in values])
        self._undeclared = 0.0 if others is None else float(_REFUSED)
        self._table = np.zeros(0, dtype=np.float64)

    def inside(self, codes: Int64) -> Float64:
        """1 for each label in the list, 0 for any other; NaN where a missing one is dropped."""
        values, declared = self._labels.values, self._declared
        if len(self._table) < len(values):
            self._table = np.concatenate([self._table, [self._place(value) for value in values[len(self._table) :]]])
            self._table[MISSING] = math.nan if declared.missing == "drop" else 0.0
        if declared.missing == "refuse" and np.any(codes == MISSING):
            if ends_observation(self._domain.columns):
                raise DataError(_without(declared.column, "value that says what ended it"))
            raise DataError(
                f"column {quoted(declared.column)} has missing values; choose their treatment with "
                "`missing='no'` or, under `ADD_OR_REMOVE`, `'drop'`"
            )
        result = self._table[codes]
        if declared.others is not None and np.any(result == _REFUSED):
            if ends_observation(self._domain.columns):
                raise DataError(
                    f"column {quoted(declared.column)} has a value that is no event and not one of censored records; "
                    "name every event with `observed=` and all values of the censored with `censored=`, or leave the "
                    "records of others out with `where=`",
                    parameter="observed",
                )
            raise DataError(
                f"column {quoted(declared.column)} has a value that is neither positive nor negative; name all values "
                "of both with `positive=` and `negative=`"
            )
        return result

    def _place(self, value: Any) -> float:
        """1 for a value in the list, 0 for any other, `_REFUSED` where it must be in one of two lists and is not."""
        known = self._known
        return 1.0 if known is None else known.get(as_declared(value, known), self._undeclared)


def _symbol(policy: str, place: int | None) -> float:
    """What a value becomes that has no place of its own."""
    if place is not None:
        return place
    return math.nan if policy == "drop" else _REFUSED


class Listing:
    """Finds the symbol of each label in a column of declared values."""

    def __init__(self, declared: Listed, labels: LabelCodes) -> None:
        self._declared = declared
        self._labels = labels
        self._places = known_values((value, place) for place, value in enumerate(declared.values))
        self._table = np.zeros(0, dtype=np.float64)

    def symbols(self, codes: Int64) -> Float64:
        """The symbol of each label; NaN where it is dropped."""
        values, declared = self._labels.values, self._declared
        if len(self._table) < len(values):
            other = _symbol(declared.other, declared.other_place)
            new = [self._places.get(as_declared(value, self._places), other) for value in values[len(self._table) :]]
            self._table = np.concatenate([self._table, np.array(new, dtype=np.float64)])
            self._table[MISSING] = _symbol(declared.missing, declared.missing_place)
        result = self._table[codes]
        refused = codes[result == _REFUSED]
        if np.any(refused == MISSING):
            raise DataError(
                f"column {quoted(declared.column)} has missing values; count them as a category of their own with "
                f"`missing='count'`, or leave these records out with {where_known(declared.column)} or, under "
                "`ADD_OR_REMOVE`, with `missing='drop'`"
            )
        if len(refused):
            raise DataError(
                f"column {quoted(declared.column)} has a value that was not declared; name all values, which are "
                "public, or count all others as one category with `other='count'`"
            )
        return result
