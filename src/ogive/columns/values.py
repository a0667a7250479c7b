"""Values that name a class or a category, and how they are read from stored data."""

from __future__ import annotations

import contextlib
import datetime
from typing import Any

from ogive.errors import ParameterError, quoted

LabelValue = bool | int | float | str
LabelValues = tuple[LabelValue, ...]

# what is released must be readable when it is stored
LARGEST_LABEL = 1 << 62
LONGEST_LABEL = 4000


def storable(value: LabelValue) -> bool:
    """Whether a label can be read again once it is stored: no NaN, no endless text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_LABEL
    return abs(value) < LARGEST_LABEL  # NaN is not


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
