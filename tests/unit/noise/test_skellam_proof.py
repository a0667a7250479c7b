"""The steps of the proof that Skellam shares of narrow Gaussian noise cost no more, each against exact numbers.

Names are those of docs/proofs/noise_shares.md: the pmf p of variance m, its steps h and their increase Delta.
"""

import mpmath
import numpy as np
import pytest
from helpers.scope import is_everything
from scipy.special import ive, logsumexp

STEP = 1e-3
FIRST, LAST = 7 / 8, 9.0


def log_pmf(m, reach):
    """Of the Skellam law of variance m on -reach..reach, to 30 digits, as floats."""
    with mpmath.workdps(30):
        return np.array([float(mpmath.log(mpmath.besseli(abs(k), m)) - m) for k in range(-reach, reach + 1)])


def bound_on_v(m):
    """Bounds 1 - exp(-Delta(x)) at every x."""
    middle = 1 - (ive(1, m) / ive(0, m)) ** 2
    return np.maximum(middle, 1 / (np.sqrt(4 + m * m) - 1))


def dissipation(order, delta):
    """Bounds -d Lambda / dm per order * (order - 1)."""
    whole = (order - 1) * (np.cosh(order * delta) - 1) - order * (np.cosh((order - 1) * delta) - 1)
    return whole / (order * (order - 1))


def wanted(m):
    return 1 / (2 * m) + 7 / (4 * m * m)


@pytest.mark.parametrize("m", [0.05, 0.5, 7 / 8, 1, 2, 2.6, 3, 5, 9, 30, 200])
def test_steps_of_the_law_increase_by_no_more_than_the_bound(m):
    law = log_pmf(m, 40)
    v = -np.expm1(law[:-2] + law[2:] - 2 * law[1:-1])
    assert v.max() <= bound_on_v(m)
    assert v.argmax() == 39  # at 0
    assert bound_on_v(m) <= 1.25 * v.max()  # the bound is not idle


@pytest.mark.parametrize("x", range(8))
def test_the_variance_behind_a_step_increases_and_stays_below_its_bound(x):
    with mpmath.workdps(30):
        before = mpmath.mpf(0)
        for number in range(1, 400, 1 if is_everything() else 4):
            m = mpmath.mpf(number) / 20
            w = x + m * mpmath.besseli(x + 1, m) / mpmath.besseli(x, m)
            fourfold = m * m + x * x - w * w
            assert w > mpmath.sqrt((x + 1) ** 2 + m * m) - 1
            assert before < fourfold < m * m / w
            before = fourfold


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 3.7])
@pytest.mark.parametrize("m", [1.5, 6])
def test_divergence_falls_with_the_variance_as_the_dissipation_says(order, m):
    def scaled(variance):
        law = log_pmf(variance, 60)
        return logsumexp(order * law[1:] + (1 - order) * law[:-1])

    law = log_pmf(m, 60)
    weights = order * law[1:] + (1 - order) * law[:-1]
    weights = np.exp(weights - logsumexp(weights))[1:-1]
    ratio = np.diff(law)  # log f at x = -59 .. 60
    rises = np.diff(ratio)

    def g(log_ratio):
        return (order - 1) * np.exp(order * log_ratio) - order * np.exp((order - 1) * log_ratio) + 1

    exact = (weights * (g(rises[1:]) + g(-rises[:-1]))).sum() / 2
    slope = (scaled(m - STEP) - scaled(m + STEP)) / (2 * STEP)
    assert exact == pytest.approx(slope, rel=1e-5)
    assert exact <= order * (order - 1) * dissipation(order, -np.log1p(-bound_on_v(m)))


def test_small_variances_and_orders_up_to_two_are_certified():
    """An upper sum of a decreasing function, compared at every step with the end of the step before."""
    m = np.arange(FIRST, LAST + STEP / 2, STEP)
    falls = dissipation(2, -np.log1p(-bound_on_v(m)))
    assert (np.diff(falls) < 0).all()
    beyond = 1 / (2 * LAST) + 1.03 / LAST**2
    from_here = beyond + np.cumsum((falls[:-1] * STEP)[::-1])[::-1]
    assert (from_here <= wanted(m[1:])).all()
    # control: what is left is no more than a few percent at the worst place
    assert (from_here / wanted(m[1:])).max() > 0.97


@pytest.mark.parametrize("mu", [9, 12, 40, 1_000, 100_000])
def test_larger_variances_and_small_orders_are_within_the_estimate(mu):
    order = 1 + np.sqrt((mu + 1) / 10)
    m = mu * np.exp(np.linspace(0, 18, 20_001))
    falls = dissipation_of_small(order, -np.log1p(-1 / (np.sqrt(1 + m * m) - 1)))
    upper = (falls[:-1] * np.diff(m)).sum() + 1 / m[-1]
    assert upper <= 1 / (2 * mu) + 1.03 / mu**2 + 2e-3 / mu
    assert (falls <= (1 + 4.1 / m) / (2 * m * m) * (1 + 1e-9)).all()


def dissipation_of_small(order, delta):
    """The series of `dissipation`, which loses no digits for small steps."""
    total, term = 0.0, np.ones_like(delta)
    for k in range(1, 12):
        term = term * delta**2 / ((2 * k - 1) * (2 * k))
        total = total + (order ** (2 * k - 1) - (order - 1) ** (2 * k - 1)) * term
    return total
