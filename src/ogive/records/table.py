"""Records: one table, of which some columns are read and turned into exact sums.

`Records.of` takes files, data frames and plain arrays. Nothing here is private: an aggregate
is the exact input of a release and must not leave the party that holds the records.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Column, Label
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Aggregate, Binning, Cells, GroupBinning, RowValues
from ogive.records.binning import float_values, kind_of, type_words
from ogive.records.bounding import content_words, kept_rows
from ogive.records.labelled import columns_of, start_sums
from ogive.records.labels import Columns, LabelCodes, check_category_type, check_label_type
from ogive.records.persons import PersonCodes, check_person_type
from ogive.records.sources import BATCH_ROWS, Source, memory_source

Int64 = NDArray[np.int64]

SHOWN_COLUMNS = 12


class Records:
    """One table of records, in a file or in memory; build it with `Records.of`."""

    def __init__(self, source: Source) -> None:
        if source.is_empty():
            raise DataError(f"{source.name} has no rows; a release needs at least one record")
        self._source = source
        self._size: int | None = None
        self.person: str | None = None
        self.max_rows_per_person = 1

    @staticmethod
    def of(data: Any, *, column: str = "value") -> Records:
        """Open a table.

        Args:
            data: A path to a CSV (.csv, .tsv, gzipped or not), Parquet or Arrow file; a pandas, polars or
                pyarrow frame; a dict of one-dimensional columns; one column; or records already opened.
            column: The name given to the values when `data` is one column.

        Raises:
            DataError: the data cannot be read, have no rows, or have two columns of one name.
        """
        if isinstance(data, Records):
            return data
        if isinstance(data, str | os.PathLike):
            from ogive.records.files import file_source  # the engine is slow to import, and arrays need none

            return Records(file_source(Path(data)))
        return Records(memory_source(data, column))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._source.columns

    @property
    def size(self) -> int:
        """Number of rows, missing values and rows that are not kept included; as secret as the data."""
        if self._size is None:
            self._size = self._source.rows()
        return self._size

    def count(self) -> int:
        """Number of rows that are kept: of persons, where one row of each is.

        Raises:
            ParameterError: several rows of a person may be kept; no public number counts those.
        """
        if self.person is None:
            return self.size
        if self.max_rows_per_person > 1:
            raise ParameterError("with several rows per person the number of rows is private and is not counted")
        seen: set[Any] = set()
        for (persons,) in self._source.batches((self.person,)):
            seen.update(persons.unique().to_pylist())
        return len(seen)

    def bounded(self, person: str | None, max_rows_per_person: int = 1) -> Records:
        """The same table with at most some rows of each person, chosen at random once and for all.

        The choice is made among the columns that an aggregate uses, by a fixed public hash: it is the same
        in any order of the rows and in any kind of file, and never depends on other persons. Kept rows are
        held in memory while an aggregate is computed, about 30 bytes each.

        Args:
            person: Column of numbers or text that says whose row it is; None leaves the records as they are.
            max_rows_per_person: Most rows that are kept of one person.

        Raises:
            ParameterError: the limit is out of range, or given without a person column.
            DataError: no such column, or it holds neither numbers nor text.
        """
        PrivacyUnit(Adjacency.ADD_OR_REMOVE, person, max_rows_per_person)
        if person is None:
            return self
        self._check_column(person)
        check_person_type(person, self._source.type(person))
        bounded = Records(self._source)
        bounded.person, bounded.max_rows_per_person = person, max_rows_per_person
        return bounded

    def digest(self) -> bytes:
        """SHA-256 of the whole table: of a file's bytes, or of the contents of columns in memory.

        As secret as the data: whoever can guess the table can check the guess. The person column and the
        limit are no part of it.

        Raises:
            DataError: the data cannot be read.
        """
        return self._source.digest()

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs, in one pass; with bounded memory unless rows are bounded per person.

        Values outside the bounds, infinities included, are counted at the nearest bound unless the
        policy is "refuse". Booleans count as 0 and 1. Policies apply to the rows that are kept.

        Returns:
            Sums of the aggregate's shape.

        Raises:
            DataError: a column is missing or of the wrong kind, a label is missing or of neither class, a
                person is missing, or a policy refuses a value.
        """
        columns = columns_of(aggregate)
        labels = {each.column: LabelCodes() for each in columns if not isinstance(each, Binning)}
        total = start_sums(aggregate, labels)
        plural = "groups" if isinstance(aggregate, GroupBinning) else "categories"
        listable = len(columns) > 1 and isinstance(aggregate, Cells | RowValues)
        for column in columns:
            self._check_type(column, plural, listable)
        for part in self._rows(columns, labels):
            total.add(part)
        return total.sums

    def histogram(self, binning: Binning) -> Int64:
        """Count the records in each bin: `aggregate` of a binning, shape (bins,)."""
        return self.aggregate(binning)

    def _rows(self, columns: tuple[Column, ...], labels: Mapping[str, LabelCodes]) -> Iterator[Columns]:
        """The rows that count, some at a time: numbers of the grid, NaN where missing, and codes of labels."""
        wanted = dict.fromkeys(column.column for column in columns)
        identifiers = set() if self.person is None else {self.person}
        if self.person in wanted:  # numbers to be measured are read as floats, which may take two persons for one
            raise DataError(f"column {self.person!r} says whose row it is, so it cannot be what is measured too")
        names = [*wanted, *identifiers]
        rows = 0
        persons = None if self.person is None else PersonCodes(self.person, self._source.type(self.person))
        held: list[Columns] = []
        for arrays in self._source.batches(names, identifiers=identifiers):
            batch = dict(zip(names, arrays, strict=True))
            rows += len(arrays[0])
            part = tuple(
                float_values(batch[column.column], column.grid.unit)
                if isinstance(column, Binning)
                else labels[column.column].encode(batch[column.column])
                for column in columns
            )
            if persons is None:
                yield part
            else:
                persons.add(batch[str(self.person)])
                held.append(part)
        self._size = rows
        if persons is not None:
            whole = tuple(np.concatenate(parts) for parts in zip(*held, strict=True))
            held.clear()
            codes = [None if isinstance(column, Binning) else labels[column.column] for column in columns]
            keep = kept_rows(persons.finish(), content_words(whole, codes), self.max_rows_per_person)
            for start in range(0, rows, BATCH_ROWS):
                some = slice(start, start + BATCH_ROWS)
                yield tuple(values[some][keep[some]] for values in whole)

    def _check_type(self, column: Column, plural: str, listable: bool) -> None:
        """Refuse a column that is not there or does not hold what is declared of it."""
        if isinstance(column, Binning):
            self._check_values(column, listable)
            return
        self._check_column(column.column)
        if isinstance(column, Label):
            check_label_type(column, self._source.type(column.column))
        else:
            check_category_type(column, self._source.type(column.column), plural)

    def _check_column(self, column: str) -> None:
        if column not in self.columns:
            raise DataError(self._no_such_column(column))

    def _check_values(self, binning: Binning, listable: bool) -> None:
        """Refuse a column that does not hold what the grid's bounds are; say that text may be listed where it may."""
        column, unit = binning.column, binning.grid.unit
        self._check_column(column)
        kind = kind_of(self._source.type(column))
        holds = type_words(self._source.type(column))
        if kind is None:
            hint = f"; {self._source.numbers_hint}" if holds == "text" else ""
            if holds == "text" and listable:
                hint += (
                    f"; statistics of pairs take text whose values are listed, categories={{{column!r}: ('a', 'b')}}"
                )
            raise DataError(f"column {column!r} holds {holds}, but numbers or dates are needed{hint}")
        if kind != unit and (kind, unit) != ("date", "datetime"):
            wanted = {"number": "numbers", "date": "dates", "datetime": "times"}[unit]
            hint = ""
            if (kind, unit) == ("datetime", "date"):
                hint = "; write the bounds as times, for example 2024-01-01T00:00"
            raise DataError(f"column {column!r} holds {holds}, but the bounds are {wanted}{hint}")

    def _no_such_column(self, column: str) -> str:
        if not self._source.has_names:
            if column.lower() in (name.lower() for name in self.columns):
                return f"{self._source.name} has no column {column!r}, but one that differs in capitals alone"
            return (
                f"{self._source.name} has no column {column!r}, and its first line does not look like column names; "
                "the first line must name the columns"
            )
        lower = {name.lower(): name for name in reversed(self.columns)}
        near = [lower[name] for name in difflib.get_close_matches(column.lower(), list(lower), n=3)]
        shown = ", ".join(self.columns[:SHOWN_COLUMNS]) + (", ..." if len(self.columns) > SHOWN_COLUMNS else "")
        suggestion = f"; did you mean {' or '.join(near)}?" if near else ";"
        return f"{self._source.name} has no column {column!r}{suggestion} it has {shown}"
