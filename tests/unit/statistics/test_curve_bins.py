import datetime

import numpy as np
import pytest
import scipy.stats
from helpers.curves import any_curve, exact_curve
from hypothesis import given

from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.statistics.curve.estimate import Curve

VALUES = np.random.default_rng(2).uniform(0, 10, size=200)
GRID = Grid.linear(0, 10, bins=20)


@given(any_curve())
def test_shares_of_all_bins_add_up_to_one(curve):
    histogram = curve.histogram()
    assert histogram.shares.sum() == pytest.approx(1)
    assert np.all(histogram.shares >= 0)
    assert len(histogram.edges) == curve.grid.bins + 1
    assert histogram.counts.sum() == pytest.approx(curve.records)
    assert curve.histogram(1).shares.tolist() == [1.0]


@pytest.mark.parametrize("edges", [[0, 2.5, 5, 10], np.linspace(0, 10, 5), [0.5, 7.5], 4])
def test_histogram_counts_values_above_one_edge_and_at_most_the_next(edges):
    histogram = exact_curve(VALUES, GRID).histogram(edges)
    cuts = histogram.edges
    wanted = np.diff([np.sum(cut >= VALUES) for cut in cuts])
    assert np.allclose(histogram.counts, wanted)
    assert np.allclose(histogram.shares * len(VALUES), wanted)


def test_histogram_snaps_edges_that_miss_a_threshold_by_rounding():
    grid = Grid.linear(0, 1, bins=10)
    edges = [0, 0.1 + 0.2, 0.7000000000000001, 1]
    assert exact_curve(VALUES / 10, grid).histogram(edges).edges.tolist() == [
        0,
        grid.thresholds[2],
        grid.thresholds[6],
        1,
    ]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([0, 0.7, 10], r"must be a threshold of the grid, got 0.7; the nearest is 0.5"),
        ([0, 11], "the nearest is 10"),
        ([-1, 10], "the nearest is 0.5"),
        ([5], "at least two"),
        ([5, 5], "increasing"),
        (3, "must divide 20"),
        (0, "must divide 20"),
        (True, "at least two"),
    ],
)
def test_histogram_refuses_edges_that_are_no_thresholds(edges, words):
    with pytest.raises(ParameterError, match=words):
        exact_curve(VALUES, GRID).histogram(edges)


def test_edges_of_dates_are_dates():
    grid = Grid.integers("2024-01-01", "2024-12-31")
    curve = exact_curve(grid.thresholds, grid)
    histogram = curve.histogram(["2024-01-31", datetime.date(2024, 2, 29), "2024-12-31"])
    assert np.allclose(histogram.counts, [29, 306])
    assert histogram.edges[1] == datetime.date(2024, 2, 29)


def test_draws_follow_the_curve():
    curve = exact_curve(VALUES, GRID)
    drawn = curve.sample(20_000, rng=11)
    assert np.array_equal(drawn, curve.sample(20_000, rng=np.random.default_rng(11)))
    assert drawn.min() > 0
    assert drawn.max() <= 10

    def linear(t):
        return np.interp(t, [0, *curve.thresholds], [0, *curve.probabilities])

    assert scipy.stats.kstest(drawn, linear).pvalue > 1e-4
    assert scipy.stats.kstest(drawn, lambda t: linear(np.clip(t * 1.03, 0, 10))).pvalue < 1e-4
    assert drawn.mean() == pytest.approx(curve.mean(), abs=4 * drawn.std() / np.sqrt(20_000))


def test_draws_on_a_grid_of_integers_are_its_integers():
    curve = exact_curve([3.0, 3, 5], Grid.integers(0, 9))
    assert set(curve.sample(200, rng=0).tolist()) == {3.0, 5.0}
    assert curve.mean() == pytest.approx(11 / 3)


def test_draws_on_a_grid_of_dates_are_days_within_the_bin():
    grid = Grid.linear("2024-01-01", "2024-01-31", bins=4)  # thresholds at fractions of days
    counts = np.array([0.0, 10, 10, 10])
    curve = Curve(grid, counts, counts, None, Adjacency.REPLACE, 10, "none", "day")
    days = set(curve.sample(500, rng=0).tolist())
    assert days == {datetime.date(2024, 1, day) for day in range(9, 17)}
    assert curve(datetime.date(2024, 1, 16)) == 1
    assert curve(datetime.date(2024, 1, 15)) == 0
    assert curve.histogram(["2024-01-08", "2024-01-16"]).shares.tolist() == [1.0]


@given(any_curve())
def test_draws_stay_within_the_bounds(curve):
    numbers = [curve.grid.number(value) for value in curve.sample(20, rng=3)]
    assert len(numbers) == 20
    assert all(np.floor(curve.grid.low) <= number <= curve.grid.high for number in numbers)
    assert curve.sample(0).shape == (0,)
