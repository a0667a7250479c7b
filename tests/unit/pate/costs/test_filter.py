"""A filter pays at data-independent prices and stops before its budget is passed."""

import copy
import math
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import delta_of
from ogive.accounting.losses import gaussian_delta
from ogive.errors import BudgetError, ParameterError, UnsupportedError
from ogive.pate.aggregators import ConfidentGNMax, GNMax, LargestMargins, LNMax
from ogive.pate.costs.answers import epsilon_of_rdp
from ogive.pate.costs.cost import PrivacyFilter, gaussian_epsilon, gaussian_loss, independent_rdp, laplace_rdp
from ogive.privacy import ZeroConcentratedDP


def run(budget, passes):
    """Queries until no check with an answer fits; every few pass."""
    asked = 0
    while budget.allows(checks=1, answers=1):
        budget.pay(checks=1)
        if passes(asked):
            budget.pay(answers=1)
        asked += 1
    return asked


@pytest.mark.parametrize("passes", [lambda _: True, lambda _: False, lambda asked: asked % 3 == 0])
def test_stops_where_the_next_query_would_pass_the_budget(passes):
    budget = PrivacyFilter(ConfidentGNMax(200, 150, 40), epsilon=2, target_delta=1e-5, classes=10)
    asked = run(budget, passes)
    assert (budget.checks, budget.answers) == (asked, sum(map(passes, range(asked))))
    squared = budget.checks / 150**2 + 2 * budget.answers / 40**2
    assert gaussian_delta(math.sqrt(squared), 2) <= 1e-5
    assert gaussian_delta(math.sqrt(squared + 1 / 150**2 + 2 / 40**2), 2) > 1e-5


def test_refuses_to_pay_what_does_not_fit_and_books_nothing():
    budget = PrivacyFilter(GNMax(40), epsilon=1, target_delta=1e-5, classes=10)
    budget.pay(answers=57)
    for _ in range(2):
        with pytest.raises(BudgetError, match="0 checks and 1 answers more do not fit after 0 checks and 57 answers"):
            budget.pay(answers=1)
    assert budget.answers == 57
    assert budget.allows()


def test_scaled_noise_and_groups_fit_less():
    counts = []
    for options in ({"noise": "continuous"}, {}, {"group": 2}):
        budget = PrivacyFilter(GNMax(40), epsilon=1, target_delta=1e-5, classes=10, **options)
        while budget.allows(answers=1):
            budget.pay(answers=1)
        counts.append(budget.answers)
    assert counts == [57, 57, 14]
    # integers are what is drawn, and what is paid for unless others are named; little noise shows the difference
    little = {"epsilon": 8, "target_delta": "1e-7", "classes": 10}
    default, scaled, continuous = (
        PrivacyFilter(GNMax(3), **little, **options) for options in ({}, {"noise": "scaled"}, {"noise": "continuous"})
    )
    assert continuous.allows(answers=9)
    assert not scaled.allows(answers=9)
    assert not default.allows(answers=9)


def test_integers_may_use_a_large_budget_in_zcdp():
    counts = []
    for noise in ("continuous", "scaled"):
        budget = PrivacyFilter(GNMax(10), epsilon=18, target_delta=1e-7, classes=10, noise=noise)
        while budget.allows(answers=1):
            budget.pay(answers=1)
        counts.append(budget.answers)
    assert 0.85 * counts[0] < counts[1] < counts[0]
    assert delta_of(ZeroConcentratedDP(Fraction(counts[1], 100)), Fraction(18)) <= 1e-7  # mu^2 = 2 / 10^2 each
    assert delta_of(ZeroConcentratedDP(Fraction(counts[1] + 1, 100)), Fraction(18)) > 1e-7


def test_what_may_be_spent_is_fixed_before_the_first_answer():
    """Whatever mixture of checks and answers a run makes: their sum is not traded for their distance from Gaussians."""
    ends = set()
    for passes in (lambda _: True, lambda _: False, lambda asked: asked % 2 == 0):
        budget = PrivacyFilter(ConfidentGNMax(3, 5, 20), epsilon=4, target_delta="1e-8", classes=60, noise="scaled")
        run(budget, passes)
        spent = gaussian_loss(
            checks=budget.checks, sigma_1=5, answers=budget.answers, sigma_2=20, classes=60, noise="scaled"
        )
        ends.add(budget.checks)
        assert spent.mu_squared <= budget._most
    assert len(ends) > 1
    large = PrivacyFilter(GNMax(40), epsilon=60, target_delta=1e-5, classes=10, noise="scaled")
    assert large.allows(answers=500)  # a large epsilon is no less than a small one


