"""Loops give the same bits uncompiled as compiled, and which way they run depends on sizes alone."""

import gc
import importlib
import pkgutil
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.core import compiling
from ogive.crypto.comparison.keys import GROUPS, KeyShape
from ogive.crypto.field import P
from ogive.noise.base import round_up_scale, split_scale
from ogive.noise.discrete import DiscreteGaussian, DiscreteLaplace, Geometric, Polya
from ogive.strategies import hats as passes
from ogive.strategies import square_root
from ogive.strategies import tree as strategy
from ogive.strategies.tree import as_arrays as tree_arrays

ROUNDS = size(12, part=4)

# --- arguments of every loop that may run uncompiled, from a generator of random numbers ---


def words(rng, law, rows, draws):
    line = rng.integers(0, 1 << 32, (rows, int(draws * 2 * law.words_per_draw) + 3), dtype=np.uint32)
    # rows that end early, and words that tie
    line[:, 5] = np.where(rng.random(rows) < 0.3, 0xFFFFFFFF, line[:, 5])
    return line


def draws(law, *parameters):
    def arguments(rng):
        shape = int(rng.integers(1, 30)), int(rng.integers(1, 4))
        return words(rng, law, *shape), np.zeros(shape, np.int64), *parameters

    return arguments


def scales(law_of):
    def arguments(rng):
        scale = round_up_scale(float(np.exp(rng.uniform(-5, 25))))
        return draws(law_of(scale), *split_scale(scale, "scale"))(rng)

    return arguments


def poisson(rng):
    whole, parts = int(rng.integers(0, 4)), int(rng.integers(1, 1000))
    shape = int(rng.integers(1, 20)), 2
    line = rng.integers(0, 1 << 32, (shape[0], 60), dtype=np.uint32)
    return line, np.zeros(shape, np.int64), whole, int(rng.integers(0, parts)), parts


def node_blocks(rng):
    nodes = rng.integers(0, 1 << 62, int(rng.integers(0, 50)))
    return nodes, int(rng.integers(0, 1 << int(rng.integers(1, 32)))), int(rng.integers(1, 9))


def polya_draws(rng):
    law = Polya(Fraction(int(rng.integers(1, 5000)), 16), Fraction(1, int(rng.integers(2, 9))))
    shape = int(rng.integers(1, 20)), 2
    part, parts = law.shape.numerator, law.shape.denominator
    return words(rng, law, *shape), np.zeros(shape, np.int64), *split_scale(law.scale, "scale"), part, parts


def hats(rng):
    size = int(rng.integers(1, 300))
    spacings = tuple(int(2**power) for power in sorted(rng.choice(8, int(rng.integers(1, 4)), replace=False)))
    return size, np.array(spacings, dtype=np.int64), passes.hat_sizes(size, spacings)


def hat_noise(rng, spacings):
    return np.exp(rng.uniform(-3, 12)), np.exp(rng.uniform(-3, 12, len(spacings)))


def factor(rng):
    size, spacings, sizes = hats(rng)
    bin_noise, noise = hat_noise(rng, spacings)
    return size, spacings, sizes, bin_noise, passes.factorize.compiled(size, spacings, sizes, bin_noise, noise)


def factorized(rng):
    size, spacings, sizes = hats(rng)
    return size, spacings, sizes, *hat_noise(rng, spacings)


def solved(rng):
    _, _, sizes, _, found = factor(rng)
    return *found, rng.normal(0, 100, sizes.sum()), np.empty(sizes.sum())


def corrected(rng):
    size, spacings, sizes, bin_noise, found = factor(rng)
    rows = rng.integers(-1000, 100_000, (int(rng.integers(1, 4)), size + sizes.sum()))
    return rows, spacings, sizes, bin_noise, *found


def hat_counts(rng):
    size, spacings, sizes = hats(rng)
    return rng.integers(-(1 << 40), 1 << 40, size), spacings, sizes


def spread(rng):
    size, spacings, sizes = hats(rng)
    return rng.normal(0, 1e6, sizes.sum()), spacings, sizes, np.empty(size)


def variances_at(rng):
    size, spacings, _ = hats(rng)
    points = np.flatnonzero(rng.random(size) < 0.3)
    return np.append(points[points < size - 1], size - 1), size, spacings, *hat_noise(rng, spacings)


def quartics(rng):
    size, spacings, _ = hats(rng)
    starts, places = passes._pieces.compiled(size, spacings)
    return starts, places, rng.normal(0, 1e6, len(places)), np.empty(size)


def tree(rng):
    powers = np.sort(rng.choice(np.arange(1, 8), int(rng.integers(0, 4)), replace=False))
    return tree_arrays(int(rng.integers(1, 400)), (1, *(int(2**power) for power in powers)))


