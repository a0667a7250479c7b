"""The graph on which path noise is smoothed: one edge for every block of points.

Number the gaps around the M points 0..M: gap i lies before point i, gap M after the last. A
noise node that covers the points a..b-1 changes their values together, so it moves an amount
from the increment at gap a to the increment at gap b (or back): it is an edge (a, b) between
gaps. Blocks are nested, so the gaps can be removed one by one such that a gap has just two
neighbors when it goes, and joins them. Both smoothers walk along that order: solving
downward from the leaves, substituting back up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Int64
from ogive.compiling import njit


@dataclass(frozen=True)
class Intervals:
    """Edges between gaps 0..M and an order of removing the gaps 1..M-1.

    Fields:
        neighbors: Noise nodes that cover exactly point i, shape (M,): the edges (i, i+1).
        order: Gap removed, its left and its right neighbor at that time, shape (3, M-1).
        joined: Noise nodes that cover exactly the points between those two neighbors, shape (M-1,).
    """

    neighbors: Int64
    order: Int64
    joined: Int64

    @property
    def points(self) -> int:
        """Number of points, M."""
        return int(self.neighbors.size)


def nested_intervals(points: Int64, blocks: Int64) -> Intervals:
    """Lay out the noise nodes that touch some points.

    Args:
        points: Increasing 0-based points, shape (M,), M at least 1.
        blocks: Block size of every level that carries noise, 1 first, each dividing the next, shape (levels,).
    """
    return Intervals(*_removal_order(points, blocks))


@njit()
def _ranks(points: Int64, blocks: Int64) -> tuple[Int64, Int64]:
    """Highest level at which a gap separates two blocks; and which gaps of that level go first.

    Gaps of one level inside one block of the next go in the order of the trailing zeros of
    their place, which keeps the order as balanced as a binary tree.
    """
    size, levels = points.size, blocks.size
    rank = np.full(size + 1, levels - 1, np.int64)
    turn = np.full(size + 1, 64, np.int64)
    for gap in range(1, size):
        before, after = points[gap - 1], points[gap]
        level = 0
        place = after
        while level + 1 < levels:
            ratio = blocks[level + 1] // blocks[level]
            before //= ratio
            after //= ratio
            if before == after:
                place -= after * ratio
                break
            place = after
            level += 1
        rank[gap] = level
        zeros = 0
        while place & 1 == 0 and zeros < 62:
            place >>= 1
            zeros += 1
        turn[gap] = zeros
    return rank, turn


@njit()
def _removal_order(points: Int64, blocks: Int64) -> tuple[Int64, Int64, Int64]:
    size = points.size
    rank, turn = _ranks(points, blocks)
    neighbors = np.empty(size, np.int64)
    for gap in range(size):
        neighbors[gap] = min(rank[gap], rank[gap + 1]) + 1
    order = np.empty((3, size - 1), np.int64)
    joined = np.empty(size - 1, np.int64)
    stack = np.empty(size + 1, np.int64)
    stack[0] = 0
    top = 0
    step = 0
    for right in range(1, size + 1):
        while top > 0:
            gap = stack[top]
            later = rank[gap] > rank[right] or (rank[gap] == rank[right] and turn[gap] >= turn[right])
            if later and right < size:
                break
            left = stack[top - 1]
            order[0, step], order[1, step], order[2, step] = gap, left, right
            # blocks of a level above the removed gap's, up to where one of the two ends is no boundary
            joined[step] = min(rank[left], rank[right]) - rank[gap]
            step += 1
            top -= 1
        top += 1
        stack[top] = right
    return neighbors, order, joined
