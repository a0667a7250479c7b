"""Proved bounds: values of the table, above exact variances and errors of kernels that try to break them."""

import numpy as np
import pytest
import scipy.stats
from helpers.paper_bounds import closed_form_bins

from ogive.errors import ParameterError
from ogive.local import HaarOracle, RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.means import error_bound, optimal_bins, variance_bound

ORACLES = {"krr": RandomizedResponse, "unary": UnaryOracle, "haar": HaarOracle}


def kernels(k: int, lipschitz: bool) -> list[np.ndarray]:
    """Symmetric, with values in [0, 1]; those that are 1-Lipschitz over the domain, or any."""
    index, rng = (np.arange(k) + 0.5) / k, np.random.default_rng(k)
    if lipschitz:
        distance = np.abs(index[:, None] - index)
        return [distance, (index[:, None] + index) / 2, np.minimum(index[:, None], index), 1 - distance]
    signs = rng.integers(0, 2, (k, k))
    return [np.maximum(signs, signs.T), np.eye(k), 1 - np.eye(k), (index[:, None] > 0.5) & (index > 0.5)]


def test_theorem_one_has_the_values_of_the_table():
    # value 6
    assert variance_bound(3, 1, 100) == pytest.approx(0.08308494871, rel=1e-9)
    assert variance_bound(10, 1, 10**4) == pytest.approx(0.004688077064, rel=1e-9)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 1, 2), (4, 1, 50), (8, 4, 3), (16, "0.5", 1000), (6, 8, 100)])
def test_variances_stay_below_their_bound(name, k, epsilon, n):
    oracle, rng = ORACLES[name](k, epsilon), np.random.default_rng(0)
    shapes = [np.full(k, 1 / k), np.eye(k)[0], (np.eye(k)[0] + np.eye(k)[-1]) / 2, rng.dirichlet(np.ones(k))]
    for lipschitz in (1.0, np.inf):
        bound = variance_bound(k, epsilon, n, oracle=name, lipschitz=lipschitz)
        for kernel in kernels(k, lipschitz == 1):
            for shares in shapes:
                assert predicted.variance(oracle, kernel, shares, n) <= bound


def test_the_bound_of_lipschitz_kernels_does_not_hold_for_jumps():
    # control: the noise of a rough kernel grows with the number of bins as that of a Lipschitz one does not
    k, n = 1024, 1000
    rough = kernels(k, lipschitz=False)[0].astype(float)
    found = predicted.variance(HaarOracle(k, 1), rough, np.full(k, 1 / k), n)
    assert found > variance_bound(k, 1, n, oracle="haar", lipschitz=1.0)
    assert found < variance_bound(k, 1, n, oracle="haar", lipschitz=np.inf)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize(("n", "epsilon", "lipschitz"), [(50, 1, 1.0), (3000, "0.5", 2.0), (200, 6, 1.0)])
def test_the_number_of_bins_has_the_least_bound(oracle, n, epsilon, lipschitz):
    found = optimal_bins(n, epsilon, lipschitz, oracle=oracle, most=500)
    assert 2 <= found <= n

    def bound(bins: int) -> float:
        return error_bound(bins, epsilon, n, oracle=oracle, lipschitz=lipschitz)

    others = [2, 4, 8, 16, 32, 64, 128, 256] if oracle == "haar" else range(2, min(n, 500) + 1)
    assert bound(found) == min(bound(each) for each in others if each <= n)


def test_the_closed_form_is_right_for_small_epsilon_and_many_records():
    for n in (10**6, 10**8):
        exact = optimal_bins(n, "0.1", lipschitz=2.0)
        assert exact == pytest.approx(closed_form_bins(n, 0.1, 2.0), rel=0.25)
    # and the bound is then about 2 L / (sqrt(n) epsilon)
    value = error_bound(optimal_bins(10**8, "0.1"), "0.1", 10**8)
    assert value == pytest.approx(2 / (10**4 * 0.1), rel=0.4)


def test_the_term_of_the_midpoint_kernel_cannot_be_halved():
    # correction C6: the paper's L^2 / (2 k^2) is below the squared bias of two points at the inner ends of their bins
    k = 4
    ends = np.array([1 / k, 2 / k - 1e-9])  # both in bin 1, 1/k apart at most; and across bins 1 and 2
    low, high = ends[0], 3 / k - 1e-9
    bias = (high - low) - 1 / k  # Gini between bins 1 and 2 has midpoint 1/k
    assert bias**2 == pytest.approx(1 / k**2, rel=1e-6)
    proved, paper = (error_bound(k, 1, 100, constants=each) - variance_bound(k, 1, 100) for each in ("proved", "paper"))
    assert bias**2 <= proved
    assert bias**2 > paper, "control: the printed constant"


def test_average_kernels_of_smooth_densities_have_the_smaller_bias():
    # density 1 + s (x - 1/2) has Lipschitz constant s; any kernel in [0, 1] may be averaged over bins
    k, slope = 4, 2.0
    fine = 400
    points = (np.arange(fine) + 0.5) / fine
    density = (1 + slope * (points - 0.5)) / fine
    coarse = density.reshape(k, -1).sum(axis=1)
    rng = np.random.default_rng(0)
    term = error_bound(k, 1, 100, matrix="average", lipschitz=slope) - variance_bound(k, 1, 100)
    assert term == pytest.approx(slope**2 / (9 * k**2))
    inner = points * k % 1 > 0.5  # the kernel that sees where within a bin a value is
    for kernel in (np.outer(inner, inner), np.abs(points[:, None] - points), rng.integers(0, 2, (fine, fine))):
        average = kernel.reshape(k, fine // k, k, fine // k).mean(axis=(1, 3))
        assert (density @ kernel @ density - coarse @ average @ coarse) ** 2 <= term
    rest = error_bound(k, 1, 100, matrix="average", lipschitz=slope, constants="paper") - variance_bound(k, 1, 100)
    assert rest == pytest.approx(4 * slope**2 / k**2 + 4 * slope**4 / k**4)


def test_the_bound_is_far_above_what_is_expected():
    shares = np.diff(scipy.stats.beta(2, 5).cdf(np.linspace(0, 1, 17)))
    index = np.arange(16)
    kernel = np.abs(index[:, None] - index) / 16
    ratio = variance_bound(16, 1, 10_000) / predicted.variance(RandomizedResponse(16, 1), kernel, shares, 10_000)
    assert 5 < ratio < 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optimal_bins(1, 1), "at least 2 records, got 1"),
        (lambda: optimal_bins(10, 0), "epsilon must be above 0"),
        (lambda: optimal_bins(10, 1, 0), "lipschitz must be a finite number above 0"),
        (lambda: optimal_bins(10, 1, most=1), "most must be at least 2"),
        (lambda: optimal_bins(10, 1, oracle="tree"), "oracle must be one of krr, unary, haar"),
        (lambda: error_bound(4, 1, 10, matrix="nodes"), "matrix must be midpoint or average"),
        (lambda: error_bound(4, 1, 10, constants="mine"), "constants must be proved or paper"),
        (lambda: variance_bound(1, 1, 10), "bins must be at least 2"),
        (lambda: variance_bound(4, 1, 1), "at least 2 records"),
    ],
    ids=["records", "epsilon", "lipschitz", "most", "oracle", "matrix", "constants", "bins", "one record"],
)
def test_refuses_what_no_bound_is_for(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
