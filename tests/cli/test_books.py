"""New books on the command line: announced when they begin, and none after a failure, a loss or a copied file."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.forked import program
from helpers.waiting import PATIENCE

from ogive.cli import main
from ogive.errors import LedgerError

AGE = ("--column", "age", "--bounds", "0", "120", "--bins", "60")
BOOKS = ("--ledger", "budget.db", "--limit-epsilon", "3")
ONE = ("--epsilon", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with records, and no settings."""
    for name in [name for name in os.environ if name.startswith("OGIVE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("age,three\n" + "".join(f"{20 + i % 60},{i % 3}\n" for i in range(500)))
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def test_the_same_records_have_one_account_whatever_their_file_is_called(folder, run):
    assert run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)[0] == 0
    shutil.copy("p.csv", "p2.csv")
    for more in ((), ("--updated",), ("--part", "north")):
        status, out, err = run("ecdf", "p2.csv", *AGE, *ONE, *BOOKS, *more)
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert "these records already have the account 'p'; use it: --data-set p" in err
    status, out, err = run("ecdf", "p2.csv", *AGE, *ONE, "--ledger", "budget.db")
    assert (status, out) == (1, "")
    assert "--data-set p" in err, "nobody is told to give a limit first"
    assert "at no cost" in run("ecdf", "p2.csv", *AGE, *ONE, "--ledger", "budget.db", "--data-set", "p")[2]
    assert "p2" not in run("ledger", "show", "budget.db")[1]


FAILS = {
    "label of three values": ("roc", "--score", "age", "--bounds", "0", "120", "--label", "three"),
    "wrong condition": ("ecdf", *AGE, "--where", "agee > 1"),
    "more than the limit": ("ecdf", *AGE, "--epsilon", "4"),
}


@pytest.mark.parametrize("case", FAILS)
def test_a_failed_first_command_fixes_nothing(folder, run, case):
    command, *options = FAILS[case]
    price = () if "--epsilon" in options else ONE
    status, _, err = run(command, "p.csv", *options, *price, *BOOKS)
    assert status in (1, 2)
    assert "created account" not in err
    assert not (folder / "budget.db").exists()
    other = ("--ledger", "budget.db", "--limit-epsilon", "1", "--adjacency", "add_or_remove")
    assert "created account 'p' with limit epsilon = 1\n" in run("ecdf", "p.csv", *AGE, *ONE, *other)[2]


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_lost_ledger_is_not_begun_anew(folder, run, how):
    assert run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)[0] == 0
    if how == "missing":
        (folder / "budget.db").unlink()
    else:
        (folder / "budget.db").write_bytes(b"")
    for command in (
        ("ecdf", "p.csv", *AGE, *ONE, *BOOKS),
        ("ecdf", "p.csv", *AGE, *ONE, "--ledger", "budget.db"),
        ("ledger", "limit", "budget.db", "--data-set", "p", "--epsilon", "3", "--new"),
        ("ledger", "show", "budget.db"),
    ):
        status, out, err = run(*command)
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert "is missing or empty, but its key file" in err
    (folder / "budget.db.key").rename(folder / "old.key")
    assert run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)[2].startswith("created ledger budget.db\n")


def test_a_steward_s_new_ledger_is_announced(folder, run):
    new = ("ledger", "limit", "budget.db", "--data-set", "p", "--epsilon", "3", "--new")
    assert run(*new)[2] == "created ledger budget.db\n"
    assert run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)[2] == "p: paid epsilon = 1; epsilon = 2 remaining\n"


def test_of_many_who_ask_the_same_one_says_it_paid(folder, run, tmp_path_factory):
    assert run("ledger", "limit", "budget.db", "--data-set", "p", "--epsilon", "3", "--new")[0] == 0
    command = [program(tmp_path_factory.mktemp("program")), "ecdf", "p.csv", *AGE, *ONE, "--ledger", "budget.db"]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [each.communicate(timeout=PATIENCE)[1] for each in programs]
    assert sorted("paid epsilon = 1" in text for text in said) == [False, False, True], said
    assert sum("asked before: " in text and "no cost" in text for text in said) == 2, said


def test_who_finishes_what_another_paid_says_it_is_free(folder, run, monkeypatch):
    from ogive.ledger import Reservation

    with monkeypatch.context() as patch:
        patch.setattr(Reservation, "record", lambda self, estimate: (_ for _ in ()).throw(LedgerError("gone")))
        status, _, err = run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)
        assert status == 1
        assert "created account 'p'" in err, "it was paid, so the account stays"
    err = run("ecdf", "p.csv", *AGE, *ONE, "--ledger", "budget.db")[2]
    assert err == "p: asked before: no cost; epsilon = 2 remaining\n"


def test_an_interrupt_of_a_paid_release_says_that_asking_again_is_free(folder, run, monkeypatch):
    from ogive.ledger import Reservation

    def stop(self, estimate):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Reservation, "record", stop)
        status, out, err = run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)
    assert (status, out) == (130, "")
    assert err.endswith("\nogive: stopped; the release is paid, and asking again costs nothing more\n")
    assert "no cost; epsilon = 2 remaining" in run("ecdf", "p.csv", *AGE, *ONE, "--ledger", "budget.db")[2]


def test_an_interrupt_before_the_payment_says_that_nothing_was_paid(folder, run, monkeypatch):
    from ogive.ledger import Account

    def stop(self, *arguments, **options):
        raise KeyboardInterrupt

    run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)
    with monkeypatch.context() as patch:
        patch.setattr(Account, "reserve", stop)
        status, out, err = run("ecdf", "p.csv", *AGE, "--epsilon", "0.5", *BOOKS)
    assert (status, out) == (130, "")
    assert err.endswith("ogive: stopped; nothing was paid\n")


def look(folder, command):
    """What a user who may only read sees: (status, output)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 99
        try:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            status = main(command)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["show", "export"])
def test_a_ledger_that_may_only_be_read_is_shown(folder, run, command):
    assert run("ecdf", "p.csv", *AGE, *ONE, *BOOKS)[0] == 0
    expected = run("ledger", command, "budget.db")[1]
    names = sorted(path.name for path in folder.iterdir())
    parents = [path for path in folder.parents if path.stat().st_uid == os.getuid() and path != Path("/")]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in parents}
    try:
        for path in parents:
            path.chmod(modes[path] | 0o011)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        assert look(folder, ["ledger", command, "budget.db"]) == (0, expected)
        (folder / "budget.db").chmod(0o200)
        status, text = look(folder, ["ledger", command, "budget.db"])
        assert (status, text.count("\n")) == (1, 1), text
        assert "Permission denied" in text
    finally:
        folder.chmod(0o755)
        for path, mode in modes.items():
            path.chmod(mode)
    assert sorted(path.name for path in folder.iterdir()) == names