def tree_counts(rng):
    blocks, sizes = tree(rng)
    return rng.integers(-(1 << 40), 1 << 40, sizes[0]), blocks, sizes


def tree_variances(rng):
    blocks, sizes = tree(rng)
    return blocks, sizes, np.exp(rng.uniform(-3, 12, len(blocks))), bool(rng.random() < 0.5)


def tree_answers(rng):
    blocks, sizes, variances, known = tree_variances(rng)
    rows = int(rng.integers(1, 4))
    answers = rng.integers(-1000, 100_000, (rows, sizes.sum()))
    return answers, blocks, sizes, variances, answers.sum(axis=1).astype(float), known


def chain_means(rng):
    top = int(rng.integers(1, 9))
    chains = strategy._chains.compiled(top, 1, 40)
    rounds = int(rng.choice([0, 30]))
    return (
        int(rng.integers((1 << top) + 1, 2 << top)),
        chains,
        int(rng.integers(1, 3)),
        bool(rng.random() < 0.5),
        rounds,
    )


def shares(rng):
    levels = int(rng.integers(1, 8))
    blocks = 2.0 ** np.sort(rng.choice(12, levels, replace=False))
    exponent, known = int(rng.integers(1, 3)), bool(rng.random() < 0.5)
    return blocks, float(rng.integers(1 << 12, 1 << 14)), exponent, known, 100, np.empty(levels)


def thresholds(rng):
    """Values and an even grid, or another; with infinities, missing ones and some on thresholds."""
    grid = np.arange(float(rng.integers(2, 200)))
    even = rng.random() < 0.5
    if not even:
        grid = np.unique(rng.normal(0, 50, len(grid)))
    values = np.concatenate([rng.normal(50, 80, 300), grid, [np.nan, np.inf, -np.inf]])
    per_unit = (len(grid) - 1) / (grid[-1] - grid[0]) if even else 0.0
    return values, grid, per_unit, int(rng.integers(-1, 3)), np.empty(len(values), np.int64)


def cells(rng):
    bins = int(rng.integers(1, 200))
    return rng.integers(0, 1 << 40, bins), rng.integers(-1, bins, int(rng.integers(0, 500)))


def in_classes(rng):
    size, records = int(rng.integers(1, 200)), int(rng.integers(0, 500))
    kind = rng.choice(["uint8", "int64"])
    return rng.integers(-1, size, records), rng.integers(0, 3, records).astype(kind), size


