"""Variances of what pairs release, against sums over answers."""

import math

import mpmath
import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import ParameterError
from ogive.pairs import DiscreteLaplaceNoise, LaplaceNoise, ResponseNoise


@pytest.mark.parametrize(("epsilon", "variance"), [(0.5, 3.917698089), (1, 0.9206735942), (2, 0.1810154152)])
def test_binary_response(epsilon, variance):  # 29
    noise = ResponseNoise((0.0, 1.0))
    assert noise.variances(epsilon) == pytest.approx([variance] * 2, rel=1e-9)
    assert variance == pytest.approx(math.exp(epsilon) / math.expm1(epsilon) ** 2, rel=1e-9)
    assert noise.variance(epsilon) < LaplaceNoise().variance(epsilon)


def test_ternary_response():  # 30
    found = ResponseNoise((-1.0, 0.0, 1.0)).variances(1.0)
    assert found == pytest.approx([4.94206, 3.19613, 4.94206], abs=5e-6)
    assert ResponseNoise((0.0, 0.5, 1.0)).variances(1.0) == pytest.approx(found / 4, rel=1e-12)
    assert ResponseNoise((-1.0, 0.0, 1.0)).variance(1.0) == pytest.approx(4.94206, abs=5e-6)
    shared = ResponseNoise((-1.0, 0.0, 1.0), (0.25, 0.5, 0.25)).variance(1.0)
    assert shared == pytest.approx((4.94206 + 3.19613) / 2, abs=5e-6)


@pytest.mark.parametrize("values", [(0.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 0.1, 0.7, 5.0), tuple(range(9))])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0, 900.0])
def test_response_is_private_unbiased_and_as_variable_as_it_says(values, epsilon):
    noise = ResponseNoise(values)
    size, keep, stands = len(values), noise.keep(epsilon), noise.decoded(epsilon)
    other = (1 - keep) / size
    if epsilon < 30:
        assert math.log((keep + other) / other) == pytest.approx(epsilon, rel=1e-9)
    for place, value in enumerate(values):
        chances = [keep * (answer == place) + other for answer in range(size)]
        mean = sum(chance * stand for chance, stand in zip(chances, stands, strict=True))
        assert mean == pytest.approx(value, abs=1e-9)
        spread = sum(chance * (stand - value) ** 2 for chance, stand in zip(chances, stands, strict=True))
        assert noise.variances(epsilon)[place] == pytest.approx(spread, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 20.0, 45.0, 700.0])
@pytest.mark.parametrize("values", [(0.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 0.5, 1.0)])
def test_the_variance_of_rare_changes_keeps_its_digits(values, epsilon):
    size = len(values)
    with mpmath.workdps(700):
        beta = size / (size + mpmath.exp(epsilon) - 1)
        for place, found in enumerate(ResponseNoise(values).variances(epsilon)):
            chances = [(1 - beta) * (answer == place) + beta / size for answer in range(size)]
            mean = mpmath.fdot(chances, values)
            spread = mpmath.fdot(chances, [(value - mean) ** 2 for value in values])
            assert found == pytest.approx(float(spread / (1 - beta) ** 2), rel=1e-13, abs=0)


@pytest.mark.parametrize(("steps", "epsilon"), [(1, 0.5), (1, 3.0), (15, 2.0), (8, 8.0)])
def test_discrete_laplace_by_its_chances(steps, epsilon):
    rate = epsilon / steps
    reach = range(-int(60 / rate), int(60 / rate) + 1)
    weights = [math.exp(-rate * abs(z)) for z in reach]
    variance = sum(weight * z * z for weight, z in zip(weights, reach, strict=True)) / sum(weights)
    assert DiscreteLaplaceNoise(steps).variance(epsilon) == pytest.approx(variance, rel=1e-9)
    assert DiscreteLaplaceNoise(steps, 1 / steps).variance(epsilon) == pytest.approx(variance / steps**2, rel=1e-9)


def test_discrete_laplace_of_a_known_scale():  # 32
    assert DiscreteLaplaceNoise(2).variance(1.0) == pytest.approx(7.835396178, abs=5e-10)


def test_laplace():
    assert LaplaceNoise().variance(2.0) == 0.5
    assert LaplaceNoise(3.0).variance(2.0) == 4.5


@pytest.mark.parametrize(
    "noise",
    [
        LaplaceNoise(2.0),
        DiscreteLaplaceNoise(31),
        DiscreteLaplaceNoise(1),
        ResponseNoise((0.0, 1.0)),
        ResponseNoise((-1.0, 0.0, 1.0)),
        ResponseNoise((-1.0, 0.0, 1.0), (0.1, 0.8, 0.1)),
        ResponseNoise((0.0, 0.1, 9.0)),
    ],
)
def test_noise_of_a_mean_does_not_fall_with_the_rounds(noise):
    for epsilon in np.geomspace(0.01, 100, size(25, part=9)):
        found = np.array([noise.variance(epsilon / rounds) / rounds for rounds in range(1, 200)])
        assert (np.diff(found) >= -1e-12 * found[1:]).all()


def test_bad_arguments_are_refused():
    for call in (
        lambda: LaplaceNoise(0.0),
        lambda: LaplaceNoise().variance(0.0),
        lambda: DiscreteLaplaceNoise(0),
        lambda: DiscreteLaplaceNoise(1).variance(math.inf),
        lambda: ResponseNoise((1.0,)),
        lambda: ResponseNoise((1.0, 1.0)),
        lambda: ResponseNoise((0.0, 1.0), (0.5, 0.6)),
        lambda: ResponseNoise((0.0, 1.0), (1.0,)),
        lambda: ResponseNoise((0.0, 1.0), (-0.5, 1.5)),
        lambda: ResponseNoise((0.0, 1.0)).keep(-1.0),
    ):
        with pytest.raises(ParameterError):
            call()
