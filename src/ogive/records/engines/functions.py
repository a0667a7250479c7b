"""Functions of engines that ibis has no name for."""

from __future__ import annotations

from typing import Any

import ibis


def function(name: str, *kinds: Any, returns: Any) -> Any:
    """A function of an engine, of one or two parameters of these kinds."""
    parameters = _of_one if len(kinds) == 1 else _of_two
    return ibis.udf.scalar.builtin(parameters, name=name, signature=(kinds, returns))


def _of_one(first: Any) -> None: ...


def _of_two(first: Any, second: Any) -> None: ...
