"""`ogive ustat --trust pairs`: values, options, books, plans and messages."""

import json

import numpy as np
import pytest
from helpers.wording import speaks_python

import ogive
from ogive.cli import main

RNG = np.random.default_rng(6)
N = 1_000
ROOMS = RNG.integers(1, 6, N)
CLEAN = np.clip(ROOMS + RNG.integers(-1, 2, N), 1, 5)
SICK = RNG.random(N) < 0.4
SCORE = np.round(1 / (1 + np.exp(-RNG.normal(SICK))), 4)

PEOPLE = ("--trust", "pairs", "--circuits", "clear")
ONE = ("--epsilon", "1")
GINI = ("--kernel", "gini", "--columns", "score", "--bounds", "0", "1")
TAU = ("--kernel", "kendall", "--columns", "rooms", "clean", "--bounds", "1", "5", "--grid", "integers")
AUC = ("--kernel", "auc", "--columns", "score", "sick", "--bounds", "0", "1", "--positive", "yes")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "stays.csv"
    rows = zip(ROOMS, CLEAN, SICK, SCORE, strict=True)
    path.write_text(
        "rooms,clean,sick,score\n" + "".join(f"{a},{b},{'yes' if s else 'no'},{score}\n" for a, b, s, score in rows)
    )
    return path


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.mark.one_in(2)
@pytest.mark.parametrize("asked", [GINI, TAU, AUC], ids=["gini", "kendall", "auc"])
def test_garbled_circuits_are_near_the_truth_and_say_whom_one_trusts(run, table, asked):
    status, out, err = run("ustat", table, *asked, "--epsilon", "8", "--trust", "pairs", "--json")
    assert (status, err) == (0, "")
    found = ogive.UstatisticEstimate.from_json(out)
    truth = ogive.UstatisticEstimate.from_json(run("ustat", table, *asked, "--trust", "clear", "--json")[1])
    assert found.method == "paired"
    assert found.provenance.trust == "pairs"
    assert abs(found.value - truth.value) < 5 * found.standard_error + found.quantization
    assert "people follow the protocol" in found.provenance.assumption.lower()


def test_one_round_says_that_it_does_not_tell_sampling_from_noise(run, table):
    status, out, _ = run("ustat", table, *TAU, *ONE, *PEOPLE)
    assert status == 0
    assert "noise, choice of pairs and sampling" in out
    assert "for the population" in out
    assert "for these records" not in out


def test_options_of_pairs_are_passed_on(run, table):
    options = ("--method", "paired", "--rounds", "3", "--design", "permutations", "--noise", "laplace", "--bits", "10")
    status, out, _ = run("ustat", table, *GINI, *ONE, "--delta", "1e-6", *PEOPLE, *options, "--json")
    assert status == 0
    price = json.loads(out)["provenance"]["price"]
    assert 0 < float(ogive.UstatisticEstimate.from_json(out).provenance.price.delta) < 1e-6
    assert price["type"] == "approx_dp" or "delta" in price
    assert ogive.UstatisticEstimate.from_json(out).quantization == pytest.approx(2**-10)
    assert ogive.UstatisticEstimate.from_json(out).sampling_error is None or "sampling" in out


def test_options_of_pairs_mean_pairs(run, table):
    asked = ("ustat", table, *TAU, *ONE, *PEOPLE, "--json")
    status, out, err = run(*asked, "--rounds", "2")
    assert (status, err) == (0, "")
    assert "1,000 pairs evaluated circuits" in json.loads(out)["provenance"]["assumption"]
    status, _, err = run("ustat", table, *TAU, *ONE, "--rounds", "2")
    assert status == 1
    assert "use trust pairs" in err


def test_a_plan_compares_pairs_with_a_curator_and_with_reports(run):
    status, out, _ = run(
        "plan", "ustat", *TAU, *ONE, "--records", "20000", "--trust", "central", "local", "pairs", "--json"
    )
    assert status == 0
    chosen = {row["trust"]: row["errors"]["value"] for row in json.loads(out)["rows"] if row["chosen"]}
    assert chosen["central"] < chosen["pairs"] / 10
    assert chosen["pairs"] < chosen["local"] / 2


