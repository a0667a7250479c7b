"""Curves of strategies that approximate: isotonic, within their bounds, and 1 at the end."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from ogive.errors import UnsupportedError
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP
from ogive.strategies import GroupedHistogram, design_projection
from ogive.strategies.smoothing import SMOOTHINGS, default_smoothing, smooth, unsmoothable


def finished(values):
    """What section 7 of the specification does with a vector of shares."""
    return np.append(np.clip(isotonic_regression(values).x, 0, 1)[:-1], 1.0)


def test_vectors_of_the_specification():
    assert isotonic_regression([3, 1, 2, 4, 0]).x == pytest.approx([2, 2, 2, 2, 2])
    assert finished([-0.2, 0.1, 0.05, 0.6, 1.3, 0.9]) == pytest.approx([0, 0.075, 0.075, 0.6, 1, 1])


def test_a_histogram_of_a_bin_each_is_finished_as_the_specification_says():
    strategy = GroupedHistogram(6, 6, DiscreteLaplace(2))
    raw = np.array([-200, 100, 50, 600, 1300, 900])
    answer = np.diff(raw, prepend=0)
    answer[-1] += 1000 - raw[-1]  # the groups add up to the total, so that nothing is shifted
    curve = smooth(strategy, answer, total=1000, kind="isotonic") / 1000
    assert curve == pytest.approx(finished(np.append(raw[:-1], 1000) / 1000))
    assert curve[:5] == pytest.approx([0, 0.075, 0.075, 0.6, 1])


def test_isotonic_is_the_default_and_the_only_way():
    strategy = design_projection(64, privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.REPLACE)
    assert default_smoothing(strategy) == "isotonic"
    assert unsmoothable(strategy, "isotonic") is None
    answer = strategy.measure(np.full(64, 10))
    for kind in set(SMOOTHINGS) - {"isotonic"}:
        with pytest.raises(UnsupportedError, match="use smooth='isotonic'"):
            smooth(strategy, answer, total=640, kind=kind)


def test_it_never_takes_a_curve_farther_from_a_valid_one():
    rng = np.random.default_rng(5)
    strategy = design_projection(64, privacy=ApproxDP("0.5", "1e-6"), adjacency=Adjacency.REPLACE)
    truth = np.cumsum(rng.integers(0, 30, 64))
    total = int(truth[-1])
    counts = np.diff(truth, prepend=0)
    for _ in range(20):
        noise = np.rint(rng.normal(0, strategy.law.variance**0.5, strategy.levels[0].nodes)).astype(np.int64)
        answer = strategy.measure(counts) + strategy.spread((noise,))
        raw, curve = strategy.estimate(answer, total), smooth(strategy, answer, total=total, kind="isotonic")
        for order in (1, 2, np.inf):
            assert np.linalg.norm(curve - truth, order) <= np.linalg.norm(raw - truth, order) + 1e-9
