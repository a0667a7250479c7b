"""Tables in files: CSV and Parquet through an embedded DuckDB, Arrow files directly.

Files are streamed, only the columns that are needed, and never loaded. Whatever an engine says about a
file is turned into one line that names the file and the defect, never a value of a record.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import json
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from ogive.errors import DataError, plain, quoted
from ogive.records import engine
from ogive.records.cells import (
    KINDS,
    NOT_OF_ITS_KIND,
    NOTHING,
    NUMBERS,
    SAMPLE_ROWS,
    TEXT,
    TIMES,
    TRUTHS,
    Judged,
    Kind,
    has_offset,
    is_word,
    judge,
    said,
    unpadded,
    value,
    wrong,
)
from ogive.records.engine import CELLS_HINT, ParquetSource, distinct, folder_source, one_line, read_csv, stream
from ogive.records.foreign import FOREIGN, Table, decoded_source, encoding_of, foreign_source
from ogive.records.missing_words import USUAL, MissingWords, tell, tell_padded
from ogive.records.sources import BATCH_ROWS, Source, file_digest, unreadable, without_views

# --- The first line of a CSV file
#
# Messages list the names of columns. A file without a header has a record in their place, which must not
# be shown. The names are shown only where nothing in the first line looks like a value, and the rows below
# show that it is no row: some column holds nothing but values below a name that is none. A single letter that may
# be short for a truth value, as y, is a name where no letter stands below it. What this cannot tell from a header is a
# record with a remark of its own where all others have values.

HEADER_BYTES = 1 << 20
HEADER_ROWS = 1_000
SEPARATORS = ",;\t|"
# a number, date or time in whatever notation, a truth value, or a mark for what is missing
_VALUE = re.compile(
    r"[\s$€£(]*[-+.,]?\d|(true|false|yes|no|y|n|t|f|nan|[-+]?inf|infinity|null|none|na|n/a|missing|unknown|[-.?])\s*$",
    re.I,
)
_LETTER = re.compile(r"\s*[a-z]\s*$", re.I)
# what no column's name holds, but bytes of something else that happen to be UTF-8
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Header(NamedTuple):
    """What the first line says."""

    names: tuple[str, ...]
    separator: str
    certain: bool
    """Whether these are names beyond doubt, so that a message may show them."""


def read_header(path: Path, separator: str | None) -> Header:
    """Read the first line, and the rows below as far as they tell names from values."""
    with open_text(path) as file:
        text = _decoded(file.read(HEADER_BYTES), path)
    outside_quotes = re.sub(r'"[^"]*"', "", text).lstrip("\r\n").splitlines() or [""]
    if separator is None:
        separator = max(SEPARATORS, key=outside_quotes[0].count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = tuple(next(rows, []))
    except csv.Error:
        raise DataError(f"the first line of {plain(path)} does not name columns") from None
    if any(map(_CONTROL.search, names)):
        raise DataError(f"{plain(path)} is not a table: its first line holds control characters")
    if not names:
        raise DataError(f"the first line of {plain(path)} must name the columns, but it is empty")
    sample: list[Sequence[str]] = []
    with contextlib.suppress(csv.Error):  # a field that goes on beyond what was read, or a defect the engine will name
        sample.extend(itertools.islice(rows, HEADER_ROWS))
    certain = _are_names(names, sample)
    for position, name in enumerate(names):
        if name in names[:position]:
            if certain:
                raise DataError(f"{plain(path)} has two columns named {quoted(name)}; rename one")
            raise DataError(
                f"the first line of {plain(path)} must name the columns, but it holds one name twice; "
                "if it is a row, write a line of names above it"
            )
    return Header(names, separator, certain)


def open_text(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed where its suffix says so."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _decoded(start: bytes, path: Path) -> str:
    if b"\0" in start:
        raise _not_text(path)
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start < len(start) - 4 or len(start) < HEADER_BYTES:
            raise _not_text(path) from None
        return start[: problem.start].decode("utf-8-sig")


def _not_text(path: Path) -> DataError:
    return DataError(
        f"{path} is not UTF-8 text, so it cannot be read as a table; save it as UTF-8, or name its `encoding`"
    )


def _are_names(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether no name looks like a value or is one of its column, and some column holds nothing but values."""
    proven = False
    for position, name in enumerate(names):
        cells = {row[position].strip() for row in rows if len(row) > position} - {""}
        letter = bool(_LETTER.match(name)) and bool(cells) and not any(map(_LETTER.match, cells))
        if (_VALUE.match(name) and not letter) or name.strip() in cells:
            return False
        proven |= bool(name.strip() and cells) and not _VALUE.match(name) and all(map(_VALUE.match, cells))
    return proven


