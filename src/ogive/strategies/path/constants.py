"""Exact L1 constants of path noise: how far noise must be shifted to hide one record.

Adjacent histograms change the cumulative counts by v: plus or minus one on an interval
(REPLACE) or on a suffix (ADD_OR_REMOVE). Shifting the node noise by chi with Z^T chi = v
hides the change, so with Laplace noise of scale s the loss is c / s, where

    c = max over v of min { ||chi||_1 : Z^T chi = v }.

Some chi with entries -1, 0 and 1 attains the minimum; c therefore also bounds ||chi||_2^2 for
integer noise. For Laplace noise no smaller price holds (docs/proofs/path_noise.md).

A prefix of a block is summarized by two costs inside that block: A when the coefficients
of its ancestors sum to 0 and B when they sum to 1. Only Pareto-maximal pairs matter, and
they depend on how many children are covered, not on their sizes: the recursion below is
polylogarithmic in N.
"""

from __future__ import annotations

from functools import lru_cache

from ogive.privacy import Adjacency
from ogive.strategies.path.tree import PathTree

Pair = tuple[int, int]


@lru_cache(maxsize=256)
def shift_cost(tree: PathTree, adjacency: Adjacency) -> int:
    """The exact constant c for a tree and an adjacency.

    Returns:
        `interval_cost(tree)` for REPLACE, `half_open_cost(tree)` for ADD_OR_REMOVE.
    """
    return interval_cost(tree) if adjacency is Adjacency.REPLACE else half_open_cost(tree)


def interval_cost(tree: PathTree) -> int:
    """Largest cost of an interval of points: c_sub."""
    return max(_inside(tree), _largest_prefix(tree), half_open_cost(tree))


def half_open_cost(tree: PathTree) -> int:
    """Largest cost of a suffix of the points: c_half."""
    if tree.root:
        return max(b for _, b in _Pairs(tree).of(tree.height, tree.size))
    pairs, cost = _Pairs(tree), 0
    for child, count, leaves in _child_kinds(tree, tree.height, tree.size):
        cost = max([cost, *(count - 1 - child + b for _, b in pairs.of(tree.height - 1, leaves))])
    return cost


def _largest_prefix(tree: PathTree) -> int:
    if tree.root:
        return max(a for a, _ in _Pairs(tree).of(tree.height, tree.size))
    pairs, cost = _Pairs(tree), 0
    for child, _, leaves in _child_kinds(tree, tree.height, tree.size):
        cost = max([cost, *(child + a for a, _ in pairs.of(tree.height - 1, leaves))])
    return cost


def _inside(tree: PathTree) -> int:
    """Largest cost of an interval that meets at least two children of some block."""
    pairs = _Pairs(tree)
    worst = 1
    for level, leaves in _blocks(tree):
        count, last = tree.children(level, leaves)
        omitted = level == tree.height and not tree.root
        left = [(b, a) for a, b in pairs.of(level - 1, tree.sizes[level - 1])] if count > 1 else []
        for final, right in ((True, pairs.of(level - 1, last)), (False, pairs.of(level - 1, tree.sizes[level - 1]))):
            # children strictly between the two partial ones, the right one being the last child or not
            for between in range(count - 1 if final else count - 2):
                for a, b in left:
                    for a2, b2 in right:
                        without = between + a + a2
                        through = 1 + (count - 2 - between) + b + b2
                        worst = max(worst, without if omitted else min(without, through))
    return worst


def _blocks(tree: PathTree) -> set[tuple[int, int]]:
    """(level, points) of every shape of block above the leaves: the full one and the last one."""
    shapes = set()
    for level in range(1, tree.height + 1):
        full = tree.sizes[level]
        shapes.add((level, (tree.size - 1) % full + 1))
        if tree.size >= full:
            shapes.add((level, full))
    return shapes


def _child_kinds(tree: PathTree, level: int, leaves: int) -> list[tuple[int, int, int]]:
    """(child, number of children, points of that child) for every child of a block."""
    count, last = tree.children(level, leaves)
    full = tree.sizes[level - 1]
    return [(child, count, full if child < count - 1 else last) for child in range(count)]


class _Pairs:
    """Memoized Pareto-maximal cost pairs (A, B) of the prefixes inside a block."""

    def __init__(self, tree: PathTree) -> None:
        self.tree = tree
        self.known: dict[tuple[int, int], tuple[Pair, ...]] = {}

    def of(self, level: int, leaves: int) -> tuple[Pair, ...]:
        """Pairs of a block at `level` that holds `leaves` points."""
        if (level, leaves) not in self.known:
            self.known[level, leaves] = self._build(level, leaves)
        return self.known[level, leaves]

    def _build(self, level: int, leaves: int) -> tuple[Pair, ...]:
        pairs = {(0, 1), (1, 0)}
        if level > 0:
            for child, count, inner in _child_kinds(self.tree, level, leaves):
                for a, b in self.of(level - 1, inner):
                    without = child + a
                    through = count - 1 - child + b
                    pairs.add((min(without, 1 + through), min(1 + without, through)))
        return tuple(
            pair
            for pair in sorted(pairs)
            if not any(other != pair and other[0] >= pair[0] and other[1] >= pair[1] for other in pairs)
        )
