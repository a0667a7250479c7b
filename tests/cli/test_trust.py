"""Who holds the records, from the command line: every releasing command under several parties, and plans of them."""

import json
import re
import tomllib

import numpy as np
import pytest
from helpers.wording import speaks_python

from ogive.cli import main
from ogive.ledger import Ledger

RNG = np.random.default_rng(3)
N = 3_000
RISK = RNG.random(N)
ILL = RNG.random(N) < RISK


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "people.csv"
    rows = "".join(f"{100 * risk:.2f},{risk:.4f},{int(ill)}\n" for risk, ill in zip(RISK, ILL, strict=True))
    path.write_text("age,risk,ill\n" + rows)
    return path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


AGE = ("--column", "age", "--bounds", "0", "100", "--bins", "16")
AMONG_FOUR = ("--trust", "secagg", "--parties", "4", "--colluding", "1", "--dropouts", "1")
COMMANDS = {
    "ecdf": AGE,
    "quantiles": (*AGE, "--probabilities", "0.5"),
    "boxplot": AGE,
    "roc": ("--score", "risk", "--bounds", "0", "1", "--bins", "16", "--label", "ill", "--negative", "0"),
    "calibration": ("--probability", "risk", "--bins", "16", "--groups", "4", "--label", "ill", "--negative", "0"),
    "ustat": ("--columns", "age", "--kernel", "gini", "--bounds", "0", "100", "--bins", "16"),
    "bounds": ("--column", "age"),
}


@pytest.mark.each_value
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("words", "assumed"),
    [
        (AMONG_FOUR, "2 of the 4 parties"),
        (("--trust", "servers"), "1 of the 2 servers"),
        (("--trust", "servers", "--servers", "3", "--parties", "4"), "2 of the 3 servers"),
    ],
    ids=["secagg", "servers", "organizations"],
)
def test_every_releasing_command_deals_the_records(command, words, assumed, table, run):
    status, out, err = run(command, table, *COMMANDS[command], "--epsilon", 5, *words, "--json")
    assert status == 0, err
    provenance = json.loads(out)["provenance"]
    assert provenance["trust"] == words[1]
    assert assumed in provenance["assumption"]


@pytest.mark.parametrize("words", [AMONG_FOUR, ("--trust", "servers")], ids=["secagg", "servers"])
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("boxplot", *AGE, "--method", "five_numbers"), "five_numbers needs all .* such as --method resample$"),
        (("ustat", *COMMANDS["ustat"], "--method", "kernel"), "kernel needs all .* such as --method cells$"),
        (("ecdf", *AGE, "--method", "selected"), "selected needs all .* such as --method path$"),
        (
            ("ustat", "--columns", "age", "ill", "--kernel", "vus", "--bounds", "0", "100", "--categories", "ill=0,1"),
            "ustatistic needs all .*; use trust central$",
        ),
    ],
    ids=["boxplot", "ustat", "ecdf", "vus"],
)
def test_what_does_not_add_up_is_refused_with_a_method_that_there_is(command, message, words, table, run):
    status, out, err = run(command[0], table, *command[1:], "--epsilon", 1, *words)
    assert (status, out) == (1, "")
    assert re.search(message, err.strip()), err


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("words", "who"),
    [
        (AMONG_FOUR, "parties"),
        (("--trust", "servers"), "clients"),
        (("--trust", "servers", "--parties", "4"), "parties"),
    ],
    ids=["secagg", "servers", "organizations"],
)
def test_an_unnamed_class_is_a_mistake_in_the_question(words, who, tmp_path, run):
    path = tmp_path / "people.csv"
    path.write_text(
        "risk,ill\n" + "".join(f"{risk:.4f},{'yes' if ill else 'no'}\n" for risk, ill in zip(RISK, ILL, strict=True))
    )
    roc = (
        "--score",
        "risk",
        "--bounds",
        "0",
        "1",
        "--bins",
        "16",
        "--label",
        "ill",
        "--positive",
        "yes",
        "--epsilon",
        5,
    )
    status, out, err = run("roc", path, *roc, *words)
    assert (status, out) == (2, "")
    assert f"{who} cannot compare" in err
    assert "for example --negative no" in err
    assert run("roc", path, *roc, "--negative", "no", *words)[0] == 0


def test_several_files_are_told_what_takes_several(table, run):
    status, out, err = run("ecdf", table, table.with_name("more.csv"), *AGE, "--epsilon", 1, "--trust", "servers")
    assert (status, out) == (2, "")
    assert "ecdf reads one DATA file, and" in err
    assert "more.csv is another; --parties deals" in err
    status, out, err = run("ecdf", table, *AGE, "--epsilonn", 1)
    assert status == 2
    assert "DATA file" not in err