def probabilities(rng):
    values = rng.normal(0.5, 0.4, int(rng.integers(0, 500)))
    values[rng.random(len(values)) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    return values, float(rng.random()), int(rng.integers(1, 40))


def amounts(rng):
    groups, records, bits_ = int(rng.integers(1, 20)), int(rng.integers(0, 500)), int(rng.integers(1, 40))
    sums = rng.integers(0, 1 << 40, (4, groups))
    return sums, rng.integers(0, 2 * groups, records), rng.integers(0, (1 << bits_) + 1, records), bits_


def features(rng):
    records = rng.integers(-(1 << 28), 1 << 28, (int(rng.integers(2, 40)), int(rng.integers(1, 9))))
    return records, bool(rng.random() < 0.5), bool(rng.random() < 0.5)


def signal(rng):
    levels = int(rng.integers(1, 6))
    return rng.normal(0, 1e4, int(rng.integers(4, 40)) << levels), levels


def outstanding(rng):
    increments = rng.normal(0, 10, int(rng.integers(1, 300))) + 1000.0 * (rng.random() < 0.5)
    return np.rint(increments), float(np.exp(rng.uniform(-3, 5))), float(rng.uniform(0.5, 4))


def blocks(rng):
    levels = int(rng.integers(1, 5))
    size = int(rng.integers(8, 40)) << levels
    coefficients = rng.normal(0, 10, size) * (rng.random(size) < 0.8)
    return coefficients, rng.normal(0, 3, size), np.exp(rng.uniform(-2, 6, levels))


def residues(rng):
    which = int(rng.integers(0, 2))
    prime, length = square_root.PRIMES[which][0], 1 << int(rng.integers(1, 10))
    return rng.integers(0, prime, length).astype(np.uint64), *square_root._tables(length, which), prime


def factors(rng):
    values, _, _, prime = residues(rng)
    return values, rng.integers(0, prime, values.size).astype(np.uint64), prime


def two_residues(rng):
    (p, _), (q, _) = square_root.PRIMES
    length = 1 << int(rng.integers(1, 10))
    first, second = (rng.integers(0, prime, length).astype(np.uint64) for prime in (p, q))
    inverses = np.array([pow(length, -1, p), pow(length, -1, q), pow(p, -1, q)], np.uint64)
    return first, second, p, q, inverses, np.empty(int(rng.integers(1, length + 1)), np.int64)


def curve(rng):
    values = np.cumsum(rng.normal(rng.choice([-1, 0, 1]), 5, int(rng.integers(1, 300))))
    return (np.rint(values) if rng.random() < 0.5 else values,)


def pairs_of_keys(rng):
    """Seeds and encrypted blocks of both servers, control bits, and the group: everything that is secret is random."""
    keys, shape = int(rng.integers(1, 6)), KeyShape(group=str(rng.choice(list(GROUPS))), bits=6)
    seeds, left, right, values = rng.integers(0, 1 << 64, (4, 4 * keys), dtype=np.uint64)
    t, missing = rng.integers(0, 2, keys).astype(np.uint8), rng.integers(0, P, keys).astype(np.uint64)
    alphas, payloads = rng.integers(0, 64, (2, keys)).astype(np.uint64)
    return keys, shape, seeds, left, right, values, t, missing, alphas, payloads


def key_level(rng):
    keys, shape, seeds, left, right, values, t, missing, alphas, payloads = pairs_of_keys(rng)
    word, shift = shape.places[1]
    corrections = np.zeros(2 * keys, np.uint64), np.zeros(keys, shape.dtype), np.zeros(keys, np.uint8)
    position, prime = np.uint64(rng.integers(0, 6)), shape.arithmetic.prime
    return seeds, t, missing, left, right, values, alphas, position, payloads, word, shift, prime, *corrections


def key_leaf(rng):
    keys, shape, seeds, _, _, values, t, missing, alphas, payloads = pairs_of_keys(rng)
    low, leaves = alphas & np.uint64(shape.leaf_values - 1), np.zeros((keys, shape.leaf_values), shape.dtype)
    return seeds, t, missing, values, low, 0, payloads, shape.arithmetic.prime, leaves


def high_words(rng):
    seeds = rng.integers(0, 1 << 64, 2 * int(rng.integers(1, 9)), dtype=np.uint64)
    return seeds, np.uint64(rng.integers(0, 99)), np.zeros_like(seeds)


def expanded(rng):
    encrypted, seeds = rng.integers(0, 1 << 64, (2, 2 * int(rng.integers(1, 9))), dtype=np.uint64)
    return encrypted, seeds, *np.zeros((2, encrypted.size // 2), np.uint64)


CASES = {
    "crypto.comparison.keys.correct_leaf": key_leaf,
    "crypto.comparison.keys.correct_level": key_level,
    "crypto.comparison.keys.flip_high": high_words,
    "crypto.tables._absorb": expanded,
    "noise.discrete._fill_laplace": scales(DiscreteLaplace),
    "noise.discrete._fill_geometric": scales(Geometric),
    "noise.discrete._fill_gaussian": scales(DiscreteGaussian),
    "noise.source._encode_blocks": node_blocks,
    "noise.discrete._fill_shares": polya_draws,
    "noise.laws._fill_skellam": poisson,
    "records.contributions._place": thresholds,
    "records.contributions.add_amounts": amounts,
    "records.contributions.add_cells": cells,
    "records.contributions.fixed_point": probabilities,
    "records.contributions.in_class": in_classes,
    "strategies.smoothing.pool": curve,
    "strategies.shrinkage._outstanding": outstanding,
    "strategies.shrinkage._shrink_blocks": blocks,
    "strategies.shrinkage.decompose": signal,
    "strategies.shrinkage.recompose": signal,
    "strategies.hats.factorize": factorized,
    "strategies.hats.hat_spread": spread,
    "strategies.hats.hat_sums": hat_counts,
    "strategies.hats.prefix_variance_at": variances_at,
    "strategies.hats.solve": solved,
    "strategies.hats._correct": corrected,
    "strategies.hats._fill_quartics": quartics,
    "strategies.hats._pieces": lambda rng: hats(rng)[:2],
    "strategies.projection.features._largest": features,
    "strategies.square_root._backward": residues,
    "strategies.square_root._combine": two_residues,
    "strategies.square_root._forward": residues,
    "strategies.square_root._multiply": factors,
    "strategies.tree._chain_means": chain_means,
    "strategies.tree._chains": lambda rng: (int(rng.integers(1, 9)), int(rng.integers(1, 3)), 100),
    "strategies.tree._optimize": shares,
    "strategies.tree.block_counts": tree_counts,
    "strategies.tree.least_squares": tree_answers,
    "strategies.tree.prefix_variance": tree_variances,
}


def loop(name):
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"ogive.{module}"), function)


def bits(values):
    """Types and bytes of what a loop returned or left in its arguments."""
    values = values if isinstance(values, tuple) else (values,)
    arrays = [np.asarray(value) for value in values]
    return [(array.dtype.kind, array.shape, array.tobytes()) for array in arrays]


def copies(arguments):
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in arguments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CASES)
def test_a_loop_gives_the_same_bits_uncompiled(name):
    one = loop(name)
    rng = np.random.default_rng([len(name), *name.encode()])
    for _ in range(ROUNDS):
        given = CASES[name](rng)
        plain, compiled = copies(given), copies(given)
        with compiling.wrapping():
            found, expected = one.plain(*plain), one.compiled(*compiled)
        if expected is not None:
            assert bits(found) == bits(expected)
        assert bits(plain) == bits(compiled)


