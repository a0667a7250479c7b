"""Intervals of quantiles of a curve hold what they promise, and are narrower than the inverted band."""

import math

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive import Adjacency, PureDP
from ogive.noise import KeyedSource
from ogive.statistics.curve import quantile_intervals, readings

QUARTERS = (0.25, 0.5, 0.75)


def atoms(rng, n):
    """Half of the records on two values."""
    return np.where(rng.random(n) < 0.3, 0.0, np.where(rng.random(n) < 0.4, 40.0, rng.uniform(0, 64, n)))


def smooth(rng, n):
    return np.clip(rng.gamma(2, 8, n), 0, 64)


def released(draw, n, seed, *, method="hat_ls", epsilon=1, adjacency=Adjacency.REPLACE, bins=64):
    records = draw(np.random.default_rng(seed), n)
    source = KeyedSource.from_seed(seed)
    return ogive.ecdf(
        records, bounds=(0, 64), bins=bins, method=method, privacy=PureDP(epsilon), adjacency=adjacency, source=source
    ), records


def true_bins(draw, bins=64):
    many = np.sort(draw(np.random.default_rng(1), 400_000))
    shares = np.searchsorted(many, np.arange(1, bins + 1) * (64 / bins), side="right") / len(many)
    return np.searchsorted(shares, QUARTERS)


def held(draw, runs, *, simultaneous, level=0.95, **options):
    """How often the intervals of the quartiles hold those of the population."""
    truth = true_bins(draw)
    good = np.zeros(3)
    together = 0
    for seed in range(runs):
        curve, _ = released(draw, 300, seed, **options)
        first, last = quantile_intervals.quantile_bins(
            curve, np.array(QUARTERS), level, simultaneous=simultaneous, simulations=999
        )
        inside = (first <= truth) & (truth <= last)
        good += inside
        together += inside.all()
    return good / runs, together / runs


@pytest.mark.parametrize(
    ("draw", "method", "adjacency"),
    [
        (smooth, "hat_ls", Adjacency.REPLACE),
        (atoms, "path", Adjacency.REPLACE),
        (smooth, "tree_ls", Adjacency.ADD_OR_REMOVE),
    ],
)
def test_intervals_hold_the_quantiles_of_the_population(draw, method, adjacency):
    runs = size(600, part=80)
    options = {"method": method, "adjacency": adjacency}
    slack = 3 * math.sqrt(0.05 * 0.95 / runs)
    single, _ = held(draw, runs, simultaneous=False, **options)
    assert (single >= 0.95 - slack).all()
    _, together = held(draw, runs, simultaneous=True, **options)
    assert together >= 0.95 - slack


def test_laws_of_too_little_noise_are_noticed(monkeypatch):
    """The control."""
    usual = quantile_intervals._sides

    def quieter(strategy, total_known, runs, bins):
        return tuple(
            quantile_intervals._Side(
                side.variance / 100, side.covariance / 100, side.places, side.means / 10, side.last / 10
            )
            for side in usual(strategy, total_known, runs, bins)
        )

    monkeypatch.setattr(quantile_intervals, "_sides", quieter)
    single, together = held(smooth, 80, simultaneous=False, epsilon="1/4")
    assert single.min() < 0.8
    assert together < 0.7


def exact_level(counts, share, level):
    """The probability, over all samples, that the interval of a quantile without noise holds the population's."""
    n = int(counts.sum())
    chances = counts / n
    truth = int(np.searchsorted(np.cumsum(chances) + 1e-12, share))
    total = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            sample = np.array([first, second, n - first - second])
            weight = math.factorial(n) * np.prod(
                [c**k / math.factorial(k) for c, k in zip(chances, sample, strict=True)]
            )
            if weight < 1e-9:
                continue
            values = np.repeat([0.5, 1.5, 2.5], sample)
            curve = ogive.ecdf(values, bounds=(0, 3), bins=3, trust="clear")
            low, high = quantile_intervals.quantile_bins(curve, np.array([share]), level)
            total += weight * (low[0] <= truth <= high[0])
    return total


@pytest.mark.parametrize(("counts", "share"), [((3, 5, 2), 0.5), ((4, 4, 4), 0.25), ((1, 8, 1), 0.9)])
def test_all_samples_of_a_small_population_are_enumerated(counts, share):
    counts = np.array(counts)
    assert exact_level(counts, share, 0.9) >= 0.9 - 0.015  # the law of sampling is simulated
    assert exact_level(counts, share, 0.2) < 0.99, "control: at a low level some samples miss"


def test_intervals_are_narrower_than_the_inverted_band_and_single_ones_narrower_still():
    widths = []
    for seed in range(20):
        curve, _ = released(smooth, 4000, seed, bins=256)
        shares = np.array(QUARTERS)
        single, three = (curve.quantile_interval(shares, simultaneous=each) for each in (False, True))
        band = readings.quantile_interval(shares, curve.band(0.95))
        widths.append([np.subtract(ends.high, ends.low) for ends in (single, three, band)])
    single, three, band = np.mean(widths, axis=0)
    assert (single <= 0.75 * band).all()
    assert (single <= three).all()
    assert (three <= 0.9 * band).all()


def test_the_records_themselves_are_held_too():
    runs, good = 60, 0
    for seed in range(runs):
        curve, records = released(atoms, 500, seed)
        low, high = curve.quantile_interval([0.5], target="sample")
        middle = np.sort(records)[249]
        good += low[0] <= middle <= high[0]
    assert good >= 53


@pytest.mark.parametrize("method", ["projection", "histogram", "selected"])
def test_methods_of_a_few_measurements_have_intervals(method):
    curve, _ = released(smooth, 3000, 1, method=method)
    low, high = curve.quantile_interval(QUARTERS)
    assert (low <= high).all()
    assert (np.asarray(curve.quantile(np.array(QUARTERS))) <= high).all()


def test_curves_that_are_exact_or_noise_alone():
    exact = ogive.ecdf(np.arange(100.0), bounds=(0, 128), bins=128, trust="clear")
    low, high = exact.quantile_interval([0.5])
    assert low[0] < 50 <= high[0] < 70
    noisy, _ = released(smooth, 1, 3, epsilon="1/50", adjacency=Adjacency.ADD_OR_REMOVE)
    low, high = noisy.quantile_interval([0.5])
    assert (low[0], high[0]) == (0, 64)
