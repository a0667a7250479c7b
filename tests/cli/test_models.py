"""Judging a model from the command line: ROC curves, calibration, and bounds for scores of unknown range."""

import json
from importlib import import_module

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.wording import speaks_python

from ogive.cli import main
from ogive.cli.forms import meanings

RNG = np.random.default_rng(2)
N = 4_000
SICK = RNG.random(N) < 0.3
RISK = np.round(1 / (1 + np.exp(-RNG.normal(1.5 * SICK - 1))), 6)
SEEN = RNG.random(N) < RISK
TRUE_AUC = float(np.mean(RISK[SICK][:, None] > RISK[~SICK]) + np.mean(RISK[SICK][:, None] == RISK[~SICK]) / 2)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Scores, and one label written in several ways."""
    path = tmp_path_factory.mktemp("records") / "risk.csv"
    rows = [
        f"{risk},{'yes' if sick else 'no'},{int(sick)},{'TRUE' if sick else 'FALSE'},{'sick' if sick else 'ok'},"
        f"{int(seen)},{i % 3},{1.5 if i == 7 else risk},{'' if i == 7 else int(sick)},{100 * risk:.4f}\n"
        for i, (risk, sick, seen) in enumerate(zip(RISK, SICK, SEEN, strict=True))
    ]
    path.write_text("risk,word,number,truth,other,seen,three,beyond,hole,percent\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def few(table):
    """The same table; in `make test` its first rows, which have all that could be wrong."""
    if is_everything():
        return table
    path = table.with_name("few.csv")
    path.write_text("".join(table.read_text().splitlines(keepends=True)[:201]))
    return path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


SCORE = ("--score", "risk", "--bounds", "0", "1")
ONE = ("--epsilon", "1")


WAYS = [
    ("--label", "word", "--positive", "yes"),
    ("--label", "word", "--positive", "yes", "--negative", "no"),
    ("--label", "number"),
    ("--label", "number", "--positive", "1"),
    ("--label", "number", "--positive", "1.0", "--negative", "0"),
    ("--label", "number", "--positive", "true"),
    ("--label", "truth"),
    ("--label", "truth", "--positive", "true"),
    ("--label", "truth", "--positive", "1"),
    ("--label", "other", "--positive", "sick", "ill"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "classes",
    WAYS,
    ids=lambda classes: "_".join(classes[1:]).replace("--", ""),
)
def test_one_label_written_in_many_ways_gives_one_auc(run, table, classes):
    from ogive import RocEstimate

    if is_everything() or classes in (WAYS[0], WAYS[-1]):
        status, out, err = run("roc", table, *SCORE, *classes, *ONE, "--json")
        assert (status, err) == (0, "")
        assert abs(RocEstimate.from_dict(json.loads(out)).auc - TRUE_AUC) < 0.04  # seven standard deviations
    exact = json.loads(run("roc", table, *SCORE, *classes, "--trust", "clear", "--json")[1])
    assert abs(RocEstimate.from_dict(exact).auc - TRUE_AUC) < 0.001


def test_words_stand_for_what_a_column_may_hold():
    assert meanings(["1"]) == ("1", 1)
    assert meanings(["yes", "-2", "0.5"]) == ("yes", "-2", -2, "0.5", 0.5)
    assert meanings(["True", "false"]) == ("True", True, "false", False)
    assert meanings(["nan", "inf", "1e999"]) == ("nan", "inf", "1e999"), "what is no finite number is text"
    assert [type(value) for value in meanings(["1", "1.0", "true"])] == [str, int, str, float, str, bool]


def test_low_scores_can_speak_for_the_positive_class(run, table):
    options = (*SCORE, "--label", "number", "--trust", "clear", "--json", "--positive-when", "low")
    from ogive import RocEstimate

    found = RocEstimate.from_dict(json.loads(run("roc", table, *options)[1]))
    assert abs(found.auc - (1 - TRUE_AUC)) < 0.001


@pytest.mark.everything
def test_roc_prints_a_table_and_draws(run, table, tmp_path):
    picture = tmp_path / "roc.svg"
    status, out, err = run("roc", table, *SCORE, "--label", "number", *ONE, "--plot", picture)
    assert (status, err) == (0, f"wrote {picture}\n")
    assert "AUC" in out
    assert "epsilon = 1" in out
    assert "<svg" in picture.read_text()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--division", "split"), "budget", "split"),
        (("--adjacency", "add_or_remove"), "total", None),
        (("--bins", "50"), "positive_when", "high"),
        (("--public", "number"), "total", N),
        (("--method", "path", "--smooth", "isotonic"), "label", {"column": "number", "positive": [1], "negative": [0]}),
    ],
)
def test_options_reach_the_roc(run, table, options, field, value):
    status, out, err = run("roc", table, *SCORE, "--label", "number", *ONE, *options, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)[field] == value


def test_calibration_prints_a_table_json_and_a_picture(run, table, tmp_path):
    picture = tmp_path / "groups.png"
    ask = ("calibration", table, "--probability", "risk", "--label", "seen", *ONE)
    status, out, err = run(*ask, "--plot", picture)
    assert (status, err) == (0, f"wrote {picture}\n")
    assert "p-value" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    status, out, _ = run(*ask, "--groups", "5", "--json")
    from ogive import Calibration

    found = Calibration.from_dict(json.loads(out))
    assert len(found.groups) == 5
    assert found.p_value > 1e-6, "the probabilities are the true ones"


def test_calibration_sees_wrong_probabilities(run, table):
    """The control: labels of another model's outcome."""
    status, out, _ = run("calibration", table, "--probability", "risk", "--label", "number", *ONE, "--json")
    from ogive import Calibration

    assert status == 0
    assert Calibration.from_dict(json.loads(out)).p_value < 0.001


