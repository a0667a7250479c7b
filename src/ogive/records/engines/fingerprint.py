"""What an engine can tell of a whole table without sending it: how many rows there are, and a sum of their hashes.

The hashes are the engine's own, of 64 bits. They tell tables apart that differ by accident, and are no commitment.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from ogive.records.engines.functions import function


def fingerprint(table: Any, engine: str) -> tuple[int, str]:
    """How many rows a table has, and the sum of the engine's hashes of its rows, which has no order."""
    # 38 digits hold the sum of as many hashes as there can be rows
    total = _HASHES[engine](table).cast("decimal(38, 0)").sum().cast("string")
    found = table.aggregate(rows=table.count(), total=total).to_pyarrow().to_pylist()[0]
    return int(found["rows"]), str(found["total"])


def _of_values(table: Any) -> Any:
    """DuckDB hashes values of every kind; those of a row are chained in the order of its columns."""
    hashes = [function("hash", kind, returns="uint64")(table[column]) for column, kind in table.schema().items()]
    return functools.reduce(function("hash", "uint64", "uint64", returns="uint64"), hashes)


def _of_text(table: Any) -> Any:
    """PostgreSQL hashes a row as text: each value as the server writes it, behind its length.

    Of values of other kinds than these, such as lists, only whether they are there is hashed.
    """
    parts = [_written(table[column], kind) for column, kind in table.schema().items()]
    return function("hashtextextended", "string", "int64", returns="int64")(functools.reduce(operator.add, parts), 0)


_WRITTEN = ("is_numeric", "is_boolean", "is_string", "is_date", "is_timestamp", "is_time", "is_uuid", "is_interval")
_HASHES = {"duckdb": _of_values, "postgres": _of_text}


def _written(column: Any, kind: Any) -> Any:
    if not any(getattr(kind, each)() for each in _WRITTEN):
        return column.isnull().ifelse("n", "v")
    text = column.cast("string")
    return (text.length().cast("string") + ":" + text).fill_null("n")
