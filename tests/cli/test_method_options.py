"""Methods that measure less than a whole curve, on the command line: options, refusals and plans."""

import json

import numpy as np
import pytest

from ogive import Curve
from ogive.cli import main

VALUES = np.random.default_rng(11).beta(2, 5, 3000)
COLUMN = ("--column", "x", "--bounds", "0", "1", "--bins", "64")
GRANT = ("--epsilon", "1", "--delta", "1e-6")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "numbers.csv"
    path.write_text("x\n" + "\n".join(map(str, VALUES)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.mark.parametrize(
    ("options", "method", "strategy"),
    [
        (("projection", "--degree", "5", "--basis", "sine"), "projection", {"degree": 5, "basis": "sine"}),
        (("histogram", "--groups", "9"), "histogram", {"groups": 9}),
        (("adaptive", "--rounds", "7"), "adaptive", {}),
        (("selected", "--share", "0.2"), "selected+", {}),
    ],
    ids=["projection", "histogram", "adaptive", "selected"],
)
def test_a_curve_by_each_method_with_its_options(run, table, options, method, strategy):
    status, out, err = run("ecdf", table, *COLUMN, *GRANT, "--method", *options, "--json")
    assert status == 0, err
    curve = Curve.from_json(out)
    assert curve.provenance.method.startswith(method)
    assert abs(curve(0.3) - np.mean(VALUES <= 0.3)) < 0.05
    assert strategy.items() <= {name: getattr(curve.strategy, name) for name in strategy}.items()
    if method == "adaptive":
        assert len(curve.strategy.points) == 7


def test_quantiles_take_a_method_with_options(run, table):
    status, out, err = run(
        "quantiles",
        table,
        *COLUMN,
        *GRANT,
        "--method",
        "histogram",
        "--groups",
        "12",
        "--probabilities",
        "0.5",
        "--json",
    )
    assert status == 0, err
    assert json.loads(out)["curve"]["strategy"]["groups"] == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--degree", "6"), "--degree requires --method projection, got auto"),
        (("--method", "histogram", "--rounds", "6"), "--rounds requires --method adaptive, got histogram"),
        (("--method", "adaptive", "--rounds", "0"), "rounds must be a whole number"),
        (("--method", "selected", "--share", "2"), "share must be strictly between 0 and 1"),
        (("--method", "magic"), "method must be one of auto, path"),
        (("--method", "projection", "--smooth", "shrinkage"), "isotonic"),
        (("--method", "adaptive", "--expected-records", "0"), "must be a whole number from 1"),
    ],
    ids=["degree", "rounds of another", "no rounds", "share", "unknown", "smoothing", "guess"],
)
def test_what_does_not_fit_is_refused_in_one_line(run, table, options, message):
    status, out, err = run("ecdf", table, *COLUMN, *GRANT, *options)
    assert status != 0
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_private_number_of_records_needs_a_guess_to_select(run, table):
    grant = (*GRANT, "--adjacency", "add_or_remove", "--method", "selected")
    status, _, err = run("ecdf", table, *COLUMN, *grant)
    assert status != 0
    assert "expected" in err
    status, _, err = run("ecdf", table, *COLUMN, *grant, "--expected-records", "3000")
    assert status == 0, err


@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_shows_all_methods_side_by_side_and_what_is_chosen(run):
    arguments = ("--bounds", "0", "1", "--bins", "64", "--records", "2000", *GRANT)
    status, out, err = run("plan", "ecdf", *arguments, "--method", "histogram", "--groups", "8", "--json")
    assert status == 0, err
    rows = {row["method"]: row for row in json.loads(out)["rows"]}
    assert {"path", "sqrt", "projection", "histogram", "adaptive", "selected", "histogram by hand"} <= set(rows)
    assert [name for name, row in rows.items() if row["chosen"]] == ["histogram by hand"]
    assert all(row["errors"]["energy"] > 0 for row in rows.values())
    assert "reference shapes" in json.loads(out)["basis"]
