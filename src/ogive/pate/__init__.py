"""Private aggregation of teacher ensembles: consensus labels, their true price, and students.

Names load when they are first used: prices need no learning library.
"""

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {}

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.pate.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
