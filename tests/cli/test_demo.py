"""The demonstration from the records to the report, on a small simulated table."""

import csv
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from ogive.cli import main
from ogive.cli.demo_data import ROWS, find_table, simulate
from ogive.cli.demo_story import DECILES, TOTAL, age_grid, balance_grid, tell
from ogive.errors import DataError
from ogive.provenance import Provenance

FILES = {"report.html", *(f"{c}{end}" for c in ("age", "balance") for end in (".json", "-deciles.json", ".svg"))}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file of customers, half of the bank's number."""
    path = tmp_path_factory.mktemp("data") / "customers.csv"
    columns = simulate(20_000)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["age", "job", "balance"])
        writer.writerows(zip(columns["age"].astype(int), ["x"] * 20_000, columns["balance"].astype(int), strict=True))
    return path


@pytest.fixture(scope="module")
def told(table, tmp_path_factory):
    """The folder that one run leaves, and its comparison."""
    folder = tmp_path_factory.mktemp("told") / "demo"
    run = subprocess.run(
        [Path(sys.executable).with_name("ogive"), "demo", "--data", str(table), "-o", str(folder), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == f"wrote {folder / 'report.html'}: open it in a browser\n"
    return folder, json.loads(run.stdout)


def test_the_whole_story_is_left_in_the_folder_and_nothing_else(told):
    folder, _ = told
    assert {entry.name for entry in folder.iterdir()} == FILES
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "do not publish" in page
    assert re.search(r"epsilon = 1</p><p>for 2 releases", page)
    for column in ("age", "balance"):
        ET.parse(folder / f"{column}.svg")


def test_the_releases_cost_one_epsilon_together_and_hold_no_truth(told):
    folder, summary = told
    prices = {}
    for name in FILES - {"report.html"}:
        text = (folder / name).read_text(encoding="utf-8")
        assert "true" not in text.replace("true_", "").lower() or name.endswith(".svg")
        if name.endswith(".json"):
            origin = Provenance.from_dict(json.loads(text)["provenance"])
            prices[origin.release_id] = origin.privacy
    assert len(prices) == 2
    assert sum(loss.epsilon for loss in prices.values()) == TOTAL.epsilon
    assert summary["epsilon"] == "1"


def test_errors_are_as_small_as_predicted_and_intervals_hold_the_truth(told):
    # the largest error exceeds the prediction in one of 20 runs, three times the prediction practically never
    _, summary = told
    for column in summary["columns"]:
        errors = column["errors"]
        assert 0 < errors["actual_ks"] < 3 * errors["predicted_ks"]
        assert 0 < errors["actual_rms"] < 4 * errors["predicted_rms"]
        assert errors["predicted_ks"] < 0.02
        assert [row["probability"] for row in column["deciles"]] == list(DECILES)
        assert sum(row["inside"] for row in column["deciles"]) >= 8


def test_the_truth_beside_the_releases_is_numpys(told, table):
    _, summary = told
    columns = simulate(20_000)
    for column, grid in (("age", age_grid()), ("balance", balance_grid())):
        true = [row["true"] for row in next(c for c in summary["columns"] if c["column"] == column)["deciles"]]
        exact = np.quantile(columns[column], DECILES, method="inverted_cdf")
        assert true == [float(grid.thresholds[grid.bin_of(np.array([value]))[0]]) for value in exact]


def test_tables_name_every_decile(table, tmp_path, capsys):
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "a" / "b")]) == 0
    printed = capsys.readouterr().out
    for words in ("20,000 customers.csv", "0.4 + 0.6 = 1", "costs nothing", "Nine deciles of balance", "90%"):
        assert words in printed
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("absent.csv", None, "there is no file"),
        ("empty.csv", "age;balance\n", "no rows"),
        ("other.csv", "age;wealth\n1;2\n", "balance not found"),
    ],
)
def test_a_table_that_cannot_serve_gives_one_line_and_leaves_no_folder(name, content, words, tmp_path, capsys):
    if content is not None:
        (tmp_path / name).write_text(content)
    assert main(["demo", "--data", str(tmp_path / name), "-o", str(tmp_path / "demo")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert words in captured.err
    assert not (tmp_path / "demo").exists()


def test_a_folder_that_is_a_file_is_refused_before_anything_is_spent(table, tmp_path, capsys):
    (tmp_path / "demo").write_text("mine")
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "demo")]) == 2
    assert "not a folder" in capsys.readouterr().err
    assert (tmp_path / "demo").read_text() == "mine"


def test_without_public_data_the_table_is_simulated_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path))
    table = find_table(None)
    assert table.simulated
    assert "SIMULATED" in table.origin
    assert table.records.size == ROWS
    monkeypatch.setenv("OGIVE_DATA", os.fspath(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere"):
        find_table(None)


def test_the_simulated_table_is_the_same_every_time_and_within_the_public_bounds():
    first, second = simulate(5_000), simulate(5_000)
    for column, grid in (("age", age_grid()), ("balance", balance_grid())):
        assert np.array_equal(first[column], second[column])
        assert grid.low <= first[column].min()
        assert first[column].max() <= grid.high


def test_grids_have_round_increasing_thresholds():
    assert balance_grid().bins == 16 + 280 + 60 + 18
    assert (age_grid().low, age_grid().high, age_grid().bins) == (18, 110, 93)


def test_every_stage_is_announced(table):
    from contextlib import nullcontext

    said = []
    tell(find_table(table), lambda message: said.append(message) or nullcontext())
    assert [words for words in said if "epsilon = 0.4" in words or "epsilon = 0.6" in words]
    assert len(said) == 4
