"""What is stored of a stream: a checksum and plain data, read without trust in any field.

A checksum finds damage; it does not tell who wrote the bytes. So every field is checked for its type and its range, and
against the number and the total of the elements, before a stream goes on with it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from ogive.errors import ParameterError, quoted

_KEY = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Elements:
    """What is stored of the elements of a stream.

    Fields:
        taken: How many there were.
        total: Their sum, in whole units.
        low, high: Bounds of each, in whole units.
    """

    taken: int
    total: int
    low: int
    high: int

    def allow(self, total: int, count: int) -> bool:
        """Whether `count` elements can have this total."""
        return count * self.low <= total <= count * self.high


class Stateless:
    """An engine that needs nothing beyond its noise key to go on; `described` names it in messages."""

    described: ClassVar[str]

    def state(self) -> dict[str, Any]:
        """No fields."""
        return {}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements."""
        fields(state, frozenset(), f"the state of {self.described}")


def pack(content: dict[str, Any]) -> bytes:
    """Plain data behind their checksum."""
    body = json.dumps(content).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(data: bytes, names: frozenset[str], format_name: str) -> dict[str, Any]:
    """The plain data that `pack` was given.

    Args:
        data: The bytes.
        names: The fields there must be, and no others.
        format_name: What the field `format` must say.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ParameterError(f"a stored running total is bytes, got {type(data).__name__}")
    check, _, body = bytes(data).partition(b"\n")
    if not hmac.compare_digest(hashlib.sha256(body).hexdigest().encode(), check):
        raise ParameterError("these bytes are not a running total, or are damaged")
    try:
        content = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != format_name:
        raise ParameterError(f"these bytes are not of the format {quoted(format_name)}")
    return fields(content, names, "the stored running total")


def fields(data: Any, names: frozenset[str], what: str) -> dict[str, Any]:
    """`data`, where it is an object with exactly these fields."""
    if not isinstance(data, dict) or data.keys() != names:
        raise ParameterError(f"{what} must have the fields {', '.join(sorted(names)) or '(none)'}")
    return data


def whole_number(value: Any, low: int, high: int, name: str) -> int:
    """`value`, where it is a whole number from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(f"{name} of a stored running total must be a whole number from {low} to {high}")
    return value


def whole_numbers(values: Any, count: int, low: int, high: int, name: str) -> list[int]:
    """`values`, where they are `count` whole numbers from `low` to `high`."""
    return [whole_number(value, low, high, name) for value in _list(values, count, name)]


def numbers(values: Any, count: int, limit: float, name: str) -> list[float]:
    """`values`, where they are `count` floats of absolute value at most `limit`."""
    for value in _list(values, count, name):
        if type(value) is not float or not abs(value) <= limit:
            raise ParameterError(f"{name} of a stored running total must be numbers from {-limit:g} to {limit:g}")
    return list(values)


def key_of(value: Any) -> bytes:
    """The noise key that is written as 64 hexadecimal digits."""
    if not isinstance(value, str) or _KEY.fullmatch(value) is None:
        raise ParameterError("key of a stored running total must be 64 hexadecimal digits")
    return bytes.fromhex(value)


def _list(values: Any, count: int, name: str) -> list[Any]:
    if not isinstance(values, list) or len(values) != count:
        raise ParameterError(f"{name} of a stored running total must be a list of {count}")
    return values


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)
