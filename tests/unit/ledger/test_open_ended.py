"""Releases that go on, curves opened point by point and running totals, pay once and never meet other data."""

import json
import shutil

import numpy as np
import pytest
from sqlalchemy import update

import ogive
from ogive.cli import main
from ogive.errors import BudgetError, LedgerError, ParameterError, ReleaseMismatchError
from ogive.ledger import Ledger
from ogive.ledger.tables import SPENDS
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.accounts import statement

RECORD = PrivacyUnit(Adjacency.REPLACE)
VALUES = np.random.default_rng(8).normal(50, 12, 2000)
ECDF = ogive.Ecdf("x", bounds=(0, 100), bins=64)
POINTS = [3, 20, 63]
ONE = PureDP(1)
VISITS = [0, 1, 1, 0, 1, 1, 1, 0, 1]


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "budget.db") as books:
        yield books


@pytest.fixture
def account(ledger):
    return ledger.account("people", unit=RECORD, limit=PureDP(3))


def opened(account, values=VALUES, privacy=ONE, **options):
    trust = ogive.Central({"x": values})
    return ogive.PointwiseCurve.open(ECDF, trust=trust, privacy=privacy, ledger=account, **options)


# --- curves opened point by point


def test_a_curve_is_paid_before_any_point_and_asked_again_is_the_same(account):
    curve = opened(account)
    assert account.spent == PureDP(1)
    found = curve.counts(POINTS)
    again = opened(account)  # as after a kill, from another source of noise
    assert np.array_equal(again.counts(POINTS), found)
    assert account.spent == PureDP(1)
    assert len(account.history) == 1


def test_a_curve_that_does_not_fit_draws_no_noise(account, tmp_path):
    opened(account, privacy=PureDP("2.5"))
    with pytest.raises(BudgetError):
        opened(account, privacy=PureDP(1), state=tmp_path / "curve.state")
    assert not (tmp_path / "curve.state").exists()


def test_a_curve_of_other_records_gets_no_noise_of_the_first(account):
    opened(account)
    changed = VALUES.copy()
    changed[0] = 99
    with pytest.raises(ReleaseMismatchError, match="other records before"):
        opened(account, changed)


def test_a_state_file_that_was_put_back_gives_the_same_numbers_and_costs_nothing(account, tmp_path):
    state = tmp_path / "curve.state"
    found = opened(account, state=state).counts(POINTS)
    resumed = ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES}))
    assert np.array_equal(resumed.counts(POINTS), found)
    assert account.spent == PureDP(1)
    with pytest.raises(ReleaseMismatchError):
        ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES + 1}))


def test_a_state_file_that_exists_is_refused_before_the_spend(account, tmp_path):
    state = tmp_path / "curve.state"
    state.write_text("old")
    with pytest.raises(ParameterError, match="exists and is not replaced"):
        opened(account, state=state)
    assert account.spent is None
    assert state.read_text() == "old"


def test_no_key_of_a_curve_is_readable_in_the_ledger(account, tmp_path):
    state = tmp_path / "curve.state"
    opened(account, state=state)
    secret = json.loads(state.read_text())["secret"]
    for file in tmp_path.glob("budget.db*"):
        if not file.name.endswith(".key"):
            assert bytes.fromhex(secret) not in file.read_bytes()
            assert secret.encode() not in file.read_bytes()


def test_material_that_there_is_only_once_needs_a_state_file(account, tmp_path):
    trust = ogive.Servers({"x": VALUES[:40]})
    small = ogive.Ecdf("x", bounds=(0, 100), bins=8)
    if not hasattr(trust.open(Adjacency.REPLACE, source=KeyedSource.from_seed(1)), "takes"):
        pytest.skip("these servers take nothing that there is only once")
    with pytest.raises(ParameterError, match="state"):
        ogive.PointwiseCurve.open(small, trust=trust, privacy=PureDP(1), ledger=account)
    assert account.spent is None
    state = tmp_path / "curve.state"
    ogive.PointwiseCurve.open(small, trust=trust, privacy=PureDP(1), ledger=account, state=state)
    with pytest.raises(ReleaseMismatchError, match="resume it from its state file"):
        ogive.PointwiseCurve.open(small, trust=trust, privacy=PureDP(1), ledger=account, state=tmp_path / "other.state")
    assert account.spent == PureDP(1)


def test_a_session_opens_curves_and_its_statement_shows_them():
    session = ogive.Session({"x": VALUES}, limit=PureDP(2))
    found = session.pointwise(ECDF, privacy=PureDP(1)).counts(POINTS)
    assert np.array_equal(session.pointwise(ECDF, privacy=PureDP(1)).counts(POINTS), found)
    assert session.remaining == PureDP(1)
    assert "pointwise x" in str(session)
    assert "in progress: further questions cost nothing" in str(session)
    session.ecdf("x", bounds=(0, 100), privacy=PureDP("1/2"))
    assert len(session.answers) == 1


# --- running totals


def total(account, name="visits", **options):
    return ogive.RunningTotal(100, privacy=PureDP(1), ledger=account, name=name, **options)


def stored(data, account, name="visits", **options):
    return ogive.RunningTotal.from_bytes(data, 100, privacy=PureDP(1), ledger=account, name=name, **options)


