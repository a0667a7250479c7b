"""Errors estimated from noisy outputs, as the proofs say: exact means over all data and all noise."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from ogive.pairs import (
    Design,
    balanced_injections,
    injections,
    overlaps,
    permutations,
    round_robin,
    two_sample_overlaps,
    with_replacement,
)

SEED = b"estimates"
VALUES = ((0, Fraction(1, 2)), (1, Fraction(1, 3)), (4, Fraction(1, 6)))
NOISE = ((-1, Fraction(1, 3)), (0, Fraction(1, 3)), (2, Fraction(1, 3)))  # of mean 1/3, which is taken off


def kernel(x, y):
    return Fraction(abs(x - y))


def order(x, y):
    return Fraction(x > y)


def product_moments(design, function, scales):
    """E w_a w_b of all pairs of pairs and E w_a, over all data; noise of pair a is `scales[a]` times that of NOISE."""
    means, plain = moments(design.users, tuple(map(tuple, design.pairs.tolist())), function)
    products = [list(row) for row in plain]
    spread = sum(p * z**2 for z, p in NOISE) - sum(p * z for z, p in NOISE) ** 2
    for a, scale in enumerate(scales):
        products[a][a] += spread * scale**2
    return list(means), products


@functools.cache
def moments(users, pairs, function):
    """The same without noise."""
    size = len(pairs)
    means, products = [Fraction(0)] * size, [[Fraction(0)] * size for _ in range(size)]
    for drawn in itertools.product(VALUES, repeat=users):
        chance = Fraction(1)
        for _, each in drawn:
            chance *= each
        found = [function(drawn[i][0], drawn[j][0]) for i, j in pairs]
        for a in range(size):
            weighted = chance * found[a]
            means[a] += weighted
            for b in range(a + 1):
                products[a][b] += weighted * found[b]
    for a, b in itertools.combinations(range(size), 2):
        products[a][b] = products[b][a]
    return means, products


def related(design):
    """Whether pairs share a user, each with itself."""
    pairs = design.pairs.tolist()
    return [[bool({*a} & {*b}) for b in pairs] for a in pairs]


def expected_of(weights, products):
    """Mean of a quadratic form of the outputs."""
    return sum(w * m for row, moments in zip(weights, products, strict=True) for w, m in zip(row, moments, strict=True))


def quadratic(size, entry):
    return [[Fraction(entry(a, b)) for b in range(size)] for a in range(size)]


def unbiased(design):
    """Of the sum over related pairs of w_a w_b - m^2, over N^2 - R."""
    size, near = len(design), related(design)
    count = sum(map(sum, near))
    return quadratic(size, lambda a, b: (near[a][b] - Fraction(count, size**2)) / (size**2 - count))


def centred(design, chosen, divisor):
    """Of the sum over chosen pairs of pairs of (w_a - m)(w_b - m), over a divisor."""
    size = len(design)
    rows = [sum(row) for row in chosen]
    total = sum(rows)
    return quadratic(
        size,
        lambda a, b: (chosen[a][b] - Fraction(rows[a] + rows[b], size) + Fraction(total, size**2)) / divisor,
    )


def truth(design, means, products):
    """Mean and variance of the mean over pairs, and its covariance with each output."""
    size = len(design)
    mean = means[0]
    assert means == [mean] * size
    with_each = [sum(row) / size - mean**2 for row in products]
    return mean, sum(with_each) / size, with_each


IRREGULAR = {
    "a path": Design(6, np.array([[0, 1], [1, 2], [2, 3], [4, 5]])),
    "repeated": Design(6, np.array([[0, 1], [0, 1], [2, 3], [1, 2], [4, 5]])),
    "with replacement": with_replacement(6, 4, seed=SEED),
    "odd tournament": round_robin(5, 2, seed=SEED),
}
REGULAR = {
    "disjoint": round_robin(6, 1, seed=SEED),
    "tournament": round_robin(6, 3, seed=SEED),
    "permutations": permutations(6, 1, seed=SEED),
}
BETWEEN = {
    "even": balanced_injections(np.array([True, True, True, False, False, False]), 2, seed=SEED),
    "uneven": balanced_injections(np.array([True, True, False, False, False]), 2, seed=SEED),
    "at random": injections(np.array([True, True, False, False, False]), 2, seed=SEED),
}


@pytest.mark.parametrize("name", [*IRREGULAR, *REGULAR, *BETWEEN])
def test_products_of_related_pairs_are_an_unbiased_variance_in_any_design(name):
    design = {**IRREGULAR, **REGULAR, **BETWEEN}[name]
    # noise of every pair as large as it likes: budgets differ with degrees
    scales = [Fraction(1 + place % 3) for place in range(len(design))]
    means, products = product_moments(design, order if design.between else kernel, scales)
    _, variance, _ = truth(design, means, products)
    assert expected_of(unbiased(design), products) == variance
    # control: to forget pairs that share a user is right where none do
    size, itself = len(design), [[a == b for b in range(len(design))] for a in range(len(design))]
    alone = expected_of(centred(design, itself, size * (size - 1)), products)
    assert (alone == variance) == (related(design) == itself)


@pytest.mark.parametrize("name", [*IRREGULAR, *REGULAR, *BETWEEN])
def test_the_bias_of_centred_products_is_as_stated_and_none_in_regular_designs(name):
    design = {**IRREGULAR, **REGULAR, **BETWEEN}[name]
    size, near = len(design), related(design)
    rows = [sum(row) for row in near]
    means, products = product_moments(design, order if design.between else kernel, [Fraction(1)] * size)
    _, variance, with_each = truth(design, means, products)
    divisor = size**2 - sum(rows)
    bias = expected_of(centred(design, near, divisor), products) - variance
    apart = [count - Fraction(sum(rows), size) for count in rows]
    assert bias == -Fraction(2, divisor) * sum(a * c for a, c in zip(apart, with_each, strict=True))
    assert (bias != 0) == any(apart)
    assert name not in {*REGULAR, "even"} or not any(apart)


def test_the_bias_of_equal_noise_without_repeats_is_below_zero_and_small():
    for name in ("a path", "odd tournament"):
        design = IRREGULAR[name]
        size, near = len(design), related(design)
        rows = [sum(row) for row in near]
        means, products = product_moments(design, kernel, [Fraction(1)] * size)
        mean, variance, _ = truth(design, means, products)
        zeta1 = next(products[a][b] for a, b in itertools.combinations(range(size), 2) if near[a][b]) - mean**2
        divisor = size**2 - sum(rows)
        stated = -2 * zeta1 / (size * divisor) * sum((count - Fraction(sum(rows), size)) ** 2 for count in rows)
        assert expected_of(centred(design, near, divisor), products) - variance == stated < 0
        assert -stated < variance / 10


def shares_one(design):
    pairs = design.pairs.tolist()
    return [[len({*a} & {*b}) == 1 for b in pairs] for a in pairs]


@pytest.mark.parametrize("name", ["a path", "repeated", "odd tournament", "tournament"])
def test_pairs_that_share_one_user_estimate_zeta1_whatever_the_noise(name):
    design = {**IRREGULAR, **REGULAR}[name]
    size, near, one = len(design), related(design), shares_one(design)
    means, products = product_moments(design, kernel, [Fraction(1 + place) for place in range(size)])
    mean, variance, _ = truth(design, means, products)
    cells = [(p * q, kernel(x, y), x) for x, p in VALUES for y, q in VALUES]
    given = {x: sum(q * kernel(x, y) for y, q in VALUES) for x, _ in VALUES}
    zeta1 = sum(p * given[x] ** 2 for x, p in VALUES) - sum(p * value for p, value, _ in cells) ** 2
    count, strangers = sum(map(sum, one)), size**2 - sum(map(sum, near))
    assert count == overlaps(design).one
    found = quadratic(size, lambda a, b: Fraction(one[a][b], count) - Fraction(not near[a][b], strangers))
    assert expected_of(found, products) == zeta1
    if name == "tournament":
        assert expected_of(centred(design, one, count), products) == zeta1 - variance
    # control: all products of outputs with themselves have the noise in them
    own = quadratic(size, lambda a, b: Fraction(a == b, size) - Fraction(not near[a][b], strangers))
    assert expected_of(own, products) > 2 * zeta1 + 1
    assert mean == sum(p * value for p, value, _ in cells)


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("side", [0, 1])
def test_pairs_that_share_one_end_estimate_that_classes_part(name, side):
    design = BETWEEN[name]
    size, near, pairs = len(design), related(design), design.pairs.tolist()
    means, products = product_moments(design, order, [Fraction(2)] * size)
    truth(design, means, products)
    one = [[a[side] == b[side] and a[1 - side] != b[1 - side] for b in pairs] for a in pairs]
    count, strangers = sum(map(sum, one)), size**2 - sum(map(sum, near))
    found = two_sample_overlaps(design)
    assert count == (found.first, found.second)[side]
    assert sum(map(sum, near)) == found.first + found.second + found.both
    given = [(p, sum(q * (order(x, y) if side == 0 else order(y, x)) for y, q in VALUES)) for x, p in VALUES]
    sigma = sum(p * value**2 for p, value in given) - sum(p * value for p, value in given) ** 2
    assert count
    weights = quadratic(size, lambda a, b: Fraction(one[a][b], count) - Fraction(not near[a][b], strangers))
    assert expected_of(weights, products) == sigma


def test_disjoint_pairs_have_the_sample_variance_over_their_number():
    design = REGULAR["disjoint"]
    outputs = [Fraction(value) for value in (3, -1, 7)]
    form = unbiased(design)
    found = sum(form[a][b] * outputs[a] * outputs[b] for a in range(3) for b in range(3))
    assert found == Fraction(np.var([3, -1, 7], ddof=1)).limit_denominator(1000) / 3
    assert form == centred(design, related(design), 6)


ZETAS = [
    (Fraction(1), Fraction(2)),
    (Fraction(1), Fraction(10)),
    (Fraction(0), Fraction(1)),
    (Fraction(2), Fraction(5)),
]


@pytest.mark.parametrize(("users", "rounds"), [(4, 1), (4, 2), (5, 1), (5, 2)])
def test_no_design_of_as_many_pairs_varies_less_than_a_tournament(users, rounds):
    best = overlaps(round_robin(users, rounds, seed=SEED))
    every = list(itertools.combinations(range(users), 2))
    others = [
        overlaps(Design(users, np.array(pairs))) for pairs in itertools.combinations_with_replacement(every, best.pairs)
    ]

    def least(zeta1, zeta2):
        return min((other.one - best.one) * zeta1 + (other.both - best.both) * zeta2 for other in others)

    assert all(least(*zetas) == 0 for zetas in ZETAS)
    # control: of a kernel that cannot be, with zeta2 below 2 zeta1, repeated pairs would vary less
    assert (least(1, 1) < 0) == (rounds > 1)


@pytest.mark.parametrize(("sizes", "rounds"), [((2, 2), 1), ((2, 2), 2), ((2, 3), 1), ((2, 3), 2), ((3, 2), 2)])
def test_no_design_between_classes_varies_less_than_balanced_injections(sizes, rounds):
    positive = np.repeat([True, False], sizes)
    best = two_sample_overlaps(balanced_injections(positive, rounds, seed=SEED))
    every = list(itertools.product(range(sizes[0]), range(sizes[0], sum(sizes))))
    for pairs in itertools.combinations_with_replacement(every, best.pairs):
        other = two_sample_overlaps(Design(sum(sizes), np.array(pairs), between=True))
        for first, second in itertools.product((Fraction(0), Fraction(1), Fraction(3)), repeat=2):
            for more in (0, 1):
                both = first + second + more
                moved = (other.first - best.first) * first + (other.second - best.second) * second
                assert moved + (other.both - best.both) * both >= 0
