"""Samplers against exact probabilities, moments and OpenDP's samplers; level and controls in `helpers.goodness`."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers import goodness
from helpers.scope import size

from ogive.noise import (
    DerivedNodes,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    KeyedSource,
    Polya,
    Skellam,
    round_up_scale,
)

pytestmark = pytest.mark.distribution

DRAWS = 200_000
SCALES = [Fraction(text) for text in ("1/4", "1/2", "1", "4/3", "31/10", "10", "997/3", "1000000", "1099511627776")]


def source(seed=0):
    return KeyedSource.from_seed(seed)


def fits(draws, below, width):
    edges, chances = goodness.cut(below, width, draws.size)
    assert len(edges) >= 2
    return goodness.fit(draws, edges, chances)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_draws_fit_their_law_and_not_one_seven_percent_off(scale):
    below = goodness.below_laplace(scale)
    assert fits(DiscreteLaplace(scale).sample(DRAWS, source=source()), below, float(scale)) > goodness.LEVEL
    for other in goodness.controls(scale):
        draws = DiscreteLaplace(round_up_scale(other)).sample(DRAWS, source=source())
        assert fits(draws, below, float(scale)) < goodness.LEVEL


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_geometric_draws_fit_their_law_and_not_one_seven_percent_off(scale):
    draws = Geometric(scale).sample(DRAWS, source=source())
    assert draws.min() >= 0
    below = goodness.below_geometric(scale)
    assert fits(draws, below, float(scale)) > goodness.LEVEL
    for other in goodness.controls(scale):
        draws = Geometric(round_up_scale(other)).sample(DRAWS, source=source())
        assert fits(draws, below, float(scale)) < goodness.LEVEL


def test_geometric_probabilities_add_up_and_give_the_variance():
    law = Geometric("5/2")
    values = np.arange(-3, 200)
    chances = np.exp(law.log_probability(values))
    assert chances.sum() == pytest.approx(1)
    assert not chances[:3].any()
    mean = (chances * values).sum()
    assert (chances * (values - mean) ** 2).sum() == pytest.approx(law.variance)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_gaussian_draws_fit_their_law_and_not_one_seven_percent_off(sigma):
    below = goodness.below_gaussian(sigma)
    assert fits(DiscreteGaussian(sigma).sample(DRAWS, source=source()), below, float(sigma)) > goodness.LEVEL
    for other in goodness.controls(sigma):
        draws = DiscreteGaussian(round_up_scale(other)).sample(DRAWS, source=source())
        assert fits(draws, below, float(sigma)) < goodness.LEVEL


@pytest.mark.parametrize(
    ("scale", "shape"), [("1/2", "1"), ("3", "1/2"), ("10", "1/3"), ("12", "1/7")], ids=lambda value: value
)
def test_polya_draws_fit_their_law_and_not_one_of_another_scale_or_shape(scale, shape):
    scale, shape = Fraction(scale), Fraction(shape)
    r = mpmath.mpf(shape.numerator) / shape.denominator
    ratio = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    reach = int(size(40, part=20) * scale) + 5  # what lies beyond is too rare to be drawn
    halves = [mpmath.rf(r, k) / mpmath.factorial(k) * ratio**k for k in range(2 * reach)]
    below = goodness.below_table(goodness.difference_table(halves, reach))
    draws = Polya(scale, shape).sample(DRAWS, source=source())
    assert fits(draws, below, float(scale)) > goodness.LEVEL
    for other in goodness.controls(scale):
        draws = Polya(round_up_scale(other), shape).sample(DRAWS, source=source())
        assert fits(draws, below, float(scale)) < goodness.LEVEL
    thinner = Polya(scale, shape * Fraction(9, 10))
    assert fits(thinner.sample(DRAWS, source=source()), below, float(scale)) < goodness.LEVEL


@pytest.mark.one_in(2)
@pytest.mark.parametrize("variance", ["1/3", "2", "17/2", "300"])
def test_skellam_draws_fit_their_law_and_not_one_of_another_variance(variance):
    variance = Fraction(variance)
    mean = mpmath.mpf(variance.numerator) / variance.denominator / 2
    count = int(mean + 14 * mean**0.5) + 20
    poisson = [mpmath.exp(-mean) * mean**k / mpmath.factorial(k) for k in range(count)]
    below = goodness.below_table(goodness.difference_table(poisson, min(count - 1, int(16 * mean**0.5) + 20)))
    draws = DRAWS if variance < 100 else 20_000
    width = float(variance) ** 0.5
    assert fits(Skellam(variance).sample(draws, source=source()), below, width) > goodness.LEVEL
    for factor in goodness.controls(Fraction(1)):
        other = round_up_scale(variance * factor**2)
        assert fits(Skellam(other).sample(draws, source=source()), below, width) < goodness.LEVEL


@pytest.mark.parametrize("parties", [2, 5, 30])
def test_polya_shares_of_all_parties_sum_to_the_discrete_laplace_law(parties):
    scale = Fraction(7)
    shares = Polya(scale, Fraction(1, parties)).sample(60_000 * parties, source=source())
    below = goodness.below_laplace(scale)
    assert fits(shares.reshape(parties, -1).sum(axis=0), below, 7.0) > goodness.LEVEL
    # one party in `parties` missing and every other drawing the share meant for all: too little noise
    missing = shares.reshape(parties, -1)[: -max(1, parties // 5)].sum(axis=0)
    assert fits(missing, below, 7.0) < goodness.LEVEL


def test_skellam_shares_sum_to_a_skellam_law():
    shares = Skellam("3/4").sample(4 * DRAWS, source=source()).reshape(4, -1)
    whole = Skellam(3).sample(DRAWS, source=source(1))
    assert goodness.same(shares.sum(axis=0), whole) > goodness.LEVEL
    assert goodness.same(shares[:3].sum(axis=0), whole) < goodness.LEVEL


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace("0.4"),
        DiscreteLaplace(50),
        DiscreteGaussian("0.4"),
        DiscreteGaussian(1),
        DiscreteGaussian(50),
        Polya(6, "1/4"),
        Skellam("7/2"),
    ],
    ids=str,
)
def test_moments_and_probabilities_agree(law):
    reach = int(60 * law.variance**0.5) + 60
    values = np.arange(-reach, reach + 1)
    chances = np.exp(law.log_probability(values))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert (values**2 * chances).sum() == pytest.approx(law.variance, rel=1e-9)
    assert np.array_equal(law.log_probability(-values), law.log_probability(values))
    draws = law.sample(DRAWS, source=source())
    spread = np.sqrt((values**4 * chances).sum() - law.variance**2)
    # six standard errors, and the control a variance 7 % off
    assert abs(draws.mean()) < 6 * np.sqrt(law.variance / DRAWS)
    assert abs((draws**2.0).mean() - law.variance) < 6 * spread / np.sqrt(DRAWS)
    assert abs((draws**2.0).mean() - 1.07 * law.variance) > 6 * spread / np.sqrt(DRAWS) or law.variance < 0.1


@pytest.mark.parametrize("law", [DiscreteLaplace(5), DiscreteGaussian(5), Polya(5, "1/3"), Skellam(5)], ids=str)
def test_node_noise_and_bulk_noise_have_one_law(law):
    by_node = DerivedNodes(bytes(32), b"fit").values(law, 0, np.arange(100_000))
    assert goodness.same(by_node, law.sample(100_000, source=source())) > goodness.LEVEL
    stretched = np.round(by_node * 1.3).astype(np.int64)
    assert goodness.same(stretched, law.sample(100_000, source=source())) < goodness.LEVEL


def test_node_noise_of_every_node_alone_is_not_shifted_by_what_did_not_fit():
    # few blocks fit at first, so short draws are answered first; answers must still follow the law
    law = DiscreteLaplace(5)
    noise = DerivedNodes(bytes(32), b"fit")
    drawn = np.concatenate([noise.values(law, level, np.arange(5)) for level in range(2000)])
    assert goodness.same(drawn, law.sample(50_000, source=source()), cells=10) > goodness.LEVEL


@pytest.mark.each_value
@pytest.mark.parametrize("scale", ["0.5", "3.3", "1000"])
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_draws_and_those_of_opendp_come_from_one_law(name, scale):
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP, the reference sampler, is not installed")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64))
    if name == "laplace":
        reference = dp.m.make_laplace(space, dp.l1_distance(T=dp.i64), scale=float(scale))
        ours = DiscreteLaplace
    else:
        reference = dp.m.make_gaussian(space, dp.l2_distance(T=dp.f64), scale=float(scale))
        ours = DiscreteGaussian
    # of 25,000 draws one run in eleven missed a control, and of 50,000 one in 20 million does
    draws = size(60_000, part=50_000)
    theirs = np.array(reference([0] * draws))
    assert goodness.same(ours(scale).sample(draws, source=source()), theirs) > goodness.LEVEL
    for other in (Fraction(scale) * Fraction(9, 10), Fraction(scale) * Fraction(11, 10)):
        assert goodness.same(ours(other).sample(draws, source=source()), theirs) < goodness.LEVEL
