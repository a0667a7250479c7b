"""Bounds on losing the plurality: the specification's values, exact chances, and votes that no exponential survives."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from ogive.errors import ParameterError
from ogive.pate.costs.answers import SCALE_BITS, logq_gnmax, logq_lnmax

VOTES = {
    "A": [200, 30, 10, 5, 5, 0, 0, 0, 0, 0],
    "B": [130, 90, 20, 10, 0, 0, 0, 0, 0, 0],
    "C": [250, *[0] * 9],
    "D": [60, 55, 45, 40, 30, 20, 0, 0, 0, 0],
    "E": [4200, 500, 200, 100, *[0] * 146],
    "F": [1000, 500, 300, 200, 0],
}


@pytest.mark.parametrize(
    ("votes", "sigma", "expected"),
    [
        ("A", 40, -5.713103656141),
        ("B", 40, -1.057620303572),
        ("C", 40, -10.019228294289),
        ("D", 40, -0.105360515658),
        ("E", 100, -346.434738478287),
        ("A", 20, -20.781120983265),
        ("F", 100, -8.498100289904),
    ],
)
def test_gaussian_values_of_the_specification(votes, sigma, expected):
    assert logq_gnmax([VOTES[votes]], sigma)[0] == pytest.approx(expected, abs=1e-11, rel=1e-12)


@pytest.mark.parametrize(
    ("votes", "gamma", "expected"),
    [
        ("A", 0.05, -6.335204326213),
        ("B", 0.05, -1.789017230120),
        ("C", 0.05, -9.014921134357),
        ("D", 0.05, -0.105360515658),
        ("E", 0.02, -71.045070475613),
    ],
)
def test_laplace_values_of_the_specification(votes, gamma, expected):
    assert logq_lnmax([VOTES[votes]], 1 / gamma)[0] == pytest.approx(expected, abs=1e-11, rel=1e-12)


def test_rows_are_independent_and_the_order_of_classes_does_not_matter():
    rng = np.random.default_rng(1)
    votes = rng.multinomial(250, rng.dirichlet(np.ones(7)), size=40)
    together = logq_gnmax(votes, 25)
    assert together == pytest.approx([logq_gnmax(row[None], 25)[0] for row in votes], rel=1e-14)
    assert logq_gnmax(rng.permuted(votes, axis=1), 25) == pytest.approx(together, rel=1e-12)


def test_unanimous_thousands_keep_all_digits():
    # one rival overtakes 5000 votes with noise 60: erfc at 41.7, whose exponential underflows
    z = 5000 / (math.sqrt(2) * 60)
    series = 1 - z**-2 + 3 * z**-4 - 15 * z**-6
    expected = math.log(149) - z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) + math.log(series)
    assert expected < -1700
    assert logq_gnmax([[5000, *[0] * 149]], 60)[0] == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(logq_gnmax([[5000, *[0] * 149]], 1)[0])


def _discrete_gaussian_tail(sigma, gap):
    """Pr[difference of two >= gap], by convolution of the law itself."""
    reach = math.ceil(14 * sigma) + 2
    points = np.arange(-reach, reach + 1)
    law = np.exp(-(points**2) / (2 * sigma**2))
    law /= law.sum()
    differences = np.convolve(law, law[::-1])
    return differences[2 * reach + gap :].sum()


@pytest.mark.parametrize("sigma", [0.1, 0.2, 0.25, 0.35, 0.5, 0.7, 1, 2, 5, 12])
def test_gap_minus_one_bounds_integer_noise(sigma):
    for gap in range(1, math.ceil(6 * sigma) + 2):
        bound = math.exp(logq_gnmax([[gap, 0, *[-(10**6)] * 98]], sigma, noise="discrete")[0])
        true = _discrete_gaussian_tail(sigma, gap)
        assert true <= bound * (1 + 1e-12)
        if sigma >= 5:
            assert true > 0.5 * bound


def test_the_continuous_formula_is_no_bound_for_integer_noise():
    bound = math.exp(logq_gnmax([[2, 0, *[-(10**6)] * 98]], 5)[0])
    assert _discrete_gaussian_tail(5, 2) > bound


@pytest.mark.parametrize("scale", [0.3, 1, 3, 20])
def test_integer_laplace_is_exact(scale):
    a = math.exp(-1 / scale)
    points = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    law = (1 - a) / (1 + a) * a ** np.abs(points)
    differences = np.convolve(law, law)
    for gap in (1, 2, 5, 11):
        true = differences[points.size - 1 + gap :].sum()
        found = math.exp(logq_lnmax([[gap, 0, *[-(10**6)] * 98]], scale, noise="discrete")[0])
        assert found == pytest.approx(true, rel=1e-10)
        assert found > math.exp(logq_lnmax([[gap, 0, *[-(10**6)] * 98]], scale)[0])


def test_continuous_laplace_is_the_integral():
    def tail(gap, scale):
        law = stats.laplace(scale=scale)
        found, _ = integrate.quad(lambda z: law.pdf(z) * law.sf(z + gap), -200, 200, points=[-gap, 0], limit=300)
        return found

    for gap in (0.5, 3, 10):
        found = math.exp(logq_lnmax([[gap, 0, *[-(10**6)] * 98]], 3)[0])
        assert found == pytest.approx(tail(gap, 3), rel=1e-7)


@pytest.mark.parametrize("law", [logq_gnmax, logq_lnmax])
def test_scaled_noise_lies_between_continuous_and_integer_noise(law):
    votes = np.array([[200, 30, 20, 0], [120, 30, 60, 40], [250, 0, 0, 0]])
    low, middle, high = (law(votes, 40, noise=noise) for noise in ("continuous", "scaled", "discrete"))
    assert np.all(low < middle)
    assert np.all(middle < high)
    assert np.all(middle - low < 40 * 2.0**-SCALE_BITS)


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, "4", True])
def test_refuses_noise_of_no_size(sigma):
    with pytest.raises(ParameterError, match="sigma must be"):
        logq_gnmax([[3, 1]], sigma)


def test_refuses_unknown_noise():
    with pytest.raises(ParameterError, match="noise must be one of continuous, discrete, scaled"):
        logq_gnmax([[3, 1]], 4, noise="white")
