"""A ledger's file is made by the first release that is accepted, and by no other; whoever is faster has made it."""

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.forked import python
from helpers.waiting import PATIENCE

import ogive
from ogive import BudgetError, Ecdf, LedgerError, ParameterError, PureDP, Session
from ogive.ledger import Ledger

AGES = np.random.default_rng(3).integers(18, 90, 2_000)
PEOPLE = {"age": AGES, "who": np.arange(2_000) // 2, "text": np.where(AGES > 50, "a", "b")}
AGE = {"bounds": (0, 120), "bins": 60}
HALF, ONE, TWO = PureDP("0.5"), PureDP(1), PureDP(2)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "budget.db"


def opened(place, limit=ONE, **options):
    return Session(PEOPLE, limit=limit, ledger=place, name="people", **options)


def files(place):
    return sorted(path.name for path in place.parent.iterdir())


WHOLE = {"budget.db", "budget.db.key", "budget.db.key.mark"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda session: session.ecdf("age", **AGE, privacy=TWO), BudgetError),
        (lambda session: session.ecdf("text", **AGE, privacy=HALF), ogive.DataError),
        (lambda session: session.ecdf("age", **AGE, where="text == 3", privacy=HALF), ogive.DataError),
        (lambda session: session.ecdf("age", **AGE, where="tex == 'a'", privacy=HALF), ogive.DataError),
        (lambda session: session.describe(bounds={"ages": (0, 120)}, privacy=HALF), ogive.DataError),
        (lambda session: session.ecdf("age", **AGE, method="sqrt", privacy=ogive.ZeroConcentratedDP(1)), BudgetError),
        (lambda session: session.plan(Ecdf("age", **AGE), privacy=HALF), None),
        (lambda session: (str(session), repr(session), session._repr_html_(), session.answers), None),
    ],
    ids=["budget", "text", "value", "where", "describe", "kind", "plan", "shown"],
)
def test_a_refusal_leaves_no_file_and_the_next_release_makes_it(place, ask, error):
    with opened(place) as session:
        if error is None:
            ask(session)
        else:
            with pytest.raises(error):
                ask(session)
        assert files(place) == []
        assert (session.limit, session.remaining, session.spent, session.history) == (ONE, ONE, None, ())
        first = session.ecdf("age", **AGE, privacy=HALF)
        assert set(files(place)) >= WHOLE
        assert (session.remaining, session.spent) == (HALF, HALF)
        assert session.ecdf("age", **AGE, privacy=HALF) == first
    with opened(place, None) as again:
        assert again.ecdf("age", **AGE, privacy=HALF) == first
        assert again.account.mark == first.provenance.account
        assert again.spent == HALF


def test_whoever_asks_for_the_account_or_the_ledger_gets_those_of_the_file(place):
    with opened(place) as session:
        assert session.account.begin is None
        assert session.ledger.place == str(place)
        assert set(files(place)) >= WHOLE
        assert session.ledger.accounts() == ()
        session.ecdf("age", **AGE, privacy=HALF)
        assert [account.spent for account in session.ledger.accounts()] == [HALF]


def test_a_session_takes_the_ledger_that_somebody_else_has_made_meanwhile(place):
    with opened(place) as late, opened(place) as first:
        answer = first.ecdf("age", **AGE, privacy=HALF)
        assert late.remaining == HALF
        assert late.ecdf("age", **AGE, privacy=HALF) == answer
        with pytest.raises(BudgetError, match=r"epsilon = 0\.5 left"):
            late.ecdf("age", **AGE, privacy=ONE)
        assert len(first.history) == 1


def test_a_session_with_another_limit_than_the_faster_one_is_refused(place):
    with opened(place, TWO) as late, opened(place) as first:
        first.ecdf("age", **AGE, privacy=HALF)
        with pytest.raises(LedgerError, match="has the limit epsilon = 1, not epsilon = 2"):
            late.ecdf("age", **AGE, privacy=HALF)
        assert first.spent == HALF


