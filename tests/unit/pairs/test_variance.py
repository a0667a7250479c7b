"""Variances against sums over all pairs of pairs, over all data, over all designs, and against simulation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import ParameterError
from ogive.pairs import (
    Design,
    LaplaceNoise,
    Overlaps,
    TwoSampleOverlaps,
    all_pairs,
    balanced_injections,
    injections,
    noise_variance,
    overlaps,
    permutations,
    round_robin,
    sampled_partners,
    two_sample_overlaps,
    with_replacement,
)

SEED = b"variance"
ZETA1, ZETA2 = 1 / 180, 1 / 18


def counted(design):
    """Ordered pairs of pairs by the users that they share: the first only, the second only, both, and either one."""
    first = second = both = one = 0
    for left, right in itertools.product(design.pairs.tolist(), repeat=2):
        shared = len({*left} & {*right})
        one += shared == 1
        both += shared == 2
        first += shared == 1 and left[0] == right[0]
        second += shared == 1 and left[1] == right[1]
    return first, second, both, one


@pytest.mark.parametrize(
    "design",
    [
        round_robin(9, 4, seed=SEED),
        round_robin(8, 7, seed=SEED),
        permutations(6, 5, seed=SEED),
        with_replacement(5, 30, seed=SEED),
        sampled_partners(7, 3, seed=SEED),
        all_pairs(5),
    ],
)
def test_overlaps_are_counted(design):
    found = overlaps(design)
    assert (found.both, found.one) == counted(design)[2:]


@pytest.mark.parametrize("draw", [injections, balanced_injections])
@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (4, 4)])
def test_overlaps_between_classes_are_counted(draw, sizes):
    design = draw(np.repeat([True, False], sizes), 3, seed=SEED)
    found = two_sample_overlaps(design)
    assert (found.first, found.second, found.both) == counted(design)[:3]


def test_a_design_has_the_overlaps_of_its_kind():
    with pytest.raises(ParameterError, match="two_sample_overlaps"):
        overlaps(injections(np.array([True, False]), 1, seed=SEED))
    with pytest.raises(ParameterError, match="of one sample"):
        two_sample_overlaps(all_pairs(3))


def variance_over_data(design, values, chances, kernel):
    """Of the mean over the design's pairs, exactly, over all data of independent users."""
    mean = square = Fraction(0)
    for data in itertools.product(range(len(values)), repeat=design.users):
        chance = Fraction(1)
        for place in data:
            chance *= chances[place]
        found = sum(kernel(values[data[i]], values[data[j]]) for i, j in design.pairs.tolist())
        mean += chance * found / len(design)
        square += chance * Fraction(found, len(design)) ** 2
    return square - mean**2


def components(values, chances, kernel):
    """zeta1 of either argument, and zeta2, exactly."""
    cells = [
        (p * q, kernel(x, y))
        for x, p in zip(values, chances, strict=True)
        for y, q in zip(values, chances, strict=True)
    ]
    mean = sum(chance * value for chance, value in cells)
    zeta2 = sum(chance * value**2 for chance, value in cells) - mean**2
    rows = [sum(q * kernel(x, y) for y, q in zip(values, chances, strict=True)) for x in values]
    columns = [sum(p * kernel(x, y) for x, p in zip(values, chances, strict=True)) for y in values]
    first, second = (sum(p * m**2 for p, m in zip(chances, means, strict=True)) - mean**2 for means in (rows, columns))
    return first, second, zeta2


VALUES = (0, 1, 4)
CHANCES = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


@pytest.mark.parametrize(
    "design",
    [
        round_robin(5, 2, seed=SEED),
        round_robin(4, 3, seed=SEED),
        permutations(4, 3, seed=SEED),
        with_replacement(4, 7, seed=SEED),
        Design(5, np.array([[0, 1], [1, 2], [0, 1], [2, 3]])),
    ],
)
def test_the_variance_is_that_over_all_data(design):
    def gini(x, y):
        return abs(x - y)

    zeta1, _, zeta2 = components(VALUES, CHANCES, gini)
    exact = variance_over_data(design, VALUES, CHANCES, gini)
    assert overlaps(design).variance(float(zeta1), float(zeta2)) == pytest.approx(float(exact), rel=1e-12)
    assert overlaps(design).variance(0.0, float(zeta2)) != pytest.approx(float(exact), rel=1e-3)


