"""Spark as it is: sessions of its user and of ogive's own, a small cluster, and what goes wrong, each in one line."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.engines import SPARK, address, need_spark
from helpers.waiting import PATIENCE

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.columns.predicates import predicate
from ogive.errors import DataError, ParameterError
from ogive.queries import Selected
from ogive.records import Records
from ogive.records.engines import connections
from ogive.records.engines.connections import address_of, answer, total

AGES = Grid.integers(0, 120)


def people(rows=300):
    random = np.random.default_rng(5)
    return pa.table({"age": random.integers(18, 95, rows), "text": ["a value of somebody"] * rows})


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    return address("spark", people(), tmp_path_factory.mktemp("spark"), "people")


@pytest.fixture
def session(url):
    """A session of a user, in the process that `ogive` counts in."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    Records.of(url)
    return SparkSession(SparkContext.getOrCreate()).newSession()


@pytest.fixture
def table(url, session):
    """A table of ibis in a user's session."""
    import ibis

    session.read.parquet(address_of(url).parquet).createOrReplaceTempView("mine")
    return ibis.pyspark.connect(session).table("mine")


def expected():
    return np.bincount(people()["age"].to_numpy(), minlength=121)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_table_of_ibis_in_a_users_session_is_counted(table, session, ansi):
    import ibis

    session.conf.set("spark.sql.ansi.enabled", ansi)
    np.testing.assert_array_equal(Records.of(table).aggregate(Binning("age", AGES)), expected())
    joined = table.join(ibis.memtable(pa.table({"age": [20, 30], "weight": [1, 2]})), "age")
    assert Records.of(joined).size == expected()[[20, 30]].sum()


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_sum_beyond_64_bits_is_null_and_no_other_number(session, ansi):
    import ibis

    session.conf.set("spark.sql.ansi.enabled", ansi)
    session.sql("SELECT * FROM VALUES (9223372036854775807L), (1L) AS t(n)").createOrReplaceTempView("big")
    big = ibis.pyspark.connect(session).table("big")
    assert answer(big.aggregate(sum=total(big.n)))["sum"].to_pylist() == [None]
    small = big.filter(big.n > 1)
    assert answer(small.aggregate(sum=total(small.n)))["sum"].to_pylist() == [str(2**63 - 1)]


def test_times_count_in_utc_or_are_refused(table, session):
    records = Records.of(table)
    session.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    with pytest.raises(DataError, match=r"time zone Europe/Paris; set spark\.sql\.session\.timeZone to UTC$"):
        records.aggregate(Binning("age", AGES))


def test_a_table_of_the_catalog_is_named(session, url):
    session.read.parquet(address_of(url).parquet).write.mode("overwrite").saveAsTable("kept_people")
    try:
        for query in ("table=kept_people", "table=kept_people&schema=default"):
            np.testing.assert_array_equal(Records.of(f"{SPARK}?{query}").aggregate(Binning("age", AGES)), expected())
    finally:
        session.sql("DROP TABLE kept_people")


def test_files_that_match_a_pattern_are_one_table(tmp_path, url):
    for number in range(3):
        pq.write_table(people().slice(number * 100, 100), tmp_path / f"part-{number}.parquet")
    records = Records.of(f"{SPARK}?parquet={tmp_path}/part-[0-2]*.parquet")
    np.testing.assert_array_equal(records.aggregate(Binning("age", AGES)), expected())
    assert records.digest() == Records.of(url).digest()


MISSING = {
    "table=nothing": "spark:local[2] has no table 'nothing'",
    "table=nothing&schema=default": "spark:local[2] has no table 'nothing' in schema 'default'",
    "table=nothing&schema=nowhere": "its engine reports SCHEMA_NOT_FOUND",
    "parquet=/nowhere/*.parquet": "there is no file /nowhere/*.parquet",
    f"parquet={__file__}": "its engine reports FAILED_READ_FILE",
}


@pytest.mark.parametrize("query", MISSING)
def test_what_is_not_there_is_said_in_one_line(url, query, capfd):
    Records.of(url)
    with pytest.raises(DataError) as refused:
        Records.of(f"{SPARK}?{query}")
    assert MISSING[query] in str(refused.value)
    assert "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_a_wrong_column_and_a_wrong_condition_are_named(url):
    records = Records.of(url)
    with pytest.raises(DataError, match=r"no column 'height'.*age"):
        records.aggregate(Binning("height", AGES))
    with pytest.raises(DataError, match="no column 'height'"):
        records.aggregate(Selected(Binning("age", AGES), predicate("height > 3")))


def test_an_expression_that_fails_shows_no_value_and_no_java(table, capfd):
    records = Records.of(table.mutate(number=table.text.cast("int64")))
    with pytest.raises(DataError) as refused:
        records.aggregate(Binning("number", AGES))
    assert str(refused.value) == "the table cannot be read: its engine reports CAST_INVALID_INPUT"
    assert capfd.readouterr() == ("", "")


