"""Algorithms 3 to 5: the specified profiles, and all histograms of a few votes by brute force."""

import math

import numpy as np
import pytest
from helpers.small_votes import graph, least_excess, local_sensitivities, widened

from ogive.pate.costs.answers import GnmaxBound, log_neighbour_bounds, logq_gnmax, unit_of
from ogive.pate.sensitivity.local_sensitivity import (
    Rivals,
    algorithm_profiles,
    landmarks,
    local_sensitivity,
    sorted_votes,
)
from ogive.pate.sensitivity.smooth import smooth_sensitivity_sum

A = [200, 30, 10, 5, 5, 0, 0, 0, 0, 0]
B = [130, 90, 20, 10, 0, 0, 0, 0, 0, 0]
C = [250, 0, 0, 0, 0, 0, 0, 0, 0, 0]
D = [60, 55, 45, 40, 30, 20, 0, 0, 0, 0]
F = [1000, 500, 300, 200, 0]
# votes, sigma, order, {d: value}, first d with the plateau, SS at 0.2 / order and at 0.4 / order
SPECIFIED = [
    (
        A,
        40,
        14,
        {0: 0.000155340563, 1: 0.0001655256667, 5: 0.0002124607806, 10: 0.0002866883146, 20: 0.0004929316418}
        | {50: 0.0006699072431},
        27,
        0.0004555133269,
        0.0003097330162,
    ),
    (B, 40, 14, {0: 0, 5: 0, 20: 0, 50: 0.0006699072431}, 40, 0.0003783087603, 0.0002136378126),
    (
        C,
        40,
        14,
        {0: 4.912975446e-06, 1: 5.303783106e-06, 5: 7.214131216e-06, 10: 1.063958035e-05, 20: 2.346178514e-05}
        | {50: 0.0002288785311},
        70,
        0.0002473768884,
        9.231427163e-05,
    ),
    (D, 40, 14, {0: 0, 50: 0}, 103, 0.0001538088639, 3.531409291e-05),
    (
        [10, 0, 0],
        0.5,
        1.5,
        {0: 3.135036461e-17, 1: 1.601782803e-08, 2: 5.90681786e-03, 3: 5.999813079},
        3,
        4.021794979,
        2.695889796,
    ),
    (F, 250, 10, {0: 0, 297: 0, 298: 2.77693451e-07, 299: 2.10853980e-06}, 300, 6.769809899e-09, 1.678068102e-11),
    ([100, 500, 60, 90, 250], 100, 10, {0: 0, 20: 0, 50: 3.758163002e-05}, 44, 1.558821792e-05, 6.465726418e-06),
]

# teachers, classes, sigma, order, variant: Algorithms 3 to 5 hold for all of them
HOLDS = [
    (40, 2, 6.0, 3.0, "exact"),
    (40, 3, 8.0, 5.0, "exact"),
    (30, 3, 8.0, 5.0, "conservative"),
    (24, 3, 4.0, 2.5, "exact"),
    (30, 4, 5.0, 4.0, "exact"),
    (14, 3, 0.7, 1.5, "conservative"),
]


def profile_of(votes, sigma, order):
    ordered = sorted_votes(np.array([votes]))
    rivals = Rivals.of(sigma, teachers=sum(votes), classes=len(votes))
    marks = landmarks(GnmaxBound(sigma, order, "conservative"), len(votes))
    return algorithm_profiles(ordered, rivals, marks)[0], marks


@pytest.mark.parametrize(("votes", "sigma", "order", "values", "first", "low", "high"), SPECIFIED)
def test_profiles_are_those_of_the_specification(votes, sigma, order, values, first, low, high):
    profile, marks = profile_of(votes, sigma, order)
    assert profile.shape == (sum(votes),)
    for distance, value in values.items():
        assert profile[distance] == pytest.approx(value, rel=2e-9)
    assert np.all(profile[first:] == marks.plateau)
    assert profile[first - 1] < marks.plateau
    assert smooth_sensitivity_sum(profile, 0.2 / order).value == pytest.approx(low, rel=2e-9)
    assert smooth_sensitivity_sum(profile, 0.4 / order).value == pytest.approx(high, rel=2e-9)


def test_the_largest_weighted_value_of_unanimous_votes_is_one_step_before_the_plateau():
    assert smooth_sensitivity_sum(profile_of(C, 40, 14)[0], 0.2 / 14).distance == 69


def test_the_plateau_keeps_its_jump():
    """Where the cost jumps at q0, Algorithm 3 at q1 as rounded gives 0.45867 instead of 30."""
    profile, marks = profile_of([5, 0, 0], 0.2, 1.2)
    assert profile == pytest.approx([7.97169e-04, 30, 30, 30, 30], rel=1e-6)
    low, high = log_neighbour_bounds(marks.log_q1 * (1 + 1e-12), 0.2, 3)
    here, below, above = marks.bound.beta([marks.log_q1 * (1 + 1e-12), low, high])
    assert max(above - here, here - below) == pytest.approx(0.45867, rel=1e-4)


def brute(teachers, classes, sigma, order, noise, variant):
    rows, beside = graph(teachers, classes)
    bound = GnmaxBound(sigma, order, variant)
    costs = bound.beta(logq_gnmax(rows, sigma, noise=noise))
    rivals = Rivals.of(sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    marks = landmarks(bound, classes)
    profiles = algorithm_profiles(rows, rivals, marks)
    return local_sensitivities(costs, beside), beside, profiles, marks.unmet(rivals.log_unanimous(classes))


@pytest.mark.parametrize("noise", ["continuous", "discrete"])
@pytest.mark.parametrize(("teachers", "classes", "sigma", "order", "variant"), HOLDS)
def test_profiles_bound_every_neighbourhood_and_are_smooth(teachers, classes, sigma, order, noise, variant):
    true, beside, profiles, unmet = brute(teachers, classes, sigma, order, noise, variant)
    assert unmet is None
    assert true.max() > 0
    room = 1e-12 * true.max()
    assert np.all(profiles >= widened(true, beside, teachers) - room)
    assert least_excess(profiles, beside) >= -room
    weighted = np.exp(-0.07 * np.arange(teachers)) * profiles
    smooth = weighted.max(axis=1)
    assert all(smooth[others].max() <= math.exp(0.07) * smooth[here] + room for here, others in enumerate(beside))


@pytest.mark.parametrize(("teachers", "classes", "sigma", "order"), [(20, 3, 2.0, 4.0), (30, 3, 4.0, 8.0)])
def test_algorithm_4_gives_too_little_where_c6_fails(teachers, classes, sigma, order):
    """The control for the condition: below the true local sensitivity, and not smooth."""
    true, beside, profiles, unmet = brute(teachers, classes, sigma, order, "continuous", "exact")
    assert "C6" in unmet
    assert (widened(true, beside, teachers) / np.maximum(profiles, 1e-300)).max() > 1.1


def test_local_sensitivity_rises_to_the_plateau_and_falls_from_it():
    marks = landmarks(GnmaxBound(40.0, 14.0), 10)
    logs = np.linspace(-60, math.log(0.9), 5000)
    found = local_sensitivity(logs, marks)
    below, above = logs < marks.log_q0, logs > marks.log_q0
    assert np.all(np.diff(found[below]) >= -1e-15)
    assert np.all(np.diff(found[above]) <= 1e-15)
    assert found.max() == marks.plateau
    assert np.all(found[logs > marks.log_q2] == 0)
