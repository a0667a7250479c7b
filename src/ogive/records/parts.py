"""Some records of a table as a table of its own: those of a public condition, or those dealt to one party."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.columns import LabelValue
from ogive.columns.categories import BLANKS, spellings
from ogive.columns.grids import MAX_WHOLE
from ogive.columns.predicates import All, Among, Comparison, Either, Missing, Not, Predicate, columns_of, leaves
from ogive.core.arrays import Bool, UInt16, UInt64
from ogive.errors import DataError, plain, quoted
from ogive.records.cells import (
    LabelCells,
    as_truth,
    check_points,
    compared_number,
    content_kind,
    float_values,
    is_named,
    is_text,
    kind_of,
    type_words,
    without_named,
    without_words,
)
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.persons import PersonCodes, are_named, hashes_of
from ogive.records.sources import Source, Table


class _SomeRows(Source):
    """Some rows of a table: the columns, their types and what is said of them are those of the whole table."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name = source.name
        self.columns = source.columns
        self.has_names = source.has_names
        self.numbers_hint = source.numbers_hint
        self.guesses_kinds = source.guesses_kinds
        if source.guesses_kinds:
            self.told = source.told

    def type(self, column: str) -> Any:
        return self._source.type(column)

    def number_remedy(self, column: str) -> str:
        return self._source.number_remedy(column)

    def wrong_line(self, column: str, unit: str) -> int | None:
        return self._source.wrong_line(column, unit)

    def offset_line(self, column: str) -> int | None:
        return self._source.offset_line(column)


# --- Rows that satisfy a public condition
#
# The condition is computed on Arrow arrays of every container alike, so that one condition means one thing in a frame,
# a file and a dictionary. Numbers compare as the numbers that they are measured as, text as text.

