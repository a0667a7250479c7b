"""Exact output probabilities of small releases, computed without the code that prices them.

Every strategy publishes measure(x) + spread(eta) with independent integer noise eta. What can be
told apart about neighbors x and x' is the log-ratio of the probabilities of one output under
both, and since noise is added, it depends only on d = measure(x') - measure(x).
"""

import itertools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.optimize import linprog

from ogive.privacy import Adjacency
from ogive.strategies.base import Pointwise


def histograms(bins, records):
    """All histograms of that many records over that many bins."""
    for chosen in itertools.combinations_with_replacement(range(bins), records):
        yield tuple(np.bincount(chosen, minlength=bins).tolist())


def neighbors(histogram, adjacency):
    """All histograms of adjacent data sets."""
    for i, count in enumerate(histogram):
        changed = list(histogram)
        if adjacency is Adjacency.ADD_OR_REMOVE:
            changed[i] += 1
            yield tuple(changed)
        if count:
            changed = list(histogram)
            changed[i] -= 1
            if adjacency is Adjacency.ADD_OR_REMOVE:
                yield tuple(changed)
            else:
                for j in range(len(histogram)):
                    if j != i:
                        moved = list(changed)
                        moved[j] += 1
                        yield tuple(moved)


def differences(strategy, adjacency, most_records=4):
    """Every distinct change of the measurements between neighbors of at most 4 records."""
    found = set()
    for records in range(most_records + 1):
        for histogram in histograms(strategy.size, records):
            here = strategy.measure(np.array(histogram))
            for other in neighbors(histogram, adjacency):
                found.add(tuple((strategy.measure(np.array(other)) - here).tolist()))
    return [np.array(change) for change in sorted(found)]


def node_probabilities(law, reach):
    """Probabilities of -reach..reach under a law."""
    return np.exp(law.log_probability(np.arange(-reach, reach + 1)))


class PathOutputs:
    """Exact probabilities of the outputs of path noise, by passing messages up the tree.

    The noise at a point is the sum over its path, so with `a` the sum above a node,
    f(leaf, a) = p(z - a) and f(node, a) = sum over e of p(e) product of f(child, a + e).
    Sums run over -reach..reach; what is cut off is far below the accuracy asked of it.
    """

    def __init__(self, strategy, reach):
        assert isinstance(strategy, Pointwise)
        self.reach = reach
        self.laws = [node_probabilities(level.law, 2 * reach) for level in strategy.levels]
        # row a of a law's matrix has p(-span - a), ..., p(span - a)
        self.shifted = [sliding_window_view(law, 2 * reach + 1)[::-1] for law in self.laws]
        points = np.arange(strategy.size)
        self.parents = [nodes.tolist() for nodes in strategy.nodes_at(points)]

    def log_probability(self, noise):
        """Log-probability that the noise of all points is exactly this."""
        span = self.reach
        size = 2 * span + 1
        offsets = np.arange(-span, span + 1)
        messages = {}
        for point, value in enumerate(noise):
            node = self.parents[0][point]
            assert node == point, "the lowest level is that of the points"
            messages[point] = self.laws[0][np.clip(value - offsets + 2 * span, 0, 4 * span)]
        below = self.parents[0]
        for level, above in enumerate(self.parents[1:], start=1):
            product = {}
            for child, parent in dict(zip(below, above, strict=True)).items():
                product[parent] = product.get(parent, np.ones(size)) * messages[child]
            # f(node, a) = sum_e p(e) g(a + e): a correlation of g with p
            messages = {node: self.shifted[level] @ g for node, g in product.items()}
            below = above
        # above the highest level there is nothing: a = 0
        return float(sum(np.log(message[span]) for message in messages.values()))


def incidence(strategy):
    """What one unit of noise at each node adds to the measurements, shape (nodes, measurements)."""
    rows = []
    for number, level in enumerate(strategy.levels):
        for node in range(level.nodes):
            noise = tuple(np.zeros(other.nodes, dtype=np.int64) for other in strategy.levels)
            noise[number][node] = 1
            rows.append(strategy.spread(noise))
    return np.array(rows)


def worst_direction(strategy, change):
    """Noise along which moving by `change` costs most: the dual of the cheapest shift that hides it.

    Returns (cost, direction): cost = max <w, change> over w with |Z w| <= 1, and the noise Z' sign(Z w)
    on the nodes where the bound is met.
    """
    nodes = incidence(strategy)
    both = np.vstack([nodes, -nodes])
    solved = linprog(-change.astype(float), A_ub=both, b_ub=np.ones(len(both)), bounds=(None, None), method="highs")
    assert solved.success
    load = nodes @ solved.x
    signs = np.where(np.abs(load) > 1 - 1e-9, np.sign(load), 0).astype(np.int64)
    return -float(solved.fun), signs @ nodes