def narrow(value):
    """An integer as the smallest type of numpy, in which a product or a shift may overflow."""
    return np.array(value).astype(np.min_scalar_type(value))[()] if type(value) is int else value


@pytest.mark.parametrize("name", CASES)
def test_a_narrow_integer_changes_nothing_uncompiled(name, monkeypatch):
    one = loop(name)
    monkeypatch.setattr(compiling, "PLAIN_STEPS", 1 << 62)
    monkeypatch.delitem(one.__dict__, "compiled", raising=False)
    rng = np.random.default_rng([len(name), *name.encode()])
    for _ in range(ROUNDS):
        given = CASES[name](rng)
        plain, expected = copies(given), copies(given)
        with compiling.wrapping():
            found, known = one(*(narrow(value) for value in plain)), one.plain(*expected)
        if known is not None:
            assert bits(found) == bits(known)
        assert bits(plain) == bits(expected)
    assert "compiled" not in one.__dict__


def test_a_narrow_integer_overflows():
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert narrow(200) * narrow(200) != 200 * 200


def test_a_last_bit_is_seen():
    assert bits((1.0, np.arange(3.0))) == bits((1.0, np.arange(3.0)))
    assert bits((np.nextafter(1.0, 2.0), np.arange(3.0))) != bits((1.0, np.arange(3.0)))
    assert bits(1) != bits(1.0)


def test_every_loop_that_may_run_uncompiled_is_compared():
    for part in pkgutil.walk_packages(ogive.__path__, "ogive."):
        if part.name != "ogive.__main__":
            importlib.import_module(part.name)
    gc.unfreeze()  # what was imported while tests were collected would not be listed
    loops = [one for one in gc.get_objects() if type(one) is compiling.Loop]
    gc.freeze()
    names = {f"{one.__module__}.{one.__name__}" for one in loops if one.has_plain_form}
    assert {name.removeprefix("ogive.") for name in names if name.startswith("ogive.")} == CASES.keys()


# --- which way a loop runs ---


@compiling.njit()
def doubled(value):
    return 2 * value


@compiling.njit(steps=lambda values: len(values))
def summed(values):
    total = 0
    for i in range(len(values)):
        total += doubled(values[i])
    return total


@pytest.fixture
def fresh(monkeypatch):
    """Loops that have not run, in a process that has taken no step."""
    monkeypatch.setattr(compiling._Process, "plain_steps", 0)
    for one in (doubled, summed):
        for form in ("compiled", "plain"):
            one.__dict__.pop(form, None)


def test_small_calls_run_uncompiled_until_they_add_up(fresh, monkeypatch):
    monkeypatch.setattr(compiling, "PLAIN_STEPS", 10)
    assert summed(np.arange(4)) == 12
    assert summed(np.arange(6)) == 30
    assert "compiled" not in summed.__dict__
    assert "compiled" not in doubled.__dict__
    assert summed(np.arange(1)) == 0
    assert "compiled" in summed.__dict__


def test_a_large_call_is_compiled_at_once(fresh, monkeypatch):
    monkeypatch.setattr(compiling, "PLAIN_STEPS", 10)
    assert summed(np.arange(11)) == 110
    assert "compiled" in summed.__dict__
    assert compiling._Process.plain_steps == 0


def test_values_do_not_choose_the_way(fresh, monkeypatch):
    taken = []
    for values in (np.zeros(5, np.int64), np.full(5, 1 << 40), np.arange(5)[::-1]):
        before = compiling._Process.plain_steps
        summed(values)
        taken.append(compiling._Process.plain_steps - before)
    assert taken == [5, 5, 5]


def test_a_loop_without_steps_is_compiled_at_its_first_call(fresh):
    assert doubled(2) == 4
    assert "compiled" in doubled.__dict__
