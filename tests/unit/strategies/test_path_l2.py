"""L2 constants of path noise against tables of the method, the split formula and dense linear algebra."""

import math

import numpy as np
import pytest

from ogive.privacy import Adjacency
from ogive.strategies.path import (
    PathTree,
    fine_bits,
    grid_squared_shift,
    half_open_cost,
    half_open_squared,
    interval_cost,
    interval_squared,
    merged_top_tree,
    squared_shift,
    uniform_tree,
)


def incidence(tree):
    rows = []
    for level in range(tree.terms):
        block = math.prod(tree.radices[:level])
        rows += [[int(i // block == j) for i in range(tree.size)] for j in range(-(-tree.size // block))]
    return np.array(rows)


def dense(tree):
    """v^T K^{-1} v of every interval [t1 + 1, t2] as a matrix over (t1, t2)."""
    Z = incidence(tree)
    sums = np.zeros((tree.size + 1, tree.size + 1))
    sums[1:, 1:] = np.linalg.inv(Z.T @ Z).cumsum(axis=0).cumsum(axis=1)
    ends = np.diag(sums)
    return ends[None, :] + ends[:, None] - sums - sums.T


def split_formula(height):
    """Largest interval value of the full base 2 tree, root kept, by the closed form for (height, a, c)."""
    worst = 0.0
    for h in range(1, height + 1):
        half = np.arange(2 ** (h - 1) + 1)
        g = np.zeros(len(half))
        for level in range(1, h):
            rest = half % 2**level
            g += np.minimum(rest, 2**level - rest) ** 2 / (2**level * (2**level - 1))
        above = sum(1 / (2**level * (2**level - 1)) for level in range(h + 1, height + 1))
        above += 1 / (2**height * (2 ** (height + 1) - 1))
        a, c = half[:, None], half[None, :]
        values = g[:, None] + g[None, :] + (a - c) ** 2 / (2**h * (2**h - 1)) + (a + c) ** 2 * above
        worst = max(worst, values.max())
    return worst


@pytest.mark.parametrize(
    ("height", "half_open", "interval"),
    [
        (1, 0.6667, 0.6667),
        (2, 0.9048, 1.1429),
        (3, 1.0095, 1.4667),
        (4, 1.1223, 1.6897),
        (5, 1.2350, 1.9365),
        (6, 1.3458, 2.1574),
        (8, 1.5684, 2.6075),
        (10, 1.7908, 3.0534),
        (12, 2.0130, 3.4982),
        (15, 2.3464, 4.1650),
        (20, 2.9019, 5.2761),
    ],
)
def test_full_binary_trees_have_the_tabulated_constants(height, half_open, interval):
    tree = uniform_tree(2**height, 2)
    assert half_open_squared(tree) == pytest.approx(half_open, abs=6e-5)
    assert interval_squared(tree) == pytest.approx(interval, abs=6e-5)


@pytest.mark.parametrize(
    ("base", "half_open", "interval"),
    [
        (3, [1.0, 1.3077, 1.6462, 1.9821], [1.0, 1.8077, 2.5365, 3.2192]),
        (4, [1.2, 1.8476, 2.3832, 2.9272], [1.2, 2.6286, 3.7535, 4.8497]),
        (8, [2.2222, 3.8052, 5.3154, 6.8287], [2.2222, 5.5647, 8.6186]),
        (16, [4.2353, 7.7794, 11.2821, 14.7857], [4.2353, 11.5320]),
    ],
)
def test_other_bases_have_the_tabulated_constants(base, half_open, interval):
    for height, expected in enumerate(half_open, 1):
        assert half_open_squared(uniform_tree(base**height, base)) == pytest.approx(expected, abs=6e-5)
    for height, expected in enumerate(interval, 1):
        assert interval_squared(uniform_tree(base**height, base)) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(
    ("height", "omitted", "kept"), [(3, 5.43, 5.87), (5, 11.22, 11.62), (8, 23.32, 23.47), (10, 33.59, 33.59)]
)
def test_omitting_the_root_changes_the_interval_variance_as_tabulated(height, omitted, kept):
    without, whole = (uniform_tree(2**height, 2, root=root) for root in (False, True))
    assert without.terms * interval_squared(without) == pytest.approx(omitted, abs=6e-3)
    assert whole.terms * interval_squared(whole) == pytest.approx(kept, abs=6e-3)


def test_eight_points_have_the_exact_fractions():
    values = dense(uniform_tree(8, 2))
    expected = [64 / 105, 46 / 105, 86 / 105, 44 / 105, 20 / 21, 74 / 105, 106 / 105, 8 / 15]
    assert values[0, 1:] == pytest.approx(expected, abs=1e-12)
    assert values[1, 7] == pytest.approx(22 / 15)
    assert half_open_squared(uniform_tree(8, 2)) == pytest.approx(106 / 105, rel=1e-13)
    assert interval_squared(uniform_tree(8, 2)) == pytest.approx(22 / 15, rel=1e-13)


@pytest.mark.parametrize("height", range(1, 12))
def test_hulls_equal_the_split_formula(height):
    assert interval_squared(uniform_tree(2**height, 2)) == pytest.approx(split_formula(height), rel=1e-12)


@pytest.mark.each_value
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("base", [2, 3, 4, 7])
def test_hulls_equal_dense_algebra_for_every_size(base, root):
    for size in [*range(1, 40), 63, 65, 100]:
        tree = uniform_tree(size, base, root=root)
        values = dense(tree)
        assert interval_squared(tree) == pytest.approx(np.triu(values).max(), rel=1e-11), size
        assert half_open_squared(tree) == pytest.approx(values[:-1, -1].max(), rel=1e-11), size


def test_hulls_equal_dense_algebra_for_random_radices():
    draw = np.random.default_rng(5)
    for _ in range(60):
        radices = tuple(int(r) for r in draw.integers(2, 6, size=draw.integers(1, 5)))
        size = int(draw.integers(1, min(math.prod(radices), 150) + 1))
        tree = PathTree(size, radices, bool(draw.integers(2)))
        values = dense(tree)
        assert squared_shift(tree, Adjacency.REPLACE) == pytest.approx(np.triu(values).max(), rel=1e-11), tree
        assert squared_shift(tree, Adjacency.ADD_OR_REMOVE) == pytest.approx(values[:-1, -1].max(), rel=1e-11), tree


@pytest.mark.parametrize("size", [2**15, 40000, 10**6])
def test_constant_of_intervals_is_below_the_safe_bound(size):
    tree = uniform_tree(size, 2)
    assert interval_squared(tree) <= min(interval_cost(tree), 2 * half_open_squared(tree))


def least_integer_l2(tree, v, bits):
    """min ||chi||^2 over integer chi with Z^T chi = 2^bits v: integer shifts above the leaves, searched one by one."""
    Z = incidence(tree)
    upper, leaves = Z[tree.size :], tree.size
    K = Z.T @ Z
    center = np.rint(2**bits * (upper @ np.linalg.solve(K, v)))
    target = np.array(v) * 2**bits
    best = np.inf
    for offset in np.ndindex(*([5] * len(upper))):
        above = center + np.array(offset) - 2
        best = min(best, above @ above + ((target - above @ upper) ** 2).sum())
    assert leaves == len(v)
    return best


@pytest.mark.parametrize(
    "tree", [uniform_tree(4, 2), uniform_tree(4, 2, root=False), PathTree(6, (3, 2)), uniform_tree(3, 2)], ids=str
)
@pytest.mark.parametrize("bits", [0, 1, 3])
def test_grid_constant_covers_the_best_integer_shift_of_every_neighbor(tree, bits):
    for adjacency in Adjacency:
        starts = range(tree.size)
        pairs = [
            (a, b)
            for a in starts
            for b in range(a + 1, tree.size + 1)
            if adjacency is Adjacency.REPLACE or b == tree.size
        ]
        exact = max(least_integer_l2(tree, [int(a <= i < b) for i in range(tree.size)], bits) for a, b in pairs)
        bound = grid_squared_shift(tree, adjacency, 1 << bits)
        assert 4**bits * squared_shift(tree, adjacency) <= exact * (1 + 1e-12)
        assert exact <= bound
        assert bits > 0 or exact == bound == (interval_cost if adjacency is Adjacency.REPLACE else half_open_cost)(tree)


@pytest.mark.parametrize(
    "tree", [uniform_tree(1000, 2), merged_top_tree(2**15, 3), uniform_tree(9, 9, root=False)], ids=str
)
def test_fine_grid_costs_one_part_in_65536_and_no_bit_more_than_needed(tree):
    for adjacency in Adjacency:
        bits = fine_bits(tree, adjacency)
        real = squared_shift(tree, adjacency)
        assert grid_squared_shift(tree, adjacency, 1 << bits) <= math.ceil(4**bits * real * (1 + 2**-16)) + 1
        if bits:
            assert grid_squared_shift(tree, adjacency, 1 << bits - 1) > 4 ** (bits - 1) * real * (1 + 2**-16)
