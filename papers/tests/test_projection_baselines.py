"""The paper's baselines, redone another way or by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from ogive_papers.projection import baselines, boxes, parts
from ogive_papers.projection.baselines import (
    adaptive_points,
    counter,
    histogram_counts,
    histogram_curve,
    scale,
    valid_curve,
)
from ogive_papers.projection.distances import EMD, ENERGY, KS, distances
from ogive_papers.projection.shapes import POINTS, SHAPES


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [
        (scale(0.1, 1e-6), 36.3046904262),
        (scale(1.0, 1e-6), 4.22467888933),
        (scale(0.1, 1e-6, parts=50), 1809.63335298),
        (math.sqrt(50) * scale(0.1, 1e-6), 5 * 51.3425855785),
        (scale(0.1, 1e-6, parts=30), 1085.82585895),
    ],
)
def test_noise_has_the_published_scale(sigma, expected):
    assert sigma == pytest.approx(expected, rel=1e-9)


def test_updates_ask_all_records_again_and_sites_add_their_noise_up():
    sites, updates = (parts.adaptive_scales(way, 0.1, 1e-6) for way in (parts.SITES, parts.UPDATES))
    assert sites["AQ, joint"] == pytest.approx(math.sqrt(10) * 5 * 51.3425855785, rel=1e-9)
    assert updates["AQ, joint"] == pytest.approx(sites["AQ, joint"], rel=1e-12)
    assert sites["AQ, naive"] == pytest.approx(math.sqrt(10) * 1809.63335298, rel=1e-9)
    # ten times as many queries, each charged on its own, cost far more than ten independent noises
    assert updates["AQ, naive"] > 3 * sites["AQ, naive"]


def test_a_histogram_is_flat_between_edges_in_steps_and_straight_otherwise(monkeypatch):
    monkeypatch.setattr(baselines, "GROUPS", 4)
    counts = histogram_counts(np.array([0.0, 0.1, 0.25, 0.6, 1.0]), 0.0, 1.0)
    assert counts.tolist() == [2, 1, 1, 1]  # the last group holds its upper edge
    axis = np.linspace(0.0, 1.0, 9)
    steps = histogram_curve(counts, axis, linear=False)
    assert steps == pytest.approx([0, 0, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8, 1])
    assert histogram_curve(counts, axis, linear=True) == pytest.approx([0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])


def test_negative_counts_are_cut_and_no_counts_are_the_uniform_distribution():
    axis = np.linspace(0.0, 1.0, 5)
    assert histogram_curve(np.array([-3.0, 1.0, -1.0, 3.0]), axis, linear=True) == pytest.approx([0, 0, 0.25, 0.25, 1])
    assert histogram_curve(-np.ones(4), axis, linear=True) == pytest.approx(axis)


def test_steps_fall_on_edges_that_are_no_points_of_the_axis():
    curve = histogram_curve(np.ones(30), np.linspace(0.0, 1.0, POINTS), linear=False)
    rises = np.flatnonzero(np.diff(curve)) + 1
    assert rises.tolist() == [math.ceil(2000 * k / 30) for k in range(1, 31)]


def slow_adaptive(records, low, high, noise):
    """The method as its authors tell it, with a table that is sorted anew in every round."""
    table = [(0.0, low), (1.0, high)]
    for added in noise:
        shares = sorted(share for share, _ in table)
        places = sorted(place for _, place in table)
        gaps = [(shares[i + 1] - shares[i], -i) for i in range(len(table) - 1) if places[i + 1] > places[i]]
        _, minus = max(gaps)
        middle = (places[-minus] + places[1 - minus]) / 2
        share = (sum(value <= middle for value in records) + added) / len(records)
        table = [*zip(shares, places, strict=True), (min(max(share, 0.0), 1.0), middle)]
    return sorted(place for _, place in table), sorted(share for share, _ in table)


@pytest.mark.parametrize("sigma", [0.0, 5.0, 300.0])
def test_adaptive_quantiles_are_those_of_a_slow_table(sigma):
    generator = np.random.default_rng(3)
    records = np.clip(generator.standard_normal(200), -4, 4)
    noise = sigma * generator.standard_normal(25)
    places, shares = adaptive_points(counter(records), 200, -4.0, 4.0, noise)
    slow_places, slow_shares = slow_adaptive(records, -4.0, 4.0, noise)
    assert places == pytest.approx(slow_places)
    assert shares == pytest.approx(slow_shares)


def test_the_first_question_is_the_middle_and_gaps_of_shares_shrink_without_noise():
    records = np.random.default_rng(1).random(1000)
    places, shares = adaptive_points(counter(records), 1000, 0.0, 1.0, np.zeros(1))
    assert places.tolist() == [0.0, 0.5, 1.0]
    _, shares = adaptive_points(counter(records), 1000, 0.0, 1.0, np.zeros(50))
    assert np.diff(shares).max() < 0.05


@pytest.mark.parametrize(
    ("raw", "expected"),
    [([3, 1, 2, 4, 0], [1, 1, 1, 1, 1]), ([-0.2, 0.1, 0.05, 0.6, 1.3, 0.9], [0, 0.075, 0.075, 0.6, 1, 1])],
)
def test_curves_become_valid(raw, expected):
    assert valid_curve(np.array(raw, dtype=float)) == pytest.approx(expected)


def test_distances_are_those_of_scipy():
    axis = np.linspace(0.0, 3.0, POINTS)
    first, second = (np.interp(axis, [0, 1.5, 3], heights) for heights in ([0, 0.2, 1], [0, 0.7, 1]))
    found = distances(first, second, 3.0)
    weights = [np.diff(curve) for curve in (first, second)]
    centers = (axis[1:] + axis[:-1]) / 2
    assert found[KS] == pytest.approx(0.5)
    assert found[EMD] == pytest.approx(stats.wasserstein_distance(centers, centers, *weights), rel=1e-3)
    assert found[ENERGY] == pytest.approx(stats.energy_distance(centers, centers, *weights), rel=1e-3)
    # the unit of the axis: Earth Mover's grows with it, energy with its root
    wide = distances(first, second, 12.0)
    assert wide == pytest.approx({KS: 0.5, EMD: 4 * found[EMD], ENERGY: 2 * found[ENERGY]})


@pytest.mark.parametrize("name", SHAPES)
def test_simulated_records_follow_their_true_curve(name):
    shape = SHAPES[name]
    generator = np.random.default_rng(5)
    records = shape.records(generator, 40_000)
    empirical = np.searchsorted(np.sort(records), shape.axis, side="right") / records.size
    # Massart: beyond this distance once in 10^9 samples; a beta distribution of other parameters is far beyond
    limit = math.sqrt(math.log(2e9) / 2 / records.size)
    assert np.abs(empirical - shape.truth).max() < limit
    assert (shape.truth[-1], np.diff(shape.truth).min() >= 0) == (1.0, True)
    others = [other.truth for other in SHAPES.values() if other is not shape]
    assert all(np.abs(empirical - truth).max() > limit for truth in others)


def test_samples_follow_the_curve_they_are_drawn_from_and_flat_parts_are_left_out():
    axis = np.linspace(0.0, 4.0, 5)
    curve = np.array([0.0, 0.5, 0.5, 0.6, 1.0])
    values = boxes.resample(curve, axis, 20_000, np.random.default_rng(2))
    assert not ((values > 1.0) & (values < 2.0)).any()
    for place, height in zip(axis, curve, strict=True):
        assert (values <= place).mean() == pytest.approx(height, abs=0.02)


def test_a_sample_at_the_height_of_a_flat_part_is_the_first_point_there():
    class Fixed:
        def random(self, size):
            return np.array([0.5, 0.0, 1.0])[:size]

    axis = np.linspace(0.0, 4.0, 5)
    curve = np.array([0.0, 0.5, 0.5, 1.0, 1.0])
    assert boxes.resample(curve, axis, 3, Fixed()).tolist() == [1.0, 0.0, 3.0]


def test_a_box_has_the_whiskers_and_outliers_of_matplotlib():
    from matplotlib.cbook import boxplot_stats

    values = np.random.default_rng(4).standard_normal(500)
    (expected,) = boxplot_stats(values)
    box = boxes.box_of(values)
    assert (box.q1, box.median, box.q3) == pytest.approx((expected["q1"], expected["med"], expected["q3"]))
    assert box.whiskers == pytest.approx((expected["whislo"], expected["whishi"]))
    assert sorted(box.outliers) == pytest.approx(sorted(expected["fliers"]))


def test_five_numbers_find_the_quartiles_and_monotone_noise_reaches_farther_out():
    generator = np.random.default_rng(6)
    records = generator.standard_normal(10_000)
    found = {
        monotone: [boxes.five_numbers(records, 1.0, generator, monotone=monotone) for _ in range(30)]
        for monotone in (False, True)
    }
    for plots in found.values():
        for box, expected in zip(
            zip(*((box.q1, box.median, box.q3) for box in plots), strict=True), (-0.6745, 0, 0.6745), strict=True
        ):
            assert np.mean(box) == pytest.approx(expected, abs=0.03)
        assert all(box.outliers.size == 0 for box in plots)
    reach = {monotone: np.median([box.high for box in plots]) for monotone, plots in found.items()}
    assert 2.4 < reach[False] < reach[True] < 3.6
