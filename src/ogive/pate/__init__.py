"""PATE: labels by a noisy vote of teachers, what they cost, and students who learn from them.

Names load when they are first used, since the costs need no data frames and no machine learning.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.pate.aggregators import (
        Aggregator,
        ConfidentGNMax,
        GNMax,
        InteractiveGNMax,
        LargestMargins,
        LNMax,
    )

_HOME = {
    "Aggregator": "aggregators",
    "ConfidentGNMax": "aggregators",
    "GNMax": "aggregators",
    "InteractiveGNMax": "aggregators",
    "LNMax": "aggregators",
    "LargestMargins": "aggregators",
}

__all__ = [
    "Aggregator",
    "ConfidentGNMax",
    "GNMax",
    "InteractiveGNMax",
    "LNMax",
    "LargestMargins",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.pate.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
