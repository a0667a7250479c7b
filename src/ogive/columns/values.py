"""Values that name a class or a category, and how they are read from stored data."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Collection
from typing import Any

from ogive.errors import ParameterError, quoted

LabelValue = bool | int | float | str
LabelValues = tuple[LabelValue, ...]

BLANKS = " \t\n\r\v\f"
"""What may stand around a text without making it another one."""
TRUTH = {"true": True, "false": False}
"""Truth values by the texts that write them, in small letters."""

# what is released must be readable when it is stored
LARGEST_LABEL = 1 << 62
LONGEST_LABEL = 4000


def storable(value: LabelValue) -> bool:
    """Whether a label can be read again once it is stored: no NaN, no endless text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_LABEL
    return abs(value) < LARGEST_LABEL  # NaN is not


def as_declared(value: Any, declared: Collection[Any]) -> Any:
    """A value as a list of declared values has it; what it means depends on no other record.

    Blanks around a text do not matter, unless they were declared. Truth values and the texts TRUE and FALSE, in small
    letters or capitals, are the same, unless both were declared.
    """
    if value in declared:
        return value
    if isinstance(value, str):
        value = value.strip(BLANKS)
        truth = TRUTH.get(value.lower())
    else:
        truth = bool(value) if value == 0 or value == 1 else None
    if truth is None or value in declared:
        return value
    return next((each for each in declared if _writes(each, truth)), value)


def _writes(declared: Any, truth: bool) -> bool:
    """Whether a declared value is a truth value, or the text of it."""
    return TRUTH.get(declared.lower()) is truth if isinstance(declared, str) else declared is truth


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
