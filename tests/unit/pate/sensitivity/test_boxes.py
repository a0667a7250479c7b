"""The joint form's range maximum over boxes."""

import itertools
import math

import numpy as np
import pytest
from helpers.small_votes import graph, least_excess, local_sensitivities, widened

from ogive.pate.aggregators import ConfidentGNMax, InteractiveGNMax
from ogive.pate.costs.answers import GnmaxBound, log_neighbour_bounds, logq_gnmax, unit_of
from ogive.pate.costs.threshold import check_tails, joint
from ogive.pate.sensitivity.local_sensitivity import Cells, Rivals, add_box_profiles, box_sensitivities
from ogive.pate.sensitivity.smooth import smooth_cost

# teachers, classes, sigma_2, order, threshold, sigma_1
CASES = [
    (15, 3, 3.0, 5.0, 10.0, 4.0),
    (15, 3, 8.0, 5.0, 8.0, 12.0),
    (12, 4, 2.0, 3.0, 14.0, 2.0),
    (20, 2, 2.0, 10.0, 12.0, 6.0),
    # thresholds that every count reaches: the check costs most where no count is, far from unanimous votes
    (4, 3, 0.5, 3.0, 0.3, 0.5),
    (6, 3, 0.5, 5.0, -1.0, 0.7),
    (20, 3, 0.5, 10.0, 0.0, 0.5),
]


