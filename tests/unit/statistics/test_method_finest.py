"""Guarantees that Gaussian noise on integers cannot keep: Laplace noise, or words that name a way out."""

import pytest

import ogive
from ogive.accounting import covers
from ogive.privacy import GaussianDP

VALUES = [0.2, 0.5, 0.5, 0.9] * 200
FINE = [ogive.ApproxDP("0.5", "1e-30"), ogive.ApproxDP("0.5", "1e-200")]


def released(curve_method, privacy):
    return ogive.ecdf(VALUES, bounds=(0, 1), bins=64, privacy=privacy, method=curve_method)


@pytest.mark.parametrize("privacy", FINE, ids=str)
@pytest.mark.parametrize("curve_method", [ogive.HistogramQueries, ogive.AdaptiveQuantiles])
def test_counts_take_laplace_noise_where_gaussian_noise_would_have_to_be_too_fine(curve_method, privacy):
    price = released(curve_method(), privacy).provenance.price
    assert isinstance(price, ogive.PureDP)
    assert 0.999 * privacy.epsilon <= price.epsilon <= privacy.epsilon
    with pytest.raises(ogive.ParameterError, match=r"finer Gaussian noise than integers can have; use .* or PureDP"):
        released(curve_method(noise="gaussian"), privacy)
    assert isinstance(
        released(curve_method(noise="gaussian"), ogive.ApproxDP("0.5", "1e-6")).provenance.price, GaussianDP
    )


@pytest.mark.parametrize("curve_method", [ogive.HistogramQueries, ogive.AdaptiveQuantiles])
def test_counts_take_laplace_noise_where_a_large_epsilon_needs_less_of_it(curve_method):
    """Integers stand for Gaussian noise at a smaller epsilon, which is granted too, but Laplace noise is less."""
    privacy = ogive.ApproxDP(1000, "1e-6")
    price = released(curve_method(), privacy).provenance.price
    assert isinstance(price, ogive.PureDP)
    assert 999 <= price.epsilon <= 1000
    gaussian = released(curve_method(noise="gaussian"), privacy).provenance.price
    assert isinstance(gaussian, GaussianDP)
    assert covers(ogive.ApproxDP(20, "1e-6"), gaussian)
