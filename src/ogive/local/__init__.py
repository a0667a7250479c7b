"""The local model: owners randomize their own values, an aggregator adds reports up.

What owners need (`Randomizer`, the oracles and the domain) uses numpy alone, so that it can be shipped to devices; the
rest loads when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.local.base import Oracle
    from ogive.local.classes import PublicClasses
    from ogive.local.collection import Collection
    from ogive.local.description import Description
    from ogive.local.design import design_tree
    from ogive.local.haar import HaarOracle
    from ogive.local.oracles import oracle_from_dict
    from ogive.local.randomized_response import RandomizedResponse
    from ogive.local.randomizer import Randomizer
    from ogive.local.simulation import simulate
    from ogive.local.source import OwnerSource
    from ogive.local.tree import TreeOracle
    from ogive.local.unary import UnaryOracle

_HOME = {
    "Collection": "collection",
    "Description": "description",
    "HaarOracle": "haar",
    "Oracle": "base",
    "OwnerSource": "source",
    "PublicClasses": "classes",
    "RandomizedResponse": "randomized_response",
    "Randomizer": "randomizer",
    "TreeOracle": "tree",
    "UnaryOracle": "unary",
    "design_tree": "design",
    "oracle_from_dict": "oracles",
    "simulate": "simulation",
}

__all__ = [
    "Collection",
    "Description",
    "HaarOracle",
    "Oracle",
    "OwnerSource",
    "PublicClasses",
    "RandomizedResponse",
    "Randomizer",
    "TreeOracle",
    "UnaryOracle",
    "design_tree",
    "oracle_from_dict",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.local.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
