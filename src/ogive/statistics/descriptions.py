"""Statistics read back from plain data, for those who get a description of what reports are for."""

from __future__ import annotations

from typing import Any

from ogive.checks import among
from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.parameters import completed
from ogive.statistics.base import Statistic
from ogive.statistics.kinds import COMMANDED
from ogive.statistics.methods.choose import CURVE_METHODS


def statistic_from_dict(data: Any) -> Statistic[Any]:
    """Rebuild a statistic from `ogive.statistics.base.describe`; the data need not be trusted.

    Those are read that owners of records can be asked for, as their commands say: `Command.owners`.

    Raises:
        ParameterError: there is no such statistic, or a field is missing, unknown or out of range.
    """
    given = data.get("name") if isinstance(data, dict) else None
    known = {kind.name: kind for kind in COMMANDED.values() if kind.command_options.owners is not None}
    name = among(given, "a described statistic", known)
    made: Any = known[name].statistic
    if hasattr(made, "from_dict"):
        rebuilt: Statistic[Any] = made.from_dict(data)
        return rebuilt
    fields = {str(key): value for key, value in data.items() if key != "name"}
    if fields.get("grid") is not None:
        if not isinstance(fields["grid"], dict):
            raise ParameterError(f"the grid of a described {name} must be an object")
        fields["grid"] = Grid.from_dict(fields["grid"])
    for field in ("method", "curve"):
        if isinstance(fields.get(field), dict):
            fields[field] = _curve_method(fields[field])
    for field in ("probabilities", "groups", "shares"):
        if isinstance(fields.get(field), list):
            fields[field] = tuple(fields[field])
    try:
        found: Statistic[Any] = made(**completed(made, fields))
    except TypeError:
        raise ParameterError(f"a described {name} lacks a field, or has one that there is not") from None
    return found


def _curve_method(data: dict[str, Any]) -> Any:
    name = among(data.get("name"), "the method of a described statistic", CURVE_METHODS)
    kind: Any = type(CURVE_METHODS[name])
    try:
        return kind(**completed(kind, {str(key): value for key, value in data.items() if key != "name"}))
    except TypeError:
        raise ParameterError(f"the method {name} of a described statistic has an option that there is not") from None
