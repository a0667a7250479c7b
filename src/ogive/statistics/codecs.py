"""How the fields of an estimate are written as JSON and read from strangers, declared once a field.

A field of an estimate's dataclass has the codec of its type, or one that `stored` names:

    column: str                                          a short text
    threshold: float                                     a finite number
    curve: Curve                                         whatever has `to_dict` and `from_dict`
    values: tuple[LabelValue, ...] = stored(VALUES)      a codec of its own

`to_dict`, `from_dict` and the JSON Schema of the estimate follow. A field with a default that stands for what was meant
before there was the field is declared by `stored(..., added=True)`; it is left out while it has that value.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.statistics.plain_json import LONGEST_TEXT, Fields, is_number

_CODEC, _ADDED = "ogive codec", "ogive added"

EstimateT = TypeVar("EstimateT")
Read = Mapping[str, Any]
"""Fields that were read before, by name."""


@dataclass(frozen=True)
class Codec:
    """How one field is written and read.

    Fields:
        write: Plain data of a value.
        read: The value of a field of that name, of fields of which those before it were read; refuses what is damaged.
        schema: JSON Schema of the plain data.
        last: Whether it is read after all others, since it needs them.
    """

    write: Callable[[Any], Any]
    read: Callable[[Fields, str, Read], Any]
    schema: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    last: bool = False


def stored(codec: Codec | None = None, *, added: bool = False, **options: Any) -> Any:
    """A dataclass field with a codec of its own, or left out of files while it has its default."""
    return dataclasses.field(metadata={_CODEC: codec, _ADDED: added}, **options)


def finite(value: Any) -> Any:
    """Numbers as JSON knows them: tuples as lists, and None for what is not finite."""
    if isinstance(value, tuple):
        return [finite(each) for each in value]
    return value if math.isfinite(value) else None


def _same(value: Any) -> Any:
    return value


def _number(known: Fields, name: str, _: Read) -> float:
    value = known.data[name]
    if not is_number(value):
        raise DataError(f"the field {quoted(name)} of {known.what} must be a finite number")
    return float(value)


TEXT = Codec(_same, lambda known, name, _: known.text(name), {"type": "string", "maxLength": LONGEST_TEXT})
NUMBER = Codec(_same, _number, {"type": "number"})
WHOLE = Codec(_same, lambda known, name, _: known.whole(name), {"type": "integer", "minimum": 0})
FLAG = Codec(_same, lambda known, name, _: known.flag(name), {"type": "boolean"})
CHANCE = Codec(
    _same,
    lambda known, name, _: known.chance(name),
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
)
_SIMPLE = {str: TEXT, float: NUMBER, int: WHOLE, bool: FLAG}


def nested(kind: Any) -> Codec:
    """Of a class whose plain data have a reader and a writer of their own."""
    return Codec(lambda value: value.to_dict(), lambda known, name, _: kind.from_dict(known.data[name]), {})


def optional(codec: Codec) -> Codec:
    """The same, or null."""
    return Codec(
        lambda value: None if value is None else codec.write(value),
        lambda known, name, before: None if known.data[name] is None else codec.read(known, name, before),
        {"anyOf": [codec.schema, {"type": "null"}]},
    )


def _of_type(hint: Any, name: str, where: str) -> Codec:
    """The codec of a field's type."""
    if name == "confidence_level":
        return CHANCE
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if isinstance(hint, types.UnionType) and len(parts) == 1:
        return optional(_of_type(parts[0], name, where))
    if hasattr(hint, "to_dict") and hasattr(hint, "from_dict"):
        return nested(hint)
    raise TypeError(f"the field {name} of {where} has no codec of its type; declare it by `stored(codec)`")


@functools.cache
def codecs_of(kind: Any) -> dict[str, tuple[Codec, bool]]:
    """The codec of each field of an estimate but its provenance, in the order of files, and whether it was added."""
    hints = typing.get_type_hints(kind.__init__)  # read in the module of the class, whatever it is called
    fields = {field.name: field for field in dataclasses.fields(kind) if field.name != "provenance"}
    order = [name for name in kind.file_order if name in fields]
    result = {}
    for name in (*order, *(each for each in fields if each not in order)):
        own = fields[name].metadata.get(_CODEC) or _of_type(hints[name], name, kind.__name__)
        result[name] = own, fields[name].metadata.get(_ADDED, False)
    return result


def write(estimate: Any) -> dict[str, Any]:
    """Plain data of an estimate: its fields, then results for other programs, then where it comes from."""
    kind: Any = type(estimate)
    data = {"schema": estimate.schema}
    defaults = {field.name: field.default for field in dataclasses.fields(estimate)}
    for name, (codec, added) in codecs_of(kind).items():
        value = getattr(estimate, name)
        if not (added and value == defaults[name]):
            data[name] = codec.write(value)
    results, provenance = estimate.results(), estimate.provenance
    if results:
        data["results"] = results
    data["provenance"] = None if provenance is None else provenance.to_dict()
    return data


def read(kind: type[EstimateT], data: Any) -> EstimateT:
    """Rebuild an estimate from plain data, which need not be trusted."""
    of: Any = kind
    codecs = codecs_of(of)
    needed = [name for name, (_, added) in codecs.items() if not added]
    known = Fields.of(data, of.schema, of.article, (*needed, "provenance"))
    values: dict[str, Any] = {}
    provenance = known.provenance()
    try:
        for name, (codec, _) in sorted(codecs.items(), key=lambda each: each[1][0].last):
            if name in known.data:
                values[name] = codec.read(known, name, values)
        estimate: Any = of(**values, provenance=provenance)
        estimate.check_stored(known)
    except ParameterError as problem:
        itself = "contradicts itself" if known.what.startswith(("a ", "an ")) else "contradict themselves"
        raise DataError(f"{known.what} {itself}: {plain(problem)}") from None
    return typing.cast(EstimateT, estimate)


def json_schema(kind: Any) -> dict[str, Any]:
    """JSON Schema of an estimate, from the codecs of its fields; results are not described."""
    codecs = codecs_of(kind)
    properties = {name: dict(codec.schema) for name, (codec, _) in codecs.items()}
    needed = [name for name, (_, added) in codecs.items() if not added]
    has_results = sum("results" in vars(each) for each in kind.__mro__) > 1  # besides the base class
    results = {"results": {"type": "object"}} if has_results else {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{kind.schema.replace('.', ':schema:', 1).replace('/', ':')}",
        "type": "object",
        "required": ["schema", *needed, *results, "provenance"],
        "additionalProperties": False,
        "properties": {
            "schema": {"const": kind.schema},
            **properties,
            **results,
            "provenance": {"type": ["object", "null"]},
        },
    }