def beaten(place, monkeypatch, moment, privacy, **options):
    """Have another process release first, just before the next ledger is opened, or just after."""
    usual = Ledger.open

    def open_at_once(where=None, **how):
        if where is None:
            return usual(where, **how)
        monkeypatch.setattr(Ledger, "open", usual)
        found = usual(where, **how) if moment == "after" else None
        with opened(place, **options) as other:
            other.ecdf("age", **AGE, privacy=privacy)
        return usual(where, **how) if found is None else found

    monkeypatch.setattr(Ledger, "open", staticmethod(open_at_once))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_another_process_may_make_the_ledger_at_the_very_moment(place, moment, monkeypatch):
    with opened(place) as session:
        beaten(place, monkeypatch, moment, ONE)
        with pytest.raises(BudgetError, match="nothing left"):
            session.count("age", privacy=HALF)
        assert [str(entry.charge) for entry in session.history] == ["epsilon = 1"]


def test_the_unit_of_a_faster_process_holds(place, monkeypatch):
    with opened(place) as session:
        assert session.unit.adjacency is ogive.Adjacency.REPLACE
        beaten(place, monkeypatch, "before", HALF, adjacency="add_or_remove")
        with pytest.raises(LedgerError, match="release with the unit of the account"):
            session.ecdf("age", **AGE, privacy=HALF)
        assert session.unit.adjacency is ogive.Adjacency.ADD_OR_REMOVE
        assert session.count("age", privacy=HALF).provenance.adjacency is ogive.Adjacency.ADD_OR_REMOVE


def test_an_answer_that_a_faster_process_released_is_given_to_both(place, monkeypatch):
    with opened(place) as session:
        beaten(place, monkeypatch, "after", HALF)
        found = session.ecdf("age", **AGE, privacy=HALF)
        assert len(session.history) == 1
        assert session.answers == (found,)


def test_threads_of_one_session_make_one_ledger(place):
    start = threading.Barrier(6)

    def ask(number):
        start.wait()
        return session.release(Ecdf("age", bounds=(0, 120), bins=60 + number % 2), privacy=HALF)

    with opened(place) as session, ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(6)))
        assert len({each.provenance.release_id for each in found}) == 2
        assert session.spent == ONE
        assert len(session.ledger.accounts()) == 1


PROCESS = """
import sys
import numpy as np, ogive
ages = np.random.default_rng(3).integers(18, 90, 2_000)
session = ogive.Session({"age": ages}, limit=ogive.PureDP(1), ledger=sys.argv[1], name="people")
print("ready", flush=True)
sys.stdin.readline()
try:
    session.count("age", privacy=ogive.PureDP(sys.argv[2]))
    print("paid")
except ogive.BudgetError:
    print("refused")
"""


