"""Parameters: checks of arguments that many parts take, of types, fields of frozen parameters, and docstrings.

Each check of an argument refuses in one line that names the parameter, what it may be and what was given.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import enum
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

from ogive.errors import DataError, OgiveError, ParameterError, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray


Word = TypeVar("Word", bound=str)

Progress = Callable[[int, int], None]
"""Called with steps done and steps to do, again and again."""

_WRITTEN_IN_FULL = 1 << 30


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number of Python's type; True and False are none, nor are numpy's numbers."""
    return isinstance(value, int) and not isinstance(value, bool)


def whole(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number of Python's type in its range."""
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or (least is not None and value < least)
        or (most is not None and value > most)
    ):
        raise ParameterError(f"{_subject(name)} must be a whole number{_span(least, most)}, got {quoted(value)}")
    return value


def any_whole(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number of Python's or numpy's type in its range, as one of Python's; see `whole`."""
    import numpy as np

    return whole(int(value) if isinstance(value, np.integer) else value, name, least, most)


def all_whole(values: Iterable[Any], name: str, least: int) -> None:
    """Whole numbers of Python's type of at least some size."""
    result = tuple(values)
    if not all(is_whole(value) and value >= least for value in result):
        raise ParameterError(f"{_subject(name)} must be whole numbers{_span(least, None)}, got {quoted(result)}")


def truth(value: Any, name: str) -> bool:
    """True or False, and nothing that is merely equal to one of them."""
    if not isinstance(value, bool):
        raise ParameterError(f"{_subject(name)} must be True or False, got {quoted(value)}")
    return value


def among(value: Any, name: str, choices: Iterable[Word]) -> Word:
    """One of a few words."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        listed = " or ".join(known) if len(known) < 3 else f"one of {', '.join(known)}"
        raise ParameterError(f"{_subject(name)} must be {listed}, got {quoted(value)}")
    return value


def array_of(values: Any, dtype: Any = None) -> NDArray[Any]:
    """What `numpy.asarray` makes of values, which would take what is masked for a value."""
    import numpy as np

    if type(values) is not np.ndarray:
        refuse_masked(values)
    return np.asarray(values, dtype)


def refuse_masked(values: Any) -> None:
    """Refuse a masked array that hides something, or lists with such arrays or with what they show instead."""
    import numpy as np

    if isinstance(values, list | tuple):
        # a list of plain numbers is looked through by their types, which are few
        kinds = set(map(type, values))
        if any(issubclass(kind, np.ma.MaskedArray | list | tuple) for kind in kinds):
            for part in values:
                refuse_masked(part)
    elif isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError("an array has masked values, which are missing ones; leave them out, or replace them first")


def _subject(name: str) -> str:
    return f"`{name}`" if name.isidentifier() else name


def _span(least: int | None, most: int | None) -> str:
    """The range of a number, after what it is."""
    if least is None:
        return ""
    return f" of at least {least}" if most is None else f" from {least} to {_shown(most)}"


def _shown(number: int) -> str:
    """A number for a message; a large power of two, or one less than it, as people write that."""
    if number >= _WRITTEN_IN_FULL:
        for rest, words in ((0, ""), (1, " - 1")):
            if (number + rest).bit_count() == 1:
                return f"2^{(number + rest).bit_length() - 1}{words}"
    return str(number)


AS_WRITTEN = contextvars.ContextVar("values as they are written", default=False)


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Within the block values that differ in blanks alone may stand beside each other, as stored results have them."""
    token = AS_WRITTEN.set(True)
    try:
        yield
    finally:
        AS_WRITTEN.reset(token)


# --- Ranges of whole numbers, so that nothing wraps around 2^64
#
# Arithmetic of int64 wraps in silence. So whatever adds up or multiplies whole numbers states between what its results
# lie, in integers of any size, and has that checked here before it computes. What data leave free is for noise, of
# which `ogive.noise.laws` says how large it may be.

ROOM = (1 << 61) - 1  # what data reach at most, where a mechanism says nothing else
WIDE = 1 << 62  # what data reach at most in any mechanism
WORD = (1 << 63) - 1  # the largest int64


@dataclasses.dataclass(frozen=True)
class Range:
    """Between what whole numbers lie, both included, of any size."""

    low: int
    high: int

    @classmethod
    def of(cls, values: NDArray[Any]) -> Range:
        """Of these numbers, and 0."""
        return cls(int(values.min(initial=0)), int(values.max(initial=0)))

    @classmethod
    def sums(cls, values: NDArray[Any], times: int = 1) -> Range:
        """Of every sum of some of these int64, exactly, times a factor: of all partial sums, in whatever order."""
        low, high = int(values.min(initial=0)), int(values.max(initial=0))
        if low == 0 and high * values.size <= WORD:
            return cls(0, int(values.sum()) * times)
        # of the halves of words 2^31 add up
        parts = (values.clip(max=0), values.clip(min=0))
        return cls(*(((int((part >> 32).sum()) << 32) + int((part & 0xFFFFFFFF).sum())) * times for part in parts))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: int) -> Range:
        """Of the numbers times a factor of at least 0."""
        return Range(self.low * factor, self.high * factor)

    def check(self, most: int, refusal: str, error: type[OgiveError] = DataError) -> None:
        """Refuse numbers that may be larger than `most`, in words of the mechanism."""
        if max(self.high, -self.low) > most:
            raise error(refusal)


