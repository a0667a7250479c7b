"""A command that lacks the option naming a column is told which option it is and which columns there are."""

import pytest

from ogive.cli import main

LACKING = {
    "ecdf": ((), "the column with --column"),
    "quantiles": (("--probabilities", "0.5"), "the column with --column"),
    "boxplot": ((), "the column with --column"),
    "bounds": ((), "the column with --column"),
    "roc": ((), "the columns with --score and --label"),
    "roc of a score": (("--score", "risk"), "the column with --label"),
    "calibration": ((), "the columns with --probability and --label"),
    "ustat": (("--kernel", "gini"), "the column with --columns"),
    "pate train": ((), "the column with --label"),
}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,risk,ill\n" + "".join(f"{n},{n / 100},{n % 2}\n" for n in range(50)))
    return path


@pytest.mark.parametrize("case", LACKING)
def test_the_columns_of_the_file_are_listed(table, case, capsys):
    options, asked = LACKING[case]
    command = case.split(" of ")[0].split()
    granted = () if command[0] == "pate" else ("--epsilon", "1")
    assert main([*command, str(table), *options, *granted]) == 2
    assert capsys.readouterr().err == f"ogive: error: name {asked}; {table} has 'age', 'risk', 'ill'\n"


def test_a_file_without_names_shows_none_of_its_records(tmp_path, capsys):
    path = tmp_path / "bare.csv"
    path.write_text("31,77\n18,12\n")
    assert main(["ecdf", str(path), "--epsilon", "1"]) == 2
    said = capsys.readouterr().err
    assert "does not look like column names" in said
    assert "31" not in said.replace(str(path), "")


def test_a_setting_names_the_column_too(table, monkeypatch, capsys):
    monkeypatch.setenv("OGIVE_ECDF_COLUMN", "age")
    assert main(["ecdf", str(table), "--bounds", "0", "60", "--bins", "8", "--epsilon", "1"]) == 0
    capsys.readouterr()


def test_a_plan_without_a_file_needs_no_column(capsys):
    assert main(["plan", "ustat", "--records", "1000", "--epsilon", "1", "--bounds", "0", "1"]) == 0
    capsys.readouterr()
