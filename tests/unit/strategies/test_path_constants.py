"""L1 constants of path noise against tables of the method, closed forms, a dynamic program and linear programming."""

import itertools
import math

import numpy as np
import pytest
from helpers.scope import is_everything
from scipy.optimize import linprog

from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.strategies.path import (
    PathTree,
    candidate_trees,
    half_open_cost,
    interval_cost,
    merged_top_tree,
    shift_cost,
    uniform_tree,
)

MIXED = [
    PathTree(8, (2, 4)),
    PathTree(8, (4, 2), False),
    PathTree(11, (3, 4)),
    PathTree(12, (3, 2, 2), False),
    PathTree(17, (2, 3, 4)),
    PathTree(23, (2, 2, 6), False),
    PathTree(5, (2, 2, 2, 3)),
    PathTree(21, (2, 2, 8)),
]


def incidence(tree):
    rows = []
    for level in range(tree.terms):
        block = math.prod(tree.radices[:level])
        rows += [[int(i // block == j) for i in range(tree.size)] for j in range(-(-tree.size // block))]
    return np.array(rows)


def least_l1(tree, v):
    """Linear programming over positive and negative parts of the shift."""
    Z = incidence(tree)
    solution = linprog(np.ones(2 * len(Z)), A_eq=np.hstack((Z.T, -Z.T)), b_eq=v, method="highs")
    assert solution.status == 0
    return solution.fun


def least_integer_l1(tree, v):
    """Dynamic program over the sum of the coefficients above a block, which needs no more than -2..2."""
    reach = range(-2, 3)

    def costs(level, start, stop):
        if level == 0:
            below = {s: abs(v[start] - s) for s in reach}
            own = range(1)
        else:
            step = math.prod(tree.radices[: level - 1])
            parts = [costs(level - 1, a, min(a + step, stop)) for a in range(start, stop, step)]
            below = {s: sum(part[s] for part in parts) for s in reach}
            own = reach if tree.root or level < tree.height else range(1)
        return {s: min(abs(c) + below[s + c] for c in own if s + c in below) for s in reach}

    return costs(tree.height, 0, tree.size)[0]


def indicator(tree, first, last):
    """1 on the points first..last, counted from 1, both included."""
    return [int(first <= i <= last) for i in range(1, tree.size + 1)]


def intervals(size):
    return [(t1, t2) for t1 in range(size) for t2 in range(t1 + 1, size + 1)]


def brute(tree):
    cost = {(t1, t2): least_integer_l1(tree, indicator(tree, t1 + 1, t2)) for t1, t2 in intervals(tree.size)}
    return max(cost.values()), max(cost[t1, tree.size] for t1 in range(tree.size))


@pytest.mark.parametrize(
    ("base", "root", "interval", "half_open"),
    [
        (2, True, [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 2, 3, 3, 4, 4, 5]),
        (2, False, [2, 2, 4, 4, 6, 6, 8, 8], [2, 2, 3, 3, 4, 4, 5, 5]),
        (3, True, [2, 4, 6], [2, 3, 4]),
        (3, False, [3, 5, 7], [3, 4, 5]),
        (4, False, [4, 6, 10, 12, 16], [4, 5, 7, 8, 10]),
        (8, False, [8, 14, 22, 28, 36], [8, 11, 15, 18, 22]),
        (16, False, [16, 30, 46, 60, 76], [16, 23, 31, 38, 46]),
    ],
)
def test_full_trees_have_the_tabulated_constants(base, root, interval, half_open):
    trees = [uniform_tree(base**height, base, root=root) for height in range(1, len(interval) + 1)]
    assert [interval_cost(tree) for tree in trees] == interval
    assert [half_open_cost(tree) for tree in trees] == half_open


@pytest.mark.parametrize("base", [2, 3, 4, 5, 8, 16])
def test_full_trees_follow_the_closed_forms(base):
    for height in range(1, 8):
        kept, omitted = (uniform_tree(base**height, base, root=root) for root in (True, False))
        half = [1] + [math.ceil(((base - 1) * h + 1) / 2) for h in range(1, height + 1)]
        assert interval_cost(kept) == (base - 1) * height - base // 2 + 1
        assert half_open_cost(kept) == half[height]
        assert interval_cost(omitted) == 2 * half[height - 1] + base - 2
        assert half_open_cost(omitted) == half[height - 1] + base - 1


@pytest.mark.parametrize(("height", "cost"), [(3, 3), (5, 5), (15, 15)])
def test_top_radix_four_is_free_under_replacement_at_odd_heights(height, cost):
    assert interval_cost(merged_top_tree(2**height, 2)) == cost


@pytest.mark.parametrize(
    ("size", "kept", "omitted"),
    [
        (5, (2, 2), (3, 3)),
        (6, (3, 2), (3, 3)),
        (9, (3, 3), (3, 3)),
        (12, (4, 3), (4, 3)),
        (17, (4, 3), (4, 4)),
        (20, (4, 3), (5, 4)),
        (21, (5, 3), (5, 4)),
        (44, (5, 4), (5, 4)),
        (45, (6, 4), (6, 4)),
        (65, (6, 4), (6, 5)),
        (176, (7, 5), (7, 5)),
        (200, (8, 5), (8, 5)),
        (1000, (10, 6), (10, 6)),
        (1100, (10, 6), (10, 7)),
    ],
)
def test_truncated_trees_have_the_tabulated_constants(size, kept, omitted):
    for root, expected in ((True, kept), (False, omitted)):
        tree = uniform_tree(size, 2, root=root)
        assert (interval_cost(tree), half_open_cost(tree)) == expected


@pytest.mark.parametrize("limit", [44, 176, 704, 2816, 11264, 45056])
def test_constant_of_even_heights_is_one_less_up_to_eleven_sixteenths(limit):
    height = math.ceil(math.log2(limit))
    assert interval_cost(uniform_tree(limit, 2)) == height - 1
    assert interval_cost(uniform_tree(limit + 1, 2)) == height


@pytest.mark.each_value
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("base", [2, 3, 4])
def test_recursion_equals_brute_force_on_every_interval(base, root):
    for size in range(1, 23 if is_everything() else 18):
        tree = uniform_tree(size, base, root=root)
        assert (interval_cost(tree), half_open_cost(tree)) == brute(tree), size


@pytest.mark.parametrize("tree", MIXED, ids=str)
def test_recursion_equals_brute_force_on_mixed_radices(tree):
    assert (interval_cost(tree), half_open_cost(tree)) == brute(tree)
    other = PathTree(tree.size, tree.radices, not tree.root)
    assert (interval_cost(other), half_open_cost(other)) == brute(other)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "tree",
    [uniform_tree(8, 2), uniform_tree(8, 2, root=False), uniform_tree(9, 3), uniform_tree(7, 2), *MIXED[:3]],
    ids=str,
)
def test_real_shifts_cost_no_less_than_integer_shifts(tree):
    for t1, t2 in intervals(tree.size):
        v = indicator(tree, t1 + 1, t2)
        assert least_l1(tree, v) == pytest.approx(least_integer_l1(tree, v), abs=1e-9)


def test_minimal_cost_matrix_of_eight_points():
    kept, omitted = uniform_tree(8, 2), uniform_tree(8, 2, root=False)
    table = [
        [1, 1, 2, 1, 2, 2, 2, 1],
        [1, 2, 2, 3, 3, 3, 2],
        [1, 1, 2, 2, 3, 2],
        [1, 2, 2, 3, 2],
        [1, 1, 2, 1],
        [1, 2, 2],
        [1, 1],
        [1],
    ]
    changed = {(0, 7): 3, (0, 8): 2, (1, 7): 4, (1, 8): 3}
    for t1, t2 in intervals(8):
        v = indicator(kept, t1 + 1, t2)
        assert least_integer_l1(kept, v) == table[t1][t2 - t1 - 1]
        assert least_integer_l1(omitted, v) == changed.get((t1, t2), table[t1][t2 - t1 - 1])


def test_prefix_costs_of_base_three():
    tree = uniform_tree(9, 3)
    assert [least_integer_l1(tree, indicator(tree, 1, m)) for m in range(1, 10)] == [1, 2, 1, 2, 3, 2, 3, 2, 1]


@pytest.mark.parametrize(("height", "first", "last"), [(2, 1, 3), (3, 2, 5), (4, 2, 11), (5, 4, 19), (6, 4, 43)])
def test_listed_worst_intervals_attain_the_constant(height, first, last):
    tree = uniform_tree(2**height, 2)
    assert least_integer_l1(tree, indicator(tree, first, last)) == height == interval_cost(tree)


@pytest.mark.parametrize(
    ("height", "lengths"), [(2, [3]), (3, [3, 5, 6, 7]), (4, [11, 13]), (5, [11, 13, 19, 21]), (6, [43, 45, 51, 53])]
)
def test_listed_worst_prefixes_attain_the_constant(height, lengths):
    tree = uniform_tree(2**height, 2)
    cost = [least_integer_l1(tree, indicator(tree, 1, m)) for m in range(1, tree.size + 1)]
    assert all(cost[m - 1] == max(cost) for m in lengths)
    assert max(cost) == half_open_cost(tree)


@pytest.mark.parametrize(
    ("size", "replaced", "added"),
    [
        (8, 54, 32),
        (9, 64, 54),
        (16, 128, 72),
        (32, 250, 108),
        (64, 432, 192),
        (81, 640, 224),
        (100, 686, 256),
        (128, 686, 256),
        (256, 1024, 400),
        (1000, 2000, 720),
        (1024, 2000, 720),
        (1500, 2662, 792),
        (2187, 2904, 1024),
        (4096, 3456, 1152),
        (6561, 4394, 1372),
        (10000, 4732, 1620),
        (32768, 6750, 2048),
        (10**6, 16000, 4732),
    ],
)
def test_best_candidate_has_the_tabulated_variance(size, replaced, added):
    wide = merged_top_tree(size, 3)  # not among the trees that the table compares
    for adjacency, variance in ((Adjacency.REPLACE, replaced), (Adjacency.ADD_OR_REMOVE, added)):
        cost = {tree: 2 * tree.terms * shift_cost(tree, adjacency) ** 2 for tree in candidate_trees(size)}
        others = [value for tree, value in cost.items() if tree != wide or len(tree.radices) == 1]
        assert min(others) == variance


@pytest.mark.parametrize(("size", "radix_four", "radix_eight"), [(81, 640, 588), (1500, 2662, 2420)])
def test_top_radix_eight_beats_the_table_where_its_constant_is_smaller(size, radix_four, radix_eight):
    tree = merged_top_tree(size, 3)
    assert tree.radices[-1] == 8
    assert 2 * tree.terms * interval_cost(tree) ** 2 == radix_eight < radix_four


def test_tree_of_eight_points_has_the_tabulated_nodes():
    tree = uniform_tree(8, 2)
    paths = np.stack(tree.path(np.arange(8)))
    assert (paths + 1).T.tolist() == [[i, (i + 1) // 2, (i + 3) // 4, 1] for i in range(1, 9)]
    assert tree.nodes == (8, 4, 2, 1)
    assert tree.shared_with_last.tolist() == [1, 1, 1, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("tree", [*MIXED, uniform_tree(21, 2), uniform_tree(1, 2)], ids=str)
def test_tree_agrees_with_its_incidence_matrix(tree):
    Z = incidence(tree)
    assert sum(tree.nodes) == len(Z)
    starts = list(itertools.accumulate(tree.nodes, initial=0))
    for level, blocks in enumerate(tree.path(np.arange(tree.size))):
        assert all(Z[starts[level] + block, i] == 1 for i, block in enumerate(blocks))
    assert (Z.sum(axis=0) == tree.terms).all()
    assert tree.shared_with_last.tolist() == (Z.T @ Z)[:, -1].tolist()


@pytest.mark.parametrize(
    ("size", "radices", "root", "message"),
    [
        (0, (), True, "size must be a whole number of at least 1, got 0"),
        (5, (2, 2), True, "cover 4 points, not 5"),
        (5, (2, 1, 4), True, "radices must be whole numbers of at least 2"),
        (1, (), False, "cannot be omitted"),
    ],
)
def test_impossible_trees_are_refused(size, radices, root, message):
    with pytest.raises(ParameterError, match=message):
        PathTree(size, radices, root)
