"""Connections to engines, through ibis: the extra `engines`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.records.engines.address import Address

_INSTALL = "pip install 'ogive[engines]'"
ENGINES = ("duckdb", "postgres")
"""Engines by their names in ibis, on which sums were compared with those of files."""

_RAISED_BY = ("ibis", "sqlglot", "duckdb", "_duckdb", "psycopg", "pyarrow")
"""Packages whose errors are the engine's."""


@contextlib.contextmanager
def one_line(name: str) -> Iterator[None]:
    """Turn what an engine or its driver raises into a DataError, which shows no value of a record."""
    try:
        yield
    except Exception as problem:
        if type(problem).__module__.partition(".")[0] not in _RAISED_BY:
            raise
        raise DataError(f"{plain(name)} cannot be read: its engine reports {_kind(problem)}") from None


def _kind(problem: Exception) -> str:
    """What went wrong, by the name of its type; the message of an engine may quote a record."""
    return type(problem).__name__.removesuffix("Exception").removesuffix("Error") or "an error"


def is_expression(data: object) -> bool:
    """Whether something is a table of ibis, which it cannot be before that is loaded."""
    loaded = sys.modules.get("ibis.expr.types")
    return loaded is not None and isinstance(data, loaded.Table)


def engine_of(expression: Any) -> str:
    """The name in ibis of the engine that a table lies in.

    Raises:
        ParameterError: it lies in none, or in one whose sums nobody has compared.
    """
    import ibis

    try:
        found = str(expression.get_backend().name)
    except ibis.common.exceptions.IbisError:
        found = "no engine"
    if found not in ENGINES:
        raise ParameterError(f"a table of ibis must lie in DuckDB or PostgreSQL, got one of {found}")
    return found


def open_address(address: Address) -> Any:
    """The table of an address, as ibis has it.

    Raises:
        ParameterError: ibis is not installed.
        DataError: there is no such file, database or table, or it cannot be read.
    """
    try:
        import ibis
    except ModuleNotFoundError:
        raise ParameterError(f"tables of an engine need ibis; install it with: {_INSTALL}") from None
    connect = _connect_duckdb if address.engine == "duckdb" else _connect_postgresql
    connection = connect(ibis, address)
    with one_line(address.name):
        try:
            return connection.table(address.table, database=address.schema)
        except ibis.common.exceptions.TableNotFound:
            where = "" if address.schema is None else f" in schema {quoted(address.schema)}"
            raise DataError(f"{plain(_database(address))} has no table {quoted(address.table)}{where}") from None


def _database(address: Address) -> str:
    return address.name.partition("?")[0]


def _connect_duckdb(ibis: Any, address: Address) -> Any:
    path = Path(str(address.url.database))
    if not path.is_file():
        raise DataError(f"there is no file {plain(path)}")
    with one_line(address.name):
        return ibis.duckdb.connect(
            path, read_only=True, autoinstall_known_extensions=False, autoload_known_extensions=False
        )


def _connect_postgresql(ibis: Any, address: Address) -> Any:
    try:
        import psycopg
    except ModuleNotFoundError:
        raise ParameterError(f"tables of PostgreSQL need psycopg; install it with: {_INSTALL}") from None
    url = address.url
    try:
        return ibis.postgres.connect(
            user=url.username,
            password=url.password,
            host=url.host,
            port=url.port or 5432,
            database=url.database,
            **{"options": "-c default_transaction_read_only=on", **address.rest},
        )
    except psycopg.OperationalError:
        raise DataError(
            f"{plain(_database(address))} cannot be reached, or lets nobody in by that name and password"
        ) from None
