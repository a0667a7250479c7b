"""Contribution bounding: which rows of a person with too many are kept, or what weight they share.

Rows are chosen by their contents or by the cells that they count in, and wait in memory or on disk until all rows of
their persons are there.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ogive.columns import Binning
from ogive.core.arrays import Bool, Float64, Int64, UInt8, UInt64
from ogive.core.compiling import njit
from ogive.errors import DataError, plain
from ogive.queries import Aggregate, GroupSums, Parted
from ogive.records.contributions import bins_of, columns_of, contributor, fixed_point
from ogive.records.labels import Columns, LabelCodes
from ogive.records.persons import (
    PUBLIC_KEY,
    Names,
    Persons,
    buffer_bytes,
    end_to_end,
    first_half,
    hashes_of,
    number_of_hash,
    siphash,
    text_words,
    write_text,
    write_whole,
)
from ogive.records.sources import BATCH_ROWS
from ogive.strategies.composed import PERSON_UNITS


class RowChoice(Protocol):
    """Which rows of the persons with too many are kept."""

    def marks(self, columns: Columns) -> tuple[NDArray[Any], ...]:
        """What the choice sees of rows: arrays of shape (rows,), of eight bytes a number."""

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        """Which rows are kept when every person keeps at most `limit`; shape (rows,)."""


# --- A choice by contents
#
# A row's rank is the hash of its person, of its contents in the columns in use, and of its number among the person's
# rows with the same contents. The rows of lowest rank are kept. So the choice is the same in any order of the rows and
# in any kind of file, uniform over a person's rows, and depends on nobody else's.


class ChoiceByContents:
    """The choice by what stands in rows.

    Privacy:
        See docs/proofs/contribution_bounding.md. What is dropped must not be shown.
    """

    def __init__(self, labels: Sequence[LabelCodes | None]) -> None:
        self._labels = labels

    def marks(self, columns: Columns) -> tuple[UInt64]:
        """A hash of what stands in each row."""
        return (hashes_of(content_words(columns, self._labels)),)

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        counts = np.bincount(persons.codes, minlength=persons.number)
        keep = np.zeros(len(persons.codes), dtype=np.bool_)
        contents = marks[0].view(np.uint64)
        _choose_by_contents(
            persons.codes.astype(np.int64, copy=False), counts, persons.words(counts > limit), contents, limit, keep
        )
        return keep


def content_words(columns: Columns, labels: Sequence[LabelCodes | None]) -> UInt64:
    """What stands in rows, as words that are the same for equal contents, shape (rows, columns or 2).

    Args:
        columns: Numbers, NaN where missing, or codes of labels, each of shape (rows,).
        labels: What the codes of each column mean; None for numbers.
    """
    words = np.zeros((len(columns[0]), max(2, len(columns))), dtype=np.uint64)
    for place, (column, codes) in enumerate(zip(columns, labels, strict=True)):
        if codes is None:
            # one number for both zeros, one for all that is missing
            numbers = np.where(np.isnan(column), np.nan, column + 0.0)
            words[:, place] = numbers.view(np.uint64)
        else:
            tags = pa.array([_tag(value) for value in codes.values], pa.large_string())
            words[:, place] = text_words(tags, np.ones(len(tags), dtype=np.bool_))[column]
    return words


def _tag(label: Any) -> str:
    """A label as text; numbers that are equal are written alike."""
    if label is None:
        return "missing"
    if isinstance(label, str):
        return "text " + label
    return f"number {int(label) if math.isfinite(label) and label == int(label) else float(label)}"


@njit(nogil=True)
def _choose_by_contents(persons: Int64, counts: Int64, names: UInt64, hashed: UInt64, limit: int, keep: Bool) -> None:
    # the rows of each person with too many, side by side
    ends = np.zeros(len(counts), dtype=np.int64)
    end = 0
    for person in range(len(counts)):
        ends[person] = end
        if counts[person] > limit:
            end += counts[person]
    rows = np.empty(end, dtype=np.int64)
    contents = np.empty(end, dtype=np.uint64)
    for row in range(len(persons)):
        person = persons[row]
        if counts[person] <= limit:
            keep[row] = True
            continue
        rows[ends[person]] = row
        contents[ends[person]] = hashed[row]
        ends[person] += 1
    words = np.empty(4, dtype=np.uint64)
    for person in range(len(counts)):
        if counts[person] <= limit:
            continue
        start = ends[person] - counts[person]
        order = np.argsort(contents[start : ends[person]], kind="mergesort")
        ranks = np.empty(counts[person], dtype=np.uint64)
        words[0], words[1] = names[person, 0], names[person, 1]
        occurrence = np.uint64(0)
        for i in range(counts[person]):
            content = contents[start + order[i]]
            same = i > 0 and content == words[2]
            occurrence = np.uint64(occurrence + np.uint64(1)) if same else np.uint64(0)
            words[2], words[3] = content, occurrence
            ranks[i] = siphash(words, PUBLIC_KEY)
        for i in np.argsort(ranks, kind="mergesort")[:limit]:
            keep[rows[start + order[i]]] = True


# --- A choice by cells, for every engine
#
# A row's cell is a short text with a part for each column that an aggregate reads: the bin of a number, or a label.
# Rows of one cell add the same to the aggregate, so they are interchangeable, and are numbered 1, 2, 3 and so on in any
# order. A row's rank is the MD5 of its cell, its number and its person. The rows of lowest rank are kept. So the choice
# is the same wherever cells are, and depends on no other person's rows. `docs/proofs/contribution_bounding.md` has the
# definition and the proof, and `records.engines.choosing` the same choice as an expression.

MISSING, BELOW, ABOVE, FRACTION = -1, -2, -3, -4
"""Codes of numbers that are in no bin, or that a policy may refuse."""

WHOLE_FLOATS = 2.0**53
"""Floats of at least this size are whole."""

PREFIX = "2|"
"""What every hashed text begins with: the number of this choice."""

MOST_DIGITS = 18
"""Digits of a whole number that is written as it is."""

FARTHEST, FINEST = 2.0**42, 2.0**20
"""Other numbers are written in units of 1 / FINEST, and no farther from zero than FARTHEST."""

_LONGEST_WHOLE = 20


class Coded(NamedTuple):
    """One part of the cell of each row.

    Fields:
        codes: A small whole number for each row, shape (rows,). Codes of labels that are numbers grow with them.
        texts: What is written for each code; None where that is the number itself.
    """

    codes: Int64
    texts: list[str] | None = None


def summed_bits(aggregate: Aggregate) -> dict[int, int]:
    """Fractional bits of the columns whose numbers are added up, by place in `columns_of`."""
    if isinstance(aggregate, GroupSums):
        return {0: aggregate.bits}
    results: dict[int, int] = {}
    place = 0
    if isinstance(aggregate, Parted):
        for each in dict.fromkeys(aggregate.values):
            results |= {place + own: bits for own, bits in summed_bits(each).items()}
            place += len(columns_of(each))
    return results


class ChoiceByCells:
    """The choice by the cells that rows count in.

    Privacy:
        See docs/proofs/contribution_bounding.md. What is dropped must not be shown.
    """

    def __init__(self, aggregate: Aggregate, labels: Sequence[LabelCodes | None]) -> None:
        self._columns = columns_of(aggregate)
        self._bits = summed_bits(aggregate)
        self._labels = labels

    def marks(self, columns: Columns) -> tuple[Int64, ...]:
        """The parts of the cell of each row, of which labels are codes yet."""
        results: list[Int64] = []
        for place, (column, values, codes) in enumerate(zip(self._columns, columns, self._labels, strict=True)):
            if codes is not None:
                results.append(values.astype(np.int64, copy=False))
                continue
            assert isinstance(column, Binning), "only numbers have no codes of labels"
            results.append(_bins(values, column))
            if place in self._bits:
                substitute = 1.0 if column.substitute is None else column.substitute
                results.append(fixed_point(values, substitute, self._bits[place]))
        return tuple(results)

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        written: list[LabelCodes | None] = []
        for place, codes in enumerate(self._labels):
            written += [codes, None] if place in self._bits else [codes]
        parts = [
            Coded(mark) if codes is None else _labels(mark, codes) for mark, codes in zip(marks, written, strict=True)
        ]
        return _kept(persons, parts, limit)


def _bins(values: Float64, binning: Binning) -> Int64:
    """The bin of each number, or why it has none."""
    result, _ = bins_of(values, binning.grid, MISSING)
    if binning.fractions == "refuse":
        result[(np.abs(values) < WHOLE_FLOATS) & (np.floor(values) < values)] = FRACTION
    if binning.outside == "refuse":
        result[values > binning.grid.high] = ABOVE
    if binning.outside != "clip":
        result[values < binning.grid.low] = BELOW
    return result


def _labels(codes: Int64, labels: LabelCodes) -> Coded:
    values = labels.values
    numbers = [code for code, value in enumerate(values) if not (value is None or isinstance(value, str))]
    others = [code for code, value in enumerate(values) if value is None or isinstance(value, str)]
    # of numbers that are written alike the smaller one comes first
    order = [*others, *sorted(numbers, key=values.__getitem__)]
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.arange(len(values))
    return Coded(places[codes], [label_text(values[code]) for code in order])


def label_text(label: Any) -> str:
    """What is written for a label; a text with its length, so that no other cell is written alike."""
    if label is None:
        return "m"
    if isinstance(label, str):
        return f"t{len(label)}:{label}"
    if math.isfinite(label) and label == int(label) and abs(int(label)) < 10**MOST_DIGITS:
        return str(int(label))
    return f"f{math.floor(min(max(float(label), -FARTHEST), FARTHEST) * FINEST)}"


def _kept(persons: Persons, parts: Sequence[Coded], limit: int) -> Bool:
    counts = np.bincount(persons.codes, minlength=persons.number)
    keep: Bool = np.asarray(counts[persons.codes] <= limit)
    rows = np.flatnonzero(~keep)
    rows = rows[np.argsort(persons.codes[rows], kind="stable")]
    codes = np.stack([part.codes[rows] for part in parts], axis=1)
    texts: list[str] = []
    first = np.full(len(parts), -1, dtype=np.int64)
    for place, part in enumerate(parts):
        if part.texts is not None:
            first[place] = len(texts)
            texts += part.texts
    labels, label_ends = end_to_end(pa.array(texts, pa.large_string()))
    names, name_ends = end_to_end(persons.texts)
    written = len(parts) * (_LONGEST_WHOLE + 1 + int(np.diff(label_ends).max(initial=0)))
    longest = len(PREFIX) + written + 2 * _LONGEST_WHOLE + 2 + int(np.diff(name_ends).max(initial=0))
    prefix = np.frombuffer(PREFIX.encode(), dtype=np.uint8)
    buffer = np.zeros(buffer_bytes(longest), dtype=np.uint8)
    buffer[: len(prefix)] = prefix
    _choose_by_cells(
        persons.codes[rows].astype(np.int64, copy=False), _cell_numbers(codes), codes, first, labels, label_ends,
        persons.numbers, names, name_ends, rows, limit, keep, buffer, len(prefix),
    )  # fmt: skip
    return keep


def _cell_numbers(codes: Int64) -> Int64:
    """One number for each cell, which grows with its codes, the first of them first; shape (rows,)."""
    result = np.zeros(len(codes), dtype=np.int64)
    for part in codes.T:
        low, high = int(part.min()), int(part.max())
        if int(result.max() + 1) * (high - low + 1) >= 1 << 62:
            result, part = _dense(result), _dense(part)
            low, high = 0, int(part.max())
        result = result * (high - low + 1) + (part - low)
    return result


def _dense(numbers: Int64) -> Int64:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64, copy=False)


@njit(nogil=True)
def _choose_by_cells(
    persons: Int64,
    cells: Int64,
    codes: Int64,
    first: Int64,
    labels: UInt8,
    label_ends: Int64,
    numbers: Int64,
    names: UInt8,
    name_ends: Int64,
    rows: Int64,
    limit: int,
    keep: Bool,
    buffer: UInt8,
    prefix: int,
) -> None:
    """Mark the rows that are kept; rows of a person lie side by side, and the buffer begins with `prefix` bytes."""
    state = np.zeros(4, dtype=np.uint64)
    start = 0
    while start < len(persons):
        person, end = persons[start], start + 1
        while end < len(persons) and persons[end] == person:
            end += 1
        order = np.argsort(cells[start:end], kind="mergesort")
        ranks = np.empty(end - start, dtype=np.uint64)
        number = 0
        for i in range(end - start):
            row = start + order[i]
            number = number + 1 if i > 0 and cells[row] == cells[start + order[i - 1]] else 1
            size = prefix
            for part in range(codes.shape[1]):
                if part:
                    buffer[size] = 44  # a comma
                    size += 1
                if first[part] < 0:
                    size = write_whole(buffer, size, codes[row, part])
                else:
                    size = write_text(buffer, size, labels, label_ends, first[part] + codes[row, part])
            buffer[size] = 124  # a bar
            size = write_whole(buffer, size + 1, number)
            buffer[size] = 124
            size += 1
            if person < len(numbers):
                size = write_whole(buffer, size, numbers[person])
            else:
                size = write_text(buffer, size, names, name_ends, person - len(numbers))
            ranks[i] = first_half(buffer, size, state)
        for i in np.argsort(ranks, kind="mergesort")[:limit]:
            keep[rows[start + order[i]]] = True
        start = end


# --- Rows that wait for the choice
#
# Which rows of a person are kept is known only once all of them were seen. Up to `MOST_HELD` rows wait in memory. More
# wait on disk: their columns in one file, in the order of the table, and their persons in other files, each with
# all rows of some persons. The persons of one file after the other are then read and their rows chosen, so that memory
# is bounded but for one byte a row. The files have no names, and are gone with the process.

MOST_HELD = 1 << 22
"""Rows that wait in memory."""

PARTS = 64
"""Files among which persons are divided."""


class _Part(NamedTuple):
    names: Names
    columns: Columns


class WaitingRows:
    """Rows of a table that wait for the choice."""

    def __init__(self, table: str, choice: RowChoice | None = None, limit: int = 1) -> None:
        self._table = table
        self._choice = choice
        self._limit = limit
        self._rows = 0
        self._held: list[_Part] = []
        self._files: _Files | None = None

    def add(self, names: Names, columns: Columns = ()) -> None:
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
        """The rows that are kept, some at a time, in the order of the table."""
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
        """Whose rows they are, and what the choice sees of them, all rows of a person together."""
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
        if self._files is not None:
            self._files.close()

    def persons(self) -> int:
        """How many persons there are; for rows that are not read after that."""
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
        self._order.seek(0)
        for rows, kinds in self._batches:
            yield tuple(np.frombuffer(self._order.read(rows * kind.itemsize), dtype=kind) for kind in kinds)

    def close(self) -> None:
        self._opened.close()


def _numbers(table: Any, name: str) -> Int64:
    result: Int64 = table.column(name).to_numpy()
    return result


# --- The rows of a person as shares of one weight
#
# In the order of its bins, each row of a person gets what the rounded share of the rows up to it exceeds that of the
# rows before it. So units depend on how many rows a person has in each bin, on no order of rows, and on no other
# person. `docs/proofs/people.md` has the definition and the proof, and `records.engines.choosing` the same as an
# expression.


class EveryRow:
    """Keeps all rows of all persons, and sees in which bin each of them counts."""

    def __init__(self, binning: Binning) -> None:
        self._reader = contributor(binning, {})

    def marks(self, columns: Columns) -> tuple[Int64, Int64]:
        """The place of each row among those of its person, missing values first, and its bin; -1 if it is dropped."""
        (values,) = columns
        cells = self._reader(columns).cells
        return np.where(np.isnan(values), MISSING, cells), cells

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        return np.ones(len(persons.codes), dtype=np.bool_)


def add_shares(sums: Int64, persons: Int64, places: Int64, cells: Int64) -> None:
    """Add the units of some persons to sums of shape (N,), in place."""
    counted = cells >= 0
    order = np.flatnonzero(counted)[np.lexsort((places[counted], persons[counted]))]
    whose = persons[order]
    if not len(whose):
        return
    rows = np.bincount(whose)
    number = np.arange(len(whose)) - (np.cumsum(rows) - rows)[whose]
    held = rows[whose]
    units = _rounded(number + 1, held) - _rounded(number, held)
    np.add.at(sums, cells[order], units)


def _rounded(part: Int64, rows: Int64) -> Int64:
    """The whole number nearest to `PERSON_UNITS` part / rows, a half rounded up."""
    return (2 * PERSON_UNITS * part + rows) // (2 * rows)
