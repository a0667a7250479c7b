"""Commands on tables of an engine."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import postgres
from helpers.engines import ENGINES, address

from ogive.cli import main
from ogive.cli.paying import _releasing

ECDF = ["--column", "age", "--bounds", "0", "120", "--grid", "integers"]
CLEAR = ["--trust", "clear"]


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(3)
    return pa.table({"age": random.integers(18, 95, 500), "ward": random.choice(["A", "B"], 500).tolist()})


@pytest.fixture(params=ENGINES)
def url(request, people, tmp_path):
    return address(request.param, people, tmp_path, "people")


def test_a_command_says_of_a_table_what_it_says_of_a_file(url, people, tmp_path, capsys):
    pq.write_table(people, tmp_path / "people.parquet")
    said = []
    for data in (url, str(tmp_path / "people.parquet")):
        assert main(["ecdf", data, *ECDF, *CLEAR, "--where", "ward == 'A'"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "Distribution function of age" in said[0]


def test_a_release_is_paid_once_from_the_account_of_the_table(url, tmp_path, capsys):
    command = ["ecdf", url, *ECDF, "--epsilon", "1", "--ledger", str(tmp_path / "books.db"), "--limit-epsilon", "2"]
    assert main(command) == 0
    first = capsys.readouterr()
    assert "people: paid epsilon = 1" in first.err
    assert main(command) == 0
    again = capsys.readouterr()
    assert "this is the stored answer" in again.err
    assert again.out == first.out


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_counts_the_rows_of_a_table(url, capsys):
    assert main(["plan", "ecdf", url, "--bounds", "0", "120", "--bins", "8", "--epsilon", "1"]) == 0
    assert "500 records" in capsys.readouterr().out


def test_a_command_without_a_column_lists_those_of_the_table(url, capsys):
    assert main(["ecdf", url, "--epsilon", "1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ogive: error: name the column with --column; ")
    assert said.endswith(" has 'age', 'ward'\n")


def test_a_terminal_is_told_that_spark_starts():
    assert _releasing("spark:local?table=t&spark.k=secret").startswith("starting Spark, which may take half a minute")
    assert _releasing("spark:local?table=t&spark.k=secret").endswith("releasing from spark:local?table=t")
    assert _releasing("duckdb:///a.duckdb?table=t") == "releasing from duckdb:///a.duckdb?table=t"


REFUSED = {
    "oracle://h/d?table=t": (2, "no engine is called 'oracle'"),
    "postgresql://h/d": (2, "the address must name a table of postgresql"),
    "spark:yarn?table=t": (2, "the address of a table of Spark must be like spark://host:7077/?table=visits"),
    "spark:local": (2, "the address must name either a table of Spark or Parquet files"),
    "spark://127.0.0.1:1/?table=t": (2, "spark://127.0.0.1:1 cannot be reached"),
    "duckdb:///nothing.duckdb?table=t": (2, "there is no file nothing.duckdb"),
}


@pytest.mark.parametrize("data", REFUSED)
def test_a_bad_address_is_refused_in_one_line(data, tmp_path, capsys, monkeypatch):
    pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[engines]')")
    monkeypatch.chdir(tmp_path)
    status, said = REFUSED[data]
    assert main(["ecdf", data, *ECDF, "--epsilon", "1", "--ledger", "books.db", "--limit-epsilon", "2"]) == status
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_persons_with_several_rows_are_counted_once(url, capsys):
    assert main(["ecdf", url, *ECDF, *CLEAR, "--person", "ward", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 2


def test_no_password_is_shown(people, capsys):
    pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[engines]')")
    port = postgres.server().port
    data = f"postgresql://somebody:secret@127.0.0.1:{port}/postgres?table=t"
    assert main(["ecdf", data, *ECDF, "--epsilon", "1"]) == 2
    said = capsys.readouterr()
    assert "lets nobody in by that name and password" in said.err
    assert "secret" not in said.out + said.err
