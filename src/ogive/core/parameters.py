"""Fields of frozen parameters: which words they take, and which are written in the texts that identify a question.

A field that a statistic, a method or the terms of a trust model gets later has a default that stands for what was done
before there was the field. Questions asked before do not name it. So it is declared by `added`, and left out of every
description while it holds that default: what was asked before stays the same question, with the same digest and noise.
Every other value is written, and makes a question of its own.

    @dataclass(frozen=True)
    class Ecdf:
        column: str
        ties: str = added("below")
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")
WordT = TypeVar("WordT", bound=str)

_MEANT_BEFORE = "ogive meant before"
_CHOICES = "ogive choices"
_PYTHON_ONLY = "ogive python only"
_SAME: Any = object()


def added(meant_before: ValueT, *, default: ValueT = _SAME, words: tuple[str, ...] = ()) -> ValueT:
    """A dataclass field that came after descriptions of its class were stored.

    Example:
        >>> import dataclasses
        >>> @dataclasses.dataclass(frozen=True)
        ... class Median:
        ...     column: str
        ...     ties: str = added("below")
        >>> written_fields(Median("age")), written_fields(Median("age", "above"))
        ({'column': 'age'}, {'column': 'age', 'ties': 'above'})
    """
    held = meant_before if default is _SAME else default
    choices = {_CHOICES: words} if words else {}
    made: ValueT = dataclasses.field(default=held, metadata={_MEANT_BEFORE: meant_before, **choices})
    return made


def one_of(default: WordT, *others: WordT) -> WordT:
    """A dataclass field that holds one of a few words, the first of which is its default.

    The command line lists the words and completes them. The class itself refuses others, and the type of the field says
    them to type checkers: a `Literal` of the same words.

    Example:
        >>> import dataclasses
        >>> from typing import Literal
        >>> @dataclasses.dataclass(frozen=True)
        ... class Median:
        ...     missing: Literal["refuse", "low", "high"] = one_of("refuse", "low", "high")
        >>> Median().missing, choices_of(dataclasses.fields(Median)[0])
        ('refuse', ('refuse', 'low', 'high'))
    """
    made: WordT = dataclasses.field(default=default, metadata={_CHOICES: (default, *others)})
    return made


def python_only(default: ValueT) -> ValueT:
    """A dataclass field that is no option of the command line.

    Example:
        >>> import dataclasses
        >>> @dataclasses.dataclass(frozen=True)
        ... class Parties:
        ...     parties: int
        ...     threshold: int | None = python_only(None)
        >>> [field.name for field in dataclasses.fields(Parties) if not is_python_only(field)]
        ['parties']
    """
    made: ValueT = dataclasses.field(default=default, metadata={_PYTHON_ONLY: True})
    return made


def is_python_only(field: dataclasses.Field[Any]) -> bool:
    """Whether a field was declared by `python_only`."""
    return _PYTHON_ONLY in field.metadata


def choices_of(field: dataclasses.Field[Any]) -> tuple[str, ...]:
    """The words of a field that was declared by `one_of`; none for other fields."""
    words: tuple[str, ...] = field.metadata.get(_CHOICES, ())
    return words


def is_added(field: dataclasses.Field[Any]) -> bool:
    """Whether a field was declared by `added`."""
    return _MEANT_BEFORE in field.metadata


def written_fields(value: Any, plain: Callable[[Any], Any] = lambda held: held) -> dict[str, Any]:
    """The fields of a dataclass's instance by name, without added ones that hold what was meant before them."""
    results: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        held = plain(getattr(value, field.name))
        # by their texts, since True equals 1 and is another answer
        if _MEANT_BEFORE not in field.metadata or repr(held) != repr(plain(field.metadata[_MEANT_BEFORE])):
            results[field.name] = held
    return results


def plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass's instance as plain data; see `written_fields`."""
    return written_fields(value, _plain)


def _plain(held: Any) -> Any:
    if isinstance(held, tuple | list):
        return [_plain(each) for each in held]
    if isinstance(held, enum.Enum):
        return held.value
    if isinstance(held, Fraction):
        return str(held)
    return held.to_dict() if hasattr(held, "to_dict") else held


def completed(kind: Any, written: Mapping[str, Any]) -> dict[str, Any]:
    """What `written_fields` wrote of an instance, with the added fields that it left out."""
    left_out = {field.name: field.metadata[_MEANT_BEFORE] for field in dataclasses.fields(kind) if is_added(field)}
    return {**left_out, **written}
