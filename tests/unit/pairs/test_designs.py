"""Designs are what they say: who meets whom, how often, and the same for everybody who has the seed."""

import itertools
from collections import Counter

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import chi2

from ogive.errors import ParameterError
from ogive.pairs import (
    Design,
    all_pairs,
    balanced_injections,
    injections,
    permutations,
    round_robin,
    sampled_partners,
    with_replacement,
)

SEED = b"a public seed"
ONE_SAMPLE = {
    "round robin": lambda users, seed: round_robin(users, 3, seed=seed),
    "permutations": lambda users, seed: permutations(users, 3, seed=seed),
    "with replacement": lambda users, seed: with_replacement(users, 3 * users // 2, seed=seed),
    "sampled partners": lambda users, seed: sampled_partners(users, 2, seed=seed),
    "injections": lambda users, seed: injections(np.arange(users) % 3 == 0, 2, seed=seed),
    "balanced injections": lambda users, seed: balanced_injections(np.arange(users) % 3 == 0, 2, seed=seed),
}


def met(design):
    """Each pair of users and how often it occurs, one by one."""
    return Counter(frozenset(pair) for pair in design.pairs.tolist())


@pytest.mark.parametrize("users", [2, 3, 4, 5, 8, 9, 14])
def test_a_tournament_pairs_everybody_with_another_person_in_every_round(users):
    most = users - 1 if users % 2 == 0 else users
    half = users // 2
    for rounds in range(1, most + 1):
        design = round_robin(users, rounds, seed=SEED)
        assert len(design) == rounds * half
        assert set(met(design).values()) == {1}
        rested = []
        for start in range(0, len(design), half):
            present = np.unique(design.pairs[start : start + half])
            assert present.size == 2 * half
            rested += [user for user in range(users) if user not in present]
        assert len(rested) == len(set(rested)) == rounds * (users % 2)
        expected = np.full(users, rounds)
        expected[rested] -= 1
        assert (design.degrees == expected).all()
    assert met(design) == met(all_pairs(users))
    with pytest.raises(ParameterError, match="rounds must be a whole number from 1 to"):
        round_robin(users, most + 1, seed=SEED)


@pytest.mark.parametrize("users", [6, 7])
def test_a_whole_tournament_is_the_complete_statistic(users):
    values = np.random.default_rng(2).integers(0, 100, users)
    whole = round_robin(users, users - 1 + users % 2, seed=SEED)
    every = [abs(int(x) - int(y)) for x, y in itertools.combinations(values, 2)]
    assert np.abs(np.diff(values[whole.pairs], axis=1)).mean() == pytest.approx(sum(every) / len(every), rel=1e-12)


@pytest.mark.parametrize("users", [2, 7, 20])
def test_permutations_pair_everybody_once_in_every_round(users):
    design = permutations(users, 5, seed=SEED)
    for start in range(0, len(design), users // 2):
        assert np.unique(design.pairs[start : start + users // 2]).size == users - users % 2
    assert len(design) == 5 * (users // 2)


def test_sampled_partners_are_as_many_of_every_user():
    design = sampled_partners(11, 3, seed=SEED)
    assert (design.first_degrees == 3).all()
    assert design.second_degrees.sum() == 33
    assert design.second_degrees.min() < 3 < design.second_degrees.max()


def test_one_pair_with_replacement_is_a_design():
    assert len(with_replacement(5, 1, seed=SEED)) == 1


def test_all_pairs_are_all():
    assert met(all_pairs(6)) == Counter(frozenset(pair) for pair in itertools.combinations(range(6), 2))


@pytest.mark.parametrize("drawn", [injections, balanced_injections])
@pytest.mark.parametrize("sizes", [(3, 7), (7, 3), (4, 6), (5, 5), (1, 4), (6, 2)])
def test_injections_pair_the_smaller_class_with_the_larger_in_every_round(drawn, sizes):
    positive = np.random.default_rng(1).permutation(np.repeat([True, False], sizes))
    small = min(sizes)
    design = drawn(positive, 3 if drawn is injections else max(sizes), seed=SEED)
    assert design.between
    assert positive[design.pairs[:, 0]].all()
    assert not positive[design.pairs[:, 1]].any()
    for start in range(0, len(design), small):
        assert np.unique(design.pairs[start : start + small]).size == 2 * small


@pytest.mark.parametrize("sizes", [(3, 7), (7, 3), (4, 6), (5, 5), (1, 4)])
def test_balanced_injections_never_repeat_and_use_the_larger_class_evenly(sizes):
    positive = np.repeat([True, False], sizes)
    for rounds in range(1, max(sizes) + 1):
        design = balanced_injections(positive, rounds, seed=SEED)
        assert set(met(design).values()) == {1}
        small, large = sorted((design.degrees[positive], design.degrees[~positive]), key=len)
        if sizes[0] != sizes[1]:
            assert (small == rounds).all()
        assert np.ptp(large) <= 1
    assert len(design) == sizes[0] * sizes[1]


@pytest.mark.parametrize("name", ONE_SAMPLE)
def test_a_seed_decides_a_design_and_another_gives_another(name):
    draw = ONE_SAMPLE[name]
    assert (draw(40, b"x").pairs == draw(40, b"x").pairs).all()
    assert (draw(40, b"x").pairs != draw(40, b"y").pairs).any()


@pytest.mark.parametrize("name", ["round robin", "permutations", "with replacement", "sampled partners"])
def test_every_pair_of_users_meets_equally_often_over_seeds(name):
    """Chi-square at a level of 1e-6, 4/3 of it for pairs of a round exclude others; one design for all seeds fails."""
    users, trials = 6, size(1500, part=600)
    counts = Counter()
    for trial in range(trials):
        counts += met(ONE_SAMPLE[name](users, trial.to_bytes(4, "big")))
    found = np.array([counts[frozenset(pair)] for pair in itertools.combinations(range(users), 2)])
    mean = found.sum() / 15
    limit = 4 / 3 * chi2.isf(1e-6, 14)
    assert ((found - mean) ** 2 / mean).sum() < limit
    always = np.array(
        [
            trials * met(round_robin(users, 3, seed=b"x"))[frozenset(pair)]
            for pair in itertools.combinations(range(users), 2)
        ]
    )
    assert ((always - mean) ** 2 / mean).sum() > limit


def test_a_million_users_are_paired_in_seconds():
    design = round_robin(1_000_000, 2, seed=SEED)
    assert (design.degrees == 2).all()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 0]], "two users"),
        ([[0, 5]], "users 0 to 4"),
        ([[-1, 1]], "users 0 to 4"),
        ([0, 1], "shape"),
        (np.empty((0, 2), dtype=np.int64), "at least one"),
    ],
)
def test_pairs_that_cannot_be_are_refused(pairs, message):
    with pytest.raises(ParameterError, match=message):
        Design(5, np.array(pairs))


def test_nobody_is_of_both_classes():
    assert len(Design(3, np.array([[0, 1], [1, 2]]))) == 2
    with pytest.raises(ParameterError, match="always first or always second"):
        Design(3, np.array([[0, 1], [1, 2]]), between=True)


def test_bad_arguments_are_refused():
    for call in (
        lambda: round_robin(1, 1, seed=SEED),
        lambda: round_robin(True, 1, seed=SEED),
        lambda: permutations(4, 0, seed=SEED),
        lambda: with_replacement(4, 0, seed=SEED),
        lambda: sampled_partners(4, 1.5, seed=SEED),
        lambda: round_robin(4, 1, seed=b""),
        lambda: round_robin(4, 1, seed=7),
        lambda: injections(np.ones(3, dtype=bool), 1, seed=SEED),
        lambda: injections(np.array([0, 1]), 1, seed=SEED),
        lambda: balanced_injections(np.array([True, False, False]), 3, seed=SEED),
    ):
        with pytest.raises(ParameterError):
            call()
