"""The sizing guide has what was measured, and its lines fit it."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    row for row in json.loads((ROOT / "benchmarks" / "results.json").read_text()) if row["work"].startswith("sizing, ")
]
PAGE = (ROOT / "docs" / "sizing.md").read_text()
TITLES = [title for title in re.findall(r"<!-- sizing: (.+?) -->", PAGE) if title != "checks"]


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("sizing_tables")


def test_the_page_is_made_from_the_results(tables):
    assert tables.filled(PAGE, ROWS) == PAGE
    changed = [row | {"value": 2 * row["value"]} for row in ROWS]
    assert tables.filled(PAGE, changed) != PAGE


@pytest.mark.parametrize("title", TITLES)
def test_two_sizes_check_each_line(title):
    ratios = [row["ratio"] for row in ROWS if row["work"].startswith(f"sizing, {title}, ") and row["ratio"]]
    assert len(ratios) == 2
    assert all(0.5 < ratio < 2 for ratio in ratios)


@pytest.mark.parametrize("title", TITLES)
def test_tables_reach_from_a_thousand_to_ten_billion_records(tables, title):
    lines = tables.of_model(ROWS, title).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == [f"| {10**power:,}" for power in range(3, 11)]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0123, "0.012 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7200, "2 h"),
        (450_000, "5.2 days"),
        (1e9, "11,574 days"),
    ],
)
def test_times_have_the_unit_that_people_use(tables, seconds, words):
    assert tables.span(seconds) == words


@pytest.mark.parametrize(
    ("megabytes", "words"), [(0.5, "500 kB"), (94.4, "94.4 MB"), (94_400, "94.4 GB"), (9.44e6, "9.44 TB")]
)
def test_bytes_have_the_unit_that_people_use(tables, megabytes, words):
    assert tables.amount(megabytes) == words
