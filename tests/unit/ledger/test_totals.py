"""Totals of charges are those of the spends, whoever changed the account, and are not used where they need not be."""

import json
import os
import shutil
import sqlite3

import numpy as np
import pytest
from helpers import postgres
from helpers.scope import size
from sqlalchemy import Engine, event, select

import ogive
from ogive.errors import BudgetError, LedgerError
from ogive.ledger import tables
from ogive.ledger.entries import Keys
from ogive.ledger.tables import META, Totals

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
PRICES = [ogive.PureDP("1/100"), ogive.PureDP("1/50"), ogive.PureDP("1/20")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "budget.db"


def reserved(account, what, charge="1/100"):
    charge = ogive.PureDP(charge) if isinstance(charge, str) else charge
    return account.reserve({"what": what}, statistic="test", charge=charge, secret=os.urandom(32))


def spend(account, what, charge="1/100"):
    paid = reserved(account, what, charge)
    paid.bind(0, b"sums")
    paid.record({"value": what})


def rows_of(place, like):
    connection = sqlite3.connect(place)
    found = dict(connection.execute("SELECT name, value FROM ogive_meta WHERE name LIKE ?", (like,)))
    connection.close()
    return found


def put_rows(place, rows):
    connection = sqlite3.connect(place)
    with connection:
        for name, value in rows.items():
            connection.execute("INSERT OR REPLACE INTO ogive_meta (name, value) VALUES (?, ?)", (name, value))
    connection.close()


def copied(place):
    """A copy of a ledger with its key file, in a folder of its own."""
    folder = place.with_name("copied")
    folder.mkdir()
    with sqlite3.connect(place) as now, sqlite3.connect(folder / place.name) as copy:
        now.backup(copy)
    now.close()
    copy.close()
    shutil.copyfile(f"{place}.key", folder / f"{place.name}.key")
    return folder / place.name


def is_counted(monkeypatch, call):
    """Whether a call reads all spends of an account."""
    counts = []
    counted = Totals.counted.__func__

    def noticed(cls, *args, **more):
        counts.append(args)
        return counted(cls, *args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Totals, "counted", classmethod(noticed))
        call()
    return bool(counts)


def books_of(account):
    return account._tables, account._spot.number


def same_totals(account):
    """Whether totals of the account are stored as valid; they are those of its spends then."""
    books, number = books_of(account)
    with books.database.read() as connection:
        kept = dict(connection.execute(select(META)).all())
        stored = Totals.stored(connection, kept, number, books.revision(connection, number), books.keys.totals)
        counted = Totals.counted(connection, number)
    assert stored is None or stored.rows() == counted.rows()
    return stored is not None


@pytest.mark.parametrize(
    ("kept", "delta", "seed"),
    [
        ("file", 0, 0),
        ("file", 0, 1),
        ("file", 1e-6, 2),
        ("file", 1e-6, 3),
        ("postgresql", 0, 4),
        ("postgresql", 1e-6, 5),
    ],
)
def test_they_are_those_of_the_spends_after_any_sequence_of_changes(place, kept, delta, seed):
    """Of two processes, in parts, with raised charges, settings that change, and a library that knows no totals."""
    rng = np.random.default_rng(seed)
    if kept == "postgresql":
        place = postgres.server().database()

    def limit(epsilon):
        return ogive.ApproxDP(epsilon, delta) if delta else ogive.PureDP(epsilon)

    with ogive.Ledger.open(place) as one, ogive.Ledger.open(place) as other:
        accounts = [each.account("p", unit=UNIT, limit=limit(50)) for each in (one, other)]
        spend(accounts[0], "first")
        accounts += [accounts[0].part("a"), accounts[1].part("b")]
        open_ones, valid, steps = [], 0, size(60, part=40)
        for step in range(steps):
            account = accounts[rng.integers(len(accounts))]
            chances = {"spend": 0.2, "begin": 0.2, "raise": 0.25, "bind": 0.1, "end": 0.1, "limit": 0.1, "older": 0.05}
            what = rng.choice(list(chances), p=list(chances.values()))
            if what == "spend":
                spend(account, step, PRICES[rng.integers(3)])
            elif what == "begin":
                open_ones.append(reserved(account, step, PRICES[rng.integers(3)]))
            elif what == "limit":
                accounts[rng.integers(2)].set_limit(limit(int(rng.integers(40, 60))))
            elif what == "older":
                books, number = books_of(account)
                with pytest.MonkeyPatch.context() as patched:
                    patched.setattr(type(books), "_keep_totals", lambda *_: None)
                    spend(account, step)
                assert not same_totals(account), "a change that totals do not know was noticed"
            elif open_ones:
                number = int(rng.integers(len(open_ones)))
                paid = open_ones[number]
                if what == "raise":
                    paid.charge(PRICES[rng.integers(1, 3)]) if step % 2 else paid.charge(ogive.PureDP(f"{step + 2}/20"))
                elif what == "bind":
                    paid.bind(int(step), b"sums")
                else:
                    open_ones.pop(number).record({"value": 1})
            valid += same_totals(account)
        assert valid > steps // 2


def test_what_is_raised_is_the_first_of_several(place):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        paid = [reserved(account, number) for number in range(3)]
        paid[0].charge(ogive.PureDP("1/10"))
        assert same_totals(account)
        assert account.spent == ogive.PureDP("12/100")
        paid[1].charge(ogive.PureDP("1/10"))
        paid[2].charge(ogive.PureDP("1/10"))
        assert same_totals(account)
        assert account.spent == ogive.PureDP("3/10")


def test_spends_are_counted_once_and_after_others_have_changed_them(place, monkeypatch):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(5))
        spend(account, 0)
        assert not is_counted(monkeypatch, lambda: spend(account, 1))
        paid = reserved(account, 2, "1/30")
        assert not is_counted(monkeypatch, lambda: paid.charge(ogive.PureDP("1/10")))
        assert not is_counted(monkeypatch, lambda: account.remaining)
        assert not is_counted(monkeypatch, lambda: account.set_limit(ogive.PureDP(6)))
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT)
        assert not is_counted(monkeypatch, lambda: spend(account, 3))
        assert account.spent == ogive.PureDP("13/100")


