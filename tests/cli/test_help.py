"""What --help prints: what applies, in few lines."""

import io
from contextlib import redirect_stdout

import pytest

from ogive.cli import main
from ogive.cli.settings import COMMANDS
from ogive.statistics.kinds import COMMANDED


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


PLANS = [
    pytest.param(("plan", name), marks=() if number % 3 == 0 else pytest.mark.everything)
    for number, name in enumerate(COMMANDED)
]

SHORT = {"ecdf": 56, "plan ecdf": 68}
"""The most lines of help; statistics with more options of their own have more."""


@pytest.mark.parametrize("words", [(name,) for name in COMMANDED] + PLANS)
def test_help_is_short_and_fits_its_width(run, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = run(*words, "--help")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) <= SHORT.get(" ".join(words), 104)
    assert max(map(len, out.splitlines())) <= 80


def headings(text):
    return [line for line in text.splitlines() if line and not line.startswith((" ", "Usage", "Options of", "ogive"))]


def test_options_stand_under_headings_in_order(run):
    shown = headings(run("ecdf", "--help")[1])
    assert shown == [
        "Release a whole distribution function.",
        "Question",
        "Method",
        "Privacy",
        "Records",
        "Trust",
        "Output",
    ]


@pytest.fixture(scope="module")
def helped():
    """What both kinds of help for `ogive ecdf` print."""
    said = []
    for flag in ("--help", "--help-all"):
        with redirect_stdout(io.StringIO()) as out:
            assert main(["ecdf", flag]) == 0
        said.append(out.getvalue())
    return said


@pytest.mark.parametrize("name", ["--degree", "--parties", "--upload", "--limit-rho", "--other-people"])
def test_what_few_need_is_named_and_explained_on_demand(helped, name):
    short, whole = helped
    assert name in short
    assert not any(line.strip().startswith(f"{name} ") for line in short.splitlines())
    assert any(line.strip().startswith(f"{name} ") for line in whole.splitlines())


def test_options_of_trust_models_that_cannot_serve_a_statistic_are_not_shown(run):
    shown = {name: run(name, "--help-all")[1] for name in ("ecdf", "ustat", "calibration")}
    assert {name: "--circuits" in text for name, text in shown.items()} == {
        "ecdf": False, "ustat": True, "calibration": False,
    }  # fmt: skip
    assert all("--parties" in text for text in shown.values())


@pytest.mark.parametrize("flags", [("--help", "ecdf"), ("ecdf", "-h"), ("ecdf", "--bins", "x", "--help")])
def test_help_may_be_asked_for_anywhere(run, flags):
    assert run(*flags)[1] == run("ecdf", "--help")[1]


def test_what_follows_two_dashes_is_no_option(run):
    status, _, err = run("report", "--", "--help")
    assert status == 2
    assert "--help" in err


@pytest.mark.parametrize("words", [(), ("ledger",), ("pate",), ("local",), ("plan",)])
def test_a_command_of_commands_lists_them(run, words):
    status, out, _ = run(*words)
    assert status == 0
    assert out == run(*words, "--help")[1]
    assert "COMMAND --help lists the options of a command." in out
    assert not words or "Commands" in out.splitlines()


def test_the_first_help_names_every_command(run):
    out = run("--help")[1]
    for name in COMMANDS:
        assert any(line.startswith(f"  {name}") for line in out.splitlines()), name


REFUSED = {
    "number": (("plan", "roc", "--records", "9", "--auc", "x"), "--auc must be a number, got 'x'"),
    "whole": (("plan", "roc", "--records", "9.5"), "--records must be a whole number, got '9.5'"),
    "truth": (("ecdf", "d.csv", "--column", "a", "--json=3"), "--json must be true or false, got '3'"),
    "choice": (
        ("roc", "d.csv", "--score", "a", "--label", "b", "--outside", "none"),
        "--outside must be refuse or clip, got 'none'",
    ),
    "twice": (("ecdf", "d.csv", "--column", "a", "--column", "b"), "--column was given twice; give it once"),
    "no value": (("ecdf", "d.csv", "--column"), "--column needs a value"),
    "few values": (("ecdf", "d.csv", "--column", "a", "--bounds", "1"), "--bounds needs 2 values, got 1"),
    "values with a comma": (
        ("ecdf", "d.csv", "--column", "a", "--bounds", "18,100"),
        "--bounds needs 2 values, got 1; write --bounds 18 100",
    ),
    "values of several columns with commas": (
        ("ustatistic", "d.csv", "--columns", "a", "b", "--kernel", "kendall", "--bounds", "18,100", "0,1"),
        "--bounds must be two values, or two for each column, got 2; write --bounds 18 100 0 1",
    ),
    "beginning of an option": (
        ("mean", "d.csv", "--column", "a", "--eps", "1"),
        "ogive mean has no option --eps; did you mean --epsilon?",
    ),
    "option of another name": (
        ("histogram", "d.csv", "--column", "a", "--categories", "1"),
        "ogive histogram has no option --categories",
    ),
    "no data": (("ecdf",), "say DATA: ogive ecdf DATA ..."),
    "option": (
        ("ecdf", "d.csv", "--column", "a", "--bound", "1"),
        "ogive ecdf has no option --bound; did you mean --bounds?",
    ),
    "command": (("ledger", "shwo"), "ogive ledger has no command shwo; did you mean show?"),
    "no command": (
        ("ledger", "zzz"),
        "ogive ledger has no command zzz; there are show, limit, restore or export",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named_with_what_would_be_right(run, case):
    words, message = REFUSED[case]
    assert run(*words) == (2, "", f"ogive: error: {message}\n")