@pytest.mark.one_in(2)
@pytest.mark.parametrize("freedom", [("--degrees-of-freedom", "7"), ("--degrees-of-freedom", "fitted"), ()])
def test_degrees_of_freedom_are_said(run, table, freedom):
    ask = ("calibration", table, "--probability", "risk", "--label", "seen", *ONE, "--json")
    status, out, err = run(*ask, *freedom)
    assert (status, err) == (0, "")
    from ogive import Calibration

    found = Calibration.from_dict(json.loads(out))
    assert (
        found.degrees_of_freedom
        == {"7": 7, "fitted": len(found.groups) - 2, "": len(found.groups)}["".join(freedom[1:])]
    )


def test_bounds_are_found_and_serve_other_commands(run, table):
    status, out, err = run("bounds", table, "--column", "risk", *ONE, "--json")
    assert (status, err) == (0, "")
    from ogive import BoundsEstimate

    low, high = BoundsEstimate.from_dict(json.loads(out)).bounds
    assert low <= np.quantile(RISK, 0.01)
    assert np.quantile(RISK, 0.99) <= high <= 2
    assert run("ecdf", table, "--column", "risk", "--bounds", low, high, *ONE)[0] == 0
    assert "99 % confidence" in run("bounds", table, "--column", "risk", *ONE)[1]