@pytest.mark.parametrize("damage", ["totals", "stamp", "both", "lost", "words", "revision", "other"])
def test_totals_that_were_tampered_with_are_not_used(place, monkeypatch, damage):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP("4/100"))
        spend(account, 0)
        before = rows_of(place, "%totals%")
        second = ledger.account("q", unit=UNIT, limit=ogive.PureDP("4/100"))
        for number in range(3):
            spend(second, number, "1/1000")
        others = rows_of(place, "%totals 2")
        for number in (1, 2):
            spend(account, number)
        assert set(before) == {"totals 1", "stamp of totals 1"}
        now = rows_of(place, "%totals 1")
        assert len(set(rows_of(place, "revision %").values())) == 1, "the rows of the other account are of the same one"
        (((part, first, charge, spends, times),)) = json.loads(now["totals 1"])
        assert times == 3
        put_rows(
            place,
            {
                "totals": {"totals 1": json.dumps([[part, first, charge, spends, 1]], separators=(",", ":"))},
                "stamp": {"stamp of totals 1": now["stamp of totals 1"][:-1] + "x"},
                "both": before,
                "lost": {"totals 1": "[]"},
                "words": {"totals 1": "é\ud7ff", "stamp of totals 1": "é"},
                "revision": {"stamp of totals 1": before["stamp of totals 1"]},
                "other": {name[:-1] + "1": value for name, value in others.items()},
            }[damage],
        )
        assert is_counted(monkeypatch, lambda: account.remaining)
        assert account.remaining == ogive.PureDP("1/100")
        with pytest.raises(BudgetError, match="left of"):
            spend(account, 3, "2/100")
        spend(account, 3)
        assert same_totals(account)
        with pytest.raises(BudgetError, match="nothing left"):
            spend(account, 4)


def test_totals_that_are_no_valid_text_are_damage(place):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        spend(account, 0)
        connection = sqlite3.connect(place)
        with connection:
            connection.execute("UPDATE ogive_meta SET value = CAST(x'ff' AS TEXT) WHERE name = 'totals 1'")
        connection.close()
        with pytest.raises(LedgerError, match="damaged"):
            spend(account, 1)


def test_totals_of_the_revision_of_an_older_copy_are_those_of_that_copy(place):
    """The control of the test above: with a stamp that says nothing of the revision, old rows refill the budget."""
    with ogive.Ledger.open(place) as ledger, pytest.MonkeyPatch.context() as patched:
        stamp = tables._stamp
        patched.setattr(tables, "_stamp", lambda number, digest, revision, key: stamp(number, digest, 0, key))
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP("4/100"))
        spend(account, 0)
        before = rows_of(place, "%totals%")
        for number in (1, 2):
            spend(account, number)
        put_rows(place, before)
        assert account.remaining == ogive.PureDP("3/100")


