"""What an engine can tell of a whole table without sending it: how many rows there are, and a sum of their hashes.

The hashes are the engine's own, of 64 bits. They tell tables apart that differ by accident, and are no commitment.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import ibis

from ogive.records.engines.answers import answer
from ogive.records.engines.functions import function


def fingerprint(table: Any, engine: str) -> tuple[int, str]:
    """How many rows a table has, and the sum of the engine's hashes of its rows, which has no order."""
    # 38 digits hold the sum of as many hashes as there can be rows
    total = _HASHES[engine](table).cast("decimal(38, 0)").sum().cast("string")
    found = answer(table.aggregate(rows=table.count(), total=total)).to_pylist()[0]
    return int(found["rows"]), str(found["total"])


def _of_values(table: Any) -> Any:
    """DuckDB hashes values of every kind; those of a row are chained in the order of its columns."""
    hashes = [function("hash", kind, returns="uint64")(table[column]) for column, kind in table.schema().items()]
    return functools.reduce(function("hash", "uint64", "uint64", returns="uint64"), hashes)


def _of_text(table: Any) -> Any:
    """PostgreSQL hashes a row as text: each value as the server writes it, behind its length."""
    parts = [_written(table[column], kind) for column, kind in table.schema().items()]
    return function("hashtextextended", "string", "int64", returns="int64")(functools.reduce(operator.add, parts), 0)


def _of_struct(table: Any) -> Any:
    """Spark hashes values of every kind but maps, skips nulls, and goes on from the hash of the columns before.

    So each value comes behind whether it is there; of maps only that is hashed. Zeros of both signs are one value.
    """
    parts = {}
    for place, (column, kind) in enumerate(table.schema().items()):
        parts[f"missing_{place}"] = table[column].isnull()
        if not kind.is_map():
            parts[f"value_{place}"] = table[column]
    row = ibis.struct(parts)
    return function("xxhash64", row.type(), returns="int64")(row)


_WRITTEN = ("is_numeric", "is_boolean", "is_string", "is_date", "is_timestamp", "is_time", "is_uuid", "is_interval")
_HASHES = {"duckdb": _of_values, "postgres": _of_text, "pyspark": _of_struct}


def _written(column: Any, kind: Any) -> Any:
    if not any(getattr(kind, each)() for each in _WRITTEN):
        text = column.isnull().ifelse(
            ibis.null("string"), function("format", "string", kind, returns="string")("%s", column)
        )
    else:
        text = column.cast("string") + ""  # of an enumeration, which is no text but the end of one
    return (text.length().cast("string") + ":" + text).fill_null("n")
