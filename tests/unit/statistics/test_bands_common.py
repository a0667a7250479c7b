"""Bands of approximating strategies hold the truth whatever the data, where noise around the estimate does not."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from helpers.coverage import fewest as fewest_hits
from helpers.scope import size as runs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP
from ogive.statistics.curve import approximating as bands_common
from ogive.statistics.curve.approximating import (
    Feasible,
    common_ends,
    common_measurements,
    fewest_records,
    mass_ends,
    most_mass,
    prefixes,
)
from ogive.statistics.curve.estimate import Curve
from ogive.strategies import OpenedThresholds, design_histogram, design_projection
from ogive.strategies.composed import SummedApproximations
from tests.helpers.curves import noisy_curve

SIZE, RECORDS = 32, 1000
REPLACE, ADD_OR_REMOVE = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
NORMAL = np.diff([0.5 * (1 + np.tanh(1.7 * t)) for t in np.linspace(-3, 3, SIZE + 1)])
NORMAL /= NORMAL.sum()
SPIKES = np.zeros(SIZE)
SPIKES[[2, 11, 12, 20, 27]] = 0.1, 0.3, 0.2, 0.25, 0.15


def projection(adjacency=REPLACE, degree=8, size=SIZE, epsilon=1, records=RECORDS):
    grant = ApproxDP(epsilon, 1e-6)
    return design_projection(
        size, privacy=grant, adjacency=adjacency, degree=degree, records=records, noise="isotropic"
    )


def histogram(adjacency=REPLACE, groups=12):
    return design_histogram(SIZE, privacy=ApproxDP(1, 1e-6), adjacency=adjacency, groups=groups)


def released(strategy, counts, rng):
    """Measurements with noise of the right variance."""
    noise = tuple(
        np.rint(rng.normal(scale=level.law.variance**0.5, size=level.nodes)).astype(np.int64)
        for level in strategy.levels
    )
    return strategy.measure(counts) + strategy.spread(noise)


def covered(strategy, shares, *, adjacency, target, level, releases=200, held_target=None):
    """How many of many releases have a band that holds the curve of their sample, or of their population."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(releases):
        counts = rng.multinomial(RECORDS, shares)
        total = RECORDS if adjacency is REPLACE else None
        answer = released(strategy, counts, rng)
        low, high = common_ends(
            strategy.estimate(answer, total),
            answer,
            strategy=strategy,
            total=total,
            tail=1 - Fraction(level),
            target=target,
            simulations=999,
        )
        truth = np.cumsum(shares) if (held_target or target) == "population" else np.cumsum(counts) / RECORDS
        held += bool(np.all(low <= truth + 1e-12) and np.all(truth <= high + 1e-12))
    return held


@pytest.fixture
def few_programs(monkeypatch):
    """Programs at a few thresholds; the other thresholds are bounded by the same multipliers."""
    monkeypatch.setattr(bands_common, "PROGRAMS", 4)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("few_programs")
@pytest.mark.parametrize(
    ("shares", "adjacency", "target"),
    [
        (NORMAL, REPLACE, "sample"),
        (SPIKES, REPLACE, "population"),
        (SPIKES, ADD_OR_REMOVE, "sample"),
        (NORMAL, ADD_OR_REMOVE, "population"),
    ],
    ids=["normal", "spikes, population", "spikes, private total", "normal, population, private total"],
)
def test_projection_bands_hold_the_truth(shares, adjacency, target):
    # wanted 160 of 200; fewer than 143 has probability below 0.002 at exactly that level, as fewer than 10 of 20
    releases = runs_of(200, part=20)
    options = {"adjacency": adjacency, "target": target, "level": "0.8", "releases": releases}
    assert covered(projection(adjacency), shares, **options) >= fewest_hits(releases, 0.8, chance=0.002)


