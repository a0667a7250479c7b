"""What PostgreSQL's default isolation level is, or a second file name, or a closed file, lets nobody spend twice."""

import os
import subprocess
import threading
from fractions import Fraction
from urllib.parse import quote

import pytest
from helpers.forked import python
from helpers.postgres import server
from helpers.trial_children import ACCOUNT, CHARGE
from helpers.trials import forks
from helpers.waiting import PATIENCE, Beside, until

import ogive
from ogive.errors import BudgetError, LedgerError, ParameterError
from ogive.ledger import database
from ogive.ledger.database import ConflictError
from ogive.ledger.transactions import LedgerTables

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
LEVELS = ("read committed", "repeatable read", "serializable")
PROCESSES = 8


def with_level(level, way):
    """The URL of an empty database where transactions have a level unless they say another."""
    url = server().database()
    name = url.rsplit("/", 1)[1]
    if way == "url":
        return f"{url}?options={quote('-c default_transaction_isolation=' + level.replace(' ', chr(92) + ' '))}"
    whose = f"DATABASE {name}" if way == "database" else f"ROLE ogive_tests IN DATABASE {name}"
    server().execute(f"ALTER {whose} SET default_transaction_isolation TO '{level}'")
    assert server().execute("SHOW transaction_isolation", name) == [(level,)]
    return url


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def waiting_in(url):
    """How many connections to a database wait for a lock."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '{}'"
    return server().execute(asked.format(url.partition("?")[0].rsplit("/", 1)[1]))[0][0]


def two_threads(url, monkeypatch):
    """How many of two threads, the second of which waits for the first one's lock, got the whole budget."""
    charges, first_is_in = LedgerTables.charges, threading.Event()

    def slow_charges(self, *arguments, **named):
        found = charges(self, *arguments, **named)
        if not first_is_in.is_set():
            first_is_in.set()
            until(lambda: waiting_in(url) == 1)
        return found

    granted = []

    def spend(number):
        try:
            account.reserve({"n": number}, statistic="test", charge=ogive.PureDP(1), secret=bytes(32))
        except BudgetError:
            return
        granted.append(number)

    with ogive.Ledger.open(url) as ledger:
        account = ledger.account(ACCOUNT, unit=UNIT, limit=ogive.PureDP(1))
        monkeypatch.setattr(LedgerTables, "charges", slow_charges)
        with Beside(spend, 0):
            assert first_is_in.wait(PATIENCE)
            spend(1)
    return len(granted)


@pytest.mark.each_value
@pytest.mark.parametrize("way", ["url", "role", "database"])
@pytest.mark.parametrize("level", LEVELS)
def test_two_threads_share_one_budget_whatever_the_default_level_is(level, way, monkeypatch):
    assert two_threads(with_level(level, way), monkeypatch) == 1


@pytest.fixture
def old_snapshots(monkeypatch):
    """A wrong level, of which the mark says nothing: to it an old snapshot is an older copy of the ledger."""
    monkeypatch.setattr(database, "WRITING", "REPEATABLE READ")
    for comparison in ("lacks", "_others_are_behind"):
        monkeypatch.setattr(LedgerTables, comparison, lambda *_, **__: False)


@pytest.mark.usefixtures("old_snapshots")
def test_a_wrong_level_ends_in_another_attempt_and_not_in_two_spends(monkeypatch):
    assert two_threads(with_level("read committed", "url"), monkeypatch) == 1


@pytest.mark.usefixtures("old_snapshots")
def test_without_both_guards_two_threads_overspend(monkeypatch):
    monkeypatch.setattr(LedgerTables, "advance", lambda *_, **__: None)
    assert two_threads(with_level("read committed", "url"), monkeypatch) == 2


def tenths(tmp_path, url, **request):
    """How many tenths of 1 were granted to eight processes together, and what else they said."""
    with forks(tmp_path) as program, ogive.Ledger.open(url) as ledger:
        account = ledger.account(ACCOUNT, unit=UNIT, limit=ogive.PureDP(1))
        results = program.race(
            [{"task": "spend", "place": url, "number": number, **request} for number in range(PROCESSES)]
        )
        notes = [note for _, found in results for note in found]
        assert account.spent is not None
        problems = [text for kind, text in notes if kind == "problem"]
        return account.spent.epsilon / Fraction(CHARGE), problems


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("level", "way"),
    [*((level, "url") for level in LEVELS), ("repeatable read", "role"), ("serializable", "database")],
)
def test_eight_processes_share_tenths_whatever_the_default_level_is(tmp_path, level, way):
    granted, problems = tenths(tmp_path, with_level(level, way))
    assert not problems
    assert granted == 10


def test_eight_processes_with_old_snapshots_share_tenths(tmp_path):
    granted, problems = tenths(tmp_path, with_level("read committed", "url"), spoiled="has an old snapshot")
    assert not problems
    assert granted == 10


