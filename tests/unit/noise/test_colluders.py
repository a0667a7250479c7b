"""Noise of the parties who keep their shares to themselves, when all others tell theirs or have left, from exact laws.

n parties add shares, t of them collude and d leave, so h = n - t - d shares are unknown. Their sum alone must keep the
price that was stated, and one share less must not.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ive, logsumexp

from ogive.noise import DiscreteGaussian, DiscreteLaplace, Polya, Skellam, round_up_root
from ogive.noise.laws import MOST_PARTIES, WIDE_SIGMA, share_of

ORDERS = (*(1 + np.geomspace(1e-3, 0.9, 12)), 2, 2.5, 3, 4, 5.5, 8, 16, 32, 64)
CASES = [(5, 1, 1), (9, 3, 2), (10, 4, 0), (20, 0, 0)]


def probabilities(law, reach):
    return np.exp(law.log_probability(np.arange(-reach, reach + 1)))


def summed(share, count, reach):
    """The law of a sum of so many shares on -reach..reach, by convolution of positive terms: no digit is lost."""
    one = probabilities(share, reach)
    whole = one
    for _ in range(count - 1):
        whole = np.convolve(whole, one)[reach : 3 * reach + 1]
    return whole


def loss(law):
    """Largest log-ratio of neighboring values: pure loss of a change of one."""
    return np.abs(np.diff(np.log(law))).max()


def renyi(law, order, change):
    """Renyi divergence between a law on an interval and itself moved, from logarithms of its probabilities."""
    moved, still = law[:-change], law[change:]
    terms = order * still + (1 - order) * moved
    assert 0 < int(terms.argmax()) < len(terms) - 1  # the interval is wide enough
    return logsumexp(terms) / (order - 1)


@pytest.mark.parametrize(("parties", "colluding", "dropouts"), CASES)
@pytest.mark.parametrize("scale", ["1/2", 3])
def test_laplace_shares_of_those_who_keep_them_are_the_stated_law(parties, colluding, dropouts, scale):
    honest = parties - colluding - dropouts
    law = DiscreteLaplace(scale)
    share = share_of(law, honest)
    # what is cut off is below exp(-60)
    reach, inner = 100 * int(law.scale + 1), 30
    alone = summed(share, honest, reach)[reach - inner : reach + inner + 1]
    assert alone == pytest.approx(probabilities(law, inner), rel=1e-12)
    assert loss(alone) == pytest.approx(float(1 / law.scale), rel=1e-10)
    # control: if one more told its share, the loss would be larger than what is stated
    if honest > 2:
        fewer = summed(share, honest - 1, reach)[reach - inner : reach + inner + 1]
        assert loss(fewer) > 1.02 / law.scale


def test_shares_of_polya_noise_have_the_specified_values():
    """Nine shares of seven, scale 3: loss and variance as in the methods file, section 6."""
    law = DiscreteLaplace(3)
    share = share_of(law, 7)
    assert share == Polya(3, Fraction(1, 7))
    reach = 400
    nine = summed(share, 9, reach)
    places = np.arange(-reach, reach + 1)
    assert (nine * places**2).sum() == pytest.approx(22.930, abs=5e-4)
    assert 9 / 7 * law.variance == pytest.approx(22.930, abs=5e-4)
    assert law.variance == pytest.approx(17.834, abs=5e-4)
    assert loss(nine[reach - 60 : reach + 61]) == pytest.approx(0.3287, abs=2e-4)
    assert loss(nine[reach - 200 : reach + 201]) < 1 / 3


@pytest.mark.parametrize(
    ("squared", "shares", "numeric", "bound"),
    [
        (2, 10, 0.025000, 0.025000),
        (1, 10, 0.050000, 0.050136),
        (0.5, 20, 0.050100, 0.078806),
        (0.25, 10, 0.229605, 0.786331),
    ],
)
def test_sums_of_discrete_gaussians_cost_what_is_specified(squared, shares, numeric, bound):
    reach = 60
    places = np.arange(-reach, reach + 1)
    one = np.exp(-(places**2) / (2 * squared))
    one /= one.sum()
    whole = one
    for _ in range(shares - 1):
        whole = np.convolve(whole, one)[reach : 3 * reach + 1]
    inner = slice(reach - 34, reach + 35)
    found = max(renyi(np.log(whole[inner]), order, 1) / order for order in (1.5, 2, 4, 8))
    assert found == pytest.approx(numeric, abs=1e-6)
    tau = 10 * sum(math.exp(-2 * math.pi**2 * squared * j / (j + 1)) for j in range(1, shares))
    ideal = 1 / (shares * squared)
    stated = min(ideal + tau / 2, (math.sqrt(ideal) + tau) ** 2) / 2
    assert stated == pytest.approx(bound, abs=1e-6)
    assert found <= stated + 1e-9


@pytest.mark.parametrize(("parties", "colluding", "dropouts"), CASES)
def test_wide_gaussian_shares_of_those_who_keep_them_cost_no_more_than_the_stated_law(parties, colluding, dropouts):
    honest = parties - colluding - dropouts
    law = DiscreteGaussian(Fraction(WIDE_SIGMA * 100 * math.isqrt(10_000 * honest) + 200, 10_000))
    share = share_of(law, honest)
    assert isinstance(share, DiscreteGaussian)
    stated = float(1 / (2 * law.sigma**2))
    reach = int(40 * law.sigma)
    # shifts by up to order * change must stay inside
    for count, holds in ((honest, True), (honest - 1, False)):
        whole = np.log(np.maximum(summed(share, count, reach), 1e-300))
        inner = whole[reach - int(24 * law.sigma) : reach + int(24 * law.sigma) + 1]
        for change in (1, 2, 5):
            costs = [renyi(inner, order, change) / (order * change**2) for order in ORDERS if order * change < 40]
            assert (max(costs) <= stated * (1 + 1e-8)) == holds


@pytest.mark.parametrize("honest", [2, 3, 9])
@pytest.mark.parametrize("each", [0.72, 0.8, 0.9, 1.1, 1.5])
def test_narrow_discrete_gaussian_shares_of_those_who_keep_them_cost_no_more_either(honest, each):
    law = DiscreteGaussian(round_up_root(Fraction(each**2 * honest)))
    share = share_of(law, honest)
    if isinstance(share, Skellam):
        assert each < 0.9
        return
    stated = float(1 / (2 * law.sigma**2))
    reach = int(40 * law.sigma) + 20
    inner = slice(reach - int(22 * law.sigma), reach + int(22 * law.sigma) + 1)
    for count, holds in ((honest, True), (honest - 1, False)):
        whole = np.log(np.maximum(summed(share, count, reach), 1e-300))[inner]
        for change in (1, 2, 5):
            orders = [order for order in ORDERS if order * change < 16 * law.sigma]
            costs = [renyi(whole, order, change) / (order * change**2) for order in orders]
            if holds:
                assert max(costs) <= stated * (1 + 1e-9)
            elif each > 0.9:  # narrower ones have so much room that one of them more could be told
                assert max(costs) > stated


def specified_bound(order, mu, change):
    """Agarwal, Kairouz and Liu 2021, for orders that are whole numbers."""
    extra = ((2 * order - 1) * change**2 + 6 * change) / (4 * mu**2)
    return order * change**2 / (2 * mu) + min(extra, 3 * change / (2 * mu))


def skellam(variance, reach):
    return Skellam(variance).log_probability(np.arange(-reach, reach + 1))


@pytest.mark.parametrize(
    ("mu", "change", "order", "numeric", "bound"),
    [
        (10, 1, 2, 0.0997, 0.1225),
        (10, 1, 8, 0.3646, 0.4525),
        (50, 3, 8, 0.6898, 0.7353),
        (400, 4, 32, 0.6255, 0.6416),
    ],
)
def test_skellam_noise_costs_what_is_specified(mu, change, order, numeric, bound):
    law = skellam(mu, 900)
    assert np.exp(law[890:911]) == pytest.approx(ive(np.abs(np.arange(-10, 11)), mu), rel=1e-12)
    assert renyi(law, order, change) == pytest.approx(numeric, abs=5e-5)
    assert specified_bound(order, mu, change) == pytest.approx(bound, abs=6e-5)


SIGMAS = ("1/20", "1/4", "1/2", "0.7", 1, "1.5", 2, 3, 5, "6.5", 8, "9.9")


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("honest", [2, 7, 25, 400])
def test_narrow_gaussian_shares_of_those_who_keep_them_cost_no_more_than_the_stated_law(sigma, honest):
    law = DiscreteGaussian(sigma)
    share = share_of(law, honest)
    if isinstance(share, DiscreteGaussian):
        assert law.sigma**2 > honest / 4
        return
    mu = honest * share.exact_variance
    assert 1 / (2 * mu) + Fraction(7, 4) / mu**2 <= 1 / (2 * law.sigma**2)  # as the proof wants it
    assert mu <= law.sigma**2 + Fraction(7, 2) + Fraction(honest, 1 << 20)
    stated = float(1 / (2 * law.sigma**2))
    # sums of Skellam variables are Skellam: their variances add up
    whole = skellam(Fraction(math.ceil(mu * 2**30), 2**30), int(60 + 30 * math.sqrt(mu)) + 2 * 64 * 5)
    for change in range(1, 6):
        costs = [renyi(whole, order, change) / (order * change**2) for order in ORDERS]
        assert max(costs) <= stated


@pytest.mark.parametrize("sigma", [1, 2, 4])
def test_skellam_noise_of_the_gaussian_variance_alone_would_cost_more_than_is_stated(sigma):
    """The control of what a share has beyond its part of the variance."""
    whole = skellam(sigma**2, 200)
    assert max(renyi(whole, order, 1) / order for order in ORDERS) > (1 + 1e-5 / sigma**2) / (2 * sigma**2)


@pytest.mark.parametrize("honest", [8, 20])
@pytest.mark.parametrize("sigma", [1, 2])
def test_sums_of_skellam_shares_are_the_law_that_was_priced(sigma, honest):
    share = share_of(DiscreteGaussian(sigma), honest)
    reach = 80
    alone = summed(share, honest, reach)[reach - 20 : reach + 21]
    mu = float(honest * share.exact_variance)
    assert alone == pytest.approx(ive(np.abs(np.arange(-20, 21)), mu), rel=1e-12)
    # control: too few of them cost more than is stated
    few = np.log(summed(share, max(1, honest // 3), reach)[reach - 40 : reach + 41])
    assert renyi(few, 2, 1) > 2 / (2 * sigma**2)


def test_most_parties_and_least_sigma_have_shares_that_can_be_drawn():
    for sigma in (Fraction(1, 1 << 20), 1, 100):
        share = share_of(DiscreteGaussian(sigma), MOST_PARTIES)
        assert isinstance(share, Skellam)
        assert MOST_PARTIES * share.exact_variance >= Fraction(sigma) ** 2
    assert isinstance(share_of(DiscreteGaussian(201), MOST_PARTIES), DiscreteGaussian)
