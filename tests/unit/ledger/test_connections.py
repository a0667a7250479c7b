"""A connection to PostgreSQL is kept for the next transaction, and shared with nobody."""

import gc
import multiprocessing
import os
import threading

import pytest
from helpers.postgres import server
from helpers.waiting import PATIENCE
from sqlalchemy import text

import ogive

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
SESSIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'ogive' AND datname = '{}'"
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return server().database()


def sessions(place):
    return {pid for (pid,) in server().execute(SESSIONS.format(place.rpartition("/")[2]))}


def spend(account, what):
    paid = account.reserve({"what": what}, statistic="test", charge=ogive.PureDP("1/100"), secret=os.urandom(32))
    paid.bind(0, b"sums")
    paid.record({"value": what})


def opened(place):
    ledger = ogive.Ledger.open(place)
    return ledger, ledger.account("p", unit=UNIT, limit=ogive.PureDP(1))


def test_one_connection_serves_all_transactions_and_is_closed_with_the_ledger(place):
    ledger, account = opened(place)
    with ledger:
        kept = sessions(place)
        assert len(kept) == 1
        for number in range(3):
            spend(account, number)
            assert sessions(place) == kept
    assert not sessions(place)


def test_of_a_ledger_that_nobody_closes_the_connection_is(place):
    ledger, account = opened(place)
    spend(account, 0)
    del ledger, account
    gc.collect()
    assert not sessions(place)


def test_a_connection_that_the_server_has_ended_is_replaced(place):
    ledger, account = opened(place)
    with ledger:
        (before,) = sessions(place)
        server().execute(f"SELECT pg_terminate_backend({before}, 5000)")
        spend(account, 0)
        assert sessions(place)
        assert sessions(place) != {before}
        assert account.spent == ogive.PureDP("1/100")


def test_a_lock_is_taken_in_a_connection_that_lives(place):
    ledger, _ = opened(place)
    with ledger:
        (before,) = sessions(place)
        server().execute(f"SELECT pg_terminate_backend({before}, 5000)")
        lasting = ledger._tables.database.session()
        assert lasting.execute(text("SELECT pg_try_advisory_lock(7)")).scalar()
        lasting.close()


def test_threads_share_no_connection(place):
    ledger, account = opened(place)
    with ledger:
        threads = [threading.Thread(target=spend, args=(account, number)) for number in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert account.spent == ogive.PureDP("6/100")
        assert len(sessions(place)) == 1


def _spend_all(account, first):
    for number in range(5):
        spend(account, first + number)


def test_a_forked_process_has_a_connection_of_its_own(place):
    ledger, account = opened(place)
    with ledger:
        (before,) = sessions(place)
        children = [FORK.Process(target=_spend_all, args=(account, 100 * number)) for number in (1, 2)]
        for each in children:
            each.start()
        _spend_all(account, 0)
        for each in children:
            each.join(PATIENCE)
        assert [each.exitcode for each in children] == [0, 0]
        spend(account, "last")
        assert sessions(place) == {before}, "the children have left the connection of their parent alone"
        assert account.spent == ogive.PureDP("16/100")
