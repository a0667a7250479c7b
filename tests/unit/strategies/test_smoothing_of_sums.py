"""Sums are smoothed as one curve is, given the noise of the sum."""

import numpy as np
import pytest

from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.strategies import SummedStrategies, design_hats, design_projection
from ogive.strategies.smoothing import smooth, smooth_sum

HATS = design_hats(64, privacy=PureDP("0.2"), adjacency=Adjacency.REPLACE)
COUNTS = np.random.default_rng(1).poisson(np.exp(-(((np.arange(64) - 20) / 8) ** 2)) * 20)


def noisy(strategy, seed):
    source = KeyedSource.from_seed(seed)
    noise = tuple(level.law.sample(level.nodes, source=source) for level in strategy.levels)
    return strategy.measure(COUNTS) + strategy.spread(noise)


@pytest.mark.parametrize("known", [True, False])
def test_a_single_curve_is_smoothed_as_ever(known):
    total = int(COUNTS.sum()) if known else None
    answer = noisy(HATS, 3)
    found, kind = smooth_sum(HATS, HATS.estimate(answer, total), total=total)
    assert kind == "shrinkage"
    assert found == pytest.approx(smooth(HATS, answer, total=total, kind="shrinkage"), abs=1e-9)
    # control: with half of the noise's size less is taken out
    narrow = design_hats(64, privacy=PureDP("0.4"), adjacency=Adjacency.REPLACE)
    assert not np.allclose(smooth_sum(narrow, HATS.estimate(answer, total), total=total)[0], found)


def test_a_sum_is_valid_and_nearer_to_the_truth_than_before():
    strategy, total = SummedStrategies((HATS, HATS)), 2 * int(COUNTS.sum())
    truth = 2 * np.cumsum(COUNTS)
    errors = []
    for seed in range(20):
        raw = sum(HATS.estimate(noisy(HATS, 100 + 2 * seed + part), total // 2) for part in range(2))
        found, _ = smooth_sum(strategy, raw, total=total)
        assert np.all(np.diff(found) >= -1e-9)
        assert (found.min() >= 0, found[-1]) == (True, total)
        errors.append([np.mean((curve - truth) ** 2) for curve in (found, raw)])
    smoothed, before = np.mean(errors, axis=0)
    assert smoothed < 0.7 * before


def test_approximations_are_made_monotone_only():
    method = design_projection(64, privacy=ApproxDP("0.1", "1e-6"), adjacency=Adjacency.REPLACE, degree=6)
    total = int(COUNTS.sum())
    answer = noisy(method, 4)
    found, kind = smooth_sum(method, method.estimate(answer, total), total=total)
    assert kind == "isotonic"
    assert found == pytest.approx(smooth(method, answer, total=total, kind="isotonic"), abs=1e-9)
