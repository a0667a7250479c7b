import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import DataError, ParameterError
from ogive.kernels import vus, vus_extremes
from ogive.kernels.tuples import excess, multinomial
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.noise import KeyedSource
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.laws import law_of
from ogive.statistics.ustatistic.reports import predicted_volume as predicted_variance
from ogive.statistics.ustatistic.reports import shares, volume

ORACLES = [RandomizedResponse, UnaryOracle, HaarOracle]


def slow_vus(classes, shares):
    """Sum over one bin of each class; a run of m equal bins counts 1/m!."""
    total = 0.0
    for bins in itertools.product(range(len(shares[0])), repeat=classes):
        if list(bins) != sorted(bins):
            continue
        runs = [len(list(run)) for _, run in itertools.groupby(bins)]
        total += math.prod(shares[c][b] for c, b in enumerate(bins)) / math.prod(map(math.factorial, runs))
    return total


def collected(oracle, symbols, generator, source):
    numbers = generator.permutation(len(symbols)).astype(np.int64)
    sums = np.zeros(oracle.shape, dtype=np.int64)
    assert oracle.add(sums, numbers, oracle.randomize(symbols, numbers, source=source)).all()
    return sums


def every_collection(symbols, classes, size):
    """All responses of some people with k-ary response at epsilon 1, and their chances."""
    other = 1 / (size + math.e - 1)
    for responses in itertools.product(range(size), repeat=len(symbols)):
        chance = math.prod(math.e * other if r == s else other for r, s in zip(responses, symbols, strict=True))
        sums = np.zeros((max(classes) + 1, size), dtype=np.int64)
        for place, response in zip(classes, responses, strict=True):
            sums[place, response] += 1
        yield chance, sums


@pytest.mark.parametrize(
    ("symbols", "classes"), [((0, 1, 1, 2, 0), (0, 0, 1, 2, 2)), ((0, 1, 0, 1, 1), (0, 1, 2, 3, 3))], ids=["3", "4"]
)
def test_volume_and_its_variance_are_unbiased_over_all_reports(symbols, classes):
    size, count = max(symbols) + 1, max(classes) + 1
    oracle, law = PublicClasses(RandomizedResponse(size, Fraction(1)), count), None
    histograms = np.array(
        [np.bincount(np.array(symbols)[np.array(classes) == each], minlength=size) for each in range(count)], float
    )
    sizes = histograms.sum(axis=1)
    histograms /= sizes[:, None]
    law = law_of(oracle.inner)
    noise = [law.covariance(each) / n for each, n in zip(histograms, sizes, strict=True)]
    mean = square = estimated = weight = 0.0
    for chance, sums in every_collection(symbols, classes, size):
        noisy = np.stack([shares(oracle.inner, each) for each in sums])
        value = slow_vus(count, noisy)
        weight += chance
        mean += chance * value
        square += chance * value**2
        minus = [-law.covariance(each) / n for each, n in zip(noisy, sizes, strict=True)]
        estimated -= chance * excess(noisy, minus)
    exact = slow_vus(count, histograms)
    assert weight == pytest.approx(1, rel=1e-12)
    assert mean == pytest.approx(exact, rel=1e-9)
    assert excess(histograms, noise) == pytest.approx(square - exact**2, rel=1e-9)
    assert estimated == pytest.approx(square - exact**2, rel=1e-9)
    # the first order alone would be too small here, so that this tells them apart
    assert excess(histograms, [each / 1e6 for each in noise]) * 1e6 < 0.9 * (square - exact**2)


