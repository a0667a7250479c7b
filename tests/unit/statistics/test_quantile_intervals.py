"""Intervals of quantiles: their level, exactly for few records and by simulation for many, and how wide they are."""

import itertools

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size
from scipy import stats

import ogive
from ogive.errors import ParameterError
from ogive.statistics.curve import readings
from ogive.statistics.curve.quantile_intervals import quantile_bins
from ogive.strategies import design_tree

RNG = np.random.default_rng(44)


# --- All data sets of three records in three bins, and all noise

N, BINS, FARTHEST, LEVEL = 3, 3, 5, 0.9
STRATEGY = design_tree(BINS, privacy=ogive.PureDP(2), adjacency=ogive.Adjacency.REPLACE)
POPULATIONS = [(0.5, 0.0, 0.5), (0.25, 0.5, 0.25), (1.0, 0.0, 0.0)]
POPULATIONS += [(0.0, 0.49, 0.51), (0.2, 0.29, 0.51), (0.0, 1.0, 0.0)]


def possible_releases():
    """Raw counts at the two free thresholds with their data set, and the probability of that noise."""
    law = STRATEGY.levels[0].law
    noise = np.array(list(itertools.product(range(-FARTHEST, FARTHEST + 1), repeat=STRATEGY.levels[0].nodes)))
    chance = np.exp(law.log_probability(noise)).prod(axis=1)
    for counts in itertools.product(range(N + 1), repeat=BINS - 1):
        if sum(counts) <= N:
            data = np.array([*counts, N - sum(counts)])
            raw = STRATEGY.estimate(STRATEGY.measure(data) + STRATEGY.spread((noise,)), N)
            rounded, where = np.unique(np.round(raw * 1260).astype(int), axis=0, return_inverse=True)
            yield data, rounded, np.bincount(where.ravel(), weights=chance)


def held_chances(target, shares, *, simultaneous=True, level=LEVEL):
    """For each population the chance that all intervals hold its quantiles (or the sample's)."""
    known, held, all_noise = {}, np.zeros(len(POPULATIONS)), 0.0
    for data, releases, chances in possible_releases():
        all_noise = chances.sum()
        own = np.searchsorted(np.cumsum(data) / N, np.array(shares) - 1e-12)
        for raw, chance in zip(map(tuple, releases), chances.tolist(), strict=True):
            if raw not in known:
                curve = ogive.Curve(
                    grid=ogive.Grid.linear(0, BINS, bins=BINS),
                    cumulative=np.append(np.clip(np.maximum.accumulate(np.array(raw[:-1]) / 1260), 0, N), N),
                    raw=np.array(raw) / 1260,
                    strategy=STRATEGY,
                    adjacency=ogive.Adjacency.REPLACE,
                    total=N,
                    smoothing="isotonic",
                    column="x",
                )
                options = {"target": target, "simultaneous": simultaneous, "simulations": 999}
                known[raw] = quantile_bins(curve, np.array(shares), level, **options)
            first, last = known[raw]
            for k, population in enumerate(POPULATIONS):
                true = np.searchsorted(np.cumsum(population), np.array(shares) - 1e-12) if target != "sample" else own
                if np.all((first <= true) & (true <= last)):
                    held[k] += chance * stats.multinomial.pmf(data, N, population)
    return held / all_noise


@pytest.mark.parametrize("target", ["population", "sample"])
def test_the_level_holds_for_all_records_and_all_noise(target):
    """Exactly, up to the simulation of the law of noise: three of its deviations are left to it."""
    least = LEVEL - 3 * np.sqrt(0.1 * 0.9 / 999)
    chances = np.concatenate([held_chances(target, [0.5], simultaneous=False), held_chances(target, [0.3, 0.5, 0.8])])
    print(target, chances.round(3))
    assert chances.min() >= least
    assert held_chances(target, [0.5], level=0.2).min() < least, "control: intervals of a level of a fifth"


# --- Simulations


