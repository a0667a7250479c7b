"""What engines do differently with a question: how they add up, how their answer is read, and how they fail."""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from collections.abc import Iterator
from typing import Any

from ogive.errors import DataError, plain
from ogive.records.engines.spark import check_reachable

_RAISED_BY = ("ibis", "sqlglot", "duckdb", "_duckdb", "psycopg", "pyarrow", "pyspark", "py4j")
"""Packages whose errors are the engine's."""

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
        found = _kind(problem)
        if package == "psycopg" and found in _LOST:
            raise DataError(
                f"the connection to {plain(name)} was lost; open the table again, in a new session"
            ) from None
        if found == "InsufficientPrivilege":
            raise DataError(f"{plain(name)} cannot be read: this user may not read it") from None
        raise DataError(f"{plain(name)} cannot be read: its engine reports {found}") from None


_LOST = ("AdminShutdown", "CrashShutdown", "Operational", "Interface", "IdleSessionTimeout")
"""What psycopg reports of a connection that ended, and of every question after that."""


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
        found = problem.getCondition()
        return None if found is None else str(found)
    return None


def answer(question: Any) -> Any:
    """What an engine answers to a table of ibis, as an Arrow table.

    Raises:
        DataError: Spark's master cannot be reached, or times of its session do not count in UTC.
    """
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
