"""Mechanisms that cost an epsilon and a delta: priced, covered, charged and refused."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import ogive
from ogive.columns import Domain
from ogive.columns.grids import Grid
from ogive.errors import BudgetError
from ogive.local.tree import design_tree
from ogive.noise import DiscreteGaussian
from ogive.privacy import ApproxDP, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, ReportsQuery, RowValues
from ogive.queries.aggregates import Binning
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import curve_from
from ogive.strategies import OpenedThresholds

LIMIT = ApproxDP(2, "1e-6")
TABLE = {"age": np.arange(1000.0) % 100}
BINNING = Binning("age", Grid.linear(0, 100, bins=64))
ROWS = RowValues(Domain((BINNING,)))


@dataclass(frozen=True)
class Told:
    """Cumulative counts of the first thresholds, from reports about all levels of a hierarchy."""

    name: ClassVar[str] = "ecdf"
    privacy: ApproxDP
    rounds: int = 1

    def questions(self, terms):
        for seed in range(self.rounds):
            tree = design_tree(
                64, self.privacy.epsilon, self.privacy.delta, split="budget", composition="exact", seed=seed
            )
            answer = yield ReportsQuery(ROWS, tree)
        counts = np.cumsum(tree.counts(answer.values)[-1])[:4]
        strategy = OpenedThresholds(64, (0, 1, 2, 3), DiscreteGaussian(Fraction(2**30)), 20)
        whole = Answer(np.round(counts * 2**20).astype(np.int64), answer.totals, answer.noisy)
        return curve_from(whole, BINNING, strategy, terms, "auto")


def released(statistic, privacy, account=None) -> Curve:
    return ogive.release(statistic, trust=ogive.Local(TABLE), privacy=privacy, ledger=account)


@pytest.fixture
def account(ledger, unit):
    return ledger.account("devices", unit=unit, limit=LIMIT)


def test_its_price_is_itself_and_survives_storage():
    curve = released(Told(LIMIT), LIMIT)
    assert curve.provenance.price == LIMIT
    assert Curve.from_json(curve.to_json()).provenance == curve.provenance


def test_two_of_them_are_charged_as_what_was_granted(account):
    half = ApproxDP(1, "1/2000000")
    curve = released(Told(half, rounds=2), LIMIT, account)
    assert curve.provenance.price == LIMIT
    (entry,) = account.history
    assert entry.charge == LIMIT
    assert account.remaining is None
    with pytest.raises(BudgetError):
        released(Told(half), half, account)


def test_more_of_either_number_than_was_granted_is_refused():
    for granted in (ApproxDP("1.99", "1e-6"), ApproxDP(2, "0.99e-6")):
        with pytest.raises(
            BudgetError, match="ecdf would cost epsilon = 2, delta = 1e-06, more than the privacy guarantee"
        ):
            released(Told(LIMIT), granted)


@pytest.mark.parametrize("granted", [PureDP(100), ZeroConcentratedDP(100)])
def test_guarantees_without_a_delta_do_not_cover_it(granted):
    with pytest.raises(BudgetError, match="more than the privacy guarantee"):
        released(Told(LIMIT), granted)
