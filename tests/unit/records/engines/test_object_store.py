"""Parquet files in an object store, read by DuckDB where they lie."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.object_store import object_store

__all__ = ["object_store"]

FILES = "duckdb://?parquet=s3://clinic/visits/*.parquet"
ECDF = ("--column", "age", "--bounds", 0, 100, "--grid", "integers")


@pytest.fixture(scope="module")
def visits(object_store):
    rng = np.random.default_rng(0)
    for part in range(3):
        table = {"age": rng.integers(18, 90, 4000), "patient": rng.integers(0, 1500, 4000)}
        pq.write_table(pa.table(table), object_store.home / f"part{part}.parquet", row_group_size=1000)
    object_store.upload(*sorted(object_store.home.glob("part*.parquet")))
    return object_store


def curve(store, data, *words):
    store.ogive("ecdf", data, *ECDF, *words, "-o", "curve.json")
    found = json.loads((store.home / "curve.json").read_text())
    del found["provenance"]
    return found


def test_a_bucket_is_counted_as_the_same_files_on_disk(visits):
    assert curve(visits, FILES, "--trust", "clear") == curve(
        visits, "duckdb://?parquet=part*.parquet", "--trust", "clear"
    )
    one = curve(visits, "duckdb://?parquet=s3://clinic/visits/part1.parquet", "--trust", "clear")
    assert one["total"] == 4000


def test_people_of_a_bucket_have_one_row_each_and_the_ledger_pays_once(visits):
    words = (*ECDF, "--person", "patient", "--epsilon", 1, "--ledger", "budget.db", "--limit-epsilon", 1)
    first = visits.ogive("ecdf", FILES, *words, "--json")
    again = visits.ogive("ecdf", FILES, *words, "--json")
    assert json.loads(first.stdout)["total"] == 1500
    assert first.stdout == again.stdout
    assert "paid epsilon = 1" in first.stderr
    assert "paid epsilon" not in again.stderr


def test_what_cannot_be_read_is_one_line_and_makes_no_ledger(visits):
    words = (*ECDF, "--epsilon", 1, "--ledger", "other.db", "--limit-epsilon", 1)
    said = [
        visits.ogive("ecdf", f"duckdb://?parquet=s3://{path}", *words, code=2).stderr
        for path in ("clinic/none/*.parquet", "clinic/none.parquet", "nowhere/x.parquet")
    ]
    assert "there is no file s3://clinic/none/*.parquet" in said[0]
    assert all("the object store answers HTTP 404" in each for each in said[1:])
    visits.stop()
    try:
        said.append(visits.ogive("ecdf", FILES, *words, code=2).stderr)
    finally:
        visits.start()
    assert "the object store cannot be reached" in said[-1]
    assert all(each.count("\n") == 1 and "secret'" not in each for each in said)
    assert not (visits.home / "other.db").exists()