_COMPARED = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class FilteredSource(_SomeRows):
    """The rows of a table that satisfy a condition; it has the columns of the table."""

    def __init__(self, source: Source, where: Predicate, words: MissingWords = USUAL) -> None:
        super().__init__(source)
        self._where = where
        self._read = columns_of(where)
        self._cells = LabelCells(source, words)
        self._words = words
        check_condition(where, source, words)

    def rows(self) -> int:
        return sum(len(arrays[0]) for arrays in self.batches(self._read))

    def digest(self) -> bytes:
        return self._source.digest()

    def is_empty(self) -> bool:
        """Whether the whole table has no row; how many satisfy the condition must not decide what is done."""
        return self._source.is_empty()

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows that satisfy the condition, some at a time; a batch may have none."""
        compared = [leaf.column for leaf in leaves(self._where) if not isinstance(leaf, Missing)]
        identifying = [column for column in compared if column in identifiers]
        if identifying:  # it would be read as text, which compares otherwise
            raise DataError(
                f"column {quoted(identifying[0])} identifies the person, so `where` cannot compare it, and can only "
                "ask whether it is missing"
            )
        names = [*columns, *(column for column in self._read if column not in columns)]
        for arrays in self._source.batches(names, identifiers=identifiers):
            compared_cells = {
                column: self._names(array)
                if column in identifiers
                else without_named(self._cells.read(column, array), self._words)
                for column, array in zip(names, arrays, strict=True)
                if column in self._read
            }
            chosen = holds(self._where, compared_cells, len(arrays[0]))
            mask = pa.array(chosen)
            yield tuple(array.filter(mask) for array in arrays[: len(columns)])

    def _names(self, array: Any) -> Any:
        """Identifiers of persons, null where they are missing."""
        result = without_named(array, self._words)
        return without_words(result, self._words.folded) if self.guesses_kinds and is_text(result.type) else result


def check_condition(where: Predicate, table: Table, words: MissingWords) -> None:
    """Refuse a condition whose values are of other kinds than its columns."""
    for leaf in leaves(where):
        check_points(table, leaf.column, _values(leaf))
        _check(leaf, table.type(leaf.column))
        _check_words(leaf, words, guessed=table.guesses_kinds)
        if table.guesses_kinds:
            _check_exact(leaf, table.name)


def holds(where: Predicate, arrays: Mapping[str, Any], rows: int) -> Bool:
    """For which rows a condition holds."""
    match where:
        case All():
            return _every([holds(part, arrays, rows) for part in where.parts])
        case Either():
            return ~_every([~holds(part, arrays, rows) for part in where.parts])
        case Not():
            return ~holds(where.part, arrays, rows)
        case Missing():
            return _missing(arrays[where.column])
        case Comparison():
            return _compared(arrays[where.column], where.sign, where.value, rows)
        case Among():
            return ~_every([~_compared(arrays[where.column], "==", value, rows) for value in where.values])


def _every(each: list[Bool]) -> Bool:
    result: Bool = np.logical_and.reduce(each)
    return result


def _missing(array: Any) -> Bool:
    result = array.is_null(nan_is_null=True) if pa.types.is_floating(array.type) else array.is_null()
    return np.asarray(result.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _compared(array: Any, sign: str, value: LabelValue, rows: int) -> Bool:
    kind = array.type
    if pa.types.is_null(kind):
        return np.zeros(rows, dtype=np.bool_)
    value, unit = as_truth(value, kind), kind_of(kind)
    if unit is None:
        same = _equal_texts(array, str(value))
        return same if sign == "==" else ~same & ~_missing(array)
    if pa.types.is_integer(kind) and not isinstance(value, str | float):
        # exact, where floats would take numbers beyond 2^53 for their neighbors
        whole = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
        return np.asarray(_COMPARED[sign](whole, int(value)), dtype=np.bool_) & ~_missing(array)
    numbers = float_values(array, unit)
    result: Bool = np.asarray(_COMPARED[sign](numbers, compared_number(value, unit)), dtype=np.bool_)
    if unit == "number" and isinstance(value, int) and (near := int(float(value))) != value:
        # no float is that number: those up to the nearest one below it are less, all others are more
        below = numbers <= near if near < value else numbers < near
        result = {"==": np.zeros_like(below), "!=": np.ones_like(below), "<": below, "<=": below}.get(sign, ~below)
    return result & ~np.isnan(numbers)


def _equal_texts(array: Any, value: str) -> Bool:
    """Which texts are a value; blanks around either do not matter, nor how a truth value is spelled."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    texts = array.cast(pa.large_string())
    result = pc.is_in(pc.utf8_trim(texts, BLANKS), value_set=pa.array(spellings(value), texts.type))
    return np.asarray(pc.fill_null(result, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _values(leaf: Comparison | Among | Missing) -> tuple[LabelValue, ...]:
    """The values that a column is compared with."""
    return () if isinstance(leaf, Missing) else leaf.values if isinstance(leaf, Among) else (leaf.value,)


def _check(leaf: Comparison | Among | Missing, kind: Any) -> None:
    """Refuse a comparison of a column with values of another kind; what the column holds is known without its rows."""
    if isinstance(leaf, Missing) or pa.types.is_null(kind):
        return
    unit, column = kind_of(kind), quoted(leaf.column)
    for value in _values(leaf):
        if unit is None:
            if type_words(kind) != "text":
                raise DataError(f"column {column} holds {type_words(kind)}, which `where` cannot compare")
            if not isinstance(value, str):
                written = repr(str(value).lower() if isinstance(value, bool) else str(value))
                raise DataError(f"column {column} holds text, so `where` compares it with text, such as {written}")
            if isinstance(leaf, Comparison) and leaf.sign not in ("==", "!="):
                raise DataError(f"column {column} holds text, which `where` compares with == and != and in alone")
        elif unit == "number":
            if isinstance(as_truth(value, kind), str):
                raise DataError(
                    f"column {column} holds {content_kind(kind)}, so `where` compares it with {content_kind(kind)}, "
                    f"not with {quoted(value)}"
                )
        elif not _is_date(value, unit):
            wanted = "a date such as '2024-12-31'" if unit == "date" else "a time such as '2024-12-31T08:30'"
            raise DataError(f"column {column} holds {unit}s, so `where` compares it with {wanted}: {plain(value)}")


def _check_words(leaf: Comparison | Among | Missing, words: MissingWords, *, guessed: bool) -> None:
    """Refuse a comparison with a word or number that means a missing value, which is equal to nothing."""
    equal = isinstance(leaf, Among) or (isinstance(leaf, Comparison) and leaf.sign == "==")
    for value in _values(leaf):
        named = (equal or isinstance(value, str)) and is_named(value, words)
        if named or (guessed and value in words):
            where = "as was said with `na_values=`" if named else "in a CSV file"
            raise DataError(
                f"{quoted(value)} means a missing value {where}, which `where` compares with nothing; "
                f"write {plain(leaf.column)} is missing"
            )


def _check_exact(leaf: Comparison | Among | Missing, name: str) -> None:
    """Refuse a comparison with a number from 2^53 on, where cells are floats, which take it for its neighbors."""
    for value in _values(leaf):
        if isinstance(value, int) and abs(value) >= MAX_WHOLE:
            raise DataError(
                f"numbers of {plain(name)} are read as floats, which are not told apart from 2^53 on, so `where` "
                f"cannot compare column {quoted(leaf.column)} with {value}; use Parquet or a data frame"
            )


def _is_date(value: LabelValue, unit: str) -> bool:
    if not isinstance(value, str):
        return False
    try:
        compared_number(value, unit)
    except ValueError:
        return False
    return True


# --- Rows dealt to simulated organizations
#
# Rows are ordered by the hash of their place in the table, or persons by the hash of their name, so that a person's
# rows stay together, and the order is cut into equal parts. The hash is public and fixed: the same table is dealt alike
# everywhere.

MOST_PARTS = 1 << 16


def deal(source: Source, person: str | None, parts: int, words: MissingWords = USUAL) -> UInt16:
    """The 0-based part of each row of a table, shape (rows,); two bytes a row, and about forty while they are dealt.

    The parts' numbers of rows, or of persons, differ by one at most.
    """
    if person is None:
        return _cut(hashes_of(np.arange(source.rows(), dtype=np.uint64)[:, None]), parts)
    results: list[UInt64] = []
    for (persons,) in source.batches((person,), identifiers={person}):
        has = are_named(persons, words)
        codes = PersonCodes(person, source.type(person))
        codes.add(persons.filter(pa.array(has)))
        named = codes.finish()
        each = np.zeros(len(has), dtype=np.uint64)
        each[has] = hashes_of(named.words(np.ones(named.number, dtype=np.bool_)))[named.codes]
        results.append(each)
    return _cut(np.concatenate(results), parts)


def _cut(hashes: UInt64, parts: int) -> UInt16:
    """Equal parts of what is hashed, in the order of the hashes; what is hashed alike stays together."""
    distinct, places = np.unique(hashes, return_inverse=True)
    return (places * parts // len(distinct)).astype(np.uint16)


class PartSource(_SomeRows):
    """The rows of one part of a table; every pass reads the whole table and leaves the others out."""

    def __init__(self, source: Source, dealt: UInt16, part: int) -> None:
        super().__init__(source)
        self._dealt = dealt
        self._part = part

    def rows(self) -> int:
        return int(np.count_nonzero(self._dealt == self._part))

    def digest(self) -> bytes:
        """SHA-256 of the whole table's digest and of the places of the part's rows."""
        places = np.packbits(self._dealt == self._part).tobytes()
        return hashlib.sha256(b"ogive part of a table 1\n" + self._source.digest() + places).digest()

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        first = 0
        for arrays in self._source.batches(columns, identifiers=identifiers):
            end = first + len(arrays[0])
            if end > len(self._dealt):
                break
            mask = pa.array(self._dealt[first:end] == self._part)
            yield tuple(array.filter(mask) for array in arrays)
            first = end
        else:
            if first == len(self._dealt):
                return
        raise DataError(f"{self.name} has another number of rows than when it was dealt to parties")
