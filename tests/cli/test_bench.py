"""`ogive bench compare`: what became slower between two files of results."""

import json
from pathlib import Path

import pytest

from ogive.cli import main

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.json"


def measured(work, value, unit, *, peer=None, peer_value=None, machine="one"):
    """A row of results."""
    return {
        "work": work,
        "metric": "time",
        "unit": unit,
        "value": value,
        "peer": peer,
        "peer_value": peer_value,
        "machine": machine,
    }


@pytest.fixture
def compare(tmp_path, capsys):
    """Compares rows, and gives status, output and errors."""

    def run(*contents):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(content if isinstance(content, str) else json.dumps(content))
        status = main(["bench", "compare", *map(str, paths)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_times_that_grew_and_speeds_that_fell_by_more_than_5_percent_are_slower(compare):
    old = [
        measured("kept", 1.0, "s"),
        measured("grown", 1.0, "s", peer="duckdb", peer_value=2.0),
        measured("fallen", 10.0, "M/s"),
        measured("risen", 10.0, "M/s"),
        measured("shrunk", 1.0, "ms"),
    ]
    new = [
        measured("kept", 1.05, "s"),
        measured("grown", 1.06, "s", peer="duckdb", peer_value=3.0),
        measured("fallen", 5.0, "M/s"),
        measured("risen", 20.0, "M/s"),
        measured("shrunk", 0.5, "ms"),
    ]
    status, out, err = compare(old, new)
    assert status == 1
    assert out.splitlines() == [
        "fallen",
        "    time: 10 to 5 M/s, 50% less",
        "grown",
        "    time: 1 to 1.06 s, 6% more; duckdb 50% more",
        "5 times and speeds: 2 slower by more than 5%, 2 faster; 0 in one file only",
    ]
    assert err == "ogive: error: 2 of 5 became slower by more than 5%\n"


def test_errors_and_sizes_are_no_times(compare):
    old = [measured("kept", 1.0, "s"), measured("error", 1.0, "records"), measured("size", 1.0, "MB")]
    new = [measured("kept", 1.0, "s"), measured("error", 9.0, "records"), measured("size", 9.0, "MB")]
    assert compare(old, new) == (0, "1 times and speeds: 0 slower by more than 5%, 0 faster; 0 in one file only\n", "")


def test_rows_of_one_file_and_other_machines_are_said(compare):
    old = [measured("kept", 1.0, "s"), measured("gone", 1.0, "s")]
    new = [measured("kept", 1.0, "s", machine="two"), measured("new", 1.0, "s"), measured("newer", 1.0, "s")]
    status, out, _ = compare(old, new)
    assert status == 0
    assert "different machines" in out
    assert out.endswith("3 in one file only\n")


def test_what_is_not_above_0_is_left_out_and_named(compare):
    old = [measured("kept", 1.0, "s"), measured("line", 2.0, "s"), measured("foreseen", 1.0, "s", peer_value=1.0)]
    new = [measured("kept", 1.0, "s"), measured("line", -0.5, "s"), measured("foreseen", 1.0, "s", peer_value=0)]
    status, out, _ = compare(old, new)
    assert status == 0
    assert [line.partition("1.json, ")[2] for line in out.splitlines()[:2]] == [
        "where it is not above 0: line, time",
        "where it is not above 0: foreseen, time",
    ]
    assert out.splitlines()[2].startswith("1 times and speeds: 0 slower")


def test_a_file_is_of_the_same_machine_as_itself(compare):
    rows = [measured("kept", 1.0, "s"), measured("elsewhere", 1.0, "s", machine="two")]
    assert "different machines" not in compare(rows, rows)[1]
    assert "or do not say which" in compare([measured("kept", 1.0, "s", machine=None)] * 2, rows)[1]


def test_the_kept_results_are_as_fast_as_themselves(capsys):
    assert main(["bench", "compare", str(RESULTS), str(RESULTS)]) == 0
    assert ": 0 slower by more than 5%, 0 faster; 0 in one file only" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "7",
        '{"rows": []}',
        "[1]",
        '[{"work": "a"}]',
        json.dumps([measured("text", "1", "s")]),
        json.dumps([measured("endless", float("inf"), "s")]),
        json.dumps([measured([], 1.0, "s")]),
        "[" * 100_000,
    ],
    ids=["empty", "half", "number", "object", "list", "short", "text", "infinity", "name", "deep"],
)
def test_what_holds_no_results_is_refused_in_one_line(compare, content):
    status, out, err = compare([measured("kept", 1.0, "s")], content)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "holds no results of benchmarks" in err


def test_files_that_share_nothing_or_are_not_there_are_refused(compare, capsys):
    status, _, err = compare([measured("one", 1.0, "s")], [measured("other", 1.0, "s")])
    assert status == 2
    assert "no measured time or speed in common" in err
    assert main(["bench", "compare", "/nowhere/old.json", "/nowhere/new.json"]) == 2
    assert "cannot read" in capsys.readouterr().err
