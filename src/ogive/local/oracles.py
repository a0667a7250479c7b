"""Oracles from plain data, which anybody may have written."""

from __future__ import annotations

from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.local.base import Oracle
from ogive.local.classes import PublicClasses
from ogive.local.haar import HaarOracle
from ogive.local.randomized_response import RandomizedResponse
from ogive.local.tree import TreeOracle
from ogive.local.unary import UnaryOracle

_FIELDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "krr": (RandomizedResponse, ("size", "epsilon")),
    "unary": (UnaryOracle, ("size", "epsilon")),
    "haar": (HaarOracle, ("size", "epsilon", "seed", "weights")),
    "tree": (
        TreeOracle,
        (
            "size",
            "epsilon",
            "delta",
            "seed",
            "branching",
            "split",
            "composition",
            "nodes",
            "assignment",
            "level_epsilon",
        ),
    ),
    "classes": (PublicClasses, ("inner", "classes")),
}
ORACLES = tuple(_FIELDS)


def oracle_from_dict(data: Any) -> Oracle:
    """Rebuild an oracle from `to_dict`.

    Raises:
        ParameterError: the data are not those of an oracle's `to_dict`.
    """
    return _rebuilt(data, outermost=True)


def _rebuilt(data: Any, *, outermost: bool) -> Oracle:
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in _FIELDS or (name == "classes" and not outermost):
        raise ParameterError(f"an oracle must be one of {', '.join(ORACLES)}, got {quoted(name)}")
    kind, fields = _FIELDS[name]
    if set(data) != {"name", *fields}:
        raise ParameterError(f"an oracle {quoted(name)} has the fields {', '.join(fields)}, and no others")
    values = {field: data[field] for field in fields}
    if name == "classes":
        values["inner"] = _rebuilt(data["inner"], outermost=False)
    oracle: Oracle = kind(**values)
    return oracle
