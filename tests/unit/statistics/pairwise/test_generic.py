"""Estimates over pairs: unbiased and of the stated covariance by enumerating all reports; values of the table."""

import itertools
import time

import numpy as np
import pytest
import scipy.stats
from helpers.conditional import conditional

from ogive.errors import DataError, ParameterError
from ogive.local import HaarOracle, RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.laws import LARGEST_PAIRWISE, law_of
from ogive.statistics.ustatistic.means import hoeffding
from tests.helpers.reports import moments, outcomes, responses

KINDS = (RandomizedResponse, UnaryOracle, HaarOracle)
KRR, UNARY, HAAR = RandomizedResponse(3, 1), UnaryOracle(3, 1), HaarOracle(4, 1, weights="uniform")


def gini(k: int, own: float = 2) -> np.ndarray:
    index = np.arange(k)
    return np.abs(index[:, None] - index) / k + np.eye(k) / (own * k)


def random_kernels(k: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    kernels = [rng.normal(size=(k, k)) + 3 for _ in range(2)]
    return [(kernel + kernel.T) / 2 for kernel in kernels]


def exact(kernel, symbols) -> float:
    return float(np.mean([kernel[a, b] for a, b in itertools.permutations(symbols, 2)]))


CASES = {
    "krr": (RandomizedResponse(3, 1), (0, 2, 2, 1)),
    "krr, two symbols": (RandomizedResponse(2, 2), (1, 1, 1)),
    "unary": (UnaryOracle(3, 1), (0, 2, 2)),
    "unary, four symbols": (UnaryOracle(4, "0.5"), (3, 1)),
    "haar, uniform": (HaarOracle(4, 1, weights="uniform"), (0, 3, 3)),
    "haar, geometric": (HaarOracle(8, 1), (0, 3, 6)),
    "haar, padded": (HaarOracle(3, 2), (0, 2, 2, 1)),
    "haar, two symbols": (HaarOracle(2, 1), (0, 1, 1)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("oracle", "symbols"), CASES.values(), ids=CASES)
def test_estimates_are_unbiased_and_their_covariance_is_exact(oracle, symbols):
    kernels = random_kernels(oracle.size, seed=len(symbols))
    seen = [(chance, means.means(oracle, sums, kernels).values) for chance, sums in outcomes(oracle, symbols)]
    mean, covariance = moments(seen)
    np.testing.assert_allclose(mean, [exact(kernel, symbols) for kernel in kernels], rtol=1e-9)
    law = law_of(oracle)
    padded = means.checked_matrices(oracle.size, kernels, symmetric=True, padded=law.size)
    counts = np.bincount(symbols, minlength=law.size).astype(float)
    stated = conditional(law, [law.prepare(kernel) for kernel in padded], counts)
    np.testing.assert_allclose(stated, covariance, rtol=1e-9)
    assert not np.allclose(stated, conditional(law, [law.prepare(kernel) for kernel in padded], counts[::-1]))


@pytest.mark.parametrize("oracle", [KRR, UNARY, HAAR], ids=["krr", "unary", "haar"])
def test_sums_are_enough_to_add_over_pairs_of_reports(oracle):
    # the double sum over different reports, each a vector with the unit vector of its symbol as mean
    law, kernel = law_of(oracle), random_kernels(oracle.size, seed=1)[0]
    rng = np.random.default_rng(2)
    chosen = [responses(oracle, int(symbol)) for symbol in rng.integers(0, oracle.size, 5)]
    parts = [options[rng.integers(len(options))][1] for options in chosen]
    vectors = [law.counts(part) for part in parts]
    double = sum(a @ kernel @ b for a, b in itertools.permutations(vectors, 2)) / 20
    own = sum(law.diagonal(part, law.prepare(kernel)) - law.counts(part) @ kernel @ law.counts(part) for part in parts)
    found = means.means(oracle, np.sum(parts, axis=0), [kernel]).values[0]
    assert found == pytest.approx(double - own / 20, rel=1e-12)
    if oracle is KRR:
        assert own == pytest.approx(0, abs=1e-9), "its diagonal is known exactly"


@pytest.mark.parametrize("oracle", [KRR, UNARY, HAAR, HaarOracle(5, 1)], ids=["krr", "unary", "haar", "padded"])
def test_constants_come_out_exactly_whatever_was_reported(oracle):
    options = responses(oracle, 1)
    sums = options[0][1] + 3 * options[-1][1]
    found = means.means(oracle, sums, [np.full((oracle.size, oracle.size), 0.7)])
    assert found.values[0] == 0.7
    assert found.covariance[0, 0] == 0
    assert found.sampling[0, 0] == 0
    law = law_of(oracle)
    uncentered = law.prepare(np.full((law.size, law.size), 0.7))
    counts = law.counts(sums)
    whole = (counts @ uncentered.matrix @ counts - law.diagonal(sums, uncentered)) / 12
    assert whole == pytest.approx(0.7, rel=1e-12), "not only because the middle is taken off first"


def test_adding_a_constant_to_a_kernel_changes_nothing_else():
    for oracle, sums in ((KRR, [3, 1, 2]), (UNARY, [4, 2, 3, 6]), (HAAR, [2, 1, -1, 2, 2])):
        kernel = gini(oracle.size)
        plain = means.means(oracle, np.array(sums), [kernel])
        moved = means.means(oracle, np.array(sums), [kernel + 5])
        assert moved.values[0] == pytest.approx(plain.values[0] + 5)
        assert moved.covariance == pytest.approx(plain.covariance)


def test_values_of_randomized_response_are_those_of_the_table():
    # values 1 to 4 and 7
    assert law_of(RandomizedResponse(4, 1)).keep == pytest.approx(1 - 0.6995108181, abs=1e-10)
    assert law_of(RandomizedResponse(4, 1)).other == pytest.approx(0.1748777045, abs=1e-10)
    assert law_of(RandomizedResponse(4, 1)).keep + 0.1748777045 == pytest.approx(0.4753668864, abs=1e-10)
    assert law_of(KRR).keep == pytest.approx(1 - 0.6358246729, abs=1e-10)
    delta = np.where(np.eye(3) > 0, 1 / 36, 1 / 9)
    found = means.means(KRR, np.array([3, 1, 2]), [gini(3), gini(3, 3), np.eye(3), np.ones((3, 3))], [delta] * 4)
    np.testing.assert_allclose(found.values, [0.7048907083, 0.7142986055, -0.1693421485, 1], atol=1e-10)
    np.testing.assert_allclose(found.quantization**2, 0.1252229568, atol=1e-10)
    assert found.records == 6
    law = law_of(KRR)
    stated = conditional(law, [law.prepare(gini(3)), law.prepare(np.eye(3))], np.array([3.0, 1, 2]))
    np.testing.assert_allclose(np.diagonal(stated), [0.1133786281, 0.7454320152], atol=1e-10)


def test_what_binning_may_have_changed_is_never_negative():
    sums, spread = np.array([6, 0, 0]), 1 - np.eye(3)
    law = law_of(KRR)
    counts = law.counts(sums)
    assert counts @ spread @ counts < law.diagonal(sums, law.prepare(spread)), "its unbiased estimate is negative"
    assert means.means(KRR, sums, [gini(3)], [spread]).quantization[0] == 0


def test_several_kernels_have_a_joint_covariance():
    # noise is large: what is taken off the linear parts must leave a covariance, in any units
    for oracle in (RandomizedResponse(16, 1), UnaryOracle(16, 1), HaarOracle(16, 1)):
        rng = np.random.default_rng(1)
        sums = np.zeros(oracle.shape, dtype=np.int64)
        for symbol in rng.integers(0, 16, 30) if oracle.name != "unary" else ():
            options = responses(oracle, int(symbol))
            sums += options[rng.integers(len(options))][1]
        if oracle.name == "unary":
            sums[:] = [*rng.binomial(30, float(oracle.chance), 16), 30]
        kernels = [gini(16), np.eye(16), gini(16) ** 2]
        found = means.means(oracle, sums, kernels)
        scale = np.sqrt(np.diagonal(found.covariance))
        assert np.linalg.eigvalsh(found.covariance / np.outer(scale, scale)).min() > -1e-9
        large = means.means(oracle, sums, [1e6 * kernels[0], *kernels[1:]])
        units = np.array([1e6, 1, 1])
        np.testing.assert_allclose(large.covariance, found.covariance * np.outer(units, units), rtol=1e-6)
        law = law_of(oracle)
        plausible = 30 * means.on_simplex(law.counts(sums) / 30, 16)
        least = conditional(law, [law.prepare(kernel) for kernel in kernels], plausible)
        assert np.linalg.eigvalsh((found.covariance - least) / np.outer(scale, scale)).min() > -1e-9


def test_values_of_unary_and_haar_reports_are_those_of_the_table():
    # values 37 to 39
    law = law_of(UNARY)
    np.testing.assert_allclose(law.counts(np.array([4, 2, 3, 6])), [6.32790683, -2.32790683, 2], atol=1e-8)
    assert means.means(UNARY, np.array([4, 2, 3, 6]), [gini(3)]).values[0] == pytest.approx(0.8514044236, abs=1e-10)
    law, sums = law_of(HAAR), np.array([2, 1, -1, 2, 2])
    np.testing.assert_allclose(law.theta(sums), [8.65581365, 0, 8.65581365], atol=1e-8)
    np.testing.assert_allclose(law.theta(sums), HAAR.theta(sums), rtol=1e-12)
    assert means.means(HAAR, sums, [gini(4)]).values[0] == pytest.approx(-1.1949739038, abs=1e-10)
    prepared = law.prepare(gini(4))
    assert gini(4).mean() == 0.34375
    np.testing.assert_allclose(prepared.left.mean(axis=1), [0, 0.0625, -0.0625], atol=1e-15)
    np.testing.assert_allclose(np.diagonal(prepared.both), [-0.15625, -0.0625, -0.0625], atol=1e-15)


def test_sampling_covariance_is_that_of_hoeffding():
    # values 25 and 27: the Gini kernel under the uniform law, zeta_1 = 1/180 and zeta_2 = 1/18
    k = 400
    kernel, uniform = gini(k, own=3), np.full(k, 1 / k)
    assert uniform @ kernel @ uniform == pytest.approx(1 / 3)
    assert hoeffding([kernel], uniform, 1000)[0, 0] == pytest.approx(2.231120009e-5, rel=1e-4)
    # by enumerating data sets of three records
    kernels, shares = random_kernels(3, seed=5), np.array([0.5, 0.2, 0.3])
    seen = [
        (float(np.prod(shares[list(symbols)])), [exact(each, symbols) for each in kernels])
        for symbols in itertools.product(range(3), repeat=3)
    ]
    np.testing.assert_allclose(hoeffding(kernels, shares, 3), moments(seen)[1], rtol=1e-12)


@pytest.mark.distribution
@pytest.mark.parametrize(
    "oracle",
    [
        pytest.param(RandomizedResponse(8, 1), marks=pytest.mark.everything),
        UnaryOracle(8, 1),
        pytest.param(HaarOracle(8, 1), marks=pytest.mark.everything),
    ],
    ids=lambda o: o.name,
)
def test_standard_errors_are_those_of_real_reports(oracle):
    # 600 runs of the real oracle: the variance of a mean is known within a factor of 1 +- 5.2 sqrt(2 / 600) at 1e-6
    from ogive.noise import KeyedSource

    source = KeyedSource(b"pairs".ljust(32, b"."))
    n, runs, kernel = 2000, 600, gini(8)
    shares = np.diff(np.linspace(0, 1, 9) ** 2)
    symbols = np.repeat(np.arange(8), np.round(n * shares).astype(int))
    n = len(symbols)
    values, stated = [], []
    for run in range(runs):
        sums, numbers = np.zeros(oracle.shape, dtype=np.int64), np.arange(n) + run * n
        oracle.add(sums, numbers, oracle.randomize(symbols, numbers, source=source))
        found = means.means(oracle, sums, [kernel])
        values.append(found.values[0])
        stated.append(found.covariance[0, 0])
    law = law_of(oracle)
    true = conditional(law, [law.prepare(kernel)], np.bincount(symbols, minlength=8).astype(float))[0, 0]
    counts = np.bincount(symbols)
    truth = (counts @ kernel @ counts - counts @ np.diagonal(kernel)) / (n * (n - 1))

    def agrees(variance: float) -> bool:
        centered = abs(np.mean(values) - truth) < 5 * np.sqrt(variance / runs)
        return bool(centered and abs(np.mean((np.array(values) - truth) ** 2) / variance - 1) < 5.2 * np.sqrt(2 / runs))

    assert agrees(true)
    assert not agrees(1.5 * true), "control"
    assert not agrees(true / 1.5), "control"
    assert np.mean(stated) == pytest.approx(true, rel=0.1)
    # 95 % intervals from the stated errors: 570 of 600 runs, give or take 27 at 1e-6
    away = np.abs(np.array(values) - truth) / np.sqrt(stated)
    assert abs(np.mean(away < 1.96) - 0.95) < 27 / 600
    assert np.mean(away < 1.96 / 1.5) < 0.95 - 27 / 600, "control: errors that are stated a third too small"


@pytest.mark.distribution
def test_errors_are_right_where_noise_hides_the_distribution():
    # 2000 reports on 64 symbols: estimated shares are mostly noise, and the nearest distribution is far too even
    from ogive.noise import KeyedSource

    oracle, source, runs, n = HaarOracle(64, 1), KeyedSource(b"hidden".ljust(32, b".")), 150, 2000
    rng, kernel = np.random.default_rng(0), gini(64)
    shares = np.diff(scipy.stats.beta(2, 5).cdf(np.linspace(0, 1, 65)))
    law, truth = law_of(oracle), shares @ kernel @ shares
    prepared, values, stated, plain = [law.prepare(kernel)], [], [], []
    for run in range(runs):
        sums, numbers = np.zeros(oracle.shape, dtype=np.int64), np.arange(n) + run * n
        oracle.add(sums, numbers, oracle.randomize(rng.choice(64, n, p=shares), numbers, source=source))
        found = means.means(oracle, sums, [kernel])
        values.append(found.values[0])
        stated.append(found.covariance[0, 0] + found.sampling[0, 0])
        plausible = n * means.on_simplex(law.counts(sums) / n, 64)
        plain.append(conditional(law, prepared, plausible)[0, 0])
    expected = predicted.variance(oracle, kernel, shares, n)
    assert np.mean(stated) == pytest.approx(expected, rel=0.15)
    assert np.mean(plain) < 0.75 * expected, "control: exact variances at the nearest distribution"
    # 95 % intervals cover 142 of 150 times, give or take 13 at 1e-6
    away = np.abs(np.array(values) - truth)
    assert np.mean(away < 1.96 * np.sqrt(stated)) > 0.95 - 13 / 150
    assert np.mean(away < 1.96 * np.sqrt(plain)) < 0.95 - 13 / 150, "control"


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(4), r"shape \(3, 3\), got \(4, 4\)"),
        (np.triu(np.ones((3, 3))), "must be symmetric"),
        (np.full((3, 3), np.nan), "finite"),
    ],
    ids=["size", "symmetry", "nan"],
)
def test_refuses_matrices_that_are_no_kernel(matrix, message):
    with pytest.raises(ParameterError, match=message):
        means.means(KRR, np.array([3, 1, 2]), [matrix])