def test_a_running_total_is_paid_once_and_goes_on_from_its_state(account):
    stream = total(account)
    assert account.spent == PureDP(1)
    first = stream.add_many(VISITS[:4])
    resumed = stored(stream.to_bytes(), account)
    later = resumed.add_many(VISITS[4:])
    assert account.spent == PureDP(1)
    plain = ogive.RunningTotal(100, privacy=PureDP(1))
    plain._parameters["name"] = "visits"
    plain._begin(resumed._key)
    assert np.array_equal(plain.add_many(VISITS), np.concatenate([first, later]))


def test_a_stream_that_was_killed_before_its_first_state_has_the_same_noise(account):
    first = total(account).add_many(VISITS[:3])
    assert np.array_equal(total(account).add_many(VISITS[:3]), first)
    assert account.spent == PureDP(1)
    assert len(account.history) == 1


def test_an_old_state_meets_no_other_elements(account):
    stream = total(account)
    stream.add_many(VISITS[:2])
    old = stream.to_bytes()
    published = stream.add_many([1, 1])
    with pytest.raises(ReleaseMismatchError, match="give the same call once more"):
        stored(old, account).add_many([0, 1])
    with pytest.raises(ReleaseMismatchError, match="give the same call once more"):
        stored(old, account).add(1)
    again = stored(old, account)
    assert np.array_equal(again.add_many([1, 1]), published)
    stream.add(1)
    with pytest.raises(ReleaseMismatchError, match="continue from the newest state"):
        stored(old, account).add_many([1, 1])
    with pytest.raises(ReleaseMismatchError, match="continue from the newest state"):
        total(account).add_many(VISITS[:2])
    assert stream.taken == 5


def test_what_is_refused_takes_no_element(account):
    stream, other = total(account), total(account)
    stream.add(1)
    with pytest.raises(ReleaseMismatchError):
        other.add(0)
    assert other.taken == 0
    other.add(1)  # the same element, whose total is the same
    assert other.taken == 1


def test_two_streams_of_one_account_have_names_and_noise_of_their_own(account):
    one, two = total(account), total(account, "sales")
    assert account.spent == PureDP(2)
    assert one._key != two._key
    assert "running_total visits" in statement(account)


def test_a_stream_in_a_ledger_needs_a_name_and_goes_on_with_both(account):
    with pytest.raises(ParameterError, match="name the stream"):
        ogive.RunningTotal(100, privacy=PureDP(1), ledger=account)
    with pytest.raises(ParameterError, match="leave it out"):
        ogive.RunningTotal(100, privacy=PureDP(1), name="visits")
    data = total(account).to_bytes()
    for given in ({}, {"name": "visits"}):
        with pytest.raises(ReleaseMismatchError, match="ledger"):
            ogive.RunningTotal.from_bytes(data, 100, privacy=PureDP(1), **given)
    plain = ogive.RunningTotal(100, privacy=PureDP(1)).to_bytes()
    with pytest.raises((ReleaseMismatchError, ParameterError)):
        stored(plain, account)
    assert account.spent == PureDP(1)


def test_another_account_does_not_go_on_with_a_stream(account, ledger):
    data = total(account).to_bytes()
    other = ledger.account("others", unit=RECORD, limit=PureDP(3))
    with pytest.raises(ReleaseMismatchError, match="did not pay"):
        stored(data, other)
    assert other.spent is None


def test_an_account_that_hides_something_else_pays_for_no_stream(ledger):
    other = ledger.account("added", unit=PrivacyUnit(Adjacency.ADD_OR_REMOVE), limit=PureDP(3))
    with pytest.raises(LedgerError):
        total(other)
    assert other.spent is None


@pytest.mark.parametrize("granted", [ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6")])
def test_gaussian_streams_and_curves_are_charged_what_they_cost(ledger, granted):
    account = ledger.account("gaussian", unit=RECORD, limit=ApproxDP(8, "1e-5"))
    ogive.RunningTotal(50, privacy=granted, ledger=account, name="visits").add(1)
    curve = opened(account, privacy=granted)
    assert np.array_equal(opened(account, privacy=granted).counts(POINTS), curve.counts(POINTS))
    assert len(account.history) == 2


def test_an_older_copy_of_the_ledger_does_not_let_an_old_state_go_on(tmp_path):
    place = tmp_path / "budget.db"
    with Ledger.open(place) as books:
        stream = total(books.account("people", unit=RECORD, limit=PureDP(3)))
        old = stream.to_bytes()
    shutil.copy(place, tmp_path / "older.db")
    with Ledger.open(place) as books:
        stored(old, books.account("people", unit=RECORD)).add_many([1, 0, 1])
    shutil.copy(tmp_path / "older.db", place)
    with pytest.raises(LedgerError, match="older copy"):
        Ledger.open(place)
    assert main(["ledger", "restore", str(place)]) == 0
    with Ledger.open(place) as books:
        account = books.account("people", unit=RECORD)
        assert account.spent == PureDP(1)
        with pytest.raises(ReleaseMismatchError, match="did not pay"):
            stored(old, account)


def test_a_stream_that_was_closed_takes_no_elements(account):
    stream = total(account)
    books = account._tables
    with books.writing() as connection:
        books.data_set(connection, account._spot.number, lock=True)
        connection.execute(update(SPENDS).values(state="lost", secret=None, bound=None))
    with pytest.raises(ReleaseMismatchError, match="closed this stream"):
        stream.add(1)
