"""Checks of arguments that many parts take: whole numbers, truth values, one of a few words, arrays; and of types.

Each check of an argument refuses in one line that names the parameter, what it may be and what was given.
"""

from __future__ import annotations

import dataclasses
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

from ogive.errors import DataError, ParameterError, quoted

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
