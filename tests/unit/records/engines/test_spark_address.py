"""How a table of Spark is named; nothing of Spark is needed to read it."""

from pathlib import Path

import pytest

from ogive.errors import ParameterError
from ogive.records.engines.connections import SparkAddress, address_of, is_address, shown
from ogive.releasing.accounts import name_of

CLUSTER = "spark://head.example:7077/?table=visits&schema=lake.ward&spark.executor.memory=4g&spark.k=s%20cret"

BAD = {
    "spark:": "must be like spark://host:7077/?table=visits or spark:local[2]?parquet=",
    "spark:yarn?table=t": "start Spark and give a table of ibis",
    "spark:local[0]?table=t": "must be like",
    "spark:local[two]?table=t": "must be like",
    "spark://host/?table=t": "must be like",
    "spark://host:7077/db?table=t": "must be like",
    "spark://user:word@host:7077/?table=t": "must be like",
    "spark:local": "must name either a table of Spark or Parquet files",
    "spark:local?table=t&parquet=a.parquet": "must name either a table of Spark or Parquet files",
    "spark:local?parquet=a.parquet&schema=s": "lie in no schema",
    "spark:local?table=": "must say once what 'table' is",
    "spark:local?table=a&table=b": "must say once what 'table' is",
    "spark:local?table=t&memory=1g": "and settings such as spark.executor.memory, got 'memory'",
}


@pytest.mark.parametrize("text", BAD)
def test_addresses_that_name_no_table_of_spark_are_refused(text):
    with pytest.raises(ParameterError) as refused:
        address_of(text)
    assert BAD[text] in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "word" not in str(refused.value)


def test_a_cluster_is_named_by_its_master():
    address = address_of(CLUSTER)
    settings = {"spark.executor.memory": "4g", "spark.k": "s cret"}
    assert address == SparkAddress("spark://head.example:7077", "visits", None, "lake.ward", settings)
    assert address.is_cluster
    two = "spark://one:7077,two:7078"
    assert address_of(f"{two}?table=t").master == two


def test_settings_of_spark_are_not_shown():
    assert shown(CLUSTER) == "spark://head.example:7077/?table=visits&schema=lake.ward"
    assert "cret" not in repr(address_of(CLUSTER))


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]"])
def test_spark_in_this_machine_is_named_by_its_master(master):
    address = address_of(f"spark:{master}?table=visits")
    assert (address.master, address.table, address.is_cluster) == (master, "visits", False)
    assert address.name == f"spark:{master}?table=visits"


def test_paths_of_this_machine_are_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert address_of("spark:local?parquet=a/*.parquet").parquet == str(Path.cwd() / "a/*.parquet")
    assert address_of("spark:local?parquet=s3a://bucket/a").parquet == "s3a://bucket/a"


def test_an_address_of_spark_is_told_from_a_path():
    texts = ("spark:local[2]?table=t", "spark://h:1/?table=t", "spark.csv", "./spark:local.csv", "sparks:local")
    assert [is_address(text) for text in texts] == [True, True, False, False, False]


CALLED = {
    "table=visits": "visits",
    "parquet=/data/visits.parquet": "visits",
    "parquet=/data/visits": "visits",
    "parquet=/data/visits/*.parquet": "visits",
    "parquet=/data/visits/year=2024/part-[0-9]*.parquet": "year=2024",
    "parquet=s3a://bucket/visits/*/*.parquet": "visits",
}


@pytest.mark.parametrize("query", CALLED)
def test_a_data_set_is_called_what_its_table_or_folder_is_called(query):
    assert name_of(f"spark:local?{query}", None, lasting=True) == CALLED[query]
