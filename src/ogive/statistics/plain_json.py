"""What stored estimates have in common: JSON text, checked fields, and a price that fits the noise.

The data come from strangers. Every check ends in the value wanted or in one line that says what was wrong.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np

from ogive.accounting import at_least, covers, group_loss, total_loss
from ogive.columns import Label
from ogive.core.arrays import Float64
from ogive.core.files import permissions, write_atomically
from ogive.errors import DataError, ParameterError, UnsupportedError, plain, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.provenance import Provenance, declaring
from ogive.queries import CuratorQuery
from ogive.strategies.base import Strategy
from ogive.strategies.composed import CountedPeople, SummedApproximations, SummedStrategies

# --- Whether the price of a stored estimate fits its noise
#
# A price that was lowered in a file makes a later total of prices too small. What noise costs follows from the strategy
# that it belongs to, so a price below that shows. A price above it is possible: a private selection of the method costs
# besides, and where several parties add noise, more of it is there than is counted on.

Measured = tuple[Strategy | None, Adjacency]
"""What was measured, with the adjacency that its loss is of; None where the answer is exact."""

_HIDDEN = {Adjacency.REPLACE: "a record that is replaced", Adjacency.ADD_OR_REMOVE: "a record that is added or removed"}


def check_price(
    source: Provenance | None, measured: Iterable[Measured] = (), besides: Callable[[PrivacyUnit], Loss] | None = None
) -> None:
    """Refuse an estimate whose stated price or guarantee is not that of its own noise.

    `source`: Where the estimate comes from; None if it was never released. `besides`: What else was measured costs this
    for a unit; None where nothing was.
    """
    if source is None or source.privacy is None or source.price is None:
        return
    if not covers(source.privacy, source.price):
        raise DataError(f"this estimate contradicts itself: it has {source.privacy}, and cost {source.price}")
    for strategy, adjacency in measured:
        if strategy is None:
            raise DataError(f"this estimate contradicts itself: it has {source.privacy}, and its answer is exact")
        if adjacency is not source.adjacency:
            raise DataError(
                f"this estimate contradicts itself: its guarantee hides {_HIDDEN[source.adjacency]}, and its noise "
                f"{_HIDDEN[adjacency]}"
            )
        for part in parts_of(strategy):
            loss = loss_of(part, adjacency, source.max_rows_per_person)
            if besides is not None:
                loss = total_loss([loss, besides(source.unit)])
            if not at_least(source.price, loss):
                raise understated(source, loss)


def understated(source: Provenance, least: Loss) -> DataError:
    """Refusal of a stated price below that of the noise."""
    return DataError(
        f"this estimate contradicts itself: its noise costs {least}, and its stated price is {source.price}"
    )


def check_query(source: Provenance | None, query: CuratorQuery | None, adjacency: Adjacency) -> None:
    """The same for an estimate whose one measurement is a query."""
    if source is None or source.privacy is None or source.price is None:
        return
    check_price(source, [(None, adjacency)] if query is None else [])
    hidden = {source.adjacency, adjacency}
    # of some of the records: replacing one may take it out of them, so they are asked as if records came and went
    moving = source.where is not None and adjacency is Adjacency.ADD_OR_REMOVE
    if len(hidden) > 1 and not moving:
        raise DataError(
            f"this estimate contradicts itself: its guarantee hides {_HIDDEN[source.adjacency]}, and its noise "
            f"{_HIDDEN[adjacency]}"
        )
    assert query is not None, "exact answers were refused"
    for each in hidden:
        unit = source.unit if each is source.adjacency else PrivacyUnit(each, source.person)
        try:
            loss = query.price(unit)
        except ParameterError as problem:
            words = plain(problem)
            raise DataError(f"this estimate contradicts itself: its noise has no price, since {words}") from None
        if not at_least(source.price, loss):
            raise understated(source, loss)


def loss_of(strategy: Strategy, adjacency: Adjacency, rows: int) -> Loss:
    """What the noise of one release costs."""
    try:
        # a person has one weight, whatever the number of rows
        return group_loss(strategy.loss(adjacency), 1 if isinstance(strategy, CountedPeople) else rows)
    except (ParameterError, UnsupportedError) as problem:
        raise DataError(f"this estimate contradicts itself: its noise has no price, since {plain(problem)}") from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise DataError("this estimate's strategy is damaged: its noise has no price") from None


def parts_of(strategy: Strategy) -> tuple[Strategy, ...]:
    """The strategies of the batches that a curve was merged of, in the order of its batches; else the one itself."""
    if isinstance(strategy, SummedStrategies | SummedApproximations):
        return tuple(single for part in strategy.parts for single in parts_of(part))
    return (strategy,)


# --- JSON text and checked fields

LONGEST_TEXT = 4000
"""Most characters of a text in an estimate."""

_LARGEST_WHOLE = 1 << 62
_MOST_LABELS = 10_000
_EXACT = re.compile(r"[0-9]{1,40}(/[0-9]{1,40})?")
_ROUNDING = 1 + 1e-9  # sums of chances may exceed what they cannot exceed


def write(
    data: dict[str, Any], path: str | Path | None = None, *, public: bool = False, indent: int | None = None
) -> str:
    """JSON text of plain data; with a path, also written there, whole or not at all."""
    text = json.dumps(data, indent=indent, allow_nan=False)
    if path is not None:
        write_atomically(Path(path), text.encode() + b"\n", mode=permissions(public=public))
    return text


def parse(source: str | bytes | Path) -> Any:
    """Plain data of JSON text, or of the file at a Path."""
    text = _read(source) if isinstance(source, Path) else source
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except RecursionError:
        raise DataError("not an estimate: the JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise DataError("not a release: not JSON, and no text either") from None
    except json.JSONDecodeError as problem:
        if isinstance(source, str) and source.lower().endswith(".json"):
            raise DataError(f"{quoted(source)} is not JSON; give a file as a Path, such as `Path('c.json')`") from None
        raise DataError(f"not JSON: {plain(problem)}; give a file that ogive wrote as JSON") from None
    except (ValueError, TypeError) as problem:
        message = "a number has too many digits" if "digits" in str(problem) else str(problem)
        raise DataError(f"not JSON: {plain(message)}") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"cannot read {plain(path)}: {problem.strerror}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which nothing stands twice, so that all readers read the same."""
    result = dict(pairs)
    if len(result) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{quoted(twice[:40])} stands twice in one object")
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def is_text(value: Any) -> TypeGuard[str]:
    """Whether plain data is a text short enough for a name."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether plain data is a whole number that 64 bits hold with room to add."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_WHOLE


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether plain data is a finite number, and not so large that floating point could not hold it."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def noise_law(data: Any, what: str) -> DiscreteGaussian | DiscreteLaplace | None:
    """The law of two-sided noise; None where there is none."""
    if data is None:
        return None
    texts = isinstance(data, dict) and len(data) == 2 and all(isinstance(value, str) for value in data.values())
    if not texts or not all(name == "law" or _EXACT.fullmatch(value) for name, value in data.items()):
        raise DataError(f"the noise of {what} must be a law with an exact number like '1/10', or null")
    law = law_from_dict(data)
    if not isinstance(law, DiscreteLaplace | DiscreteGaussian):
        raise DataError(f"the noise of {what} must be discrete Laplace or discrete Gaussian")
    return law


def read_exact(data: Any, what: str) -> Fraction:
    """An exact number, written as a whole number or a fraction such as "-1/10"."""
    if not isinstance(data, str) or not _EXACT.fullmatch(data.removeprefix("-")):
        raise DataError(f"{what} must be exact numbers like '1/10'")
    try:
        return Fraction(data)
    except ZeroDivisionError:
        raise DataError(f"{what} must be exact numbers like '1/10'") from None


@dataclass(frozen=True)
class Fields:
    """Fields of one stored estimate; each method gives a checked value, or refuses the data.

    Fields:
        data: The plain data, in which every field that is asked for is present; see `of`.
        what: Names the estimate in errors, for example "a curve".
    """

    data: dict[str, Any]
    what: str

    @staticmethod
    def of(data: Any, schema: str, what: str, needed: Iterable[str]) -> Fields:
        """The fields of an estimate of a schema."""
        named = data.get("schema") if isinstance(data, dict) else None
        if not isinstance(named, str) or named != schema:
            got = f", got schema {quoted(named[:40])}" if isinstance(named, str) else ""
            raise DataError(f"not {what}: expected a JSON object of schema {schema}{got}")
        for name in needed:
            if name not in data:
                lack = "lacks" if what.startswith(("a ", "an ")) else "lack"
                raise DataError(f"{what} {lack} the field {quoted(name)}")
        return Fields(data, what)

    def text(self, name: str) -> str:
        """A short text."""
        value = self.data[name]
        if not is_text(value):
            raise DataError(f"the field {quoted(name)} of {self.what} must be a short text")
        return value

    def whole(self, name: str, least: int = 0, most: int | None = None) -> int:
        """A whole number within limits."""
        value = self.data[name]
        if not is_whole(value) or value < least or (most is not None and value > most):
            limit = "" if most is None else f" to {most}"
            raise DataError(f"the field {quoted(name)} of {self.what} must be a whole number from {least}{limit}")
        return value

    def number(self, name: str, most: float = math.inf) -> float:
        """A finite number from 0."""
        value = self.data[name]
        if not is_number(value) or not 0 <= value <= most * _ROUNDING:
            limit = "" if most == math.inf else f" to {most:g}"
            raise DataError(f"the field {quoted(name)} of {self.what} must be a number from 0{limit}")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.data[name]
        if not isinstance(value, bool):
            raise DataError(f"the field {quoted(name)} of {self.what} must be true or false")
        return value

    def rows(self, name: str, what: str, needed: Iterable[str], *, nonempty: bool = False) -> list[Fields]:
        """The fields of each object in a list."""
        listed, wanted = self.data[name], tuple(needed)
        fit = isinstance(listed, list) and all(isinstance(each, dict) and set(wanted) <= set(each) for each in listed)
        if not fit or (nonempty and not listed):
            objects = "at least one object" if nonempty else "objects"
            raise DataError(
                f"the field {quoted(name)} of {self.what} must be a list of {objects} with {', '.join(wanted)}"
            )
        return [Fields(each, what) for each in listed]

    def numbers(self, name: str) -> Float64:
        """A list of at least one finite number."""
        values = self.data[name]
        if isinstance(values, list) and set(map(type, values)) == {float}:
            result = np.array(values, dtype=np.float64)
            if np.isfinite(result).all():
                return result
        if not isinstance(values, list) or not values or not all(map(is_number, values)):
            raise DataError(f"the field {quoted(name)} of {self.what} must be a list of finite numbers")
        return np.array(values, dtype=np.float64)

    def chance(self, name: str) -> float:
        """A confidence level or another probability strictly between 0 and 1."""
        value = self.data[name]
        if not is_number(value) or not 0 < value < 1:
            words = name.replace("_", " ")
            raise DataError(f"the {words} of {self.what} must be a number strictly between 0 and 1")
        return float(value)

    def total(self) -> int | None:
        """The public number of records, or None."""
        value: int | None = self.data["total"]
        if value is not None and not (is_whole(value) and value >= 0):
            raise DataError(f"the field 'total' of {self.what} must be a number of records or null")
        return value

    def adjacency(self) -> Adjacency:
        """Which data sets are adjacent."""
        value = self.text("adjacency")
        known = [member.value for member in Adjacency]
        if value not in known:
            raise DataError(f"unknown adjacency {quoted(value[:40])} of {self.what}; it must be {' or '.join(known)}")
        return Adjacency(value)

    def provenance(self, *published: str) -> Provenance | None:
        """Where the estimate comes from; None if it was never released."""
        data = self.data["provenance"]
        source = None if data is None else Provenance.from_dict(data)
        check_price(source)
        return declaring(source, published)

    def label(self) -> Label:
        """Column and values that make a record positive."""
        data = self.data["label"]
        if not isinstance(data, dict) or set(data) != {"column", "positive", "negative"}:
            raise DataError(f"the label of {self.what} must have column, positive and negative, and nothing else")
        if not is_text(data["column"]):
            raise DataError(f"the column of a label of {self.what} must be a short text")
        positive, negative = (self._class(data, name) for name in ("positive", "negative"))
        if positive is None:
            raise DataError(f"the label of {self.what} lacks the values of the positive class")
        try:
            return Label(data["column"], positive, negative)
        except ParameterError as problem:
            raise DataError(f"the label of {self.what}: {plain(problem)}") from None

    def _class(self, data: dict[str, Any], name: str) -> tuple[Any, ...] | None:
        values = data[name]
        if values is None:
            return None
        if not isinstance(values, list) or len(values) > _MOST_LABELS or not all(map(_is_label_value, values)):
            raise DataError(
                f"the {name} values of a label of {self.what} must be numbers, truth values or short texts, "
                f"at most {_MOST_LABELS}"
            )
        return tuple(values)


def _is_label_value(value: Any) -> bool:
    return isinstance(value, bool) or is_text(value) or (is_number(value) and abs(value) < _LARGEST_WHOLE)


# --- How the fields of an estimate are written as JSON and read from strangers, declared once a field
#
# A field of an estimate's dataclass has the codec of its type, or one that `stored` names:
#
#     column: str                                          a short text
#     threshold: float                                     a finite number
#     curve: Curve                                         whatever has `to_dict` and `from_dict`
#     values: tuple[LabelValue, ...] = stored(VALUES)      a codec of its own
#
# `to_dict`, `from_dict` and the JSON Schema of the estimate follow. A field with a default that stands for what was
# meant before there was the field is declared by `stored(..., added=True)`; it is left out while it has that value.

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


def agreeing(estimate: Any, results: Any) -> Any:
    """What the file of an estimate said, where its intervals are those of now or wider and all else is the same.

    Files of earlier versions, whose intervals were wider, are so written as they were read.
    """
    earlier = vars(estimate).get("_results")
    return earlier if earlier is not None and _as_wide(earlier, results) else results


def _as_wide(earlier: Any, now: Any, name: str = "") -> bool:
    if isinstance(now, dict):
        same = isinstance(earlier, dict) and earlier.keys() == now.keys()
        return same and all(_as_wide(earlier[each], now[each], each) for each in now)
    if isinstance(now, list | tuple):
        ends = ("low", "high") if name == "interval" and len(now) == 2 else ("",) * len(now)
        same = isinstance(earlier, list) and len(earlier) == len(now)
        return same and all(map(_as_wide, earlier, now, ends))
    if not (is_number(earlier) and is_number(now)):
        return bool(earlier == now) or (earlier is None and name in ("low", "high"))
    room = 1e-9 * max(1.0, abs(now))
    if name in ("low", "high", "standard_error"):
        return bool((now - earlier if name == "low" else earlier - now) >= -room)
    return bool(abs(earlier - now) <= room)


def to_plain(estimate: Any) -> dict[str, Any]:
    """Plain data of an estimate: its fields, then results for other programs, then where it comes from."""
    kind: Any = type(estimate)
    data = {"schema": estimate.schema}
    defaults = {field.name: field.default for field in dataclasses.fields(estimate)}
    for name, (codec, added) in codecs_of(kind).items():
        value = getattr(estimate, name)
        if not (added and value == defaults[name]):
            data[name] = codec.write(value)
    results, provenance = agreeing(estimate, estimate.results()), estimate.provenance
    if results:
        data["results"] = results
    data["provenance"] = None if provenance is None else provenance.to_dict()
    return data


def from_plain(kind: type[EstimateT], data: Any) -> EstimateT:
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
        vars(estimate)["_results"] = known.data.get("results")
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
