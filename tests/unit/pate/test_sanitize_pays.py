"""Publishing a cost pays from the account of the labels, once, with noise that no crash draws again."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import norm

import ogive
from ogive.accounting import fits
from ogive.accounting.composition import _within_gaussian
from ogive.cli import main
from ogive.errors import BudgetError, LedgerError, ParameterError, ReleaseMismatchError
from ogive.ledger import Ledger
from ogive.ledger.account import Reservation
from ogive.pate import GNMax, label, sanitize
from ogive.pate.sensitivity.sanitize import charge_of
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP

RECORD = PrivacyUnit(Adjacency.REPLACE)
VOTES = np.tile([80, 15, 5], (12, 1))
WIDE = {"target_delta": 1e-5, "order": 12.5, "smoothness": 0.02, "scale": 40.0}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "budget.db") as books:
        yield books


def account(ledger, limit, name="teachers"):
    return ledger.account(name, unit=RECORD, limit=limit)


def published(paying, votes=VOTES, **options):
    return sanitize(votes, GNMax(40), ledger=paying, **{**WIDE, **options})


def test_the_charge_covers_the_worst_pair_of_normal_laws():
    """Exact deltas of the proof's extreme pairs, and more between them, on a fine grid."""
    smoothness, scale, delta = 0.05, 5.0, Fraction(1, 10**6)
    charge = charge_of(smoothness, scale, delta, upper_limit=False)
    x = np.linspace(-80, 80, size(2_000_001, part=200_001))
    step = x[1] - x[0]
    worst = control = 0.0
    for ratio in np.exp([-smoothness, -smoothness / 2, 0, smoothness / 2, smoothness]):
        shift = min(1.0, ratio)
        one, other = norm.pdf(x, 0, scale), norm.pdf(x, shift, scale * ratio)
        for first, second in ((one, other), (other, one)):
            excess = [
                np.maximum(first - np.exp(float(charge.epsilon) * part) * second, 0).sum() * step for part in (1, 0.5)
            ]
            worst, control = max(worst, excess[0]), max(control, excess[1])
    assert worst <= float(charge.delta) < control


def test_it_is_charged_once_and_the_recorded_cost_comes_back(ledger):
    paying = account(ledger, ApproxDP(3, "1e-4"))
    found = published(paying)
    (entry,) = paying.history
    assert entry.charge == charge_of(0.02, 40.0, Fraction(1e-5) / 1000, upper_limit=True)
    assert published(paying) == found
    assert len(paying.history) == 1
    assert published(None) != found  # which draws noise of its own


def test_a_run_that_was_killed_goes_on_with_the_same_noise(ledger, monkeypatch):
    paying = account(ledger, ApproxDP(3, "1e-4"))
    drawn = []
    with monkeypatch.context() as killed:

        def die(self, estimate):
            drawn.append(estimate)
            raise KeyboardInterrupt

        killed.setattr(Reservation, "record", die)
        with pytest.raises(KeyboardInterrupt):
            published(paying)
    assert published(paying).to_dict() == drawn[0]
    assert len(paying.history) == 1


def test_noise_that_met_some_votes_meets_no_others(ledger):
    paying = account(ledger, ApproxDP(3, "1e-4"))
    published(paying)
    other = VOTES.copy()
    other[0] = [79, 16, 5]
    with pytest.raises(ReleaseMismatchError, match="other votes before"):
        published(paying, other)
    published(paying, other, batch="second")
    assert len(paying.history) == 2


def test_nothing_is_drawn_where_it_does_not_fit(ledger, monkeypatch):
    def never(*_, **__):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("ogive.pate.sensitivity.sanitize.publish", never)
    with pytest.raises(BudgetError):
        published(account(ledger, ApproxDP("0.01", "1e-4")))
    with pytest.raises(BudgetError, match="pure epsilon, which a loss with a delta never satisfies"):
        published(account(ledger, PureDP(9), "pure"))


