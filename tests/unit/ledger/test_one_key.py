"""One key file for several ledgers, each with keys of its own, and what looking at a ledger leaves behind."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from helpers.postgres import server

import ogive
from ogive.errors import LedgerError
from ogive.ledger.entries import Keys
from ogive.ledger.mark import KEY_VARIABLE
from ogive.privacy import Adjacency, PrivacyUnit, PureDP

UNIT = PrivacyUnit(Adjacency.REPLACE)


def spend(ledger):
    account = ledger.account("p", unit=UNIT, limit=PureDP(1), fingerprint=ledger.fingerprint(b"data"))
    account.reserve({"what": "a"}, statistic="test", charge=PureDP("1/2"), secret=bytes(32))
    return account


@pytest.fixture
def key(tmp_path, monkeypatch):
    (tmp_path / "keys").mkdir()
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "keys" / "all.key"))
    return tmp_path / "keys" / "all.key"


def test_ledgers_of_one_key_file_share_no_key(tmp_path, key):
    marks = set()
    for place in (tmp_path / "one.db", tmp_path / "two.db", server().database()):
        with ogive.Ledger.open(place) as ledger:
            assert ledger.begun
            spend(ledger)
            marks.add(ledger.fingerprint(b"data"))
        with ogive.Ledger.open(place) as ledger:
            assert not ledger.begun
            assert ledger.fingerprint(b"data") in marks
    assert len(marks) == 3
    assert sorted(file.name for file in key.parent.iterdir() if file.suffix != ".lock") == ["all.key", "all.key.mark"]


def test_a_lost_ledger_of_a_shared_key_is_not_made_anew(tmp_path, key):
    for name in ("one.db", "two.db"):
        with ogive.Ledger.open(tmp_path / name) as ledger:
            spend(ledger)
    (tmp_path / "one.db").unlink()
    for read_only in (False, True):
        with pytest.raises(LedgerError, match="is missing or empty, and its key file"):
            ogive.Ledger.open(tmp_path / "one.db", read_only=read_only)
    with ogive.Ledger.open(tmp_path / "three.db") as ledger:
        assert ledger.begun
    key.with_name("all.key.mark").unlink()
    with pytest.raises(LedgerError, match="is missing or empty, and its key file"):
        ogive.Ledger.open(tmp_path / "four.db")


def test_an_older_copy_of_one_ledger_is_noticed_and_leaves_the_other_alone(tmp_path, key):
    one, two, old = (tmp_path / name for name in ("one.db", "two.db", "old.db"))
    for place in (one, two):
        with ogive.Ledger.open(place):
            pass
    shutil.copyfile(one, old)
    for place in (one, two):
        with ogive.Ledger.open(place) as ledger:
            spend(ledger)
    shutil.copyfile(old, one)
    with pytest.raises(LedgerError, match="is an older copy"):
        ogive.Ledger.open(one)
    with ogive.Ledger.open(two) as ledger:
        assert ledger.account("p").spent == PureDP("1/2")
    shutil.copyfile(two, one)  # another ledger in its place is that other ledger
    with ogive.Ledger.open(one) as ledger:
        assert ledger.account("p").spent == PureDP("1/2")


def test_a_ledger_s_keys_are_its_own():
    plain, one, two = Keys(bytes(32)), Keys(bytes(32), "one"), Keys(bytes(32), "two")
    for uses in (
        {keys.fingerprint(b"data") for keys in (plain, one, two)},
        {keys.check for keys in (plain, one, two)},
    ):
        assert len(uses) == 3
    assert plain.mark == one.mark == two.mark
    with pytest.raises(LedgerError, match="is damaged"):
        two.unseal(one.seal(bytes(32), "a"), "a")


def test_looking_at_a_ledger_leaves_no_files_beside_it(tmp_path, capsys):
    from ogive.cli import main

    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        spend(ledger)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert not [name for name in before if name.endswith(("-wal", "-shm"))]
    for command in ("show", "export"):
        assert main(["ledger", command, str(place)]) == 0
        assert "epsilon" in capsys.readouterr().out
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_looking_at_a_ledger_that_others_use_leaves_their_log(tmp_path):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger, closing(sqlite3.connect(place)) as other:
        other.execute("SELECT count(*) FROM ogive_meta").fetchone()
        account = spend(ledger)
        log = place.with_name("budget.db-wal").read_bytes()
        assert log
        with ogive.Ledger.open(place, read_only=True) as looked:
            assert looked.accounts()[0].spent == PureDP("1/2")
        assert place.with_name("budget.db-wal").read_bytes() == log
        assert account.remaining == PureDP("1/2")