def columns():
    smooth = RNG.gamma(2, 8, 100_000).clip(0, 120)
    return {"smooth": smooth, "atoms": smooth // 10 * 10}


@pytest.mark.distribution
@pytest.mark.parametrize("records", [200, 2_000, 20_000])
@pytest.mark.parametrize("name", ["smooth", "atoms"])
def test_intervals_hold_the_quantiles_and_are_half_as_wide_as_those_of_a_band(name, records):
    """The control is half of each interval about its middle, which must hold too seldom where there are no atoms."""
    column, shares, runs = columns()[name], np.array([0.25, 0.5, 0.75]), size(400, part=60)
    hits, halves, widths = np.zeros(3), np.zeros(3), []
    for _ in range(runs):
        curve = ogive.ecdf(
            RNG.choice(column, records), bounds=(0, 120), bins=512, method="hat_ls", privacy=ogive.PureDP(1)
        )
        truth = np.searchsorted(np.searchsorted(np.sort(column), curve.thresholds, side="right") / len(column), shares)
        first, last = quantile_bins(curve, shares, 0.95, simultaneous=False)
        hits += (first <= truth) & (truth <= last)
        halves += np.abs(truth - (first + last) / 2) <= (last - first) / 4
        together, band = quantile_bins(curve, shares, 0.95), readings.interval_bins(shares, curve.band())
        widths.append([end[1] - end[0] + 1 for end in ((first, last), together, band)])
    alone, together, band = np.mean(widths, axis=0)
    print(f"{name} {records}: {hits / runs}, halves {halves / runs}, width {alone / band}, {together / band}")
    assert hits.min() >= fewest(runs)
    assert np.all(alone <= together)
    assert np.all(together <= band)
    if name == "smooth":
        assert halves.min() < fewest(runs), "control: half of the width is too little"
    if name == "smooth" and records == 2_000:
        assert alone.mean() <= 0.6 * band.mean()


# --- What is asked


def test_one_quantile_has_the_same_interval_either_way_and_several_have_wider_ones():
    curve = ogive.ecdf(RNG.normal(50, 10, 2_000), bounds=(0, 100), bins=256, privacy=ogive.PureDP(1))
    both = [curve.quantile_interval(0.5, simultaneous=way) for way in (True, False)]
    assert both[0] == both[1]
    many = curve.quantile_interval(np.linspace(0.1, 0.9, 9))
    each = curve.quantile_interval(np.linspace(0.1, 0.9, 9), simultaneous=False)
    assert np.all(many.high - many.low >= each.high - each.low)
    assert (many.high - many.low).sum() > (each.high - each.low).sum()
    sample = curve.quantile_interval(0.5, target="sample")
    assert sample.high - sample.low < both[0].high - both[0].low


def test_exact_counts_have_the_interval_of_order_statistics():
    """Of a clear curve the interval of the median is that of binomial ranks, and of the records it is a point."""
    values = np.arange(1, 201)
    curve = ogive.ecdf(values, bounds=(1, 200), grid="integers", trust="clear")
    low, high = curve.quantile_interval(0.5)
    ranks = stats.binom.ppf([0.025, 0.975], 200, 0.5)
    assert abs(low - ranks[0]) <= 2
    assert abs(high - ranks[1]) <= 2
    assert curve.quantile_interval(0.5, target="sample") == (100, 100)


@pytest.mark.parametrize("method", ["projection", "adaptive", "histogram", "sqrt", "path"])
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_every_method_has_intervals_for_both_targets(method, adjacency):
    values, truth = RNG.normal(50, 10, 2_000), 50.0
    curve = ogive.ecdf(
        values, bounds=(0, 100), bins=64, method=method, privacy=ogive.ApproxDP(1, "1e-6"), adjacency=adjacency
    )
    for target in ("population", "sample"):
        low, high = curve.quantile_interval([0.0, 0.5, 1.0], target=target)
        assert low[1] <= truth <= high[1]
        assert np.all(low <= curve.quantile([0.0, 0.5, 1.0]))
        assert np.all(curve.quantile([0.0, 0.5, 1.0]) <= high)
    with pytest.raises(ParameterError, match="target"):
        curve.quantile_interval(0.5, target="nobody")


def test_bands_of_many_thresholds_are_inverted():
    values = np.random.default_rng(1).uniform(0, 64, 1_000)
    for bins, inverted in ((4_096, False), (8_192, True)):
        curve = ogive.ecdf(values, bounds=(0, 64), bins=bins, method="hat_ls", privacy=ogive.PureDP(4))
        first, last = readings.interval_bins(np.array([0.5]), curve.band(0.95))
        low, high = curve.quantile_interval([0.5])
        whole = curve.grid.thresholds[last[0]] - curve.grid.thresholds[first[0] - 1]
        assert ((high - low)[0] == whole) == inverted
