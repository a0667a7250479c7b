"""A release compares with the mark what was spent since the last one, and notices older copies and damage as before."""

import os
import shutil
import sqlite3
from threading import Timer

import pytest
from sqlalchemy import Engine, event

import ogive
from ogive.errors import BudgetError, LedgerError
from ogive.ledger import tables
from ogive.ledger.mark import Mark
from ogive.ledger.tables import MarkedTables

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
                read.append((statement, parameters))

        event.listen(Engine, "before_cursor_execute", before)
        try:
            spend(account, "last")
        finally:
            event.remove(Engine, "before_cursor_execute", before)
        assert len(read) == 3, "one comparison a transaction"
        # of the spends the newest that was compared and what was noted since
        assert all("release_id IN" in statement and 1 <= len(parameters) <= 2 for statement, parameters in read)


@pytest.mark.parametrize(("patience", "waits"), [(1.0, True), (1e-4, False)])
def test_what_another_process_is_about_to_note_is_waited_for(place, monkeypatch, patience, waits):
    """Where it is not noted in the time that comparing takes, all spends are compared, and what is missing is noted."""
    notes, compared = Mark.note, MarkedTables.unnoted
    late, read = [], []
    monkeypatch.setattr(MarkedTables, "unnoted", lambda *args: read.append(args) or compared(*args))
    monkeypatch.setattr(tables, "_COMPARING", patience)
    ledger, account = opened(place)
    other, same = opened(place)
    with ledger, other:
        for number in range(10):
            spend(account, number)
        spend(same, "both have compared all")
        read.clear()

        def after_a_while(mark, identity, lines, *, durable):
            late.append(Timer(0.2, notes, (mark, identity, list(lines)), {"durable": durable}))
            late[-1].start()

        monkeypatch.setattr(Mark, "note", after_a_while)
        account.reserve({"what": "late"}, statistic="test", charge=ogive.PureDP("1/100"), secret=os.urandom(32))
        monkeypatch.setattr(Mark, "note", notes)
        spend(same, "next")
        assert bool(read) is not waits
        for timer in late:
            timer.join()
        assert len(late) == 1
        spend(account, "last")
        assert account.spent == same.spent == ogive.PureDP("14/100")


def put_back(place, copy, *, revision=None):
    """Put an older copy in place, since the process holds the file open; with so many changes."""
    with sqlite3.connect(copy) as older, sqlite3.connect(place) as newer:
        older.backup(newer)
    older.close()
    newer.close()
    if revision is not None:
        changed(place, "UPDATE ogive_meta SET value = ? WHERE name LIKE 'revision %'", str(revision))


def revision_of(place):
    with sqlite3.connect(place) as connection:
        ((found,),) = connection.execute("SELECT value FROM ogive_meta WHERE name LIKE 'revision %'")
    connection.close()
    return int(found)


@pytest.mark.parametrize("limit", [None, ogive.PureDP(10)])
@pytest.mark.parametrize("ahead", [None, 0, 5])
@pytest.mark.parametrize("spent", [1, 3])
def test_an_older_copy_that_is_put_back_while_the_ledger_is_open_is_noticed(place, limit, ahead, spent):
    """Also where somebody spent from the copy until it had as many changes, or more."""
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=limit)
        spend(account, "first")
        shutil.copyfile(place, place.with_name("copy"))
        for number in range(spent):
            spend(account, number)
        put_back(place, place.with_name("copy"), revision=None if ahead is None else revision_of(place) + ahead)
        with pytest.raises(LedgerError, match=OLDER):
            spend(account, "more")


