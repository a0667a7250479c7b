"""Laws as plain data, the scales they accept, and rounding up to those."""

import math
from fractions import Fraction
from math import sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from ogive.errors import ParameterError, ScaleError
from ogive.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    KeyedSource,
    Polya,
    Skellam,
    UniformBits,
    law_from_dict,
    round_up_root,
    round_up_scale,
)
from ogive.noise.laws import draw_public

SOURCE = KeyedSource.from_seed(5)
scales = st.fractions(min_value=Fraction(1, 1 << 20), max_value=1 << 47)


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace("1/3"),
        DiscreteGaussian(0.1),
        Geometric("2.5"),
        Polya(7, "2/9"),
        Skellam("0.25"),
        UniformBits(46),
    ],
    ids=str,
)
def test_laws_come_back_from_plain_data(law):
    assert law_from_dict(law.to_dict()) == law
    assert hash(law_from_dict(law.to_dict())) == hash(law)
    assert all(isinstance(value, str) for value in law.to_dict().values())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"law": "cauchy"}, "unknown noise law 'cauchy'"),
        ({"law": "polya", "scale": "1"}, "lacks the field 'shape'"),
        ({}, "lacks the field 'law'"),
        ({"law": "skellam", "variance": "x"}, "variance must be a number"),
        ({"law": "uniform_bits", "bits": "63"}, "bits must be"),
    ],
)
def test_refuses_plain_data_that_is_no_law(data, message):
    with pytest.raises(ParameterError, match=message):
        law_from_dict(data)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian, Geometric])
@pytest.mark.parametrize("bad", [0, -1, "1e-9", 1 << 48, Fraction(10**30 + 1, 10**30), float("inf"), "wide"])
def test_refuses_scales_out_of_range_in_one_line(law, bad):
    with pytest.raises(ParameterError) as refusal:
        law(bad)
    assert "\n" not in str(refusal.value)


def test_refuses_shapes_and_variances_out_of_range():
    for shape in (0, "-1/2", "3/2", Fraction(1, 1 << 40)):
        with pytest.raises(ParameterError, match="shape must"):
            Polya(1, shape)
    assert Skellam(Fraction(1, 1 << 20)).variance == 2.0**-20
    for variance in (0, -1, Fraction(1, 1 << 21), 1 << 21, Fraction(1 << 40, (1 << 40) + 1)):
        with pytest.raises(ParameterError, match="variance"):
            Skellam(variance)


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(3), DiscreteGaussian(3), Geometric(3), Polya(3, "1/2"), Skellam(3), UniformBits(46)],
    ids=str,
)
def test_sample_has_the_length_asked_for_and_repeats_with_its_source(law):
    first = law.sample(1000, source=KeyedSource.from_seed(1))
    assert first.shape == (1000,)
    assert first.dtype == np.int64
    assert np.array_equal(first, law.sample(1000, source=KeyedSource.from_seed(1)))
    assert not np.array_equal(first, law.sample(1000, source=KeyedSource.from_seed(2)))
    assert law.sample(0, source=SOURCE).shape == (0,)
    with pytest.raises(ParameterError, match="size"):
        law.sample(-1, source=SOURCE)


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(3), DiscreteGaussian(3), Geometric(3), Polya(3, "1/2"), Skellam(9), UniformBits(46)],
    ids=str,
)
def test_draws_do_not_depend_on_how_the_words_are_portioned(law):
    words = KeyedSource.from_seed(9).words(20_000)
    whole = np.empty((1, 300), np.int64)
    law.fill(words[np.newaxis], whole)
    drawn, position = [], 0
    width = 5
    while len(drawn) < 300:
        block = np.empty((1, 300 - len(drawn)), np.int64)
        done, used = law.fill(words[np.newaxis, position : position + width], block)
        drawn += block[0, : done[0]].tolist()
        position += int(used[0])
        width = width + 7 if done[0] == 0 else 5
    assert drawn == whole[0].tolist()


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(3), DiscreteGaussian(3), Geometric(3), Polya(3, "1/2"), Skellam(9), UniformBits(46)],
    ids=str,
)
def test_expected_words_are_about_right(law):
    words = KeyedSource.from_seed(3).words(200_000)
    out = np.empty((1, 200_000), np.int64)
    done, used = law.fill(words[np.newaxis], out)
    assert law.words_per_draw == pytest.approx(used[0] / done[0], rel=0.3)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
