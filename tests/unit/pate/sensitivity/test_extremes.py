"""The largest and smallest chances of losing within d changed teachers."""

import numpy as np
import pytest
from helpers.small_votes import graph, widened

from ogive.pate.costs.answers import logq_gnmax, unit_of
from ogive.pate.sensitivity.local_sensitivity import Rivals, log_extremes, log_losing_row, sorted_votes


def log_losing(rows, rivals):
    return np.array([log_losing_row(row, rivals.logs, rivals.chances, rivals.log_cap) for row in rows])


@pytest.mark.parametrize("noise", ["continuous", "discrete", "scaled"])
@pytest.mark.parametrize(("teachers", "classes"), [(9, 2), (13, 3), (12, 4), (9, 6)])
def test_extremes_are_those_of_all_histograms(teachers, classes, noise):
    rows, beside = graph(teachers, classes)
    for sigma in (0.4, 3.0):
        rivals = Rivals.of(sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
        low, high = log_extremes(rows, rivals)
        logs = logq_gnmax(rows, sigma, noise=noise)
        np.testing.assert_allclose(log_losing(rows, rivals), logs, rtol=1e-12)
        np.testing.assert_allclose(low, -widened(-logs, beside, teachers), rtol=1e-12)
        # where the first two can be made equal the cap is taken, which may be more than any histogram has
        largest = widened(logs, beside, teachers)
        open_gap = (rows[:, 0] - rows[:, 1])[:, None] >= 2 * np.arange(teachers)
        np.testing.assert_allclose(high[open_gap], largest[open_gap], rtol=1e-12)
        assert np.all(high[~open_gap] == rivals.log_cap)
        assert np.all(high >= largest - 1e-12 * np.abs(largest))


def test_chances_below_the_doubles_keep_their_digits():
    votes = np.array([[4900, 60, 30, 10], [5000, 0, 0, 0], [3000, 1990, 10, 0]])
    rivals = Rivals.of(20.0, teachers=5000, classes=4)
    found = log_losing(votes, rivals)
    assert found.min() < -15_000
    np.testing.assert_allclose(found, logq_gnmax(votes, 20.0), rtol=1e-13)
    low, high = log_extremes(votes, rivals)
    np.testing.assert_allclose(high[0, 700], logq_gnmax([[4200, 760, 30, 10]], 20.0)[0], rtol=1e-13)
    np.testing.assert_allclose(low[2, 1000], logq_gnmax([[4000, 990, 10, 0]], 20.0)[0], rtol=1e-13)


def test_histograms_met_on_two_ways_give_the_same_bits():
    """One vote from (9, 4, 3, 1) to the first class, and none from (10, 3, 3, 1): the same chance, bit by bit."""
    rivals = Rivals.of(3.0, teachers=17, classes=4)
    low, high = log_extremes(np.array([[9, 4, 3, 1], [10, 3, 3, 1], [11, 3, 2, 1]]), rivals)
    assert low[0, 1] == low[1, 0]
    assert low[1, 1] == low[2, 0]
    assert list(low[0, 2:]) == list(low[2, :-2])
    rise = log_extremes(np.array([[8, 5, 3, 1]]), rivals)[1]
    assert high[0, 1] == rise[0, 0]


def test_votes_are_sorted_by_query():
    assert sorted_votes(np.array([[1, 5, 3], [0, 0, 9]])).tolist() == [[5, 3, 1], [9, 0, 0]]
