"""Releases that select how to measure are charged in full before they select, and never run short half way."""

import numpy as np
import pytest

import ogive
from ogive.accounting import gaussian_rho
from ogive.errors import BudgetError
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP
from ogive.queries.selection import NoisyMaxQuery

TABLE = {"x": np.random.default_rng(0).normal(size=3_000).clip(-4, 4)}
FIFTH = ApproxDP("0.2", "2e-7")
LARGE = ApproxDP(3, "1e-3")
UNIT = PrivacyUnit(Adjacency.REPLACE)
FULL = {FIFTH: PureDP(FIFTH.epsilon), LARGE: gaussian_rho(LARGE)}
BOX = ogive.Boxplot("x", (-4, 4), method="five_numbers")


def selected(bins=100):
    return ogive.Ecdf("x", (-4, 4), bins=bins, method="selected")


def release(statistic, privacy, account):
    return ogive.release(statistic, trust=ogive.Central(TABLE), privacy=privacy, ledger=account)


@pytest.fixture
def ledger():
    with ogive.Ledger.open() as opened:
        yield opened


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(3))
def test_five_fifths_fit(ledger, seed):
    account = ledger.account(f"d{seed}", unit=UNIT, limit=ApproxDP(1, "1e-6"))
    for number in range(5):
        release(selected(100 + number), FIFTH, account)
    assert 0.9999 < account.spent.epsilon <= 1
    with pytest.raises(BudgetError, match="left of epsilon = 1") as refused:
        release(selected(99), FIFTH, account)
    assert "part of which is paid" not in str(refused.value)
    assert len(account.history) == 5


@pytest.mark.parametrize("grant", [FIFTH, LARGE], ids=str)
def test_all_is_charged_before_the_selection(ledger, grant, monkeypatch):
    account = ledger.account("d", unit=UNIT, limit=grant)
    seen = []
    told = NoisyMaxQuery.answer

    def answer(self, sums, nodes):
        seen.append(account.history[0].charge)
        return told(self, sums, nodes)

    monkeypatch.setattr(NoisyMaxQuery, "answer", answer)
    curve = release(selected(256), grant, account)
    assert seen == [FULL[grant]]
    assert account.history[0].charge == FULL[grant]
    assert type(curve.provenance.price) is type(FULL[grant])


@pytest.mark.parametrize("statistic", [selected(), BOX], ids=["curve", "box"])
@pytest.mark.parametrize("grant", [FIFTH, LARGE], ids=str)
def test_what_does_not_fit_as_a_whole_does_not_begin(ledger, grant, statistic):
    account = ledger.account("d", unit=UNIT, limit=grant)
    release(ogive.Ecdf("x", (-4, 4), bins=16, method="hat_ls"), PureDP(grant.epsilon / 2), account)
    with pytest.raises(BudgetError) as refused:
        release(statistic, grant, account)
    assert "part of which is paid" not in str(refused.value)
    assert len(account.history) == 1