@pytest.mark.parametrize("draw", [injections, balanced_injections])
def test_the_variance_between_classes_is_that_over_all_data(draw):
    def right(x, y):
        return int(x > y)

    design = draw(np.array([True, False, True, False, False]), 2, seed=SEED)
    first, second, both = components(VALUES, CHANCES, right)
    exact = variance_over_data(design, VALUES, CHANCES, right)
    found = two_sample_overlaps(design).variance(float(first), float(second), float(both))
    assert found == pytest.approx(float(exact), rel=1e-12)
    swapped = two_sample_overlaps(design).variance(float(second), float(first), float(both))
    assert swapped != pytest.approx(float(exact), rel=1e-3)


def average(designs):
    """Mean (one, both) over equally likely designs, counted one pair of pairs at a time."""
    found = [counted(design) for design in designs]
    return tuple(Fraction(sum(column), len(found)) for column in zip(*found, strict=True))


def pairings(users):
    """The pairs of every order of the users."""
    for order in itertools.permutations(range(users)):
        yield [order[i : i + 2] for i in range(0, users - 1, 2)]


@pytest.mark.parametrize(("users", "rounds"), [(4, 2), (3, 3), (5, 2)])
def test_permutations_on_average_over_all_of_them(users, rounds):
    """Of the first round's order nothing depends, so that it is fixed."""
    kinds = list({tuple(sorted(tuple(sorted(p)) for p in pairing)) for pairing in pairings(users)})
    first = kinds[0]
    designs = [
        Design(users, np.array([*first, *itertools.chain(*rest)]))
        for rest in itertools.product(kinds, repeat=rounds - 1)
    ]
    _, _, both, one = average(designs)
    found = Overlaps.permutations(users, rounds)
    assert (found.both, found.one) == (both, one)
    assert found.pairs == len(designs[0])


@pytest.mark.parametrize(("users", "pairs"), [(3, 3), (4, 3)])
def test_pairs_with_replacement_on_average_over_all_of_them(users, pairs):
    every = list(itertools.combinations(range(users), 2))
    _, _, both, one = average([Design(users, np.array(drawn)) for drawn in itertools.product(every, repeat=pairs)])
    found = Overlaps.with_replacement(users, pairs)
    assert (found.both, found.one) == (both, one)


@pytest.mark.parametrize(("users", "partners"), [(3, 1), (3, 2), (4, 1), (5, 1)])
def test_sampled_partners_on_average_over_all_of_them(users, partners):
    choices = [[(user, other) for other in range(users) if other != user] for user in range(users)] * partners
    _, _, both, one = average([Design(users, np.array(drawn)) for drawn in itertools.product(*choices)])
    found = Overlaps.sampled_partners(users, partners)
    assert (found.both, found.one) == (both, one)


@pytest.mark.parametrize(("first", "second", "rounds"), [(2, 3, 2), (3, 2, 2), (2, 2, 3), (1, 3, 3), (3, 4, 2)])
def test_injections_on_average_over_all_of_them(first, second, rounds):
    small, large = min(first, second), max(first, second)
    rows = [[(i, small + j) for i, j in enumerate(images)] for images in itertools.permutations(range(large), small)]
    designs = [
        Design(small + large, np.array(list(itertools.chain(*drawn)))[:, :: 1 if first == small else -1], True)
        for drawn in itertools.product(rows, repeat=rounds)
    ]
    left, right, both, _ = average(designs)
    found = TwoSampleOverlaps.injections(first, second, rounds)
    assert (found.first, found.second, found.both) == (left, right, both)


@pytest.mark.parametrize("users", [4, 7, 10, 11])
def test_every_tournament_has_what_is_expected(users):
    for rounds in range(1, users):
        assert overlaps(round_robin(users, rounds, seed=SEED)) == Overlaps.round_robin(users, rounds)
    assert overlaps(all_pairs(users)) == Overlaps.all_pairs(users)
    complete = users - 1 if users % 2 == 0 else users
    assert Overlaps.round_robin(users, complete) == Overlaps.all_pairs(users)


@pytest.mark.parametrize("sizes", [(3, 7), (7, 3), (4, 6), (5, 5)])
def test_every_balanced_injection_has_what_is_expected(sizes):
    positive = np.repeat([True, False], sizes)
    for rounds in range(1, max(sizes) + 1):
        found = two_sample_overlaps(balanced_injections(positive, rounds, seed=SEED))
        assert found == TwoSampleOverlaps.balanced_injections(*sizes, rounds)
        other = TwoSampleOverlaps.injections(*sizes, rounds)
        assert found.variance(0.02, 0.03, 0.2) <= other.variance(0.02, 0.03, 0.2) + 1e-15