def refuse_sums(values: NDArray[Any], times: int, most: int, refusal: str, error: type[OgiveError] = DataError) -> None:
    """Refuse int64 of which some sum, times a factor, may be larger than `most`; see `Range.check`."""
    if max(int(values.max(initial=0)), -int(values.min(initial=0))) * values.size * times > most:
        Range.sums(values, times).check(most, refusal, error)


# --- Tests of what an object is that cost little
#
# `isinstance` with a protocol of `typing` looks at each attribute of the object, and so computes its properties, at
# each call. Whether a dataclass satisfies an interface depends on its type alone.

_PROTOCOLS: Any = type(Protocol)
_KNOWN: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[type, bool]] = weakref.WeakKeyDictionary()


class KeptByType(_PROTOCOLS):  # type: ignore[misc]  # typing names no metaclass of protocols
    """Metaclass of protocols, and of classes that derive from them: `isinstance` looks at each type once."""

    def __instancecheck__(self, instance: Any) -> bool:
        kind = type(instance)
        # the attributes of others may differ from object to object
        if kind.__dictoffset__ and not dataclasses.is_dataclass(kind):
            return bool(super().__instancecheck__(instance))
        known = _KNOWN.get(self)
        if known is None:
            known = _KNOWN.setdefault(self, weakref.WeakKeyDictionary())
        result = known.get(kind)
        if result is None:
            result = known[kind] = bool(super().__instancecheck__(instance))
        return result


def is_of_loaded(value: object, module: str, kind: str) -> bool:
    """Whether a value is of a type of a module that is slow to import, which it cannot be before that is loaded.

    While another thread imports the module, it is there without the type.
    """
    result = getattr(sys.modules.get(module), kind, None)
    return result is not None and isinstance(value, result)


# --- Fields of frozen parameters: which words they take, and which are written in the texts that identify a question
#
# A field that a statistic, a method or the terms of a trust model gets later has a default that stands for what was
# done before there was the field. Questions asked before do not name it. So it is declared by `added`, and left out of
# every description while it holds that default: what was asked before stays the same question, with the same digest and
# noise. Every other value is written, and makes a question of its own.
#
#     @dataclass(frozen=True)
#     class Ecdf:
#         column: str
#         ties: str = added("below")

ValueT = TypeVar("ValueT")
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
    field: ValueT = dataclasses.field(default=held, metadata={_MEANT_BEFORE: meant_before, **choices})
    return field


def one_of(default: Word, *others: Word) -> Word:
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
    field: Word = dataclasses.field(default=default, metadata={_CHOICES: (default, *others)})
    return field


def python_only(default: ValueT) -> ValueT:
    """A dataclass field that is not an option of the command line.

    Example:
        >>> import dataclasses
        >>> @dataclasses.dataclass(frozen=True)
        ... class Parties:
        ...     parties: int
        ...     threshold: int | None = python_only(None)
        >>> [field.name for field in dataclasses.fields(Parties) if not is_python_only(field)]
        ['parties']
    """
    field: ValueT = dataclasses.field(default=default, metadata={_PYTHON_ONLY: True})
    return field


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


# --- Sections of docstrings

SECTION = re.compile(r"^(?:Args|Fields|Returns|Raises|Warns|Privacy|Source|Example):$")
_ENTRY = re.compile(r"^    (\w+(?:, \w+)*): ")


def entries(text: str, section: str) -> list[tuple[tuple[str, ...], str]]:
    """The entries of a section of a docstring: their names, and their lines."""
    results: list[tuple[tuple[str, ...], str]] = []
    within = False
    for line in text.split("\n"):
        if SECTION.match(line) or (line and not line.startswith(" ")):
            within = line == f"{section}:"
            continue
        start = _ENTRY.match(line)
        if within and start:
            results.append((tuple(start[1].split(", ")), line))
        elif within and results and line.strip():
            results[-1] = (results[-1][0], f"{results[-1][1]}\n{line}")
    return results