def test_smallest_scale_gives_zeros_and_largest_fills_its_range_without_overflow(law):
    assert not law(Fraction(1, 1 << 20)).sample(1000, source=SOURCE).any()
    widest = law(1 << 47)
    draws = widest.sample(20_000, source=SOURCE).astype(float)
    assert np.abs(draws).max() < 40 * 2.0**47
    assert (draws**2).mean() == pytest.approx(widest.variance, rel=0.2)


@given(scales)
def test_rounding_goes_up_by_less_than_two_to_the_minus_29_and_is_accepted(value):
    rounded = round_up_scale(value)
    if value <= (1 << 47) - (1 << 20):
        assert value <= rounded <= value * (1 + Fraction(1, 1 << 29))
        assert DiscreteLaplace(rounded).scale == DiscreteGaussian(rounded).sigma == rounded
        assert round_up_scale(rounded) == rounded


@pytest.mark.parametrize("value", ["10", "1/3", "0.05", 12.5, 1 << 47, Fraction(1, 1 << 20)])
def test_rounding_keeps_what_is_accepted(value):
    assert round_up_scale(value) == Fraction(value)


@given(st.fractions(min_value=Fraction(1, 1 << 40), max_value=1 << 90))
def test_rounded_root_is_not_below_the_root(value):
    root = round_up_root(value)
    assert value <= root**2 <= value * (1 + Fraction(1, 1 << 27))
    assert DiscreteGaussian(root).sigma == root


def test_rational_roots_are_exact():
    assert round_up_root("9/16") == Fraction(3, 4)
    assert round_up_root(2) > Fraction(sqrt(2))


@pytest.mark.parametrize("value", [0, -4])
def test_rounding_refuses_what_is_no_scale(value):
    with pytest.raises(ParameterError, match="must be above 0"):
        round_up_root(value)
    with pytest.raises(ParameterError, match="must be above 0"):
        round_up_scale(value)


def test_rounding_refuses_more_noise_than_can_be_drawn_and_says_how_much_more():
    for rounding in (round_up_scale, round_up_root):
        with pytest.raises(ScaleError, match="cannot be drawn") as refusal:
            rounding(3 << 94)
        assert refusal.value.excess == 3 * (1 << 47 if rounding is round_up_scale else 1)
        with pytest.raises(ScaleError):
            rounding(Fraction(10**400))


@pytest.mark.parametrize("value", [Fraction(1, 1 << 60), Fraction(1, 10**400)])
def test_scales_too_small_to_draw_are_rounded_up_to_the_smallest(value):
    assert round_up_scale(value) == round_up_root(value) == Fraction(1, 1 << 20)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", [Fraction(1, 1 << 20), "1e-4", "0.001", "1/700", "0.002", "0.02"])
def test_variances_are_the_sums_they_stand_for_and_can_be_divided_by(law, scale):
    values = np.arange(-50, 51)
    chances = np.exp(law(scale).log_probability(values))
    assert law(scale).variance == pytest.approx((values**2 * chances).sum(), rel=1e-12, abs=2.0**-64)
    assert law(scale).variance >= 2.0**-64


def test_skellam_probabilities_far_out_are_finite():
    found = Skellam(10_000).log_probability(np.array([0, 10_000, -10_000]))
    # exp(-v) I_v(v) at v = 10000, by arbitrary precision arithmetic
    assert found[1] == found[2] == pytest.approx(-4677.29764051, rel=1e-11)
    assert found[0] == pytest.approx(-0.5 * np.log(2 * np.pi * 10_000), abs=1e-4)


