"""Records: one table, of which some columns are turned into exact sums.

`Records.of` takes files, data frames, plain arrays and tables of an engine, which counts where the rows lie. Nothing
here is private: an aggregate is the exact input of a release and must not leave the party that holds the records.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ogive.columns import Binning, Membership, ReadColumn, Schema
from ogive.columns.grids import Grid
from ogive.columns.predicates import columns_of as compared_columns
from ogive.core.arrays import Float64, Int64, UInt64
from ogive.core.checks import whole
from ogive.errors import DataError, ParameterError, UnsupportedError, plain, quoted
from ogive.privacy import BY_CELLS, BY_CONTENTS, Adjacency, PrivacyUnit, check_row_choice
from ogive.queries import Aggregate, Cells, GroupBinning, Parted, PersonShares, RowValues, Selected, ValueCounts
from ogive.records.bounding import ChoiceByCells, ChoiceByContents, EveryRow, WaitingRows, add_shares
from ogive.records.cells import (
    LabelCells,
    TextColumns,
    check_type,
    content_kind,
    float_values,
    kind_of,
    label_codes,
    without_named,
)
from ogive.records.contributions import Contributions, columns_of, contributor, start_sums
from ogive.records.engines.connections import is_address, is_expression
from ogive.records.engines.table import EngineTable
from ogive.records.labels import Columns, LabelCodes, declared_values, ends_observation
from ogive.records.missing_words import USUAL, MissingWords, NaValues, check_column, names_there
from ogive.records.parts import MOST_PARTS, FilteredSource, PartSource, deal
from ogive.records.persons import Names, PersonCodes, check_person_type, named_rows, smallest_hashes
from ogive.records.sources import Source, memory_source

_ANY = Grid.linear(0, 1, bins=1)
"""Of any numbers, where it does not matter which they are."""


class Records:
    """One table of records, in a file, in memory or in an engine; build it with `Records.of`."""

    def __init__(self, table: Source | EngineTable, *, of_party: bool = False, words: MissingWords = USUAL) -> None:
        self._table = table
        self._words = words
        self._of_party = of_party
        self._size: int | None = None
        self.person: str | None = None
        self.max_rows_per_person = 1
        self.row_choice = BY_CONTENTS

    @staticmethod
    def of(data: Any, *, column: str = "value", na_values: NaValues = ()) -> Records:
        """Open a table.

        Args:
            data: A path to a CSV (.csv, .tsv, gzipped or not), Parquet or Arrow file; a pandas, polars or
                pyarrow frame; a dict of one-dimensional columns; one column; the address of a table in an engine,
                such as "postgresql://user@host/database?table=visits" or "spark://host:7077/?table=visits", or a table
                of ibis; or records already opened.
            column: The name given to the values when `data` is one column.
            na_values: Texts and numbers that say that a value of a measured column is missing, beside the usual words
                such as NA, which hold where all other values are numbers, or dates. Records already opened keep theirs.

        Raises:
            ParameterError: something else than texts and numbers is said to mean missing.
            DataError: the data cannot be read, have no rows, or have two columns of one name.
        """
        words = USUAL if isinstance(na_values, tuple) and not na_values else MissingWords.of(na_values)
        records = data if isinstance(data, Records) else Records(_source_of(data, column, words), words=words)
        if records.is_empty:
            raise DataError(f"{plain(records._table.name)} has no rows; a release needs at least one record")
        return records

    @staticmethod
    def of_party(data: Any, *, column: str = "value", na_values: NaValues = ()) -> Records:
        """Open the table of one of several parties, which may have no rows: it then adds zeros to every sum.

        Nor need a column of numbers or dates have any value: all are missing then, and so they are counted. Whether a
        party has any records or values may tell of one of them, so a release must not depend on it.

        Args:
            data: As for `of`.
            column: As for `of`.
            na_values: As for `of`.

        Raises:
            ParameterError: something else than texts and numbers is said to mean missing.
            DataError: the data cannot be read, or have two columns of one name.
        """
        words = MissingWords.of(na_values)
        if isinstance(data, Records):
            return data._with(data.person, data.max_rows_per_person, data.row_choice, of_party=True)
        return Records(_source_of(data, column, words), of_party=True, words=words)

    @property
    def _source(self) -> Source:
        """The table, where its rows can be read."""
        if isinstance(self._table, EngineTable):
            raise UnsupportedError(
                f"{plain(self._table.name)} lies in an engine, which counts cells and hands out no rows; use trust "
                "central, or read the table from a file"
            )
        return self._table

    @cached_property
    def _measured(self) -> TextColumns:
        """Its measured columns, of which some may be text that holds numbers."""
        return TextColumns(self._source, self._words)

    @property
    def is_counted_elsewhere(self) -> bool:
        """Whether the table lies in an engine, which hands out counts of cells alone."""
        return isinstance(self._table, EngineTable)

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is no row."""
        return self._table.is_empty()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._table.columns

    def schema(self) -> Schema:
        """What the columns hold: of a typed table its types, of a text file what its cells look like."""
        return Schema(
            self.columns,
            lambda column: content_kind(self._table.type(column)),
            self._table.guesses_kinds,
            self.person,
            self._with_missing,
            self._table.number_remedy,
        )

    def _with_missing(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Which of some columns have missing values, in any row; none of a table in an engine, which is not read."""
        if isinstance(self._table, EngineTable) or self.is_empty:
            return ()
        return tuple(name for name in columns if self._has_missing(name))

    def _has_missing(self, name: str) -> bool:
        """Whether a column has missing values; false where it cannot be read, which a release then refuses."""
        try:
            cells = LabelCells(self._source, self._words)
            kind = self._measured.type(name)
            labels, has_numbers = content_kind(kind) in ("text", "truth values"), kind_of(kind) is not None
            for (array,) in self._source.batches((name,)):
                if not labels and has_numbers:
                    missing = np.isnan(self._numbers(Binning(name, _ANY), array)).any()
                else:
                    missing = (cells.labels(name, array) if labels else array).null_count
                if missing:
                    return True
        except DataError:
            return False
        return False

    def check_named(self, named: Mapping[str, Any]) -> None:
        """Refuse parameters that name no column; says which names there are.

        Args:
            named: What was given for each parameter, a name or several; None where it was left out.

        Raises:
            ParameterError: a parameter was left out, or is not a name.
        """
        left_out = [
            parameter
            for parameter, name in named.items()
            if name is None or (isinstance(name, tuple | list) and not name)
        ]
        if left_out:
            many = "s" if len(left_out) > 1 else ""
            listed = " and ".join(f"`{each}=`" for each in left_out)
            raise ParameterError(f"name the column{many} with {listed}; {names_there(self._table)}")
        for parameter, name in named.items():
            names = name if isinstance(name, tuple | list) and parameter.endswith("s") else [name]
            wrong = next((each for each in names if not isinstance(each, str)), None)
            if wrong is not None:
                raise ParameterError(
                    f"`{parameter}` must be a column's name, got {quoted(wrong)}; {names_there(self._table)}"
                )

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there; says which there are.

        Raises:
            DataError: there is none of one of the names.
        """
        for name in names:
            check_column(self._table, name)

    @property
    def size(self) -> int:
        """Number of rows, missing values and rows that are not kept included; as secret as the data."""
        if self._size is None:
            self._size = self._table.rows()
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
        if self.is_empty:
            return 0
        if isinstance(self._table, EngineTable):
            return self._table.persons(self.person, self._words)
        persons = PersonCodes(self.person, self._table.type(self.person))
        with contextlib.closing(WaitingRows(self._table.name)) as waiting:
            for (names,) in self._source.batches((self.person,), identifiers={self.person}):
                persons.add(named_rows(names, self._words))  # others are refused where they are used
                waiting.add(persons.names())
            return waiting.persons()

    def bounded(self, person: str | None, max_rows_per_person: int = 1, row_choice: str | None = None) -> Records:
        """The same table with at most some rows of each person, chosen at random once and for all.

        The choice is made among the columns that an aggregate uses, by a fixed public hash: it is the same
        in any order of the rows and in any kind of file, and never depends on other persons. Rows of a file wait in
        memory while an aggregate is computed, about 150 bytes each, and in temporary files where there are more than
        4 million. An engine keeps them itself.

        Args:
            person: Column of numbers or text with the person's identifier; None leaves the records as they are.
            max_rows_per_person: Most rows that are kept of one person.
            row_choice: What rows are chosen by: "siphash", their contents, or "md5", the cells that they count in,
                which every engine can compute. By default the choice that these records have: at first the contents,
                and the cells for tables of an engine.

        Raises:
            ParameterError: the limit is out of range, or given without a person column; or there is no such choice, or
                not of this table.
            DataError: no such column, or it holds neither numbers nor text.
        """
        if person is None and row_choice is None and type(max_rows_per_person) is int and max_rows_per_person == 1:
            return self
        PrivacyUnit(Adjacency.ADD_OR_REMOVE, person, max_rows_per_person)
        engine = isinstance(self._table, EngineTable)
        usual = BY_CELLS if engine else self.row_choice if person == self.person else BY_CONTENTS
        chosen = check_row_choice(row_choice, person, default=usual)
        if person is None:
            return self
        check_column(self._table, person)
        if engine and chosen != BY_CELLS:
            raise ParameterError(
                f"{plain(self._table.name)} lies in an engine, where a person's rows are chosen by "
                "`row_choice='md5'` alone"
            )
        if not self.is_empty:  # columns without values have no type
            check_person_type(person, self._table.type(person))
        return self._with(person, max_rows_per_person, chosen, of_party=self._of_party)

    def _with(self, person: str | None, max_rows_per_person: int, row_choice: str, *, of_party: bool) -> Records:
        result = Records(self._table, of_party=of_party, words=self._words)
        result.person, result.max_rows_per_person, result.row_choice = person, max_rows_per_person, row_choice
        return result

    def person_hashes(self, person: str, *, key: bytes, count: int) -> UInt64:
        """The smallest keyed hashes of all persons; how many of them two tables share says how many persons they share.

        Args:
            person: Column of numbers or text with the person's identifier.
            key: 32 bytes; who lacks them learns nothing from a hash, and who has them can look for a person.
            count: How many hashes at most.

        Returns:
            Sorted, all different, shape (min(count, persons),).

        Raises:
            DataError: the table cannot be read, has no such column, or a person is missing.
        """
        check_column(self._table, person)
        return smallest_hashes(self._source, person, key=key, count=count, missing=self._words)

    def digest(self) -> bytes:
        """SHA-256 of the whole table: of a file's bytes, or of the contents of columns in memory.

        As secret as the data: whoever can guess the table can check the guess. The person column and the
        limit are no part of it.

        Raises:
            DataError: the data cannot be read.
        """
        digest = self._table.digest()
        return self._words.digest(digest) if self._words.named else digest

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs, in one pass; with bounded memory, but for one byte a row of persons.

        Values outside the bounds, infinities included, are counted at the nearest bound unless the
        policy is "refuse". Booleans count as 0 and 1. Policies apply to the rows that are kept.

        Returns:
            Sums of the aggregate's shape.

        Raises:
            DataError: a column is missing or of the wrong kind, a label is missing or of neither class, a
                person is missing, or a policy refuses a value.
        """
        if isinstance(aggregate, Selected):
            return self._selected(aggregate).aggregate(aggregate.values)
        columns = columns_of(aggregate)
        if isinstance(self._table, EngineTable):
            if not self._checked(aggregate, columns):
                return np.zeros(aggregate.shape, dtype=np.int64)
            return self._table.aggregate(
                aggregate, self._words, person=self._bounding(columns), limit=self.max_rows_per_person
            )
        if isinstance(aggregate, PersonShares):
            return self._shares(aggregate, columns)
        labels, rows = self._read(aggregate, columns)
        total = start_sums(aggregate, labels)
        for part in rows:
            total.add(part)
        return total.sums

    def contributions(self, aggregate: Aggregate) -> Iterator[Contributions]:
        """What every record adds to an aggregate, some records at a time; they add up to `aggregate` exactly.

        Rows come in the order of the table, without those that are not kept of a person, and in memory that is
        bounded as that of `aggregate`.

        Raises:
            UnsupportedError: the aggregate is not a sum over records.
            DataError: as for `aggregate`, when it is reached.
        """
        if isinstance(aggregate, RowValues):
            raise UnsupportedError("rows are no sum over records; ask for counts of cells")
        if isinstance(aggregate, ValueCounts):
            raise UnsupportedError("values that nobody has listed have no cells to be counted in; list the values")
        if isinstance(aggregate, PersonShares):
            raise UnsupportedError("what a row of a person counts for depends on the person's other rows")
        if isinstance(aggregate, Selected | Parted):
            raise UnsupportedError("records that are told apart by their columns are added up by who sees them")
        labels, rows = self._read(aggregate, columns_of(aggregate))
        return map(contributor(aggregate, labels), rows)

    def split(self, parties: int) -> tuple[Records, ...]:
        """The same table as that of several simulated organizations: rows are dealt at random and in equal parts.

        All rows of a person go to one party where records are bounded per person, and then parties have equally many
        persons. Who gets what is settled by a fixed public hash of the place in the table or of the person. Every party
        reads the whole table and leaves out what others hold.

        Args:
            parties: How many, 1 to 65536; each gets at least one row.

        Raises:
            ParameterError: parties is out of range, or a party would get no row.
            DataError: the table cannot be read, or a person is missing.
        """
        whole(parties, "parties", 1, MOST_PARTS)
        dealt = deal(self._source, self.person, parties, self._words)
        if len(np.unique(dealt)) < parties:
            what = "records" if self.person is None else f"different values of {quoted(self.person)}"
            raise ParameterError(
                f"{plain(self._table.name)} has too few {what} to deal to {parties} parties; use fewer"
            )
        parts = (Records(PartSource(self._source, dealt, part), words=self._words) for part in range(parties))
        chosen = None if self.person is None else self.row_choice
        return tuple(part.bounded(self.person, self.max_rows_per_person, chosen) for part in parts)

    def histogram(self, binning: Binning) -> Int64:
        """Count the records in each bin: `aggregate` of a binning, shape (bins,)."""
        return self.aggregate(binning)

    def _selected(self, aggregate: Selected) -> Records:
        """The rows that satisfy a condition; of these, few enough are kept of each person."""
        for column in compared_columns(aggregate.where):
            check_column(self._table, column)
        chosen: Source | EngineTable
        if isinstance(self._table, EngineTable):
            chosen = self._table.filtered(aggregate.where, self._words)
        else:
            chosen = FilteredSource(self._table, aggregate.where, self._words)
        result = Records(chosen, of_party=self._of_party, words=self._words)
        return result._with(self.person, self.max_rows_per_person, self.row_choice, of_party=self._of_party)

    def _shares(self, aggregate: PersonShares, columns: Sequence[ReadColumn]) -> Int64:
        """Units of people per bin."""
        assert self.person is not None, "the query's price has refused tables without persons"
        total = np.zeros(aggregate.shape, dtype=np.int64)
        if self._checked(aggregate, columns):
            with contextlib.closing(WaitingRows(self._table.name, EveryRow(aggregate.values))) as waiting:
                for names, part in self._parts(columns, {}):
                    assert names is not None, "rows have persons"
                    waiting.add(names, part)
                for persons, (places, cells) in waiting.marked():
                    add_shares(total, persons.codes, places, cells)
        return total

    def _read(
        self, aggregate: Aggregate, columns: Sequence[ReadColumn]
    ) -> tuple[dict[str, LabelCodes], Iterator[Columns]]:
        """Codes of labels, still to be filled, and the rows that count of the columns that an aggregate needs."""
        labels = {each.column: LabelCodes() for each in columns if not isinstance(each, Binning)}
        if not self._checked(aggregate, columns):
            return labels, iter(())
        if self.person is None:
            return labels, (part for _, part in self._parts(columns, labels))
        return labels, self._chosen(aggregate, columns, labels)

    def _bounding(self, columns: Sequence[ReadColumn]) -> str | None:
        """The column with the person's identifier, where rows are bounded per person."""
        # numbers to be measured are read as floats, which may take two persons for one
        if self.person is not None and self.person in {column.column for column in columns}:
            raise DataError(f"column {quoted(self.person)} identifies the person, so it cannot be measured too")
        return self.person

    def _checked(self, aggregate: Aggregate, columns: Sequence[ReadColumn]) -> bool:
        """Refuse columns that do not hold what an aggregate reads; whether there are rows."""
        plural = "groups" if isinstance(aggregate, GroupBinning | Parted) else "categories"
        listable = len(columns) > 1 and isinstance(aggregate, Cells | RowValues)
        if self.is_empty:  # columns without values have no type
            for column in columns:
                check_column(self._table, column.column)
            return False
        measured = None if isinstance(self._table, EngineTable) else self._measured
        needed = not self._of_party
        for column in columns:
            if isinstance(column, Membership) and ends_observation(columns):
                plural = "events"
            check_type(self._table, measured, column, plural, listable, words=self._words, needs_values=needed)
        return True

    def _chosen(
        self, aggregate: Aggregate, columns: Sequence[ReadColumn], labels: Mapping[str, LabelCodes]
    ) -> Iterator[Columns]:
        """The rows that are kept of each person; where the rows are the answer they are chosen by their contents."""
        codes = [None if isinstance(each, Binning) else labels[each.column] for each in columns]
        by_cells = self.row_choice == BY_CELLS and not isinstance(aggregate, RowValues)
        choice = ChoiceByCells(aggregate, codes) if by_cells else ChoiceByContents(codes)
        with contextlib.closing(WaitingRows(self._table.name, choice, self.max_rows_per_person)) as waiting:
            for names, part in self._parts(columns, labels):
                assert names is not None, "rows have persons"
                waiting.add(names, part)
            yield from waiting.kept()

    def _parts(
        self, columns: Sequence[ReadColumn], labels: Mapping[str, LabelCodes]
    ) -> Iterator[tuple[Names | None, Columns]]:
        """All rows, some at a time: numbers of the grid, NaN where missing, and codes of labels.

        They come with the names of their persons where rows are bounded per person.
        """
        wanted = dict.fromkeys(column.column for column in columns)
        person = None if self.person is None else self._bounding(columns)
        identifiers = set() if person is None else {person}
        names = [*wanted, *identifiers]
        # a category such as "NA" that was declared is a text, whatever the other cells of its column are
        declared = [(each.column, declared_values(each)) for each in columns if not isinstance(each, Binning)]
        written = {name for name, values in declared if any(value in self._words for value in values)}
        plain_words = {name for name, values in declared if any(map(self._words.marks, values))}
        rows = 0
        cells = LabelCells(self._source, self._words)
        persons = None if person is None else PersonCodes(person, self._table.type(person))
        as_text = written if self._table.guesses_kinds else set()  # other tables say which columns are text
        for arrays in self._source.batches(names, identifiers=identifiers | as_text):
            batch = dict(zip(names, arrays, strict=True))
            rows += len(arrays[0])
            part = tuple(
                self._numbers(column, batch[column.column])
                if isinstance(column, Binning)
                else label_codes(
                    batch[column.column]
                    if column.column in written
                    else cells.labels(column.column, batch[column.column], keep=column.column in plain_words),
                    labels[column.column],
                )
                for column in columns
            )
            if persons is None:
                yield None, part
            else:
                persons.add(without_named(batch[str(person)], self._words))
                yield persons.names(), part
        self._size = rows

    def _numbers(self, column: Binning, array: Any) -> Float64:
        """The values of a measured column as numbers of its grid, NaN where one is missing or stands for that."""
        values = float_values(self._measured.read(column.column, array), column.grid.unit)
        named = self._words.numbers(column.grid) if self._words.named else []
        return np.where(np.isin(values, named), np.nan, values) if named else values


def _source_of(data: Any, column: str, words: MissingWords) -> Source | EngineTable:
    if isinstance(data, Mapping | list | tuple | np.ndarray):
        return memory_source(data, column, words)
    if is_address(data) or is_expression(data):
        return EngineTable.of(data)
    if isinstance(data, str | os.PathLike):
        from ogive.records.files import file_source  # the engine is slow to import, and arrays need none

        return file_source(data, words)
    return memory_source(data, column, words)
