"""Tables as they are found: words for missing values, blanks, categories and truth values, by commands."""

from __future__ import annotations

import re

import pytest
from helpers.scope import is_everything

from ogive.cli import main

GLUCOSE = ("--column", "glucose", "--bounds", "40", "400", "--grid", "integers", "--epsilon", "1")


@pytest.fixture
def run(capsys, caplog):
    """Run a command: (status, standard output, standard error with what is logged)."""

    def run_it(*arguments):
        caplog.clear()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err + "\n".join(caplog.messages)

    return run_it


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table with a blank after every comma, in the present folder."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 60}, {('no', 'yes')[n % 2]}, {('east', 'west', '?')[n % 3]}" for n in range(300)]
    (tmp_path / "t.csv").write_text("age,sick,ward\n" + "\n".join([*rows, "unknown, no, east"]) + "\n")
    return tmp_path / "t.csv"


def test_a_column_of_r_is_read_and_its_missing_values_count_as_a_public_value(run, shared_data, monkeypatch):
    monkeypatch.chdir(shared_data("framingham.csv.gz").parent)
    status, out, err = run("ecdf", "framingham.csv.gz", *GLUCOSE)
    assert (status, out) == (2, "")
    assert re.search("'NA' in column 'glucose' of framingham.csv.gz counts as missing; .*na_values=.*--na", err)
    assert "--missing low, high or a public value within the bounds under either adjacency" in err
    status, out, err = run("ecdf", "framingham.csv.gz", *GLUCOSE, "--missing", "80")
    assert status == 0
    assert "4,240 (public)" in out
    status, out, err = run("ecdf", "framingham.csv.gz", *GLUCOSE, "--missing", "drop", "--adjacency", "add_or_remove")
    assert status == 0


def test_words_are_named_on_the_command_line(run, table):
    age = ("--column", "age", "--bounds", "0", "120", "--epsilon", "1", "--missing", "30")
    status, _, err = run("ecdf", "t.csv", *age)
    assert status == 2
    assert "column 'age' holds text" in err
    status, out, err = run("ecdf", "t.csv", *age, "--na", "unknown", "-9")
    assert status == 0
    assert "301 (public)" in out
    assert "'unknown' in column 'age' of t.csv counts as missing" in err


def test_blanks_around_texts_do_not_matter_and_categories_keep_their_names(run, table):
    box = ("boxplot", "t.csv", "--column", "age", "--bounds", "0", "120", "--na", "unknown", "--missing", "30")
    status, out, _ = run(*box, "--by", "ward", "--by-groups", "east", "west", "?", "--epsilon", "9")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["east", "west", "?"]
    roc = ("roc", "t.csv", "--score", "age", "--label", "sick", "--positive", "yes", "--bounds", "0", "120")
    json = () if is_everything() else ("--json",)  # no simulated interval, which nothing here reads
    status, out, _ = run(*roc, "--na", "unknown", "--missing", "30", "--epsilon", "9", *json)
    assert status == 0


def test_columns_with_the_same_words_are_told_in_one_line(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "1,NA,2\nNA,2,?\n3,4,5\n" * 200)
    bounds = ("--bounds", "a=0:9", "b=0:9", "c=0:9", "--missing", "drop", "--adjacency", "add_or_remove")
    json = () if is_everything() else ("--json",)  # no table of intervals, which nothing here reads
    status, _, err = run("describe", tmp_path / "t.csv", *bounds, "--epsilon", "9", *json)
    assert status == 0
    told = [line for line in err.splitlines() if "as missing" in line]
    assert [line.partition(" of ")[0] for line in told] == [
        "ogive: 'NA' in columns 'a', 'b'",
        "ogive: '?' in column 'c'",
    ]


def test_words_in_a_column_of_labels_are_told_once(run, tmp_path):
    (tmp_path / "t.csv").write_text("sick,ward\n" + "yes,a\n?,b\nNA,a\nno,b\n" * 100)
    asked = ("describe", tmp_path / "t.csv", "--values", "sick=yes", "--by", "ward", "--by-groups", "a", "b")
    status, _, err = run(
        *asked, "--columns", "sick", "--missing", "sick=no", "--epsilon", "9", "--where", "sick != 'q'"
    )
    assert status == 0
    assert [line.partition(" of ")[0] for line in err.splitlines() if "as missing" in line] == [
        "ogive: '?' and 'NA' in column 'sick'"
    ]
    assert "t.csv count as missing; " in err
    status, _, err = run("proportion", tmp_path / "t.csv", "--column", "ward", "--positive", "a", "--epsilon", "9")
    assert (status, "as missing" in err) == (0, False)
