"""Parquet files that DuckDB reads: by its own patterns, and in object stores where it has the extension."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.records import Records

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("ibis")


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    for number in range(3):
        pq.write_table(pa.table({"age": np.arange(100) % 50 + number}), folder / f"part-{number}.parquet")
    return folder


def test_duckdb_counts_files_where_they_lie(parts):
    address = f"duckdb://?parquet={parts}/*.parquet"
    grid = Binning("age", Grid.integers(0, 60))
    assert np.array_equal(Records.of(address).aggregate(grid), Records.of(parts).aggregate(grid))
    session = ogive.Session(address, limit=ogive.PureDP(2))
    asked = {"bounds": (0, 60), "grid": "integers", "privacy": ogive.PureDP(1)}
    assert session.ecdf("age", **asked).total == 300
    assert session.name == "visits"


def test_a_file_that_changes_between_questions_is_noticed(parts):
    session = ogive.Session(f"duckdb://?parquet={parts}/*.parquet", limit=ogive.PureDP(2))
    asked = {"bounds": (0, 60), "privacy": ogive.PureDP("0.5")}
    session.ecdf("age", **asked)
    pq.write_table(pa.table({"age": np.arange(10)}), parts / "part-3.parquet")
    with pytest.raises(ogive.errors.OgiveError, match="updated=True"):
        session.ecdf("age", bins=7, **asked)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("duckdb://?parquet=none/*.parquet", "there is no file"),
        ("duckdb://?parquet=s3://bucket/visits/*.parquet", "INSTALL httpfs"),
        ("duckdb:///file.db?parquet=x", "must be like duckdb://"),
        ("duckdb://?parquet=x&table=t", "must be like duckdb://"),
        ("duckdb://?parquet=", "must name a table of duckdb"),
        ("postgresql://host/db?parquet=x", "must be like duckdb://"),
    ],
)
def test_files_of_duckdb_that_cannot_be_read_are_told_in_one_line(address, words):
    if "s3" in address and installed("httpfs"):
        pytest.skip("the extension is installed, and would ask the network")
    with pytest.raises(ogive.errors.OgiveError) as refused:
        Records.of(address)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def installed(extension):
    found = duckdb.sql(f"SELECT installed FROM duckdb_extensions() WHERE extension_name = '{extension}'").fetchone()
    return bool(found and found[0])
