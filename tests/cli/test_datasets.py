"""`dataset:bank` on the command line: the table that comes with the package, in place of a file."""

import json

import pytest

from ogive.cli import main
from ogive.datasets import SHIPPED, shipped

ECDF = ("--column", "age", "--bounds", "0", "120", "--grid", "integers", "--epsilon", "1")


def test_a_release_reads_the_packages_table(capsys):
    assert main(["ecdf", "dataset:bank", *ECDF, "--json"]) == 0
    curve = json.loads(capsys.readouterr().out)
    assert curve["column"] == "age"
    assert curve["total"] == 45_211


def test_the_account_has_the_name_that_the_file_gives_it(tmp_path, capsys):
    book = ("--ledger", f"sqlite:///{tmp_path / 'book.db'}", "--limit-epsilon", "1")
    assert main(["ecdf", "dataset:bank", *ECDF, *book]) == 0
    assert main(["ecdf", str(shipped("bank")), *ECDF, *book]) == 0
    assert "'bank-full'" in capsys.readouterr().err


@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_counts_its_rows(capsys):
    assert main(["plan", "ecdf", "dataset:bank", "--bounds", "0", "120", "--bins", "8", "--epsilon", "1"]) == 0
    assert "45,211 records" in capsys.readouterr().out


def test_a_command_that_lacks_a_column_is_told_which_there_are(capsys):
    assert main(["ecdf", "dataset:bank", "--bounds", "0", "120", "--epsilon", "1"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "has 'age', 'job', 'marital'" in captured.err


@pytest.mark.parametrize("name", ["heart", "", "BANK"])
def test_a_table_that_there_is_not_is_refused_in_one_line(name, capsys):
    assert main(["ecdf", f"dataset:{name}", *ECDF]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "must be a file, or dataset:bank" in captured.err
    assert all(known in captured.err for known in SHIPPED)