def theorem5(users, rounds, epsilon, constant):
    """As it is printed, with the constant of the noise: 4 is right, 2 is the paper's."""
    others = (rounds - 1) / (users - 1)
    part = 2 * (rounds - 1) * (1 - 1 / (users - 1)) * ZETA1 + (1 + others) * ZETA2
    return 2 / (rounds * users) * part + constant * rounds / (users * epsilon**2)


def test_theorem_5_corrected():  # 26
    noise = LaplaceNoise().variance(2 / 3) / 1500
    found = Overlaps.permutations(1000, 3).variance(ZETA1, ZETA2) + noise
    assert found == pytest.approx(0.00305191117, abs=5e-12)
    assert found == pytest.approx(theorem5(1000, 3, 2, 4), rel=1e-12)
    assert theorem5(1000, 3, 2, 2) == pytest.approx(0.00155191117, abs=5e-12)


def test_all_pairs_have_hoeffdings_variance():  # 27
    found = Overlaps.all_pairs(1000).variance(ZETA1, ZETA2)
    assert found == pytest.approx(2.231120009e-5, abs=5e-15)
    assert found == pytest.approx(2 * (2 * 998 * ZETA1 + ZETA2) / (1000 * 999), rel=1e-12)
    sampled = Overlaps.with_replacement(1000, 700).variance(ZETA1, ZETA2)
    assert sampled == pytest.approx(ZETA2 / 700 + (1 - 1 / 700) * found, rel=1e-12)


def test_a_tournament_is_best_of_equally_many_pairs():
    tournament = Overlaps.round_robin(100, 6).variance(ZETA1, ZETA2)
    assert tournament == pytest.approx(2 / 600 * (10 * ZETA1 + ZETA2), rel=1e-12)
    orders = Overlaps.permutations(100, 6).variance(ZETA1, ZETA2)
    assert orders - tournament == pytest.approx(2 / 600 * 5 / 99 * (ZETA2 - 2 * ZETA1), rel=1e-9)
    assert tournament < orders < Overlaps.sampled_partners(100, 3).variance(ZETA1, ZETA2)


def test_the_gini_kernel_of_uniform_values():  # 25, by Gauss-Legendre on both triangles
    nodes, weights = np.polynomial.legendre.leggauss(12)
    nodes, weights = (nodes + 1) / 2, weights / 2
    given = np.array([x * (weights @ np.abs(x - x * nodes)) + (1 - x) * (weights @ ((1 - x) * nodes)) for x in nodes])
    mean = weights @ given
    squares = weights @ (nodes[:, None] - nodes) ** 2 @ weights
    assert (mean, weights @ given**2 - mean**2, squares - mean**2) == pytest.approx((1 / 3, ZETA1, ZETA2), rel=1e-12)


@pytest.mark.distribution
def test_simulated_error_is_the_corrected_one_and_not_the_papers():
    """Within five standard errors, level 6e-7, which the paper's formula is not: n = 40, P = 3, epsilon = 2."""
    generator, trials, users, rounds = np.random.default_rng(5), size(6000, part=2500), 40, 3
    noise = generator.laplace(scale=rounds / 2, size=(trials, rounds * users // 2)).mean(axis=1)
    data = generator.random((trials, users))
    errors = np.empty(trials)
    for trial in range(trials):
        pairs = permutations(users, rounds, seed=trial.to_bytes(4, "big")).pairs
        errors[trial] = np.abs(np.diff(data[trial][pairs], axis=1)).mean() + noise[trial] - 1 / 3
    right, papers = theorem5(users, rounds, 2, 4), theorem5(users, rounds, 2, 2)
    assert right == pytest.approx(0.0763, abs=5e-5)
    assert papers == pytest.approx(0.0388, abs=5e-5)
    wide = 5 * (errors**2).std() / np.sqrt(trials)
    assert abs((errors**2).mean() - right) < wide
    assert abs((errors**2).mean() - papers) > wide


def test_a_reported_error_adds_noise_to_sampling():
    design = permutations(1000, 3, seed=SEED)
    found = overlaps(design).variance(ZETA1, ZETA2) + noise_variance(design, 2.0, LaplaceNoise())
    assert found == pytest.approx(0.00305191117, rel=1e-3)
