"""What an engine tells: counts of combinations of codes and the sums that they make, and a fingerprint of a table.

An engine counts how many rows have the same codes in all columns that an aggregate reads. Each combination stands for
all its rows: it is read by what reads rows of files (`records.contributions`), so that policies and messages are the
same, and counts as often as there are rows. Where several rows may be of one person, the engine first chooses which of
them count (`choosing`).
"""

from __future__ import annotations

import decimal
import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from ogive import queries
from ogive.columns import Binning, ReadColumn, may_drop
from ogive.core.arrays import Int64
from ogive.errors import DataError, UnsupportedError, plain, quoted
from ogive.records.bounding import summed_bits
from ogive.records.cells import kind_of
from ogive.records.contributions import Summable, ValueSums, check_room, columns_of, contributor, group_places
from ogive.records.engines.choosing import (
    Bound,
    kept,
    label_text,
    label_tie,
    of_group,
    one_label,
    person_columns,
    person_groups,
    refuse,
    shared,
    without_named,
)
from ogive.records.engines.connections import answer, total
from ogive.records.engines.values import (
    Line,
    code_of_key,
    double,
    function,
    line_of,
    number,
    representatives,
    small_key,
    utf8,
    whole,
    with_codes,
)
from ogive.records.labels import Columns, LabelCodes, declared_values
from ogive.records.missing_words import MissingWords

MOST_CELLS = 1 << 24
"""Combinations of codes that an engine may send, at most."""


class Counted(NamedTuple):
    """Combinations of codes, each of some rows.

    Fields:
        amounts: The sum of their probabilities in units of 2^-bits, where these are summed.
    """

    columns: Columns
    counts: Int64
    amounts: Int64 | None = None

    def some(self, chosen: Any) -> Counted:
        amounts = None if self.amounts is None else self.amounts[chosen]
        return Counted(tuple(column[chosen] for column in self.columns), self.counts[chosen], amounts)


class Question(NamedTuple):
    """One question to an engine.

    Fields:
        bits: Fractional bits of the columns whose numbers are summed, by place.
        views: Places of the columns whose combinations are counted, of each part of the question.
    """

    columns: tuple[ReadColumn, ...]
    bits: Mapping[int, int]
    views: tuple[tuple[int, ...], ...]