def test_noise_around_a_projection_does_not_hold_spikes():
    """The control: the band that other strategies have would be wrong."""
    found = covered(projection(), SPIKES, adjacency=REPLACE, target="approximation", level="0.95", held_target="sample")
    assert found == 0


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_a_projection_that_sees_everything_needs_its_noise(adjacency, monkeypatch):
    """With as many functions as bins there is no bias to hide behind: too small a radius must show."""
    strategy = design_projection(
        5, privacy=ApproxDP(1, 1e-6), adjacency=adjacency, degree=4, records=RECORDS, noise="isotropic"
    )
    shares = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    releases = runs_of(60, part=10)
    options = {"adjacency": adjacency, "target": "sample", "level": "0.9", "releases": releases}
    wanted = fewest_hits(releases, 0.9, chance=0.004)  # 47 of 60, 6 of 10
    assert covered(strategy, shares, **options) >= wanted
    true = bands_common.upper_quantile
    monkeypatch.setattr(bands_common, "upper_quantile", lambda values, tail: 0.2 * true(values, tail))
    assert covered(strategy, shares, **options) < wanted


@pytest.mark.each_value
@pytest.mark.parametrize("shares", [NORMAL, SPIKES], ids=["normal", "spikes"])
@pytest.mark.parametrize("target", ["sample", "population"])
@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_histogram_bands_hold_the_truth(shares, adjacency, target):
    found = covered(histogram(adjacency), shares, adjacency=adjacency, target=target, level="0.8")
    assert found >= 143


def test_histogram_bands_are_exact_at_their_edges():
    """With public numbers of records the level for the sample is met, not exceeded, where groups are single bins."""
    strategy = histogram(groups=SIZE)
    found = covered(strategy, np.full(SIZE, 1 / SIZE), adjacency=REPLACE, target="sample", level="0.5", releases=400)
    assert 160 <= found <= 245  # 4 standard deviations, and whole counts round outwards


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_opened_thresholds_hold_the_truth_and_noise_alone_does_not(adjacency):
    points = (15, 7, 23, 11) + ((SIZE - 1,) if adjacency is ADD_OR_REMOVE else ())
    strategy = OpenedThresholds(SIZE, points, histogram().law, histogram().bits)
    options = {"adjacency": adjacency, "level": "0.8"}
    assert covered(strategy, SPIKES, target="sample", **options) >= 143
    assert covered(strategy, SPIKES, target="approximation", held_target="sample", **options) == 0


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_the_band_for_the_approximation_holds_what_there_is_without_noise(adjacency):
    strategy, rng, held = projection(adjacency), np.random.default_rng(2), 0
    counts = rng.multinomial(RECORDS, SPIKES)
    total = RECORDS if adjacency is REPLACE else None
    bare = np.clip(strategy.estimate(strategy.measure(counts), total) / RECORDS, 0, 1)
    for _ in range(300):
        answer = released(strategy, counts, rng)
        low, high = common_ends(
            strategy.estimate(answer, total),
            None,
            strategy=strategy,
            total=total,
            tail=Fraction(1, 2),
            target="approximation",
            simulations=999,
        )
        held += bool(np.all(low <= bare + 1e-9) and np.all(bare <= high + 1e-9))
    assert held >= 115  # 150 wanted; 4 standard deviations
    if adjacency is REPLACE:
        assert held <= 185


# The programs


@st.composite
def feasible_sets(draw):
    """Random measurements of a random histogram, and that histogram."""
    size, rows = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    counts = rng.multinomial(draw(st.integers(1, 60)), rng.dirichlet(np.full(size, 0.5)))
    features = rng.uniform(-1, 1, (rows, size))
    if draw(st.booleans()):
        features[0] = 1.0
    radius = rng.uniform(0.01, 2, rows)
    answer = features @ counts + radius * rng.uniform(-1, 1, rows)
    known = draw(st.booleans())
    ends = (1 / counts.sum(),) * 2 if known else (0.0, 1.0)
    return Feasible(features, answer, radius, np.zeros(rows), ends), counts


