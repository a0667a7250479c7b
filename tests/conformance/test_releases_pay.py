"""Releases pay their account: before noise, once, and not at all where nothing could be released."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import BudgetError, DataError
from ogive.ledger import Ledger
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP
from ogive.queries.histograms import ThresholdQuery
from ogive.releasing.release import release
from ogive.statistics import Ecdf, HosmerLemeshow, Roc
from ogive.trust import Central, Clear

ONE = PureDP(1)
SCORES = np.random.default_rng(2).random(2_000)


def table(labels=None):
    drawn = (np.random.default_rng(3).random(2_000) < SCORES).astype(int)
    return {"p": SCORES, "y": drawn if labels is None else labels}


@pytest.fixture
def account():
    with Ledger.open() as ledger:
        yield ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(3))


CASES = [Ecdf("p", (0, 1), bins=16), Roc("p", "y", bounds=(0, 1), bins=16), HosmerLemeshow("p", "y", bins=16, groups=4)]


@pytest.mark.parametrize("statistic", CASES, ids=lambda statistic: statistic.name)
def test_a_release_is_paid_once_however_often_it_is_asked(account, statistic):
    first = release(statistic, trust=Central(table()), privacy=ONE, ledger=account)
    assert account.remaining == PureDP(2)
    again = release(statistic, trust=Central(table()), privacy=ONE, ledger=account)
    assert again.to_dict() == first.to_dict()
    assert account.remaining == PureDP(2)
    assert [entry.statistic for entry in account.history] == [statistic.name]


@pytest.mark.parametrize(
    "labels", [np.arange(2_000) % 3, np.where(SCORES > 0.5, np.nan, 1.0)], ids=["three", "missing"]
)
@pytest.mark.parametrize("statistic", CASES[1:], ids=lambda statistic: statistic.name)
def test_unusable_labels_cost_nothing_though_they_are_read_in_a_later_round(account, statistic, labels):
    with pytest.raises(DataError, match="label column 'y'"):
        release(statistic, trust=Central(table(labels)), privacy=ONE, ledger=account)
    assert account.remaining == PureDP(3)
    assert account.history == ()
    release(statistic, trust=Central(table()), privacy=ONE, ledger=account)
    assert account.remaining == PureDP(2)


@dataclass(frozen=True)
class Twice:
    """Counts in one column, then in another; keeps what it was told."""

    heard: ClassVar[list[int]] = []
    name: ClassVar[str] = "twice"
    columns: tuple[str, str] = ("p", "y")

    def alternatives(self):
        return {}

    def questions(self, terms):
        first, second = (Binning(column, Grid.linear(0, 1, bins=16)) for column in self.columns)
        answer = yield ThresholdQuery(first, 4, DiscreteLaplace(2), 0)
        self.heard.append(int(answer.values[0]))
        yield ThresholdQuery(second, 4, DiscreteLaplace(2), 0)


def test_what_was_answered_stays_spent_though_a_later_round_cannot_read_the_records():
    limit = ApproxDP(10, "1e-3")
    unusable = Central(table(np.where(SCORES > 0.5, np.nan, 1.0)))
    with Ledger.open() as ledger:
        account = ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE), limit=limit)
        Twice.heard.clear()
        for attempt in range(4):
            with pytest.raises(DataError, match="missing"):
                release(Twice(), trust=unusable, privacy=PureDP(2), ledger=account)
            if not attempt:
                release(CASES[0], trust=Central(table()), privacy=ONE, ledger=account)
                left = account.remaining
        # one noise, however often it is asked, and one price; no other spend becomes the first
        assert len(Twice.heard) == 4
        assert len(set(Twice.heard)) == 1
        assert [entry.statistic for entry in account.history] == ["twice", "ecdf"]
        assert account.remaining == left


def test_what_does_not_fit_is_refused_and_leaves_no_trace(account):
    release(CASES[0], trust=Central(table()), privacy=PureDP("2.5"), ledger=account)
    with pytest.raises(BudgetError, match=r"epsilon = 0\.5 left of epsilon = 3"):
        release(CASES[1], trust=Central(table()), privacy=ONE, ledger=account)
    assert len(account.history) == 1


def test_exact_answers_are_not_written_down(account):
    release(CASES[0], trust=Clear(table()), ledger=account)
    assert account.history == ()


def test_a_first_release_that_fails_in_a_later_round_leaves_no_account():
    with Ledger.open() as ledger:
        account = ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(3), lazy=True)
        with pytest.raises(DataError, match="label column 'y'"):
            release(CASES[2], trust=Central(table(np.arange(2_000) % 3)), privacy=ONE, ledger=account)
        assert ledger.accounts() == ()
        release(CASES[2], trust=Central(table()), privacy=ONE, ledger=account)
        assert account.remaining == PureDP(2)