# --- The place of a wrong cell in a CSV file
#
# The engine that reads the cells counts a line break within quotes as none, so lines are counted here as editors do.


def first_row(table: Any, conditions: Mapping[str, str]) -> tuple[str, int] | None:
    """The first row of which one of several conditions holds, with the name of the condition."""
    fields = [f"field{place}" for place in range(len(conditions))]
    columns = (f"({each}) AS {field}" for field, each in zip(fields, conditions.values(), strict=True))
    before = 0
    for flags in engine.stream(table.project(", ".join(columns)), fields):
        places = {name: each.index(True).as_py() for name, each in zip(conditions, flags, strict=True)}
        result = {name: place for name, place in places.items() if place >= 0}
        if result:
            name = min(result, key=lambda each: result[each])
            return name, before + result[name]
        before += len(flags[0])
    return None


def line_of(path: Path, row: int, *, separator: str, columns: int) -> int | None:
    """The line on which a row begins, where the header begins on line 1; None where it cannot be told."""
    left = row + 1
    with open_text(path) as file, contextlib.suppress(csv.Error):
        rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), delimiter=separator, strict=True)
        line = 1
        for cells in rows:
            if cells or columns == 1:
                if left == 0:
                    return line
                left -= 1
            line = rows.line_num + 1
    return None


# --- The number of rows of a CSV file, by its line ends
#
# Where these can be nothing else, that is several times as fast as reading the fields.

BLOCK_BYTES = 1 << 18
_QUOTE, _RETURN, _END = b'"', b"\r", b"\n"


def rows_by_lines(path: Path) -> int | None:
    """How many lines follow the header; None where line ends may be something else.

    Whether every line has as many fields as the header shows when a column is read.
    """
    ends = 0
    before = b""
    with open_text(path) as file:
        while block := file.read(BLOCK_BYTES):
            if not before:
                # what would stand before the first line, as long as a line end is
                before = _RETURN + _END if _RETURN in block else _END
            result = _line_ends(before, block)
            if result is None:
                return None
            ends += result
            before = (before + block)[-len(before) :]
    if before.endswith(_RETURN):
        return None
    return ends - before.endswith(_END)


def _line_ends(before: bytes, block: bytes) -> int | None:
    """Line ends in a block; None where it is unclear."""
    if _QUOTE in block:
        return None
    length = len(before)
    bytes_ = np.frombuffer(before + block, dtype=np.uint8)
    ends = bytes_ == _END[0]
    if np.any(ends[length:] & ends[:-length]):  # an empty line
        return None
    if length == 1:
        if _RETURN in block:
            return None
    elif not np.array_equal(bytes_[:-1] == _RETURN[0], ends[1:]):
        return None
    return int(np.count_nonzero(ends[length:]))


# --- CSV files
#
# The kinds of columns follow from their first rows. The engine guesses nothing, so that one table has one reading.

CHUNK_BYTES = 1 << 20
# what is compressed may unpack to so many bytes in any case, and beyond that to so many times its size
UNPACKED_FREELY = 1 << 28
MOST_RATIO = 200
JUDGED_AT_ONCE = 100
_EUROPEAN = r"^\s*[+-]?([0-9]*|[0-9]{1,3}([.][0-9]{3})+)(,[0-9]+)?\s*$"
_WITH_DECIMAL_COMMA = r"^\s*[+-]?([0-9]+|[0-9]{1,3}([.][0-9]{3})+),[0-9]+\s*$"
_THOUSANDS = r"^\s*[+-]?[1-9][0-9]{0,2}([.][0-9]{3})+\s*$"
_ENGLISH = r"^\s*[+-]?([0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)([.][0-9]+)?\s*$"
_PADDED = r"^\s*[+-]?0[0-9]"


