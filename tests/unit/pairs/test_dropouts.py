"""After dropouts nobody is in more pairs than agreed, and those left over meet somebody new."""

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import chi2

from ogive.errors import ParameterError
from ogive.pairs import Design, balanced_injections, divisors, met_anew, paired_again, round_robin, with_replacement

SEED = b"again"


def gone_of(users, share):
    return np.random.default_rng(3).random(users) < share


@pytest.mark.parametrize("share", [0.05, 0.4])
@pytest.mark.parametrize("rounds", [1, 4])
def test_those_without_a_partner_meet_each_other(rounds, share):
    design = round_robin(200, rounds, seed=SEED)
    gone = gone_of(200, share)
    again = paired_again(design, gone, seed=SEED)
    stays = ~gone[design.pairs].any(axis=1)
    assert (again.pairs[: stays.sum()] == design.pairs[stays]).all()
    assert not gone[again.pairs].any()
    assert (again.degrees <= design.degrees).all()
    together = np.sort(again.pairs, axis=1)
    assert len(np.unique(together, axis=0)) == len(again)
    wanting = int((design.degrees[~gone] - again.degrees[~gone]).sum())
    lacking = int((~gone).sum() * rounds - 2 * stays.sum())
    assert lacking > 2
    assert wanting <= 2  # nearly all found somebody
    assert (divisors(again, design.degrees) == rounds).all()


def test_a_lost_pair_that_had_begun_counts():
    design = round_robin(100, 3, seed=SEED)
    gone = gone_of(100, 0.3)
    begun = np.arange(len(design)) < 60
    again = paired_again(design, gone, seed=SEED, begun=begun)
    lost = gone[design.pairs].any(axis=1)
    spent = np.bincount(design.pairs[lost & begun].ravel(), minlength=100)
    assert (again.degrees + spent <= design.degrees)[~gone].all()
    without = paired_again(design, gone, seed=SEED)
    assert (without.degrees + spent > design.degrees)[~gone].any()  # the control
    assert len(again) > (~lost).sum()


def test_new_pairs_are_between_classes_too():
    positive = np.arange(120) % 4 == 0
    design = balanced_injections(positive, 4, seed=SEED)
    gone = gone_of(120, 0.3)
    again = paired_again(design, gone, seed=SEED)
    assert again.between
    assert positive[again.pairs[:, 0]].all()
    assert not positive[again.pairs[:, 1]].any()
    assert (again.degrees <= design.degrees).all()
    assert len(again) > (~gone[design.pairs].any(axis=1)).sum()


@pytest.mark.parametrize("positives_gone", [2, 6])
def test_between_classes_all_of_the_side_with_fewer_left_over_meet_one_of_the_other_at_random(positives_gone):
    """Of each of eight pairs one is gone; chi-square at a level of 1e-6, and one seed for all fails it."""
    design = Design(16, np.stack([np.arange(8), np.arange(8, 16)], axis=1), between=True)
    gone = np.zeros(16, dtype=bool)
    gone[:positives_gone] = True  # their partners want one, and those of the last negatives do
    gone[8 + positives_gone :] = True
    wanting = min(positives_gone, 8 - positives_gone)
    counts = np.zeros((8 - positives_gone, positives_gone))
    for trial in range(600):
        again = paired_again(design, gone, seed=trial.to_bytes(2, "big"))
        assert len(again) == wanting
        counts[again.pairs[:, 0] - positives_gone, again.pairs[:, 1] - 8] += 1
    mean = counts.mean()
    assert ((counts - mean) ** 2 / mean).sum() < chi2.isf(1e-6, counts.size - 1)
    first = counts * 0
    first[again.pairs[:, 0] - positives_gone, again.pairs[:, 1] - 8] = 600
    assert ((first - mean) ** 2 / mean).sum() > chi2.isf(1e-6, counts.size - 1)


def test_random_degrees_are_kept_too():
    design = with_replacement(60, 120, seed=SEED)
    again = paired_again(design, gone_of(60, 0.3), seed=SEED)
    assert (again.degrees <= design.degrees).all()


def test_without_dropouts_nothing_changes():
    design = round_robin(9, 4, seed=SEED)
    assert (paired_again(design, np.zeros(9, dtype=bool), seed=SEED).pairs == design.pairs).all()


def test_two_who_met_do_not_meet_again():
    design = Design(4, np.array([[0, 1], [0, 2], [1, 3]]))
    again = paired_again(design, np.array([False, False, True, True]), seed=SEED)
    assert again.pairs.tolist() == [[0, 1]]


def test_no_pair_left_is_refused():
    with pytest.raises(ParameterError, match="no pair is left"):
        paired_again(round_robin(4, 1, seed=SEED), np.array([True, True, True, False]), seed=SEED)
    with pytest.raises(ParameterError, match="one truth value a user"):
        paired_again(round_robin(4, 1, seed=SEED), np.zeros(3, dtype=bool), seed=SEED)


@pytest.mark.parametrize("between", [False, True])
def test_whoever_meets_anew_is_in_as_many_pairs_as_are_free_and_meets_nobody_again(between):
    """Several passes in which random people are free: nobody is in more pairs than it may be, nor in one twice."""
    rng = np.random.default_rng(44)
    met, cases = 0, size(200, part=25)
    for case in range(cases):
        users = int(rng.integers(4, 12))
        drawn = balanced_injections(np.arange(users) < users // 2, 1, seed=bytes([case])) if between else None
        design = drawn or round_robin(users, int(rng.integers(1, 3)), seed=bytes([case]))
        pairs = design.pairs
        first_side = set(pairs[:, 0].tolist())
        for turn in range(3):
            free = rng.integers(0, 3, users)
            new = met_anew(Design(users, pairs, design.between), free, seed=bytes([case, turn]))
            assert np.array_equal(new, met_anew(Design(users, pairs, design.between), free, seed=bytes([case, turn])))
            assert np.all(np.bincount(new.ravel(), minlength=users) <= free)
            met += len(new)
            pairs = np.concatenate([pairs, new])
            kinds = [frozenset(pair) for pair in pairs.tolist()]
            assert len(set(kinds[len(design) :])) == len(kinds) - len(design), "none twice"
            assert not set(kinds[len(design) :]) & set(kinds[: len(design)])
            assert all(len(kind) == 2 for kind in kinds)
            assert not between or all(one in first_side for one in new[:, 0].tolist())
    assert met > 2.5 * cases
    with pytest.raises(ParameterError, match="each user needs one number"):
        met_anew(Design(3, np.array([[0, 1]])), np.ones(2, int), seed=b"")