class CellReader:
    """Asks an engine for counts of cells, of all rows or of those that a bound keeps of each person."""

    def __init__(
        self,
        table: Any,
        types: Mapping[str, Any],
        words: MissingWords,
        name: str,
        bound: Bound | None = None,
        engine: str | None = None,
    ) -> None:
        self._table = table
        self._types = types
        self._words = words
        self._name = name
        self._bound = bound
        self._engine = engine

    def sums(self, aggregate: queries.Aggregate) -> Int64:
        if isinstance(aggregate, queries.RowValues | queries.Ballots):
            what = "votes" if isinstance(aggregate, queries.Ballots) else "rows"
            raise UnsupportedError(
                f"{plain(self._name)} lies in an engine, which counts cells and hands out no {what}; release "
                "statistics of counts, or read the table from a file"
            )
        labels: dict[str, LabelCodes] = {}
        if isinstance(aggregate, queries.Parted):
            return self._parted(aggregate, labels)
        (question,) = self._questions(aggregate)
        return _summed(aggregate, self._counted(question, labels)[0], labels)

    def _parted(self, aggregate: queries.Parted, labels: dict[str, LabelCodes]) -> Int64:
        """The sums of all groups in a row; what is asked of several groups is asked of the engine once."""
        counted = [each for question in self._questions(aggregate) for each in self._counted(question, labels)]
        results: list[Int64] = [np.zeros(0, dtype=np.int64)] * len(aggregate.values)
        for each, cells in zip(dict.fromkeys(aggregate.values), counted, strict=True):
            numbers = group_places(aggregate, labels[aggregate.by]).number(cells.columns[-1])
            for number_, value in enumerate(aggregate.values):
                if value == each:
                    here = cells.some(numbers == number_)
                    results[number_] = _summed(each, here._replace(columns=here.columns[:-1]), labels).ravel()
        return np.concatenate(results)

    def _questions(self, aggregate: queries.Aggregate) -> list[Question]:
        """The questions for an aggregate: one for each kind of group, or for all where rows are chosen for all."""
        columns, bits = columns_of(aggregate), summed_bits(aggregate)
        if not isinstance(aggregate, queries.Parted):
            return [Question(columns, bits, (tuple(range(len(columns))),))]
        last, first, views = len(columns) - 1, 0, []
        for each in dict.fromkeys(aggregate.values):
            end = first + len(columns_of(each))
            views.append((*range(first, end), last))
            first = end
        if self._bound is not None:
            return [Question(columns, bits, tuple(views))]
        return [
            Question(
                tuple(columns[place] for place in view),
                {0: bits[view[0]]} if view[0] in bits else {},
                (tuple(range(len(view))),),
            )
            for view in views
        ]

    def _counted(self, question: Question, labels: dict[str, LabelCodes]) -> list[Counted]:
        """The combinations that there are, of the columns of each view."""
        result = self._answer(question)
        if self._bound is not None:
            refuse(max(result.column("fault").to_pylist(), default=0), self._bound.person)
        views = np.array(result.column("view").to_pylist(), dtype=np.int64)
        return [
            self._read(result.filter(pa.array(views == number_)), question, view, labels)
            for number_, view in enumerate(question.views)
        ]

    def _read(self, result: Any, question: Question, view: Sequence[int], labels: dict[str, LabelCodes]) -> Counted:
        counts = np.array(result.column("rows").to_pylist(), dtype=np.int64)
        amounts = None
        if view[0] in question.bits:
            check_room(int(counts.sum()), question.bits[view[0]])  # else the sums may have left the engine's numbers
            amounts = np.array([int(each) for each in result.column("amounts").to_pylist()], dtype=np.int64)
        read: list[Any] = []
        for place in view:
            column = question.columns[place]
            values = result.column(f"code_{place}").to_pylist()
            if isinstance(column, Binning):
                read.append(representatives(np.array(values, dtype=np.int64), column))
                continue
            if pa.types.is_decimal(self._types[column.column]):
                values = [None if value is None else self._decimal(value, column.column) for value in values]
            read.append(labels.setdefault(column.column, LabelCodes()).of(values))
        return Counted(tuple(read), counts, amounts)

    def _decimal(self, value: str, column: str) -> decimal.Decimal:
        try:
            return decimal.Decimal(value)
        except decimal.InvalidOperation:
            raise DataError(
                f"column {quoted(column)} of {plain(self._name)} has decimals that its engine writes in another way, "
                "for example money; cast the column to numeric in a view of the table"
            ) from None

    def questions(self, aggregate: queries.Aggregate) -> tuple[Any, ...]:
        """The questions for an aggregate that is a sum over records, as expressions of ibis."""
        return tuple(map(self._expression, self._questions(aggregate)))

    def _answer(self, question: Question) -> Any:
        """What the engine counts, as an Arrow table; combinations come once for each group of persons."""
        groups = 1 if self._bound is None else person_groups(self._table, self._bound.engine)
        readers = [self if groups == 1 else self._of_group(group, groups) for group in range(groups)]
        result = pa.concat_tables([answer(reader._expression(question)) for reader in readers])
        if len(result) > MOST_CELLS:
            codes = [name for name in result.column_names if name == "view" or name.startswith("code_")]
            if groups == 1 or len(result.group_by(codes).aggregate([])) > MOST_CELLS:
                names = ", ".join(quoted(column.column) for column in question.columns)
                raise DataError(
                    f"{plain(self._name)} has more than {MOST_CELLS} combinations of values of {names}; use fewer "
                    "bins, or a column with fewer values"
                )
        return result

    def _of_group(self, group: int, groups: int) -> CellReader:
        assert self._bound is not None, "rows of persons are counted"
        person, kind = self._bound.person, self._bound.kind
        some = of_group(self._table, person, kind, self._bound.engine, group=group, groups=groups)
        return CellReader(some, self._types, self._words, self._name, self._bound, self._engine)

    def _expression(self, question: Question) -> Any:
        """Of each view its combinations of codes, and how many rows have them."""
        table = self._coded(question)
        several = self._bound is not None
        if self._bound is not None:
            table = self._chosen(table, question, self._bound)
        parts = [
            self._with_codes(_of_view(table, question, number_, several=several), question)
            for number_ in range(len(question.views))
        ]
        return functools.reduce(lambda first, second: first.union(second), parts).limit(MOST_CELLS + 1)

    def _coded(self, question: Question) -> Any:
        """The codes of each row, and the amounts that are summed."""
        made = {
            f"value_{place}": self._value(column, sums=place in question.bits)
            for place, column in enumerate(question.columns)
        }
        if self._bound is not None:
            made |= self._bound.named(self._table)
        table = self._table.select(**made)
        for place, column in enumerate(question.columns):
            if isinstance(column, Binning):
                if (line := self._line(column)) is None:
                    table = with_codes(table, f"value_{place}", f"code_{place}", column)
                else:
                    key = small_key(table[f"value_{place}"], column.grid, line)
                    table = table.mutate(**{f"code_{place}": key})
            else:
                label = table[f"value_{place}"]
                if self._bound is not None:
                    label = one_label(label, self._types[column.column])
                table = table.mutate(**{f"code_{place}": label})
                if self._engine is not None and kind_of(self._types[column.column]) is None:
                    # of labels that a column takes for one, each keeps its own spelling
                    table = table.mutate(**{f"bytes_{place}": utf8(label, self._engine)})
        for place, bits in question.bits.items():
            column = question.columns[place]
            assert isinstance(column, Binning), "probabilities are numbers"
            table = table.mutate(**{f"amount_{place}": _fixed_point(table[f"value_{place}"], column.substitute, bits)})
        return table

    def _with_codes(self, counted: Any, question: Question) -> Any:
        """Counts with the codes that small keys stand for."""
        keyed = {
            f"code_{place}": code_of_key(counted[f"code_{place}"], column.grid)
            for place, column in enumerate(question.columns)
            if isinstance(column, Binning) and self._line(column) is not None
        }
        return counted.mutate(**keyed) if keyed else counted

    def _line(self, column: Binning) -> Line | None:
        """The line by which DuckDB groups the numbers of a column by small keys; None where it groups by codes."""
        return line_of(column) if self._engine == "duckdb" and self._bound is None else None

    def _chosen(self, table: Any, question: Question, bound: Bound) -> Any:
        """The cells of the rows that are kept of each person."""
        cells: list[str] = []
        texts: list[Any] = []
        ties: list[Any] = []
        if bound.limit is None:
            (column,) = question.columns
            return shared(table.select("code_0", *person_columns(table)), "code_0", dropped=may_drop(column))
        for place, column in enumerate(question.columns):
            code = f"code_{place}"
            cells.append(code)
            if not isinstance(column, Binning):
                kind = self._types[column.column]
                texts.append(lambda each, code=code, kind=kind: label_text(each[code], kind))
                if kind_of(kind) == "number" and not pa.types.is_boolean(kind):
                    ties.append(lambda each, code=code, kind=kind: label_tie(each[code], kind, bound.engine))
                if f"bytes_{place}" in table.columns:
                    cells.append(f"bytes_{place}")
                continue
            texts.append(lambda each, code=code: each[code].cast("string"))
            if place in question.bits:
                amount = f"amount_{place}"
                cells.append(amount)
                texts.append(lambda each, amount=amount: each[amount].cast("string"))
        return kept(table.select(*cells, *person_columns(table)), cells, texts, ties, bound)

    def _value(self, column: ReadColumn, *, sums: bool) -> Any:
        """A column's numbers, or its labels as the engine hands them out; NaN is null where numbers are summed."""
        result, kind = self._table[column.column], self._types[column.column]
        if isinstance(column, Binning):
            return number(result, kind, column.grid.unit, self._words.numbers(column.grid), keep_nan=not sums)
        if not any(map(self._words.marks, declared_values(column))):  # what is declared is a value
            result = without_named(result, kind, self._words, self._engine)
        if pa.types.is_decimal(kind) or not (pa.types.is_boolean(kind) or pa.types.is_integer(kind)):
            return result.cast("float64") if pa.types.is_floating(kind) else result.cast("string")
        return result


