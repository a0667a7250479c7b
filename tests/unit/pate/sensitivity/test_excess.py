"""Smooth sensitivity of interactive costs by brute force over neighbours, where expected votes are nearly halves."""

import itertools
import math

import numpy as np
import pytest
from helpers.scope import is_everything, size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.core.checks import WIDE
from ogive.errors import DataError
from ogive.pate import InteractiveGNMax
from ogive.pate.aggregators import BITS, expected_votes, threshold_check
from ogive.pate.costs.answers import largest_excess
from ogive.pate.sensitivity import smooth

AGGREGATOR = InteractiveGNMax(1, 0.5, 50, "1/2")
NEARLY = [half + step for half in (0.5, 1.5, 2.5) for step in (-math.ulp(half), 0.0, math.ulp(half))]
ROOM = 1 + 1e-12
"""Costs are numbers in floating point."""


def excess_in_floating_point(votes, probabilities):
    """The control: what was done once for continuous noise."""
    expected = votes.sum(axis=1, keepdims=True) * probabilities
    return np.floor((votes - expected).max(axis=1) + 0.5)


def histograms(teachers, classes):
    return [each for each in itertools.product(range(teachers + 1), repeat=classes) if sum(each) == teachers]


def moved(histogram):
    """Those in which one teacher votes for another class."""
    for source, target in itertools.permutations(range(len(histogram)), 2):
        if histogram[source]:
            changed = list(histogram)
            changed[source] -= 1
            changed[target] += 1
            yield tuple(changed)


def expecting(count, teachers, classes):
    """Probabilities with which so many votes are expected of every class but the last."""
    found = np.full(classes, count / teachers)
    found[-1] = 1 - found[:-1].sum()
    return found


def worst(teachers, probabilities, *, noise, smoothness, order=10.0):
    """Largest change of the cost and of the sensitivity between neighbours, in units of what is allowed."""
    queries, classes = probabilities.shape
    tables = list(itertools.product(histograms(teachers, classes), repeat=queries))
    found = {
        table: smooth.smooth_cost(
            np.array(table), AGGREGATOR, order=order, smoothness=smoothness, probabilities=probabilities, noise=noise
        )
        for table in tables
    }
    change = growth = 0.0
    for table, here in found.items():
        choices = [[each, *moved(each)] for each in table]
        for other in itertools.product(*choices):
            there = found[other]
            change = max(change, abs(here.cost - there.cost) / here.sensitivity)
            growth = max(growth, there.sensitivity / here.sensitivity / math.exp(smoothness))
    return change, growth


@pytest.mark.each_value
@pytest.mark.parametrize("noise", ["continuous", "discrete", "scaled"])
@pytest.mark.parametrize(("teachers", "classes"), [(3, 2), (5, 2), (5, 3), (8, 3)])
@pytest.mark.parametrize("smoothness", [0.1, 2.0])
def test_smooth_sensitivity_holds_for_all_neighbours(noise, teachers, classes, smoothness):
    for count in NEARLY if is_everything() else NEARLY[1::2]:  # a half, or a bit less or more
        if count * (classes - 1) > teachers:
            continue
        probabilities = expecting(count, teachers, classes)[None]
        change, growth = worst(teachers, probabilities, noise=noise, smoothness=smoothness)
        assert 0 < change <= ROOM
        assert growth <= ROOM


@pytest.mark.parametrize("noise", ["continuous", "scaled"])
def test_smooth_sensitivity_holds_for_two_queries(noise):
    probabilities = np.stack([expecting(count, 5, 2) for count in (NEARLY[5], NEARLY[2])])
    change, growth = worst(5, probabilities, noise=noise, smoothness=1.0)
    assert 0 < change <= ROOM
    assert growth <= ROOM


def test_excess_in_floating_point_breaks_it_by_two(monkeypatch):
    """The control: 4 less a bit more than 3/2 is 5/2, and 3 less as much is below 3/2."""
    probabilities = expecting(NEARLY[5], 5, 2)[None]
    monkeypatch.setattr(smooth, "largest_excess", excess_in_floating_point)
    change, _ = worst(5, probabilities, noise="continuous", smoothness=1.0)
    assert change == pytest.approx(2.023, abs=0.001)


@settings(max_examples=size(300, part=100), derandomize=True, deadline=None, database=None)
@given(
    st.integers(1, 2000),
    st.lists(st.integers(0, 2000), min_size=2, max_size=5),
    st.integers(0, 30),
    st.integers(-3, 3),
    st.data(),
)
def test_one_vote_moves_the_excess_by_at_most_one(teachers, parts, half, ulps, data):
    classes = len(parts)
    weights = np.array(parts) + 1
    votes = np.floor(teachers * weights / weights.sum()).astype(np.int64)
    votes[0] += teachers - votes.sum()
    count = half + 0.5
    count += ulps * math.ulp(count)
    scores = np.full(classes, 1 / classes)
    scores[data.draw(st.integers(0, classes - 1))] = min(1.0, count / teachers)
    before = largest_excess(votes[None], scores[None])[0]
    for other in moved(tuple(votes.tolist())):
        assert abs(largest_excess(np.array([other]), scores[None])[0] - before) <= 1


def test_the_excess_is_that_of_the_deployed_check():
    teachers = 9
    votes = np.array(histograms(teachers, 2))
    for count in (*NEARLY, *(4.5 + part * 2**-17 for part in range(-3, 4))):
        scores = np.repeat(expecting(count, teachers, 2)[None], len(votes), axis=0)
        deployed = threshold_check(AGGREGATOR.threshold, AGGREGATOR.sigma_1, expected_votes(scores, teachers))
        assert (largest_excess(votes, scores) * 2**BITS).tolist() == deployed.heights(votes, BITS).tolist()


def test_the_excess_of_the_most_votes_is_that_of_fractions():
    draw = np.random.default_rng(5)
    most, wrong = WIDE >> BITS, 0
    for teachers in (1 << 40, most):
        shares = draw.dirichlet(np.ones(3), 2000)
        votes = np.floor(shares * teachers).astype(np.int64)
        votes[:, 0] += teachers - votes.sum(axis=1)
        scores = shares[:, [1, 2, 0]]
        slow = []
        for row, wanted in zip(votes.tolist(), expected_votes(scores, teachers), strict=True):
            slow.append(max((count << BITS) - each for count, each in zip(row, wanted, strict=True)))
        assert largest_excess(votes, scores).tolist() == [(each + (1 << BITS - 1)) >> BITS for each in slow]
        in_floats = np.floor((votes - np.array(expected_votes(scores, teachers)) / (1 << BITS)).max(axis=1) + 0.5)
        wrong += (in_floats != largest_excess(votes, scores)).sum()
    assert wrong, "the control: 2^-16 of so many votes is not kept by a float"
    votes[0, 0] += 1
    with pytest.raises(DataError, match=f"^votes are expected of at most {most} teachers$"):
        largest_excess(votes, scores)