def test_processes_that_release_first_at_once_make_one_ledger_and_keep_its_limit(place):
    prices = ["0.4", "0.41", "0.42", "0.43"]
    each = [
        subprocess.Popen(
            [python(), "-c", PROCESS, str(place), price], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for price in prices
    ]
    assert [one.stdout.readline() for one in each] == ["ready\n"] * len(prices)
    assert files(place) == []
    for one in each:
        one.stdin.write("go\n")
        one.stdin.flush()
    said = sorted(one.communicate(timeout=PATIENCE)[0] for one in each)
    assert said == ["paid\n"] * 2 + ["refused\n"] * 2
    assert set(files(place)) >= WHOLE
    with Ledger.open(place) as ledger:
        (account,) = ledger.accounts()
        assert len(account.history) == 2


def test_people_are_compared_when_the_ledger_is_made(place):
    with opened(place, person="who", max_rows_per_person=2) as session:
        session.ecdf("age", **AGE, privacy=HALF)
    half = {name: values[:1900] for name, values in PEOPLE.items()}
    with pytest.raises(LedgerError, match="have the account 'people'"):
        Session(half, limit=ONE, ledger=place, name="others", person="who", max_rows_per_person=2)


def test_a_ledger_that_could_not_be_made_is_refused_before_the_records_are_read(tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened: No such file or directory"):
        opened(tmp_path / "none" / "budget.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be opened: Not a directory"):
        opened(tmp_path / "file" / "budget.db")
    (tmp_path / "shut").mkdir(mode=0o500)
    if not os.access(tmp_path / "shut", os.W_OK):
        with pytest.raises(LedgerError, match="cannot be opened: Permission denied"):
            opened(tmp_path / "shut" / "budget.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "shut"]


def test_a_lost_ledger_is_not_made_anew(place):
    with opened(place) as session:
        session.ecdf("age", **AGE, privacy=HALF)
    place.unlink()
    with pytest.raises(LedgerError, match="is missing or empty, but its key file"):
        opened(place)
    # lost between opening and the first release
    place.with_name("budget.db.key").rename(place.with_name("away"))
    with opened(place) as session:
        place.with_name("away").rename(place.with_name("budget.db.key"))
        with pytest.raises(LedgerError, match="is missing or empty, but its key file"):
            session.ecdf("age", **AGE, privacy=HALF)
    assert not place.exists()


def test_an_empty_file_stays_empty_until_a_charge_is_accepted(place):
    place.touch()
    with opened(place) as session:
        with pytest.raises(BudgetError):
            session.ecdf("age", **AGE, privacy=TWO)
        assert (files(place), place.stat().st_size) == (["budget.db"], 0)
        session.ecdf("age", **AGE, privacy=HALF)
        assert session.spent == HALF
    assert set(files(place)) >= WHOLE


def test_a_curve_that_is_opened_at_points_makes_the_ledger_with_its_charge(place):
    with opened(place) as session:
        with pytest.raises(BudgetError):
            session.pointwise(Ecdf("age", **AGE), privacy=TWO)
        with pytest.raises(ParameterError, match="hat_ls"):
            session.pointwise(Ecdf("age", **AGE, method="hat_ls"), privacy=HALF)
        assert files(place) == []
        first = session.pointwise(Ecdf("age", **AGE), privacy=HALF)
        assert session.spent == HALF
        shown = first.counts([20, 40])
    with opened(place, None) as again:
        assert list(again.pointwise(Ecdf("age", **AGE), privacy=HALF).counts([20, 40])) == list(shown)
        assert again.spent == HALF


KILLED = """
import os, signal, sys
import numpy as np, ogive
from ogive.ledger.account import Reservation

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def tell_and_die(self, estimate):
    print(estimate["counts"] if "counts" in estimate else estimate, flush=True)
    die()

moment = sys.argv[2]
if moment == "charged":
    Reservation.bind = die
elif moment == "answered":
    Reservation.record = tell_and_die
ages = np.random.default_rng(3).integers(18, 90, 2_000)
session = ogive.Session({"age": ages}, limit=ogive.PureDP(1), ledger=sys.argv[1], name="people")
found = session.ecdf("age", bounds=(0, 120), bins=60, method="hat_ls", privacy=ogive.PureDP("0.5")).to_dict()
print(found["counts"] if "counts" in found else found)
print(session.spent, len(session.history))
"""


@pytest.mark.parametrize("moment", [pytest.param("charged", marks=pytest.mark.everything), "answered"])
def test_a_process_killed_in_the_first_release_has_paid_and_the_next_gives_the_same_noise(place, moment):
    def run(*how):
        return subprocess.run([python(), "-c", KILLED, str(place), *how], capture_output=True, text=True)

    killed = run(moment)
    assert killed.returncode == -signal.SIGKILL
    with Ledger.open(place) as ledger:
        (account,) = ledger.accounts()
        assert [(str(entry.charge), entry.state) for entry in account.history] == [("epsilon = 0.5", "reserved")]
    again, last = run("on"), run("on")
    numbers, spent = again.stdout.splitlines()
    assert spent == "epsilon = 0.5 1"
    assert last.stdout == again.stdout
    if moment == "answered":
        assert killed.stdout.splitlines() == [numbers]
