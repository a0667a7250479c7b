"""Public conditions on columns as expressions of an engine, which hold for the rows that `records.filtering` takes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import ibis
import pyarrow as pa

from ogive.columns import LabelValue
from ogive.columns.values import trimmed
from ogive.predicates import All, Among, Comparison, Either, Missing, Not, Predicate
from ogive.records.arrow import as_truth, compared_number, kind_of, named_numbers, type_words
from ogive.records.engines.functions import as_text, utf8
from ogive.records.engines.numbers import double, number, whole
from ogive.records.missing_words import MissingWords

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(where: Predicate, table: Any, types: Mapping[str, Any], words: MissingWords, engine: str) -> Any:
    """Whether a condition holds, true or false and never null.

    Args:
        where: The condition, which fits the columns.
        table: Of an engine.
        types: Arrow types of the condition's columns.
        words: Numbers and dates that mean that a value is missing.
        engine: Name of the engine in ibis.
    """
    match where:
        case All():
            return functools.reduce(operator.and_, [holds(part, table, types, words, engine) for part in where.parts])
        case Either():
            return functools.reduce(operator.or_, [holds(part, table, types, words, engine) for part in where.parts])
        case Not():
            return ~holds(where.part, table, types, words, engine)
        case Missing():
            return _missing(table[where.column], types[where.column], words, engine)
        case Comparison():
            return _compared(table[where.column], types[where.column], where.sign, where.value, words, engine)
        case Among():
            column, kind = table[where.column], types[where.column]
            each = [_compared(column, kind, "==", value, words, engine) for value in where.values]
            return functools.reduce(operator.or_, each)


def _missing(column: Any, kind: Any, words: MissingWords, engine: str) -> Any:
    unit = None if pa.types.is_null(kind) else kind_of(kind)
    if unit is None or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return without_named(column, kind, words, engine).isnull()
    return _number(column, kind, unit, words).isnull()


def _compared(column: Any, kind: Any, sign: str, value: LabelValue, words: MissingWords, engine: str) -> Any:
    if pa.types.is_null(kind):
        return ibis.literal(False)
    value, unit = as_truth(value, kind), kind_of(kind)
    if unit is None:
        # bytes, since a column may take capitals for small letters
        text = as_text(without_named(column, kind, words, engine), engine)
        same = utf8(text.strip(), engine) == utf8(ibis.literal(trimmed(str(value))), engine)
        return _sure(same if sign == "==" else ~same)
    if pa.types.is_integer(kind) and not isinstance(value, str | float):
        # exact, where floats would take numbers beyond 2^53 for their neighbors
        return _sure(_COMPARED[sign](column, whole(int(value))) & ~_missing(column, kind, words, engine))
    numbers = _number(column, kind, unit, words)
    if unit == "number" and isinstance(value, int) and (near := int(float(value))) != value:
        # no float is that number: those up to the nearest one below it are less, all others are more
        below = numbers <= double(near) if near < value else numbers < double(near)
        found = {"==": numbers.isnull(), "!=": numbers.notnull(), "<": below, "<=": below}.get(sign, ~below)
        return _sure(found & numbers.notnull())
    return _sure(_COMPARED[sign](numbers, double(compared_number(value, unit))))


def without_named(column: Any, kind: Any, words: MissingWords, engine: str | None) -> Any:
    """A column of texts or whole numbers, null where a named word or number says that a value is missing.

    Columns of truth values, and of what is neither, are as they are.
    """
    if not words.named or pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return column
    unit = kind_of(kind)
    if unit is None:
        if type_words(kind) != "text":
            return column
        column = as_text(column, engine)
        folded = column.strip().lower()
        plain = folded.re_search(r"^-?[0-9]+[.]0+$").ifelse(folded.re_replace(r"[.]0+$", ""), folded)  # 9.0 is 9
        named = plain.isin(sorted(words.texts))
    elif pa.types.is_integer(kind):
        named = column.isin([whole(each) for each in sorted(words.whole_numbers) if abs(each) < 1 << 63])
    else:
        named = number(column, kind, unit, ()).isin([double(each) for each in named_numbers(words, unit)])
    return named.fill_null(False).ifelse(ibis.null(column.type()), column)


def _number(column: Any, kind: Any, unit: str, words: MissingWords) -> Any:
    return number(column, kind, unit, named_numbers(words, unit))


def _sure(condition: Any) -> Any:
    """False where a condition is null."""
    return condition.fill_null(False)
