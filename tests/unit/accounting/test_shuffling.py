import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers.scope import size
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
        assert found == pytest.approx(np.maximum(p - math.exp(epsilon) * q, 0).sum(), rel=5e-6, abs=1e-13)


def digits(value):
    """A number in 60-digit arithmetic."""
    with mpmath.workdps(60):
        return mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator


def divergence(clones, truth, lie, odds):
    """The divergence of the two counts given the number of clones, over first counts from the largest down."""
    total, first = mpmath.mpf(0), clones + 1
    before, here = mpmath.mpf(2) ** -clones, mpmath.mpf(0)
    while first >= 0:
        gain = truth * before + lie * here - odds * (lie * before + truth * here)
        if gain <= 0:
            return total
        total += gain
        first -= 1
        here, before = before, before * first / (clones - first + 1)
    return total


def true_delta(reports, own, epsilon):
    """The divergence of the two laws of counts, term by term in 60-digit arithmetic; less than 1e-39 is left out."""
    with mpmath.workdps(60):
        own, epsilon = digits(own), digits(epsilon)
        other = mpmath.exp(-own)
        law = 1 / (1 + other), other / (1 + other), mpmath.exp(epsilon)
        start = min(reports - 1, int(reports * other))
        middle = mpmath.binomial(reports - 1, start) * other**start * (1 - other) ** (reports - 1 - start)
        total, weight, clones = mpmath.mpf(0), middle, start
        while clones < reports and weight > mpmath.mpf("1e-45"):
            total += weight * divergence(clones, *law)
            weight *= (reports - 1 - clones) * other / ((clones + 1) * (1 - other))
            clones += 1
        weight, clones = middle, start
        while clones > 0 and weight > mpmath.mpf("1e-160"):
            weight *= clones * (1 - other) / ((reports - clones) * other)
            clones -= 1
            total += weight * divergence(clones, *law)
        return total


OWN = ["0.01", "0.1", 1, 3, 8, 20, 40, 100, 300, 700]
SHARES = ["0", "1e-9", "0.3", "0.9", "0.999999", "0.99999999999999999999"]


def delta_from_the_ratio(reports, own, epsilon):
    """The control: the first count whose ratio exceeds e^epsilon, from the ratio itself, as it was computed once."""
    clones = np.arange(reports, dtype=float)
    rest = -math.expm1(epsilon - own)
    flipped = math.expm1(epsilon + own) * math.exp(-own)
    first = np.floor(flipped / (rest + flipped) * (clones + 1)) + 1
    gain = rest * stats.binom.pmf(first - 1, clones, 0.5)
    gain -= math.expm1(epsilon) * (1 + math.exp(-own)) * stats.binom.sf(first - 1, clones, 0.5)
    weights = stats.binom.pmf(clones, reports - 1, math.exp(-own))
    return float(weights @ np.maximum(gain, 0)) / (1 + math.exp(-own))


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("reports", [1, 2, 7, 150])
def test_delta_is_never_below_the_truth_and_tight(reports, own):
    for share in SHARES:
        epsilon = Fraction(own) * Fraction(share)
        truth = true_delta(reports, own, epsilon)
        found = shuffled_delta(reports, own, epsilon)
        assert truth <= found <= min(1, truth * (1 + 5e-6)) + 1e-105


@pytest.mark.covering
@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("reports", [1, 2, 150])
@pytest.mark.parametrize("delta", ["1e-60", "1e-6", "0.3", "0.96"])
def test_epsilon_keeps_its_delta_and_hardly_less_would(reports, own, delta):
    found = shuffled_epsilon(reports, own, delta)
    assert 0 <= found <= Fraction(own)
    assert true_delta(reports, own, found) <= digits(delta)
    less = found * Fraction(9999, 10000)
    assert less < Fraction("1e-9") or true_delta(reports, own, less) > digits(delta)


@pytest.mark.parametrize(("reports", "own"), [(10**5, 7), (10**6, 9), (10**9, 17), (10**12, 24), (10**12, 40)])
def test_many_reports_with_few_clones_are_held_to_the_truth(reports, own):
    for share in ("0.2", "0.7", "0.99"):
        epsilon = own * Fraction(share)
        truth = true_delta(reports, own, epsilon)
        assert truth <= shuffled_delta(reports, own, epsilon) <= min(1, truth * (1 + 5e-6)) + 1e-105
    found = shuffled_epsilon(reports, own, "1e-6")
    assert true_delta(reports, own, found) <= digits("1e-6")


