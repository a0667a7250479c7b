"""Engines, through ibis (the extra `engines`): how tables are named, how they are reached, how answers differ."""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ogive.core.checks import is_of_loaded
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from sqlalchemy import URL

# --- Addresses of Spark: `spark://host:7077/?table=visits`, `spark:local[2]?parquet=/data/visits/*.parquet`

CLUSTER = "spark://host:7077/?table=visits"
LOCAL = "spark:local[2]?parquet=/data/visits.parquet"
PREFIX = "spark:"
"""What addresses of Spark begin with, and no path and no other address does."""

_SPARK_ADDRESS = re.compile(r"spark:(?:(?P<cluster>//[^/?#]+)/?|(?P<local>[^/?#]+))(?:\?(?P<query>[^#]*))?")
_CLUSTER_PLACES = re.compile(r"//[A-Za-z0-9._-]+:[0-9]+(,[A-Za-z0-9._-]+:[0-9]+)*")
_LOCAL = re.compile(r"local(\[([1-9][0-9]*|\*)\])?")
_WILD = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class SparkAddress:
    """Where a table of Spark lies.

    Fields:
        master: As Spark calls it, such as "spark://host:7077", "local[2]" or "local[*]".
        table: Name of a table or view in Spark's catalog; None for files.
        parquet: Path of Parquet files, which may have wildcards; None for a table of the catalog.
        schema: The database that a table lies in, or the catalog and the database; None for the current one.
        settings: Spark's own, such as "spark.executor.memory"; they are shown nowhere, since they may hold secrets.
    """

    master: str
    table: str | None
    parquet: str | None
    schema: str | None = None
    settings: dict[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(text: str) -> SparkAddress:
        result = _SPARK_ADDRESS.fullmatch(text)
        place = "" if result is None else result["cluster"] or result["local"]
        if result is None or not (_CLUSTER_PLACES if result["cluster"] else _LOCAL).fullmatch(place):
            raise ParameterError(
                f"the address of a table of Spark must be like {CLUSTER} or {LOCAL}; for another master, start "
                "Spark and give a table of ibis"
            )
        parts = parse_qsl(result["query"] or "", keep_blank_values=True)
        named = dict(parts)
        for name, value in parts:
            if name not in ("table", "parquet", "schema") and not name.startswith("spark."):
                raise ParameterError(
                    f"the address of a table of Spark takes table, parquet, schema and settings such as "
                    f"spark.executor.memory, got {quoted(name)}"
                )
            if not value or len(parts) > len(named):
                raise ParameterError(f"the address of a table of Spark must say once what {quoted(name)} is")
        table, parquet, schema = (named.pop(each, None) for each in ("table", "parquet", "schema"))
        if (table is None) == (parquet is None):
            raise ParameterError(
                f"the address must name either a table of Spark or Parquet files, for example {CLUSTER} or {LOCAL}"
            )
        if parquet is not None and schema is not None:
            raise ParameterError("the address names Parquet files, which lie in no schema; leave schema out")
        if parquet is not None and "://" not in parquet:
            parquet = str(Path(parquet).absolute())
        return SparkAddress(f"spark:{place}" if result["cluster"] else place, table, parquet, schema, named)

    @property
    def engine(self) -> str:
        return "spark"

    @property
    def is_cluster(self) -> bool:
        """Whether Spark runs elsewhere, and not in this machine alone."""
        return "://" in self.master

    @property
    def place(self) -> str:
        """Where Spark runs, as messages show it."""
        return f"{self.master}/" if self.is_cluster else f"{PREFIX}{self.master}"

    @property
    def name(self) -> str:
        """What messages call the table: without Spark's settings."""
        if self.parquet is not None:
            return f"{self.place}?parquet={self.parquet}"
        return f"{self.place}?table={self.table}" + ("" if self.schema is None else f"&schema={self.schema}")

    @property
    def called(self) -> str:
        """What the data set is called: the name of the table, of the file, or of the folder before the wildcards."""
        return name_of_files(self.parquet) if self.table is None else self.table


def name_of_files(pattern: str | None) -> str:
    """The name of a file, or of the folder before the wildcards of its path."""
    path = PurePosixPath(str(pattern))
    while _WILD.search(path.name):
        path = path.parent
    return path.name.removesuffix(".parquet")


# --- Addresses of databases: `postgresql://host/db?table=visits`, `duckdb://?parquet=s3://bucket/*.parquet`

EXAMPLES = {
    "postgresql": "postgresql://user@host/database?table=visits",
    "duckdb": "duckdb:///file.duckdb?table=visits",
}
"""An address of each database."""
FILES = "duckdb://?parquet=s3://bucket/visits/*.parquet"
"""An address of files that DuckDB reads."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SAME = {"postgres": "postgresql"}
_OWN = ("table", "schema", "parquet")


def is_address(data: object) -> bool:
    """Whether something names a table of an engine, or of any other place with a URL."""
    return isinstance(data, str) and (data.startswith(PREFIX) or _ADDRESS.match(data) is not None)


def address_of(text: str) -> Address | SparkAddress:
    """Read an address of any engine."""
    return SparkAddress.of(text) if text.startswith(PREFIX) else Address.of(text)


@dataclass(frozen=True)
class Address:
    """Where a table lies.

    Fields:
        engine: "postgresql" or "duckdb".
        url: Of the database, with its password; it is shown nowhere.
        table: Name of the table or view; None for files.
        schema: The schema that it lies in; None for the first one of the connection's search path that has it.
        parquet: Path of Parquet files, which may have wildcards and lie in an object store; None for a table.
    """

    engine: str
    url: URL
    table: str | None
    schema: str | None = None
    parquet: str | None = None

    @staticmethod
    def of(text: str) -> Address:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise ParameterError(f"the address of a table must be like {EXAMPLES['postgresql']}") from None
        engine = _SAME.get(url.drivername.lower(), url.drivername.lower())
        if engine not in EXAMPLES:
            raise ParameterError(
                f"no engine is called {quoted(url.drivername)}; tables lie in files, or in an engine such as "
                + " or ".join((*EXAMPLES.values(), CLUSTER))
            )
        named = dict(url.query)
        for each in _OWN:
            if each in named and (not isinstance(named[each], str) or not named[each]):
                raise ParameterError(f"the address of a table must name one {each}, for example {EXAMPLES[engine]}")
        if "parquet" in named:
            if engine != "duckdb" or url.database or url.host or set(named) != {"parquet"}:
                raise ParameterError(f"the address of Parquet files must be like {FILES}")
            path = str(named["parquet"])
            return Address(engine, url, None, parquet=path if "://" in path else str(Path(path).absolute()))
        if "table" not in named:
            raise ParameterError(f"the address must name a table of {engine}, for example {EXAMPLES[engine]}")
        if not url.database:
            what = "file" if engine == "duckdb" else "database"
            raise ParameterError(f"the address must name a {what} of {engine}, for example {EXAMPLES[engine]}")
        if engine == "duckdb" and (url.host or url.username or set(named) - set(_OWN)):
            raise ParameterError(f"the address of a file must be like {EXAMPLES[engine]}, with three or four slashes")
        schema = named.get("schema")
        return Address(engine, url, str(named["table"]), None if schema is None else str(schema))

    @property
    def called(self) -> str:
        """What the data set is called: the table's name, or that of the files."""
        return name_of_files(self.parquet) if self.table is None else self.table

    @property
    def place(self) -> str:
        """The database, as messages show it."""
        return self.name.partition("?")[0]

    @property
    def rest(self) -> dict[str, str]:
        """What the address says to the engine's driver, such as `sslmode`."""
        return {name: str(value) for name, value in self.url.query.items() if name not in _OWN}

    @property
    def name(self) -> str:
        """What messages call the table: without user, password and what is said to the driver."""
        if self.parquet is not None:
            return f"duckdb://?parquet={self.parquet}"
        host = self.url.host or ""
        port = f":{self.url.port}" if self.url.port else ""
        table = self.table if self.schema is None else f"{self.table}&schema={self.schema}"
        return f"{self.engine}://{host}{port}/{self.url.database}?table={table}"


def shown(data: object) -> str:
    """A path or an address as messages show it, without a password."""
    return address_of(data).name if isinstance(data, str) and is_address(data) else str(data)


# --- Sessions of Spark: the extra `spark`
#
# A process has one context of Spark. An address uses the one that runs, in a session of its own, or starts one, whose
# Java process writes nothing to the terminal and ends with this one.

_CLUSTER = "spark://"
_REACHED_SECONDS = 10.0
_started: dict[str, str] = {}
"""Settings that Spark was started with here, to some of which it adds its own."""


def spark_session(address: SparkAddress) -> Any:
    """A session of Spark on the master of an address."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise ParameterError(
            "tables of Spark need pyspark and Java; install it with: pip install 'ogive[spark]'"
        ) from None
    check_reachable(address.master)
    context = SparkContext._active_spark_context
    if context is None:
        return SparkSession(_start(address))
    if context.master != address.master:
        raise ParameterError(
            f"Spark runs in this process on {quoted(context.master)}, and a process has one Spark; stop it before "
            f"{plain(address.place)} is opened, or name that master"
        )
    session = SparkSession(context).newSession()
    _set(session, context, address.settings)
    return session


def check_reachable(master: str) -> None:
    """Refuse a cluster of which no master answers; Spark itself would wait, for minutes or for ever."""
    if not master.startswith(_CLUSTER):
        return
    for place in master.removeprefix(_CLUSTER).split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_REACHED_SECONDS).close()
        except OSError:
            continue
        return
    raise DataError(f"{plain(master)} cannot be reached; is a master of Spark running there?")


def _set(session: Any, context: Any, settings: Mapping[str, str]) -> None:
    """Give a session of a running context the settings of an address."""
    known = {**dict(context.getConf().getAll()), **_started}
    for name, value in settings.items():
        if known.get(name) == value:
            continue
        if not session.conf.isModifiable(name):
            raise ParameterError(
                f"Spark runs in this process already and can no longer change {quoted(name)}; say it when Spark starts"
            )
        session.conf.set(name, value)


def _start(address: SparkAddress) -> Any:
    """A new context of Spark."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    settings = {"spark.app.name": "ogive", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if not address.is_cluster:
        if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
            raise DataError("Spark needs Java 17 or 21, and there is no java; install it, such as openjdk-17-jre")
        settings |= _in_this_machine()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # a cluster has its own
    conf = SparkConf().setAll([*{**settings, **address.settings, "spark.master": address.master}.items()])
    try:
        gateway = SparkContext._gateway or launch_gateway(
            conf, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        )
        context = SparkContext(conf=conf, gateway=gateway)
    except (PySparkException, Py4JError, OSError):
        raise DataError(
            f"{plain(address.place)} does not start; Spark needs Java 17 or 21, and settings that it knows"
        ) from None
    _started.update(address.settings)
    return context


def _in_this_machine() -> dict[str, str]:
    """Settings of Spark in one machine: it listens to nobody else, and small questions are not cut into 200 parts."""
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        "spark.sql.warehouse.dir": _warehouse(),
    }


