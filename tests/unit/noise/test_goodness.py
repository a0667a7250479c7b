"""The test of the tests of randomness: they accept the truth at about their level and reject what is off."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import goodness
from helpers.scope import size


def test_p_values_of_true_samples_are_uniform():
    random, samples = np.random.default_rng(3), size(2000, part=800)
    chances = [0.2, 0.3, 0.5]
    found = [goodness.fit(random.choice([-4, 0, 9], 500, p=chances), [-1, 5], chances) for _ in range(samples)]
    # a share of 2000 has a standard deviation of at most 0.0112
    deviation = 0.0112 * (2000 / samples) ** 0.5
    for share in (0.1, 0.5, 0.9):
        assert abs(np.mean(np.array(found) < share) - share) < 5 * deviation


def test_fit_rejects_other_probabilities_and_refuses_thin_cells_and_wrong_sums():
    draws = np.repeat([-4, 0, 9], [200, 300, 500])
    assert goodness.fit(draws, [-1, 5], [0.2, 0.3, 0.5]) > 0.99
    assert goodness.fit(draws, [-1, 5], [0.3, 0.3, 0.4]) < goodness.LEVEL
    with pytest.raises(AssertionError, match="sum to 1"):
        goodness.fit(draws, [-1, 5], [0.3, 0.3, 0.5])
    with pytest.raises(AssertionError, match="expects only"):
        goodness.fit(draws, [-1, 5], [0.001, 0.3, 0.699])


def test_two_samples_of_one_law_agree_and_of_two_laws_do_not():
    random = np.random.default_rng(4)
    first, second = random.poisson(9, (2, 20_000))
    assert goodness.same(first, second) > 1e-4
    assert goodness.same(first, second + 1) < goodness.LEVEL
    assert goodness.same(first, random.poisson(9.6, 20_000)) < goodness.LEVEL


def test_cells_cover_the_line_once_and_expect_enough():
    for below, width in ((goodness.below_laplace(Fraction(3)), 3.0), (goodness.below_gaussian(Fraction(1, 2)), 0.5)):
        edges, chances = goodness.cut(below, width, 10_000)
        assert edges == sorted(set(edges))
        assert len(chances) == len(edges) + 1
        assert sum(chances) == pytest.approx(1, abs=1e-12)
        assert min(chances) * 10_000 >= 20


def test_closed_forms_of_the_laws_agree_with_sums():
    laplace = goodness.below_laplace(Fraction(5, 2))
    weights = {k: np.exp(-abs(k) / 2.5) for k in range(-200, 201)}
    for edge in (-7, -1, 0, 1, 2, 9):
        share = sum(w for k, w in weights.items() if k < edge) / sum(weights.values())
        assert float(laplace(edge)) == pytest.approx(share, abs=1e-12)
    near, far = goodness.below_gaussian(Fraction(2999, 10)), goodness.below_gaussian(Fraction(3000, 10))
    for edge in (-500, 0, 1, 250):
        assert float(near(edge)) == pytest.approx(float(far(edge)), abs=1e-3)
    assert {k: float(p) for k, p in goodness.difference_table([0.5, 0.5], 1).items()} == {-1: 0.25, 0: 0.5, 1: 0.25}


def test_controls_are_on_both_sides():
    small, large = goodness.controls(Fraction(10))
    assert small < 10 < large
