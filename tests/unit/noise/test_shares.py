"""Shares of noise: exact sums on small cases, the distance that the proof allows, and what is refused."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given
from hypothesis import strategies as st

from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, Polya, Skellam, round_up_root
from ogive.noise.discrete import scale_of, sigma_of
from ogive.noise.laws import MOST_PARTIES, WIDE_ROOM, WIDE_SIGMA, ShareNodes, share_of, widened
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import design_path, design_tree

KEY = bytes(range(32))


def probabilities(law, reach):
    return np.exp(law.log_probability(np.arange(-reach, reach + 1)))


def summed(share, parties, reach):
    """The exact law of a sum, by convolution over a range that holds all but nothing."""
    one = probabilities(share, reach)
    whole = one
    for _ in range(parties - 1):
        whole = np.convolve(whole, one)
    middle = len(whole) // 2
    return whole[middle - reach : middle + reach + 1]


@pytest.mark.parametrize("honest", [2, 3, 7])
@pytest.mark.parametrize("scale", ["1/2", 3])
def test_laplace_shares_add_up_to_the_law_exactly(honest, scale):
    law = DiscreteLaplace(scale)
    share = share_of(law, honest)
    assert share == Polya(law.scale, Fraction(1, honest))
    reach = 60 * int(law.scale + 1)
    wanted = probabilities(law, reach)[reach - 20 : reach + 21]
    assert summed(share, honest, reach)[reach - 20 : reach + 21] == pytest.approx(wanted, rel=1e-9)


def tau(s, honest):
    """The bound of the proof on the max-divergence."""
    s = mpmath.mpf(s)
    return 10 * sum(mpmath.exp(-2 * mpmath.pi**2 * s**2 * k / (k + 1)) for k in range(1, honest))


def log_ratio(s, honest):
    """Largest log-ratio between a sum of discrete Gaussians of deviation s and one of the same variance."""
    s = mpmath.mpf(s)
    reach = int(14 * s * mpmath.sqrt(honest)) + 3

    def law(variance):
        weights = [mpmath.exp(-mpmath.mpf(k * k) / (2 * variance)) for k in range(-reach, reach + 1)]
        whole = sum(weights)
        return [weight / whole for weight in weights]

    one = law(s * s)
    total = one
    for _ in range(honest - 1):
        total = [
            sum(total[j] * one[i - j + reach] for j in range(max(0, i - reach), min(2 * reach, i + reach) + 1))
            for i in range(2 * reach + 1)
        ]
    wanted = law(s * s * honest)
    middle = range(reach - int(4 * s) - 1, reach + int(4 * s) + 2)
    return max(abs(mpmath.log(total[i] / wanted[i])) for i in middle)


@pytest.mark.parametrize("honest", [2, 3, 4])
@pytest.mark.parametrize("s", ["0.5", "0.6", "0.8", "1"])
def test_sums_of_gaussian_shares_are_as_near_to_one_as_is_proved(s, honest):
    with mpmath.workdps(40):
        found = log_ratio(s, honest)
        bound = tau(s, honest)
        assert found <= bound
        # control: the bound is not idle, and a thousandth of it would be refuted
        assert found > bound / 1000


def test_the_room_in_each_share_makes_up_for_the_distance_at_the_narrowest_and_most_shares():
    with mpmath.workdps(60):
        room = mpmath.mpf(WIDE_ROOM.numerator) / WIDE_ROOM.denominator
        for honest in (2, 10, 1000, MOST_PARTIES):
            s = mpmath.mpf(WIDE_SIGMA)
            sigma = s * mpmath.sqrt(honest)
            # zCDP: |d| / sigma' + 2 tau <= |d| / sigma for every integer d, see the proof
            assert 2 * tau(s, honest) <= (1 - 1 / mpmath.sqrt(1 + room)) / sigma
            # Gaussian DP, where sigma is at least 1000: the distance of the sum is within what is charged for sigma
            s = max(s, 1000 / mpmath.sqrt(honest))
            sigma = s * mpmath.sqrt(honest)
            charged = mpmath.mpf("0.0202") / sigma**2
            assert mpmath.expm1(tau(s, honest)) <= charged * (1 - 1 / (1 + room))


@pytest.mark.parametrize("honest", [2, 5, 16])
def test_gaussian_shares_have_at_least_their_part_of_the_variance_and_hardly_more(honest):
    law = DiscreteGaussian("123.5")
    share = share_of(law, honest)
    wanted = law.sigma**2 * (1 + WIDE_ROOM) / honest
    assert wanted <= share.sigma**2 <= wanted * (1 + Fraction(1, 1 << 27))


@pytest.mark.parametrize("honest", [2, 3, 10, 1000, MOST_PARTIES])
def test_the_room_in_narrow_shares_makes_up_for_the_distance_or_they_are_skellam_variables(honest):
    kinds = set()
    for squared in np.geomspace(0.05, 3.9, size(25, part=5)) * honest:
        law = DiscreteGaussian(round_up_root(Fraction(squared)))
        share = share_of(law, honest)
        kinds.add(type(share))
        skellam = (law.sigma**2 + round_up_root(law.sigma**4 + 14 * law.sigma**2)) / 2
        if isinstance(share, Skellam):
            assert skellam <= honest * share.exact_variance <= skellam + Fraction(honest, 1 << 30)
            continue
        with mpmath.workdps(40):
            sigma = mpmath.mpf(law.sigma.numerator) / law.sigma.denominator
            total = mpmath.sqrt(honest * mpmath.mpf(share.sigma.numerator) ** 2) / share.sigma.denominator
            assert share.sigma >= Fraction(1, 2)
            assert 2 * tau(total / mpmath.sqrt(honest), honest) <= 1 / sigma - 1 / total
        assert honest * share.sigma**2 <= skellam * (1 + Fraction(1, 1 << 26))
    assert kinds == {DiscreteGaussian, Skellam}


def test_one_honest_party_draws_the_whole_noise():
    for law in (DiscreteLaplace(3), DiscreteGaussian(1)):
        assert share_of(law, 1) == law


def test_what_cannot_be_divided_is_refused_with_what_would_work():
    with pytest.raises(UnsupportedError, match="skellam cannot be drawn in shares; use trust central"):
        share_of(Skellam(4), 2)
    for honest in (0, MOST_PARTIES + 1, 2.0, True):
        with pytest.raises(ParameterError, match="honest must be a whole number from 1 to 10000"):
            share_of(DiscreteLaplace(1), honest)


@pytest.mark.parametrize("law", [DiscreteLaplace(40), DiscreteGaussian(40)])
def test_shares_of_parties_are_independent_and_add_up_in_variance(law):
    nodes = np.arange(20_000)
    parties = [ShareNodes(DerivedNodes(KEY, bytes([number])), 4) for number in range(4)]
    drawn = [party.values(law, 0, nodes) for party in parties]
    assert np.array_equal(drawn[0], parties[0].values(law, 0, nodes))
    correlation = np.corrcoef(drawn)
    assert np.abs(correlation - np.eye(4)).max() < 0.04
    assert np.sum(drawn, axis=0).var() == pytest.approx(law.variance, rel=0.06)


@pytest.mark.parametrize("adding", [4, 9, 40])
def test_measurements_get_the_variance_that_their_noise_really_has(adding):
    pure = ((PureDP(epsilon), design_path) for epsilon in (1, 200))
    gaussian = ((ZeroConcentratedDP(rho), design_tree) for rho in ("0.1", 2, 200))
    for privacy, design in (*pure, *gaussian):
        strategy = design(64, privacy=privacy, adjacency=Adjacency.REPLACE)
        wider = widened(strategy, adding, 4)
        for law, known in zip((level.law for level in wider.levels), strategy.levels, strict=True):
            assert type(law) is type(known.law)
            real = adding * share_of(known.law, 4).variance
            assert real * (1 - 1e-7) <= law.variance <= real * (1 + 1e-4)


def test_measurements_whose_noise_is_the_stated_one_stay_as_they_are():
    for privacy, design in ((PureDP(1), design_path), (ZeroConcentratedDP("0.001"), design_tree)):
        strategy = design(64, privacy=privacy, adjacency=Adjacency.REPLACE)
        for parties in (1, 5):
            assert widened(strategy, parties, parties) is strategy
    narrow = design_tree(64, privacy=ZeroConcentratedDP(2), adjacency=Adjacency.REPLACE)
    assert widened(narrow, 1, 1) is narrow
    assert widened(narrow, 5, 5) != narrow  # shares of so narrow noise are Skellam variables, a little wider


@given(st.floats(1e-9, 1e12))
def test_laws_of_a_variance_have_it(variance):
    assert DiscreteLaplace(scale_of(variance)).variance == pytest.approx(variance, rel=1e-6)
    law = DiscreteGaussian(sigma_of(variance))
    assert variance * (1 - 1e-9) <= law.variance
    assert law.variance == pytest.approx(variance, rel=1e-3)