def boxes_of(teachers, classes, sigma, order, threshold, sigma_1, noise="continuous", count=600):
    rows, beside = graph(teachers, classes)
    bound = GnmaxBound(sigma, order)
    rivals = Rivals.of(sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    cells = Cells.of(rivals, classes=classes, count=count)
    tails = check_tails(np.arange(-1, teachers + 2), threshold, sigma_1, noise=noise)
    table = box_sensitivities(bound, cells, *tails, classes=classes)
    profiles = np.zeros((len(rows), teachers + 1))
    for place, row in enumerate(rows):
        add_box_profiles(profiles[place], row[None], row[:1], np.ones(1), rivals=rivals, cells=cells, table=table)
    answers = bound.beta(logq_gnmax(rows, sigma, noise=noise))
    costs = joint(rows[:, 0], threshold, sigma_1, answers[:, None], [order], noise=noise)[:, 0]
    return profiles, local_sensitivities(costs, beside), beside


@pytest.mark.parametrize("noise", ["continuous", "discrete", "scaled"])
@pytest.mark.parametrize(("teachers", "classes", "sigma", "order", "threshold", "sigma_1"), CASES)
def test_profiles_bound_the_reported_joint_cost_and_are_smooth(
    teachers, classes, sigma, order, threshold, sigma_1, noise
):
    profiles, true, beside = boxes_of(teachers, classes, sigma, order, threshold, sigma_1, noise)
    assert true.max() > 0
    # differences of costs are rounded as the costs are
    assert np.all(profiles >= widened(true, beside, teachers + 1) - 1e-12 * true.max() - 1e-14)
    assert least_excess(profiles, beside) >= 0


def test_profiles_are_not_far_above_the_truth():
    profiles, true, beside = boxes_of(*CASES[1])
    fade = np.exp(-0.07 * np.arange(16))
    looser = (fade * profiles).max(axis=1) / (fade * widened(true, beside, 16)).max(axis=1)
    assert looser.max() < 2


def test_the_table_is_the_largest_difference_of_the_reported_cost():
    """An oracle from the public cost function, cell by cell."""
    teachers, classes, sigma, order, threshold, sigma_1 = CASES[0]
    bound = GnmaxBound(sigma, order)
    rivals = Rivals.of(sigma, teachers=teachers, classes=classes)
    cells = Cells.of(rivals, classes=classes, count=25)
    tails = check_tails(np.arange(-1, teachers + 2), threshold, sigma_1)
    table = box_sensitivities(bound, cells, *tails, classes=classes)
    assert table.shape == (teachers + 1, 25)
    small, large = cells.log_ends()
    low, high = log_neighbour_bounds(small, sigma, classes)[0], log_neighbour_bounds(large, sigma, classes)[1]

    def cost(value, log_q):
        return joint([value], threshold, sigma_1, bound.beta(log_q)[None, None], [order])[0, 0]

    for value in range(0, teachers + 1, 3):
        for cell in range(25):
            others = [other for other in (value - 1, value, value + 1) if 0 <= other <= teachers]
            rises = [cost(other, high[cell]) - cost(value, small[cell]) for other in others]
            falls = [cost(value, large[cell]) - cost(other, low[cell]) for other in others]
            assert table[value, cell] == pytest.approx(max(rises + falls), rel=1e-10, abs=1e-14)


def test_without_the_check_s_moves_it_would_be_too_little():
    """The control: with the check's value held still, the table does not bound the sensitivity."""
    teachers, classes, sigma, order, threshold, sigma_1 = 15, 3, 30.0, 5.0, 10.0, 2.0
    profiles, true, beside = boxes_of(teachers, classes, sigma, order, threshold, sigma_1)
    still = boxes_of(teachers, classes, sigma, order, threshold, 1e6)[0]
    assert np.all(profiles >= widened(true, beside, teachers + 1) - 1e-15)
    assert (true - still[:, 0]).max() > 0.01


def test_queries_add_up_with_how_often_they_are_asked():
    rows = np.array([[10, 3, 2], [7, 6, 2]])
    bound = GnmaxBound(3.0, 5.0)
    rivals = Rivals.of(3.0, teachers=15, classes=3)
    cells = Cells.of(rivals, classes=3, count=100)
    tails = check_tails(np.arange(-1, 17), 10.0, 4.0)
    table = box_sensitivities(bound, cells, *tails, classes=3)
    each = np.zeros((2, 16))
    for place in range(2):
        part = slice(place, place + 1)
        add_box_profiles(each[place], rows[part], rows[part, 0], np.ones(1), rivals=rivals, cells=cells, table=table)
    total = np.zeros(16)
    add_box_profiles(total, rows, rows[:, 0], np.array([2.0, 3.0]), rivals=rivals, cells=cells, table=table)
    np.testing.assert_allclose(total, 2 * each[0] + 3 * each[1], rtol=1e-14)


@pytest.mark.parametrize(
    ("teachers", "threshold", "sigma_1", "sigma", "order", "smoothness"),
    [
        (4, 0.3, 0.5, 0.5, 3.0, 0.4 / 3),
        (4, 0.0, 0.5, 1.0, 5.0, 0.05),
        (5, -1.0, 0.7, 0.5, 5.0, 0.07),
        (3, 0.0, 0.4, 0.6, 4.0, 0.1),
    ],
)
def test_smooth_sensitivity_is_smooth_and_enough_over_all_data_sets_of_two_queries(
    teachers, threshold, sigma_1, sigma, order, smoothness
):
    """Every pair of histograms, moved together: in each query a vote moves, or none does."""
    rows, beside = graph(teachers, 3)
    aggregator = ConfidentGNMax(threshold, sigma_1, sigma)
    pairs = list(itertools.product(range(len(rows)), repeat=2))
    found = {
        pair: smooth_cost(rows[list(pair)], aggregator, order=order, smoothness=smoothness, noise="scaled")
        for pair in pairs
    }
    assert max(each.sensitivity for each in found.values()) > 0.1
    for one, two in pairs:
        here = found[one, two]
        for near in itertools.product([one, *beside[one]], [two, *beside[two]]):
            there = found[near]
            assert there.sensitivity <= here.sensitivity * math.exp(smoothness) * (1 + 1e-12)
            assert abs(there.cost - here.cost) <= here.sensitivity * (1 + 1e-12)


@pytest.mark.parametrize("threshold", [0.3, 1.0, -1.5])
def test_smooth_sensitivity_of_an_interactive_check_over_all_data_sets(threshold):
    """Scores of a student that expects one class: the check's value takes every number from 0 to all teachers."""
    teachers, order, smoothness = 5, 4.0, 0.06
    scores = np.array([[1.0, 0.0, 0.0]])
    aggregator = InteractiveGNMax(threshold, 0.5, 0.6, "0.9")
    rows = [row for row in itertools.product(range(teachers + 1), repeat=3) if sum(row) == teachers]
    found = {
        row: smooth_cost(
            np.array([row]),
            aggregator,
            order=order,
            smoothness=smoothness,
            noise="scaled",
            probabilities=scores,
        )
        for row in rows
    }
    assert max(each.sensitivity for each in found.values()) > 0.1
    for here, there in itertools.permutations(rows, 2):
        if sum(abs(one - other) for one, other in zip(here, there, strict=True)) == 2:
            ratio = found[there].sensitivity / found[here].sensitivity
            assert ratio <= math.exp(smoothness) * (1 + 1e-12)
            assert abs(found[there].cost - found[here].cost) <= found[here].sensitivity * (1 + 1e-12)
