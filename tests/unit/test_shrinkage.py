"""Shrinkage knows its noise, keeps what is real, and is never far worse than isotonic regression."""

from functools import cache

import numpy as np
import pytest
from helpers.smoothing import DESIGNS, designed, matrices, noisy_answer
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive.privacy import Adjacency, PureDP
from ogive.strategies import Strategy, design_hats, design_path, design_tree
from ogive.strategies.shrinkage import NEIGHBORS, _outstanding, decompose, depth, noise_energy, recompose, shrink
from ogive.strategies.smoothing import smooth

NOTABLY_WORSE = 1.08
"""Ratio of errors; 12 runs of the worst shapes reach 1.05, and what shrinks without isotonic regression 1.2."""


@cache
def raw_energy(strategy: Strategy, known: int | None):
    nodes = [level.nodes for level in strategy.levels]
    variances = [level.law.variance for level in strategy.levels]
    return noise_energy(lambda noise: strategy.estimate(strategy.spread(noise), known), nodes, variances, strategy.size)


def shapes(size: int, records: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    places = rng.integers(0, size, size // 30)
    weights = rng.pareto(1, places.size)
    bins = {
        "uniform": rng.integers(0, size, records),
        "lognormal": size * rng.lognormal(-2.5, 0.8, records),
        "narrow": size * rng.normal(0.41, 0.003, records),
        "one": np.full(records, size // 3),
        "first": np.zeros(records),
        "last": np.full(records, size - 1),
        "two": np.where(rng.random(records) < 0.5, size // 5, 4 * size // 5),
        "half_empty": rng.integers(0, size // 2, records),
        "steps": size * (rng.choice(5, records, p=[0.05, 0.5, 0.05, 0.3, 0.1]) + rng.random(records)) / 5,
        "comb": rng.integers(0, size // 10, records) * 10,
        "spikes": places[rng.integers(0, places.size, records)],
        "unequal_spikes": rng.choice(places, records, p=weights / weights.sum()),
        "spikes_on_uniform": np.where(
            rng.random(records) < 0.9, places[rng.integers(0, 6, records)], rng.integers(0, size, records)
        ),
        "heavy_tail": size * 0.01 * rng.pareto(1.2, records),
        "edges": size * rng.beta(0.3, 0.3, records),
    }
    return {
        name: np.bincount(np.clip(values, 0, size - 1).astype(int), minlength=size).astype(np.int64)
        for name, values in bins.items()
    }


@given(seed=st.integers(0, 2**32), quotient=st.integers(1, 40), levels=st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_the_transform_keeps_energy_and_can_be_inverted(seed, quotient, levels):
    signal = np.random.default_rng(seed).normal(size=quotient << levels)
    coefficients = decompose(signal, levels)
    assert np.linalg.norm(coefficients) == pytest.approx(np.linalg.norm(signal), rel=1e-10)
    np.testing.assert_allclose(recompose(coefficients, levels), signal, atol=1e-10)


def test_cubic_polynomials_have_no_details_away_from_the_ends():
    x = np.linspace(-1, 1, 256)
    cubic, quartic = decompose(1 + x - 3 * x**2 + x**3, 3), decompose(x**4, 3)
    for scale in (1, 2, 3):
        details = slice(256 >> scale, (256 >> (scale - 1)) - 8)
        np.testing.assert_allclose(cubic[details], 0, atol=1e-10)
        assert np.abs(quartic[details]).min() > 1e-9  # the control


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", DESIGNS)
def test_noise_energy_is_that_of_the_exact_covariance(name, adjacency):
    size = 64
    strategy = designed(name, size, adjacency)
    known = 0 if adjacency is Adjacency.REPLACE else None
    _, spread, variances = matrices(strategy)
    unit = 2.0**20  # answers are whole numbers
    decoder = np.column_stack([strategy.estimate(np.rint(c * unit).astype(np.int64), known) / unit for c in spread.T])
    covariance = decoder @ np.diag(variances) @ decoder.T
    ramp = np.eye(size) - np.outer(np.arange(1, size + 1) / size, np.eye(size)[-1])
    found = raw_energy(strategy, known)
    transform = np.column_stack([decompose(column, depth(size)) for column in ramp.T])
    exact = np.diag(transform @ covariance @ transform.T)
    for scale, energy in enumerate(found.details):
        # 64 rounds of 8 details have a standard error of 6 % if they were independent; 4 of them are allowed
        assert energy == pytest.approx(exact[size >> (scale + 1) : size >> scale].mean(), rel=0.25)
    difference = np.eye(size) - np.eye(size, k=-1)
    assert found.increments == pytest.approx(np.diag(difference @ covariance @ difference.T).mean(), rel=0.1)


def test_curves_too_short_to_show_noise_are_left_to_isotonic_regression():
    rng = np.random.default_rng(31)
    for size in (1, 2, 3, 8, 15):
        strategy = design_hats(size, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
        answer = noisy_answer(strategy, rng.poisson(5, size), rng)
        curves = [smooth(strategy, answer, total=5 * size, kind=kind) for kind in ("shrinkage", "isotonic")]
        np.testing.assert_array_equal(*curves)


def test_a_straight_line_is_kept_and_noise_around_it_is_taken_out():
    rng = np.random.default_rng(32)
    strategy = design_tree(2048, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    counts = np.full(2048, 3)
    truth = np.cumsum(counts)
    total = int(truth[-1])
    np.testing.assert_allclose(smooth(strategy, strategy.measure(counts), total=total, kind="shrinkage"), truth)
    answer = noisy_answer(strategy, counts, rng)
    ours, isotonic = (
        np.std(np.diff(smooth(strategy, answer, total=total, kind=kind))) for kind in ("shrinkage", "isotonic")
    )
    assert ours < 0.5 * isotonic


@pytest.mark.parametrize("design", [design_path, design_tree, design_hats])
def test_a_true_spike_survives_and_noise_makes_none(design):
    rng = np.random.default_rng(33)
    size = 2048
    strategy = design(size, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    counts = np.full(size, 2)
    counts[777] += 3000
    largest = []
    for _ in range(10):
        curve = smooth(strategy, noisy_answer(strategy, counts, rng), total=int(counts.sum()), kind="shrinkage")
        bins = np.diff(curve, prepend=0.0)
        assert bins[777] > 2700
        largest.append(np.delete(bins, 777).max())
    noise = np.sqrt(raw_energy(strategy, 0).increments)
    assert np.median(largest) < 4 * noise  # of 2048 Laplace values the largest is about 5.4 deviations


@given(seed=st.integers(0, 2**32), size=st.integers(1, 700), rate=st.floats(0, 5), public=st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_curve_is_valid(seed, size, rate, public):
    rng = np.random.default_rng(seed)
    design = (design_hats, design_tree, design_path)[seed % 3]
    adjacency = Adjacency.REPLACE if public else Adjacency.ADD_OR_REMOVE
    strategy = design(size, privacy=PureDP("1/2"), adjacency=adjacency)
    counts = rng.poisson(rate * rng.pareto(1, size).clip(0, 1000))
    total = int(counts.sum()) if public else None
    answer = noisy_answer(strategy, counts, rng)
    curve = smooth(strategy, answer, total=total, kind="shrinkage")
    assert (np.diff(curve) >= 0).all()
    assert curve[0] >= 0
    assert np.isfinite(curve).all()
    assert total is None or curve[-1] == total
    np.testing.assert_array_equal(curve, smooth(strategy, answer, total=total, kind="shrinkage"))


def test_all_points_of_path_noise_are_smoothed_as_the_whole_curve():
    rng = np.random.default_rng(34)
    strategy = design_path(300, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    counts = rng.poisson(2, 300)
    answer = noisy_answer(strategy, counts, rng)
    whole = smooth(strategy, answer, total=int(counts.sum()), kind="shrinkage")
    opened = smooth(strategy, answer, total=int(counts.sum()), kind="shrinkage", points=np.arange(300))
    np.testing.assert_array_equal(whole, opened)


def errors(strategy: Strategy, counts: np.ndarray, total: int | None, noises: list) -> tuple[float, float, float]:
    """RMSE of shrinkage, of isotonic regression, and of shrinkage that takes no account of it."""
    truth, measured = np.cumsum(counts), strategy.measure(counts)
    energy = raw_energy(strategy, None if total is None else 0)
    squares = []
    for noise in noises:
        raw = strategy.estimate(measured + noise, total)
        curves = [smooth(strategy, measured + noise, total=total, kind=kind) for kind in ("shrinkage", "isotonic")]
        curves.append(np.clip(np.maximum.accumulate(shrink(raw, raw, energy)), 0, total))
        squares.append([np.mean((curve - truth) ** 2) for curve in curves])
    return tuple(np.sqrt(np.mean(squares, axis=0)))


@pytest.mark.each_value
@pytest.mark.parametrize("records", [100, 10**4, pytest.param(10**6, marks=[pytest.mark.slow, pytest.mark.everything])])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_shrinkage_is_never_notably_worse_than_isotonic_regression(adjacency, records):
    rng = np.random.default_rng(35)
    ratios, careless = {}, {}
    for name in ("path", "tree", "hats"):
        strategy = designed(name, 1024, adjacency)
        noises = [noisy_answer(strategy, np.zeros(1024, np.int64), rng) for _ in range(12)]
        for shape, counts in shapes(1024, records, rng).items():
            total = records if adjacency is Adjacency.REPLACE else None
            ours, isotonic, without = errors(strategy, counts, total, noises)
            ratios[name, shape], careless[name, shape] = ours / isotonic, without / isotonic
    assert max(ratios.values()) < NOTABLY_WORSE, max(ratios, key=ratios.get)
    if records == 100:  # the control
        assert max(careless.values()) > NOTABLY_WORSE


@pytest.mark.parametrize(
    ("shape", "most"), [("uniform", 0.88), ("lognormal", 0.95), ("steps", 0.96), ("spikes_on_uniform", 0.93)]
)
def test_shrinkage_is_clearly_better_where_bins_hold_few_records(shape, most):
    rng = np.random.default_rng(36)
    strategy = design_hats(2**13, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    noises = [noisy_answer(strategy, np.zeros(2**13, np.int64), rng) for _ in range(20)]
    ours, isotonic, _ = errors(strategy, shapes(2**13, 25_000, rng)[shape], 25_000, noises)
    assert ours < most * isotonic


def test_it_is_what_methods_that_are_named_take():
    curve = ogive.ecdf(np.arange(1000) % 97, bounds=(0, 100), bins=64, privacy=PureDP(1), method="hat_ls")
    assert curve.smoothing == "shrinkage"


@pytest.mark.parametrize("noise", [0.01, 1.0, 40.0])
def test_what_stands_out_does_so_by_the_noise_of_its_neighborhood(noise):
    rng = np.random.default_rng(8)
    increments = np.sqrt(noise) * (rng.normal(size=200) + 30.0 * (rng.random(200) < 0.1))
    expected = np.zeros(200)
    for place in range(200):
        around = np.median(increments[max(0, place - NEIGHBORS) : place + NEIGHBORS + 1])
        excess = increments[place] - around
        if excess > 3 * np.sqrt(noise + max(around, 0)) and increments[place] > 3 * np.sqrt(noise):
            expected[place] = excess
    assert np.count_nonzero(expected) > 5
    assert np.array_equal(_outstanding(increments, noise, 3.0), expected)
