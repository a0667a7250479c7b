"""Tables in engines that hold what an Arrow table holds."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import postgres

from ogive.records.engines.connections import SparkAddress, spark_session

ENGINES = ("duckdb", "postgresql", "spark")
SPARK = "spark:local[2]"
"""Every test's Spark, since a process has one."""

_STARTED = (
    "spark.driver.memory=1g&spark.sql.shuffle.partitions=1"
    "&spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1%20-XX:%2BUseSerialGC"
)
"""Small, and compiled fast rather than well."""

_TYPES = {
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.int64(): "bigint",
    pa.int8(): "smallint",
    pa.bool_(): "boolean",
    pa.string(): "text",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamp with time zone",
}


def address(engine: str, table: pa.Table, folder: Path, name: str = "visits") -> str:
    """The address of a new table of an engine; a skip where the engine or ibis is not installed."""
    pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[engines]')")
    match engine:
        case "duckdb":
            return _duckdb(table, folder, name)
        case "spark":
            return _spark(table, folder, name)
        case _:
            return _postgresql(table, name)


def need_spark() -> None:
    """Skip where pyspark or Java is not installed."""
    pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[spark]')")
    pytest.importorskip("pyspark", reason="pyspark is not installed (pip install 'ogive[spark]')")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed, which Spark needs")


def start_spark() -> None:
    """Start the Spark of all tests; a skip where it cannot start."""
    need_spark()
    spark_session(SparkAddress.of(f"{SPARK}?table=none" + ("" if _runs() else f"&{_STARTED}")))


def _spark(table: pa.Table, folder: Path, name: str) -> str:
    need_spark()
    pq.write_table(table, folder / f"{name}.parquet")
    return f"{SPARK}?parquet={folder}/{name}.parquet" + ("" if _runs() else f"&{_STARTED}")


def _runs() -> bool:
    """Whether another test has started Spark in this process."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def _duckdb(table: pa.Table, folder: Path, name: str) -> str:
    path = folder / "records.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", table)
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return f"duckdb:///{path}?table={name}"


def _postgresql(table: pa.Table, name: str) -> str:
    url = postgres.server().database()
    fill_postgresql(url, table, name)
    return f"{url}?table={name}"


def fill_postgresql(url: str, table: pa.Table, name: str) -> None:
    """Make a table in a database of PostgreSQL."""
    import psycopg

    kinds = ", ".join(f"{_quoted(field.name)} {_type(field.type)}" for field in table.schema)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TimeZone = 'UTC'")
        cursor.execute(f"CREATE TABLE {_quoted(name)} ({kinds})")
        with cursor.copy(f"COPY {_quoted(name)} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row([json.dumps(value) if isinstance(value, list) else value for value in row])


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _type(kind: Any) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return _TYPES.get(kind, "json")
