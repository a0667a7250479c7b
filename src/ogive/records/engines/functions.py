"""Functions of engines that ibis has no name for."""

from __future__ import annotations

from typing import Any

import ibis


def function(name: str, *kinds: Any, returns: Any) -> Any:
    """A function of an engine, of one or two parameters of these kinds."""
    parameters = _of_one if len(kinds) == 1 else _of_two
    return ibis.udf.scalar.builtin(parameters, name=name, signature=(kinds, returns))


def as_text(column: Any, engine: str | None) -> Any:
    """A column of labels as text; on PostgreSQL some types, such as enumerations, are texts that few functions take."""
    text = column.cast("string")
    return text + "" if engine == "postgres" else text


def utf8(text: Any, engine: str) -> Any:
    """The UTF-8 bytes of a text. Columns may be declared to take capitals for small letters, and bytes are not."""
    match engine:
        case "duckdb":
            return function("encode", "string", returns="binary")(text)
        case "postgres":  # of whose types some are texts that no function takes, but the end of another text
            return function("convert_to", "string", "string", returns="binary")(text + "", "UTF8")
        case _:
            return function("encode", "string", "string", returns="binary")(text, "UTF-8")


def _of_one(first: Any) -> None: ...


def _of_two(first: Any, second: Any) -> None: ...
