"""What owners can be asked by command, and what is said to them where an answer does not fit."""

import re

import numpy as np
import pytest

import ogive
from ogive.cli import main
from ogive.local import Description, TreeOracle, UnaryOracle
from ogive.strategies import ReportedHistogram

N = 2_000
MEASURE = ("--column", "age", "--bounds", "0", "120", "--bins", "60")
ASK = ("--epsilon", "4", "--participants", str(N))
AUC = ("--kernel", "auc", "--columns", "age", "sick", "--bounds", "0", "120", "--positive", "yes", "--negative", "no")


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def described(run, *command):
    status, out, err = run("local", "describe", *command, *ASK, "--json")
    assert status == 0, err
    return Description.from_json(out)


@pytest.mark.parametrize("command", ["ecdf", "quantiles"])
@pytest.mark.parametrize(
    ("options", "method", "kind", "size"),
    [
        ((), "auto", TreeOracle, 60),
        (("--method", "reports"), "reports", TreeOracle, 60),
        (("--method", "histogram"), "histogram", UnaryOracle, 30),
        (("--method", "histogram", "--groups", "12"), ogive.HistogramQueries(groups=12), UnaryOracle, 12),
    ],
    ids=["auto", "reports", "histogram", "groups"],
)
def test_curves_are_asked_for_by_every_method_that_owners_can_answer(run, command, options, method, kind, size):
    found = described(run, command, *MEASURE, *options)
    made = {"ecdf": ogive.Ecdf, "quantiles": ogive.Quantiles}[command]("age", bounds=(0, 120), bins=60, method=method)
    wanted = ogive.describe_collection(made, privacy=ogive.PureDP(4), participants=N)
    assert isinstance(found.oracle, kind)
    assert found.oracle.size == size
    assert (found.domain, found.oracle, found.statistic) == (wanted.domain, wanted.oracle, wanted.statistic)


def test_a_histogram_of_reports_is_collected_by_files_alone(run, tmp_path):
    ages = np.random.default_rng(3).normal(50, 15, N).clip(0, 120).round(1)
    table, study, reports = tmp_path / "ages.csv", tmp_path / "study.json", tmp_path / "all.reports"
    table.write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    asked = ("ecdf", *MEASURE, *ASK, "--method", "histogram", "--groups", "6", "--smooth", "isotonic")
    assert run("local", "describe", *asked, "-o", study)[0] == 0
    assert run("local", "randomize", study, table, "-o", reports)[0] == 0
    status, out, err = run("local", "aggregate", study, reports, "--json")
    assert status == 0, err
    curve = ogive.Curve.from_json(out)
    assert isinstance(curve.strategy, ReportedHistogram)
    assert curve.strategy.inner.groups == 6
    assert curve.provenance.trust == "local"
    assert abs(curve(60) - np.mean(ages <= 60)) < 0.08


def test_quantiles_of_reports_have_a_picture(run, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age\n" + "\n".join(map(str, np.random.default_rng(3).integers(18, 95, N))), encoding="utf-8")
    study, reports = tmp_path / "study.json", tmp_path / "reports"
    assert run("local", "describe", "quantiles", *MEASURE, *ASK, "-o", study)[0] == 0
    assert run("local", "randomize", study, table, "-o", reports)[0] == 0
    status, out, err = run("local", "aggregate", study, reports, "--plot", tmp_path / "found.png")
    assert status == 0, err
    assert out.startswith("quantiles of age")
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("smooth", ["shrinkage", "least_squares", "least_absolute", "isotonic"])
def test_a_curve_is_smoothed_as_who_asked_wanted(run, smooth):
    found = described(run, "ecdf", *MEASURE, "--smooth", smooth)
    made = ogive.Ecdf("age", bounds=(0, 120), bins=60, smooth=smooth)
    wanted = ogive.describe_collection(made, privacy=ogive.PureDP(4), participants=N)
    assert found.statistic == wanted.statistic
    assert smooth in str(found.statistic)


@pytest.mark.parametrize("method", ["krr", "unary", "haar", "hierarchy"])
def test_pairs_are_asked_for_by_every_method_that_owners_can_answer(run, method):
    found = described(run, "ustat", *AUC, "--method", method, "--public-labels")
    kind = {"krr": "RandomizedResponse", "unary": "UnaryOracle", "haar": "HaarOracle", "hierarchy": "TreeOracle"}
    assert type(found.oracle.inner).__name__ == kind[method]
    if method != "hierarchy":
        assert type(described(run, "ustat", *AUC, "--method", method).oracle).__name__ == kind[method]


def test_boxes_are_asked_for_by_every_curve_that_owners_can_answer(run):
    for curve, kind in (("auto", TreeOracle), ("reports", TreeOracle), ("histogram", UnaryOracle)):
        assert isinstance(described(run, "boxplot", *MEASURE, "--curve", curve).oracle, kind)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("ecdf", *MEASURE, "--method", "hat_ls"), "must be auto, reports or histogram, got"),
        (("quantiles", *MEASURE, "--method", "bisection"), "must be auto, reports or histogram, got"),
        (("boxplot", *MEASURE, "--curve", "projection"), "must be auto, reports or histogram, got"),
        (("boxplot", *MEASURE, "--method", "five_numbers"), "--method must be resample, got 'five_numbers'"),
        (("ustat", *AUC, "--method", "kernel"), "--method must be auto, krr, unary, haar or hierarchy, got 'kernel'"),
        (("ecdf", *MEASURE, "--missing", "drop"), "--missing must be refuse, low, high or a value, got 'drop'"),
        (("ecdf", *MEASURE, "--groups", "3"), "--groups requires --method histogram, got auto"),
        (("ecdf", *MEASURE, "--method", "reports", "--groups", "3"), "requires --method histogram, got reports"),
        (("ecdf", *MEASURE, "--method", "histogram", "--groups", "1"), "needs at least two groups"),
        (("ecdf", *MEASURE, "--method", "histogram", "--groups", "2.5"), "must be a whole number, got '2.5'"),
        (("ecdf", *MEASURE, "--method", "histogram", "--smooth", "shrinkage"), "use --smooth isotonic"),
        (("boxplot", *MEASURE, "--public-groups"), "--public-groups needs --by, the column"),
    ],
)
def test_what_owners_cannot_answer_is_refused_and_what_works_is_named(run, tmp_path, command, message):
    status, out, err = run("local", "describe", *command, *ASK, "-o", tmp_path / "study.json")
    assert status in (1, 2)
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("statistic", "method"),
    [
        (ogive.Ecdf("age", (0, 120), method="hat_ls"), "hat_ls"),
        (ogive.Boxplot("age", (0, 120), method="five_numbers"), "five_numbers"),
        (ogive.Ustatistic("age", "gini", bounds=(0, 120), method="kernel"), "kernel"),
    ],
    ids=["curve", "box", "pairs"],
)
def test_the_library_names_what_owners_can_answer_too(statistic, method):
    works = "ecdf and quantiles with method='reports' or 'histogram', boxplot"
    with pytest.raises(ogive.UnsupportedError, match=f"^{method} needs somebody who sees records; .*{works}"):
        ogive.describe_collection(statistic, privacy=ogive.PureDP(1), participants=N)


