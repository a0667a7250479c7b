"""Counts of combinations of codes, and the sums that they make.

An engine counts how many rows have the same codes in all columns that an aggregate reads. Each combination stands for
all its rows: it is read by what reads rows of files (`records.contributions`), so that policies and messages are the
same, and counts as often as there are rows.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from ogive.arrays import Int64
from ogive.columns import Binning, ReadColumn
from ogive.errors import DataError, UnsupportedError, plain, quoted
from ogive.queries import (
    Aggregate,
    Ballots,
    Cells,
    ClassBinning,
    GroupBinning,
    GroupSums,
    Parted,
    RowValues,
    ValueCounts,
)
from ogive.records.contributions import Summable, check_room, columns_of, contributor, group_places
from ogive.records.engines.bins import representatives, with_codes
from ogive.records.engines.numbers import double, number, whole
from ogive.records.labels import Columns, LabelCodes
from ogive.records.missing_words import MissingWords
from ogive.records.values import ValueSums

MOST_CELLS = 1 << 24
"""Combinations of codes that an engine may send, at most."""


class Counted(NamedTuple):
    """Combinations of codes, each of some rows.

    Fields:
        columns: What stands in them, as in rows of a file.
        counts: How many rows each stands for.
        amounts: The sum of their probabilities in units of 2^-bits, where these are summed.
    """

    columns: Columns
    counts: Int64
    amounts: Int64 | None = None

    def some(self, chosen: Any) -> Counted:
        """Those of the combinations that are chosen, as numpy chooses them by an index."""
        amounts = None if self.amounts is None else self.amounts[chosen]
        return Counted(tuple(column[chosen] for column in self.columns), self.counts[chosen], amounts)


class CellReader:
    """Asks an engine for counts of cells.

    Args:
        table: Of an engine, as ibis has it.
        types: Arrow types of its columns.
        words: Numbers and dates that mean that a value is missing.
        name: What messages call the table.
    """

    def __init__(self, table: Any, types: Mapping[str, Any], words: MissingWords, name: str) -> None:
        self._table = table
        self._types = types
        self._words = words
        self._name = name

    def sums(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs, in the aggregate's shape.

        Raises:
            UnsupportedError: the aggregate is no sum over records.
            DataError: a policy refuses what was found.
        """
        if isinstance(aggregate, RowValues | Ballots):
            what = "votes" if isinstance(aggregate, Ballots) else "rows"
            raise UnsupportedError(
                f"{plain(self._name)} lies in an engine, which counts cells and hands out no {what}; release "
                "statistics of counts, or read the table from a file"
            )
        if isinstance(aggregate, Parted):
            return self._parted(aggregate)
        labels: dict[str, LabelCodes] = {}
        return _summed(aggregate, self._counted(columns_of(aggregate), labels, _bits(aggregate)), labels)

    def _parted(self, aggregate: Parted) -> Int64:
        """The sums of all groups in a row; what is asked of several groups is asked of the engine once."""
        by = columns_of(aggregate)[-1]
        found: list[Int64] = [np.zeros(0, dtype=np.int64)] * len(aggregate.values)
        for each in dict.fromkeys(aggregate.values):
            labels: dict[str, LabelCodes] = {}
            columns = columns_of(each)
            counted = self._counted((*columns, by), labels, _bits(each))
            numbers = group_places(aggregate, labels[aggregate.by]).number(counted.columns[-1])
            for number_, value in enumerate(aggregate.values):
                if value == each:
                    here = counted.some(numbers == number_)
                    found[number_] = _summed(each, here._replace(columns=here.columns[: len(columns)]), labels).ravel()
        return np.concatenate(found)

    def _counted(self, columns: Sequence[ReadColumn], labels: dict[str, LabelCodes], bits: int | None) -> Counted:
        """The combinations that there are; the codes of labels are added to those of their column.

        Args:
            columns: What is read.
            labels: Codes by column, to which those of all columns of labels are added.
            bits: Fractional bits of the first column's numbers, where these are summed.
        """
        found = self._answer(columns, bits)
        counts = np.array(found.column("rows").to_pylist(), dtype=np.int64)
        amounts = None
        if bits is not None:
            check_room(int(counts.sum()), bits)  # else the sums may have left the engine's numbers
            amounts = np.array([int(each) for each in found.column("amounts").to_pylist()], dtype=np.int64)
        read: list[Any] = []
        for place, column in enumerate(columns):
            values = found.column(f"code_{place}").to_pylist()
            if isinstance(column, Binning):
                read.append(representatives(np.array(values, dtype=np.int64), column))
                continue
            if pa.types.is_decimal(self._types[column.column]):
                values = [None if value is None else decimal.Decimal(value) for value in values]
            read.append(labels.setdefault(column.column, LabelCodes()).of(values))
        return Counted(tuple(read), counts, amounts)

    def _answer(self, columns: Sequence[ReadColumn], bits: int | None) -> Any:
        """What the engine counts, as an Arrow table."""
        table, codes = self._table, [f"code_{place}" for place in range(len(columns))]
        made = {f"value_{place}": self._value(column) for place, column in enumerate(columns)}
        table = table.select(**made)
        for place, column in enumerate(columns):
            if isinstance(column, Binning):
                table = with_codes(table, f"value_{place}", codes[place], column)
            else:
                table = table.mutate(**{codes[place]: table[f"value_{place}"]})
        sums = {"rows": lambda each: each.count()}
        if bits is not None:
            assert isinstance(columns[0], Binning), "probabilities are numbers"
            table = table.mutate(amount=_fixed_point(table["value_0"], columns[0].substitute, bits))
            sums["amounts"] = lambda each: each["amount"].sum().cast("string")
        question = table.group_by(codes).aggregate(**sums).limit(MOST_CELLS + 1)
        found = question.to_pyarrow()
        if len(found) > MOST_CELLS:
            names = ", ".join(quoted(column.column) for column in columns)
            raise DataError(
                f"{plain(self._name)} has more than {MOST_CELLS} combinations of values of {names}; use fewer bins, or "
                "a column with fewer values"
            )
        return found

    def _value(self, column: ReadColumn) -> Any:
        """A column's numbers, or its labels as the engine hands them out."""
        found, kind = self._table[column.column], self._types[column.column]
        if isinstance(column, Binning):
            return number(found, kind, column.grid.unit, self._words.numbers(column.grid))
        if pa.types.is_decimal(kind) or not (pa.types.is_boolean(kind) or pa.types.is_integer(kind)):
            return found.cast("float64") if pa.types.is_floating(kind) else found.cast("string")
        return found