def test_a_count_from_the_ratio_would_promise_far_too_much():
    """The control: at a report's epsilon of 40 the count is one too many, and what is left is nothing."""
    truth = true_delta(100, 40, Fraction("36.74"))
    assert 0.96 < truth < 0.97
    assert delta_from_the_ratio(100, 40, 36.74) < 0.01 * truth
    assert delta_from_the_ratio(100, 3, 1.0) == pytest.approx(float(true_delta(100, 3, 1)), rel=1e-6)
    assert shuffled_delta(100, 40, "36.74") >= truth
    assert shuffled_epsilon(100, 40, "1e-6") > Fraction("39.9999")


def true_put(coins, limit, most):
    """E[max(0, limit - U)] of fair coins in 60 digits, by a continued fraction of the tail."""
    with mpmath.workdps(60):
        n, k, x = mpmath.mpf(coins), mpmath.mpf(most), mpmath.mpf(limit)
        a, b = n - k, k + 1
        logs = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1) - n * mpmath.log(2)
        # Lentz: the incomplete beta function at 1/2 over the chance of `most` heads
        c, d = mpmath.mpf(1), 1 / (1 - (a + b) / (2 * (a + 1)))
        ratio = d
        for i in range(1, 5000):
            for step in (
                i * (b - i) / (2 * (a + 2 * i - 1) * (a + 2 * i)),
                -(a + i) * (a + b + i) / (2 * (a + 2 * i) * (a + 2 * i + 1)),
            ):
                d, c = 1 / (1 + step * d), 1 + step / c
                ratio *= d * c
            if abs(d * c - 1) < mpmath.mpf("1e-50"):
                break
        # I(a, b) = ratio / (a 2^(a + b) B(a, b)), and the chance is the same with b = k + 1 counted once
        return mpmath.exp(logs) * ((n - k) / 2 - (n / 2 - x) * ratio / 2)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("coins", [257, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("deviations", [1, 3, 8, 15, 21])
def test_puts_in_closed_form_are_held_to_the_truth(coins, deviations):
    from ogive.accounting import shuffling

    limit = coins / 2 - deviations * math.sqrt(coins) / 2 + 0.25
    if limit <= coins / 3:
        return
    most = math.ceil(limit) - 1
    found = float(shuffling._below(*(np.array([float(x)]) for x in (coins, limit, most)))[0])
    truth = true_put(coins, limit, most)
    if coins <= 10**4:
        ways, total = 1, Fraction(0)
        for heads in range(most + 1):
            total += (Fraction(limit) - heads) * ways
            ways = ways * (coins - heads) // (heads + 1)
        with mpmath.workdps(60):
            assert abs(digits(total / 2**coins) / truth - 1) < mpmath.mpf("1e-30")
    assert abs(found - truth) < shuffling._ROOM / 2 * truth


@settings(max_examples=size(60, part=20), deadline=None, derandomize=True, database=None)
@given(st.integers(1, 3000), st.floats(0.01, 60), st.floats(0, 1), st.floats(0.001, 0.999), st.integers(1, 50))
def test_less_noise_fewer_reports_and_a_smaller_delta_never_hide_better(reports, own, share, delta, more):
    room = Fraction(1, 10**5)
    found = shuffled_epsilon(reports, own, delta)
    assert shuffled_epsilon(reports + more, own, delta) <= found * (1 + room)
    assert shuffled_epsilon(reports, own * 1.01, delta) >= found * (1 - room)
    assert shuffled_epsilon(reports, own, delta / 2) >= found * (1 - room)
    asked = own * share
    kept = shuffled_delta(reports, own, asked)
    assert shuffled_delta(reports + more, own, asked) <= kept * (1 + 1e-5) + 1e-105
    assert shuffled_delta(reports, own * 1.01, asked) >= kept * (1 - 1e-5)
    assert shuffled_delta(reports, own, asked * 0.9) >= kept * (1 - 1e-5)


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


@pytest.mark.parametrize("reports", [10**5, 10**9, 10**12])
@pytest.mark.parametrize("own", [60, 100, 650, 692, 700])
def test_reports_without_clones_are_priced_as_a_single_one(reports, own):
    """Where a clone is rarer than a part in 10^13, the others hide next to nothing, however many they are."""
    alone = shuffled_delta(1, own, own - 1)
    assert 0 <= 1 - shuffled_delta(reports, own, own - 1) / alone < 1e-5
    assert abs(shuffled_epsilon(reports, own, "1e-100") / own - 1) < 1e-5


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
        ((10, 701, 0.1), "at most 700"),
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