@pytest.mark.each_value
@pytest.mark.parametrize("shape", ["1/10000", "1/7", "1/2", "51/100", "9/10", "9999/10000", 1])
@pytest.mark.parametrize("scale", ["1/2", 2, 20, 10_000, 1 << 40])
def test_probabilities_of_polya_shares_are_those_of_the_hypergeometric_function(scale, shape):
    law = Polya(scale, shape)
    values = np.array([0, 1, -2, 5, 170, -171, 172, 1000, 3000])

    def wanted(k):
        q = mpmath.exp(-mpmath.mpf(law.scale.denominator) / law.scale.numerator)
        r = mpmath.mpf(law.shape.numerator) / law.shape.denominator
        ways = mpmath.rf(r, k) / mpmath.factorial(k) * mpmath.hyp2f1(r, r + k, k + 1, q * q)
        return float(mpmath.log((1 - q) ** (2 * r) * q**k * ways))

    with mpmath.workdps(40):
        assert law.log_probability(values) == pytest.approx([wanted(abs(int(k))) for k in values], rel=1e-12, abs=1e-11)


def test_probabilities_of_polya_shares_keep_the_shape_of_the_values_and_add_up():
    law = Polya(20, "1/2")
    values = np.arange(-1200, 1200)
    assert np.exp(law.log_probability(values)).sum() == pytest.approx(1, abs=1e-12)
    assert law.log_probability(values.reshape(40, 60)).shape == (40, 60)
    assert law.log_probability(np.array([], np.int64)).shape == (0,)


def test_uniform_bits_have_every_value_alike():
    """50,000 draws: standard errors are below 0.25 %, and below 2 % of a cell."""
    for law in (UniformBits(3), UniformBits(46)):
        drawn = law.sample(50_000, source=KeyedSource.from_seed(3))
        assert drawn.min() >= 0
        cells = np.bincount(drawn >> (law.bits - 3), minlength=8)
        assert cells.size == 8
        assert np.abs(cells / 6_250 - 1).max() < 0.06
        assert float(drawn.var()) == pytest.approx(law.variance, rel=0.03)
        assert np.exp(law.log_probability(np.array([-1, 0, (1 << law.bits) - 1, 1 << law.bits]))).tolist() == (
            pytest.approx([0, 2.0**-law.bits, 2.0**-law.bits, 0])
        )


@pytest.mark.parametrize("sigma", [16, 40])
def test_rounded_normal_numbers_are_as_near_to_a_discrete_gaussian_as_stated(sigma):
    law, values = DiscreteGaussian(sigma), np.arange(-12 * sigma, 12 * sigma + 1)
    exact = np.exp(law.log_probability(values))

    def distance(variance):
        return np.abs(np.diff(ndtr((np.append(values, values[-1] + 1) - 0.5) / variance**0.5)) - exact).sum() / 2

    assert distance(sigma**2 - 1 / 12) <= 0.001 / sigma**4
    assert distance(sigma**2) > 10 * 0.001 / sigma**4, "the control: without the twelfth"


@pytest.mark.parametrize("sigma", [Fraction(1, 3), 3, 16, 1 << 40])
def test_public_draws_of_a_discrete_gaussian_follow_its_law(sigma):
    law, size_ = DiscreteGaussian(sigma), 200_000
    drawn = draw_public(law, (2, size_ // 2), np.random.default_rng(1), rounded=True)
    assert drawn.shape == (2, size_ // 2)
    assert drawn.dtype == np.int64
    cuts = np.unique(np.rint(float(sigma) * np.array([-2.5, -1, -0.3, 0, 0.3, 1, 2.5])).astype(np.int64))
    wanted = np.array([law_below(law, int(cut)) for cut in cuts])
    found = (drawn.ravel()[:, np.newaxis] <= cuts).mean(axis=0)
    assert np.abs(found - wanted).max() < 4.5 * 0.5 / size_**0.5


def law_below(law, cut):
    """The chance of a value up to a cut, added up, or where that is long of a normal number."""
    sigma = float(law.sigma)
    if sigma > 1000:
        return ndtr((cut + 0.5) / sigma)
    return np.exp(law.log_probability(np.arange(-math.ceil(14 * sigma) - 3, cut + 1))).sum()