def test_groups_of_a_boxplot_that_are_public_need_their_column(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("age\n5\n6\n")
    for command in (("boxplot", table), ("plan", "boxplot", table)):
        status, out, err = run(*command, *MEASURE, "--epsilon", "1", "--public-groups")
        assert (status, out) == (2, "")
        assert err.startswith("ogive: error: --public-groups needs --by, the column")
        assert err.count("\n") == 1
    with pytest.raises(ogive.ParameterError, match="public_groups needs by, the column"):
        ogive.Boxplot("age", (0, 120), public_groups=True)


CAN = "; the description fixes .*ogive local describe can "


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("command", "table", "message"),
    [
        (
            ("ecdf", *MEASURE),
            "age\n5\n\n",
            f"column 'age' has missing values{CAN}.*--missing low, high or a public value within the bounds",
        ),
        (
            ("ustat", "--columns", "age", "--bounds", "0", "120"),
            "age\n5\n500\n",
            f"column 'age' has values outside 0 to 120{CAN}widen the bounds, or .*--outside clip",
        ),
        (
            ("ustat", *AUC),
            "age,sick\n5,yes\n6,hunter2\n",
            f"label column 'sick' holds text of neither class{CAN}.*--positive and --negative",
        ),
        (
            ("ustat", "--kernel", "collision", "--columns", "age", "--categories", "young", "old"),
            "age\nyoung\nhunter2\n",
            f"column 'age' .*not among its categories{CAN}list all public categories",
        ),
        (
            ("ecdf", *MEASURE),
            "age\nhunter2\n",
            r"column 'age' holds text, .*numbers or dates .*\(first on line 2\); numbers have",
        ),
        (("ustat", *AUC), "age,sick\n5,yes\n6,\n", "'sick' has missing values; every record needs a class"),
    ],
    ids=["missing", "outside", "class", "category", "text", "no class"],
)
def test_owners_are_not_told_to_change_what_the_description_fixes(run, tmp_path, command, table, message):
    study, rows = tmp_path / "study.json", tmp_path / "t.csv"
    rows.write_text(table)
    assert run("local", "describe", *command, *ASK, "-o", study)[0] == 0
    status, out, err = run("local", "randomize", study, rows, "-o", tmp_path / "reports")
    assert (status, out) == (2, "")
    assert re.search(message, err)
    assert len(err.splitlines()) == 1
    assert "hunter2" not in err
    assert "adjacency" not in err
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("number", ["", "-1", "0.5", str(N), "1e300", "-inf"])
def test_numbers_that_no_participant_has_are_refused_in_their_own_words(run, tmp_path, number):
    study, rows = tmp_path / "study.json", tmp_path / "t.csv"
    rows.write_text(f"age,who\n5,1\n6,{number}\n")
    assert run("local", "describe", "ecdf", *MEASURE, *ASK, "-o", study)[0] == 0
    command = ("local", "randomize", study, rows, "--number-column", "who", "-o", tmp_path / "reports")
    status, out, err = run(*command)
    assert (status, out) == (2, "")
    assert re.search(f"column 'who' must hold .*whole and from 0 to {N - 1}$", err)
    assert run(*command, "--first", "3")[2] == "ogive: error: give either --first or --number-column, not both\n"
    rows.write_text(f"age,who\n5,0\n6,{N - 1}\n")
    assert run(*command)[0] == 0
