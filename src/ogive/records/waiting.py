"""Rows that wait until all rows of their persons are there: a few in memory, many in temporary files.

Which rows of a person are kept is known only once all of them were seen. Up to `MOST_HELD` rows wait in memory. More
wait on disk: their columns in one file, in the order of the table, and their persons in other files, each with
all rows of some persons. The persons of one file after the other are then read and their rows chosen, so that memory is
bounded but for one byte a row. The files have no names, and are gone with the process.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ogive.arrays import Bool, Int64
from ogive.errors import DataError, plain
from ogive.records.labels import Columns
from ogive.records.persons import Names, Persons, number_of_hash
from ogive.records.sources import BATCH_ROWS

MOST_HELD = 1 << 22
"""Rows that wait in memory."""

PARTS = 64
"""Files among which persons are divided."""


class RowChoice(Protocol):
    """Which rows of the persons with too many are kept."""

    def marks(self, columns: Columns) -> tuple[NDArray[Any], ...]:
        """What the choice sees of rows: arrays of shape (rows,), of eight bytes a number."""
        ...

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        """Which rows are kept when every person keeps at most `limit`; shape (rows,)."""
        ...


class _Part(NamedTuple):
    names: Names
    columns: Columns


class WaitingRows:
    """Rows of a table that wait for the choice.

    Args:
        table: What messages call the table.
        choice: Which rows are kept; None where persons are only counted.
        limit: Most rows of one person.
    """

    def __init__(self, table: str, choice: RowChoice | None = None, limit: int = 1) -> None:
        self._table = table
        self._choice = choice
        self._limit = limit
        self._rows = 0
        self._held: list[_Part] = []
        self._files: _Files | None = None

    def add(self, names: Names, columns: Columns = ()) -> None:
        """Take the next rows.

        Args:
            names: Whose they are.
            columns: What stands in them.

        Raises:
            DataError: there are many, and there is no room for them on disk.
        """
        self._rows += len(names.numbers)
        self._held.append(_Part(names, columns))
        if self._rows <= MOST_HELD and self._files is None:
            return
        with self._on_disk():
            if self._files is None:
                self._files = _Files()
            for part in self._held:
                self._files.add(part, () if self._choice is None else self._choice.marks(part.columns))
        self._held.clear()

    def kept(self) -> Iterator[Columns]:
        """The rows that are kept, some at a time, in the order of the table.

        Raises:
            DataError: what is on disk cannot be read again.
        """
        assert self._choice is not None, "persons are only counted"
        if self._files is None:
            yield from self._kept_in_memory(self._choice)
            return
        keep = np.zeros(self._rows, dtype=np.bool_)
        with self._on_disk():
            for places, names, marks in self._files.parts():
                persons = names.persons()
                keep[places] = _chosen(self._choice, persons, self._limit, marks)
                del persons, names, marks
            start = 0
            for columns in self._files.columns():
                end = start + len(columns[0])
                yield tuple(values[keep[start:end]] for values in columns)
                start = end

    def marked(self) -> Iterator[tuple[Persons, Sequence[Int64]]]:
        """Whose rows they are, and what the choice sees of them, all rows of a person together.

        Raises:
            DataError: what is on disk cannot be read again.
        """
        assert self._choice is not None, "persons are only counted"
        if self._files is not None:
            with self._on_disk():
                for _, names, marks in self._files.parts():
                    yield names.persons(), marks
        elif self._held:
            persons = Names.joined([part.names for part in self._held]).persons()
            parts = [self._choice.marks(part.columns) for part in self._held]
            self._held.clear()
            yield persons, [np.concatenate(marks) for marks in zip(*parts, strict=True)]

    def close(self) -> None:
        """Remove the files."""
        if self._files is not None:
            self._files.close()

    def persons(self) -> int:
        """How many persons there are, which is asked instead of their rows.

        Raises:
            DataError: what is on disk cannot be read again.
        """
        if self._files is None:
            return Names.joined([part.names for part in self._held]).persons().number if self._held else 0
        with self._on_disk():
            return sum(names.persons().number for _, names, _ in self._files.parts())

    def _kept_in_memory(self, choice: RowChoice) -> Iterator[Columns]:
        if not self._rows:
            return
        persons = Names.joined([part.names for part in self._held]).persons()
        columns = tuple(np.concatenate(parts) for parts in zip(*(part.columns for part in self._held), strict=True))
        self._held.clear()
        keep = _chosen(choice, persons, self._limit, columns=columns)
        for start in range(0, self._rows, BATCH_ROWS):
            some = slice(start, start + BATCH_ROWS)
            yield tuple(values[some][keep[some]] for values in columns)

    @contextlib.contextmanager
    def _on_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            folder = plain(tempfile.gettempdir())
            raise DataError(
                f"{plain(self._table)} has more than {MOST_HELD} rows, which wait in temporary files while those of "
                f"each person are chosen, and {folder} has no room for them; set TMPDIR to a folder with more"
            ) from None


def _chosen(
    choice: RowChoice,
    persons: Persons,
    limit: int,
    marks: Sequence[NDArray[Any]] | None = None,
    columns: Columns | None = None,
) -> Bool:
    """Which rows are kept; nothing is hashed where no person has too many."""
    if not len(persons.codes) or np.bincount(persons.codes).max() <= limit:
        return np.ones(len(persons.codes), dtype=np.bool_)
    if marks is None:
        assert columns is not None, "rows in memory have their columns"
        marks = choice.marks(columns)
    return choice.kept(persons, marks, limit)


class _Files:
    """The temporary files."""

    def __init__(self) -> None:
        self._opened = contextlib.ExitStack()
        self._order = self._file()
        self._batches: list[tuple[int, list[np.dtype[Any]]]] = []
        self._parts = [self._file() for _ in range(PARTS)]
        self._writers: list[Any] = []
        self._rows = 0

    def _file(self) -> IO[bytes]:
        return self._opened.enter_context(tempfile.TemporaryFile())

    def add(self, part: _Part, marks: Sequence[NDArray[Any]]) -> None:
        """Write some rows."""
        rows = len(part.names.numbers)
        for values in part.columns:
            self._order.write(np.ascontiguousarray(values).data)
        self._batches.append((rows, [values.dtype for values in part.columns]))
        wanted = number_of_hash(part.names.hashes(), PARTS)
        order = np.argsort(wanted, kind="stable")
        ends = np.cumsum(np.bincount(wanted, minlength=PARTS))
        texts = part.names.all_texts().take(pa.array(order))
        table = pa.record_batch(
            {
                "place": self._rows + order,
                "number": part.names.numbers[order],
                "text": texts,
                **{f"mark_{place}": mark.view(np.int64)[order] for place, mark in enumerate(marks)},
            }
        )
        if not self._writers:
            self._writers = [pa.ipc.new_stream(file, table.schema) for file in self._parts]
        start = 0
        for writer, end in zip(self._writers, ends.tolist(), strict=True):
            if end > start:
                writer.write_batch(table.slice(start, end - start))
            start = end
        self._rows += rows

    def parts(self) -> Iterator[tuple[Int64, Names, list[Int64]]]:
        """The places in the table, names and marks of all rows of some persons."""
        for writer, file in zip(self._writers, self._parts, strict=True):
            writer.close()
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
            file.close()
            names = Names.of(_numbers(table, "number"), table.column("text"))
            marks = [_numbers(table, name) for name in table.column_names if name.startswith("mark_")]
            places = _numbers(table, "place")
            del table
            yield places, names, marks

    def columns(self) -> Iterator[Columns]:
        """The columns, as they were written."""
        self._order.seek(0)
        for rows, kinds in self._batches:
            yield tuple(np.frombuffer(self._order.read(rows * kind.itemsize), dtype=kind) for kind in kinds)

    def close(self) -> None:
        """Give the room back."""
        self._opened.close()


def _numbers(table: Any, name: str) -> Int64:
    found: Int64 = table.column(name).to_numpy()
    return found
