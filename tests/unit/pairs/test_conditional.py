"""Variances given the records, against every relabelling of the users and every design."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pairs import FixedRecords, Overlaps, all_pairs, fixed_records, overlaps, round_robin

SEED = b"conditional"

KINDS = np.array([[2, -1, 0], [-1, 1, 3], [0, 3, 5]])
COUNTS = {4: (2, 1, 1), 5: (2, 2, 1), 6: (1, 2, 3)}


def between(users):
    """The kernel of every two users, whose kinds are counted."""
    kinds = np.repeat(np.arange(3), COUNTS[users])
    return KINDS[kinds[:, None], kinds]


def known(users):
    return fixed_records(KINDS, np.array(COUNTS[users]))


def spread(means):
    """Variance of equally likely numbers, exactly."""
    middle = sum(means, Fraction(0)) / len(means)
    return sum((mean - middle) ** 2 for mean in means) / len(means), middle


def mean_over(values, pairs):
    return Fraction(int(sum(values[i, j] for i, j in pairs)), len(pairs))


@pytest.mark.parametrize(("users", "rounds"), [(5, 1), (5, 2), (5, 4), (5, 5), (6, 1), (6, 2), (6, 4), (6, 5)])
def test_tournaments_over_every_relabelling(users, rounds):
    values = between(users)
    pairs = round_robin(users, rounds, seed=SEED).pairs.tolist()
    means = [
        mean_over(values, [(order[i], order[j]) for i, j in pairs]) for order in itertools.permutations(range(users))
    ]
    exact, middle = spread(means)
    found = known(users)
    assert found.mean == pytest.approx(float(middle), rel=1e-12)
    assert found.variance(Overlaps.round_robin(users, rounds)) == pytest.approx(float(exact), rel=1e-11, abs=1e-14)
    if rounds == 2:  # controls: neither are disjoint pairs independent, nor are rounds
        alone = FixedRecords(users, found.mean, 0.0, found.one, found.both)
        assert alone.variance(Overlaps.round_robin(users, rounds)) != pytest.approx(float(exact), rel=0.01)
        assert found.variance(Overlaps.permutations(users, rounds)) != pytest.approx(float(exact), rel=0.01)


def matchings(users):
    """The pairs of every order of the users, each matching once."""
    orders = itertools.permutations(range(users))
    return {frozenset(frozenset(order[i : i + 2]) for i in range(0, users - 1, 2)) for order in orders}


@pytest.mark.parametrize(("users", "rounds"), [(4, 3), (5, 1), (5, 2), (6, 1), (6, 2)])
def test_permutations_over_every_draw(users, rounds):
    values = between(users)
    drawn = [[tuple(pair) for pair in matching] for matching in matchings(users)]
    means = [mean_over(values, [*itertools.chain(*each)]) for each in itertools.product(drawn, repeat=rounds)]
    exact, _ = spread(means)
    assert known(users).variance(Overlaps.permutations(users, rounds)) == pytest.approx(float(exact), rel=1e-11)


def test_pairs_with_replacement_over_every_draw():
    values = between(4)
    every = [*itertools.combinations(range(4), 2)]
    exact, _ = spread([mean_over(values, drawn) for drawn in itertools.product(every, repeat=3)])
    assert known(4).variance(Overlaps.with_replacement(4, 3)) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("partners", [1, 2])
def test_sampled_partners_over_every_draw(partners):
    values = between(4)
    choices = [[(user, other) for other in range(4) if other != user] for user in range(4)] * partners
    means = [mean_over(values, drawn) for drawn in itertools.product(*choices)]
    exact, _ = spread(means)
    assert known(4).variance(Overlaps.sampled_partners(4, partners)) == pytest.approx(float(exact), rel=1e-11)


def test_records_are_the_same_by_kind_and_one_by_one():
    one_by_one = fixed_records(between(6), np.ones(6, dtype=np.int64))
    found = known(6)
    assert (found.users, found.mean, found.none, found.one, found.both) == pytest.approx(
        (6, one_by_one.mean, one_by_one.none, one_by_one.one, one_by_one.both), rel=1e-12
    )


@pytest.mark.parametrize("users", [2, 3, 40, 41])
def test_all_pairs_of_fixed_records_do_not_vary(users):
    draw = np.random.default_rng(users)
    half = draw.random((users, users))
    found = fixed_records(half + half.T, np.ones(users, dtype=np.int64))
    assert found.variance(overlaps(all_pairs(users))) == pytest.approx(0, abs=1e-14)
    assert found.both > 0.01 or users == 2


def test_independent_rounds_divide_the_variance():
    draw = np.random.default_rng(7)
    half = draw.random((31, 31))
    counts = draw.integers(0, 10_000, 31)
    found, users = fixed_records(half + half.T, counts), int(counts.sum())
    once = found.variance(Overlaps.permutations(users, 1))
    for rounds in (2, 5, 10):
        assert found.variance(Overlaps.permutations(users, rounds)) == pytest.approx(once / rounds, rel=1e-9)
        assert found.variance(Overlaps.round_robin(users, rounds)) < once / rounds


def test_what_new_records_add_is_the_variance_of_the_complete_statistic():
    """Records drawn with replacement: the variance given them, on average, and that of all pairs make Theorem 5's."""
    kernel, chances = KINDS.astype(float), np.array([0.5, 0.3, 0.2])
    mean = chances @ kernel @ chances
    zeta1 = chances @ (kernel @ chances) ** 2 - mean**2
    zeta2 = chances @ kernel**2 @ chances - mean**2
    design = Overlaps.permutations(6, 2)
    given = square = first = 0.0
    for data in itertools.product(range(3), repeat=6):
        chance = chances[list(data)].prod()
        found = fixed_records(kernel, np.bincount(data, minlength=3))
        given += chance * found.variance(design)
        first += chance * found.mean
        square += chance * found.mean**2
    assert first == pytest.approx(mean, rel=1e-12)
    assert given + square - mean**2 == pytest.approx(design.variance(zeta1, zeta2), rel=1e-10)
    assert given < 0.8 * design.variance(zeta1, zeta2)


@pytest.mark.parametrize(
    ("kernel", "counts"),
    [
        ([[0, 1], [2, 0]], [2, 2]),
        ([[0, 1], [1, 0]], [2, 2, 1]),
        ([[0, 1]], [2]),
        ([[0, 1], [1, 0]], [1, 0]),
        ([[0, 1], [1, 0]], [3, -1]),
    ],
)
def test_what_is_no_kernel_of_records_is_refused(kernel, counts):
    with pytest.raises(ParameterError):
        fixed_records(np.array(kernel), np.array(counts))