@pytest.mark.parametrize("order", [1, -1])
def test_of_spends_that_are_noted_in_one_line_each_is_missed(place, order, monkeypatch):
    """Somebody else's, of which the copy has the first, and as many changes and spends of equal charges."""
    names = iter([f"{each:032x}" for each in range(1, 20)[::order]])
    monkeypatch.setattr("ogive.ledger.transactions.secrets.token_hex", lambda _: next(names))
    with ogive.Ledger.open(place) as ledger, ogive.Ledger.open(place) as reader:
        paid, read = (
            each.account("p", unit=UNIT).reserve(
                {"what": what}, statistic="test", charge=ogive.PureDP(1), secret=os.urandom(32)
            )
            for what, each in enumerate((ledger, reader))
        )
        monkeypatch.setenv("OGIVE_LEDGER_MARK", str(place.with_name("other.mark")))
        with ogive.Ledger.open(place) as other:  # of another machine, with a mark of its own
            same = other.account("p", unit=UNIT)
            spend(same, "second")
            shutil.copyfile(place, place.with_name("copy"))
            spend(same, "third")
            paid.bind(0, b"sums")  # notes them together
            for number in range(2):
                read.bind(number, b"sums")
        put_back(place, place.with_name("copy"), revision=revision_of(place))
        for each in (paid, read):
            with pytest.raises(LedgerError, match=OLDER):
                each.record({"value": 1})


def test_many_spends_of_another_process_are_all_compared(place):
    ledger, account = opened(place)
    other, same = opened(place)
    with ledger, other:
        spend(account, "first")
        for number in range(120):
            question = {"what": number}
            same.reserve(question, statistic="test", charge=ogive.PureDP("1/1000"), secret=os.urandom(32))
        changed(place, "DELETE FROM ogive_spends WHERE id = 60")
        with pytest.raises(LedgerError, match=OLDER):
            account.reserve({"what": "x"}, statistic="test", charge=ogive.PureDP("1/1000"), secret=os.urandom(32))


def test_a_copy_from_before_a_restoration_is_missed(place, monkeypatch):
    """Also where somebody spent from it, so that it has all spends but the one that the restoration entered."""
    mark = str(place.with_name("budget.db.key.mark"))
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT)
        spend(account, "first")
        shutil.copyfile(place, place.with_name("copy"))
        spend(account, "lost")
    shutil.copyfile(place.with_name("copy"), place)
    monkeypatch.setenv("OGIVE_LEDGER_MARK", mark + ".other")  # of another machine
    with ogive.Ledger.open(place) as other:
        spend(other.account("p"), "others")
        spend(other.account("p"), "and more")
    shutil.copyfile(place, place.with_name("copy"))
    monkeypatch.setenv("OGIVE_LEDGER_MARK", mark)
    assert ogive.Ledger.restore(place) == ("'p': 1 lost spend counts as spent",)
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p")
        assert account.spent == ogive.PureDP("4/100")
        for limit in (2, 3):
            account.set_limit(ogive.PureDP(limit))
        monkeypatch.setenv("OGIVE_LEDGER_MARK", mark + ".other")
        before = revision_of(place)
        put_back(place, place.with_name("copy"))
        with ogive.Ledger.open(place) as other:
            spend(other.account("p"), "as many as before")
        changed(place, "UPDATE ogive_meta SET value = ? WHERE name LIKE 'revision %'", str(before))
        with pytest.raises(LedgerError, match=OLDER):
            account.set_limit(ogive.PureDP(1))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM ogive_spends WHERE id = 2",
        """UPDATE ogive_spends SET charge = '{"epsilon":"1/1000","type":"PureDP"}' WHERE id = 2""",
    ],
)
def test_a_spend_that_is_removed_or_lowered_while_the_ledger_is_open_counts_as_before(place, statement):
    """The totals still have it, so that nothing is refilled, and the next opening notices it."""
    ledger, account = opened(place)
    with ledger:
        for number in range(4):
            spend(account, number)
        changed(place, statement)
        assert account.spent == ogive.PureDP("4/100")
        with pytest.raises(BudgetError, match=r"has spent epsilon = 0\.04"):
            account.set_limit(ogive.PureDP("39/1000"))
        account.set_limit(ogive.PureDP("5/100"))
        spend(account, "the rest")
        with pytest.raises(BudgetError, match="has nothing left"):
            spend(account, "more")
    with pytest.raises(LedgerError, match=OLDER):
        ogive.Ledger.open(place)


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
