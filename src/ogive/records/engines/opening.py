"""Connections to engines, through ibis: the extra `engines`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.interfaces import is_of_loaded
from ogive.records.engines.address import FILES, Address
from ogive.records.engines.answers import one_line, quiet_pyspark
from ogive.records.engines.spark import spark_session
from ogive.records.engines.spark_address import SparkAddress

_INSTALL = "pip install 'ogive[engines]'"
ENGINES = ("duckdb", "postgres", "pyspark")
"""Engines by their names in ibis, on which sums were compared with those of files."""


def is_expression(data: object) -> bool:
    """Whether something is a table of ibis, which it cannot be before that is loaded."""
    return is_of_loaded(data, "ibis.expr.types", "Table")


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
        raise ParameterError(f"a table of ibis must lie in DuckDB, PostgreSQL or Spark, got one of {found}")
    return found


def open_address(address: Address | SparkAddress) -> Any:
    """The table of an address, as ibis has it.

    Raises:
        ParameterError: ibis or a driver is not installed, or Spark already runs with another master.
        DataError: there is no such file, database or table, or it cannot be read.
    """
    try:
        import ibis
    except ModuleNotFoundError:
        extra = "spark" if isinstance(address, SparkAddress) else "engines"
        raise ParameterError(f"tables of an engine need ibis; install it with: pip install 'ogive[{extra}]'") from None
    connection = _connect(ibis, address)
    with one_line(address.name), quiet_pyspark():
        if address.parquet is not None:
            return (_spark_files if isinstance(address, SparkAddress) else _duckdb_files)(connection, address.parquet)
        try:
            return connection.table(address.table, database=address.schema)
        except ibis.common.exceptions.TableNotFound:
            where = "" if address.schema is None else f" in schema {quoted(address.schema)}"
            raise DataError(f"{plain(address.place)} has no table {quoted(address.table)}{where}") from None


def is_locked(address: Address | SparkAddress, expression: Any) -> bool:
    """Whether nobody can write to a table while it is open.

    Nobody writes to a file of DuckDB that another process has open. A view in it may read other files, though, and a
    name that is no table of its may be that of another file.
    """
    if address.engine != "duckdb" or address.parquet is not None:
        return False
    found = expression.get_backend().con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary "
        "AND lower(schema_name) = lower(coalesce(?, current_schema())) AND lower(table_name) = lower(?)",
        [address.schema, address.table],
    )
    return bool(found.fetchone()[0])


def _connect(ibis: Any, address: Address | SparkAddress) -> Any:
    if isinstance(address, SparkAddress):
        with one_line(address.name):
            return ibis.pyspark.connect(spark_session(address))
    return (_connect_duckdb if address.engine == "duckdb" else _connect_postgresql)(ibis, address)


def _duckdb_files(connection: Any, path: str) -> Any:
    import duckdb

    try:
        return connection.read_parquet(path)
    except (duckdb.CatalogException, duckdb.InvalidInputException, duckdb.HTTPException, duckdb.IOException) as problem:
        if "No files found" in str(problem):
            raise DataError(f"there is no file {plain(path)}") from None
        if "extension" in str(problem):
            raise DataError(
                f"DuckDB needs an extension to read {plain(path)}; install it once, for example by "
                """python -c "import duckdb; duckdb.sql('INSTALL httpfs')\""""
            ) from None
        if "://" not in path:
            raise
        status = getattr(problem, "status_code", None)
        answered = f"answers HTTP {status}" if status else "cannot be reached"
        raise DataError(
            f"{plain(path)} cannot be read: the object store {answered}; DuckDB takes its place and the key from "
            "`CREATE PERSISTENT SECRET`, or from a table of ibis whose connection has the secret"
        ) from None


def _spark_files(connection: Any, path: str) -> Any:
    from pyspark.errors import AnalysisException

    try:
        return connection.read_parquet(path)
    except AnalysisException as problem:
        if problem.getCondition() != "PATH_NOT_FOUND":
            raise
        raise DataError(f"there is no file {plain(path)}") from None


def _connect_duckdb(ibis: Any, address: Address) -> Any:
    from ogive.records.engines.small_keys import KEY_BITS

    # groups of keys lie in an array, in their order
    settings = {"autoinstall_known_extensions": False, "perfect_ht_threshold": KEY_BITS}
    if address.parquet is not None:  # installed extensions read object stores, with the secrets that DuckDB keeps
        return ibis.duckdb.connect(**settings, autoload_known_extensions=True)
    path = Path(str(address.url.database))
    if not path.is_file():
        raise DataError(f"there is no file {plain(path)}")
    import duckdb

    with one_line(address.name):
        try:
            return ibis.duckdb.connect(path, read_only=True, **settings, autoload_known_extensions=False)
        except (duckdb.IOException, duckdb.CatalogException) as problem:
            if "lock" in str(problem):
                raise DataError(f"{plain(path)} cannot be read while another process has it open for writing") from None
            if path.suffix.lower() in (".parquet", ".pq"):
                raise DataError(
                    f"{plain(path)} is no database of DuckDB; the address of Parquet files must be like {FILES}"
                ) from None
            raise DataError(f"{plain(path)} is no database of DuckDB, or is damaged or cut short") from None


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
    except psycopg.ProgrammingError:
        named = ", ".join(map(quoted, address.rest)) or "these"
        raise ParameterError(
            f"{plain(address.place)} cannot be opened: PostgreSQL has no option {named}; one that it has is sslmode"
        ) from None
    except psycopg.OperationalError as problem:
        raise DataError(f"{plain(address.place)} {_closed(str(problem))}") from None


_NOBODY = "lets nobody in by that name and password"
_UNREACHED = "cannot be reached; check that its server runs"
_CLOSED = (
    ("no pg_hba.conf entry", "lets nobody in by that name from this machine"),
    ("password authentication failed", _NOBODY),
    ("no password supplied", _NOBODY),
    ("SSL was required", "does not take the encryption that the address asks for"),
    ("certificate verify failed", "has no certificate that the address takes"),
    ("too many clients", "has too many connections; try again later"),
    ("FATAL:  database", "is no database of that server"),
    ("Connection refused", _UNREACHED),
    ("timeout expired", _UNREACHED),
    ("could not translate host name", _UNREACHED),
    ("failed to resolve host", _UNREACHED),
    ("No route to host", _UNREACHED),
)
"""Words of the driver in English, and what is said instead."""


def _closed(said: str) -> str:
    """Why there is no connection, without what the driver says, which may hold secrets."""
    unknown = "cannot be reached, or lets nobody in by that name and password"
    return next((words for word, words in _CLOSED if word in said), unknown)
