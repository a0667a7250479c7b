"""Bands hold what they say at the level they say; narrower ones do not."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
import scipy.special
import scipy.stats
from helpers.curves import exact_curve, noisy_curve
from helpers.scope import size
from hypothesis import given
from hypothesis import strategies as st

from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PureDP
from ogive.statistics.curve import bands
from ogive.statistics.curve.approximating import simultaneous_band
from ogive.statistics.curve.bands import (
    one_sided_distances,
    simulate_maxima,
    upper_quantile,
)
from ogive.strategies import PathNoise, design_path, design_tree
from ogive.strategies.path import uniform_tree

SIMULATIONS = 1999


def draws(strategy, runs, *, total_known, seed=99):
    """Errors of the raw estimate in independent releases, shape (runs, N)."""
    source = KeyedSource.from_seed(seed)
    noise = tuple(level.law.sample(runs * level.nodes, source=source).reshape(runs, -1) for level in strategy.levels)
    return strategy.estimate(strategy.spread(noise), 0 if total_known else None)


def quantile(values, level):
    """The rank rule, written another way."""
    return sorted(values)[math.ceil(Fraction(level) * (len(values) + 1)) - 1]


@pytest.mark.parametrize(("root", "median", "upper"), [(True, 15.3, 20.2), (False, 15.0, 19.4)])
def test_largest_path_noise_has_the_printed_quantiles(root, median, upper):
    strategy = PathNoise(uniform_tree(1024, 2, root=root), DiscreteLaplace(10_000))
    maxima = simulate_maxima(strategy, total_known=False, simulations=3999).either / 10_000
    assert quantile(maxima, "1/2") == pytest.approx(median, abs=0.15)
    assert quantile(maxima, "19/20") == pytest.approx(upper, abs=0.35)


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """A folder for maxima, and a function that simulates them as a new process would; it returns how often it drew."""
    folder, drawn = tmp_path / "stored", []
    folder.mkdir()
    simulate = bands._simulate
    monkeypatch.setattr("ogive.core.machine_code.folders_of", lambda source: ([folder], folder))
    monkeypatch.setattr(bands, "_simulate", lambda *asked: drawn.append(asked) or simulate(*asked))

    def maxima(scale=50, simulations=SIMULATIONS, *, size=1024, total_known=False):
        bands._simulated.clear()
        strategy = PathNoise(uniform_tree(size, 2, root=True), DiscreteLaplace(scale))
        before = len(drawn)
        found = simulate_maxima(strategy, total_known=total_known, simulations=simulations)
        return np.stack([found.above, found.either, found.ratio, found.ratio_above]), len(drawn) - before

    yield folder, maxima
    bands._simulated.clear()


def test_maxima_are_simulated_once_for_all_processes(stored):
    folder, maxima = stored
    first, drawn = maxima()
    again, more = maxima()
    assert (drawn, more) == (1, 0)
    assert np.array_equal(first, again)
    assert len([*folder.iterdir()]) == 1
    others = [{"scale": 51}, {"simulations": SIMULATIONS + 1}, {"size": 1025}, {"total_known": True}]
    for other in others:
        assert maxima(**other)[1] == 1
    assert len([*folder.iterdir()]) == 1 + len(others)
    assert maxima(size=8)[1] == maxima(size=8)[1] == 1  # too small to be worth a file
    assert len([*folder.iterdir()]) == 1 + len(others)


def test_what_killed_writers_of_maxima_left_is_removed_when_it_is_old(stored):
    folder, maxima = stored
    halves = {name: folder / f".maxima-{'0' * 40}.{name}.half" for name in ("killed__", "writing_")}
    other = folder / ".else.killed__.half"
    for path in (*halves.values(), other):
        path.write_bytes(b"half")
    for path in (halves["killed__"], other):
        os.utime(path, (1, 1))
    maxima()
    assert not halves["killed__"].exists()
    assert halves["writing_"].exists()
    assert other.exists()


def test_maxima_of_another_estimate_or_law_are_others(stored, monkeypatch):
    _, maxima = stored
    first, _ = maxima()
    estimate, draw = PathNoise.estimate, bands.draw_public
    monkeypatch.setattr(PathNoise, "estimate", lambda self, *asked: 2 * estimate(self, *asked))
    other, drawn = maxima()
    assert drawn == 1
    assert other == pytest.approx(2 * first)
    monkeypatch.setattr(PathNoise, "estimate", estimate)
    monkeypatch.setattr(bands, "draw_public", lambda *asked, **options: 3 * draw(*asked, **options))
    assert maxima()[1] == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"", lambda data: data[:-1], lambda data: data + b"x", lambda data: bytes(len(data)),
        lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
    ],
    ids=["empty", "cut off", "longer", "zeros", "one bit"],
)  # fmt: skip
def test_a_damaged_file_of_maxima_is_not_read(stored, spoil):
    folder, maxima = stored
    first, _ = maxima()
    [path] = folder.iterdir()
    path.write_bytes(spoil(path.read_bytes()))
    again, drawn = maxima()
    assert drawn == 1
    assert np.array_equal(first, again)
    assert maxima()[1] == 0


def test_maxima_that_cannot_be_stored_are_simulated_each_time(stored):
    folder, maxima = stored
    first, _ = maxima()
    [path] = folder.iterdir()
    path.unlink()
    folder.rmdir()
    folder.write_bytes(b"")  # a file where the folder was
    again, drawn = maxima()
    assert drawn == 1
    assert np.array_equal(first, again)


def test_a_file_that_may_not_be_touched_is_read_all_the_same(stored, monkeypatch):
    _, maxima = stored
    first, _ = maxima()

    def refused(path):
        raise PermissionError(13, "not yours")

    monkeypatch.setattr(bands.os, "utime", refused)
    again, drawn = maxima()
    assert drawn == 0
    assert np.array_equal(first, again)


def test_a_package_without_sources_stores_nothing(stored, monkeypatch):
    folder, maxima = stored
    monkeypatch.setattr(bands, "_sources", lambda: (_ for _ in ()).throw(NotADirectoryError(20, "a zip file")))
    assert maxima()[1] == maxima()[1] == 1
    assert [*folder.iterdir()] == []


def test_maxima_that_were_used_longest_ago_are_removed(stored, monkeypatch):
    folder, maxima = stored
    monkeypatch.setattr(bands, "MOST_STORED", 2)
    for number, scale in enumerate((50, 51, 50, 52)):
        assert maxima(scale)[1] == (number != 2)
        for path in folder.iterdir():  # files of a moment ago count as of an hour ago
            moment = path.stat().st_mtime
            os.utime(path, (moment - 3600, moment - 3600))
    assert len([*folder.iterdir()]) == 2
    assert maxima(50)[1] == maxima(52)[1] == 0
    assert maxima(51)[1] == 1


def coverage(strategy, *, total, target, truth, runs=1500, records=2000, level=0.95):
    """Share of simulated studies whose band holds the curve of the target at all thresholds."""
    rng = np.random.default_rng(17)
    size = strategy.size
    grid = Grid.integers(1, size)
    errors = draws(strategy, runs, total_known=total)
    held = 0
    for error in errors:
        counts = np.cumsum(rng.multinomial(records, np.full(size, 1 / size)))
        band = simultaneous_band(
            grid,
            counts + error,
            strategy=strategy,
            total=records if total else None,
            confidence_level=level,
            target=target,
            simulations=SIMULATIONS,
        )
        wanted = counts / records if truth == "sample" else np.arange(1, size + 1) / size
        held += np.all((band.low <= wanted) & (wanted <= band.high))
    return held / runs


# 1500 runs: at a coverage of 0.95 the share that holds is below 0.93 with probability 4e-4
@pytest.mark.parametrize("total", [True, False])
def test_population_band_holds_the_population_curve_and_the_noise_band_does_not(total):
    adjacency = Adjacency.REPLACE if total else Adjacency.ADD_OR_REMOVE
    epsilon = 1 if total else 4  # small noise, so that forgetting the sampling error shows
    strategy = design_path(256, privacy=PureDP(epsilon), adjacency=adjacency, base=2, root=False)
    runs = size(1500, part=500)
    assert coverage(strategy, total=total, target="population", truth="population", runs=runs) >= 0.95
    assert coverage(strategy, total=total, target="sample", truth="population", runs=runs) < 0.93


@pytest.mark.parametrize("total", [True, False])
def test_sample_band_holds_the_sample_curve_at_its_level_and_not_more(total):
    adjacency = Adjacency.REPLACE if total else Adjacency.ADD_OR_REMOVE
    strategy = design_tree(64, privacy=PureDP(1), adjacency=adjacency)
    runs = size(1500, part=600)
    room = 0.04 * math.sqrt(1500 / runs)  # four standard errors
    share = coverage(strategy, total=total, target="sample", truth="sample", level=0.8, runs=runs)
    assert share >= 0.8 - room
    if total:
        assert share <= 0.8 + room  # exact, so not far above its level either
    assert (
        coverage(strategy, total=total, target="sample", truth="sample", level=0.5 if total else 0.1, runs=runs)
        < 0.8 - room
    )


def test_widths_of_the_printed_example():
    # N = 256, n = 2000, epsilon = 1: noise only 0.064, quantile of the sum of both maxima 0.087
    strategy = design_path(256, privacy=PureDP(1), adjacency=Adjacency.REPLACE, base=2, root=False)
    maxima = simulate_maxima(strategy, total_known=False, simulations=9999)
    assert quantile(maxima.either, "19/20") / 2000 == pytest.approx(0.064, abs=0.0015)
    distances = scipy.stats.kstwo.ppf(np.random.default_rng(0).random(999), 2000)
    both = quantile(np.resize(distances, 9999) + maxima.either / 2000, "19/20")
    assert both == pytest.approx(0.087, abs=0.002)
    ours = quantile(maxima.above / 2000 + one_sided_distances(2000, 9999), "39/40")
    assert 0.93 * both < ours < 0.98 * both


@pytest.mark.parametrize("total_known", [True, False])
def test_maxima_are_those_of_the_simulated_errors(total_known):
    strategy = design_tree(32, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    random = np.random.Generator(np.random.PCG64(bands._SEED))
    noise = tuple(draw_public(level.law, (50, level.nodes), random) for level in strategy.levels)
    errors = strategy.estimate(strategy.spread(noise), 0 if total_known else None)
    maxima = simulate_maxima(strategy, total_known=total_known, simulations=50)
    for r, error in enumerate(errors.tolist()):
        assert maxima.above[r] == max(0, *error)
        assert maxima.either[r] == max(abs(e) for e in error)
        assert maxima.ratio[r] == max(max(abs(e), abs(e - error[-1])) for e in error)
        assert maxima.ratio_above[r] == max(0, *(max(e, e - error[-1]) for e in error))


def test_margins_are_the_stated_quantiles():
    strategy = design_path(64, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    raw = np.full(64, 1000.0)  # half of 2000 records everywhere, so that nothing is clipped or tidied
    public = simulate_maxima(strategy, total_known=True, simulations=999)
    private = simulate_maxima(strategy, total_known=False, simulations=999)
    noise = math.floor(quantile(public.either, "9/10")) / 2000
    both = quantile(public.above / 2000 + one_sided_distances(2000, 999), "19/20")
    ratio = quantile(private.ratio, "9/10") / 2000
    most = math.ceil(2000 + max(private.ratio))
    together = private.ratio_above + most * one_sided_distances(most, 999)
    apart = quantile(together, 1 - (Fraction(1, 10) - Fraction(1, 1000)) / 2) / 2000
    assert apart < quantile(private.ratio, "19/20") / 2000 + math.sqrt(math.log(2 / 0.05) / (2 * 2000)), "not added up"
    raw[-1] = 2000
    for total, target, wanted in [
        (2000, "sample", noise),
        (2000, "population", both),
        (None, "sample", ratio),
        (None, "population", apart),
    ]:
        band = simultaneous_band(
            Grid.integers(1, 64),
            raw,
            strategy=strategy,
            total=total,
            confidence_level=0.9,
            target=target,
            simulations=999,
        )
        assert band.low[7] == pytest.approx(0.5 - wanted, abs=1e-12)
        assert band.high[7] == pytest.approx(0.5 + wanted, abs=1e-12)


def test_more_records_stray_by_more_of_them_so_that_the_most_that_noise_leaves_are_safe():
    """The margin of a private total counts the largest number of records: the exact law in records rises with it."""
    far = np.linspace(0.1, 20, 400)
    chances = [scipy.special.smirnov(n, np.minimum(far / n, 1.0)) for n in range(1, 258)]
    assert np.all(np.diff(chances, axis=0) >= -1e-12)
    assert chances[100][50] > chances[10][50] + 0.01, "control: it is not the same law"


@pytest.mark.parametrize("records", [1, 2, 10, 100, 256, 257, 5000])
def test_drawn_distances_lie_above_the_true_law(records):
    drawn = one_sided_distances(records, 40_000)
    for p in (0.1, 0.3, 0.5, 0.8, 0.95, 0.99):
        exact = scipy.stats.ksone.ppf(p, records)
        # 40 000 draws: a share is off by more than 4 sqrt(p (1 - p) / 40000) with probability 6e-5
        assert np.mean(drawn <= exact) <= p + 4 * math.sqrt(p * (1 - p) / 40_000)
    assert np.quantile(drawn, 0.95) <= 1.04 * scipy.stats.ksone.ppf(0.95, records) + 1 / 1024


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8),
    st.lists(st.floats(-20, 20), min_size=8, max_size=8),
)
def test_ratio_of_noisy_counts_strays_no_further_than_the_largest_difference(counts, noise):
    true = np.cumsum([1, *counts])
    error = np.resize(noise, len(true))
    raw = true + error
    share = true / true[-1]
    largest = np.max(np.maximum(np.abs(error), np.abs(error - error[-1])))
    assert np.all(np.abs(raw - share * raw[-1]) <= largest + 1e-9)


def test_ratio_band_is_narrower_than_bounding_both_counts():
    curve = noisy_curve(np.random.default_rng(0).uniform(0, 100, 1500), Grid.linear(0, 100, bins=128), total=False)
    margin = quantile(simulate_maxima(curve.strategy, total_known=False, simulations=9999).either, "19/20")
    low = np.maximum(np.maximum.accumulate(curve.raw) - margin, 0) / (curve.raw[-1] + margin)
    high = np.minimum((np.minimum.accumulate(curve.raw[::-1])[::-1] + margin) / (curve.raw[-1] - margin), 1)
    band = curve.band(target="sample")
    assert np.mean(band.high - band.low) < 0.9 * np.mean(high - low)


@given(st.integers(19, 400), st.sampled_from(["0.05", "0.1", "1/3", "0.5"]))
def test_rank_rule_takes_the_smallest_rank_that_is_safe(size, tail):
    tail = Fraction(tail)
    values = np.random.default_rng(0).permutation(np.arange(1.0, size + 1))
    rank = upper_quantile(values, tail)
    # of size + 1 exchangeable draws, one exceeds the rank-th smallest of the others with chance 1 - rank / (size + 1)
    assert 1 - Fraction(int(rank), size + 1) <= tail < 1 - Fraction(int(rank) - 1, size + 1)


@pytest.mark.parametrize(("size", "tail"), [(299, "0.05"), (999, "0.1"), (999, "0.025")])
def test_the_achieved_tail_is_right_on_average_and_strays_as_stated(size, tail):
    wanted, runs = float(tail), 4000
    uniform = np.random.default_rng(size).random((runs, size))
    achieved = np.array([1 - upper_quantile(row, Fraction(tail)) for row in uniform])
    deviation = math.sqrt(wanted * (1 - wanted) / size)
    assert achieved.std() == pytest.approx(deviation, rel=0.05)
    assert achieved.mean() <= wanted + 5 * deviation / math.sqrt(runs)
    # so that it holds for every single simulation cannot be said
    assert 0.2 < np.mean(achieved > wanted) < 0.6


def test_too_few_simulations_are_refused():
    with pytest.raises(ParameterError, match="use at least 99"):
        upper_quantile(np.zeros(50), Fraction(1, 100))
    curve = noisy_curve([1.0, 2.0], Grid.integers(0, 8))
    with pytest.raises(ParameterError, match="too few"):
        curve.band(0.999, simulations=100)
    with pytest.raises(ParameterError, match="simulations must be a whole number of at least 1"):
        curve.band(simulations=0)


def test_very_high_confidence_gets_the_simulations_it_needs(monkeypatch):
    monkeypatch.setattr(bands, "MOST_SIMULATIONS", 99)
    monkeypatch.setattr(bands, "FEWEST_SIMULATIONS", 99)
    curve = noisy_curve([1.0, 2.0], Grid.integers(0, 4))
    assert curve.band(0.999).half_width >= curve.band(0.9).half_width


def test_simulations_fall_with_the_number_of_nodes():
    assert bands.default_simulations(design_path(64, privacy=PureDP(1), adjacency=Adjacency.REPLACE)) == 9999
    many = PathNoise(uniform_tree(1 << 20, 2), DiscreteLaplace(3))
    assert bands.default_simulations(many) == 299
    some = PathNoise(uniform_tree(1 << 13, 2), DiscreteLaplace(3))
    assert 299 < bands.default_simulations(some) < 9999


def test_two_bands_cost_one_simulation():
    calls = []
    strategy = PathNoise(uniform_tree(128, 2), DiscreteLaplace(7))
    first = simulate_maxima(strategy, total_known=True, simulations=99, progress=lambda *seen: calls.append(seen))
    assert calls == [(99, 99)]
    again = PathNoise(uniform_tree(128, 2), DiscreteLaplace(7))
    second = simulate_maxima(again, total_known=True, simulations=99, progress=lambda *seen: calls.append(seen))
    assert second is first
    assert len(calls) == 1


def test_batches_report_progress_and_keep_the_draws_apart(monkeypatch):
    strategy = PathNoise(uniform_tree(16, 2), DiscreteLaplace(7))
    monkeypatch.setattr(bands, "_BATCH_VALUES", 10 * sum(level.nodes for level in strategy.levels))
    seen = []
    maxima = simulate_maxima(strategy, total_known=False, simulations=25, progress=lambda *x: seen.append(x))
    assert seen == [(10, 25), (20, 25), (25, 25)]
    assert len(set(maxima.either.tolist())) > 12


def test_kept_simulations_stay_few():
    for scale in range(1, 40):
        simulate_maxima(PathNoise(uniform_tree(2, 2), DiscreteLaplace(scale)), total_known=False, simulations=3)
    assert len(bands._simulated) <= bands._KEPT


def test_bands_are_reproducible_and_ordered():
    curve = noisy_curve(np.arange(4000.0) % 100, Grid.integers(0, 99))
    narrow, wide = curve.band(0.5), curve.band(0.99)
    assert np.array_equal(curve.band(0.5).low, narrow.low)
    assert np.all(wide.low <= narrow.low)
    assert np.all(narrow.high <= wide.high)
    assert narrow.half_width < wide.half_width
    assert curve.band(0.5, target="sample").half_width < narrow.half_width
    assert narrow.low[-1] == narrow.high[-1] == 1


def test_band_is_read_between_thresholds_by_monotonicity():
    band = noisy_curve(np.arange(400) % 8, Grid.linear(0, 8, bins=8), epsilon=5).band()
    low, high = band([-1, 0.5, 3, 3.5, 7.5, 8, 9])
    assert low.tolist() == [0, 0, band.low[2], band.low[2], band.low[6], 1, 1]
    assert high.tolist() == [band.high[0], band.high[0], band.high[2], band.high[3], 1, 1, 1]
    assert band(3) == (band.low[2], band.high[2])
    assert "95" in str(band)


def test_a_band_that_would_cross_itself_is_left_as_it_is():
    strategy = PathNoise(uniform_tree(4, 2), DiscreteLaplace(1))
    raw = np.array([0.0, 900, 100, 1000])
    for target in ("sample", "population"):
        band = simultaneous_band(
            Grid.integers(1, 4), raw, strategy=strategy, total=1000, confidence_level=0.9, target=target
        )
        assert np.all(band.low <= band.high)
        assert band.low[1] > band.high[2]


def test_exact_counts_have_the_kolmogorov_band():
    values = np.random.default_rng(1).integers(0, 50, size=300).astype(float)
    for total in (True, False):
        curve = exact_curve(values, Grid.integers(0, 49), total=total)
        sample = curve.band(target="sample")
        assert np.array_equal(sample.low, curve.probabilities)
        assert np.array_equal(sample.high, curve.probabilities)
        distance = scipy.stats.kstwo.ppf(0.95, 300)
        inner = (curve.probabilities > 0.2) & (curve.probabilities < 0.8)
        assert np.allclose((curve.band().high - curve.probabilities)[inner], distance)


@pytest.mark.parametrize("target", ["population", "sample"])
@pytest.mark.parametrize("epsilon", [1, 1000], ids=["noisy", "nearly exact"])
@pytest.mark.parametrize("records", [1e-300, 5e-324, 0.0, -4.0, 1e-9])
def test_a_private_number_of_records_that_is_none_makes_a_band_of_everything(records, epsilon, target):
    strategy = design_tree(8, privacy=PureDP(epsilon), adjacency=Adjacency.ADD_OR_REMOVE)
    raw = np.array([1e10, 3.0, -2.0, 1e-300, 0.0, 7.0, 1.0, records])
    band = simultaneous_band(
        Grid.integers(1, 8), raw, strategy=strategy, total=None, confidence_level=0.9, target=target, simulations=199
    )
    assert band.low.tolist() == [0.0] * 7 + [1.0]
    assert band.high.tolist() == [1.0] * 8


def test_records_below_their_own_margin_claim_nothing_and_above_it_something():
    strategy = design_tree(8, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    margin = upper_quantile(simulate_maxima(strategy, total_known=False, simulations=199).ratio, Fraction(1, 10))
    for factor, claims in ((0.99, False), (4.0, True)):
        raw = np.linspace(0.6, 1, 8) * factor * margin
        band = simultaneous_band(
            Grid.integers(1, 8),
            raw,
            strategy=strategy,
            total=None,
            confidence_level=0.9,
            target="sample",
            simulations=199,
        )
        assert bool(np.any(band.low[:-1] > 0)) == claims


def test_levels_that_no_simulation_reaches_are_refused_at_once_and_the_highest_one_is_served():
    curve = noisy_curve([1.0, 2.0], Grid.integers(0, 4))
    for ask in (curve.band, lambda level: curve.quantile_interval(0.5, level)):
        for level in (0.99999, 0.99999999, 1.0, 0.0):
            with pytest.raises(ParameterError, match=r"confidence_level must be above 0 and at most 0\.9999"):
                ask(level)
    assert curve.band(0.9999).half_width >= curve.band(0.99).half_width
    large = design_path(1 << 20, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(
        ParameterError, match=r"confidence_level must be at most 0\.99\d* on this many thresholds, got 0\.9999"
    ):
        bands.simulations_for(large, Fraction("0.9999"))
    # as many as the usual levels need, and what the message allows is allowed
    assert bands.simulations_for(large, Fraction("0.99")) == 299
    assert bands.simulations_for(large, Fraction("0.9933")) == 299
    assert bands.simulations_for(curve.strategy, Fraction("0.9999")) == 20_000