def test_totals_that_lack_what_the_mark_lists_are_not_used(place, monkeypatch):
    """Rows of a copy that came to the same revision by another change, so that their stamp is valid."""
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP("4/100"))
        spend(account, 0)
        waiting = reserved(account, 1)
        other_place = copied(place)
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("OGIVE_LEDGER_MARK", str(other_place.with_name("mark")))  # of another machine
            with ogive.Ledger.open(other_place) as other:
                other.account("p").set_limit(ogive.PureDP("4/100"))
        rows = rows_of(other_place, "%totals%")
        half = reserved(account, 2, "2/100")
        assert rows_of(place, "revision %") == rows_of(other_place, "revision %")
        put_rows(place, rows)
        assert account.remaining == ogive.PureDP("2/100"), "nobody compares what is only looked at"
        for call in (lambda: reserved(account, 3), lambda: waiting.charge(ogive.PureDP("2/100"))):
            with pytest.raises(BudgetError, match="nothing left"):
                call()
        half.record({"value": 1})


def test_a_spend_that_is_removed_is_noticed_where_all_are_counted_again(place):
    """Because the totals are lost, or because the first of several equal charges is raised."""
    for damage in ("lost", "raised"):
        file = place.with_name(f"{damage}.db")
        with ogive.Ledger.open(file) as ledger:
            account = ledger.account("p", unit=UNIT, limit=ogive.PureDP("4/100"))
            paid = reserved(account, 0)
            for number in range(1, 4):
                spend(account, number)
            with sqlite3.connect(file) as connection:
                connection.execute("DELETE FROM ogive_spends WHERE id IN (2, 3)")
                if damage == "lost":
                    connection.execute("DELETE FROM ogive_meta WHERE name LIKE '%totals%'")
            connection.close()
            with pytest.raises(LedgerError, match="older copy"):
                paid.charge(ogive.PureDP("3/100")) if damage == "raised" else reserved(account, 9, "2/100")


def test_a_charge_that_was_raised_by_hand_frees_no_other(place):
    """The row says that the raised spend has the charge of another one, which stays charged."""
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        spend(account, 0)
        paid = reserved(account, 1)
        spend(account, 2, "1/2")
        with sqlite3.connect(place) as connection:
            connection.execute(
                "UPDATE ogive_spends SET (first_charge, charge) = "
                "(SELECT first_charge, charge FROM ogive_spends WHERE id = 3) WHERE id = 2"
            )
        connection.close()
        with pytest.raises(BudgetError, match="left of"):
            paid.charge(ogive.PureDP("51/100"))


def test_a_limit_that_is_set_later_has_totals_and_so_has_a_restored_ledger(place, monkeypatch):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT)
        for number in range(3):
            spend(account, number)
        assert rows_of(place, "%totals%") == {}
        account.set_limit(ogive.PureDP(1))
        assert same_totals(account)
        copy = copied(place)
        spend(account, 3)
    shutil.copyfile(copy, place)
    ogive.Ledger.restore(place)
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p")
        assert is_counted(monkeypatch, lambda: account.spent)
        assert account.spent == ogive.PureDP("4/100")
        spend(account, 4)
        assert same_totals(account)
        assert account.spent == ogive.PureDP("5/100")


def test_totals_of_very_many_charges_are_not_stored(place, monkeypatch):
    monkeypatch.setattr(tables, "_MOST", 3)
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        for number in range(1, 6):
            spend(account, number, f"{number}/100")
            assert same_totals(account) == (number < 4)
        assert account.spent == ogive.PureDP("15/100")


def test_a_ledger_without_an_identity_has_none():
    """Libraries that count no changes may spend from it."""
    assert Keys(bytes(32)).totals is None
    assert Keys(bytes(32), "one").totals != Keys(bytes(32), "two").totals


def test_a_release_reads_no_more_rows_of_a_ledger_of_many_spends(place):
    """Virtual machine steps of SQLite for one release after 5 spends and after many."""

    def steps(account, what):
        count = [0]

        def connected(connection, _record):
            connection.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 1)

        event.listen(Engine, "connect", connected)
        try:
            spend(account, what)
        finally:
            event.remove(Engine, "connect", connected)
        return count[0]

    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(50))
        for number in range(5):
            spend(account, number)
        few = steps(account, "few")
        for number in range(10, size(400, part=160)):
            reserved(account, number)
        spend(account, "compared")
        many = steps(account, "many")
    assert few > 100
    assert many < 1.2 * few
