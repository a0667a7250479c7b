"""Two-sample means: unbiased and of the stated covariance by enumerating all reports of both classes."""

import numpy as np
import pytest
import scipy.stats
from helpers.conditional import two_sample_conditional

from ogive.errors import DataError, ParameterError
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.laws import law_of
from ogive.statistics.ustatistic.means import two_sample_hoeffding
from tests.helpers.reports import moments, outcomes

CASES = {
    "krr": (RandomizedResponse(3, 1), (0, 2, 2), (1, 2)),
    "unary": (UnaryOracle(3, 1), (0, 2), (1,)),
    "haar": (HaarOracle(4, 1, weights="uniform"), (0, 3), (1, 2)),
    "haar, padded": (HaarOracle(3, 1), (0, 2), (1, 2)),
}


def auc(k: int) -> np.ndarray:
    index = np.arange(k)
    return (index[:, None] > index) + np.eye(k) / 2


def kernels(k: int) -> list[np.ndarray]:
    return [auc(k), np.random.default_rng(k).normal(size=(k, k)) + 2]


@pytest.mark.parametrize(
    ("oracle", "positive", "negative"),
    [pytest.param(*case, marks=pytest.mark.everything if name == "haar" else ()) for name, case in CASES.items()],
    ids=CASES,
)
def test_estimates_are_unbiased_and_their_covariance_is_exact(oracle, positive, negative):
    whole, chosen = PublicClasses(oracle, 2), kernels(oracle.size)
    seen = [
        (p * q, means.two_sample_means(whole, np.stack([down, up]), chosen).values)
        for p, up in outcomes(oracle, positive)
        for q, down in outcomes(oracle, negative)
    ]
    mean, covariance = moments(seen)
    exact = [np.mean([each[a, b] for a in positive for b in negative]) for each in chosen]
    np.testing.assert_allclose(mean, exact, rtol=1e-9)
    law = law_of(oracle)
    missing = law.size - oracle.size
    prepared = [law.prepare(np.pad(each, (0, missing), mode="edge")) for each in chosen]
    up, down = (np.bincount(each, minlength=law.size).astype(float) for each in (positive, negative))
    np.testing.assert_allclose(two_sample_conditional(law, prepared, up, down), covariance, rtol=1e-9)
    turned = two_sample_conditional(law, prepared, np.roll(up, 1), down)
    assert not np.allclose(turned, covariance), "control"


def test_the_value_is_that_of_the_table():
    # value 8
    sums = np.array([[3, 2, 1], [1, 2, 4]])
    delta = np.eye(3) / 4
    found = means.two_sample_means(PublicClasses(RandomizedResponse(3, 1), 2), sums, [auc(3)], [delta])
    assert found.values[0] == pytest.approx(1.167457919, abs=1e-9)
    assert found.records == 13
    law = law_of(RandomizedResponse(3, 1))
    up, down = law.counts(sums[1]) / 7, law.counts(sums[0]) / 6
    assert found.quantization[0] ** 2 == pytest.approx(max(up @ delta @ down, 0))


def test_constants_come_out_exactly():
    for oracle in (RandomizedResponse(3, 1), UnaryOracle(3, 1), HaarOracle(3, 1)):
        sums = np.stack([outcomes(oracle, (0, 1))[0][1], outcomes(oracle, (2,))[-1][1]])
        found = means.two_sample_means(PublicClasses(oracle, 2), sums, [np.full((3, 3), 0.3)])
        assert found.values[0] == 0.3
        assert found.covariance[0, 0] == found.sampling[0, 0] == 0


def test_sampling_covariance_is_exact_by_enumerating_data():
    chosen = kernels(3)
    up, down = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    grid = np.indices((3,) * 5).reshape(5, -1).T
    seen = [
        (np.prod(up[row[:2]]) * np.prod(down[row[2:]]), [each[np.ix_(row[:2], row[2:])].mean() for each in chosen])
        for row in grid
    ]
    found = two_sample_hoeffding(chosen, up, down, 2, 3)
    np.testing.assert_allclose(found, moments(seen)[1], rtol=1e-12)
    assert not np.allclose(two_sample_hoeffding(chosen, up, down, 3, 2), found), "control"


@pytest.mark.parametrize(
    ("sums", "name"), [([[0, 0, 0], [1, 1, 1]], "negative"), ([[1, 0, 0], [0, 0, 0]], "positive")], ids=["none", "all"]
)
def test_refuses_an_empty_class(sums, name):
    with pytest.raises(DataError, match=f"no report of the {name} class"):
        means.two_sample_means(PublicClasses(RandomizedResponse(3, 1), 2), np.array(sums), [auc(3)])


def test_refuses_reports_of_other_than_two_classes():
    with pytest.raises(ParameterError, match="two public classes, got 3"):
        means.two_sample_means(PublicClasses(RandomizedResponse(3, 1), 3), np.zeros((3, 3), dtype=np.int64), [auc(3)])
    with pytest.raises(ParameterError, match="two public classes, got None"):
        means.two_sample_means(RandomizedResponse(3, 1), np.zeros(3, dtype=np.int64), [auc(3)])


@pytest.mark.distribution
def test_errors_are_right_where_noise_hides_the_distribution():
    # bits of reports are added up as binomial numbers; 1000 in each class, on 32 symbols
    oracle, runs, n, k = UnaryOracle(32, 1), 400, 1000, 32
    rng, law, chance = np.random.default_rng(0), law_of(oracle), float(oracle.chance)
    shapes = [np.diff(scipy.stats.beta(*shape).cdf(np.linspace(0, 1, k + 1))) for shape in ((2, 5), (5, 2))]
    truth = shapes[1] @ auc(k) @ shapes[0]
    prepared, values, stated, plain = [law.prepare(auc(k))], [], [], []
    for _ in range(runs):
        counts = [rng.multinomial(n, shape) for shape in shapes]
        bits = [np.append(rng.binomial(each, 0.5) + rng.binomial(n - each, chance), n) for each in counts]
        found = means.two_sample_means(PublicClasses(oracle, 2), np.stack(bits), [auc(k)])
        values.append(found.values[0])
        stated.append(found.covariance[0, 0] + found.sampling[0, 0])
        down, up = (n * means.on_simplex(law.counts(each) / n, k) for each in bits)
        plain.append(two_sample_conditional(law, prepared, up, down)[0, 0])
    expected = predicted.two_sample_covariance(oracle, [auc(k)], shapes[1], shapes[0], (n, n)).total[0, 0]
    assert np.mean(stated) == pytest.approx(expected, rel=0.1)
    assert np.mean(plain) < 0.9 * expected, "control: exact variances at the nearest distributions"
    # 95 % intervals cover 380 of 400 times, give or take 22 at 1e-6
    away = np.abs(np.array(values) - truth)
    assert np.mean(away < 1.96 * np.sqrt(stated)) > 0.95 - 22 / 400
