"""Counts at opened thresholds: exact losses, estimates and variances against dense algebra."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.strategies import OpenedThresholds, strategy_from_dict
from ogive.strategies.smoothing import RANK_MATCHING, default_smoothing, smooth

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


def test_straight_lines_join_the_counts_in_the_order_of_the_thresholds():
    strategy = OpenedThresholds(8, (3, 5, 1), DiscreteLaplace(2))
    curve = strategy.estimate(np.array([40, 60, 10]), 100)
    assert curve == pytest.approx([5, 10, 25, 40, 50, 60, 80, 100])


def test_shares_out_of_order_are_matched_by_rank_and_clipped():
    strategy = OpenedThresholds(4, (1, 0, 2), DiscreteLaplace(2))
    assert strategy.matched(np.array([-5, 30, 120]), 100) == pytest.approx([0, 30, 100, 100])
    private = OpenedThresholds(4, (3, 1, 0), DiscreteLaplace(2))
    assert private.matched(np.array([90, 20, 50]), None) == pytest.approx([20, 50, 70, 90])


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_is_that_of_the_worst_neighbors(adjacency):
    points = (4, 2, 0) if adjacency is ADD else (3, 1, 2)
    strategy = OpenedThresholds(5, points, DiscreteGaussian(2000), 3)
    columns = strategy.features.T
    changes = [a - b for a in columns for b in columns] if adjacency is REPLACE else list(columns)
    worst = max(int((change**2).sum()) for change in changes)
    assert strategy.loss(adjacency).mu_squared == Fraction(worst, 2000**2)
    laplace = OpenedThresholds(5, points, DiscreteLaplace(9))
    assert laplace.loss(adjacency).epsilon == Fraction(3, 9)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_measure_is_the_features_and_exact_counts_are_kept(data):
    size = data.draw(st.integers(2, 40))
    points = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=8, unique=True))
    counts = np.array(data.draw(st.lists(st.integers(0, 20), min_size=size, max_size=size)))
    strategy = OpenedThresholds(size, tuple(points), DiscreteLaplace(2))
    measured = strategy.measure(counts)
    assert np.array_equal(measured, strategy.features @ counts)
    total = int(counts.sum())
    for curve in (strategy.estimate(measured, total), strategy.matched(measured, total)):
        assert curve[points] == pytest.approx(np.cumsum(counts)[points])
        assert curve[-1] == total
        assert np.all(np.diff(curve) >= -1e-9)
    if size - 1 in points:
        assert strategy.estimate(measured, None) == pytest.approx(curve)


@pytest.mark.parametrize(("points", "total_known"), [((3, 1), True), ((6, 2, 4), False), ((6, 2), True)])
def test_variance_is_that_of_the_linear_map(points, total_known):
    strategy = OpenedThresholds(7, points, DiscreteGaussian(4000), 5)
    weights = strategy.estimate(np.eye(len(points), dtype=np.int64) << 5, 0 if total_known else None)
    expected = (weights**2).sum(axis=0) * strategy.law.variance / 4**5
    assert strategy.variance(total_known=total_known) == pytest.approx(expected, abs=1e-9)


def test_smoothing_matches_by_rank_unless_another_way_is_named():
    strategy = OpenedThresholds(6, (2, 1, 3), DiscreteLaplace(2))
    answer = np.array([10, 30, 20])
    assert default_smoothing(strategy) == RANK_MATCHING
    assert np.array_equal(smooth(strategy, answer, total=40, kind=RANK_MATCHING), strategy.matched(answer, 40))
    isotonic = smooth(strategy, answer, total=40, kind="isotonic")
    assert np.all(np.diff(isotonic) >= 0)
    assert not np.allclose(isotonic, strategy.matched(answer, 40))


def test_is_plain_data_and_refuses_what_is_none():
    strategy = OpenedThresholds(9, (8, 4, 0), DiscreteGaussian(5000), 20)
    assert strategy_from_dict(strategy.to_dict()) == strategy
    for points in ((), (1, 1), (9,), (-1,), (0.5,), (True,)):
        with pytest.raises(ParameterError, match="points must be different whole numbers"):
            OpenedThresholds(9, points, DiscreteLaplace(2))
    with pytest.raises(ParameterError, match="was not asked for"):
        OpenedThresholds(9, (3,), DiscreteLaplace(2)).estimate(np.array([4]), None)
