"""Sums of profiles over queries: which method, why, and the figures of the real votes."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from ogive.errors import ParameterError
from ogive.pate.costs.answers import GnmaxBound
from ogive.pate.sensitivity import smooth
from ogive.pate.sensitivity.local_sensitivity import Rivals, algorithm_profiles, landmarks, sorted_votes
from ogive.pate.sensitivity.smooth import answer_profile, joint_profile, smooth_sensitivity_sum


def some_votes(queries, teachers, classes, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(teachers, rng.dirichlet(np.full(classes, 0.3))) for _ in range(queries)])


def test_profiles_add_up_over_queries_in_any_order_of_classes():
    votes = some_votes(40, 60, 4)
    bound = GnmaxBound(10.0, 5.0)
    rivals = Rivals.of(10.0, teachers=60, classes=4)
    each = algorithm_profiles(sorted_votes(votes), rivals, landmarks(bound, 4))
    assert each.any()
    found = answer_profile(votes, bound)
    assert (found.method, found.reason) == ("algorithms", None)
    np.testing.assert_allclose(found.values, each.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(answer_profile(votes[::-1, ::-1], bound).values, found.values, rtol=1e-12)
    twice = answer_profile(np.concatenate([votes, votes]), bound)
    np.testing.assert_allclose(twice.values, 2 * found.values, rtol=1e-12)
    weights = np.linspace(0, 1, 40)
    np.testing.assert_allclose(answer_profile(votes, bound, weights=weights).values, weights @ each, rtol=1e-12)


def test_few_rows_at_a_time_give_the_same(monkeypatch):
    votes = some_votes(30, 60, 4)
    bound = GnmaxBound(10.0, 5.0)
    tails = log_ndtr(np.linspace(-3, 1, 63)), log_ndtr(-np.linspace(-3, 1, 63))
    whole = [
        answer_profile(votes, bound).values,
        answer_profile(votes, bound, method="ranges").values,
        joint_profile(votes, votes.max(axis=1), bound, log_pass=tails[0], log_refuse=tails[1]).values,
    ]
    monkeypatch.setattr(smooth, "_ENTRIES", 130)
    parts = [
        answer_profile(votes, bound).values,
        answer_profile(votes, bound, method="ranges").values,
        joint_profile(votes, votes.max(axis=1), bound, log_pass=tails[0], log_refuse=tails[1]).values,
    ]
    for part, one in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-12)


@pytest.mark.parametrize(
    ("sigma", "order", "classes", "method", "words"),
    [
        (40.0, 14.0, 10, "algorithms", None),
        (40.0, 50.0, 10, "ranges", "C6"),
        (0.5, 1.5, 3, "ranges", "no bound below 1"),
        (400.0, 14.0, 10, "algorithms", "unanimous"),
    ],
)
def test_the_method_follows_from_public_numbers_and_says_why(sigma, order, classes, method, words):
    teachers = 250
    for seed in range(3):
        found = answer_profile(some_votes(5, teachers, classes, seed), GnmaxBound(sigma, order))
        assert found.method == method
        assert found.reason is None if words is None else words in found.reason
    if words == "unanimous":
        assert not found.values.any()


def test_the_range_maximum_is_little_above_the_algorithms_where_both_hold():
    votes, bound = some_votes(50, 250, 10), GnmaxBound(40.0, 14.0)
    exact = smooth_sensitivity_sum(answer_profile(votes, bound).values, 0.025).value
    loose = smooth_sensitivity_sum(answer_profile(votes, bound, method="ranges").values, 0.025).value
    assert exact < loose < 1.1 * exact


def test_refuses_unknown_methods():
    with pytest.raises(ParameterError, match="method must be one of auto, algorithms, ranges"):
        answer_profile(some_votes(2, 20, 3), GnmaxBound(40.0, 14.0), method="quick")


@pytest.mark.parametrize(
    ("name", "queries", "threshold", "sigma_1", "order", "smoothness", "value", "distance", "ranges", "ours"),
    [
        ("mnist_250", 640, 200, 150, 14.0, 0.0329, 0.0616936, 20, 0.063219, 0.07398),
        ("adult_250", 1500, 300, 200, 15.5, 0.0310, 0.0331971, 56, 0.034208, 0.05621),
    ],
)
def test_the_paper_s_expected_sensitivities_on_the_real_votes(
    name, queries, threshold, sigma_1, order, smoothness, value, distance, ranges, ours, shared_data
):
    votes = np.load(shared_data("pate_teacher_votes.npz"))[name][:queries].astype(np.int64)
    passes = np.exp(log_ndtr((votes.max(axis=1) - threshold) / sigma_1))
    bound = GnmaxBound(40.0, order)
    found = answer_profile(votes, bound, weights=passes)
    assert found.method == "algorithms"
    paper = smooth_sensitivity_sum(found.values, smoothness)
    assert paper.value == pytest.approx(value, abs=6e-8)
    assert paper.distance == distance
    assert smooth_sensitivity_sum(found.values, 0.35 / order).value == pytest.approx(ours, abs=6e-6)
    loose = answer_profile(votes, bound, weights=passes, method="ranges")
    assert smooth_sensitivity_sum(loose.values, smoothness).value == pytest.approx(ranges, rel=1e-4)