class CsvSource(Source):
    """A CSV file with a header, comma, semicolon, tab or bar between fields, plain or gzipped."""

    numbers_hint = CELLS_HINT
    guesses_kinds = True

    def __init__(self, path: Path, *, separator: str | None, words: MissingWords) -> None:
        self._path = path
        self._words = words
        self.name = str(path)
        with one_line(path):
            if path.name.lower().endswith(".gz"):
                _check_gzip(path)
            self.columns, self._separator, self.has_names = read_header(path, separator)
        # names of our own: an engine would rename those that differ in case only
        self._names = [f"field{i}" for i in range(len(self.columns))]
        self._kinds: dict[str, Kind] = {}
        self.told: set[str] = set()
        self._thousands: set[str] = set()  # columns of numbers with points between thousands
        self._marked: set[str] = set()  # columns with words for missing values, which are read as text first

    def _table(self, typed: Sequence[str] = (), *, first_rows: bool = False) -> Any:
        """The file with some columns typed and all others left as text, so that their contents do not matter."""
        types = dict.fromkeys(self._names, "VARCHAR")
        for column in typed:
            types[self._name(column)] = self._kinds[column].engine
        return read_csv(self._path, types=types, separator=self._separator, first_rows=first_rows)

    def _name(self, column: str) -> str:
        return self._names[self.columns.index(column)]

    def rows(self) -> int:
        """Number of rows, by one pass over the file; whether each is well formed shows when a column is read."""
        with one_line(self._path):
            counted = rows_by_lines(self._path)
            return int(self._table().aggregate("count(*)").fetchone()[0]) if counted is None else counted

    def digest(self) -> bytes:
        return file_digest(self._path)

    def is_empty(self) -> bool:
        with one_line(self._path):
            return self._table(first_rows=True).limit(1).fetchone() is None

    def type(self, column: str) -> Any:
        """Arrow type of a column, judged by the first rows, or by the first values if those have none.

        Every kind of number is read as float64; a column without any value is of the type null.
        """
        self._judge([column])
        return self._kinds[column].arrow

    def _judge(self, columns: Sequence[str]) -> None:
        """Find each column's kind, that of all its first rows, or of its first values if those rows have none."""
        unknown = [column for column in columns if column not in self._kinds]
        for start in range(0, len(unknown), JUDGED_AT_ONCE):
            some = unknown[start : start + JUDGED_AT_ONCE]
            with one_line(self._path):
                first = self._table(first_rows=True).limit(SAMPLE_ROWS)
                result = judge(first, [self._name(column) for column in some], self._words)
                for name, before in list(result.items()):
                    if before[0] is NOTHING or (before[0] is TEXT and before[1]):
                        result |= self._judged_later(name, before)
                self._kinds |= {column: result[self._name(column)][0] for column in some}
                # a cell that is no time is null to DuckDB, without an error
                self._marked |= {column for column in some if self._kinds[column] is TIMES}
                for column in some:
                    kind, marked = result[self._name(column)]
                    if marked and kind is not TEXT:
                        self._mark(column, first)
                numbers = [column for column in some if self._kinds[column] is NUMBERS]
                self._thousands |= self._with_thousands(numbers, first)
                self._kinds |= dict.fromkeys(self._thousands, TEXT)
                self._tell_padded([column for column in numbers if self._kinds[column] is NUMBERS], first)

    def _judged_later(self, name: str, before: Judged) -> dict[str, Judged]:
        """The kind of a column whose first cells are empty or words for missing, by the cells after them."""
        later = self._table().filter(said(engine.name(name), self._words)).limit(SAMPLE_ROWS)
        kind, _ = judge(later, [name], self._words)[name]
        return {} if kind is NOTHING else {name: (kind, before[1])}

    def _tell_padded(self, columns: Sequence[str], rows: Any) -> None:
        """Say which columns of numbers are written with leading zeros, as codes are.

        They stay numbers: to read all as text for the sake of one would make a cell depend on other records.
        """
        if not columns:
            return
        cells = [engine.name(self._name(column)) for column in columns]
        tests = ", ".join(f"coalesce(bool_or(regexp_matches({cell}, {engine.text(_PADDED)})), false)" for cell in cells)
        for column, padded in zip(columns, rows.aggregate(tests).fetchone(), strict=True):
            if padded:
                tell_padded(column, self.name)

    def _with_thousands(self, columns: Sequence[str], rows: Any) -> set[str]:
        """Which columns of numbers have points between thousands: each point stands so, and others have decimal commas.

        They are text, so that 1.234 is not taken for a number between 1 and 2.
        """
        if self._separator == "," or not columns:
            return set()
        some, all_ = engine.text(_WITH_DECIMAL_COMMA), engine.text(_EUROPEAN)
        commas = ", ".join(
            f"coalesce(bool_or(regexp_matches({name}, {some})) FILTER ({said(name, self._words)}) "
            f"AND bool_and(regexp_matches({name}, {all_})) FILTER ({said(name, self._words)}), false)"
            for name in map(engine.name, self._names)
        )
        if not any(rows.aggregate(commas).fetchone()):
            return set()
        cells = [engine.name(self._name(column)) for column in columns]
        fits = [f"bool_and(regexp_matches({cell}, {engine.text(_THOUSANDS)}))" for cell in cells]
        tests = ", ".join(
            f"coalesce({each} FILTER (contains({cell}, '.')), false)" for each, cell in zip(fits, cells, strict=True)
        )
        result = self._table().aggregate(tests).fetchone()
        return {column for column, thousands in zip(columns, result, strict=True) if thousands}

    def _mark(self, column: str, rows: Any) -> None:
        """Read a column as text first from here on, and say why."""
        cell = engine.name(self._name(column))
        words = rows.filter(is_word(cell, self._words)).aggregate(f"list(DISTINCT {cell})").fetchone()[0]
        self._marked.add(column)
        tell(column, self.name, self._words, words or ())

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """The columns, streamed; identifiers as they are written, since floats would merge long numbers."""
        with one_line(self._path):
            typed = [column for column in columns if column not in identifiers]
            self._judge(typed)
            rows = 0
            try:
                for arrays in self._stream(columns, typed):
                    rows += len(arrays[0])
                    yield arrays
                return
            except engine.ENGINE_ERRORS as problem:
                if not self._mark_late(typed, problem):
                    raise self._refusal(typed, problem) from None
            try:
                for arrays in self._stream(columns, typed):
                    left = len(arrays[0]) - rows
                    rows = max(0, -left)
                    if left > 0:
                        yield tuple(array.slice(len(array) - left) for array in arrays)
            except engine.ENGINE_ERRORS as problem:
                raise self._refusal(typed, problem) from None

    def _refusal(self, typed: Sequence[str], problem: Exception) -> Exception:
        """The error for columns that could not be read: which one holds what is not of its kind, and where."""
        if NOT_OF_ITS_KIND not in str(problem):
            return problem
        kinds = {column: (self._kinds[column],) for column in typed if self._kinds[column] in KINDS}
        column, where = self._first_wrong(kinds) or (None, None)
        named = f"column {quoted(column)}" if column else f"one of the columns {', '.join(map(quoted, kinds))}"
        return DataError(
            f"{named} of {plain(self._path)} holds a value that is neither a number nor an ISO date"
            f"{'' if where is None else f' on line {where}'}; {CELLS_HINT}"
        )

    def number_remedy(self, column: str) -> str:
        """What makes numbers of a column of text whose first rows have decimal commas, or signs between thousands.

        Nothing where they have other values, too, or none. A column of numbers is taken for text where all of
        its points stand between thousands and other columns have decimal commas. Where fields are apart by commas, and
        each comma of the column may stand between thousands, it does.
        """
        cell = engine.name(self._name(column))
        known = said(cell, self._words)
        european, english = (f"regexp_matches({cell}, {engine.text(each)})" for each in (_EUROPEAN, _ENGLISH))
        with one_line(self._path):
            rows = self._table(first_rows=True).limit(SAMPLE_ROWS)
            counts = rows.aggregate(
                f"bool_and({european}) FILTER ({known}), bool_and({english}) FILTER ({known}), "
                f"bool_or(contains({cell}, ',')) FILTER ({known}), bool_or(contains({cell}, '.')) FILTER ({known})"
            )
            is_european, is_english, commas, points = map(bool, counts.fetchone())
        points |= column in self._thousands
        separator = "" if self._separator == "," else f", sep={json.dumps(self._separator)}"
        if commas and is_english and (self._separator == "," or not is_european):
            return (
                "it holds numbers with commas between thousands; write the file without them, or in Python release "
                f"from 'pandas.read_csv(path{separator}, thousands=\",\")'"
            )
        if not (commas or points) or not is_european:
            return ""
        holds = " and ".join([*["points between thousands"] * bool(points), *["decimal commas"] * bool(commas)])
        thousands = ', thousands="."' if points else ""
        return (
            f"it holds numbers with {holds}; write the file with decimal points, or in Python release from "
            f"'pandas.read_csv(path{separator}, decimal=\",\"{thousands})'"
        )

    def wrong_line(self, column: str, unit: str) -> int | None:
        with one_line(self._path):
            result = self._first_wrong({column: (NUMBERS, TRUTHS) if unit == "number" else (TIMES,)})
        return None if result is None else result[1]

    def offset_line(self, column: str) -> int | None:
        with one_line(self._path):
            result = first_row(self._table(), {column: has_offset(engine.name(self._name(column)), self._words)})
        return None if result is None else self._line(result[1])

    def _first_wrong(self, kinds: Mapping[str, Sequence[Kind]]) -> tuple[str, int | None] | None:
        """The column and the line of the first cell that is of none of the kinds of its column, and not missing."""
        conditions = {
            column: wrong(engine.name(self._name(column)), some, self._words) for column, some in kinds.items()
        }
        result = first_row(self._table(), conditions)
        if result is None:
            return None
        column, row = result
        return column, self._line(row)

    def _line(self, row: int) -> int | None:
        return line_of(self._path, row, separator=self._separator, columns=len(self.columns))

    def _stream(self, columns: Sequence[str], typed: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The columns in the types of their kinds, in one pass over the file."""
        table = self._table([column for column in typed if column not in self._marked])
        read = {column: engine.name(self._name(column)) for column in columns}
        read |= {column: value(read[column], self._kinds[column], self._words) for column in self._marked & {*typed}}
        named = (f"{expression} AS {engine.name(self._name(column))}" for column, expression in read.items())
        return stream(table.project(", ".join(named)), [self._name(column) for column in columns])

    def _mark_late(self, typed: Sequence[str], problem: Exception) -> bool:
        """Whether blanks, or words for missing values after the first rows, are why columns could not be read."""
        if NOT_OF_ITS_KIND not in str(problem):
            return False
        table = self._table()
        unmarked = [column for column in typed if column not in self._marked and self._kinds[column] is not TEXT]
        cells = {column: engine.name(self._name(column)) for column in unmarked}
        values = {column: f"{self._kinds[column].cast(cell)} IS NOT NULL" for column, cell in cells.items()}
        padded = {
            column for column, cell in cells.items() if _some(table, f"{values[column]} AND {unpadded(cell)} <> {cell}")
        }
        late = [
            column
            for column, cell in cells.items()
            if _some(table, f"{cell} IS NOT NULL AND NOT ({values[column]}) AND {is_word(cell, self._words)}")
        ]
        self._marked |= padded
        for column in late:
            self._mark(column, table)
        return bool(padded or late)


def _some(table: Any, condition: str) -> bool:
    """Whether a condition holds for some row."""
    return table.filter(condition).limit(1).fetchone() is not None


def _check_gzip(path: Path) -> None:
    """Decompress to the end, since the engine takes a file that was cut short for a shorter table."""
    most = max(UNPACKED_FREELY, MOST_RATIO * path.stat().st_size)
    try:
        with gzip.open(path, "rb") as file:
            while file.read(CHUNK_BYTES):
                if file.tell() > most:
                    raise DataError(
                        f"{plain(path)} unpacks to more than {MOST_RATIO} times its size, which tables do not; "
                        "unpack it first"
                    )
    except EOFError:
        raise DataError(f"{plain(path)} is cut short: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{plain(path)} is damaged: it does not decompress") from None


# --- Files by their suffix, and Arrow files

SUFFIXES = {
    "csv": (".csv", ".csv.gz"),
    "tsv": (".tsv", ".tsv.gz"),
    "parquet": engine.SUFFIXES,
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def file_source(data: str | os.PathLike[str], words: MissingWords = USUAL) -> Source:
    """The source for a file, chosen by its suffix, or for a folder of Parquet files."""
    path, table = Path(data), data if isinstance(data, Table) else Table(data)
    name, every = path.name.lower(), SUFFIXES | FOREIGN
    kind = next((kind for kind, ends in every.items() if name.endswith(ends)), None)
    if path.is_dir():
        return folder_source(path)
    if not path.exists():
        raise DataError(f"no such file: {plain(path)}")
    if kind is None:
        known = ", ".join(end for ends in every.values() for end in ends)
        raise DataError(f"{plain(path)} has an unknown suffix; use one of {known}")
    if isinstance(data, Table):
        data.check(kind)
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as problem:
        raise unreadable(path, problem) from None
    if path.stat().st_size == 0:
        raise DataError(f"{plain(path)} is empty")
    match kind:
        case "parquet":
            return ParquetSource(path, [path])
        case "arrow":
            return ArrowSource(path)
    if kind in FOREIGN:
        return foreign_source(path, kind, table, words, lambda copy: file_source(replace(table, path=copy), words))
    separator = "\t" if kind == "tsv" else None
    encoding = encoding_of(path, table.encoding)
    if encoding is None:
        return CsvSource(path, separator=separator, words=words)
    return decoded_source(path, encoding, lambda copy: CsvSource(copy, separator=separator, words=words))


class ArrowSource(Source):
    """An Arrow IPC file (Feather version 2) or stream, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)
        with one_line(path):
            with pa.memory_map(str(path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(file.size() - min(len(END_OF_STREAM), file.size()))
                ends = file.read() == END_OF_STREAM
            self._open = pa.ipc.open_file if is_file else pa.ipc.open_stream
            with self._reader() as reader:
                self._schema = reader.schema
        if not is_file and not ends:
            raise DataError(f"{plain(path)} is cut short: the Arrow stream has no end mark")
        with one_line(path):  # names that are not UTF-8 show when they are asked for
            self.columns = distinct(self._schema.names, path)

    @contextlib.contextmanager
    def _reader(self) -> Iterator[Any]:
        with one_line(self._path), pa.memory_map(str(self._path)) as file, self._open(file) as reader:
            yield reader

    def _batches(self) -> Iterator[Any]:
        with self._reader() as reader:
            if hasattr(reader, "num_record_batches"):
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from reader

    def rows(self) -> int:
        return sum(batch.num_rows for batch in self._batches())

    def digest(self) -> bytes:
        return file_digest(self._path)

    def is_empty(self) -> bool:
        return not any(batch.num_rows for batch in self._batches())

    def type(self, column: str) -> Any:
        return self._schema.field(column).type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Slices of the columns, without a copy, once every offset in them is known to lie within the file."""
        for batch in self._batches():
            with one_line(self._path):
                arrays = [batch.column(column) for column in columns]
                for array in arrays:
                    array.validate(full=True)  # else a damaged file ends the process, or shows memory beyond it
                arrays = [without_views(array) for array in arrays]
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield tuple(array.slice(start, BATCH_ROWS) for array in arrays)
