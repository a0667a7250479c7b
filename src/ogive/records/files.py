"""Tables in files: CSV through an embedded DuckDB, Parquet likewise, Arrow files directly.

Files are streamed, one column at a time, and never loaded. Whatever an engine says about a
file is turned into one line that names the file and the defect, never a value of a record.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from ogive.errors import DataError
from ogive.records.sources import Source

BATCH_ROWS = 1 << 18
HEADER_BYTES = 1 << 20
SEPARATORS = ",;\t|"
SUFFIXES = {
    "csv": (".csv", ".csv.gz"),
    "tsv": (".tsv", ".tsv.gz"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def file_source(path: Path) -> Source:
    """The source for a file, chosen by its suffix.

    Raises:
        DataError: the file is missing, unreadable, of an unknown kind, or cut short.
    """
    name = path.name.lower()
    kind = next((kind for kind, ends in SUFFIXES.items() if name.endswith(ends)), None)
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file")
    if not path.exists():
        raise DataError(f"no such file: {path}")
    if kind is None:
        known = ", ".join(end for ends in SUFFIXES.values() for end in ends)
        raise DataError(f"{path} has an unknown suffix; use one of {known}")
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    match kind:
        case "parquet":
            return ParquetSource(path)
        case "arrow":
            return ArrowSource(path)
    return CsvSource(path, separator="\t" if kind == "tsv" else None)


def _connect() -> Any:
    return ibis.duckdb.connect(autoinstall_known_extensions=False, autoload_known_extensions=False)


def _literal(path: Path) -> str:
    """The path as a pattern that matches only itself."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


@contextlib.contextmanager
def _one_line(path: Path, column: str | None = None) -> Iterator[None]:
    """Turn what an engine raises into a DataError that shows no record."""
    try:
        yield
    except DataError:
        raise
    except Exception as problem:  # engines raise their own, Arrow's and the system's errors alike
        text = str(problem)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        where = f" on line {line[1]}" if line else ""
        if "Expected Number of Columns" in text:
            message = f"{path} is not a well-formed table: another number of fields than in the header{where}"
        elif "Error when converting column" in text:
            message = f"column {column!r} of {path} holds a value that is not of its kind (number or ISO date){where}"
        elif "nicode" in text or "utf-8" in text.lower():
            message = f"{path} is not UTF-8 text"
        else:
            message = f"{path} cannot be read: it is damaged, cut short or not of the kind its suffix says{where}"
        raise DataError(message) from None


class CsvSource:
    """A CSV file with a header, comma, semicolon, tab or bar between fields, plain or gzipped."""

    def __init__(self, path: Path, *, separator: str | None) -> None:
        self._path = path
        self.name = str(path)
        with _one_line(path):
            if path.name.lower().endswith(".gz"):
                _check_gzip(path)
            header, self._separator = _read_header(path, separator)
        duplicates = sorted({name for name in header if header.count(name) > 1})
        if duplicates:
            raise DataError(f"{path} has two columns named {duplicates[0]!r}; rename one")
        self.columns = tuple(header)
        if self._sniffed_headless and any(_is_number(name) for name in header):
            raise DataError(f"the first line of {path} must name the columns, but it holds numbers")

    @cached_property
    def _names(self) -> list[str]:
        # names of our own: an engine would rename those that differ in case only
        return [f"field{i}" for i in range(len(self.columns))]

    @property
    def _dialect(self) -> dict[str, Any]:
        return {"delim": self._separator, "quote": '"', "escape": '"', "skip": 0, "strict_mode": True}

    @cached_property
    def _sniffed_headless(self) -> bool:
        connection = _connect()
        with _one_line(self._path):
            found = connection.raw_sql(
                "SELECT HasHeader FROM sniff_csv(?, delim = ?, quote = '\"', escape = '\"', skip = 0)",
                parameters=[_literal(self._path), self._separator],
            )
            return not found.fetchone()[0]

    @cached_property
    def _types(self) -> tuple[Any, ...]:
        with _one_line(self._path):
            table = _connect().read_csv(
                _literal(self._path), header=True, names=self._names, dateformat="%Y-%m-%d", **self._dialect
            )
            return tuple(field.type for field in table.schema().to_pyarrow())

    def _table(self, column: str | None) -> Any:
        """The file with one column typed and all others left as text, so that their contents do not matter."""
        types = dict.fromkeys(self._names, "VARCHAR")
        if column is not None:
            position = self.columns.index(column)
            types[self._names[position]] = _engine_type(self._types[position])
        table = _connect().read_csv(
            _literal(self._path), header=True, auto_detect=False, columns=types, **self._dialect
        )
        return table if column is None else table.select(self._names[self.columns.index(column)])

    def rows(self) -> int:
        """Number of rows, by one pass over the file."""
        with _one_line(self._path):
            return int(self._table(None).count().execute())

    def is_empty(self) -> bool:
        """Whether nothing follows the header."""
        with _one_line(self._path):
            return int(self._table(None).limit(1).to_pyarrow().num_rows) == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column, judged by the first rows; every kind of number is read as float64."""
        return self._types[self.columns.index(column)]

    def arrays(self, column: str) -> Iterator[Any]:
        """The column, streamed."""
        with _one_line(self._path, column):
            for batch in self._table(column).to_pyarrow_batches(chunk_size=BATCH_ROWS):
                yield batch.column(0)


def _engine_type(arrow_type: Any) -> str:
    if pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type) or pa.types.is_decimal(arrow_type):
        return "DOUBLE"
    if pa.types.is_boolean(arrow_type):
        return "BOOLEAN"
    if pa.types.is_date(arrow_type):
        return "DATE"
    if pa.types.is_timestamp(arrow_type):
        return "TIMESTAMP" if arrow_type.tz is None else "TIMESTAMPTZ"
    return "VARCHAR"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _check_gzip(path: Path) -> None:
    """Decompress to the end, since the engine takes a file that was cut short for a shorter table."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(HEADER_BYTES):
                pass
    except EOFError:
        raise DataError(f"{path} is cut short: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{path} is damaged: it does not decompress") from None


