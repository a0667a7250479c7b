"""`ogive plan`: tables, JSON, pictures and refusals."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.scope import is_everything

from ogive.cli import main

pytestmark = pytest.mark.usefixtures("fewer_imagined_releases")

ECDF = ("ecdf", "--bounds", "0", "100", "--bins", "16")


@pytest.fixture
def run(capsys):
    """Run `ogive plan`: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main(["plan", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "people.parquet"
    rng = np.random.default_rng(2)
    score = rng.uniform(size=700)
    label = (rng.uniform(size=700) < score).astype(int)
    pq.write_table(pa.table({"age": rng.integers(0, 100, 700), "p": score, "sick": label}), path)
    return path


@pytest.mark.everything
def test_a_table_compares_methods_and_guarantees(run):
    status, out, err = run(*ECDF, "--records", 2000, "--epsilon", "0.5", "1", "--all")
    assert (status, err) == (0, "")
    assert out.count(" hat_ls  ") == 2
    assert "epsilon = 0.5\n" in out
    assert "2,000 records" in out


def test_json_goes_to_standard_output_or_a_file(run, tmp_path):
    status, out, _ = run(*ECDF, "--records", 2000, "--rho", "0.1", "--json")
    assert status == 0
    assert {row["privacy"]["type"] for row in json.loads(out)["rows"]} == {"ZeroConcentratedDP"}
    path, picture = tmp_path / "plan.json", tmp_path / "plan.png"
    status, out, err = run(*ECDF, "--records", 2000, "--epsilon", 1, "-o", path, "--plot", picture)
    assert status == 0, err
    assert out.startswith("plan for ecdf")
    assert len(json.loads(path.read_text())["rows"]) == 7
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_rows_of_a_file_are_counted_where_their_number_is_public(run, table):
    status, out, _ = run("ecdf", table, "--bounds", "0", "100", "--bins", "16", "--epsilon", "1")
    assert status == 0
    assert "700 records" in out
    status, _, err = run("ecdf", table, "--bounds", "0", "100", "--epsilon", "1", "--adjacency", "add_or_remove")
    assert status == 2
    assert "not counted" in err
    status, _, err = run("ecdf", table, "--bounds", "0", "100", "--epsilon", "1", "--person", "id")
    assert status == 2
    assert "give --records instead" in err


def test_a_wanted_error_gives_the_guarantee_that_it_needs(run):
    pinned = (*ECDF, "--method", "hat_ls", "--records", 2000, "--error", "ks=0.02")
    status, out, _ = run(*ECDF, "--records", 2000, "--error", "ks=0.02") if is_everything() else run(*pinned)
    assert status == 0
    assert out.startswith("ks=0.02 needs epsilon = ")
    status, out, _ = run(*pinned, "--kind", "zcdp", "--json")
    assert json.loads(out)["rows"][0]["privacy"]["type"] == "ZeroConcentratedDP"
    status, out, _ = run(*pinned, "--delta", "1e-6")
    assert "delta = 1e-06" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("quantiles", "--column", "age", "--bounds", "0", "100", "--bins", "16", "--probabilities", "0.5"),
        ("roc", "--score", "p", "--label", "sick", "--bounds", "0", "1", "--bins", "16"),
        ("calibration", "--probability", "p", "--label", "sick", "--groups", "4", "--bins", "16"),
        ("bounds", "--column", "age"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_statistic_can_be_planned_on_its_own_and_on_public_records(run, table, arguments):
    if is_everything() or arguments[0] == "bounds":  # others are planned in `test_plan_page.py`
        status, out, err = run(*arguments, "--records", 5000, "--epsilon", "1", "--runs", 2, "--all")
        assert (status, err) == (0, ""), err
        assert ("tree_ls" if arguments[0] == "bounds" else "hat_ls") in out
    status, out, err = run(*arguments, "--records", 5000, "--epsilon", "1", "--runs", 2, "--all", "--like", table)
    assert (status, err) == (0, ""), err
    assert "the 700 rows given as --like" in out


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say how many records"),
        (("--records", "1.5"), "whole number"),
        (("--records", 9, "--epsilon", "1", "--rho", "1"), "not both"),
        (("--records", 9, "--error", "ks"), "--error must be a name and a value"),
        (("--records", 9, "--error", "ks=0.1", "--epsilon", "1"), "leave out --epsilon"),
        (("--records", 9, "--error", "ks=0.1", "--kind", "zcdp", "--delta", "1e-6"), "not both"),
        (("--records", 9, "--error", "speed=0.1"), "error must name one of rmse, ks, ks_95 (ks 95 %), band"),
        (("--records", 9, "--epsilon", "0"), "epsilon must be above 0"),
        (("--records", 9, "--trust", "nobody"), "--trust must be one of"),
        (("--records", 9, "--trust", "clear"), "nothing to plan"),
        (("--records", 9, "--like", "no_such_file.csv"), "no_such_file.csv"),
        (("--records", 9, "--plot", "plan.txt"), "--plot must name"),
    ],
)
def test_bad_use_gets_one_clear_line(run, arguments, message):
    status, out, err = run(*ECDF, *arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_a_file_and_a_number_of_records_contradict_each_other(run, table):
    status, _, err = run("ecdf", table, "--bounds", "0", "1", "--records", 3)
    assert status == 2
    assert "not both" in err


def test_a_plan_of_pairs_takes_the_headed_error_and_refuses_an_assumed_model(run):
    asked = ("ustat", "--bounds", "0", "1", "--bins", "8", "--records", 3000, "--columns", "x")
    status, out, err = run(*asked, "--error", "error=0.02")
    assert (status, err) == (0, "")
    assert out.startswith("error=0.02 needs epsilon = ")
    for option, value in (("--positive-share", "0.1"), ("--auc", "0.9")):
        status, out, err = run(*asked, "--epsilon", "1", option, value)
        assert (status, out) == (2, "")
        assert f"leave out {option} {value}, or give --like for" in err


def test_the_whole_description_of_a_table_is_planned(run, table):
    found = ("describe", table, "--by", "sick", "--epsilon", "2", "--delta", "1e-6", "--all")
    status, out, err = run(*found)
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "700 records" in text
    assert "age: mean, % of the bounds found" in text
    assert "not known beforehand: which groups of sick are found" in text
    assert "not known beforehand: bounds that are not declared" in text
    status, out, err = run(*found, "--adjacency", "add_or_remove")
    assert status == 2
    assert "give your own guess with --records" in err
    status, out, err = run(*found, "--adjacency", "add_or_remove", "--records", 900)
    assert (status, err) == (0, "")
    assert "900 is your own guess" in out
    status, out, err = run(*found, "--records", 900)
    assert status == 2
    assert "either a file or --records" in err
    status, out, err = run("describe", "--records", 900, "--epsilon", "2")
    assert status == 2
    assert "or name the table, whose columns then say it" in err
