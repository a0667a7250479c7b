"""The overviews of the benchmarks name what packages do better and the targets that were missed."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def part(monkeypatch):
    """Imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def made(part, work, value, unit, **more):
    """A row; numpy stands for a package that is installed."""
    return part("harness").row(
        work, "metric", unit, value, runs=1, **{"peer": "numpy", "larger_is_better": False, **more}
    )


def test_a_package_is_ahead_by_less_time_and_by_more_speed(part):
    rows = [
        made(part, "slow time", 3.0, "s", peer_value=1.0),
        made(part, "fast time", 1.0, "s", peer_value=3.0),
        made(part, "slow speed", 1.0, "M/s", peer_value=4.0),
        made(part, "fast speed", 4.0, "M/s", peer_value=1.0),
        made(part, "own method", 9.0, "s", peer="the paper's constants", peer_value=1.0),
    ]
    lines = part("overview").losses(rows).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| slow speed", "| slow time"]
    assert part("overview").packages(rows).splitlines()[2:] == [
        "| numpy | speed | 2 | 1 | 2.1 | 0.25 to 4 |",
        "| numpy | time | 2 | 1 | 1.7 | 0.33 to 3 |",
    ]


def test_targets_that_were_missed_are_counted_and_named(part):
    rows = [made(part, "missed", 3.0, "s", target=2.0), made(part, "reached", 1.0, "s", target=2.0)]
    text = part("overview").missed(rows)
    assert text.startswith("1 of 2 targets are reached.")
    assert "| missed | metric | 3 s | 2 s |" in text
    assert "| reached |" not in text


def test_only_long_tables_are_folded_under_what_they_hold(part):
    publish = part("publish")
    row = made(part, "work", 1.0, "s", peer_value=2.0, target=2.0)
    assert "<details>" not in publish.folded([row] * publish.OPEN_ROWS)
    summary = "<summary>9 rows; against numpy; 9 of 9 targets reached</summary>"
    assert summary in publish.folded([row] * (publish.OPEN_ROWS + 1))


def test_rows_of_quick_runs_go_to_a_named_file_alone(part, tmp_path, monkeypatch):
    harness = part("harness")
    kept = tmp_path / "kept.json"
    monkeypatch.setattr(harness, "RESULTS", kept)
    monkeypatch.delenv(harness.NAMED_RESULTS, raising=False)
    harness.record([made(part, "work", 1.0, "s")], quick=True)
    assert not kept.exists()
    named = tmp_path / "named.json"
    monkeypatch.setenv(harness.NAMED_RESULTS, str(named))
    harness.record([made(part, "work", 1.0, "s")], quick=True)
    assert named.exists()
    assert not kept.exists()
