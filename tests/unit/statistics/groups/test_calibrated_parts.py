"""Calibration of a subset and of groups, whose second query costs what the answer to the first makes of it."""

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive import Adjacency, Central, Grouped, HosmerLemeshow, Ledger, Subset, ZeroConcentratedDP
from ogive.accounting import covers
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.noise import DiscreteGaussian
from ogive.privacy import ApproxDP, PrivacyUnit, PureDP
from ogive.queries import GroupSums, GroupSumsQuery

GRANT = ZeroConcentratedDP("0.1")
N = 2000


@pytest.fixture(scope="module")
def table():
    """Low risks but for a few, so that the last group is much wider than the others."""
    rng = np.random.default_rng(1)
    risk = rng.beta(0.6, 6, N)
    return {"risk": risk, "ill": (rng.random(N) < risk).astype(int), "ward": rng.choice(["A", "B"], N)}


def parts(form):
    alone = HosmerLemeshow("risk", "ill", bins=64, groups=5, form=form)
    return [
        Subset(alone, "ward == 'A'"),
        Grouped(alone, "ward", ("A", "B")),
        Subset(Grouped(alone, "ward", ("A", "B")), "risk >= 0"),
    ]


@pytest.mark.each_value
@pytest.mark.parametrize("form", ["difference", "counts"])
@pytest.mark.parametrize("privacy", [GRANT, PureDP(1), ApproxDP(1, "1e-6")], ids=str)
@pytest.mark.parametrize("number", range(3), ids=["subset", "groups", "groups of a subset"])
def test_wide_groups_of_probabilities_stay_within_the_guarantee(number, privacy, form, table, monkeypatch):
    if not is_everything():
        monkeypatch.setattr("ogive.statistics.calibration.sums.TESTED", 299)
    found = ogive.release(parts(form)[number], trust=Central(table), privacy=privacy)
    assert covers(privacy, found.provenance.price)


def test_nothing_is_charged_and_then_refused(table, tmp_path):
    unit = PrivacyUnit(Adjacency.REPLACE)
    account = Ledger.open(tmp_path / "ledger.db").account("clinic", unit=unit, limit=GRANT)
    ogive.release(parts("difference")[0], trust=Central(table), privacy=GRANT, ledger=account)
    assert [entry.state for entry in account.history] == ["released"]


@pytest.mark.parametrize("form", ["difference", "counts"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_groups_cost_more_than_one_group_of_all(form, adjacency):
    label, unit = Label("ill", (1,), None), PrivacyUnit(adjacency)
    prices = []
    for first in (0.1, 0.3, 0.5, 0.9):
        ends = Grid.explicit((first, 1.0), low=0.0)
        groups = GroupSums(Binning("risk", ends, "refuse", "refuse"), label, bits=10)
        query = GroupSumsQuery(groups, DiscreteGaussian(9000), DiscreteGaussian(3000), form)
        assert query.price(unit).rho <= query.of_one_group.price(unit).rho
        prices.append(query.price(unit).rho)
    grows = form == "difference" and adjacency is Adjacency.REPLACE
    assert (len(set(prices)) > 1) is grows  # else there would be nothing to test