def _of_view(table: Any, question: Question, number_: int, *, several: bool) -> Any:
    """The combinations of codes of one view; columns of other views are null."""
    view = question.views[number_]
    sums: dict[str, Any] = {"rows": table["rows"].sum().cast("int64") if several else table.count()}
    if several:
        sums["fault"] = table["person_fault"].max()
    if view[0] in question.bits:
        amount = table[f"amount_{view[0]}"]
        sums["amounts"] = total(table["rows"] * amount if several else amount)
    keys = [name for place in view for name in (f"code_{place}", f"bytes_{place}") if name in table.columns]
    result = table.group_by(keys).aggregate(**sums).drop(*(name for name in keys if name.startswith("bytes_")))
    others = [f"code_{place}" for place in range(len(question.columns)) if place not in view]
    nulls = {name: ibis.null(table[name].type()) for name in others}
    if "amounts" not in sums:
        nulls["amounts"] = ibis.null("string")
    result = result.mutate(**nulls, view=whole(number_))
    return result.select(*sorted(result.columns))


def _fixed_point(value: Any, substitute: float | None, bits: int) -> Any:
    """Probabilities rounded once to multiples of 2^-bits, half to even, in that unit: what `fixed_point` computes."""
    # where a missing value is refused, what it counts as does not matter
    filled = value.fill_null(double(1.0 if substitute is None else substitute))
    inside = (filled < double(0)).ifelse(double(0), (filled > double(1)).ifelse(double(1), filled))
    scaled = inside * double(1 << bits)
    low = scaled.floor().cast("float64")
    rest = scaled - low  # exact
    odd = low.cast("int64") % whole(2)
    up = ibis.cases((rest > double(0.5), whole(1)), (rest == double(0.5), odd), else_=whole(0))
    return low.cast("int64") + up


