"""A release compares with the mark what was spent since the last one, and notices older copies and damage as before."""

import os
import shutil
import sqlite3

import pytest
from sqlalchemy import Engine, event

import ogive
from ogive.errors import LedgerError

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
OLDER = "is an older copy"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "budget.db"


def spend(account, what, charge="1/100"):
    question = {"what": what}
    paid = account.reserve(question, statistic="test", charge=ogive.PureDP(charge), secret=os.urandom(32))
    paid.bind(0, b"sums")
    paid.record({"value": what})


def opened(place):
    ledger = ogive.Ledger.open(place)
    return ledger, ledger.account("p", unit=UNIT, limit=ogive.PureDP(10))


def changed(place, statement, *values):
    with sqlite3.connect(place) as connection:
        assert connection.execute(statement, values).rowcount == 1
    connection.close()


def test_what_was_compared_is_not_read_again(place):
    ledger, account = opened(place)
    with ledger:
        for number in range(20):
            spend(account, number)
        read = []

        def before(connection, cursor, statement, parameters, context, many):
            if "release_id, ogive_spends.charge" in statement.replace("\n", " "):
                read.append(parameters)

        event.listen(Engine, "before_cursor_execute", before)
        try:
            spend(account, "last")
        finally:
            event.remove(Engine, "before_cursor_execute", before)
        assert len(read) == 3, "one comparison a transaction"
        # the data set, and of the spends the newest that was compared and what was noted since
        assert all(len(parameters) <= 3 for parameters in read)


@pytest.mark.parametrize("advanced", [False, True])
@pytest.mark.parametrize("spent", [1, 150])
def test_an_older_copy_that_is_put_back_while_the_ledger_is_open_is_noticed(place, advanced, spent):
    """Also where somebody spent from the copy until it had as many changes."""
    ledger, account = opened(place)
    with ledger:
        spend(account, "first")
        shutil.copyfile(place, place.with_name("copy"))
        for number in range(spent):
            spend(account, number)
        # in place, since the process holds the file open
        with sqlite3.connect(place.with_name("copy")) as older, sqlite3.connect(place) as newer:
            older.backup(newer)
        older.close()
        newer.close()
        if advanced:
            changed(place, "UPDATE ogive_meta SET value = ? WHERE name LIKE 'revision %'", str(10_000))
        with pytest.raises(LedgerError, match=OLDER):
            spend(account, "more")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM ogive_spends WHERE id = 2",
        """UPDATE ogive_spends SET charge = '{"epsilon":"1/1000","type":"PureDP"}' WHERE id = 2""",
    ],
)
def test_a_spend_that_is_removed_or_lowered_while_the_ledger_is_open_is_noticed(place, statement):
    ledger, account = opened(place)
    with ledger:
        for number in range(4):
            spend(account, number)
        changed(place, statement)
        with pytest.raises(LedgerError, match=OLDER):
            spend(account, "more")


def test_charges_that_another_process_raised_are_no_damage(place):
    ledger, account = opened(place)
    other, same = opened(place)
    with ledger, other:
        spend(account, "first")
        paid = same.reserve({"what": "raised"}, statistic="test", charge=ogive.PureDP("1/100"), secret=os.urandom(32))
        spend(account, "second")
        paid.charge(ogive.PureDP("1/50"))
        spend(account, "third")
        paid.record({"value": 1})
        spend(account, "fourth")
        assert account.spent == ogive.PureDP("6/100")
