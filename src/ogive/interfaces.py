"""What objects are, asked so that it costs little: interfaces, and types of libraries that may not be loaded.

`isinstance` with a protocol of `typing` looks at each attribute of the object, and so computes its properties, at each
call. Whether a dataclass satisfies an interface depends on its type alone.
"""

from __future__ import annotations

import dataclasses
import sys
import weakref
from typing import Any, Protocol

_PROTOCOLS: Any = type(Protocol)


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


_KNOWN: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[type, bool]] = weakref.WeakKeyDictionary()


def is_of_loaded(value: object, module: str, kind: str) -> bool:
    """Whether a value is of a type of a module that is slow to import, which it cannot be before that is loaded.

    While another thread imports the module, it is there without the type.
    """
    found = getattr(sys.modules.get(module), kind, None)
    return found is not None and isinstance(value, found)