def _summed(aggregate: queries.Aggregate, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    """The sums of an aggregate of these combinations."""
    match aggregate:
        case queries.ValueCounts():
            values = ValueSums(aggregate, labels[aggregate.column.column])
            values.add(counted.columns, counted.counts)
            return values.sums
        case queries.GroupSums():
            return _probabilities(aggregate, counted, labels)
        case queries.PersonShares():
            return _summed(aggregate.values, counted, labels)
        case Binning() | queries.ClassBinning() | queries.GroupBinning() | queries.Cells():
            sums = np.zeros(aggregate.shape, dtype=np.int64)
            cells = _cells(aggregate, counted, labels)
            np.add.at(sums.reshape(-1), cells[cells >= 0], counted.counts[cells >= 0])
            return sums
        case _:
            raise AssertionError("conditions and groups are taken apart before")


def _probabilities(aggregate: queries.GroupSums, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    sums = np.zeros(aggregate.shape, dtype=np.int64)
    label, groups = np.divmod(_cells(aggregate, counted, labels), aggregate.shape[1])
    assert counted.amounts is not None
    np.add.at(sums[0], groups, (counted.counts << aggregate.bits) - counted.amounts)
    np.add.at(sums[1], groups, counted.amounts)
    np.add.at(sums, (2 + label, groups), counted.counts)
    return sums


def _cells(aggregate: Summable, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    return contributor(aggregate, labels)(counted.columns).cells


# --- Fingerprints of whole tables
#
# The hashes are the engine's own, of 64 bits. They tell tables apart that differ by accident, and are no commitment.


def fingerprint(table: Any, engine: str) -> tuple[int, str]:
    """How many rows a table has, and the sum of the engine's hashes of its rows, which has no order."""
    # 38 digits hold the sum of as many hashes as there can be rows
    total = _HASHES[engine](table).cast("decimal(38, 0)").sum().cast("string")
    result = answer(table.aggregate(rows=table.count(), total=total)).to_pylist()[0]
    return int(result["rows"]), str(result["total"])


def _of_values(table: Any) -> Any:
    """DuckDB hashes values of every kind; those of a row are chained in the order of its columns."""
    hashes = [function("hash", kind, returns="uint64")(table[column]) for column, kind in table.schema().items()]
    return functools.reduce(function("hash", "uint64", "uint64", returns="uint64"), hashes)


def _of_text(table: Any) -> Any:
    """PostgreSQL hashes a row as text: each value as the server writes it, behind its length."""
    parts = [_written(table[column], kind) for column, kind in table.schema().items()]
    return function("hashtextextended", "string", "int64", returns="int64")(functools.reduce(operator.add, parts), 0)


def _of_struct(table: Any) -> Any:
    """Spark hashes values of every kind but maps, skips nulls, and goes on from the hash of the columns before.

    So each value comes behind whether it is there; of maps only that is hashed. Zeros of both signs are one value.
    """
    parts = {}
    for place, (column, kind) in enumerate(table.schema().items()):
        parts[f"missing_{place}"] = table[column].isnull()
        if not kind.is_map():
            parts[f"value_{place}"] = table[column]
    row = ibis.struct(parts)
    return function("xxhash64", row.type(), returns="int64")(row)


_WRITTEN = ("is_numeric", "is_boolean", "is_string", "is_date", "is_timestamp", "is_time", "is_uuid", "is_interval")
"""Types whose values are cast to text; others are formatted."""


def _written(column: Any, kind: Any) -> Any:
    """A value as text behind its length, so that no two rows are written alike; n for null."""
    if not any(getattr(kind, each)() for each in _WRITTEN):
        text = column.isnull().ifelse(
            ibis.null("string"), function("format", "string", kind, returns="string")("%s", column)
        )
    else:
        text = column.cast("string") + ""  # of an enumeration, which is not text but the end of one
    return (text.length().cast("string") + ":" + text).fill_null("n")


_HASHES = {"duckdb": _of_values, "postgres": _of_text, "pyspark": _of_struct}