def _read_header(path: Path, separator: str | None) -> tuple[list[str], str]:
    """Column names and separator, from the first line alone."""
    with _open(path) as file:
        start = file.read(HEADER_BYTES)
    if b"\0" in start:
        raise DataError(f"{path} is not UTF-8 text")
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start < len(start) - 4 or len(start) < HEADER_BYTES:
            raise DataError(f"{path} is not UTF-8 text") from None
        text = start[: problem.start].decode("utf-8-sig")
    outside_quotes = re.sub(r'"[^"]*"', "", text).lstrip("\r\n").splitlines() or [""]
    if separator is None:
        separator = max(SEPARATORS, key=outside_quotes[0].count)
    try:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), [])
    except csv.Error:
        raise DataError(f"the first line of {path} does not name columns") from None
    if not header:
        raise DataError(f"the first line of {path} must name the columns, but it is empty")
    return header, separator


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)
        with _one_line(path):
            self._schema = pq.read_schema(path)
            self._rows = pq.read_metadata(path).num_rows
        self.columns = _distinct(self._schema.names, path)

    def rows(self) -> int:
        """Number of rows, from the file's own index."""
        return int(self._rows)

    def is_empty(self) -> bool:
        """Whether the file's index counts no row."""
        return self.rows() == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column, from the file's schema."""
        return self._schema.field(column).type

    def arrays(self, column: str) -> Iterator[Any]:
        """The column, streamed."""
        with _one_line(self._path, column):
            table = _connect().read_parquet(_literal(self._path)).select(column)
            for batch in table.to_pyarrow_batches(chunk_size=BATCH_ROWS):
                yield batch.column(0)


class ArrowSource:
    """An Arrow IPC file (Feather version 2) or stream, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)
        with _one_line(path):
            with pa.memory_map(str(path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(file.size() - min(len(END_OF_STREAM), file.size()))
                ends = file.read() == END_OF_STREAM
            self._open = pa.ipc.open_file if is_file else pa.ipc.open_stream
            with self._reader() as reader:
                self._schema = reader.schema
        if not is_file and not ends:
            raise DataError(f"{path} is cut short: the Arrow stream has no end mark")
        self.columns = _distinct(self._schema.names, path)

    @contextlib.contextmanager
    def _reader(self) -> Iterator[Any]:
        with _one_line(self._path), pa.memory_map(str(self._path)) as file, self._open(file) as reader:
            yield reader

    def _batches(self) -> Iterator[Any]:
        with self._reader() as reader:
            if hasattr(reader, "num_record_batches"):
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from reader

    def rows(self) -> int:
        """Number of rows, by one pass over the batches."""
        return sum(batch.num_rows for batch in self._batches())

    def is_empty(self) -> bool:
        """Whether no batch holds a row."""
        return not any(batch.num_rows for batch in self._batches())

    def type(self, column: str) -> Any:
        """Arrow type of a column, from the file's schema."""
        return self._schema.field(column).type

    def arrays(self, column: str) -> Iterator[Any]:
        """The column, batch by batch."""
        for batch in self._batches():
            yield batch.column(column)


def _distinct(names: list[str], path: Path) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path} has two columns named {name!r}; rename one")
    return tuple(names)
