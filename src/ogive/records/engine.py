"""The embedded engine that reads files, and its complaints turned into one line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
from ibis.common.exceptions import IbisError

from ogive.errors import DataError

BATCH_ROWS = 1 << 18

# duckdb.Error comes through Arrow streams as OSError
ENGINE_ERRORS = (duckdb.Error, IbisError, pa.ArrowException, OSError, ValueError)


def connect() -> Any:
    """A fresh embedded engine that fetches nothing from outside."""
    return ibis.duckdb.connect(autoinstall_known_extensions=False, autoload_known_extensions=False)


def stream(table: Any) -> Iterator[Any]:
    """The only column of an engine's table, as Arrow arrays of bounded size."""
    engine = table.get_backend()
    for batch in engine.raw_sql(engine.compile(table)).to_arrow_reader(BATCH_ROWS):
        yield batch.column(0)


def literal(path: Path) -> str:
    """The path as a pattern that matches only itself."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


@contextlib.contextmanager
def one_line(path: Path, column: str | None = None) -> Iterator[None]:
    """Turn what an engine raises into a DataError that shows no record."""
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
            message = f"column {column!r} of {path} holds a value that is not of its kind (number or ISO date){where}"
        elif "nvalid unicode" in text or "not utf-8" in text:
            message = f"{path} is not UTF-8 text"
        else:
            message = f"{path} cannot be read: it is damaged, cut short or not of the kind its suffix says{where}"
        raise DataError(message) from None