def test_refuses_a_single_report_and_domains_without_a_matrix():
    with pytest.raises(DataError, match="at least 2 reports, got 1"):
        means.means(KRR, np.array([0, 1, 0]), [gini(3)])
    with pytest.raises(ParameterError, match="use at most 4096 bins"):
        means.means(RandomizedResponse(5000, 1), np.zeros(5000, dtype=np.int64), [])


def test_projects_on_the_simplex():
    assert means.on_simplex(np.array([0.5, 0.7, -0.2]), 3) == pytest.approx([0.4, 0.6, 0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        given = rng.normal(size=5)
        found = means.on_simplex(given, 6)
        assert found.sum() == pytest.approx(1)
        assert found.min() >= 0
        others = rng.dirichlet(np.ones(5), size=2000)
        assert ((given - others) ** 2).sum(axis=1).min() >= ((given - found[:5]) ** 2).sum() - 1e-12


def test_a_thousand_symbols_take_no_minute():
    oracle, kernel = RandomizedResponse(1024, 1), gini(1024)
    sums = np.random.default_rng(0).integers(0, 100, 1024)
    times = []
    for _ in range(3):
        start = time.process_time()
        means.means(oracle, sums, [kernel], [kernel**2])
        times.append(time.process_time() - start)
    assert min(times) < 20  # about a tenth of a second; where each pair is gone through, minutes


def test_the_largest_matrices_are_served_and_no_larger_ones():
    assert law_of(RandomizedResponse(LARGEST_PAIRWISE, 5)).size == LARGEST_PAIRWISE
    with pytest.raises(ParameterError, match=f"{LARGEST_PAIRWISE + 1} symbols"):
        law_of(RandomizedResponse(LARGEST_PAIRWISE + 1, 5))