def oracle(feasible, threshold, sign):
    """The largest or smallest share up to a threshold, by an interior point method on all bins."""
    rows, size = feasible.features.shape
    upper = np.column_stack((feasible.features, -(feasible.answer + feasible.radius)))
    lower = np.column_stack((-feasible.features, feasible.answer - feasible.radius))
    solved = linprog(
        -sign * np.append(np.arange(size) <= threshold, 0.0),
        A_ub=np.vstack((upper, lower)),
        b_ub=np.zeros(2 * rows),
        A_eq=[[1.0] * size + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [feasible.ends],
        method="highs-ipm",
    )
    return -sign * solved.fun


@settings(deadline=None, max_examples=runs_of(40, part=15))
@given(feasible_sets())
def test_ends_hold_the_histogram_and_are_the_optimum(drawn):
    feasible, counts = drawn
    size = len(counts)
    low, high = mass_ends(feasible, np.arange(size))
    truth = np.cumsum(counts) / counts.sum()
    assert np.all(low <= truth + 1e-9)
    assert np.all(truth <= high + 1e-9)
    assert fewest_records(feasible) <= counts.sum() + 1e-6
    for threshold in range(size - 1):
        assert high[threshold] == pytest.approx(oracle(feasible, threshold, 1), abs=1e-5)
        assert low[threshold] == pytest.approx(oracle(feasible, threshold, -1), abs=1e-5)


@settings(deadline=None)
@given(feasible_sets(), st.integers(0, 1 << 30))
def test_any_multipliers_make_a_valid_end(drawn, seed):
    """The proof does not need the solver: also bad multipliers bound the histogram."""
    feasible, counts = drawn
    chosen = np.random.default_rng(seed).exponential(0.3, (2, len(feasible.answer)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Feasible, "multipliers", lambda *_, **__: chosen)
        high = most_mass(feasible, np.arange(len(counts)))
        fewest = fewest_records(feasible)
    assert np.all(np.cumsum(counts) / counts.sum() <= high + 1e-9)
    assert fewest <= counts.sum() + 1e-9


def test_solving_on_some_bins_costs_little(monkeypatch):
    strategy, rng = projection(size=512, degree=12), np.random.default_rng(0)
    counts = np.bincount(np.clip(rng.normal(256, 60, RECORDS), 0, 511).astype(int), minlength=512)
    known = common_measurements(strategy, released(strategy, counts, rng), simulations=99)
    radius = 3 * known.noise.std(axis=0)
    feasible = Feasible(known.features, known.answer, radius, known.slack, (1 / RECORDS,) * 2)
    chosen = np.array([60, 200, 256, 300])
    some = most_mass(feasible, chosen)
    monkeypatch.setattr(bands_common, "_BINS", 512)
    every = most_mass(feasible, chosen)
    assert np.all(some[chosen] >= every[chosen] - 1e-9)
    assert some[chosen] == pytest.approx(every[chosen], abs=0.01)


# What is measured


def test_counts_at_thresholds_and_of_groups_are_recognized():
    points, weights = prefixes(np.array([[1.0, 1, 1, 0], [1, 0, 0, 0]]))
    assert points.tolist() == [0, 2]
    assert weights.tolist() == [[0, 1], [1, 0]]
    groups = np.array([[0.0, 0, 1, 1], [1, 1, 0, 0]])
    points, weights = prefixes(groups)
    assert points.tolist() == [1, 3]
    assert (weights @ groups).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    for other in ([[1.0, 0, 1]], [[0.0, 1, 1]], [[0.5, 0, 0]], [[1.0, 1, 0], [0, 1, 1]], [[0.0, 0, 0]]):
        assert prefixes(np.array(other)) is None


def test_measurements_of_batches_with_other_numbers_of_bits_add_up():
    fine, rough = projection(epsilon=4), dataclasses.replace(projection(epsilon=4), bits=10)
    together = SummedApproximations((rough, fine, fine))
    rng = np.random.default_rng(1)
    counts = [rng.multinomial(RECORDS, SPIKES) for _ in range(3)]
    answer = together.added([part.measure(x) for part, x in zip(together.parts, counts, strict=True)])
    known = common_measurements(together, answer, simulations=99)
    whole = sum(counts)
    apart = np.abs(known.answer - known.features @ whole)
    assert apart.max() > 0
    assert np.all(apart <= known.slack * whole.sum())
    low, high = common_ends(
        together.estimate(answer, 3 * RECORDS),
        answer,
        strategy=together,
        total=3 * RECORDS,
        tail=Fraction(1, 10),
        target="sample",
        simulations=99,
    )
    truth = np.cumsum(whole) / whole.sum()
    assert np.all((low <= truth + 1e-12) & (truth <= high + 1e-12))


# Curves


def curve_of(strategy, shares=SPIKES, total=RECORDS, seed=4):
    rng = np.random.default_rng(seed)
    answer = released(strategy, rng.multinomial(RECORDS, shares), rng)
    raw = strategy.estimate(answer, total)
    adjacency = REPLACE if total is not None else ADD_OR_REMOVE
    smooth = np.clip(np.maximum.accumulate(raw), 0, None)
    return Curve(
        Grid.linear(0, 1, bins=SIZE), smooth, raw, strategy, adjacency, total, "isotonic", "x", measured=answer
    )


def test_a_stored_curve_has_the_same_band():
    curve = curve_of(histogram())
    band, again = curve.band(), Curve.from_json(curve.to_json()).band()
    assert np.array_equal(band.low, again.low)
    assert np.array_equal(band.high, again.high)
    assert curve.band() is band
    assert band.half_width > curve.band(target="sample").half_width > curve.band(target="approximation").half_width


def test_refuses_bands_without_measurements_and_of_approximations_that_are_none():
    bare = dataclasses.replace(curve_of(histogram()), measured=None)
    with pytest.raises(ParameterError, match="without its measurements"):
        bare.band()
    assert bare.band(target="approximation").target == "approximation"
    with pytest.raises(ParameterError, match="holds 3"):
        dataclasses.replace(bare, measured=np.array([1, 2, 3])).band()
    with pytest.raises(ParameterError, match="use sample"):
        noisy_curve([0.5], Grid.linear(0, 1, bins=4)).band(target="approximation")


def test_measurements_that_no_records_have_widen_the_band():
    strategy = projection()
    odd = strategy.measure(np.full(SIZE, 10)) * np.array([-3, 5, -2, 1, 7, -1, 2, 2, 2])
    raw = strategy.estimate(odd, 320)
    low, high = common_ends(
        raw, odd, strategy=strategy, total=320, tail=Fraction(1, 10), target="sample", simulations=99
    )
    assert np.all(low <= high)
    assert np.mean(high - low) > 0.5


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_the_population_is_as_far_as_a_sample_strays(adjacency):
    strategy, rng = projection(adjacency, records=10**5), np.random.default_rng(6)
    counts = rng.multinomial(10**5, NORMAL)
    total = 10**5 if adjacency is REPLACE else None
    answer = released(strategy, counts, rng)
    sample, population = (
        common_ends(
            strategy.estimate(answer, total),
            answer,
            strategy=strategy,
            total=total,
            tail=tail,
            target=target,
            simulations=999,
        )[0]
        for target, tail in (("sample", Fraction(1, 20)), ("population", Fraction(1, 10)))
    )
    inside = (population > 0) & (sample < 1)
    apart = (sample - population)[inside]
    if adjacency is REPLACE:
        expected = scipy.stats.kstwo.ppf(0.95, 10**5)
    else:
        expected = np.sqrt(np.log(2 / 0.05) / (2 * 10**5))  # for a few records fewer than there are
    assert apart == pytest.approx(expected, rel=2e-3)
    assert np.all(apart >= expected - 1e-12)


def test_no_records_say_nothing():
    for strategy, total in ((projection(), 0), (projection(ADD_OR_REMOVE), None), (histogram(ADD_OR_REMOVE), None)):
        nothing = strategy.measure(np.zeros(SIZE, dtype=np.int64))
        low, high = common_ends(
            strategy.estimate(nothing, total),
            nothing,
            strategy=strategy,
            total=total,
            tail=Fraction(1, 20),
            target="population",
            simulations=199,
        )
        assert np.all(low[:-1] == 0)
        assert np.all(high == 1)