@functools.cache
def _warehouse() -> str:
    """A folder for tables that nobody makes, since Spark would make one in the current folder."""
    folder = tempfile.mkdtemp(prefix="ogive-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# --- Answers of engines, which differ in how they are read, in sums and in failures

_RAISED_BY = ("ibis", "sqlglot", "duckdb", "_duckdb", "psycopg", "pyarrow", "pyspark", "py4j")
"""Packages whose errors are the engine's."""

_LOST = ("AdminShutdown", "CrashShutdown", "Operational", "Interface", "IdleSessionTimeout")
"""What psycopg reports of a connection that ended, and of every question after that."""

_ZONE = "spark.sql.session.timeZone"


@contextlib.contextmanager
def one_line(name: str) -> Iterator[None]:
    """Turn what an engine or its driver raises into a DataError, which shows no value of a record."""
    try:
        yield
    except Exception as problem:
        package = type(problem).__module__.partition(".")[0]
        if package not in _RAISED_BY and not isinstance(problem, ConnectionError):
            raise
        result = _kind(problem)
        if package == "psycopg" and result in _LOST:
            raise DataError(
                f"the connection to {plain(name)} was lost; open the table again, in a new session"
            ) from None
        if result == "InsufficientPrivilege":
            raise DataError(f"{plain(name)} cannot be read: this user may not read it") from None
        raise DataError(f"{plain(name)} cannot be read: its engine reports {result}") from None


def _kind(problem: Exception) -> str:
    """What went wrong, by the name of its type or of Spark's condition; the message of an engine may quote a record."""
    conditions = [each for each in map(_condition, _causes(problem)) if each is not None]
    return (conditions or [type(problem).__name__.removesuffix("Exception").removesuffix("Error") or "an error"])[-1]


def _causes(problem: Exception) -> Iterator[Any]:
    """A problem, and what it comes from in Java."""
    yield problem
    cause = getattr(problem, "java_exception", None)
    with contextlib.suppress(Exception):  # the process of Java may have ended
        while cause is not None:
            yield cause
            cause = cause.getCause()


def _condition(problem: Any) -> str | None:
    """The name that Spark has for what went wrong, if it has one."""
    with contextlib.suppress(Exception):  # of Java, which has no such method
        result = problem.getCondition()
        return None if result is None else str(result)
    return None


def answer(question: Any) -> Any:
    """What an engine answers to a table of ibis, as an Arrow table."""
    backend = question.get_backend()
    if backend.name != "pyspark":
        return question.to_pyarrow()
    session = backend._session
    check_reachable(session.conf.get("spark.master", ""))
    with quiet_pyspark():
        if (zone := session.conf.get(_ZONE)) != "UTC":
            raise DataError(f"the session of Spark has the time zone {zone}; set {_ZONE} to UTC")
        backend._run_pre_execute_hooks(question)  # tables of memory and functions that the question needs
        # by way of Arrow: ibis reads whole numbers as floats where there are nulls
        return session.sql(backend.compile(question)).toArrow()


def total(numbers: Any) -> Any:
    """The sum of whole numbers, as text; where it leaves 64 bits, a wider number, or null on Spark.

    There `sum` fails or is silently another number, as the session is set.
    """
    import ibis

    on_spark = False
    with contextlib.suppress(ibis.common.exceptions.IbisError):  # a question that is only written has no engine
        on_spark = numbers.get_backend().name == "pyspark"
    return (_spark_sum()(numbers) if on_spark else numbers.sum()).cast("string")


@functools.cache
def _spark_sum() -> Any:
    import ibis

    return ibis.udf.agg.builtin(lambda numbers: None, name="try_sum", signature=(("int64",), "int64"))


@contextlib.contextmanager
def quiet_pyspark() -> Iterator[None]:
    """Keep pyspark from logging an error with the values that it met, and from warning of its own open sockets."""
    log = logging.getLogger("SQLQueryContextLogger")
    was, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        log.disabled = was


# --- Tables as ibis opens them

ENGINES = ("duckdb", "postgres", "pyspark")
"""Engines by their names in ibis, on which sums were compared with those of files."""


def is_expression(data: object) -> bool:
    """Whether something is a table of ibis, which it cannot be before that is loaded."""
    return is_of_loaded(data, "ibis.expr.types", "Table")


def engine_of(expression: Any) -> str:
    """The name in ibis of the engine that a table lies in."""
    import ibis

    try:
        result = str(expression.get_backend().name)
    except ibis.common.exceptions.IbisError:
        result = "no engine"
    if result not in ENGINES:
        raise ParameterError(f"a table of ibis must lie in DuckDB, PostgreSQL or Spark, got one of {result}")
    return result


def open_address(address: Address | SparkAddress) -> Any:
    """The table of an address, as ibis has it."""
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
    name that is not a table of its may be that of another file.
    """
    if address.engine != "duckdb" or address.parquet is not None:
        return False
    result = expression.get_backend().con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary "
        "AND lower(schema_name) = lower(coalesce(?, current_schema())) AND lower(table_name) = lower(?)",
        [address.schema, address.table],
    )
    return bool(result.fetchone()[0])


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
    from ogive.records.engines.values import KEY_BITS

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
                    f"{plain(path)} is not a database of DuckDB; the address of Parquet files must be like {FILES}"
                ) from None
            raise DataError(f"{plain(path)} is not a database of DuckDB, or is damaged or cut short") from None


_NOBODY = "lets nobody in by that name and password"
_UNREACHED = "cannot be reached; check that its server runs"
_UNKNOWN = "cannot be reached, or lets nobody in by that name and password"
_CLOSED = (
    ("no pg_hba.conf entry", "lets nobody in by that name from this machine"),
    ("password authentication failed", _NOBODY),
    ("no password supplied", _NOBODY),
    ("SSL was required", "does not take the encryption that the address asks for"),
    ("certificate verify failed", "has no certificate that the address takes"),
    ("too many clients", "has too many connections; try again later"),
    ("FATAL:  database", "is not a database of that server"),
    ("Connection refused", _UNREACHED),
    ("timeout expired", _UNREACHED),
    ("could not translate host name", _UNREACHED),
    ("failed to resolve host", _UNREACHED),
    ("No route to host", _UNREACHED),
)
"""Words of the driver in English, and why there is no connection in ours."""


def _connect_postgresql(ibis: Any, address: Address) -> Any:
    try:
        import psycopg
    except ModuleNotFoundError:
        raise ParameterError(
            "tables of PostgreSQL need psycopg; install it with: pip install 'ogive[engines]'"
        ) from None
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
        # what the driver says may hold secrets
        why = next((words for part, words in _CLOSED if part in str(problem)), _UNKNOWN)
        raise DataError(f"{plain(address.place)} {why}") from None