def test_refuses_what_it_cannot_pay_for():
    for aggregator in (LNMax(20), LargestMargins(40, 3)):
        with pytest.raises(UnsupportedError, match="single answers with Gaussian noise"):
            PrivacyFilter(aggregator, epsilon=1, target_delta=1e-5, classes=3)
    with pytest.raises(ParameterError, match="not Gaussian"):
        PrivacyFilter(GNMax(40), epsilon=1, target_delta=1e-5, classes=3, noise="discrete")
    budget = PrivacyFilter(GNMax(40), epsilon=1, target_delta=1e-5, classes=3)
    with pytest.raises(ParameterError, match="no threshold"):
        budget.pay(checks=1)
    with pytest.raises(ParameterError, match="whole numbers"):
        budget.allows(answers=-1)


def test_exact_values_of_the_tables_of_the_paper():
    """Caps of Table 1, read as fixed beforehand: the specification's section 11."""
    rows = [
        (640, 150, 286, 40, "1e-5", 10, 2.5426, 2.7579),
        (8500, 200, 3098, 40, "1e-6", 10, 11.1379, 11.8374),
        (1500, 200, 524, 40, "1e-5", 2, 3.5430, 3.8335),
        (12000, 500, 10762, 100, "1e-8", 150, 9.0125, 9.4785),
    ]
    tenths = np.arange(11, 300) / 10

    for checks, sigma_1, answers, sigma_2, delta, classes, exact, tight in rows:
        given = {"checks": checks, "sigma_1": sigma_1, "answers": answers, "sigma_2": sigma_2}
        assert gaussian_epsilon(gaussian_loss(**given, classes=classes), delta) == pytest.approx(exact, abs=5.1e-5)
        rdp = independent_rdp(tenths, **given)
        assert epsilon_of_rdp(rdp, tenths, target_delta=float(delta)).value == pytest.approx(tight, abs=5.1e-5)


def test_integer_noise_is_paid_from_delta():
    # 286 answers alone, continuous 2.435360
    plain = gaussian_loss(answers=286, sigma_2=40, classes=10)
    assert gaussian_epsilon(plain, "1e-5") == pytest.approx(2.435360, abs=1e-6)
    scaled = gaussian_loss(checks=640, sigma_1=150, answers=300, sigma_2=40, classes=10, noise="scaled")
    # delta is less by (1 + e^epsilon) (K1 + m K2) 0.0202 / (2^16 sigma_2)^2 at most
    paid = float(scaled.distance) * (1 + math.exp(2.607))
    assert paid < 1.6e-10
    assert paid > 0.5e-10


def test_laplace_answers_add_up():
    assert laplace_rdp([2, 9], answers=5, scale=20) == pytest.approx(5 * laplace_rdp([2, 9], answers=1, scale=20))
    assert laplace_rdp([2.0], answers=1, scale=20, group=2) == pytest.approx(laplace_rdp([2.0], answers=1, scale=10))


def test_refuses_losses_of_no_noise():
    for wrong in ({"answers": 3}, {"answers": 3, "sigma_2": 0}, {"answers": -1, "sigma_2": 4}):
        with pytest.raises(ParameterError, match="each with a noise above 0"):
            gaussian_loss(**wrong, classes=3)
    with pytest.raises(ParameterError, match="sigma must be at least"):
        gaussian_loss(answers=3, sigma_2="0.001", classes=3, noise="scaled")


def test_threads_do_not_pay_the_same_rest(monkeypatch):
    budget = copy.copy(PrivacyFilter(GNMax(40), epsilon=1, target_delta="1e-5", classes=10))
    while budget.allows(answers=2):
        budget.pay(answers=1)
    before, after = budget.answers, PrivacyFilter._after

    def slowly(self, *arguments):
        found = after(self, *arguments)
        time.sleep(0.02)
        return found

    monkeypatch.setattr(PrivacyFilter, "_after", slowly)

    def pay(_):
        try:
            budget.pay(answers=1)
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(pay, range(4))) == 1
    assert budget.answers == before + 1
