"""The embedded engine that reads files, and its complaints turned into one line."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ogive.errors import DataError, plain
from ogive.records.sources import BATCH_ROWS

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
    """A file of text on a connection of its own, which is told everything and guesses nothing.

    Args:
        path: A file with a header.
        types: A name of our own for each column, and its type for the engine.
        separator: What is between fields.
        first_rows: Whether no more than the first rows will be asked for, so that little is read ahead.
    """
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
    """What an expression of the engine's language makes of each cell, as one Arrow array.

    Raises:
        ENGINE_ERRORS: it makes nothing of a cell.
    """
    parts = [batch.column(0) for batch in of_arrow(cells).project(expression).to_arrow_reader(BATCH_ROWS)]
    return pa.concat_arrays(parts)


def stream(table: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of an engine's table, as aligned Arrow arrays of bounded size.

    Raises:
        ValueError: there is none of a name, for the engine takes names that differ in capitals for one.
    """
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
        said = str(problem)
        line = re.search(r"CSV Error on Line: (\d+)", said)
        where = f" on line {line[1]}" if line else ""
        if "Expected Number of Columns" in said:
            message = f"{plain(path)} is not a well-formed table: another number of fields than in the header{where}"
        elif "nvalid unicode" in said or "not utf-8" in said:
            message = f"{plain(path)} is not UTF-8 text, so it cannot be read as a table; save it as UTF-8"
        elif "quote" in said and "CSV Error" in said:
            message = f"{plain(path)} is not a well-formed table: a quote is missing or too many{where}"
        else:
            message = (
                f"{plain(path)} cannot be read{where}: it is damaged, cut short or not of the kind its suffix says"
            )
        raise DataError(message) from None
