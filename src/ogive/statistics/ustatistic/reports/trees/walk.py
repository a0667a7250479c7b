"""Down two noisy trees, level by level: which nodes are looked into, what pairs they add, and how noisy that is.

Of a node with b children, whose counts are x in the one tree and y in the other, a bilinear form x'My is added: one
for every pair of children in the right order where its children are looked into (and one half for ties, in leaves),
and a half for every pair where they are not. If x and y are unbiased, with variances v and w, uncorrelated within and
independent between the trees, then so is x'My, and

    sum_j w_j (M'x)_j^2 + sum_i v_i (My)_i^2 - sum_ij M_ij^2 v_i w_j

is unbiased for its variance. Whether a node is looked into depends on its own level's counts alone, and what it adds on
its children's, so nothing is selected for being large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.errors import ParameterError
from ogive.statistics.ustatistic.reports.trees.counts import NoisyTree

MOST_NODES = 1 << 23
"""Most nodes of one level that are looked into."""


@dataclass(frozen=True)
class Walk:
    """What was found, in pairs of records.

    Fields:
        pairs: Estimate of the number of pairs in the right order.
        variance: Unbiased estimate of its variance; may be below 0.
        least: The part of the variance that no counts take away, of products of noise.
        discarded_pairs: Estimate of the number of all pairs in nodes that were not looked into.
        recursed: Nodes that were looked into, from the root's level on.
        discarded: Nodes that were not.
    """

    pairs: float
    variance: float
    least: float
    discarded_pairs: float
    recursed: tuple[int, ...]
    discarded: tuple[int, ...]


def walk(positive: NoisyTree, negative: NoisyTree, *, a: float | None, variant: str, ties: str) -> Walk:
    """Add up the pairs of two trees.

    Args:
        positive: Scores that should be larger.
        negative: Scores that should be smaller.
        a: Nodes are looked into where the product of the counts, neither taken as less than sqrt(a v) / 2, is at
            least a times the product of the standard deviations; None looks into all nodes.
        variant: "half" counts half of the pairs in other nodes, "zero" none.
        ties: "half" or "strict": what pairs in one leaf count.

    Raises:
        ParameterError: there are too many nodes to look into.
    """
    branching, depth = positive.branching, len(positive.noise)
    inner = np.tril(np.ones((branching, branching)), -1)
    leaves = inner + np.eye(branching) / 2 if ties == "half" else inner
    halves = np.full((branching, branching), 0.5)
    nodes = np.zeros(1, dtype=np.int64)
    counts = np.array([[float(positive.records)], [float(negative.records)]])
    found = np.zeros(4)
    recursed, discarded = [], []
    for level in range(depth):
        chosen = np.ones(len(nodes), dtype=np.bool_) if a is None else _chosen(positive, negative, level, counts, a)
        recursed.append(int(chosen.sum()))
        discarded.append(len(chosen) - recursed[-1])
        form = leaves if level == depth - 1 else inner
        children, below = _children(positive, negative, level, nodes[chosen])
        found[:3] += _added(positive, negative, level, below, form)
        if discarded[-1]:
            _, unseen = _children(positive, negative, level, nodes[~chosen])
            added = _added(positive, negative, level, unseen, halves)
            found[3] += 2 * added[0]
            if variant == "half":
                found[:3] += added
        nodes, counts = children.ravel(), below.reshape(2, -1)
    pairs, variance, least, lost = found.tolist()
    return Walk(pairs, variance, least, lost, tuple(recursed), tuple(discarded))


def _chosen(positive: NoisyTree, negative: NoisyTree, level: int, counts: Float64, a: float) -> Bool:
    # the root is known; it is compared with the noise of the level below
    place = max(0, level - 1)
    noise = np.array([[positive.noise[place].most], [negative.noise[place].most]])
    large = np.maximum(counts, np.sqrt(a * noise) / 2)
    chosen: Bool = large[0] * large[1] >= a * np.sqrt(noise[0] * noise[1])
    return chosen


def _children(positive: NoisyTree, negative: NoisyTree, level: int, nodes: Int64) -> tuple[Int64, Float64]:
    """Children of some nodes, shape (n, b), and their counts in both trees, shape (2, n, b)."""
    branching = positive.branching
    if len(nodes) * branching > MOST_NODES:
        raise ParameterError(
            f"level {level + 1} has {len(nodes) * branching} nodes to look into, more than {MOST_NODES}; "
            "prune, or use fewer levels"
        )
    children = nodes[:, None] * branching + np.arange(branching)
    flat = children.ravel()
    below = np.stack([positive.counts(level + 1, flat), negative.counts(level + 1, flat)])
    return children, below.reshape(2, len(nodes), branching)


def _added(
    positive: NoisyTree, negative: NoisyTree, level: int, below: Float64, form: Float64
) -> tuple[float, float, float]:
    """The sum of the bilinear forms of some nodes' children, the estimate of its variance, and the least of that."""
    x, y = below
    left, right = x @ form, y @ form.T
    v, w = positive.noise[level].of(x), negative.noise[level].of(y)
    pairs = _sum(left * y)
    squared = _sum((v @ form**2) * w)
    variance = _sum(w * left**2) + _sum(v * right**2) - squared
    return pairs, variance, squared


def _sum(values: Any) -> float:
    return float(np.sum(values))
