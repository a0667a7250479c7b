"""The embedded engine that reads files, and its complaints turned into one line."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
from ibis.common.exceptions import IbisError

from ogive.errors import DataError
from ogive.records.sources import BATCH_ROWS

# duckdb.Error comes through Arrow streams as OSError
ENGINE_ERRORS = (duckdb.Error, IbisError, pa.ArrowException, OSError, ValueError)

CELLS_HINT = (
    "numbers have a decimal point and no comma, dates are like 2024-12-31, missing values are empty or nan, not NA"
)
"""How the cells of a file of text must be written to be read as numbers."""


def _connect() -> Any:
    """A fresh embedded engine that fetches nothing from outside."""
    return ibis.duckdb.connect(autoinstall_known_extensions=False, autoload_known_extensions=False)


def read_csv(path: Path, **options: Any) -> Any:
    """A table of text in a fresh engine, with ibis's options."""
    with _without_deprecations():
        return _connect().read_csv(_literal(path), **options)


def read_parquet(path: Path) -> Any:
    """A Parquet table in a fresh engine."""
    with _without_deprecations():
        return _connect().read_parquet(_literal(path))


@contextlib.contextmanager
def _without_deprecations() -> Iterator[None]:
    """Keep to ourselves that ibis asks DuckDB for the types of columns by a name that DuckDB has replaced."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"fetch_arrow_table\(\) is deprecated", DeprecationWarning)
        yield


def stream(table: Any) -> Iterator[tuple[Any, ...]]:
    """The columns of an engine's table, as aligned Arrow arrays of bounded size."""
    engine = table.get_backend()
    for batch in engine.raw_sql(engine.compile(table)).to_arrow_reader(BATCH_ROWS):
        yield tuple(batch.columns)


def _literal(path: Path) -> str:
    """The path as a pattern that matches only itself."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


@contextlib.contextmanager
def one_line(path: Path, columns: Sequence[str] = ()) -> Iterator[None]:
    """Turn what an engine raises while it reads some columns into a DataError that shows no record."""
    try:
        yield
    except DataError:
        raise
    except ENGINE_ERRORS as problem:
        text = str(problem)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        where = f" on line {line[1]}" if line else ""
        if "Expected Number of Columns" in text:
            message = f"{path} is not a well-formed table: another number of fields than in the header{where}"
        elif "Error when converting column" in text:
            named = (
                f"column {columns[0]!r}" if len(columns) == 1 else f"one of the columns {', '.join(map(repr, columns))}"
            )
            message = f"{named} of {path} holds a value that is not of its kind (number or ISO date){where}"
            message += f"; {CELLS_HINT}"
        elif "nvalid unicode" in text or "not utf-8" in text:
            message = f"{path} is not UTF-8 text, so it cannot be read as a table; save it as UTF-8"
        elif "quote" in text and "CSV Error" in text:
            message = f"{path} is not a well-formed table: a quote is missing or too many{where}"
        else:
            message = f"{path} cannot be read{where}: it is damaged, cut short or not of the kind its suffix says"
        raise DataError(message) from None
