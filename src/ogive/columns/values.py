"""Values that name a class or a category, and how they are read from stored data."""

from __future__ import annotations

import contextlib
import contextvars
import datetime
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ogive.errors import ParameterError, quoted

LabelValue = bool | int | float | str
LabelValues = tuple[LabelValue, ...]
Place = TypeVar("Place")

BLANKS = " \t\n\r\v\f"
"""What may stand around a text without making it another one."""
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


_AS_WRITTEN = contextvars.ContextVar("values as they are written", default=False)


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Within the block values that differ in blanks alone may stand beside each other, as stored results have them."""
    token = _AS_WRITTEN.set(True)
    try:
        yield
    finally:
        _AS_WRITTEN.reset(token)


def told_apart(values: Iterable[LabelValue]) -> list[LabelValue]:
    """Values as they must differ where each is named once."""
    return list(values) if _AS_WRITTEN.get() else [trimmed(value) for value in values]


def known_values(places: Iterable[tuple[LabelValue, Place]]) -> dict[Any, Place]:
    """What belongs to each declared value, by the values that `as_declared` makes of cells.

    Numbers and truth values compare as numbers, text as text; a number also names the text that writes it.
    """
    listed = list(places)
    return {as_text(value): place for value, place in listed} | {trimmed(value): place for value, place in listed}


def as_declared(value: Any, declared: Collection[Any]) -> Any:
    """A value as a list of declared values, `trimmed`, has it; what it means depends on no other record.

    A truth value may be declared as a text of `TRUTH`, and such a text is the truth value, where that was declared and
    the text was not.
    """
    if isinstance(value, str):
        value = trimmed(value)
        truth = TRUTH.get(value)
        # numbers are found by truth values, too, and are not meant
        if truth is not None and value not in declared and any(each is truth for each in declared):
            return truth
    elif isinstance(value, bool | np.bool_) and value not in declared:
        return next((word for word, truth in TRUTH.items() if truth == value and word in declared), value)
    return value


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