def test_files_that_vanish_are_said_in_one_line(tmp_path):
    records = Records.of(address("spark", people(), tmp_path, "gone"))
    (tmp_path / "gone.parquet").unlink()
    with pytest.raises(DataError, match=r"cannot be read: its engine reports FAILED_READ_FILE\.FILE_NOT_EXIST$"):
        records.aggregate(Binning("age", AGES))


def test_a_process_has_one_spark(url):
    Records.of(url)
    data = f"{SPARK}?parquet={address_of(url).parquet}"
    with pytest.raises(ParameterError, match=r"Spark runs in this process on 'local\[2\]'"):
        Records.of("spark:local[1]?table=t")
    with pytest.raises(ParameterError, match=r"can no longer change 'spark\.driver\.memory'"):
        Records.of(f"{data}&spark.driver.memory=7g")
    records = Records.of(f"{data}&spark.sql.ansi.enabled=false")
    assert records._table._expression.get_backend()._session.conf.get("spark.sql.ansi.enabled") == "false"


def test_a_cluster_that_does_not_answer_is_refused_before_spark_begins(monkeypatch):
    need_spark()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        monkeypatch.setattr(connections, "_start", lambda _: pytest.fail("Spark would wait for minutes"))
        with pytest.raises(DataError, match=r"cannot be reached; is a master of Spark running there\?$"):
            Records.of(f"spark://127.0.0.1:{taken.getsockname()[1]}/?table=t")


def test_without_pyspark_or_java_one_line_says_what_to_install(monkeypatch):
    need_spark()
    monkeypatch.setattr(connections.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(DataError, match="Spark needs Java 17 or 21, and there is no java"):
        connections._start(address_of("spark:local?table=t"))
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ParameterError, match=r"need pyspark and Java; install it with: pip install 'ogive\[spark\]'"):
        connections.spark_session(address_of("spark:local?table=t"))


ALONE = """
    import os, signal, sys, time
    import ogive
    from pyspark import SparkContext

    def one_line(name):
        try:
            session.ecdf("age", bounds=(0, 120), grid="integers")
        except ogive.OgiveError as problem:
            print(f"{name}: {problem}", flush=True)

    session = ogive.Session(sys.argv[1], trust="clear")
    curve = session.ecdf("age", bounds=(0, 120), grid="integers")
    print(curve.total, session.name, flush=True)
    one_line("kept")
"""

KILLED = """
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
    SparkContext._gateway.proc.wait()
    sys.stderr = open(os.devnull, "w")  # of pyspark's own thread
    one_line("killed")
"""

STOPPED = """
    print("stop the master", flush=True)
    sys.stdin.readline()
    one_line("stopped")
"""


def program(text, url, folder):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(text), url],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.everything
def test_spark_of_its_own_is_silent_leaves_nothing_and_may_be_killed(tmp_path, url):
    run = program(ALONE + KILLED, url, tmp_path)
    said, wrong = run.communicate(timeout=PATIENCE)
    assert wrong == ""
    assert said.splitlines() == [
        "300 people",
        f"killed: {address_of(url).name} cannot be read: its engine reports ConnectionRefused",
    ]
    assert not list(tmp_path.iterdir())


class Daemon:
    """A master or a worker of a cluster in this machine, ended at the end."""

    def __init__(self, kind, folder, *arguments):
        import pyspark

        home = Path(pyspark.__file__).parent
        log = (folder / f"{kind}.log").open("w", encoding="utf-8")
        name = f"org.apache.spark.deploy.{kind.lower()}.{kind}"
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
        command = [str(home / "bin" / "spark-class"), name, "--host", "127.0.0.1", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        log.close()

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.everything
def test_a_cluster_counts_and_its_loss_is_said_in_one_line(tmp_path, url):
    need_spark()
    port = free_port()
    daemons = [Daemon("Master", tmp_path, "--port", str(port), "--webui-port", "0")]
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        master = f"spark://127.0.0.1:{port}"
        daemons.append(Daemon("Worker", tmp_path, "--cores", "1", "--memory", "1g", "--webui-port", "0", master))
        settings = "spark.executor.memory=512m&spark.driver.host=127.0.0.1&spark.driver.bindAddress=127.0.0.1"
        data = f"{master}/?parquet={address_of(url).parquet}&{settings}"
        run = program(ALONE + STOPPED, data, tmp_path)
        assert run.stdout.readline() == "300 people\n"
        assert run.stdout.readline() == "stop the master\n"
        daemons.pop(0).end()
        said, wrong = run.communicate("\n", timeout=PATIENCE)
        assert said == f"stopped: {master} cannot be reached; is a master of Spark running there?\n"
        assert wrong == ""
    finally:
        for daemon in daemons:
            daemon.end()


def test_a_release_from_a_users_session_is_paid_once(table, tmp_path):
    with ogive.Session(table, name="people", limit=ogive.PureDP(2), ledger=tmp_path / "books.db") as books:
        first = books.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
        again = books.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
        assert again.to_json() == first.to_json()
        assert books.remaining == ogive.PureDP(1)
