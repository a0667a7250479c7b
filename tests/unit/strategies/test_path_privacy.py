"""Exact privacy of path noise on all neighbors of small inputs."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.strategies.path import PathNoise, PathTree, merged_top_tree, uniform_tree

SMALL = [
    uniform_tree(8, 2),
    uniform_tree(8, 2, root=False),
    merged_top_tree(8, 2),
    uniform_tree(7, 2),
    uniform_tree(6, 3),
    uniform_tree(5, 4, root=False),
    PathTree(6, (3, 2), False),
    uniform_tree(3, 2),
    uniform_tree(1, 2),
]


def neighbors(bins, records, adjacency):
    """All ordered pairs of adjacent histograms of at most `records` records."""
    tables = [t for t in itertools.product(range(records + 1), repeat=bins) if sum(t) <= records]
    known = set(tables)
    for table in tables:
        for i in range(bins):
            if adjacency is Adjacency.ADD_OR_REMOVE:
                other = (*table[:i], table[i] + 1, *table[i + 1 :])
                if other in known:
                    yield table, other
                    yield other, table
                continue
            for j in range(bins):
                if i != j and table[i]:
                    other = list(table)
                    other[i], other[j] = other[i] - 1, other[j] + 1
                    yield table, tuple(other)


def cost_by_linear_programming(strategy, change):
    columns = []
    for level, entry in enumerate(strategy.levels):
        for node in range(entry.nodes):
            noise = tuple(np.zeros(other.nodes, np.int64) for other in strategy.levels)
            noise[level][node] = 1
            columns.append(strategy.spread(noise))
    Z = np.array(columns).T
    solution = linprog(np.ones(2 * Z.shape[1]), A_eq=np.hstack((Z, -Z)), b_eq=change, method="highs")
    assert solution.status == 0
    return solution.fun


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_every_neighbor_is_hidden_by_a_shift_of_the_charged_norm(tree, adjacency):
    strategy = PathNoise(tree, DiscreteLaplace(1))
    records = 4 if tree.size <= 6 else 2
    changes = {
        tuple((strategy.measure(np.array(a)) - strategy.measure(np.array(b))).tolist())
        for a, b in neighbors(tree.size, records, adjacency)
    }
    worst = max((cost_by_linear_programming(strategy, change) for change in changes), default=0)
    charged = strategy.loss(adjacency).epsilon
    assert worst <= charged + 1e-9
    # replacing a record never moves the last count: only then may the charge be above the worst neighbor
    if adjacency is Adjacency.ADD_OR_REMOVE or (tree.size >= 4 and tree.root):
        assert worst == pytest.approx(float(charged))


def law_table(law, reach):
    return np.exp(law.log_probability(np.arange(-reach, reach + 1)))


def joint(tree, law, reach):
    """Probability of every output in [-reach, reach]^N: the children convolved with the noise of their parent.

    An output y of a block given the noise r above it is the block's own joint law at y - r.
    """
    wide = 2 * reach  # range of the noise of one block
    noise = law_table(law, wide)

    def block(level, leaves, span):
        """Joint law of the points of a block on [-span, span]^leaves, all noise inside the block included."""
        if level == 0:
            return law_table(law, span)
        count, last = tree.children(level, leaves)
        widths = [tree.sizes[level - 1]] * (count - 1) + [last]
        kept = tree.root or level < tree.height
        inner = [block(level - 1, width, span + wide if kept else span) for width in widths]
        shape = (2 * span + 1,) * leaves
        total = np.zeros(shape)
        for r in range(-wide, wide + 1) if kept else (0,):
            offset = wide - r if kept else 0
            piece = np.ones(())
            for part in inner:
                window = part[(slice(offset, offset + 2 * span + 1),) * part.ndim]
                piece = np.multiply.outer(piece, window)
            total += piece * (noise[r + wide] if kept else 1.0)
        return total

    return block(tree.height, tree.size, reach)


def shifted(table, change):
    """The parts of the table where both y and y - change lie in it."""
    first = tuple(slice(max(c, 0), table.shape[0] + min(c, 0)) for c in change)
    second = tuple(slice(max(-c, 0), table.shape[0] + min(-c, 0)) for c in change)
    return table[first], table[second]


def changes_of(size, adjacency):
    ends = [(a, b) for a in range(size) for b in range(a + 1, size + 1)]
    if adjacency is Adjacency.ADD_OR_REMOVE:
        ends = [(a, b) for a, b in ends if b == size]
    for a, b in ends:
        yield np.array([int(a <= i < b) for i in range(size)])


@pytest.mark.parametrize(
    ("tree", "reach"),
    [
        (uniform_tree(1, 2), 40),
        (uniform_tree(2, 2), 40),
        (uniform_tree(2, 2, root=False), 40),
        (uniform_tree(3, 2), 14),
        (uniform_tree(3, 3), 14),
        (uniform_tree(3, 2, root=False), 14),
    ],
    ids=str,
)
@pytest.mark.parametrize("adjacency", Adjacency)
def test_largest_log_ratio_of_laplace_outputs_is_epsilon(tree, reach, adjacency):
    # ratios approach their limit like 1 / reach, so three points get a small scale
    strategy = PathNoise(tree, DiscreteLaplace("1/5" if tree.size == 3 else 1))
    table = joint(tree, strategy.law, reach)
    ratios = [np.log(np.divide(*shifted(table, change))) for change in changes_of(tree.size, adjacency)]
    worst = max(np.abs(ratio).max() for ratio in ratios)
    epsilon = float(strategy.loss(adjacency).epsilon)
    assert worst <= epsilon * (1 + 1e-9)
    assert worst >= epsilon * (0.98 if tree.size == 3 else 0.999)


@pytest.mark.parametrize("bits", [0, 2])
@pytest.mark.parametrize(
    ("tree", "reach"),
    [(uniform_tree(2, 2), 60), (uniform_tree(2, 2, root=False), 60), (uniform_tree(3, 3), 22)],
    ids=str,
)
@pytest.mark.parametrize("adjacency", Adjacency)
def test_renyi_divergence_of_gaussian_outputs_is_at_most_order_times_rho(tree, reach, bits, adjacency):
    strategy = PathNoise(tree, DiscreteGaussian(2 if bits == 0 or tree.size == 3 else 6), bits)
    table = joint(tree, strategy.law, reach)
    assert table.sum() == pytest.approx(1, abs=1e-9)
    rho = float(strategy.loss(adjacency).rho)
    worst = 0.0
    for change in changes_of(tree.size, adjacency):
        p, q = (np.log(np.maximum(side, 1e-300)) for side in shifted(table, change * 2**bits))
        for order in (1.5, 2, 3):
            # where floating point has run out of probability, nothing is added
            terms = np.exp(order * p + (1 - order) * q)[np.minimum(p, q) > -600]
            worst = max(worst, math.log(terms.sum()) / (order - 1) / order)
    assert worst <= rho * (1 + 1e-9)
    # a finer grid brings the price closer to the truth
    assert worst > (0.45, 0.8)[bits // 2] * rho