BAD = {
    "three_classes": (("roc", *SCORE, "--label", "three", *ONE, "--positive", "1"), "more than two classes"),
    "unnamed_third_class": (("roc", *SCORE, "--label", "three", *ONE), "name all values of each class with --positive"),
    "text_label": (("roc", *SCORE, "--label", "word", *ONE), "text is the positive class, for example --positive yes"),
    "missing_label": (("roc", *SCORE, "--label", "hole", *ONE), "has missing values; every record needs a class"),
    "no_label": (("roc", *SCORE, *ONE), "--label"),
    "unknown_label": (("roc", *SCORE, "--label", "numbr", *ONE), "did you mean 'number'?"),
    "class_twice": (
        ("roc", *SCORE, "--label", "number", "--positive", "1", "--negative", "true", *ONE),
        "true cannot be in both classes",
    ),
    "score_outside": (
        ("roc", "--score", "beyond", "--bounds", "0", "1", "--label", "number", *ONE),
        "or count them at the nearer bound with --outside clip",
    ),
    "no_bounds": (("roc", "--score", "risk", "--label", "number", *ONE), "bounds"),
    "text_score": (("roc", "--score", "word", "--bounds", "0", "1", "--label", "number", *ONE), "holds text"),
    "wrong_side": (("roc", *SCORE, "--label", "number", "--positive-when", "left", *ONE), "--positive-when"),
    "no_privacy": (("roc", *SCORE, "--label", "number"), "for example --epsilon 1"),
    "probability_outside": (
        ("calibration", "--probability", "beyond", "--label", "seen", *ONE),
        "are not probabilities; percentages",
    ),
    "text_label_of_calibration": (("calibration", "--probability", "risk", "--label", "word", *ONE), "--positive yes"),
    "percent": (("calibration", "--probability", "percent", "--label", "seen", *ONE), "divided by 100"),
    "misspelled_class": (
        ("roc", *SCORE, "--label", "word", "--positive", "Yes", *ONE),
        "or the positive one is misspelled; check --positive, or name",
    ),
    "label_is_score": (("roc", *SCORE, "--label", "risk", *ONE), "'risk' is measured and is named as the label too"),
    "label_is_probability": (("calibration", "--probability", "risk", "--label", "risk", *ONE), "holds the classes"),
    "capitals": (("roc", "--score", "Risk", "--bounds", "0", "1", "--label", "number", *ONE), "did you mean 'risk'?"),
    "swapped_bounds": (
        ("roc", "--score", "risk", "--bounds", "1", "0", "--label", "number", *ONE),
        "must be below the upper bound",
    ),
    "epsilon_zero": (("roc", *SCORE, "--label", "number", "--epsilon", "0"), "--epsilon must be above 0"),
    "delta_alone": (("bounds", "--column", "risk", "--delta", "0.1"), "--delta requires --epsilon"),
    "negative_freedom": (
        ("calibration", "--probability", "risk", "--label", "seen", "--degrees-of-freedom", "-3", *ONE),
        "--degrees-of-freedom must be fitted or a whole number of at least 1, got -3",
    ),
    "rows_without_person": (
        ("roc", *SCORE, "--label", "number", "--max-rows-per-person", "2", *ONE),
        "--max-rows-per-person needs --person,",
    ),
    "swapped_magnitudes": (
        ("bounds", "--column", "risk", "--smallest", "5", "--largest", "2", *ONE),
        "above 0 and increase, got --smallest 5.0, --largest 2.0",
    ),
    "one_group": (("calibration", "--probability", "risk", "--label", "seen", "--groups", "1", *ONE), "from 2"),
    "half_a_group": (
        ("calibration", "--probability", "risk", "--label", "seen", "--groups", "2.5", *ONE),
        "whole number",
    ),
    "freedom_word": (
        ("calibration", "--probability", "risk", "--label", "seen", "--degrees-of-freedom", "some", *ONE),
        "--degrees-of-freedom must be fitted or a whole number",
    ),
    "calibration_of_text": (("calibration", "--probability", "word", "--label", "seen", *ONE), "holds text"),
    "bounds_of_text": (("bounds", "--column", "word", *ONE), "holds text"),
    "base_word": (("bounds", "--column", "risk", "--base", "two", *ONE), "base must be a number"),
    "plot_suffix": (
        ("roc", *SCORE, "--label", "number", *ONE, "--plot", "roc.gif"),
        "--plot must name a .png, .svg or .pdf",
    ),
}


NEAR = ("text_label_of_calibration", "text_score", "label_is_probability", "bounds_of_text")
"""What `make test` leaves out: the same mistake at another command is among the others."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.everything if case in NEAR else ()) for case in BAD]
)
def test_bad_input_is_one_line_and_nothing_is_spent(run, few, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    (command, *options), words = BAD[case]
    books = ("--ledger", "budget.db", "--limit-epsilon", "3", "-o", "result.json")
    status, out, err = run(command, few, *options, *books)
    (said,) = (line for line in err.splitlines() if not line.startswith("created "))
    assert (status, out) == (2, "")
    assert words in said
    assert not speaks_python(said)
    assert not (tmp_path / "result.json").exists()
    if (tmp_path / "budget.db").exists():
        from ogive import Ledger

        with Ledger.open(tmp_path / "budget.db") as ledger:
            assert [account for account in ledger.accounts() if account.spent is not None] == []


def test_an_absent_class_is_a_value_and_not_a_crash(run, tmp_path):
    path = tmp_path / "healthy.csv"
    path.write_text("risk,sick\n" + "0.25,0\n" * 50)
    ask = ("--label", "sick", "--trust", "clear")
    status, out, err = run("roc", path, "--score", "risk", "--bounds", "0", "1", *ask)
    assert (status, err) == (0, "")
    assert "this curve is not defined" in out
    status, _, err = run("calibration", path, "--probability", "risk", *ask)
    assert (status, err) == (0, "")


@pytest.mark.parametrize("command", ["roc", "calibration", "bounds"])
def test_outputs_are_checked_before_privacy_is_spent(run, table, tmp_path, monkeypatch, command):
    def spend(*args, **kwargs):
        raise AssertionError("privacy was spent")

    monkeypatch.setattr(import_module("ogive.releasing.release"), "release", spend)
    options = {
        "roc": (*SCORE, "--label", "number"),
        "calibration": ("--probability", "risk", "--label", "seen"),
        "bounds": ("--column", "risk"),
    }[command]
    status, _, err = run(command, table, *options, *ONE, "-o", tmp_path / "none" / "result.json")
    assert status == 2
    assert "does not exist" in err