def test_a_plan_on_records_of_ones_own_is_simulated(run, table):
    status, out, _ = run("plan", "ustat", table, *TAU, *ONE, "--like", table, "--runs", "20", *PEOPLE[:2], "--json")
    assert status == 0
    [row] = [row for row in json.loads(out)["rows"] if row["method"] == "paired"]
    assert 0.03 < row["errors"]["value"] < 0.15


def test_a_ledger_pays_once_and_a_report_tells_it_without_bins(run, table, tmp_path):
    books = ("--ledger", tmp_path / "books.db", "--limit-epsilon", "1")
    asked = ("ustat", table, *TAU, *ONE, *PEOPLE, *books, "-o", tmp_path / "tau.json")
    assert run(*asked)[0] == 0
    first = (tmp_path / "tau.json").read_text()
    assert run(*asked)[0] == 0
    again = (tmp_path / "tau.json").read_text()
    assert json.loads(again)["value"] == json.loads(first)["value"]
    status, _, err = run("ustat", table, *GINI, *ONE, *PEOPLE, *books)
    assert status == 1
    assert "epsilon" in err
    assert run("report", tmp_path / "tau.json", "-o", tmp_path / "tau.html")[0] == 0
    page = (tmp_path / "tau.html").read_text()
    assert "noise, choice of pairs and sampling" in page
    assert "garbled circuits" in page


BAD = {
    "rounds of reports": (("--method", "krr", "--rounds", "2"), "--rounds requires --method paired, got krr"),
    "next to nothing": (("--epsilon", "1e-300"), "is too small for noise inside a circuit; use a larger one"),
    "no rounds": (("--method", "paired", "--rounds", "0"), "--rounds must be auto or a whole number of at least 1"),
    "too many": (("--method", "paired", "--rounds", "5000"), "1000 people can meet in at most 999 rounds, got 5000"),
    "no delta": (("--method", "paired", "--noise", "laplace"), "give one, for example --epsilon 1 --delta 1e-9"),
    "bits": (("--method", "paired", "--bits", "31"), "--bits must be a whole number from 1 to 30, got 31"),
    "all absent": (("--absent", "1"), "--absent must be a share from 0 to less than 1, got 1"),
    "a tree": (("--method", "hierarchy"), "hierarchy is for an AUC with public labels"),
    "a curator's method": (("--method", "kernel"), "kernel is nothing that two people compute between themselves"),
    "private number": (("--adjacency", "add_or_remove"), "use --adjacency replace"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", BAD)
def test_bad_use_gives_one_clear_line_in_options(run, table, tmp_path, case):
    options, message = BAD[case]
    granted = () if "--epsilon" in options else ONE
    status, out, err = run("ustat", table, *TAU, *granted, *PEOPLE, *options, "-o", tmp_path / "never.json")
    assert (status > 0, out) == (True, "")
    assert message in err
    assert err.count("\n") == 1
    assert not speaks_python(err)
    assert not (tmp_path / "never.json").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "command", [("ecdf", "--column", "score", "--bounds", "0", "1"), ("roc", "--score", "score", "--label", "sick")]
)
def test_other_commands_say_what_pairs_answer(run, table, command):
    more = ("--bounds", "0", "1", "--positive", "yes") if command[0] == "roc" else ()
    status, _, err = run(command[0], table, *command[1:], *more, *ONE, "--trust", "pairs")
    assert status == 1
    assert "pairs of people answer ustatistic alone" in err
    assert err.count("\n") == 1


def test_options_of_pairs_need_pairs(run, table):
    status, _, err = run("ustat", table, *TAU, *ONE, "--circuits", "clear")
    assert status == 2
    assert "--circuits requires --trust pairs" in err
