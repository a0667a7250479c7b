"""Sensitivity of a threshold check's cost."""

import math

import numpy as np
import pytest
from helpers.threshold_profiles import local_threshold, threshold_profile

from ogive.pate.costs.threshold import rdp_threshold
from ogive.pate.sensitivity.smooth import smooth_sensitivity_sum


def costs_of(teachers, threshold, sigma_1, order, mode):
    return rdp_threshold(np.arange(teachers + 1), threshold, sigma_1, [order], mode)[:, 0]


def test_the_profile_is_that_of_the_specification():
    profile = threshold_profile(costs_of(30, 16, 2, 10, "theorem3"), 20)
    wanted = [0, 0, 0, 1.48454129e-04, 1.47826870e-02, 3.94153241e-02, 6.45775697e-02, 9.01543266e-02]
    wanted += [1.16054000e-01, *[1.42180452e-01] * 9, 0.16830210633, *[0.19312786044] * 12]
    assert profile == pytest.approx(wanted, rel=1e-7)
    assert profile[10:18] == pytest.approx([0.1421804524] * 8, rel=1e-9)
    assert profile[18:20] == pytest.approx([0.16830210633, 0.19312786044], rel=1e-9)
    assert smooth_sensitivity_sum(profile, 0.2 / 10).value == pytest.approx(0.1320726908, rel=1e-9)


@pytest.mark.parametrize("mode", ["theorem3", "exact"])
def test_profiles_are_the_largest_differences_within_a_distance(mode):
    costs = costs_of(30, 16, 2, 10, mode)
    found = threshold_profile(costs, np.arange(31))
    steps = [max(abs(costs[u] - costs[w]) for w in (u - 1, u + 1) if 0 <= w <= 30) for u in range(31)]
    np.testing.assert_allclose(local_threshold(costs), steps, rtol=1e-15)
    for highest in range(31):
        for distance in range(31):
            within = [u for u in range(31) if abs(u - highest) <= distance]
            assert found[highest, distance] == max(steps[u] for u in within)
    # nested, hence smooth, also of sums
    assert all(
        np.all(found[v, :-1] <= found[near, 1:]) for v in range(31) for near in (v - 1, v + 1) if 0 <= near <= 30
    )


def test_a_cost_that_differs_where_nobody_votes_is_smooth_too():
    """From all votes the count 0 is as many teachers away as there are, and from one vote less it is one less."""
    costs, smoothness = np.array([5.0, 0, 0, 0, 0]), 0.1
    smooth = [smooth_sensitivity_sum(threshold_profile(costs, v), smoothness).value for v in range(5)]
    assert smooth == pytest.approx([5 * math.exp(-smoothness * max(v - 1, 0)) for v in range(5)])


def test_values_at_exactly_a_distance_are_not_smooth_in_sums():
    """The control for the running maximum: the ratio of two neighbours is 1.2530, more than e^0.05 = 1.0513."""
    costs, smoothness = costs_of(30, 16, 2, 10, "theorem3"), 0.05
    local = local_threshold(costs)

    def exactly(highest):
        ends = [[u for u in (highest - d, highest + d) if 0 <= u <= 30] for d in range(30)]
        return np.array([max((local[u] for u in at), default=0.0) for at in ends])

    here, there = (
        smooth_sensitivity_sum(exactly(one) + exactly(two), smoothness).value for one, two in ((9, 27), (10, 28))
    )
    assert max(here / there, there / here) == pytest.approx(1.2530, abs=5e-5)
    here, there = (
        smooth_sensitivity_sum(threshold_profile(costs, np.array(pair)).sum(axis=0), smoothness).value
        for pair in ((9, 27), (10, 28))
    )
    assert max(here / there, there / here) <= math.exp(smoothness) * (1 + 1e-12)


def test_constant_costs_are_not_sensitive():
    assert not threshold_profile(np.full(11, 0.3), np.arange(11)).any()
