"""Which rows of an engine's table count: those of a public condition, and of each person at most some.

What is chosen of a person's rows is what `records.bounding.ChoiceByCells` chooses, as an expression.

One pass counts the rows of each person in each cell. Persons with few rows keep them all. The rows of others are
numbered in each cell, ranked by MD5, and the lowest are kept. No row and no name leaves the engine.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ibis
import pyarrow as pa

from ogive.columns import LabelValue, categories, predicates
from ogive.errors import DataError, quoted
from ogive.records.bounding import FARTHEST, FINEST, MISSING, MOST_DIGITS, PREFIX
from ogive.records.cells import as_truth, compared_number, kind_of, named_numbers, type_words
from ogive.records.engines.values import as_text, double, function, number, stripped, utf8, whole
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.persons import missing_person
from ogive.strategies.composed import PERSON_UNITS

_NAMED, _MISSING, _UNCLEAR = 0, 1, 2

_DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_NO_DECIMAL = "[^-.0-9]"
"""Of a text with such a letter the end that `$` finds may lie before a line break."""
_EXPONENT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?e[+-][0-9]{2,3}$"
_BELOW, _ABOVE = -(10**MOST_DIGITS), 10**MOST_DIGITS

GROUP_ROWS = 1 << 22
"""Rows whose persons DuckDB is asked for at once, about: the choice takes some 180 bytes of memory a row."""

RANK_DIGITS = 16
"""Hexadecimal digits of a digest that rank a row."""

_MD5 = {
    "duckdb": function("md5", "string", returns="string"),
    "postgres": lambda text: function("md5", "binary", returns="string")(utf8(text, "postgres")),
    "pyspark": lambda text: function("md5", "binary", returns="string")(utf8(text, "pyspark")),
}
"""The hexadecimal MD5 of the UTF-8 bytes of a text, whatever the encoding of a database."""


class Bound(NamedTuple):
    """How many rows are kept of each person.

    Fields:
        limit: Most rows that are kept of one person; None where all are, and share the units of their person.
    """

    person: str
    limit: int | None
    kind: Any
    engine: str

    def named(self, table: Any) -> dict[str, Any]:
        """The name of the person of each row of a table, as columns whose names begin with `person_`."""
        return person_names(table[self.person], self.kind, self.engine)


def person_names(column: Any, kind: Any, engine: str) -> dict[str, Any]:
    """The name of each row's person: equal for one person, as `records.persons` tells persons apart, and the fault."""
    if pa.types.is_integer(kind):
        results = column.cast("string")
        return {"person_name": results, "person_fault": _fault(column.isnull(), ibis.literal(False))}
    if pa.types.is_floating(kind):
        number = column.cast("float64")
        number = number.isnan().ifelse(ibis.null("float64"), number)
        clear = _is_small(number)
        results = clear.ifelse(number, ibis.null("float64")).cast("int64").cast("string")
        return {"person_name": results, "person_fault": _fault(number.isnull(), ~clear)}
    text = column.cast("string") if pa.types.is_decimal(kind) else as_text(column, engine)
    text = stripped(text, engine)
    missing = text.isnull() | text.lower().isin(sorted(USUAL.folded))
    return {
        "person_name": ibis.cases((missing, ibis.null("string")), else_=canonical(text)),
        "person_bytes": utf8(canonical(text), engine),
        "person_fault": _fault(missing, text.re_search(_EXPONENT)),
    }


def person_columns(table: Any) -> list[str]:
    """The columns of a table that `person_names` made."""
    return [column for column in table.columns if column.startswith("person_")]


