"""Smooth sensitivity of sums over queries (Theorem 7)."""

import itertools
import math

import numpy as np
import pytest
from helpers.small_votes import graph
from helpers.threshold_profiles import threshold_profile

from ogive.pate.costs.answers import GnmaxBound
from ogive.pate.costs.threshold import rdp_threshold
from ogive.pate.sensitivity.local_sensitivity import Rivals, algorithm_profiles, landmarks
from ogive.pate.sensitivity.smooth import smooth_sensitivity_sum

SMOOTHNESS = 0.04


def test_the_example_of_the_specification():
    votes = np.array([[20, 10, 0], [26, 3, 1], [14, 9, 7]])
    rivals = Rivals.of(8.0, teachers=30, classes=3)
    marks = landmarks(GnmaxBound(8.0, 5.0, "conservative"), 3)
    assert (marks.log_q0, marks.log_q1) == pytest.approx((-2.9748678413, -3.4005894260), abs=1e-10)
    assert marks.plateau == pytest.approx(0.0184215018069, rel=1e-11)
    assert marks.unmet(rivals.log_unanimous(3)) is None
    answers = algorithm_profiles(votes, rivals, marks)
    # the chances are as far apart as they can be one step before the counts are
    checks = threshold_profile(rdp_threshold(np.arange(31), 16, 4, [5], "theorem3")[:, 0], votes[:, 0])[:, :-1]

    def smooth(profiles):
        return [smooth_sensitivity_sum(profile, SMOOTHNESS).value for profile in profiles]

    assert smooth(answers) == pytest.approx([0.014490866564, 0.0184215018069, 0.0118641180947], rel=1e-10)
    assert smooth(checks) == pytest.approx([0.0294085946526, 0.0306087821683, 0.0271475544481], rel=1e-10)
    assert smooth(answers + checks) == pytest.approx([0.0415289411839, 0.0476139716112, 0.0332191407834], rel=1e-10)
    combined = smooth_sensitivity_sum((answers + checks).sum(axis=0), SMOOTHNESS)
    assert combined.value == pytest.approx(0.110906300127, rel=1e-11)
    assert combined.distance == 5


def test_the_sum_is_smooth_where_one_teacher_changes_its_vote_on_every_query():
    """All pairs of neighbouring pairs of histograms of 12 teachers: one moved vote in each query, or none."""
    rows, beside = graph(12, 3)
    marks = landmarks(GnmaxBound(4.0, 3.0), 3)
    rivals = Rivals.of(4.0, teachers=12, classes=3)
    assert marks.unmet(rivals.log_unanimous(3)) is None
    profiles = algorithm_profiles(rows, rivals, marks)
    fade = np.exp(-SMOOTHNESS * np.arange(12))
    smooth = (fade * (profiles[:, None] + profiles[None])).max(axis=2)
    assert smooth[3, 5] == smooth_sensitivity_sum(profiles[3] + profiles[5], SMOOTHNESS).value
    for one, two in itertools.product(range(len(rows)), repeat=2):
        around = smooth[np.ix_([one, *beside[one]], [two, *beside[two]])]
        assert around.max() <= math.exp(SMOOTHNESS) * smooth[one, two] * (1 + 1e-12)
