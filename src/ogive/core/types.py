"""What long work calls, and interfaces that cost little to test for; needs no numpy."""

from __future__ import annotations

import dataclasses
import sys
import weakref
from collections.abc import Callable
from typing import Any, Protocol

Progress = Callable[[int, int], None]
"""Called with steps done and steps to do, again and again."""


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
        found = known.get(kind)
        if found is None:
            found = known[kind] = bool(super().__instancecheck__(instance))
        return found


def is_of_loaded(value: object, module: str, kind: str) -> bool:
    """Whether a value is of a type of a module that is slow to import, which it cannot be before that is loaded.

    While another thread imports the module, it is there without the type.
    """
    found = getattr(sys.modules.get(module), kind, None)
    return found is not None and isinstance(value, found)