def person_groups(table: Any, engine: str) -> int:
    """In how many groups of persons a table is asked, so that memory stays bounded whatever its length.

    DuckDB keeps all groups and windows of one question in memory. The others write theirs to disk.
    """
    if engine != "duckdb":
        return 1
    return max(1, -(-int(table.count().to_pyarrow().as_py()) // GROUP_ROWS))


def of_group(table: Any, person: str, kind: Any, engine: str, *, group: int, groups: int) -> Any:
    """The rows of the persons of one group; those of a person are in one, and rows without a person, too."""
    if pa.types.is_signed_integer(kind):
        hashed = function("hash", "int64", returns="uint64")(table[person].cast("int64").fill_null(whole(0)))
    else:
        named = person_names(table[person], kind, engine)["person_name"]
        hashed = function("hash", "string", returns="uint64")(named.fill_null(""))
    return table.filter(hashed % ibis.literal(groups, "uint64") == ibis.literal(group, "uint64"))


def canonical(text: Any) -> Any:
    """A text; of a plain decimal number the one without needless digits, so that 5.0 and 5 are alike."""
    short = text.re_replace(r"\.0+$", "")
    short = short.contains(".").ifelse(short.re_replace("0+$", ""), short)
    short = (short == "-0").ifelse("0", short)
    return (text.re_search(_DECIMAL) & ~text.re_search(_NO_DECIMAL)).ifelse(short, text)


def _fault(missing: Any, unclear: Any) -> Any:
    """What `refuse` is given of each row: whether its person is missing, or unclear, or named."""
    return ibis.cases((missing, whole(_MISSING)), (unclear, whole(_UNCLEAR)), else_=whole(_NAMED))


def is_named(table: Any) -> Any:
    """Which rows of a table of names have a person."""
    return table["person_fault"] != whole(_MISSING)


def refuse(fault: int, column: str) -> None:
    """Refuse the worst fault of a person column."""
    if fault == _MISSING:
        raise DataError(missing_person(column))
    if fault == _UNCLEAR:
        raise DataError(
            f"person column {quoted(column)} has numbers with fractions, exponents or more than {MOST_DIGITS} digits, "
            "which engines write in different ways; cast the column to whole numbers or text in a view of the table"
        )


def one_label(value: Any, kind: Any) -> Any:
    """The labels of a column, of which engines may tell some apart that are one label in a file."""
    if pa.types.is_floating(kind):
        return value.isnan().ifelse(ibis.null("float64"), value + double(0))  # one zero
    if pa.types.is_decimal(kind):
        return (value == "NaN").ifelse(ibis.null("string"), canonical(value))
    return value


def label_tie(value: Any, kind: Any, engine: str) -> Any:
    """What decides between labels that are written alike though they differ: of numbers the smaller one is first.

    A float would not do: it takes whole numbers from 2^53 on, and decimals of many digits, for their neighbors.
    """
    if not pa.types.is_decimal(kind):
        return value
    # PostgreSQL's own decimals have any number of digits, those of a column of the others as many as it says
    return value.cast("decimal" if engine == "postgres" else f"decimal({kind.precision}, {kind.scale})")


def label_text(value: Any, kind: Any) -> Any:
    """What `records.bounding.label_text` writes for each label that `one_label` returns."""
    if pa.types.is_boolean(kind):
        results = value.isnull().ifelse(ibis.null("string"), value.ifelse("1", "0"))
    elif pa.types.is_integer(kind):
        small = (value > whole(_BELOW)) & (value < whole(_ABOVE))
        results = small.ifelse(value.cast("string"), _in_steps(value.cast("float64")))
    elif pa.types.is_floating(kind):
        results = _is_small(value).ifelse(_near(value).cast("int64").cast("string"), _in_steps(value))
    elif pa.types.is_decimal(kind):
        digits = value.re_search(f"^-?[0-9]{{1,{MOST_DIGITS}}}$")
        results = digits.ifelse(value, _in_steps(value.cast("float64")))
    else:
        results = ibis.literal("t") + value.length().cast("string") + ":" + value
    return results.fill_null("m")


def _near(number: Any) -> Any:
    """A number, or 0 for one that has no few digits, so that no cast overflows."""
    return ((number > double(_BELOW)) & (number < double(_ABOVE))).ifelse(number, double(0))


def _is_small(number: Any) -> Any:
    """Whether a number is whole and of a few digits."""
    near = _near(number)
    return (near.floor().cast("float64") == near) & (near == number)


def _in_steps(number: Any) -> Any:
    """A number in units of 1 / `FINEST`, as `records.bounding.label_text` writes one that is not short and whole."""
    near = ibis.cases((number > double(FARTHEST), double(FARTHEST)), (number < double(-FARTHEST), double(-FARTHEST)),
                      else_=number)  # fmt: skip
    return ibis.literal("f") + (near * double(FINEST)).floor().cast("int64").cast("string")


def kept(table: Any, cells: Sequence[str], texts: Sequence[Any], ties: Sequence[Any], bound: Bound) -> Any:
    """Cells of the rows that are kept, with how many of one person are in each: a column `rows`."""
    assert bound.limit is not None, "not all rows are kept"
    person, counted = _of_each(table, cells)
    counted = counted.mutate(all_rows=counted["rows"].sum().over(ibis.window(group_by=person)).cast("int64"))
    result = [*cells, "person_fault"]
    few = counted.filter(counted["all_rows"] <= whole(bound.limit)).select(*result, "rows")
    many = counted.filter(counted["all_rows"] > whole(bound.limit))
    many = many.mutate(number=ibis.range(whole(1), many["rows"] + whole(1)).unnest())
    written = [text(many) for text in texts]
    cell = functools.reduce(lambda first, second: first + "," + second, written)
    rest = ibis.literal("|") + many["number"].cast("string") + "|" + many["person_name"]
    digest = _MD5[bound.engine](functools.reduce(operator.add, [ibis.literal(PREFIX), cell, rest]))
    many = many.mutate(rank=digest.substr(0, RANK_DIGITS))
    order = ["rank", *(tie(many) for tie in ties)]
    place = ibis.row_number().over(ibis.window(group_by=person, order_by=order))
    many = many.mutate(place=place)
    many = many.filter(many["place"] < whole(bound.limit)).select(*result).mutate(rows=whole(1))
    return few.union(many)


def shared(table: Any, place: str, *, dropped: bool) -> Any:
    """Places of the rows of each person, with the person's units in each of them: a column `rows`."""
    person, counted = _of_each(table, [place])
    if dropped:
        there = (counted[place] == whole(MISSING)).ifelse(whole(0), counted["rows"].cast("int64"))
        counted = counted.mutate(rows=there)
    up_to = ibis.window(group_by=person, order_by=place, rows=(None, 0))
    rows = counted["rows"]
    counted = counted.mutate(
        all_rows=rows.sum().over(ibis.window(group_by=person)).cast("int64"),
        up_to=rows.sum().over(up_to).cast("int64"),
        rows=rows.cast("int64"),
    )
    # a person all of whose rows are dropped has no units, whatever they are divided by
    held = (counted["all_rows"] == whole(0)).ifelse(whole(1), counted["all_rows"])
    counted = counted.mutate(held=held, before=counted["up_to"] - counted["rows"])
    units = _rounded(counted["up_to"], counted["held"]) - _rounded(counted["before"], counted["held"])
    return counted.select(place, "person_fault", rows=units)


def _of_each(table: Any, cells: Sequence[str]) -> tuple[list[str], Any]:
    """The columns that name a person, and how many rows each person has in each cell."""
    person = person_columns(table)
    return person, table.group_by([*person, *cells]).aggregate(rows=table.count())


def _rounded(part: Any, rows: Any) -> Any:
    """What `add_shares` computes; engines divide whole numbers in different ways, but not multiples."""
    above, below = part * whole(2 * PERSON_UNITS) + rows, rows * whole(2)
    return ((above - above % below) / below).cast("int64")


# --- Public conditions, which hold for the rows that `records.parts` takes

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(where: predicates.Predicate, table: Any, types: Mapping[str, Any], words: MissingWords, engine: str) -> Any:
    """Whether a condition holds, true or false and never null."""
    match where:
        case predicates.All():
            return functools.reduce(operator.and_, [holds(part, table, types, words, engine) for part in where.parts])
        case predicates.Either():
            return functools.reduce(operator.or_, [holds(part, table, types, words, engine) for part in where.parts])
        case predicates.Not():
            return ~holds(where.part, table, types, words, engine)
        case predicates.Missing():
            return _missing(table[where.column], types[where.column], words, engine)
        case predicates.Comparison():
            return _compared(table[where.column], types[where.column], where.sign, where.value, words, engine)
        case predicates.Among():
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
        wanted = [utf8(ibis.literal(word), engine) for word in categories.spellings(str(value))]
        same = functools.reduce(operator.or_, (utf8(stripped(text, engine), engine) == word for word in wanted))
        return _sure(same if sign == "==" else ~same)
    if pa.types.is_integer(kind) and not isinstance(value, str | float):
        # exact, where floats would take numbers beyond 2^53 for their neighbors
        return _sure(_COMPARED[sign](column, whole(int(value))) & ~_missing(column, kind, words, engine))
    numbers = _number(column, kind, unit, words)
    if unit == "number" and isinstance(value, int) and (near := int(float(value))) != value:
        # no float is that number: those up to the nearest one below it are less, all others are more
        below = numbers <= double(near) if near < value else numbers < double(near)
        results = {"==": numbers.isnull(), "!=": numbers.notnull(), "<": below, "<=": below}.get(sign, ~below)
        return _sure(results & numbers.notnull())
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
        folded = stripped(column, engine).lower()
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