@pytest.mark.parametrize("inner", ORACLES)
def test_two_classes_are_an_auc(inner):
    generator, source = np.random.default_rng(8), KeyedSource.from_seed(9)
    oracle = PublicClasses(inner(8, Fraction(1)), 2)
    classes = np.repeat([0, 1], [900, 600])
    scores = np.clip(generator.poisson(2 + 2 * classes), 0, 7)
    sums = collected(oracle, 2 * scores + classes, generator, source)
    places = np.arange(8)
    ties = np.eye(8) / 2
    matrix = (places[:, None] > places) + ties
    expected = means.two_sample_means(oracle, sums, [matrix], [ties])
    found = volume(oracle, sums, wide=np.ones(8, dtype=bool))
    assert found.values == pytest.approx(expected.values, rel=1e-12)
    # pairs weigh the noise of a report by plausible counts, and the volume by unbiased ones
    assert found.covariance[0, 0] == pytest.approx(expected.covariance[0, 0], rel=0.01)
    assert found.sampling_variance(np.ones(1)) == pytest.approx(expected.sampling[0, 0], rel=1e-9)
    assert found.quantization == pytest.approx(expected.quantization**2, rel=1e-9)
    assert (found.records, found.classes) == (1500, (900, 600))
    histograms = np.stack([np.bincount(scores[classes == each], minlength=8) for each in (0, 1)])
    histograms = histograms / histograms.sum(axis=1, keepdims=True)
    before = predicted.two_sample_covariance(oracle.inner, [matrix], histograms[1], histograms[0], (600, 900))
    assert predicted_variance(oracle.inner, histograms, (900, 600)) == pytest.approx(
        before.randomization[0, 0], rel=1e-9
    )


@pytest.mark.parametrize("inner", [RandomizedResponse, UnaryOracle])
def test_with_hardly_any_noise_it_is_the_methods_files_volume(inner):
    # {0, 1}, {1, 2}, {1, 3}: 25/48 with random tie-breaking
    oracle = PublicClasses(RandomizedResponse(4, Fraction(40)), 3)
    symbols = np.array([0, 1, 1, 2, 1, 3]) * 3 + np.array([0, 0, 1, 1, 2, 2])
    sums = collected(oracle, symbols, np.random.default_rng(1), KeyedSource.from_seed(1))
    found = volume(oracle, sums)
    assert found.values[0] == pytest.approx(25 / 48, abs=1e-9)
    assert found.covariance[0, 0] < 1e-14
    assert found.classes == (2, 2, 2)
    assert found.quantization[0] == 0


def test_the_sampling_error_is_the_variance_over_all_samples():
    generator = np.random.default_rng(12)
    laws = generator.dirichlet(np.ones(3), size=3)
    mean = square = 0.0
    for drawn in itertools.product(range(3), repeat=5):  # two, two and one record
        chance = math.prod(laws[place][value] for place, value in zip((0, 0, 1, 1, 2), drawn, strict=True))
        histograms = np.stack([np.eye(3)[list(each)].mean(axis=0) for each in (drawn[:2], drawn[2:4], drawn[4:])])
        mean += chance * vus(histograms)
        square += chance * vus(histograms) ** 2
    assert mean == pytest.approx(vus(laws), rel=1e-12)
    found = excess(laws, [multinomial(each, count) for each, count in zip(laws, (2, 2, 1), strict=True)])
    assert found == pytest.approx(square - mean**2, rel=1e-9)


@pytest.mark.each_value
@pytest.mark.distribution
@pytest.mark.parametrize(
    "inner",
    [pytest.param(each, marks=pytest.mark.everything if each is UnaryOracle else ()) for each in ORACLES],
)
@pytest.mark.parametrize("classes", [3, 4])
def test_the_stated_error_is_that_of_the_reports(inner, classes):
    """A ratio of variances of 400 collections has standard deviation 0.07, of 200 0.1.

    Noise that is 30 % larger must fail.
    """
    generator, source = np.random.default_rng(2), KeyedSource.from_seed(3)
    # six bins, which some oracles fill up to eight
    oracle = PublicClasses(inner(6, Fraction(2)), classes)
    labels = np.repeat(np.arange(classes), 1000)
    scores = np.clip(generator.normal(1.5, 1.2, 1000 * classes) + labels, 0, 5).astype(np.int64)
    histograms = np.stack([np.bincount(scores[labels == each], minlength=6) / 1000 for each in range(classes)])
    truth, runs = slow_vus(classes, histograms), size(400, part=200)
    found = [volume(oracle, collected(oracle, scores * classes + labels, generator, source)) for _ in range(runs)]
    errors = np.array([each.values[0] for each in found]) - truth
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)
    simulated = np.mean(errors**2)
    law = law_of(oracle.inner)
    padded = np.pad(histograms, ((0, 0), (0, law.size - 6)))
    noise = [np.add.reduceat(np.add.reduceat(law.covariance(each), range(6)), range(6), axis=1) for each in padded]
    exact = excess(histograms, [each / 1000 for each in noise])
    stated = float(np.mean([each.covariance[0, 0] for each in found]))
    assert 0.7 < exact / simulated < 1.4
    assert 0.7 < stated / simulated < 1.4
    assert not 0.7 < exact / (1.3**2 * simulated) < 1.4
    inside = np.abs(errors) < 1.96 * np.sqrt([each.covariance[0, 0] for each in found])
    assert 0.95 - 1 / math.sqrt(runs) < inside.mean() < 0.95 + 0.8 / math.sqrt(runs)