def _bits(aggregate: Aggregate) -> int | None:
    return aggregate.bits if isinstance(aggregate, GroupSums) else None


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


def _summed(aggregate: Aggregate, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    """The sums of an aggregate of these combinations.

    Raises:
        DataError: a policy refuses one.
    """
    match aggregate:
        case ValueCounts():
            values = ValueSums(aggregate, labels[aggregate.column.column])
            values.add(counted.columns, counted.counts)
            return values.sums
        case GroupSums():
            return _probabilities(aggregate, counted, labels)
        case Binning() | ClassBinning() | GroupBinning() | Cells():
            sums = np.zeros(aggregate.shape, dtype=np.int64)
            cells = _cells(aggregate, counted, labels)
            np.add.at(sums.reshape(-1), cells[cells >= 0], counted.counts[cells >= 0])
            return sums
        case _:
            raise AssertionError("conditions and groups are taken apart before")


def _probabilities(aggregate: GroupSums, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    sums = np.zeros(aggregate.shape, dtype=np.int64)
    label, groups = np.divmod(_cells(aggregate, counted, labels), aggregate.shape[1])
    assert counted.amounts is not None
    np.add.at(sums[0], groups, (counted.counts << aggregate.bits) - counted.amounts)
    np.add.at(sums[1], groups, counted.amounts)
    np.add.at(sums, (2 + label, groups), counted.counts)
    return sums


def _cells(aggregate: Summable, counted: Counted, labels: Mapping[str, LabelCodes]) -> Int64:
    return contributor(aggregate, labels).of(counted.columns).cells
