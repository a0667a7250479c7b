"""Sessions of Spark: the extra `spark`.

A process has one context of Spark. An address uses the one that runs, in a session of its own, or starts one, whose
Java process writes nothing to the terminal and ends with this one.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.records.engines.spark_address import SparkAddress

_INSTALL = "pip install 'ogive[spark]'"
_CLUSTER = "spark://"
_REACHED_SECONDS = 10.0
_started: dict[str, str] = {}
"""Settings that Spark was started with here, to some of which it adds its own."""


def spark_session(address: SparkAddress) -> Any:
    """A session of Spark on the master of an address.

    Raises:
        ParameterError: pyspark is not installed, or Spark runs in this process with another master or other settings.
        DataError: no master can be reached, or Spark does not start.
    """
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise ParameterError(f"tables of Spark need pyspark and Java; install it with: {_INSTALL}") from None
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
    """Refuse a cluster of which no master answers; Spark itself would wait, for minutes or for ever.

    Args:
        master: As Spark calls it; others than "spark://host:port", or several of these, are not looked for.

    Raises:
        DataError: none can be reached.
    """
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
