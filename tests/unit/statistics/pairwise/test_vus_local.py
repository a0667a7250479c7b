import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.noise import KeyedSource
from ogive.statistics.pairwise.vus_local import shares, volume


def slow_vus(classes, shares):
    """Sum over one bin of each class; a run of m equal bins counts 1/m!."""
    total = 0.0
    for bins in itertools.product(range(len(shares[0])), repeat=classes):
        if list(bins) != sorted(bins):
            continue
        runs = [len(list(run)) for _, run in itertools.groupby(bins)]
        total += math.prod(shares[c][b] for c, b in enumerate(bins)) / math.prod(map(math.factorial, runs))
    return total


def test_the_volume_is_unbiased_over_all_reports_of_three_people():
    oracle = PublicClasses(RandomizedResponse(3, Fraction(1)), 3)
    symbols = [0, 1, 1]
    beta = 3 / (2 + math.e)
    mean = 0.0
    for responses in itertools.product(range(3), repeat=3):
        chance = math.prod(1 - beta + beta / 3 if r == s else beta / 3 for r, s in zip(responses, symbols, strict=True))
        sums = np.zeros(oracle.shape, dtype=np.int64)
        for place, response in enumerate(responses):
            sums[place, response] += 1
        mean += chance * volume(oracle, sums, resamples=2).value
    exact = slow_vus(3, np.eye(3)[symbols])
    assert exact == 0.5
    assert mean == pytest.approx(exact, rel=1e-9)


def test_with_hardly_any_noise_it_is_the_methods_files_volume():
    # {0, 1}, {1, 2}, {1, 3}: 25/48 with random tie-breaking
    oracle = PublicClasses(RandomizedResponse(4, Fraction(40)), 3)
    symbols = np.array([0, 1, 1, 2, 1, 3]) * 3 + np.array([0, 0, 1, 1, 2, 2])
    sums = collected(oracle, symbols, np.random.default_rng(1), KeyedSource.from_seed(1))
    found = volume(oracle, sums)
    assert found.value == pytest.approx(25 / 48, abs=1e-9)
    assert found.standard_error < 1e-9
    assert found.records == (2, 2, 2)


def collected(oracle, symbols, generator, source):
    numbers = generator.permutation(len(symbols)).astype(np.int64)
    sums = np.zeros(oracle.shape, dtype=np.int64)
    assert oracle.add(sums, numbers, oracle.randomize(symbols, numbers, source=source)).all()
    return sums


@pytest.mark.distribution
@pytest.mark.parametrize("inner", [RandomizedResponse, UnaryOracle, HaarOracle, TreeOracle])
def test_the_bootstrap_error_is_that_of_the_reports(inner):
    generator, source = np.random.default_rng(2), KeyedSource.from_seed(3)
    # six bins, which some oracles fill up to eight
    oracle = PublicClasses(inner(6, Fraction(2)), 3)
    scores = np.clip(generator.normal(1.5, 1.2, 6000) + np.repeat([0, 1, 2], 2000), 0, 5).astype(np.int64)
    classes = np.repeat([0, 1, 2], 2000)
    histograms = [np.bincount(scores[classes == each], minlength=6) / 2000 for each in range(3)]
    truth, runs = slow_vus(3, histograms), 150
    estimates = np.array(
        [
            volume(oracle, collected(oracle, scores * 3 + classes, generator, source), resamples=2).value
            for _ in range(runs)
        ]
    )
    assert abs(estimates.mean() - truth) < 5 * estimates.std() / math.sqrt(runs)
    found = volume(oracle, collected(oracle, scores * 3 + classes, generator, source), resamples=150)
    ratio = found.variance / np.mean((estimates - truth) ** 2)
    assert 0.55 < ratio < 1.8
    # the sampling error of the exact volume, by resampling the records themselves
    drawn = [slow_vus(3, [generator.multinomial(2000, shares) / 2000 for shares in histograms]) for _ in range(runs)]
    assert 0.5 < found.sampling_variance / np.var(drawn) < 2


def test_a_part_of_many_people_tells_the_error_of_all(monkeypatch):
    from ogive.statistics.pairwise import vus_local

    generator, source = np.random.default_rng(4), KeyedSource.from_seed(5)
    oracle = PublicClasses(RandomizedResponse(4, Fraction(3)), 2)
    sums = collected(oracle, generator.integers(0, 8, 20_000), generator, source)
    whole = volume(oracle, sums, resamples=200)
    monkeypatch.setattr(vus_local, "_MOST_BYTES", 4000)
    part = volume(oracle, sums, resamples=200)
    assert part.value == whole.value
    assert 0.6 < part.variance / whole.variance < 1.7
    assert 0.6 < part.sampling_variance / whole.sampling_variance < 1.7


@pytest.mark.parametrize("inner", [RandomizedResponse, UnaryOracle, HaarOracle, TreeOracle])
def test_shares_are_of_the_symbols_alone(inner):
    oracle = PublicClasses(inner(6, Fraction(6)), 2)
    sums = collected(oracle, np.arange(60_000) % 10, np.random.default_rng(6), KeyedSource.from_seed(7))
    assert shares(oracle.inner, sums[0]) == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.2, 0], abs=0.05)


def test_refuses_what_has_no_volume():
    krr = RandomizedResponse(4, Fraction(1))
    with pytest.raises(ParameterError, match="two or more public classes"):
        volume(krr, np.zeros(4, dtype=np.int64))
    with pytest.raises(ParameterError, match="two or more public classes"):
        volume(PublicClasses(krr, 1), np.zeros((1, 4), dtype=np.int64))
    oracle = PublicClasses(krr, 3)
    with pytest.raises(DataError, match="class 1 has no report"):
        volume(oracle, np.array([[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    for resamples in (1, 10_001, True, 2.0):
        with pytest.raises(ParameterError, match="resamples must be a whole number from 2 to 10000"):
            volume(oracle, np.ones((3, 4), dtype=np.int64), resamples=resamples)
    large = PublicClasses(TreeOracle(1 << 30, Fraction(1)), 2)
    sums = np.zeros(large.shape, dtype=np.int64)
    sums[:, -30:] = 1
    with pytest.raises(ParameterError, match="too large for histograms"):
        volume(large, sums)
