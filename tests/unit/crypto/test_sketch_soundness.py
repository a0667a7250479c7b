"""How often a false client passes: exactly, over small primes, and by simulation as specified over p = 101.

The oracles are polynomials written from the definitions in plain numbers (`helpers.verifying`); that servers compute
these very polynomials over p = 2^61 - 1 is tested beside them. A client may also send a false square or product:
that adds a constant of its choice, which is why every value is counted and not only 0.
"""

from itertools import product

import numpy as np
import pytest
from helpers.verifying import amount_sketch, is_amount, is_one_hot, sketch, step_differences
from scipy import stats

RUNS = 60_000
LEVEL = 1e-9


def all_vectors(p, length):
    """Every vector of elements, shape (length, p^length)."""
    return np.array(np.meshgrid(*[np.arange(p)] * length, indexing="ij")).reshape(length, -1)


def most_frequent(values, p):
    """The share of the commonest value: by a false square or product a client may have any other pass instead of 0."""
    return np.bincount(values % p, minlength=p).max() / values.size


@pytest.mark.parametrize("p", [3, 5, 7])
def test_no_false_step_passes_more_often_than_two_in_p(p):
    r = all_vectors(p, 3)
    for height, *y in product(range(p), repeat=3):
        d = step_differences(y, height, p)
        values = sketch(d, list(r)) % p
        if is_one_hot(d):
            assert not values.any()
        else:
            assert most_frequent(values, p) <= 2 / p


@pytest.mark.parametrize(("p", "groups", "digits"), [(3, 1, 2), (5, 1, 2), (3, 1, 3), (3, 2, 2)])
def test_no_false_amount_passes_more_often_than_two_in_p(p, groups, digits):
    columns = 3 * groups + digits
    generator = np.random.default_rng(p)
    vectors = all_vectors(p, columns).T
    if len(vectors) > 1500:
        honest = np.array(
            [vector for vector in vectors[(vectors <= 2).all(1)] if is_amount(vector.tolist(), groups, p)]
        )
        near = (np.repeat(honest, columns, axis=0) + np.tile(np.eye(columns, dtype=int), (len(honest), 1))) % p
        vectors = np.concatenate([honest, near, generator.permutation(vectors)[:500]])
    r = list(all_vectors(p, columns))
    passed = 0
    for x in vectors.tolist():
        values = amount_sketch(x, r, groups, p)
        if is_amount(x, groups, p):
            passed += 1
            assert not values.any()
        else:
            assert most_frequent(values, p) <= 2 / p
    assert passed >= 2 * groups * 2


SPECIFIED = {
    "up and down": ([0, 1, 0], 1, 1.94),
    "a five": ([5, 0, 0], 1, 0.92),
    "fifty": ([1, 1, 50], 1, 0.96),
    "falling below zero": ([-1, -1, 0], 1, 1.00),
    "minus one": ([-1, 0, 0], 1, 1.02),
    "height of two": ([2, 2, 0], 2, 1.03),
    "more than its height": ([1, 0, 0], 0, 1.91),
}


def simulate(y, height, *, wrong=0, known=False, p=101, runs=RUNS, seed=1):
    """How many of many runs with two servers accept a client, in plain numbers modulo p.

    Args:
        y: Values at the points.
        height: Of the step.
        wrong: What is added to the square.
        known: Whether the client knows the coefficients before it uploads, and chooses y_1 so as to pass.
        p: The prime.
        runs: How many.
        seed: Of all randomness.
    """
    generator = np.random.default_rng(seed)
    r = generator.integers(0, p, (len(y) + 1, runs))
    d = [np.full(runs, value) for value in step_differences(y, height, p)]
    if known:  # move a multiple of (1, -1, 0, ...) into d until z^2 = z*
        d = adapt(d, r, p)
    a = generator.integers(0, p, runs)
    c = (a * a + wrong) % p
    shares = []
    for value in (*d, a, c):
        first = generator.integers(0, p, runs)
        shares.append((first, (value - first) % p))
    masks, results = [], []
    for server in range(2):
        z = sum(r[j] * shares[j][server] for j in range(len(d))) % p
        masks.append((z - shares[-2][server]) % p)
    e = (masks[0] + masks[1]) % p
    for server in range(2):
        squares = sum(r[j] * r[j] % p * shares[j][server] for j in range(len(d)))
        own = (e * e if server == 0 else 0) + 2 * e * shares[-2][server] + shares[-1][server] - squares
        results.append(own % p)
    return int(((results[0] + results[1]) % p == 0).sum())


def adapt(d, r, p):
    """Whoever knows r finds vectors that pass: of d + t (1, -1, 0, ...) with t other than 0, the first that does."""
    found, open_runs = [value.copy() for value in d], np.ones(r.shape[1], bool)
    for t in range(1, p):
        tried = [(d[0] + t) % p, (d[1] - t) % p, *d[2:]]
        passes = open_runs & (sketch(tried, list(r)) % p == 0)
        for place, value in enumerate(tried):
            found[place] = np.where(passes, value, found[place])
        open_runs &= ~passes
    return found


def worst_case(p, runs=RUNS):
    """Passes that a rate of 2/p exceeds with a chance of 1e-9."""
    return stats.binom.isf(LEVEL, runs, 2 / p)


@pytest.mark.parametrize("name", SPECIFIED)
def test_pass_rates_over_a_small_prime_are_those_specified(name):
    y, height, expected = SPECIFIED[name]
    passed = simulate(y, height)
    assert passed <= worst_case(101)
    spread = 5 * np.sqrt(expected * RUNS / 101) * 2  # the specified figure is itself of 60 000 runs
    assert abs(passed - expected * RUNS / 101) < spread


def test_honest_clients_always_pass_and_wrong_squares_never():
    for height, y in product((0, 1), ([0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1])):
        values = [height * value for value in y]
        assert simulate(values, height, runs=3000) == 3000
        assert simulate(values, height, wrong=1, runs=3000) == 0


def test_a_client_that_knew_the_coins_would_pass():
    """The control: were coefficients known before the upload, the bound would not hold."""
    assert simulate([0, 1, 0], 1, known=True) > worst_case(101)


def test_random_tests_over_rings_would_be_fooled_by_half_of_the_modulus():
    """Why a field: modulo 2^w an error of 2^(w-1) passes half of all coefficients, however large w is."""
    for modulus in (2**8, 2**16):
        r = np.random.default_rng(2).integers(0, modulus, (4, 20_000))
        d = step_differences([1, 1, modulus // 2], 1, modulus)
        passed = (sketch(d, list(r)) % modulus == 0).mean()
        assert passed > 0.4
