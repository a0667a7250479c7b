"""A release that was cut off when `auto` chose one method, and goes on when it chooses another: one noise, or none."""

import numpy as np
import pytest

import ogive
from ogive.errors import BudgetError, LedgerError, ReleaseMismatchError
from ogive.ledger.account import Reservation
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.statistics.methods import choose as named
from ogive.trust.table import Central

RECORDS = {"x": np.random.default_rng(1).beta(2, 5, 10_000)}
QUESTION = ogive.Ecdf("x", (0, 1), bins=256, expected_records=10_000)
GRANTS = (PureDP("0.01"), ApproxDP("0.015", "1e-6"), ZeroConcentratedDP("0.000001"))


class CutOffError(Exception):
    """A process ends here."""


def cut(monkeypatch, where):
    def end(*_):
        raise CutOffError

    monkeypatch.setattr(Reservation, where, end)


@pytest.fixture
def account(ledger):
    def opened(privacy, adjacency):
        return ledger.account("patients", unit=Central(RECORDS).unit(adjacency), limit=privacy)

    return opened


def cut_off_release(account, privacy, adjacency, monkeypatch, where):
    """A release that the bet without a veto was in the middle of."""
    with monkeypatch.context() as patch:
        patch.setattr(named, "_fails", lambda *_: False)
        patch.setattr(named, "_CHOSEN", {})  # as in another process
        cut(patch, where)
        with pytest.raises(CutOffError):
            ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, adjacency=adjacency, ledger=account)
        assert [entry.state for entry in account.history] == ["reserved"]


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_noise_of_one_method_never_meets_another_and_nothing_is_paid_twice(account, privacy, adjacency, monkeypatch):
    books = account(privacy, adjacency)
    cut_off_release(books, privacy, adjacency, monkeypatch, "record")
    spent = books.spent
    for _ in range(2):
        with pytest.raises((ReleaseMismatchError, LedgerError), match="method that auto chooses"):
            ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, adjacency=adjacency, ledger=books)
    assert books.spent == spent
    assert [entry.state for entry in books.history] == ["reserved"]
    with monkeypatch.context() as patch:  # where the same method is chosen the release goes on, for nothing
        patch.setattr(named, "_fails", lambda *_: False)
        patch.setattr(named, "_CHOSEN", {})
        curve = ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, adjacency=adjacency, ledger=books)
    assert curve.strategy.name in ("projection", "histogram")
    assert books.spent == spent
    stored = ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, adjacency=adjacency, ledger=books)
    assert np.array_equal(stored.raw, curve.raw), "a stored answer is given whatever would be chosen now"
    assert books.spent == spent


@pytest.mark.each_value
@pytest.mark.parametrize("privacy", [PureDP("0.01"), ZeroConcentratedDP("0.000001")], ids=str)
def test_a_release_that_had_drawn_no_noise_goes_on_with_the_method_of_today(account, privacy, monkeypatch):
    books = account(privacy, Adjacency.REPLACE)
    cut_off_release(books, privacy, Adjacency.REPLACE, monkeypatch, "bind")
    curve = ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, ledger=books)
    assert curve.strategy.name in ("hat_ls", "ring")
    assert [entry.state for entry in books.history] == ["released"]
    again = ogive.release(QUESTION, trust=Central(RECORDS), privacy=privacy, ledger=books)
    assert np.array_equal(again.raw, curve.raw)
    with pytest.raises(BudgetError):
        ogive.release(ogive.Ecdf("x", (0, 1), bins=255), trust=Central(RECORDS), privacy=privacy, ledger=books)
