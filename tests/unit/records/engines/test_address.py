"""How a table of an engine is named; nothing of an engine is needed to read it."""

import sys

import pytest

from ogive.errors import ParameterError
from ogive.records import Records
from ogive.records.engines.connections import Address, is_address, shown
from ogive.releasing.accounts import name_of

BAD = {
    "oracle://host/db?table=t": "no engine is called 'oracle'",
    "postgresql://host/db": "must name a table",
    "postgresql://host/db?table=": "must name a table",
    "postgresql://host/db?table=a&table=b": "must name one table",
    "postgresql://host/?table=t": "must name a database",
    "duckdb:///?table=t": "must name a file",
    "duckdb://file.db?table=t": "must name a file",
    "duckdb://host/file.db?table=t": "three or four slashes",
    "duckdb:///file.db?table=t&mode=ro": "three or four slashes",
    "postgresql://host:port/db?table=t": "must be like postgresql://",
}


@pytest.mark.parametrize("text", BAD)
def test_addresses_that_name_no_table_are_refused(text):
    with pytest.raises(ParameterError) as refused:
        Records.of(text)
    assert BAD[text] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_address_is_told_from_a_path():
    assert [
        text
        for text in ("a.csv", "/a/b.parquet", "C:/a.csv", "dataset:bank", "postgres://h/d?table=t")
        if is_address(text)
    ] == ["postgres://h/d?table=t"]


def test_an_address_is_read_and_shown_without_its_password():
    secret = "postgres://somebody:se%20cret@host:5433/db?table=Odd%20name&schema=ward&sslmode=require"
    address = Address.of(secret)
    assert (address.engine, address.table, address.schema) == ("postgresql", "Odd name", "ward")
    assert address.rest == {"sslmode": "require"}
    assert address.url.password == "se cret"
    assert shown(secret) == address.name == "postgresql://host:5433/db?table=Odd name&schema=ward"
    assert "cret" not in repr(address)


def test_a_data_set_is_called_what_its_table_is_called():
    assert name_of("duckdb:////data/clinic.duckdb?table=visits", None, lasting=True) == "visits"
    assert name_of("duckdb:////data/clinic.duckdb?table=visits", "clinic", lasting=True) == "clinic"


def test_without_ibis_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ibis", None)
    (tmp_path / "a.duckdb").touch()
    with pytest.raises(ParameterError, match=r"pip install 'ogive\[engines\]'"):
        Records.of(f"duckdb:///{tmp_path}/a.duckdb?table=t")
