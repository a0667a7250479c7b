import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ogive.accounting import shuffled_epsilon
from ogive.accounting.shuffling import shuffled_delta, shuffled_epsilon_bound
from ogive.errors import ParameterError


def pair(reports, own):
    """Exact law of the two counts under either hypothesis, shape (C, first count), by convolution."""
    other = math.exp(-own)
    truth = math.exp(own) / (1 + math.exp(own))
    one, two = np.zeros((reports, reports + 1)), np.zeros((reports, reports + 1))
    for clones in range(reports):
        weight = stats.binom.pmf(clones, reports - 1, other)
        for heads in range(clones + 1):
            chance = weight * math.comb(clones, heads) / 2**clones
            one[clones, heads + 1] += chance * truth
            one[clones, heads] += chance * (1 - truth)
            two[clones, heads] += chance * truth
            two[clones, heads + 1] += chance * (1 - truth)
    return one, two


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.floats(0.1, 5), st.floats(0, 1))
def test_delta_is_the_divergence_of_the_clones_in_both_directions(reports, own, share):
    one, two = pair(reports, own)
    epsilon = own * share
    found = shuffled_delta(reports, own, epsilon)
    for p, q in ((one, two), (two, one)):
        assert found == pytest.approx(np.maximum(p - math.exp(epsilon) * q, 0).sum(), rel=1e-7, abs=1e-13)


@pytest.mark.parametrize(
    ("reports", "own", "delta", "closed", "exact"),
    [
        (10**4, 1, "1e-6", 0.21403, 0.05301),
        (10**4, 2, "1e-6", 0.50092, 0.15505),
        (10**5, 1, "1e-6", 0.07255, 0.01528),
        (10**5, 4, "1e-6", 0.53463, 0.16977),
        (10**3, "0.5", "1e-5", 0.25384, 0.05827),
    ],
)
def test_values_of_the_methods_file(reports, own, delta, closed, exact):
    found = shuffled_epsilon(reports, own, delta)
    assert float(found) == pytest.approx(exact, abs=5.1e-6)
    assert float(shuffled_epsilon_bound(reports, own, delta)) == pytest.approx(closed, abs=5.1e-6)
    # the epsilon keeps the delta, and hardly any less would
    assert shuffled_delta(reports, own, found) <= float(Fraction(delta))
    assert shuffled_delta(reports, own, found * Fraction(9999, 10000)) > float(Fraction(delta))


@pytest.mark.parametrize("reports", [10**6, 10**9])
def test_many_reports_are_priced_with_the_fewest_clones_of_each_range(reports):
    found = float(shuffled_epsilon(reports, 2, "1e-9"))
    assert found < float(shuffled_epsilon_bound(reports, 2, "1e-9"))
    # as of Gaussian noise whose variance is that of the clones' coins
    rough = math.tanh(1) * math.sqrt(2 * math.log(1e9) / (reports * math.exp(-2)))
    assert 0.8 * rough < found < 2.5 * rough


def test_ranges_of_clones_change_almost_nothing(monkeypatch):
    from ogive.accounting import shuffling

    fine = shuffled_delta(10**5, 1, "0.015")
    monkeypatch.setattr(shuffling, "_MOST_RANGES", 200)
    coarse = shuffled_delta(10**5, 1, "0.015")
    assert fine <= coarse * (1 + 1e-8)
    assert coarse < 1.1 * fine


def test_more_reports_hide_better_and_a_single_one_nothing():
    found = [float(shuffled_epsilon(10**size, 1, "1e-6")) for size in range(7)]
    assert found == sorted(found, reverse=True)
    assert shuffled_epsilon(1, 1, "1e-12") <= 1
    assert float(shuffled_epsilon(1, 1, "1e-12")) > 0.999999
    assert shuffled_delta(5, 1, 1) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 0.1), "reports must be a whole number"),
        ((True, 1, 0.1), "reports must be a whole number"),
        ((10, 0, 0.1), "epsilon must be above 0"),
        ((10, 101, 0.1), "at most 100"),
        ((10, 1, 0), "delta must be from 1e-100"),
        ((10, 1, 1), "delta must be from 1e-100"),
    ],
)
def test_refuses_arguments_out_of_range(arguments, message):
    for rule in (shuffled_epsilon, shuffled_epsilon_bound):
        with pytest.raises(ParameterError, match=message):
            rule(*arguments)


def test_the_closed_form_is_refused_for_too_few_reports():
    with pytest.raises(ParameterError, match=r"the closed form needs more than 631.*reports"):
        shuffled_epsilon_bound(600, 1, "1e-6")
    with pytest.raises(ParameterError, match="shuffled must be at least 0"):
        shuffled_delta(10, 1, -1)
