"""Losses of Gaussian noise in a ledger: charged, stored, added up, shown."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import jsonschema
import numpy as np
import pytest
from sqlalchemy import create_engine, text

import ogive
from ogive.accounting import covers, epsilon_of_gaussian, gaussian_grant, gaussian_mu, gaussian_rho
from ogive.columns.grids import Grid
from ogive.errors import BudgetError, LedgerError
from ogive.noise import DiscreteGaussian
from ogive.noise.base import round_up_scale
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP
from ogive.queries import Answer
from ogive.queries.aggregates import Binning
from ogive.queries.histograms import ThresholdQuery
from ogive.statistics.methods.base import curve_from
from ogive.strategies import OpenedThresholds, design_projection

LIMIT = ApproxDP(1, "1e-6")
SECRET = bytes(range(32))
LOSS = GaussianDP("1/100", "1/1000000000000000")
BITS = 20
TABLE = {"age": np.arange(1000.0) % 100}
BINNING = Binning("age", Grid.linear(0, 100, bins=64))


def reserve(account, charge, *, what="a", first=None):
    return account.reserve({"what": what}, statistic="test", charge=charge, secret=SECRET, first=first)


def projected(privacy=LIMIT):
    design = design_projection(64, privacy=privacy, adjacency=Adjacency.REPLACE, degree=4)
    return ogive.Ecdf("age", (0, 100), bins=64, method=design)


def sigma_of(privacy, rounds):
    """Of each of so many counts that use a whole grant together."""
    whole = 2.0**BITS * math.sqrt(rounds)
    return round_up_scale(Fraction(whole) / Fraction(gaussian_grant(privacy, integers=rounds, per_unit=whole)))


@dataclass(frozen=True)
class Rounds:
    """Counts at thresholds one after the other, each a measurement of its own."""

    name: ClassVar[str] = "ecdf"
    sigma: Fraction
    count: int

    def questions(self, terms):
        law = DiscreteGaussian(self.sigma)
        values = []
        for point in range(self.count):
            answer = yield ThresholdQuery(BINNING, point, law, BITS)
            values.append(int(answer.values[0]))
        strategy = OpenedThresholds(64, tuple(range(self.count)), law, BITS)
        whole = Answer(np.array(values, dtype=np.int64), answer.totals, answer.noisy)
        return curve_from(whole, BINNING, strategy, terms, "auto")


@pytest.fixture
def account(ledger, unit):
    return ledger.account("patients", unit=unit, limit=LIMIT)


def test_one_projection_at_the_whole_limit_fits_and_uses_it_up(account):
    curve = ogive.release(projected(), trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)
    (entry,) = account.history
    assert isinstance(entry.charge, GaussianDP)
    assert isinstance(curve.provenance.price, GaussianDP)
    assert entry.charge.mu_squared >= curve.provenance.price.mu_squared
    assert entry.charge.distance >= curve.provenance.price.distance
    assert covers(LIMIT, entry.charge)
    # in zCDP it would have been refused
    assert not covers(LIMIT, entry.charge.concentrated)
    assert account.spent.delta == LIMIT.delta
    assert 0.999 < account.spent.epsilon <= 1
    again = ogive.release(projected(), trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)
    assert again.to_dict() == curve.to_dict()
    with pytest.raises(BudgetError, match=r"this release would cost mu = 0\.\d+ \(Gaussian DP\)"):
        ogive.release(
            projected(ApproxDP("1/10", "1e-6")),
            trust=ogive.Central(TABLE),
            privacy=ApproxDP("1/10", "1e-6"),
            ledger=account,
        )


def test_a_release_in_rounds_has_its_whole_grant_before_the_first_answer(account):
    rounds = 12
    seen = []

    class Watched(Rounds):
        def questions(self, terms):
            procedure = super().questions(terms)
            query = next(procedure)
            while True:
                try:
                    query = procedure.send((yield query))
                except StopIteration as stop:
                    return stop.value
                (entry,) = account.history
                seen.append((entry.charge, account.remaining))

    statistic = Watched(sigma_of(LIMIT, rounds), rounds)
    curve = ogive.release(statistic, trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)
    assert len(seen) == rounds - 1
    assert len(set(seen)) == 1
    charge, left = seen[0]
    assert left is None
    assert account.history[0].charge == charge
    price = curve.provenance.price
    assert price.mu_squared <= charge.mu_squared <= price.mu_squared * Fraction(10_001, 10_000)
    assert price.distance <= charge.distance
    # the first measurement alone is charged in full, the others nothing more
    assert charge.mu_squared > rounds * Fraction(99, 100) * (Fraction(2**BITS) / statistic.sigma) ** 2


def test_rounds_beyond_the_grant_are_stopped(account):
    statistic = Rounds(sigma_of(LIMIT, 5), 6)
    with pytest.raises(BudgetError, match="more than the privacy guarantee epsilon = 1, delta = 1e-06"):
        ogive.release(statistic, trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)


def test_a_cut_off_release_in_rounds_goes_on_with_the_same_noise_and_price(account, monkeypatch):
    statistic = Rounds(sigma_of(LIMIT, 6), 6)
    asked = ThresholdQuery.answer

    def killed(self, sums, nodes):
        if self.point == 4:
            raise RuntimeError("killed")
        return asked(self, sums, nodes)

    monkeypatch.setattr(ThresholdQuery, "answer", killed)
    with pytest.raises(RuntimeError, match="killed"):
        ogive.release(statistic, trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)
    (before,) = account.history
    monkeypatch.undo()
    curve = ogive.release(statistic, trust=ogive.Central(TABLE), privacy=LIMIT, ledger=account)
    (after,) = account.history
    assert (before.charge, before.release_id) == (after.charge, after.release_id)
    assert (before.state, after.state) == ("reserved", "released")
    assert curve.provenance.release_id == after.release_id


def test_a_grant_in_zcdp_is_charged_in_zcdp(ledger, unit):
    account = ledger.account("patients", unit=unit, limit=ZeroConcentratedDP("1/2"))
    grant = ZeroConcentratedDP("1/8")
    curve = ogive.release(projected(grant), trust=ogive.Central(TABLE), privacy=grant, ledger=account)
    assert isinstance(curve.provenance.price, GaussianDP)
    assert account.history[0].charge == grant
    assert account.remaining == ZeroConcentratedDP("3/8")
    # a limit in zCDP counts half of mu squared
    reserve(account, GaussianDP("1/4", "1/10"))
    assert account.remaining == ZeroConcentratedDP("1/4")
    assert account.spent == ZeroConcentratedDP("1/4")


@pytest.mark.each_value
@pytest.mark.parametrize("grant", [LIMIT, ApproxDP("1/2", "1/100")], ids=str)
def test_a_release_that_selects_how_to_measure_fits_an_account_of_its_size(ledger, unit, grant):
    account = ledger.account("patients", unit=unit, limit=grant)
    curve = ogive.release(
        ogive.Ecdf("age", (0, 100), bins=64, method="selected"),
        trust=ogive.Central(TABLE),
        privacy=grant,
        ledger=account,
    )
    (entry,) = account.history
    assert curve.provenance.method.startswith("selected+")
    assert type(entry.charge) is type(curve.provenance.price)
    assert account.spent.epsilon <= grant.epsilon


def test_what_a_spend_may_come_to_divides_the_delta(account):
    # a small pure charge, then all that zCDP allows
    rho = gaussian_rho(LIMIT)
    spend = reserve(account, PureDP("1/100"), first=rho)
    spend.charge(rho)
    assert account.history[0].charge == rho
    assert account.spent == LIMIT
    assert account.remaining is None


def test_without_being_told_delta_is_divided_by_the_charge(account):
    spend = reserve(account, PureDP("1/100"))
    with pytest.raises(BudgetError, match="part of which is paid"):
        spend.charge(gaussian_rho(LIMIT))


def test_gaussian_charges_add_up_and_survive(tmp_path, unit):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("patients", unit=unit, limit=LIMIT)
        for what in "abc":
            reserve(account, LOSS, what=what)
        spent, left = account.spent, account.remaining
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("patients", unit=unit)
        assert [entry.charge for entry in account.history] == [LOSS] * 3
        assert (account.spent, account.remaining) == (spent, left)
        together = GaussianDP(3 * LOSS.mu_squared, 3 * LOSS.distance)
        assert float(spent.epsilon) == pytest.approx(float(epsilon_of_gaussian(together, LIMIT.delta)), rel=1e-5)
        # two more fit, a third does not
        for what in "de":
            reserve(account, LOSS, what=what)
        with pytest.raises(BudgetError, match="patients"):
            reserve(account, LOSS, what="f")
        assert len(account.history) == 5
    assert 5 * LOSS.mu_squared < Fraction(gaussian_mu(LIMIT.epsilon, LIMIT.delta / 2)) ** 2 < 6 * LOSS.mu_squared


def test_a_pure_limit_never_pays_for_gaussian_noise(ledger, unit):
    account = ledger.account("patients", unit=unit, limit=PureDP(3))
    with pytest.raises(BudgetError, match="Gaussian noise \\(zCDP\\) never satisfies; use PureDP instead"):
        reserve(account, LOSS)


def test_a_gaussian_charge_is_raised_and_never_lowered(account):
    spend = reserve(account, LOSS)
    spend.charge(GaussianDP("1/200", "1/1000000000000000"))
    assert account.history[0].charge == LOSS
    spend.charge(GaussianDP("1/50", "1/500000000000000"))
    assert account.history[0].charge == GaussianDP("1/50", "1/500000000000000")
    with pytest.raises(LedgerError, match="cannot be charged"):
        spend.charge(GaussianDP("1/40", "1/1000000000000000"))
    with pytest.raises(LedgerError, match="cannot be charged"):
        spend.charge(ZeroConcentratedDP("1/200"))
    spend.charge(ZeroConcentratedDP("1/100"))
    assert account.history[0].charge == ZeroConcentratedDP("1/100")


def test_parts_with_gaussian_charges_cost_no_more_than_the_largest(account):
    for name in ("north", "south"):
        reserve(account.part(name), LOSS)
    assert account.spent == account.part("north").spent
    assert account.remaining == account.part("south").remaining


def test_without_a_limit_gaussian_charges_are_told_in_zcdp(ledger, unit):
    account = ledger.account("patients", unit=unit)
    reserve(account, LOSS)
    assert account.spent == ZeroConcentratedDP("1/200")
    account.set_limit(LIMIT)
    with pytest.raises(BudgetError, match=r"has spent rho = 0\.005"):
        account.set_limit(ApproxDP("1/100", "1e-6"))


def test_an_export_has_the_exact_loss(ledger, account):
    reserve(account, LOSS).record({"schema": "test/1"})
    data = ledger.export()
    assert json.loads(json.dumps(data)) == data
    schema = json.loads((Path(ogive.__file__).parent / "schemas" / "ledger-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    (entry,) = data["accounts"][0]["entries"]
    assert entry["charge"] == {"type": "GaussianDP", "mu_squared": "1/100", "distance": "1/1000000000000000"}


@pytest.mark.parametrize(
    "charge", ['{"type": "GaussianDP"}', "[]", '{"type": "GaussianDP", "mu_squared": "-1", "distance": "0"}']
)
def test_a_damaged_charge_is_one_line(tmp_path, unit, charge):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        reserve(ledger.account("patients", unit=unit, limit=LIMIT), LOSS)
    with create_engine(f"sqlite:///{place}").begin() as connection:
        connection.execute(text("update ogive_spends set charge = :charge"), {"charge": charge})
    with pytest.raises(LedgerError, match="the ledger is damaged: a charge"):
        ogive.Ledger.open(place)  # which compares every charge with the ledger's mark
    place.with_name("budget.db.key.mark").unlink()
    with pytest.raises(LedgerError, match="the ledger is damaged: a charge"):
        ogive.Ledger.open(place)  # which begins a mark
    with (
        ogive.Ledger.open(place, read_only=True) as ledger,
        pytest.raises(LedgerError, match="the ledger is damaged: a charge"),
    ):
        _ = ledger.accounts()[0].history