def test_an_account_that_began_with_labels_pays(ledger):
    paying = account(ledger, ApproxDP(8, "1e-5"))
    label(VOTES, GNMax(40), privacy=ApproxDP(1, "1e-6"), ledger=paying)
    assert isinstance(paying.history[0].charge, GaussianDP)
    published(paying)
    assert [type(entry.charge) for entry in paying.history] == [GaussianDP, ApproxDP]
    assert paying.spent.epsilon <= 8
    with pytest.raises(BudgetError):
        published(paying, batch="second")
    assert len(paying.history) == 2


def test_an_approximate_charge_counts_as_gaussian_noise_within_a_distance():
    charge = ApproxDP("0.5", "1e-12")
    counted = _within_gaussian(charge)
    assert counted.distance >= charge.delta / (1 + Fraction(np.exp(0.5)))
    limit, first = ApproxDP(8, "1e-5"), GaussianDP("1/2")
    assert fits(limit, [first, charge], first=first)
    assert fits(limit, [first, counted], first=first)
    # neither a large delta, nor zCDP beside it, of which no distance is known
    assert not fits(limit, [first, ApproxDP("0.5", "1e-6")], first=first)
    assert not fits(limit, [first, charge, ZeroConcentratedDP("0.001")], first=first)
    # and it takes of the budget what the Gaussian would
    most = next(n for n in range(1, 500) if not fits(limit, [first, *[charge] * n], first=first))
    assert most == next(n for n in range(1, 500) if not fits(limit, [first, *[counted] * n], first=first))


def test_people_with_several_votes_are_refused(ledger):
    several = ledger.account("several", unit=PrivacyUnit(Adjacency.REPLACE, "who", 1), limit=ApproxDP(3, "1e-4"))
    published(several)
    many = ledger.account("many", unit=PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", 3), limit=ApproxDP(3, "1e-4"))
    with pytest.raises(LedgerError, match="known for one teacher"):
        published(many)
    assert many.spent is None


def test_what_an_account_pays_needs_one():
    for options in ({"charge_delta": 1e-9}, {"batch": "first"}):
        with pytest.raises(ParameterError, match="require an account"):
            published(None, **options)


def test_a_session_and_a_report_show_what_was_published(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("votes.npy", VOTES)
    books = ("--ledger", "budget.db", "--data-set", "teachers")
    labels = ("pate", "label", "votes.npy", "--sigma", "40", "--epsilon", "1", "--delta", "1e-6", *books)
    assert main([*labels, "--limit-epsilon", "8", "--limit-delta", "1e-5", "-o", "labels.json"]) == 0
    ask = ("pate", "sanitize", "votes.npy", "--sigma", "40", "--delta", "1e-5", "--order", "12.5")
    wide = ("--smoothness", "0.02", "--noise-scale", "40")
    capsys.readouterr()
    assert main([*ask, *wide, *books, "-o", "cost.json"]) == 0
    assert "teachers: paid epsilon" in capsys.readouterr().err
    first = Path("cost.json").read_bytes()
    assert main([*ask, *wide, *books, "-o", "cost.json"]) == 0
    assert "asked before" in capsys.readouterr().err
    assert Path("cost.json").read_bytes() == first
    assert main([*ask, *wide, "--charge-delta", "1e-9"]) == 2
    assert "requires --ledger" in capsys.readouterr().err
    assert main(["ledger", "show", "budget.db"]) == 0
    assert "sanitized_cost" in capsys.readouterr().out
    assert main(["report", "--ledger", "budget.db", "-o", "page.html", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert len(summary["releases"]) == 2
    with Ledger.open("budget.db", read_only=True) as open_books:
        paying = next(iter(open_books.accounts()))
        assert len(paying.answers()) == 2
    assert ogive.pate.SanitizedCost.from_json(Path("cost.json")).order == 12.5


def test_an_account_with_public_columns_pays_as_any_other(ledger):
    declared = PrivacyUnit(Adjacency.REPLACE, public=("ill",))
    paying = ledger.account("declared", unit=declared, limit=ApproxDP(3, "1e-4"))
    first = published(paying)
    assert published(paying) == first
    assert len(paying.history) == 1
