"""The integer square-root factorization against the specification's values, dense algebra and exact privacy."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.fft
from helpers import dense
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import SquareRoot, design_square_root, strategy_from_dict
from ogive.strategies.square_root import LIMIT, Convolver, factor_column, fast_length, squared_sensitivity

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


def binomials(size):
    """r_k = binom(2k, k) / 4^k, exactly."""
    values = [Fraction(1)]
    for k in range(1, size):
        values.append(values[-1] * Fraction(2 * k - 1, 2 * k))
    return values


@pytest.mark.parametrize("bits", [1, 8, 20, 24])
def test_factor_column_rounds_the_binomials(bits):
    wanted = [round(value * 2**bits) for value in binomials(300)]
    got = factor_column(300, bits)
    # ties and guard digits may move a rounding by one
    assert max(abs(int(a) - b) for a, b in zip(got, wanted, strict=True)) <= 1
    assert np.mean(got == wanted) > 0.99
    assert np.convolve(got, got)[:300] / 4.0**bits == pytest.approx(1, abs=300 / 2**bits)


def test_squared_norm_of_eight_bins_is_the_specified_rational():
    assert sum(value**2 for value in binomials(8)) == Fraction(7207405, 4194304)
    assert squared_sensitivity(8, 20, False) / 4**20 == pytest.approx(7207405 / 4194304, abs=1e-5)


@pytest.mark.parametrize(
    ("size", "half_open", "interval"), [(2**10, 3.2726, 5.4229), (2**15, 4.3758, 7.6294)], ids=["2^10", "2^15"]
)
def test_sensitivities_are_the_specified_ones(size, half_open, interval):
    assert squared_sensitivity(size, 20, False) / 4**20 == pytest.approx(half_open, abs=6e-5)
    assert squared_sensitivity(size, 20, True) / 4**20 == pytest.approx(interval, abs=6e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 33])
@pytest.mark.parametrize("bits", [2, 20])
def test_sensitivity_is_exactly_that_of_the_worst_neighbors(size, bits):
    strategy = SquareRoot(size, DiscreteGaussian(3 * 2**bits), bits)
    for adjacency in Adjacency:
        if size == 1 and adjacency is REPLACE:
            continue
        changes = dense.record_changes(strategy, replace=adjacency is REPLACE)
        worst = max(int((change**2).sum()) for change in changes)
        assert strategy.loss(adjacency).rho == Fraction(worst, 2 * (3 * 2**bits) ** 2)


@pytest.mark.parametrize(
    ("size", "adjacency", "mean", "largest"),
    [
        (2**10, ADD, 9.67, 10.71),
        (2**10, REPLACE, 15.1, 16.2),
        (2**15, ADD, 17.76, 19.15),
        (2**15, REPLACE, 30.0, 31.5),
    ],
)
def test_designs_reach_the_specified_errors(size, adjacency, mean, largest):
    strategy = design_square_root(size, privacy=ZeroConcentratedDP("0.5"), adjacency=adjacency)
    variance = strategy.variance(total_known=adjacency is REPLACE)
    assert variance.mean() == pytest.approx(mean, abs=0.05)
    assert variance.max() == pytest.approx(largest, abs=0.05)
    loss = strategy.loss(adjacency).rho
    assert Fraction(1, 2) * (1 - Fraction(1, 2**20)) <= loss <= Fraction(1, 2)


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 80),
    seed=st.integers(0, 2**32),
    reach=st.integers(1, 2**20),
)
def test_convolution_is_exact_with_either_sign(size, seed, reach):
    draw = np.random.default_rng(seed)
    fixed, values = draw.integers(-reach, reach + 1, size=size), draw.integers(-reach, reach + 1, size=size)
    wanted = np.convolve(fixed.astype(object), values.astype(object))[:size]
    assert (Convolver(fixed, size).apply(values) == wanted).all()


def test_convolution_is_exact_at_the_edge_of_its_range():
    largest = (LIMIT - 1) // 2**20
    fixed = np.array([2**20, -(2**20), 2**19])
    for value in (largest, -largest):
        values = np.array([0, value, 0])
        assert Convolver(fixed, 3).apply(values).tolist() == [0, value * 2**20, -value * 2**20]
    with pytest.raises(ParameterError, match="counts must add up to less than"):
        Convolver(fixed, 3).apply(np.array([0, largest + 1, 0]))


@pytest.mark.parametrize("size", [1, 2, 7, 40])
@pytest.mark.parametrize("bits", [3, 20])
@pytest.mark.parametrize("total", [None, 1234])
def test_estimate_and_variance_are_those_of_dense_algebra(size, bits, total):
    strategy = SquareRoot(size, DiscreteGaussian(5 * 2**bits), bits)
    A = dense.matrix(strategy)
    column = factor_column(size, bits)
    assert all(A[i, j] == (column[i - j] if i >= j else 0) for i in range(size) for j in range(size))
    answers = np.random.default_rng(size).integers(-(2**bits) * 99, 2**bits * 99, size=(3, 2, size))
    estimates = strategy.estimate(answers, total)
    for index in np.ndindex(3, 2):
        wanted = dense.prefix_estimate(strategy, answers[index], total)
        np.testing.assert_allclose(estimates[index], wanted, rtol=1e-8, atol=1e-6)
    covariance = dense.prefix_covariance(strategy, total_known=total is not None)
    np.testing.assert_allclose(
        strategy.variance(total_known=total is not None), np.diag(covariance), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("size", [1, 5, 1000, 1025])
def test_noiseless_measurements_return_the_counts(size):
    strategy = SquareRoot(size, DiscreteGaussian(1))
    counts = np.random.default_rng(size).integers(0, 1000, size=size)
    for total in (None, int(counts.sum())):
        estimates = strategy.estimate(strategy.measure(counts), total)
        np.testing.assert_allclose(estimates, np.cumsum(counts), rtol=0, atol=1e-6)
        assert (np.rint(estimates) == np.cumsum(counts)).all()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("order", [1.1, 2, 6])
def test_renyi_divergence_of_outputs_is_at_most_the_loss_and_close_to_it(adjacency, order):
    strategy = SquareRoot(5, DiscreteGaussian(9), 3)
    law, window = strategy.law, np.arange(-400, 401)

    def divergence(moved):
        here, there = law.log_probability(window), law.log_probability(window - moved)
        return np.log(np.exp(order * here + (1 - order) * there).sum()) / (order - 1)

    changes = dense.record_changes(strategy, replace=adjacency is REPLACE)
    worst = max(sum(divergence(moved) for moved in change) for change in changes)
    price = order * float(strategy.loss(adjacency).rho)
    assert 0.999 * price <= worst <= price * (1 + 1e-9)


def relative_gaps(strategy, predicted, *, total):
    """How far simulated variances are from predicted ones, in standard deviations of the simulation."""
    runs = 20000
    noise = strategy.law.sample(runs * strategy.size, source=KeyedSource(b"s" * 32)).reshape(runs, -1)
    counts = np.arange(strategy.size) + 3
    answers = strategy.measure(counts) + strategy.spread((noise,))
    errors = strategy.estimate(answers, int(counts.sum()) if total else None) - np.cumsum(counts)
    inside = predicted > 0
    return np.abs((errors[:, inside] ** 2).mean(axis=0) / predicted[inside] - 1).max() / np.sqrt(2 / runs)


@pytest.mark.parametrize("total_known", [True, False])
def test_simulated_errors_have_the_predicted_variance(total_known):
    # 20000 runs: one standard deviation is 1 %; 6 allow for 20 correlated points
    strategy = SquareRoot(20, DiscreteGaussian(40), 4)
    variance = strategy.variance(total_known=total_known)
    assert relative_gaps(strategy, variance, total=total_known) < 6
    assert relative_gaps(strategy, 0.9 * variance, total=total_known) > 8
    assert relative_gaps(strategy, 1.1 * variance, total=total_known) > 8


def test_plain_data_rebuilds_the_same_strategy():
    strategy = design_square_root(200, privacy=ZeroConcentratedDP("0.3"), adjacency=ADD)
    assert strategy_from_dict(strategy.to_dict()) == strategy


def test_refuses_pure_privacy_laplace_noise_and_impossible_fields():
    with pytest.raises(ParameterError, match="needs ZeroConcentratedDP: its L1 sensitivity grows like") as caught:
        design_square_root(100, privacy=PureDP(1), adjacency=REPLACE)
    assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match="takes DiscreteGaussian noise"):
        SquareRoot(8, DiscreteLaplace(2))
    with pytest.raises(ParameterError, match="bits must be a whole number from 1 to 24"):
        SquareRoot(8, DiscreteGaussian(2), 25)
    with pytest.raises(ParameterError, match="size must be"):
        SquareRoot(0, DiscreteGaussian(2))
    with pytest.raises(ParameterError, match="takes DiscreteGaussian noise"):
        strategy_from_dict({"name": "sqrt", "size": 8, "bits": 20, "law": DiscreteLaplace(2).to_dict()})


def test_quick_lengths_are_those_of_scipy():
    for least in [*range(1, 3000), *range((1 << 24) - 5, (1 << 24) + 5)]:
        assert fast_length(least) == scipy.fft.next_fast_len(least, real=True)
