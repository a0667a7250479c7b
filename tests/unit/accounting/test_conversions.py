import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from ogive.accounting import (
    covers,
    delta_of,
    epsilon_of,
    epsilon_of_gaussian,
    fits,
    gaussian_rho,
    in_terms_of,
    least_epsilon,
    pure_epsilon,
    total_loss,
)
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

RHOS = st.floats(1e-4, 20).map(lambda value: ZeroConcentratedDP(value))


def delta_on_a_grid(rho: float, epsilon: float) -> float:
    """The same bound by trying very many orders, nothing clever."""
    alpha = 1 + np.exp(np.linspace(-15, 15, 200_001))
    logs = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    return min(1.0, float(np.exp(min(0.0, logs.min()))))


def delta_of_gaussian(rho: float, epsilon: float) -> float:
    """The exact delta of a Gaussian mechanism of that rho (Balle and Wang 2018): no bound may be below it."""
    mu = math.sqrt(2 * rho)
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@settings(max_examples=60, deadline=None)
@given(RHOS, st.floats(1e-3, 50))
def test_delta_equals_a_brute_force_minimum(loss, epsilon):
    fast, slow = delta_of(loss, Fraction(epsilon)), delta_on_a_grid(float(loss.rho), epsilon)
    assert fast == pytest.approx(slow, rel=1e-5, abs=1e-300)


@settings(max_examples=60, deadline=None)
@given(RHOS, st.floats(0.1, 30))
def test_delta_is_never_below_that_of_a_real_gaussian_mechanism(loss, epsilon):
    assert delta_of(loss, Fraction(epsilon)) >= delta_of_gaussian(float(loss.rho), epsilon)


@settings(max_examples=40, deadline=None)
@given(RHOS, st.floats(1e-12, 0.4))
def test_epsilon_is_tighter_than_bun_and_steinke_and_inverts_delta(loss, delta):
    epsilon = epsilon_of(loss, Fraction(delta))
    rho = float(loss.rho)
    assert float(epsilon) <= (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * (1 + 1e-8)
    assert delta_of(loss, epsilon) <= delta


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 20), st.floats(1e-12, 0.4))
def test_the_rho_of_an_approximate_guarantee_is_safe_and_nearly_largest(epsilon, delta):
    target = ApproxDP(epsilon, delta)
    rho = gaussian_rho(target)
    assert covers(target, rho)
    assert not covers(target, ZeroConcentratedDP(rho.rho * Fraction(10_001, 10_000)))


def test_known_value_epsilon_of_a_rho():
    # rho = 0.1, delta = 1e-6: Bun and Steinke give 2.4507; the sharper bound must be below and not absurd
    value = float(epsilon_of(ZeroConcentratedDP("0.1"), Fraction(1, 10**6)))
    assert 2.0 < value < 2.4507


@given(st.fractions(Fraction(1, 1000), 100))
def test_pure_epsilon_of_a_rho_is_its_square_root_from_below(rho):
    granted = ZeroConcentratedDP(rho)
    epsilon = pure_epsilon(granted)
    assert covers(granted, epsilon)
    assert not covers(granted, PureDP(epsilon.epsilon + Fraction(1, 10**15)))


def test_pure_guarantees_are_not_covered_by_concentrated_losses():
    assert not covers(PureDP(100), ZeroConcentratedDP("0.0001"))
    assert covers(ApproxDP(1, "1e-6"), PureDP(1))
    assert not covers(ApproxDP(1, "1e-6"), PureDP("1.0000001"))
    assert covers(PureDP(1), PureDP(1))


def test_losses_add_up_and_pure_ones_convert():
    assert total_loss([PureDP(1), PureDP("0.5")]) == PureDP("1.5")
    assert total_loss([PureDP(1), ZeroConcentratedDP("0.25")]) == ZeroConcentratedDP("0.75")
    assert total_loss([ZeroConcentratedDP("0.25"), PureDP(1), PureDP(2)]) == ZeroConcentratedDP("2.75")


def test_a_delta_that_floating_point_cannot_hold_is_never_claimed():
    loss = ZeroConcentratedDP(1)
    assert delta_of(loss, Fraction(10_000)) == 1e-300
    with pytest.raises(ParameterError, match="delta must be above 1e-300"):
        epsilon_of(loss, Fraction(1, 10**310))


def test_refuses_a_delta_outside_the_unit_interval():
    with pytest.raises(ParameterError, match="delta must be"):
        epsilon_of(ZeroConcentratedDP(1), Fraction(1))


def test_a_loss_is_told_in_terms_of_what_is_granted():
    granted, loss = ApproxDP(1, "1e-5"), GaussianDP(1)
    words = in_terms_of(granted, loss)
    assert words.startswith(f"{loss}, which is epsilon = ")
    told = Fraction(words.split("epsilon = ")[1].split(",")[0])
    assert covers(ApproxDP(told, "1e-5"), loss)
    assert not covers(ApproxDP(told * Fraction(99_999, 100_000), "1e-5"), loss)
    assert in_terms_of(granted, PureDP(1)) == str(PureDP(1))
    assert in_terms_of(ZeroConcentratedDP(1), loss) == str(loss)


def test_integers_whose_distance_takes_all_of_delta_keep_what_zcdp_says():
    """The mechanism itself is in zCDP, so that no loss is without an epsilon, and a larger one is never refused."""
    delta = Fraction("1e-6")
    loss = GaussianDP(9, "1e-9")
    with pytest.raises(ParameterError, match="no epsilon goes with"):
        epsilon_of_gaussian(loss, delta)
    epsilon = least_epsilon(loss, delta)
    assert epsilon == epsilon_of(ZeroConcentratedDP(Fraction(9, 2)), delta)
    for times in (1, 2, 10, 100):
        limit = ApproxDP(epsilon * times, delta)
        assert covers(limit, loss)
        assert fits(limit, [loss])
    assert not covers(ApproxDP(epsilon * Fraction(99, 100), delta), loss)
    exact = GaussianDP(9)
    assert least_epsilon(exact, delta) == epsilon_of_gaussian(exact, delta) < epsilon
