"""The embedded engine that reads files, its complaints turned into one line, and Parquet, which it reads alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ogive.errors import DataError, plain, quoted
from ogive.records.sources import BATCH_ROWS, Source, file_digest, unreadable

# what the engine reads ahead of a stream, on all cores, while the batches before it are counted
_STREAM_BUFFER = "32MB"
# a few rows are read by small buffers; a line of the engine's greatest length of 2 MB still fits
_FIRST_ROWS_BUFFER = 1 << 22

# duckdb.Error comes through Arrow streams as OSError
ENGINE_ERRORS = (duckdb.Error, pa.ArrowException, OSError, ValueError)

CELLS_HINT = (
    "numbers have a decimal point and no comma, dates are like 2024-12-31, missing values are empty or a word such as "
    "NA"
)
"""How the cells of a file of text must be written to be read as numbers."""

_databases: dict[int, Any] = {}
"""The empty embedded database of each process, by its id; a process that forked keeps its parent's and uses its own."""


def _connect() -> Any:
    """A connection of its own to the embedded engine.

    The engine fetches nothing from outside, takes no names for variables of Python, and keeps nothing of a file, so
    that a file that was written again is read again. To start it takes 10 ms and more, to connect to it 0.2 ms.
    """
    process = os.getpid()
    if process not in _databases:
        started = duckdb.connect(
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "python_enable_replacements": False,
                "enable_external_file_cache": False,
            }
        )
        _databases.setdefault(process, started)
    connection = _databases[process].cursor()
    connection.execute(f"SET TimeZone = 'UTC'; SET streaming_buffer_size = '{_STREAM_BUFFER}'")
    return connection


def read_csv(path: Path, *, types: Mapping[str, str], separator: str, first_rows: bool = False) -> Any:
    """A file of text on a connection of its own; all options are given, so that the engine guesses nothing."""
    options = f", buffer_size = {_FIRST_ROWS_BUFFER}" if first_rows else ""
    columns = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in types.items())
    # without a format of dates a time would be cut to its day in silence
    return _connect().sql(
        f"SELECT * FROM read_csv({text(_literal(path))}, columns = {{{columns}}}, delim = {text(separator)}, "
        "auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, dateformat = '%Y-%m-%d'"
        f"{options})"
    )


def read_parquet(parts: Sequence[Path]) -> Any:
    """Parquet files with the same columns, as one table on a connection of its own."""
    return _connect().read_parquet([_literal(part) for part in parts])


def of_arrow(cells: Any) -> Any:
    """Text in memory as a table of the engine, whose only column is called cell."""
    return _connect().from_arrow(pa.table({"cell": cells}))


def read_text(cells: Any, expression: str) -> Any:
    """What an expression of the engine's language makes of each cell, as one Arrow array."""
    parts = [batch.column(0) for batch in of_arrow(cells).project(expression).to_arrow_reader(BATCH_ROWS)]
    return pa.concat_arrays(parts)


def stream(table: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of an engine's table, as aligned Arrow arrays of bounded size."""
    if not set(columns) <= set(table.columns):
        raise ValueError(columns)
    for batch in table.project(", ".join(map(name, columns))).to_arrow_reader(BATCH_ROWS):
        yield tuple(batch.columns)


def name(column: str) -> str:
    """The name of a column in the engine's language."""
    doubled = column.replace('"', '""')
    return f'"{doubled}"'


def text(value: str) -> str:
    """A text in the engine's language."""
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _literal(path: Path) -> str:
    """The path as a pattern that matches only itself."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


@contextlib.contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Turn what an engine raises while it reads a file into a DataError that shows no record."""
    try:
        yield
    except DataError:
        raise
    except ENGINE_ERRORS as problem:
        text = str(problem)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        where = f" on line {line[1]}" if line else ""
        if "Expected Number of Columns" in text:
            message = f"{plain(path)} is not a well-formed table: another number of fields than in the header{where}"
        elif "nvalid unicode" in text or "not utf-8" in text:
            message = f"{plain(path)} is not UTF-8 text, so it cannot be read as a table; save it as UTF-8"
        elif "quote" in text and "CSV Error" in text:
            message = f"{plain(path)} is not a well-formed table: a quote is missing or too many{where}"
        else:
            message = (
                f"{plain(path)} cannot be read{where}: it is damaged, cut short or not of the kind its suffix says"
            )
        raise DataError(message) from None


# --- Parquet: a file, or a folder whose files are the parts of one table

SUFFIXES = (".parquet", ".pq")
_HIDDEN = ("_", ".")
"""What the names of files begin with that writers of tables put beside the parts."""


def folder_source(folder: Path) -> ParquetSource:
    """The table whose parts are the files of a folder, in the order of their names."""
    try:
        inside = sorted(each for each in folder.iterdir() if not each.name.startswith(_HIDDEN))
    except OSError as problem:
        raise unreadable(folder, problem) from None
    for each in inside:
        if each.is_dir() or not each.name.lower().endswith(SUFFIXES):
            what = "folder" if each.is_dir() else "file"
            raise DataError(
                f"{plain(folder)} is a folder with the {what} {plain(each.name)}; name a file, or a folder that has "
                "Parquet files alone, which are then parts of one table"
            )
    if not inside:
        raise DataError(f"{plain(folder)} is a folder without Parquet files; name a file")
    return ParquetSource(folder, inside)


class ParquetSource(Source):
    """One or more Parquet files, read in batches."""

    def __init__(self, path: Path, parts: Sequence[Path]) -> None:
        # loaded only for a file of this kind
        import pyarrow.parquet as pq

        self._path, self._parts = path, tuple(parts)
        self.name = str(path)
        self._rows = 0
        for number, part in enumerate(parts):
            with one_line(part):
                about = pq.read_metadata(part)
                schema = about.schema.to_arrow_schema().remove_metadata()
                if number == 0:
                    self._schema = schema
                    self.columns = distinct(schema.names, part)
            if (schema.names, schema.types) != (self._schema.names, self._schema.types):
                first = plain(parts[0].name)
                raise DataError(f"{plain(part)} has other columns than {first}: {self._difference(schema)}")
            self._rows += about.num_rows

    def _difference(self, schema: Any) -> str:
        """The first column in which a part differs from the first one."""
        for name in self._schema.names:
            if name not in schema.names:
                return f"it lacks {quoted(name)}"
            if schema.field(name).type != self._schema.field(name).type:
                return f"{quoted(name)} holds {schema.field(name).type}, and {self._schema.field(name).type} there"
        more = [name for name in schema.names if name not in self._schema.names]
        return f"it has {quoted(more[0])} as well" if more else "their order is another"

    def rows(self) -> int:
        """Number of rows, from the index of each file."""
        return int(self._rows)

    def digest(self) -> bytes:
        """SHA-256 of the file's bytes; of several parts, of their digests in order, whatever the parts are called."""
        if self._parts == (self._path,):
            return file_digest(self._path)
        result = hashlib.sha256(b"ogive folder 1\n")
        for part in self._parts:
            result.update(file_digest(part))
        return result.digest()

    def type(self, column: str) -> Any:
        return self._schema.field(column).type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Read the columns batch by batch, part after part."""
        with one_line(self._path):
            yield from stream(read_parquet(self._parts), columns)


def distinct(names: list[str], path: Path) -> tuple[str, ...]:
    """Names of columns, none of which comes twice."""
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{plain(path)} has two columns named {quoted(name)}; rename one")
    return tuple(names)
