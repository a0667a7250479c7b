"""`ogive ustat`: values, trust, books, pictures and messages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.wording import speaks_python
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

import ogive
from ogive.cli import main
from ogive.kernels.measures import MEASURES

RNG = np.random.default_rng(6)
N = 3_000
ROOMS = RNG.integers(1, 6, N)
CLEAN = np.clip(ROOMS + RNG.integers(-1, 2, N), 1, 5)
SICK = RNG.random(N) < 0.4
SCORE = np.round(1 / (1 + np.exp(-RNG.normal(SICK))), 4)
MOOD = RNG.choice(["low", "fair", "high"], N, p=[0.5, 0.3, 0.2])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "stays.csv"
    rows = zip(ROOMS, CLEAN, SICK, SCORE, MOOD, 100 * SCORE, strict=True)
    text = "".join(
        f"{a},{b},{'yes' if s else 'no'},{score},{mood},{cents:.2f}\n" for a, b, s, score, mood, cents in rows
    )
    path.write_text("rooms,clean,sick,score,mood,cents\n" + text)
    return path


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


ONE = ("--epsilon", "1")
TAU = ("--kernel", "kendall_b", "--columns", "rooms", "clean", "--bounds", "1", "5", "--grid", "integers")
AUC = ("--kernel", "auc", "--columns", "score", "sick", "--bounds", "0", "1", "--positive", "yes")
MOODS = ("--kernel", "collision", "--columns", "mood", "--categories", "low", "fair", "high")

PEOPLE = ("--participants", "300")
VOLUME = ("--kernel", "vus", "--columns", "score", "mood", "--bounds", "0", "1", "--categories", "mood=low,fair,high")


def read(text):
    return ogive.UstatisticEstimate.from_json(text)


@pytest.mark.each_value
@pytest.mark.parametrize("trust", ["central", "local", "clear"])
@pytest.mark.parametrize("asked", [TAU, AUC, MOODS, VOLUME], ids=["kendall", "auc", "collision", "volume"])
def test_every_kernel_under_every_trust_is_near_the_truth(run, table, asked, trust):
    granted = () if trust == "clear" else ("--epsilon", "4", *(("--public", "mood") if asked is VOLUME else ()))
    status, out, err = run("ustat", table, *asked, *granted, "--trust", trust, "--json")
    assert (status, err) == (0, "")
    found = read(out)
    exact = read(run("ustat", table, *asked, "--trust", "clear", "--json")[1])
    assert abs(found.value - exact.value) <= 5 * found.randomization_error + found.quantization
    assert found.provenance.trust == trust
    truth = {
        "kendall_b": kendalltau(ROOMS, CLEAN).statistic,
        "auc_private": roc_auc_score(SICK, SCORE),
        "vus": ogive.kernels.exact_vus(SCORE, np.array([MOODS[-3:].index(mood) for mood in MOOD])),
        "collision": -np.log(sum(k * (k - 1) for k in np.unique(MOOD, return_counts=True)[1]) / (N * (N - 1))),
    }
    assert exact.value == pytest.approx(truth[found.kernel], rel=1e-9)


def test_prints_the_value_its_errors_and_both_intervals(run, table):
    status, out, err = run("ustat", table, *TAU, *ONE, "--trust", "local")
    assert (status, err) == (0, "")
    assert out.startswith("Kendall's tau-b of rooms and clean\n")
    for line in (
        r"value: +-?\d(\.\d+)?",
        r"error: .*randomization .*, sampling",
        r"for the population",
        r"for these records",
    ):
        assert re.search(line, out), line
    assert "trust model local" in out


def test_bins_methods_and_rounding_are_passed_on(run, table):
    asked = ("--columns", "cents", "--bounds", "0", "100", "--bins", "8", "--trust", "local")
    for options, method in ((("--method", "krr"), "krr"), (("--method", "unary", "--rounding", "randomized"), "unary")):
        found = read(run("ustat", table, *asked, *options, *ONE, "--json")[1])
        assert (found.kernel, found.method, found.bins) == ("gini", method, (8,))
    cells = read(
        run("ustat", table, *asked[:-2], "--method", "cells", "--adjacency", "add_or_remove", *ONE, "--json")[1]
    )
    assert (cells.method, cells.records) == ("cells", None)


def test_columns_may_have_bounds_and_categories_of_their_own(run, table):
    one = ("--columns", "rooms", "clean", "--kernel", "kendall", "--trust", "clear", "--json")
    same = [
        run("ustat", table, *one, "--bounds", "1", "5", "0", "9", "--bins", "4", "5")[1],
        run("ustat", table, *one, "--categories", "rooms=1,2,3,4,5", "clean=1,2,3,4,5")[1],
        run("ustat", table, *one, "--categories", "1", "2", "3", "4", "5")[1],
        run("ustat", table, *one, "--bounds", "0", "9", "--categories", "rooms=1,2,3,4,5")[1],
    ]
    assert len({read(out).value for out in same}) == 1


def test_private_labels_are_hidden_and_public_ones_counted(run, table, tmp_path):
    declared = ("--public", "sick", "--json")
    for options in (declared, ("--public-labels", *declared)):
        public = read(run("ustat", table, *AUC, *ONE, *options)[1])
        assert public.classes == (int((~SICK).sum()), int(SICK.sum()))
        assert public.provenance.public == ("sick",)
    for options in (("--json",), ("--private-labels", *declared)):
        private = read(run("ustat", table, *AUC, *ONE, *options)[1])
        assert private.classes is None
        assert abs(private.value - roc_auc_score(SICK, SCORE)) < 0.05
    for asked in ((*AUC, "--public-labels"), VOLUME):
        status, out, err = run("ustat", table, *asked, *ONE)
        assert (status, out) == (1, "")
        assert "ask without --public-labels or --public-groups, or declare" in err
        assert err.endswith(f": --public {'sick' if asked is not VOLUME else 'mood'}\n")
    for more in ((), ("--ledger", tmp_path / "new.db", "--limit-epsilon", "2")):
        status, out, err = run("ustat", table, *AUC, *ONE, *more, "--public", "sik")
        assert (status, out) == (2, "")
        assert "has no column 'sik'; did you mean 'sick'? it has" in err
    assert not list(tmp_path.glob("new.db*"))


def test_a_ledger_pays_once_and_a_report_shows_it(run, table, tmp_path):
    books = ("--ledger", tmp_path / "b.db", "--limit-epsilon", "2")
    status, _, err = run(
        "ustat", table, *TAU, *ONE, *books, "-o", tmp_path / "tau.json", "--plot", tmp_path / "tau.png"
    )
    assert status == 0, err
    assert "paid epsilon = 1" in err
    assert (tmp_path / "tau.png").stat().st_size > 5_000
    status, out, err = run("ustat", table, *TAU, *ONE, "--ledger", tmp_path / "b.db", "--json")
    assert "no cost" in err
    assert json.loads(out)["value"] == json.loads((tmp_path / "tau.json").read_text())["value"]
    status, _, err = run("report", tmp_path / "tau.json", "-o", tmp_path / "page.html")
    assert status == 0, err
    assert "Kendall&#x27;s tau-b of rooms and clean" in (tmp_path / "page.html").read_text()


def test_a_volume_is_collected_by_hand(run, table, tmp_path):
    study, reports, out = (tmp_path / name for name in ("study.json", "reports.bin", "volume.json"))
    status, told, err = run("local", "describe", "ustat", *VOLUME, "--epsilon", "4", "--participants", N, "-o", study)
    assert status == 0, err
    assert "The column 'mood' is public here" in told
    assert run("local", "randomize", study, table, "-o", reports)[0] == 0
    status, _, err = run("local", "aggregate", study, reports, "-o", out)
    assert status == 0, err
    found = read(out.read_text())
    exact = read(run("ustat", table, *VOLUME, "--trust", "clear", "--json")[1])
    assert found.classes == tuple(int((mood == MOOD).sum()) for mood in MOODS[-3:])
    assert abs(found.value - exact.value) <= 5 * found.randomization_error + found.quantization
    assert found.randomization_error < 0.1


@pytest.mark.parametrize("command", [("plan", "ustat", "--records", "300"), ("local", "describe", "ustat", *PEOPLE)])
def test_other_commands_say_what_columns_are_missing_in_the_same_words(run, command):
    for case in ("no columns", "no score", "no class", "classes that nobody listed", "text with bounds"):
        arguments, message = BAD[case]
        status, out, err = run(*command, *arguments, *ONE)
        assert status in (1, 2)
        assert (out, err.count("\n")) == ("", 1)
        assert re.search(message, err), err


BAD = {
    "unknown kernel": (("--kernel", "tau", "--columns", "rooms"), "unknown kernel 'tau'; there are 'auc'"),
    "one column": (
        ("--kernel", "kendall", "--columns", "rooms", "--bounds", "1", "5"),
        "kendall needs two columns, .*--columns x y, got 1: 'rooms'",
    ),
    "no columns": (("--kernel", "gamma"), "gamma needs two columns, .*ranks.* --columns x y"),
    "no score": (("--kernel", "auc"), "auc needs two columns, .* --columns score label"),
    "no class": (("--kernel", "vus"), "vus needs two columns, .* --columns score class"),
    "classes that nobody listed": (
        ("--kernel", "vus", "--columns", "score", "mood", "--bounds", "0", "1"),
        "list the classes of column 'mood' in order, .*--categories mood=0,1,2;",
    ),
    "classes that are hidden": (
        ("--private-labels", *VOLUME),
        "vus takes .*public, so leave out --private-labels",
    ),
    "text that is not listed": (
        ("--kernel", "kendall", "--columns", "rooms", "mood", "--bounds", "1", "5"),
        "take text whose values are listed, --categories mood=a,b",
    ),
    "text with bounds": (
        ("--kernel", "collision", "--columns", "mood", "--bounds", "0", "1"),
        "a bin of column 'mood' holds many; .*--categories a b, or take a grid of integers",
    ),
    "no bounds": (
        ("--columns", "rooms"),
        "which values of column 'rooms' .*--bounds 0 120",
    ),
    "odd bounds": (("--columns", "rooms", "--bounds", "1"), "--bounds must be two values"),
    "no column": (("--bounds", "0", "1"), "name at least one column with --columns"),
    "fractions": (
        ("--columns", "score", "--bounds", "0", "1", "--grid", "integers"),
        "column 'score' has values that are not whole, .*use --grid linear",
    ),
    "outside": (("--columns", "cents", "--bounds", "0", "1"), "outside"),
    "undeclared": (("--kernel", "collision", "--columns", "mood", "--categories", "low", "fair"), "column 'mood'"),
    "no label": (("--kernel", "auc", "--columns", "score", "--bounds", "0", "1"), "auc needs two columns"),
    "other label": (
        (
            "--kernel",
            "auc",
            "--columns",
            "score",
            "sick",
            "--bounds",
            "0",
            "1",
            "--positive",
            "ill",
            "--negative",
            "no",
        ),
        "label column 'sick'",
    ),
    "no such column": (("--columns", "height", "--bounds", "0", "1"), "'height'"),
    "bins": (("--columns", "rooms", "--bounds", "1", "5", "--bins", "many"), "--bins must be auto or whole numbers"),
    "a method": (("--columns", "rooms", "--bounds", "1", "5", "--method", "laplace"), "method must be one of auto"),
    "a grid": (("--columns", "rooms", "--bounds", "1", "5", "--grid", "log"), "--grid must be linear"),
    "hierarchy": (
        ("--columns", "rooms", "--bounds", "1", "5", "--method", "hierarchy", "--trust", "local"),
        "hierarchy is for an AUC with public labels",
    ),
    "a trust": (("--columns", "rooms", "--bounds", "1", "5", "--trust", "nobody"), "--trust must be central, clear"),
    "private count": (
        ("--columns", "rooms", "--bounds", "1", "5", "--trust", "local", "--adjacency", "add_or_remove"),
        "the number of records cannot be private",
    ),
    "kernel there": (
        ("--columns", "rooms", "--bounds", "1", "5", "--trust", "local", "--method", "kernel"),
        "needs somebody who sees records",
    ),
    "means of a private number": (
        ("--columns", "rooms", "--bounds", "1", "5", "--method", "kernel", "--adjacency", "add_or_remove"),
        "use --method cells, or --adjacency replace",
    ),
    "a label that there is not": (
        ("--columns", "rooms", "--bounds", "1", "5", "--positive", "yes"),
        "gini has no label, so leave out --positive",
    ),
    "a label that could be hidden": (
        ("--columns", "rooms", "--bounds", "1", "5", "--private-labels"),
        "gini has no label, so leave out --private-labels",
    ),
    "bounds too far apart": (
        ("--columns", "rooms", "--bounds", "0", "1e300"),
        r"the kernel reaches from 0 to 1e\+300 here",
    ),
    "noise of exact values": (
        ("--columns", "rooms", "--bounds", "1", "5", "--trust", "clear"),
        "--trust clear .*leave out --epsilon, --delta and --rho",
    ),
    "reports here": (("--columns", "rooms", "--bounds", "1", "5", "--method", "krr"), "use trust local"),
}


# a command that has a file lists its columns
OF_A_FILE = dict.fromkeys(
    ("no columns", "no score", "no class", "no column"),
    "name the column with --columns; {} has 'rooms', 'clean', 'sick', 'score', 'mood', 'cents'",
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", BAD)
def test_bad_use_gives_one_clear_line_in_options(run, table, case):
    arguments, message = BAD[case]
    message = OF_A_FILE.get(case, message).replace("{}", re.escape(str(table)))
    status, out, err = run("ustat", table, *arguments, *ONE)
    assert status in (1, 2)
    assert out == ""
    assert err.startswith("ogive: error: ")
    assert err.count("\n") == 1
    assert re.search(message, err)
    assert not speaks_python(err)


def test_help_and_the_page_name_every_kernel_that_has_a_name(run):
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith("| `--kernel")]
    told = {
        "ustat": run("ustat", "--help")[1],
        "plan": run("plan", "ustat", "--help")[1],
        "local": run("local", "describe", "ustat", "--help")[1],
        "page": row,
    }
    for place, text in told.items():
        assert set(MEASURES) <= set(re.findall(r"\w+", text)), place


def test_exact_values_take_no_method_of_reports_or_bins(run, table):
    asked = ("ustat", table, "--columns", "rooms", "--bounds", "1", "5", "--trust", "clear", "--json")
    assert read(run(*asked, "--method", "kernel")[1]).value == read(run(*asked)[1]).value
    for method in ("krr", "cells"):
        status, out, err = run(*asked, "--method", method)
        assert (status, out) == (2, "")
        assert re.fullmatch(f"ogive: error: --trust clear .*leave out --method {method}\n", err)


@pytest.mark.parametrize("command", ["roc", "calibration", "bounds"])
def test_what_needs_somebody_who_sees_records_is_refused_under_local(run, table, command):
    asked = {
        "roc": ("--score", "score", "--label", "sick", "--positive", "yes", "--bounds", "0", "1"),
        "calibration": ("--probability", "score", "--label", "sick", "--positive", "yes"),
        "bounds": ("--column", "cents"),
    }
    status, _, err = run(command, table, *asked[command], *ONE, "--trust", "local")
    assert status == 1
    assert re.search("needs somebody who sees records, .*use trust central, or", err)


def test_missing_values_get_the_choices_that_there_are(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,age\na,5\nb,\nc,7\n")
    asked = ("ustat", path, "--kernel", "gini", "--columns", "age", "--bounds", "0", "9", *ONE)
    for adjacency in ("replace", "add_or_remove"):
        status, _, err = run(*asked, "--adjacency", adjacency)
        assert (status, err.count("\n")) == (2, 1)
        assert err.endswith("--missing low, high or a public value within the bounds\n")
    assert run(*asked, "--missing", "low")[0] == 0


def test_a_column_that_is_not_there_is_answered_with_those_that_are(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,y\n5,yes\n6,no\n7,no\n")
    status, _, err = run("ustat", path, "--kernel", "gini", "--columns", "nope", "--bounds", "0", "9", *ONE)
    assert status == 2
    assert err.endswith("has no column 'nope'; it has 'age', 'y'\n")


@pytest.mark.parametrize("trust", ["central", "local", "clear"])
def test_a_grid_of_integers_refuses_fractions_under_every_trust(run, table, trust):
    asked = ("ustat", table, "--columns", "score", "--bounds", "0", "1", "--grid", "integers", "--trust", trust)
    status, out, err = run(*asked, *(() if trust == "clear" else ONE))
    assert (status, out) == (2, "")
    assert "has values that are not whole" in err


def test_a_plan_needs_no_names_of_columns(run):
    status, out, err = run("plan", "ustat", "--records", "300", "--bounds", "0", "9", *ONE)
    assert (status, err) == (0, "")
    assert out.startswith("plan for gini of value, epsilon = 1: 300 records")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", ["auto", "hierarchy", "haar"])
def test_more_bins_than_reports_tell_apart_are_refused_at_once(run, table, method):
    asked = ("ustat", table, *AUC, *ONE, "--trust", "local", "--bins", str(1 << 24), "--method", method)
    status, out, err = run(*asked)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "at most" in err
    assert str(1 << 20) in err


@pytest.mark.parametrize(
    "before", [(), ("plan",), ("local", "describe")], ids=lambda words: " ".join(words) or "release"
)
def test_the_name_of_the_statistic_is_another_name_of_its_command(before, run):
    own, other = (run(*before, name, "--help") for name in ("ustat", "ustatistic"))
    assert own[0] == other[0] == 0
    assert "--kernel" in own[1]
    assert other[1].replace("ustatistic", "ustat").split() == own[1].split()  # lines break elsewhere
    rows = [line for line in run(*before, "--help")[1].splitlines() if "statistic of pairs" in line]
    assert [("ustat" in row) for row in rows] == [True], rows
    status, _, err = run(*before, "ustatistics", "--help")  # the control
    assert status == 2
    assert "has no command ustatistics" in err


def test_both_names_give_one_release_and_have_the_same_settings(table, run, tmp_path, monkeypatch):
    asked, books = (*TAU, *ONE), ("--ledger", tmp_path / "books.db", "--limit-epsilon", "3", "--json")
    first = run("ustat", table, *asked, *books)
    second = run("ustatistic", table, *asked, *books[:2], "--json")
    assert first[0] == second[0] == 0, second[2]
    assert json.loads(first[1]) == json.loads(second[1])  # a repeated question, which is free
    monkeypatch.setenv("OGIVE_USTAT_METHOD", "no_such_method")
    for name in ("ustat", "ustatistic"):
        status, _, err = run(name, table, *asked)
        assert status == 2
        assert "no_such_method" in err