def test_extremes_hold_the_volume_of_any_scores_within_the_bins():
    generator = np.random.default_rng(4)
    for _ in range(20):
        scores = generator.random((3, 5)) * 4
        scores[:, 0] = 3.5  # ties in a bin that holds one value
        scores[scores >= 3] = 3.5
        bins = np.floor(scores).astype(int)
        histograms = np.stack([np.bincount(each, minlength=4) / 5 for each in bins])
        values = np.unique(scores)
        fine = np.stack([np.bincount(np.searchsorted(values, each), minlength=len(values)) / 5 for each in scores])
        least, largest = vus_extremes(histograms, np.array([True, True, True, False]))
        assert least - 1e-12 <= vus(fine) <= largest + 1e-12
        assert least <= vus(histograms) <= largest
        assert vus_extremes(histograms, np.zeros(4, dtype=bool)) == (vus(histograms), vus(histograms))
    # in order or in reverse within every bin, the extremes are reached
    lowest, highest = (
        sum(h[0, a] * h[1, b] for a in range(4) for b in range(4) if a < b or (tied and a == b))
        for h, tied in ((histograms, False), (histograms, True))
    )
    assert vus_extremes(histograms[:2], np.ones(4, dtype=bool)) == pytest.approx((lowest, highest), rel=1e-12)


@pytest.mark.parametrize("inner", ORACLES)
def test_shares_are_of_the_symbols_alone_and_add_up_to_one(inner):
    oracle = PublicClasses(inner(6, Fraction(6)), 2)
    sums = collected(oracle, np.arange(60_000) % 10, np.random.default_rng(6), KeyedSource.from_seed(7))
    found = shares(oracle.inner, sums[0])
    assert found == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.2, 0], abs=0.05)
    assert found.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("inner", ORACLES)
def test_covariances_are_those_of_forms(inner):
    generator = np.random.default_rng(10)
    law = law_of(inner(8, Fraction(1)))
    weights, vectors = generator.random(8), generator.normal(size=(8, 3))
    prepared = law.prepare(np.pad(vectors, ((0, 0), (0, 5))))
    form = law.form(weights, prepared.left, prepared.left)[:3]
    assert np.diag(vectors.T @ law.covariance(weights) @ vectors) == pytest.approx(form, rel=1e-9)


def test_refuses_what_has_no_volume():
    krr = RandomizedResponse(4, Fraction(1))
    with pytest.raises(ParameterError, match="two or more public classes"):
        volume(krr, np.zeros(4, dtype=np.int64))
    with pytest.raises(ParameterError, match="two or more public classes"):
        volume(PublicClasses(krr, 1), np.zeros((1, 4), dtype=np.int64))
    oracle = PublicClasses(krr, 3)
    with pytest.raises(DataError, match="class 1 has no report"):
        volume(oracle, np.array([[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    tree = PublicClasses(TreeOracle(4, Fraction(1)), 2)
    with pytest.raises(ParameterError, match="need reports of krr, unary, haar, got 'tree'"):
        volume(tree, np.zeros(tree.shape, dtype=np.int64))
    large = PublicClasses(RandomizedResponse(1366, Fraction(1)), 3)
    with pytest.raises(ParameterError, match="3 classes from reports takes at most 1365 bins, got 1366"):
        volume(large, np.ones(large.shape, dtype=np.int64))
