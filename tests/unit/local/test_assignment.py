"""Who is asked which level: public, even where it is said so, and the same for owners and aggregators."""

import numpy as np
import pytest
from scipy import stats

from ogive.local.aggregation import count_levels, level_of
from ogive.local.base import SCALE, Assignment, hashed

CASES = {
    "even": Assignment.equal(3, 10, even=True),
    "even-one": Assignment.equal(3, 1, even=True),
    "independent": Assignment.equal(3, 7, even=False),
    "weighted": Assignment(2**63 - 1, (0, SCALE // 2, SCALE // 2 + SCALE // 3, SCALE)),
}


@pytest.mark.parametrize("assignment", CASES.values(), ids=CASES)
def test_owners_and_aggregators_agree(assignment):
    numbers = np.concatenate([np.arange(2000), np.array([2**32 - 1, 2**32 - 2, 10**9])])
    bounds = np.array(assignment.bounds, dtype=np.int64)
    compiled = [level_of(number, bounds, np.uint64(assignment.key), assignment.even) for number in numbers]
    found = assignment.of(numbers)
    assert found.tolist() == compiled
    assert 0 <= found.min() <= found.max() < assignment.levels
    counted = count_levels(5, 1000, bounds, np.uint64(assignment.key), assignment.even)
    assert counted.tolist() == np.bincount(found[5:1005], minlength=assignment.levels).tolist()


def test_the_hash_is_splitmix():
    # the first outputs of SplitMix64 from state 1234567, as its authors' code prints them
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert hashed(1234567, np.arange(4)).tolist() == [value >> 32 for value in expected]


@pytest.mark.parametrize("levels", [1, 2, 3, 16, 40])
def test_every_block_asks_every_level_once(levels):
    found = Assignment.equal(1, levels, even=True).of(np.arange(50 * levels)).reshape(50, levels)
    assert (np.sort(found, axis=1) == np.arange(levels)).all()
    assert levels < 3 or np.unique(found[:, 0]).size > 1, "blocks begin at different levels"
    assert (np.diff(found, axis=1) % levels == 1 % levels).all()


def test_levels_have_their_chances():
    for assignment in CASES.values():
        found = np.bincount(assignment.of(np.arange(10**6)), minlength=assignment.levels)
        assert sum(assignment.chances) == pytest.approx(1)
        if assignment.levels > 1:
            assert stats.chisquare(found, np.array(assignment.chances) * found.sum()).pvalue > 1e-9
    skewed = np.bincount(CASES["independent"].of(np.arange(10**6)), minlength=7)
    chances = np.array([0.15, *[0.85 / 6] * 6])
    assert stats.chisquare(skewed, chances * skewed.sum()).pvalue < 1e-9, "the test sees one chance 5 % off"


def test_seeds_change_who_is_asked_what():
    numbers = np.arange(10_000)
    first, second = (Assignment.equal(seed, 4, even=False).of(numbers) for seed in (0, 1))
    table = np.histogram2d(first, second, bins=4)[0]
    assert stats.chi2_contingency(table).pvalue > 1e-9
    assert stats.chi2_contingency(np.histogram2d(first, first, bins=4)[0]).pvalue < 1e-9
