"""SQL for warehouses that the tests cannot reach is that of the golden files."""

import importlib
import re
from pathlib import Path

import pytest

pytest.importorskip("ibis")
VECTORS = Path(__file__).parents[3] / "vectors"
FOLDER = VECTORS / "engine_sql"


@pytest.fixture
def made(monkeypatch):
    monkeypatch.syspath_prepend(str(VECTORS))
    return importlib.import_module("make_engine_sql")


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_the_sql_is_that_of_the_golden_file(made, dialect):
    found, kept = made.compiled(dialect), (FOLDER / f"{dialect}.sql").read_text()
    if found.splitlines()[0] != kept.splitlines()[0]:
        pytest.skip("another version of ibis or sqlglot writes the same otherwise")
    assert found == kept


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_a_query_returns_cells_and_no_rows(made, dialect):
    questions = re.split(r"^-- ", made.compiled(dialect), flags=re.MULTILINE)[2:]
    assert len(questions) >= len(made.CASES)
    assert all("GROUP BY" in each and "LIMIT 16777217" in each for each in questions)
    assert not any("SELECT *" in each and "GROUP BY" not in each for each in questions)
