"""Nobody spends more than epsilon, whatever the degrees."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import chi2

from ogive.errors import ParameterError
from ogive.pairs import (
    Design,
    LaplaceNoise,
    capped,
    divisors,
    injections,
    noise_variance,
    round_robin,
    sampled_partners,
    with_replacement,
)

SEED = b"money"


def spent(design, parts):
    """What each user spends of an epsilon of 1, exactly, pair by pair."""
    total = [Fraction(0)] * design.users
    for (first, second), part in zip(design.pairs.tolist(), parts.tolist(), strict=True):
        total[first] += Fraction(1, part)
        total[second] += Fraction(1, part)
    return total


@pytest.mark.parametrize(
    "design",
    [
        round_robin(9, 4, seed=SEED),
        with_replacement(30, 60, seed=SEED),
        sampled_partners(30, 2, seed=SEED),
        injections(np.arange(20) < 6, 4, seed=SEED),
    ],
)
def test_all_pairs_of_a_user_cost_at_most_epsilon(design):
    total = spent(design, divisors(design))
    assert max(total) <= 1
    assert max(total) == 1  # somebody with the most pairs spends it all


def test_dividing_by_the_mean_degree_would_spend_more():
    design = with_replacement(30, 60, seed=SEED)
    mean = np.full(len(design), 4)
    assert design.degrees.mean() == 4
    assert max(spent(design, mean)) > 1


def test_a_pair_spends_what_the_busier_of_its_users_can():
    design = Design(4, np.array([[0, 1], [0, 2], [0, 3], [2, 3]]))
    assert divisors(design).tolist() == [3, 3, 3, 2]
    assert divisors(design, np.array([4, 1, 2, 2])).tolist() == [4, 4, 4, 2]
    with pytest.raises(ParameterError, match="user 2 agreed to 1 pairs and is in 2"):
        divisors(design, np.array([3, 1, 1, 2]))
    with pytest.raises(ParameterError, match="one a user"):
        divisors(design, np.array([3, 1]))


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_capped_degrees_are_capped(most):
    design = with_replacement(50, 200, seed=SEED)
    found = capped(design, most)
    assert found.degrees.max() <= most
    kept = {tuple(pair) for pair in found.pairs.tolist()}
    seen = np.zeros(50, dtype=int)
    for first, second in design.pairs.tolist():  # a pair among the first of both stays
        if seen[first] < most and seen[second] < most:
            assert (first, second) in kept
        seen[[first, second]] += 1
    assert (len(found) == 200) == (most == 100)


def kept_over_seeds(draw):
    """How often each pair of five users is left by a cap of 2, over 1500 seeds (1000 in `make test`)."""
    counts = Counter()
    for trial in range(size(1500, part=1000)):
        counts += Counter(map(frozenset, capped(draw(trial.to_bytes(2, "big")), 2).pairs.tolist()))
    return np.array([counts[frozenset(pair)] for pair in itertools.combinations(range(5), 2)])


def in_order_of_users(seed):
    """The control: who comes first has more room."""
    design = sampled_partners(5, 1, seed=seed)
    return Design(5, design.pairs[np.argsort(design.pairs[:, 0])])


def test_a_cap_treats_all_pairs_of_users_alike():
    """Chi-square at a level of 1e-6, twice as wide, for pairs of a design depend on each other."""
    limit = 2 * chi2.isf(1e-6, 9)
    for draw in (lambda seed: sampled_partners(5, 1, seed=seed), lambda seed: with_replacement(5, 5, seed=seed)):
        found = kept_over_seeds(draw)
        assert ((found - found.mean()) ** 2 / found.mean()).sum() < limit
    control = kept_over_seeds(in_order_of_users)
    assert ((control - control.mean()) ** 2 / control.mean()).sum() > limit


def test_a_cap_must_be_a_number():
    with pytest.raises(ParameterError, match="most must be"):
        capped(round_robin(4, 1, seed=SEED), 0)


def test_noise_of_equal_degrees_is_the_corrected_term():
    design = round_robin(40, 3, seed=SEED)
    assert noise_variance(design, 2.0, LaplaceNoise()) == pytest.approx(4 * 3 / (40 * 4), rel=1e-12)


def test_noise_of_unequal_degrees_is_summed_pair_by_pair():
    design = with_replacement(30, 60, seed=SEED)
    by_hand = sum(2 * (max(design.degrees[pair]) / 0.7) ** 2 for pair in design.pairs) / 60**2
    assert noise_variance(design, 0.7, LaplaceNoise()) == pytest.approx(by_hand, rel=1e-12)


def test_noise_of_injections():
    design = injections(np.arange(40) < 20, 3, seed=SEED)
    agreed = np.where(np.arange(40) < 20, 3, 3).astype(np.int64)
    assert design.degrees.max() == 3  # classes of equal size
    assert noise_variance(design, 2.0, LaplaceNoise(), agreed) == pytest.approx(2 * 3 / (20 * 4), rel=1e-12)
