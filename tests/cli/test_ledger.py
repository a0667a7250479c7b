"""The budget on the command line: paying, repeating for free, refusing, showing, limiting and exporting."""

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.forked import Forked, program
from helpers.scope import is_everything
from helpers.waiting import PATIENCE, until

from ogive.cli import main
from ogive.ledger import database

PROGRAM = Path(sys.executable).with_name("ogive")
AGES = np.random.default_rng(11).integers(18, 90, 2_000)
AGE = ("--column", "age", "--bounds", "0", "120", "--bins", "60")
BOOKS = ("--ledger", "budget.db", "--limit-epsilon", "1")
HALF = ("--epsilon", "0.5")


def write_people(folder):
    rows = "".join(f"{age},p{i // 2},{int(age > 50)}\n" for i, age in enumerate(AGES))
    (folder / "people.csv").write_text("age,who,old\n" + rows)


def without_settings(patch):
    for name in [name for name in os.environ if name.startswith("OGIVE_")]:
        patch.delenv(name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with records, two to a person, and no settings."""
    without_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def paid(tmp_path_factory):
    """A folder with a ledger that was paid for a release of the same records."""
    folder = tmp_path_factory.mktemp("paid")
    with pytest.MonkeyPatch.context() as patch:
        without_settings(patch)
        patch.chdir(folder)
        write_people(folder)
        assert main(["ecdf", "people.csv", *AGE, *HALF, *BOOKS]) == 0
    return folder


@pytest.fixture
def books(folder, paid):
    """The working folder with a copy of this ledger."""
    shutil.copytree(paid, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def spent(run):
    """What the ledger says of its only data set."""
    (account,) = json.loads(run("ledger", "show", "budget.db", "--json")[1])["accounts"]
    return None if account["spent"] is None else account["spent"]["epsilon"]


ASKS = {
    "ecdf": AGE,
    "quantiles": AGE,
    "roc": ("--score", "age", "--bounds", "0", "120", "--label", "old"),
    "bounds": ("--column", "age"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ASKS)
def test_a_release_is_paid_and_a_repeated_one_is_free(folder, run, command):
    ask = (command, "people.csv", *ASKS[command], *HALF, "--json")
    status, first, err = run(*ask, *BOOKS)
    begun = "created ledger budget.db\ncreated account 'people' with limit epsilon = 1\n"
    assert (status, err) == (0, f"{begun}people: paid epsilon = 0.5; epsilon = 0.5 remaining\n")
    status, again, err = run(*ask, "--ledger", "budget.db")
    assert (status, again) == (0, first)
    assert re.fullmatch(r"people: .*the stored answer, at no cost; epsilon = 0\.5 remaining\n", err)
    assert spent(run) == "1/2"


def test_what_does_not_fit_is_refused_with_status_one(folder, run):
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    status, out, err = run("quantiles", "people.csv", *AGE, "--epsilon", "0.6", "--ledger", "budget.db", "-o", "q.json")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert re.search(r"epsilon = 0\.5 left of epsilon = 1, .*would cost epsilon = 0\.6", err)
    assert not (folder / "q.json").exists()
    assert spent(run) == "1/2"
    assert run("quantiles", "people.csv", *AGE, *HALF, "--ledger", "budget.db")[2].endswith("; nothing remaining\n")


@pytest.mark.parametrize(
    "asked",
    [
        ("ecdf", "people.csv", "--column", "agee", "--bounds", "0", "120"),
        ("ecdf", "people.csv", "--column", "age", "--bounds", "120", "0"),
        ("roc", "people.csv", "--score", "agee", "--bounds", "0", "120", "--label", "old"),
        ("ustatistic", "people.csv", "--kernel", "gini", "--columns", "agee", "--bounds", "0", "120"),
    ],
    ids=["column", "bounds", "score", "pairs"],
)
def test_a_first_release_of_what_is_misspelt_begins_no_ledger(folder, run, asked):
    status, out, err = run(*asked, *HALF, *BOOKS)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert [path.name for path in folder.iterdir() if path.name.startswith("budget.db")] == []


def test_a_refused_first_release_creates_no_account_and_keeps_no_limit(folder, run):
    ask = ("ecdf", "people.csv", *AGE, "--epsilon", "2", "--ledger", "budget.db")
    status, out, err = run(*ask, "--limit-epsilon", "1")
    assert (status, out) == (1, "")
    lines = err.splitlines()
    assert re.match("neither a ledger nor an account .*limit is not kept", lines[0])
    assert re.search("epsilon = 1 left of epsilon = 1, .*would cost epsilon = 2", lines[1])
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
    status, _, err = run(*ask, "--limit-epsilon", "3")
    made = ["created ledger budget.db", "created account 'people' with limit epsilon = 3"]
    assert (status, err.splitlines()[:2]) == (0, made)
    other = ("ecdf", "people.csv", *AGE, "--epsilon", "2", "--ledger", "budget.db", "--data-set", "others")
    status, _, err = run(*other, "--limit-epsilon", "1", "--adjacency", "add_or_remove")
    assert (status, "already have the account 'people'" in err) == (1, True)
    (folder / "more.csv").write_text("age\n" + "30\n60\n" * 300)
    status, _, err = run("ecdf", "more.csv", *AGE, "--epsilon", "2", "--ledger", "budget.db", "--limit-epsilon", "1")
    told, refused = err.splitlines()[:2]
    assert told.startswith("the account 'more': the ledger cannot tell")
    assert (status, refused) == (1, "no account 'more' was created, and its limit is not kept")
    status, _, err = run("ecdf", "people.csv", *AGE, "--epsilon", "1.5", "--ledger", "budget.db")
    assert (status, "was created" in err) == (1, False)


REFUSED = {
    "a text column": (2, ("mean", "people.csv", "--column", "ward", "--bounds", "0", "9")),
    "a column that is not there": (2, ("mean", "people.csv", "--column", "agee", "--bounds", "0", "9")),
    "a condition on no column": (2, ("ecdf", "people.csv", *AGE, "--where", "wart == 'A'")),
    "a condition of another kind": (2, ("ecdf", "people.csv", *AGE, "--where", "ward == 3")),
    "bounds of no variable": (2, ("describe", "people.csv", "--bounds", "agee=0:120")),
    "values of no variable": (2, ("describe", "people.csv", "--values", "wart=A,B")),
    "a group that was not declared": (2, ("ecdf", "people.csv", *AGE, "--by", "ward", "--by-groups", "A")),
    "a missing value": (2, ("mean", "people.csv", "--column", "gap", "--bounds", "0", "9")),
    "noise of another kind": (2, ("ecdf", "people.csv", *AGE, "--method", "sqrt")),
    "parties that are not enough": (2, ("ecdf", "people.csv", *AGE, "--trust", "secagg", "--parties", "1")),
    "people who are not named": (2, ("ecdf", "people.csv", *AGE, "--person", "whoo")),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_whatever_is_refused_at_first_leaves_no_file(folder, run, reason):
    rows = "".join(f"{age},{'AB'[age % 2]},{age % 9 if age > 20 else ''}\n" for age in AGES)
    (folder / "people.csv").write_text("age,ward,gap\n" + rows)
    wanted, ask = REFUSED[reason]
    status, out, err = run(*ask, *HALF, *BOOKS)
    assert (status, out) == (wanted, "")
    assert "error" in err.splitlines()[-1]
    assert "created ledger" not in err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_new_books_need_a_limit_and_old_ones_keep_theirs(folder, run):
    status, out, err = run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "the limit of the account, for example --limit-epsilon 3" in err
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv"]
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    for other in (("--limit-epsilon", "2"), ("--limit-rho", "1"), ("--limit-epsilon", "1", "--limit-delta", "1e-9")):
        status, out, err = run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db", *other)
        assert (status, out) == (1, "")
        assert "change it with ogive ledger limit" in err


def test_limits_of_other_kinds(folder, run):
    status, _, err = run("ecdf", "people.csv", *AGE, "--rho", "0.1", "--ledger", "r.db", "--limit-rho", "0.5")
    assert status == 0
    assert err.endswith("\npeople: paid rho = 0.1 (zCDP); rho = 0.4 (zCDP) remaining\n")
    limit = ("--ledger", "a.db", "--limit-epsilon", "2", "--limit-delta", "1e-6")
    assert run("ecdf", "people.csv", *AGE, *HALF, *limit)[0] == 0
    status, out, err = run(
        "ecdf", "people.csv", *AGE, *HALF, "--ledger", "b.db", "--limit-rho", "1", "--limit-epsilon", "1"
    )
    assert (status, out) == (2, "")
    assert "either --limit-rho or --limit-epsilon" in err


@pytest.mark.parametrize("option", [("--data-set", "x"), ("--part", "x"), ("--limit-epsilon", "1"), ("--updated",)])
def test_options_of_a_ledger_need_one(folder, run, option):
    status, out, err = run("ecdf", "people.csv", *AGE, *HALF, *option)
    assert (status, out) == (2, "")
    assert f"{option[0]} requires --ledger" in err


def test_persons_are_the_unit_with_and_without_a_ledger(folder, run):
    persons = ("--person", "who", "--max-rows-per-person", "2")
    provenance = json.loads(run("ecdf", "people.csv", *AGE, *HALF, *persons, "--json")[1])["provenance"]
    assert (provenance["person"], provenance["max_rows_per_person"]) == ("who", 2)
    assert provenance["adjacency"] == "add_or_remove"
    one = json.loads(run("ecdf", "people.csv", *AGE, *HALF, "--person", "who", "--json")[1])
    assert (one["provenance"]["adjacency"], one["total"]) == ("replace", 1_000)
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, *persons)[0] == 0
    status, _, err = run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db")
    assert (status, err.count("\n")) == (1, 1)
    assert "protects one person (column who) with up to 2 rows" in err
    for bad, words in [
        (("--max-rows-per-person", "2"), "--max-rows-per-person needs"),
        ((*persons, "--adjacency", "replace"), "--adjacency add_or_remove, or --max-rows-per-person 1"),
        (("--person", "whoo"), "did you mean 'who'?"),
    ]:
        status, _, err = run("ecdf", "people.csv", *AGE, *HALF, *bad)
        assert (status, err.count("\n")) == (2, 1)
        assert words in err


def test_other_records_under_one_name_are_refused_unless_updated(folder, run):
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "50,q,0\n")
    status, _, err = run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db")
    assert (status, err.count("\n")) == (1, 1)
    assert "use --updated, which keeps the spends" in err
    assert run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db", "--updated")[0] == 0
    assert spent(run) == "1"


def test_parts_are_paid_in_parallel(folder, run):
    for part in ("north", "south"):
        lines = (folder / "people.csv").read_text().splitlines()
        half = lines[1:1001] if part == "north" else lines[1001:]
        (folder / f"{part}.csv").write_text("\n".join([lines[0], *half]))
        books = (*BOOKS, "--data-set", "all", "--part", part)
        assert run("ecdf", f"{part}.csv", *AGE, *HALF, *books)[0] == 0
    assert spent(run) == "1/2"


def test_a_file_that_cannot_be_written_after_paying_loses_nothing(folder, run, monkeypatch):
    from ogive.cli import output
    from ogive.errors import ParameterError

    def full(path, content, **options):
        raise ParameterError(f"cannot write {path}: no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output, "write_atomically", full)
        status, out, err = run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, "-o", "c.json")
        assert (status, out) == (1, "")
        assert "the ledger has the result: ask again at no cost" in err
        status, out, plain_err = run("ecdf", "people.csv", *AGE, *HALF, "-o", "c.json")
        assert status == 1
        assert json.loads(out)["column"] == "age", "without a ledger it goes to standard output"
        assert "the result went to standard output instead" in plain_err
    assert spent(run) == "1/2"
    assert run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db", "-o", "c.json")[0] == 0
    assert json.loads((folder / "c.json").read_text())["column"] == "age"
    assert spent(run) == "1/2"


@pytest.mark.parametrize("name", ["budget.db", "budget.db.key", "sqlite:///budget.db"])
def test_no_output_overwrites_the_ledger_or_its_key(books, run, name):
    folder = books
    place, target = (name, "budget.db") if name.startswith("sqlite") else ("budget.db", name)
    before = (folder / target).read_bytes()
    status, _, err = run("quantiles", "people.csv", *AGE, *HALF, "--ledger", place, "-o", target)
    assert status == 2
    assert "would overwrite" in err
    assert run("ledger", "export", place, "-o", target)[0] == 2
    assert (folder / target).read_bytes()[:16] == before[:16]
    assert spent(run) == "1/2"


def test_clear_needs_no_books(folder, run):
    status, _, err = run("ecdf", "people.csv", *AGE, "--trust", "clear", "--ledger", "budget.db")
    assert (status, err) == (0, "")
    assert not (folder / "budget.db").exists()


def test_settings_name_the_ledger(folder, run, monkeypatch):
    (folder / "ogive.toml").write_text('ledger = "budget.db"\n')
    asked = run("ecdf", "people.csv", *AGE, *HALF, "--limit-epsilon", "1")
    assert asked[2].endswith("\npeople: paid epsilon = 0.5; epsilon = 0.5 remaining\n")
    assert "remaining  epsilon = 0.5" in run("ledger", "show")[1]
    monkeypatch.setenv("OGIVE_LEDGER", "other.db")
    assert run("ledger", "show")[0] == 1
    assert "remaining  epsilon = 0.5" in run("ledger", "show", "budget.db")[1]


def test_show_reads_like_a_bank_statement(folder, run):
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    (folder / "others.csv").write_text((folder / "people.csv").read_text() + "50,q,0\n")
    assert run("bounds", "others.csv", "--column", "age", "--epsilon", "1", *BOOKS)[0] == 0
    status, out, err = run("ledger", "show", "budget.db")
    assert (status, err) == (0, "")
    first, second = out.strip().split("\n\n")
    assert first.startswith("others: one record replaced")
    assert first.splitlines()[1].endswith("bounds age  epsilon = 1")
    assert first.endswith("remaining  nothing")
    assert second.splitlines()[1].endswith("ecdf age  epsilon = 0.5")
    for text in (first, second):
        assert re.match(r"  1  \d{4}-\d\d-\d\d \d\d:\d\d UTC  ", text.splitlines()[1]), "each account counts from 1"
    assert run("ledger", "show", "budget.db", "--data-set", "people")[1].strip() == second
    plain = json.loads(run("ledger", "show", "budget.db", "--data-set", "people", "--json")[1])
    assert plain["schema"] == "ogive.statement/1"
    (account,) = plain["accounts"]
    assert (account["name"], account["remaining"]) == ("people", {"type": "PureDP", "epsilon": "1/2"})
    (entry,) = account["entries"]
    assert (entry["statistic"], entry["state"], "estimate" in entry) == ("ecdf", "released", False)


def test_show_tells_reports_of_owners_from_what_a_curator_released(folder, run):
    asked = ("--column", "age", "--bounds", "0", "120", "--bins", "16", "--epsilon", "0.5", *BOOKS)
    for trust in ("central", "local"):
        status, _, err = run("ecdf", "people.csv", *asked, "--trust", trust)
        assert status == 0, err
    _, curator, owners, *_ = run("ledger", "show", "budget.db")[1].splitlines()
    assert curator.endswith("epsilon = 0.5")
    assert owners.endswith("epsilon = 0.5  trust local")


def test_limit_changes_what_may_be_spent(folder, run):
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    limit = ("ledger", "limit", "budget.db", "--data-set", "people")
    status, out, err = run(*limit, "--epsilon", "0.4")
    assert (status, out, err.count("\n")) == (1, "", 1)
    status, out, err = run(*limit, "--limit-epsilon", "5")
    assert (status, err) == (0, "")
    assert "remaining  epsilon = 4.5" in out
    status, out, err = run(*limit, "--no-limit")
    assert (status, err) == (0, "")
    assert "limit      none" in out
    assert run("ecdf", "people.csv", *AGE, "--epsilon", "9", "--ledger", "budget.db")[0] == 0


def test_a_limit_has_the_names_that_it_has_elsewhere_and_those_of_an_earlier_version(folder, run):
    shown = run("ledger", "limit", "--help")[1]
    assert "--limit-epsilon STR" in shown
    assert not [line for line in shown.splitlines() if line.strip().startswith(("--epsilon", "--delta", "--rho"))]
    new = ("ledger", "limit", "b.db", "--data-set")
    both = {"old": ("--epsilon", "1", "--delta", "1e-6"), "new": ("--limit-epsilon", "1", "--limit-delta", "1e-6")}
    for name, own in both.items():
        assert "limit      epsilon = 1, delta = 1e-06" in run(*new, name, *own, "--new")[1]
    for name, own in (("old rho", ("--rho", "1")), ("new rho", ("--limit-rho", "1"))):
        assert "limit      rho = 1 (zCDP)" in run(*new, name, *own, "--new")[1]
    status, _, err = run(*new, "old", "--epsilon", "2", "--limit-epsilon", "2")
    assert (status, err.count("\n")) == (2, 1)
    assert "given twice" in err


def test_a_new_account_without_a_limit_makes_no_ledger(folder, run):
    status, out, err = run("ledger", "limit", "b.db", "--data-set", "p", "--new", "--no-limit")
    assert (status, out) == (2, "")
    assert "give the limit of the account, for example --limit-epsilon 3" in err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_a_steward_opens_the_account_and_analysts_spend(folder, run):
    new = ("ledger", "limit", "budget.db", "--data-set", "people", "--epsilon", "1", "--new")
    assert run(*new, "--person", "who", "--max-rows-per-person", "2")[0] == 0
    persons = ("--person", "who", "--max-rows-per-person", "2")
    assert run("ecdf", "people.csv", *AGE, *HALF, *persons, "--ledger", "budget.db")[0] == 0
    assert run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "budget.db")[0] == 1
    status, _, err = run(*new)
    assert status == 1
    assert "already; leave --new out to change its limit" in err


def test_export_holds_everything_but_secrets(folder, run):
    released = json.loads(run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, "--json")[1])
    status, out, err = run("ledger", "export", "budget.db")
    assert (status, err) == (0, "")
    plain = json.loads(out)
    assert plain["schema"] == "ogive.ledger/1"
    assert plain["accounts"][0]["entries"][0]["estimate"] == released
    assert '"secret' not in out
    status, out, err = run("ledger", "export", "budget.db", "--data-set", "people", "-o", "all.json")
    assert (status, out, err) == (0, "exported 1 data set\n", "wrote all.json\n")
    assert json.loads((folder / "all.json").read_text()) == plain


BAD = {
    "no_place": (("show",), 2, "name the ledger, for example: ogive ledger show budget.db"),
    "no_ledger": (("show", "none.db"), 1, "there is no ledger none.db"),
    "no_ledger_to_limit": (
        ("limit", "none.db", "--data-set", "x", "--limit-epsilon", "1"),
        1,
        "there is no ledger none.db",
    ),
    "unknown_data_set": (("show", "budget.db", "--data-set", "poeple"), 1, "has no account 'poeple'; it has people"),
    "unknown_exported": (("export", "budget.db", "--data-set", "poeple"), 1, "has no account 'poeple'"),
    "unknown_limited": (("limit", "budget.db", "--data-set", "x", "--limit-epsilon", "1"), 1, "has no account 'x'"),
    "no_limit_said": (
        ("limit", "budget.db", "--data-set", "people"),
        2,
        "for example --limit-epsilon 3, or --no-limit",
    ),
    "two_limits": (
        ("limit", "budget.db", "--data-set", "people", "--limit-epsilon", "3", "--no-limit"),
        2,
        "give either a limit",
    ),
    "new_without_limit": (
        ("limit", "budget.db", "--data-set", "x", "--new", "--no-limit"),
        2,
        "give the limit of the account",
    ),
    "unit_of_old": (
        ("limit", "budget.db", "--data-set", "people", "--limit-epsilon", "3", "--person", "who"),
        2,
        "with --new",
    ),
    "no_database": (("show", "people.csv"), 1, "is not a ledger"),
    "other_database": (("show", "mysql://host/db"), 2, "must be a path, sqlite:///"),
    "limit_zero": (
        ("limit", "budget.db", "--data-set", "people", "--limit-epsilon", "0"),
        2,
        "--limit-epsilon must be above 0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_use_of_a_ledger_is_one_line(books, run, case):
    arguments, expected, words = BAD[case]
    status, out, err = run("ledger", *arguments)
    assert (status, out, err.count("\n")) == (expected, "", 1)
    assert words in err
    assert spent(run) == "1/2"
    assert not (books / "none.db").exists()


UNUSABLE = {
    "garbage": (lambda folder: (folder / "budget.db").write_bytes(b"no database " * 400), "is not a ledger"),
    "folder": (lambda folder: (folder / "budget.db").mkdir(), "it is a folder"),
    "no_key": (lambda folder: (folder / "budget.db.key").unlink(), "key file"),
    "short_key": (lambda folder: (folder / "budget.db.key").write_bytes(b"short"), "is not a ledger's key file"),
    "newer_version": (
        lambda folder: change(folder, "UPDATE ogive_meta SET value = '99' WHERE name = 'version'"),
        "upgrade",
    ),
    "locked": (lambda folder: hold(folder), "is locked by another process; try again"),
}
HELD = []


def change(folder, statement):
    with contextlib.closing(sqlite3.connect(folder / "budget.db")) as connection, connection:
        connection.execute(statement)


def hold(folder):
    HELD.append(sqlite3.connect(folder / "budget.db", isolation_level=None))
    HELD[-1].execute("BEGIN EXCLUSIVE")


@pytest.mark.parametrize("case", UNUSABLE)
def test_an_unusable_ledger_is_one_line_with_status_one(folder, paid, run, monkeypatch, case):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    spoil, words = UNUSABLE[case]
    if case not in ("garbage", "folder"):
        shutil.copytree(paid, folder, dirs_exist_ok=True)
    spoil(folder)
    status, out, err = run("quantiles", "people.csv", *AGE, *HALF, *BOOKS, "-o", "q.json")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert words in err
    assert not (folder / "q.json").exists()
    while HELD:
        HELD.pop().close()


def test_a_record_of_nobody_is_refused_and_nothing_is_spent(folder, run):
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "50,,0\n")
    status, out, err = run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, "--person", "who")
    # found as the session opens, which compares people with those of other data sets
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'who' has missing values" in err
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_the_same_people_under_another_name_are_refused_until_it_is_said(folder, run):
    persons = ("--person", "who", "--max-rows-per-person", "2")
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, *persons)[0] == 0
    header, *lines = (folder / "people.csv").read_text().splitlines()
    (folder / "again.csv").write_text("\n".join([header, *reversed(lines[1:])]) + "\n")
    status, out, err = run("ecdf", "again.csv", *AGE, *HALF, *BOOKS, *persons)
    assert (status, out, err.count("\n")) == (1, "", 1)
    for words in ("have the account 'people' already", "--data-set people", "--updated", "use --other-people"):
        assert words in err
    assert "again" not in run("ledger", "show", "budget.db")[1]
    assert run("ecdf", "again.csv", *AGE, *HALF, *BOOKS, *persons, "--other-people")[0] == 0
    shown = run("ledger", "show", "budget.db", "--data-set", "again")[1]
    assert re.search("declared to be other people .*in the account 'people'", shown)
    shown = json.loads(run("ledger", "show", "budget.db", "--json")[1])
    assert [account.get("shared_people") for account in shown["accounts"]] == [
        [{"account": "people", "part": None, "declared": True}],
        None,
    ]


def test_the_same_people_in_two_parts_are_refused_until_it_is_said(folder, run):
    persons = ("--person", "who", "--max-rows-per-person", "2", "--data-set", "all")
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, *persons, "--part", "north")[0] == 0
    header, *lines = (folder / "people.csv").read_text().splitlines()
    (folder / "south.csv").write_text("\n".join([header, *lines[-20:]]) + "\n")
    south = ("ecdf", "south.csv", *AGE, *HALF, *BOOKS, *persons, "--part", "south")
    status, out, err = run(*south)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert re.search("100 % of the people .*in the part 'north' too", err)
    assert "use --other-people" in err
    assert run(*south, "--other-people")[0] == 0


@pytest.mark.parametrize("options", [("--other-people",), ("--other-people", *("--ledger", "budget.db"))])
def test_declaring_other_people_needs_a_ledger_and_a_person_column(folder, run, options):
    status, _, err = run("ecdf", "people.csv", *AGE, *HALF, *options)
    assert status == 2
    assert "--other-people requires --" in err


def opened_by_a_reader(pipe):
    """The writing end of a named pipe, once somebody has opened it to read."""

    def opened():
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as problem:
            if problem.errno != errno.ENXIO:  # nobody reads yet
                raise
            return None

    return until(opened)


def test_an_interrupt_before_anything_is_asked_spends_nothing(folder, run):
    """A program, stopped while it waits for its records: nothing is spent, and the status says why."""
    os.mkfifo(folder / "slow.csv")
    words = ["ecdf", "slow.csv", *AGE, *HALF, *BOOKS, "--data-set", "people"]
    if is_everything():
        asked = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    else:
        asked = Forked(words, folder)
    writer = opened_by_a_reader(folder / "slow.csv")
    os.kill(asked.pid, signal.SIGINT)
    os.close(writer)  # a reader that is not Python waits for an end, whatever signals come
    asked.wait(PATIENCE)
    out, err = asked.communicate(*() if is_everything() else (PATIENCE,))
    assert (asked.returncode, out) == (130, "")
    assert err.startswith("ogive: stopped")
    assert err.count("\n") == 1
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS)[0] == 0
    assert spent(run) == "1/2"


def test_colleagues_at_once_never_spend_more_than_there_is(folder, run, tmp_path_factory):
    """Three processes ask for half of the budget each, at the same time: two get it."""
    assert run("ledger", "limit", "budget.db", "--data-set", "people", "--epsilon", "1", "--new")[0] == 0
    forked = program(tmp_path_factory.mktemp("program"))
    asked = [forked, "ecdf", "people.csv", "--column", "age", *HALF, "--ledger", "budget.db", "--bounds", "0"]
    programs = [
        subprocess.Popen([*asked, str(end)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for end in (100, 110, 120)
    ]
    said = [each.communicate(timeout=PATIENCE)[1] for each in programs]
    assert sorted(each.returncode for each in programs) == [0, 0, 1], said
    assert sum("has nothing left of epsilon = 1" in words for words in said) == 1, said
    assert spent(run) == "1"


def test_an_older_copy_is_refused_and_restored_with_what_it_lost(folder, run):
    assert run("ecdf", "people.csv", *AGE, *BOOKS, *HALF)[0] == 0
    copy = Path("budget.db").read_bytes()
    assert run("ecdf", "people.csv", "--column", "age", "--bounds", "0", "120", "--bins", "30", *BOOKS, *HALF)[0] == 0
    for left in Path().glob("budget.db-*"):
        left.unlink()
    Path("budget.db").write_bytes(copy)
    for command in (("ecdf", "people.csv", *AGE, *BOOKS, "--epsilon", "0.25"), ("ledger", "show", "budget.db")):
        status, out, err = run(*command)
        assert (status, out) == (1, "")
        assert "ogive ledger restore" in err
        assert len(err.strip().splitlines()) == 1
    status, out, _ = run("ledger", "restore", "budget.db")
    assert status == 0
    assert "people" in out
    assert spent(run) == "1"
    assert run("ecdf", "people.csv", *AGE, *BOOKS, "--epsilon", "0.25")[0] == 1, "nothing is left"
    assert "nothing was changed" in run("ledger", "restore", "budget.db")[1]


def test_an_account_keeps_how_the_rows_of_a_person_are_chosen(folder, run):
    persons = ("--person", "who", "--max-rows-per-person", "2")
    by_cells = (*persons, "--row-choice", "md5")
    provenance = json.loads(run("ecdf", "people.csv", *AGE, *HALF, *by_cells, "--json")[1])["provenance"]
    assert provenance["row_choice"] == "md5"
    assert run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, *by_cells)[0] == 0
    status, out, err = run("ecdf", "people.csv", *AGE, *HALF, *BOOKS, *persons)
    assert (status, out) == (1, "")
    assert "chooses rows of a person by 'md5'" in err
    assert "give the choice of the account as --row-choice" in err
    new = ("ledger", "limit", "c.db", "--data-set", "visits", "--limit-epsilon", "3", "--new", *by_cells)
    assert run(*new)[0] == 0
    assert run("ecdf", "people.csv", *AGE, *HALF, "--ledger", "c.db", "--data-set", "visits", *by_cells)[0] == 0
