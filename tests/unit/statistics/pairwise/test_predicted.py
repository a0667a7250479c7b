"""Predicted errors: Lemma 1 as it is written, and the mean of exact conditional variances over all data sets."""

import itertools

import numpy as np
import pytest
from helpers.conditional import conditional, two_sample_conditional

from ogive.errors import ParameterError
from ogive.local import HaarOracle, RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.laws import law_of
from ogive.statistics.ustatistic.means import hoeffding

ORACLES = {"krr": RandomizedResponse(4, 1), "unary": UnaryOracle(4, 1), "haar": HaarOracle(4, 1)}


def gini(k: int) -> np.ndarray:
    index = np.arange(k)
    return np.abs(index[:, None] - index) / k + np.eye(k) / (2 * k)


def lemma_one(oracle, kernel, shares, n) -> tuple[float, float, float]:
    """As in the paper: two variances under the law of a response, and the total."""
    kept = float(oracle.keep)
    b = np.full(oracle.size, (1 - kept) / oracle.size)
    q = kept * shares + b
    given = kernel @ shares
    first = q @ given**2 - (q @ given) ** 2
    pairs = kernel - (kernel @ b)[None, :]
    second = q @ (pairs**2 @ q - (pairs @ q) ** 2)
    return first, second, 2 / (n * (n - 1)) * ((2 * n - 3) / kept**2 * first + second / kept**4)


def test_lemma_one_has_the_values_of_the_table():
    # value 5
    oracle, shares = RandomizedResponse(3, 1), np.array([0.5, 0.2, 0.3])
    first, second, total = lemma_one(oracle, gini(3), shares, 100)
    assert first == pytest.approx(0.003604167816, rel=1e-9)
    assert second == pytest.approx(0.03228302578, rel=1e-9)
    assert total == pytest.approx(0.001452335094, rel=1e-9)
    assert predicted.variance(oracle, gini(3), shares, 100) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 1000])
def test_randomized_response_agrees_with_lemma_one(n):
    rng = np.random.default_rng(n)
    kernel = rng.normal(size=(4, 4))
    kernel, shares = kernel + kernel.T, rng.dirichlet(np.ones(4))
    stated = predicted.variance(ORACLES["krr"], kernel, shares, n)
    assert stated == pytest.approx(lemma_one(ORACLES["krr"], kernel, shares, n)[2], rel=1e-9)


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_predictions_are_means_over_all_data_sets(oracle):
    rng = np.random.default_rng(3)
    kernels = [(each + each.T) for each in rng.normal(size=(2, 4, 4))]
    shares, law, n = rng.dirichlet(np.ones(4)), law_of(oracle), 3
    prepared = [law.prepare(each) for each in kernels]
    expected = np.zeros((2, 2))
    for symbols in itertools.product(range(4), repeat=n):
        counts = np.bincount(symbols, minlength=4).astype(float)
        expected += np.prod(shares[list(symbols)]) * conditional(law, prepared, counts)
    found = predicted.covariance(oracle, kernels, shares, n)
    np.testing.assert_allclose(found.randomization, expected, rtol=1e-9)
    np.testing.assert_allclose(found.total, expected + hoeffding(kernels, shares, n), rtol=1e-9)
    assert not np.allclose(predicted.covariance(oracle, kernels, shares[::-1], n).randomization, expected), "control"


@pytest.mark.parametrize("oracle", [*ORACLES.values(), HaarOracle(3, 1)], ids=[*ORACLES, "haar, padded"])
def test_two_sample_predictions_are_means_over_all_data_sets(oracle):
    rng, k = np.random.default_rng(4), oracle.size
    kernels, law = list(rng.normal(size=(2, k, k))), law_of(oracle)
    up, down = rng.dirichlet(np.ones(k), size=2)
    prepared = [law.prepare(np.pad(each, (0, law.size - k), mode="edge")) for each in kernels]
    expected = np.zeros((2, 2))
    for symbols in itertools.product(range(k), repeat=4):
        first, second = list(symbols[:3]), list(symbols[3:])
        counts = [np.bincount(each, minlength=law.size).astype(float) for each in (first, second)]
        expected += np.prod(up[first]) * np.prod(down[second]) * two_sample_conditional(law, prepared, *counts)
    found = predicted.two_sample_covariance(oracle, kernels, up, down, (3, 1))
    np.testing.assert_allclose(found.randomization, expected, rtol=1e-9)
    assert not np.allclose(
        predicted.two_sample_covariance(oracle, kernels, up, down, (1, 3)).randomization, expected
    ), "control"


def test_predictions_come_near_the_measured_errors_of_the_methods():
    # MSE of Gini under Beta(2, 5), n = 20 000, epsilon = 1, as measured over few runs in the methods file, 11.2
    import scipy.stats

    measured = {
        16: {"uniform": 1.4e-4, "geometric": 1.8e-4, "krr": 6.1e-4},
        64: {"uniform": 3.1e-4, "geometric": 2.2e-4, "krr": 7.3e-3},
    }
    for k, expected in measured.items():
        shares = np.diff(scipy.stats.beta(2, 5).cdf(np.linspace(0, 1, k + 1)))
        for name, value in expected.items():
            oracle = RandomizedResponse(k, 1) if name == "krr" else HaarOracle(k, 1, weights=name)
            assert predicted.variance(oracle, gini(k), shares, 20_000) == pytest.approx(value, rel=0.4), (k, name)


def test_refuses_what_is_no_distribution():
    with pytest.raises(ParameterError, match="4 shares that sum to 1"):
        predicted.variance(ORACLES["krr"], gini(4), [0.5, 0.5, 0.5, 0.5], 10)
    with pytest.raises(ParameterError, match="at least 2 records, got 1"):
        predicted.variance(ORACLES["krr"], gini(4), [0.25] * 4, 1)
    with pytest.raises(ParameterError, match="a record of each class, got 0 and 3"):
        predicted.two_sample_covariance(ORACLES["krr"], [gini(4)], [0.25] * 4, [0.25] * 4, (0, 3))
