"""The table that comes with the package is UCI's, cell by cell, in the library of one's choice."""

import gzip
import hashlib
import importlib.util
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import ogive
from ogive.datasets import SHIPPED, bank, shipped
from ogive.errors import DataError, ParameterError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def maker():
    """The script that makes the file."""
    spec = importlib.util.spec_from_file_location("bank_maker", ROOT / "tools" / "bank.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_complete_and_small():
    table = bank()
    assert table.shape == (45_211, 17)
    assert table.column_names[:6] == ["age", "job", "marital", "education", "default", "balance"]
    assert {str(kind) for kind in table.schema.types} == {"int64", "string"}
    assert sum(column.null_count for column in table.columns) == 0
    assert shipped("bank").stat().st_size < 400_000


def test_written_as_uci_writes_it_the_table_is_the_original_file(maker):
    written = maker.original(bank())
    assert hashlib.sha256(written).hexdigest() == maker.SHA256
    # UCI's own checksum, from the notes on the public data
    assert hashlib.md5(written).hexdigest() == "e6b0ca77f3f200ec5428e04dd104da53"


def test_the_digest_sees_one_changed_cell(maker):
    table = bank()
    place = table.column_names.index("age")
    ages = table["age"].to_pylist()
    changed = table.set_column(place, "age", pa.array([ages[0] + 1, *ages[1:]]))
    assert hashlib.sha256(maker.original(changed)).hexdigest() != maker.SHA256


def test_the_table_equals_the_original_file_cell_by_cell(shared_data):
    with gzip.open(shared_data("bank-full.csv.gz")) as file:
        original = csv.read_csv(file, parse_options=csv.ParseOptions(delimiter=";"))
    assert bank().schema.equals(original.schema)
    for name in original.column_names:
        assert bank()[name].to_pylist() == original[name].to_pylist(), name


def test_the_script_makes_the_same_table_again(maker, shared_data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(maker, "TARGET", tmp_path / "bank.parquet")
    maker.main(shared_data("bank-full.csv.gz"))
    assert "45211 rows" in capsys.readouterr().out
    assert pq.read_table(tmp_path / "bank.parquet").equals(bank())


def test_the_script_refuses_another_file(maker, tmp_path, monkeypatch):
    monkeypatch.setattr(maker, "TARGET", tmp_path / "bank.parquet")
    (tmp_path / "other.csv").write_text('"age";"y"\n30;"no"\n')
    with pytest.raises(SystemExit, match="not the original"):
        maker.main(tmp_path / "other.csv")
    assert not (tmp_path / "bank.parquet").exists()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_every_library_gets_the_same_cells(backend):
    pytest.importorskip(backend)
    frame, table = bank(backend), bank()
    assert type(frame).__module__.startswith(backend)
    assert list(frame.columns) == table.column_names
    for name in frame.columns:
        assert frame[name].to_list() == table[name].to_pylist()


def test_another_library_and_one_that_is_missing_are_refused_in_one_line(monkeypatch):
    with pytest.raises(ParameterError, match="must be 'pyarrow', 'pandas' or 'polars', not 'dask'"):
        bank("dask")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ParameterError, match="polars is not installed; pip install polars"):
        bank("polars")


def test_a_table_that_the_package_has_not_is_refused():
    with pytest.raises(DataError, match="has no data set 'heart'; it has bank"):
        shipped("heart")


def test_every_table_lies_beside_its_terms():
    for file in SHIPPED.values():
        terms = shipped("bank").with_name(file).with_suffix(".md").read_text(encoding="utf-8")
        for words in ("CC BY 4.0", "creativecommons.org/licenses/by/4.0", "10.24432/C5K306", "Moro"):
            assert words in terms


def test_a_column_of_the_table_can_be_asked():
    curve = ogive.ecdf(bank()["age"], bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
    assert curve.total == 45_211
    assert abs(curve.quantile(0.5) - 39) <= 1