def test_eight_processes_with_old_snapshots_that_do_not_count_overspend(tmp_path):
    spoiled = "has an old snapshot and does not count"
    granted, _ = tenths(tmp_path, with_level("read committed", "url"), spoiled=spoiled)
    assert granted > 10


def test_a_level_that_somebody_changes_in_between_is_refused(monkeypatch):
    with ogive.Ledger.open(server().database()) as ledger:
        check = database.Database._check_isolation
        monkeypatch.setattr(
            database.Database, "_check_isolation", lambda self, connection, _: check(self, connection, "SERIALIZABLE")
        )
        with pytest.raises(LedgerError, match="as READ COMMITTED that was begun as SERIALIZABLE"):
            ledger.account("p", unit=UNIT)


# --- another attempt


def test_what_the_database_undoes_is_tried_a_bounded_number_of_times(monkeypatch):
    monkeypatch.setattr(database, "_PAUSE_SECONDS", 0.0)
    tried = []

    @database.retried
    def always():
        tried.append(1)
        raise ConflictError("the ledger x is in use by too many at once; try again")

    with pytest.raises(LedgerError, match="too many at once"):
        always()
    assert len(tried) == database.ATTEMPTS


def test_a_deadlock_is_tried_again():
    import psycopg

    url = server().database()
    with ogive.Ledger.open(url) as ledger:
        first, second = (ledger.account(name, unit=UNIT, limit=ogive.PureDP(1)) for name in "pq")
        row = "SELECT * FROM ogive_data_sets WHERE name = '{}' FOR UPDATE"
        tried = []

        @database.retried
        def one_then_the_other():
            tried.append(1)
            with ledger._tables.writing() as connection:
                ledger._tables.data_set(connection, second._spot.number, lock=True)
                if len(tried) == 1:
                    holds.set()
                    until(lambda: waiting_in(url) == 1)
                ledger._tables.data_set(connection, first._spot.number, lock=True)

        def in_the_other_order():
            with psycopg.connect(url) as other:
                # whoever waits longer than this looks for a deadlock, and that is not this one
                other.execute("SET LOCAL deadlock_timeout = '60s'")
                other.execute(row.format("p"))
                assert holds.wait(PATIENCE)
                other.execute(row.format("q"))

        holds = threading.Event()
        with Beside(in_the_other_order, stop=holds.set):
            one_then_the_other()
        assert len(tried) == 2


# --- SQLite


def test_a_ledger_file_has_one_name(tmp_path):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
    other = tmp_path / "other.db"
    os.link(place, other)
    (tmp_path / "other.db.key").write_bytes((tmp_path / "budget.db.key").read_bytes())
    for name in (place, other):
        for read_only in (False, True):
            with pytest.raises(LedgerError, match="has a second name, a hard link"):
                ogive.Ledger.open(name, read_only=read_only)
    other.unlink()
    other.symlink_to(place)
    with ogive.Ledger.open(other) as ledger:
        assert [account.name for account in ledger.accounts()] == ["p"]


def test_the_name_that_a_killed_maker_left_is_taken_away(tmp_path):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place):
        pass
    os.link(place, tmp_path / ".budget.db.abcdefg1")
    with ogive.Ledger.open(place):
        pass
    assert not (tmp_path / ".budget.db.abcdefg1").exists()


@pytest.mark.parametrize("place", ["sqlite:///budget.db?mode=ro", "sqlite:///file:budget.db?uri=true&immutable=1"])
def test_options_of_a_file_are_refused_and_not_dropped(place):
    with pytest.raises(ParameterError, match="takes no options"):
        ogive.Ledger.open(place)


LAST = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], timeout=0.1)
other.execute("SELECT count(*) FROM ogive_spends").fetchone()
other.close()  # the last one to close a file folds its log into it and removes it
"""


def closed_by_another(place):
    """Whether the log is there after another process that thinks itself the last has closed the ledger."""
    subprocess.run([python(), "-c", LAST, str(place)], check=True, timeout=PATIENCE)
    return place.with_name("budget.db-wal").exists()


def test_opening_a_ledger_keeps_the_locks_of_other_threads(tmp_path):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        with ledger._tables.database.write():
            assert not database.Database(place).make_file(lambda _: None)
            assert closed_by_another(place)
        with ledger._tables.database.write():
            # the control: a file of one's own that is closed takes the process's locks with it
            os.close(os.open(place, os.O_RDWR))
            assert not closed_by_another(place)


def test_a_reader_does_not_see_a_change_between_two_statements():
    with ogive.Ledger.open(server().database()) as ledger:
        account = ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))
        with ledger._tables.database.read() as connection:
            assert ledger._tables.data_set(connection, account._spot.number).name == "p"
            account.reserve({"n": 1}, statistic="test", charge=ogive.PureDP(1), secret=bytes(32))
            assert not ledger._tables.charges(connection, account._spot.number).sequences("")[0]
        assert account.spent == ogive.PureDP(1)