def test_a_statement_and_a_report_tell_trusts_apart(table, run, tmp_path):
    books = ("--ledger", tmp_path / "b.db", "--limit-epsilon", 9)
    for words in (AMONG_FOUR, ("--trust", "secagg", "--parties", "5"), ("--trust", "servers"), ()):
        assert run("bounds", table, "--column", "age", "--epsilon", 1, *words, *books)[0] == 0
    shown = run("ledger", "show", tmp_path / "b.db")[1].split("\n")
    ends = [line.partition("epsilon = 1")[2].strip() for line in shown[1:5]]
    expected = ["secagg (4 parties, 1 colluding, 1 dropouts)", "secagg (5 parties", "servers (2 servers)", ""]
    for end, words in zip(ends, expected, strict=True):
        assert end.startswith(words and f"trust {words}")
    assert ends[3] == ""
    assert run("report", "--ledger", tmp_path / "b.db", "-o", tmp_path / "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert all(f">{words}" in page for words in expected if words)


def test_a_ledger_pays_for_parties_once(table, run, tmp_path):
    books = ("--ledger", tmp_path / "b.db", "--limit-epsilon", 2)
    command = ("ecdf", table, *AGE, "--epsilon", 1, *AMONG_FOUR)
    first = run(*command, *books)
    again = run(*command, *books)
    assert first[0] == again[0] == 0
    assert "asked before" in again[2]
    assert first[1] == again[1]
    with Ledger.open(tmp_path / "b.db") as ledger:
        [account] = ledger.accounts()
        assert str(account.spent) == "epsilon = 1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trust", "secagg"), "--trust secagg needs --parties, for example --parties 5"),
        (("--parties", "5"), "--parties requires --trust secagg or servers"),
        (("--colluding", "1"), "--colluding requires --trust secagg"),
        (("--dropouts", "1", "--trust", "local"), "--dropouts requires --trust secagg"),
        (("--trust", "secagg", "--parties", "1"), "--parties must be a whole number from 2 to"),
        (("--trust", "secagg", "--parties", "two"), "must be a whole number, got 'two'"),
        (
            ("--trust", "secagg", "--parties", "3", "--colluding", "3"),
            "--colluding must be a whole number from 0 to 2, got 3",
        ),
        (
            ("--trust", "secagg", "--parties", "3", "--colluding", "2", "--dropouts", "1"),
            "--colluding 2 and --dropouts 1 leave none of 3 parties honest",
        ),
        (("--servers", "2"), "--servers requires --trust servers"),
        (("--upload", "keys", "--trust", "secagg", "--parties", "3"), "--upload requires --trust servers"),
        (("--trust", "servers", "--servers", "1"), "--servers must be a whole number from 2 to"),
        (("--trust", "servers", "--servers", "3", "--upload", "keys"), "two servers, not 3; use --upload tables"),
        (("--trust", "servers", "--upload", "hats"), "--upload must be one of auto, keys, tables, sums, got 'hats'"),
        (("--trust", "servers", "--upload", "sums"), "say how many with --parties, or use --upload tables"),
        (("--trust", "secagg", "--parties", "3001"), "has too few records to deal to 3001 parties; use fewer"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_does_not_fit_is_refused_in_one_line(words, message, table, run):
    status, out, err = run("ecdf", table, *AGE, "--epsilon", 1, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not speaks_python(err)


def test_who_is_trusted_is_never_taken_from_settings(table, run, tmp_path, monkeypatch):
    for name in ("trust", "parties", "colluding", "dropouts", "servers"):
        file = tmp_path / "ogive.toml"
        file.write_text(f'[ecdf]\n{name} = "1"\n')
        assert name in tomllib.loads(file.read_text())["ecdf"]
        monkeypatch.setenv("OGIVE_CONFIG", str(file))
        status, _, err = run("ecdf", table, *AGE, "--epsilon", 1)
        assert status == 2
        assert f"give --{name} on the command line" in err


@pytest.mark.everything
@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_compares_a_curator_with_parties(run):
    words = ("plan", "ecdf", "--records", N, "--bounds", 0, 100, "--bins", 8, "--epsilon", 1)
    status, out, err = run(*words, "--trust", "central", "secagg", "--parties", 4)
    assert status == 0, err
    assert "3,000 records, trust central, secagg\n" in out
    status, _, err = run(*words, "--trust", "central", "--parties", 4)
    assert (status, "--parties requires --trust secagg" in err) == (2, True)
