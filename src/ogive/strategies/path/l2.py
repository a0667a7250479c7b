"""Exact squared L2 constants of path noise.

With real-valued noise shifts the constant is Delta_2^2 = max over v of v^T K^{-1} v, where
K = Z^T Z. K^{-1} is also the covariance of the least-squares estimate of the points' bin
counts when every node's count is measured with unit variance, so v^T K^{-1} v is the
variance of one linear functional of independent measurements on a tree, and it obeys the
two-pass recursion of such estimates, for any radices and any N:

    V = variance of a block's count from measurements inside the block,
    S = sum of V over its children (V = S / (1 + S) if the block is measured, else S),
    W = variance of the block's count from all measurements.

For the indicator of a prefix (or suffix) inside a block let a be its regression on the
block's count and p its variance. If child c contains the end of the prefix and Q is the
sum of V over the children before it, then with eta = (S - W) / S^2

    a = (a_c V_c + Q) / S,      p = p_c + Q - Q^2 eta - 2 eta Q V_c a_c,

which is affine in (a_c, p_c). The variance of an interval whose ends lie in two children is
bilinear in their (a, p). Maxima are therefore attained at vertices of the upper convex hull
of the points (a, p), and carrying hulls instead of points makes the exact maximum over all
N^2 / 2 intervals a matter of milliseconds at any N.

Noise is drawn in integers, so a shift must be integer too. `grid_squared_shift` bounds the
integer shifts; counted in ever finer units of a fixed-point grid it approaches the real one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Float64
from ogive.privacy import Adjacency
from ogive.strategies.path.constants import shift_cost
from ogive.strategies.path.tree import PathTree


@lru_cache(maxsize=256)
def squared_shift(tree: PathTree, adjacency: Adjacency) -> float:
    """Delta_2^2 for a tree and an adjacency, exact to floating point (relative error below 1e-12).

    Returns:
        `interval_squared(tree)` for REPLACE, `half_open_squared(tree)` for ADD_OR_REMOVE.
    """
    return interval_squared(tree) if adjacency is Adjacency.REPLACE else half_open_squared(tree)


def half_open_squared(tree: PathTree) -> float:
    """Largest v^T K^{-1} v over suffixes of the points."""
    scan = _Scan(tree)
    return float(scan.hull(tree.height, tree.size, scan.top, mirrored=True)[:, 1].max())


def interval_squared(tree: PathTree) -> float:
    """Largest v^T K^{-1} v over intervals of points."""
    scan = _Scan(tree)
    ends = (scan.hull(tree.height, tree.size, scan.top, mirrored=side)[:, 1].max() for side in (False, True))
    return float(max(*ends, scan.interval(tree.height, tree.size, scan.top)))


def grid_squared_shift(tree: PathTree, adjacency: Adjacency, change: int) -> int:
    """Bound min ||chi||^2 over integer chi with Z^T chi = change v, for every v of the adjacency; rounded up.

    Two arguments, of which the better counts.

    * Shifts of +-change: c of them suffice, hence change^2 c.
    * Round the real optimum on every node above the leaves up or down at random without bias,
      independently, then correct the leaves so that Z^T chi = change v exactly; they become
      integers. The difference d has mean 0, every node above the leaves contributes at most
      1/4 to E ||d||^2 and every leaf at most (T - 1) / 4, so some rounding has
      ||chi||^2 <= change^2 Delta_2^2 + (nodes above the leaves + N (T - 1)) / 4.
    """
    # the margin covers the rounding errors of the scan many times over
    real = math.ceil(change * change * (Fraction(squared_shift(tree, adjacency)) * (1 + Fraction(1, 2**36))))
    return min(change * change * shift_cost(tree, adjacency), real + math.ceil(_rounding_excess(tree)))


def fine_bits(tree: PathTree, adjacency: Adjacency, change: int = 1) -> int:
    """Fewest fractional bits at which rounding adds at most 2^-16 to the squared constant of changes by `change`."""
    ratio = _rounding_excess(tree) / (change * change * squared_shift(tree, adjacency))
    return max(0, math.ceil(8 + math.log2(ratio) / 2)) if ratio else 0


def _rounding_excess(tree: PathTree) -> float:
    """What rounding shifts to integers can add to their squared norm."""
    return (sum(tree.nodes[1:]) + tree.size * (tree.terms - 1)) / 4


class _Scan:
    """Memoized recursion over the few shapes of blocks that a tree has.

    A shape is (level, points, W): all full blocks of a level that hang off the same block of
    the right edge are alike.
    """

    def __init__(self, tree: PathTree) -> None:
        self.tree = tree
        self.inner: dict[tuple[int, int], float] = {}
        self.hulls: dict[tuple[int, int, float, bool], Float64] = {}
        self.intervals: dict[tuple[int, int, float], float] = {}
        self.top = self.own(tree.height, tree.size)

    def own(self, level: int, leaves: int) -> float:
        """V of a block."""
        if level == 0:
            return 1.0
        if (level, leaves) not in self.inner:
            total = self.below(level, leaves)
            measured = self.tree.root or level < self.tree.height
            self.inner[level, leaves] = total / (1 + total) if measured else total
        return self.inner[level, leaves]

    def below(self, level: int, leaves: int) -> float:
        """S of a block."""
        count, last = self.tree.children(level, leaves)
        return (count - 1) * self.own(level - 1, self.tree.sizes[level - 1]) + self.own(level - 1, last)

    def kinds(self, level: int, leaves: int, whole: float) -> tuple[float, float, list[tuple[int, float, float]]]:
        """S, eta, and (points, V, W) of every child of a block whose W is `whole`."""
        count, last = self.tree.children(level, leaves)
        total = self.below(level, leaves)
        eta = (total - whole) / (total * total)
        widths = [self.tree.sizes[level - 1]] * (count - 1) + [last]
        owns = [self.own(level - 1, width) for width in widths]
        return total, eta, [(width, own, own - own * own * eta) for width, own in zip(widths, owns, strict=True)]

    def hull(self, level: int, leaves: int, whole: float, *, mirrored: bool) -> Float64:
        """Upper hull of (a, p) over the prefixes (mirrored: suffixes) inside a block, shape (vertices, 2)."""
        key = (level, leaves, whole, mirrored)
        if key not in self.hulls:
            pieces = [np.array([[0.0, 0.0], [1.0, whole]])]
            if level > 0:
                total, eta, children = self.kinds(level, leaves, whole)
                covered = 0.0
                for width, own, own_whole in reversed(children) if mirrored else children:
                    inner = self.hull(level - 1, width, own_whole, mirrored=mirrored)
                    regression = (inner[:, 0] * own + covered) / total
                    variance = inner[:, 1] + covered - covered * eta * (covered + 2 * own * inner[:, 0])
                    pieces.append(np.column_stack((regression, variance)))
                    covered += own
            self.hulls[key] = _upper_hull(np.concatenate(pieces))
        return self.hulls[key]

    def interval(self, level: int, leaves: int, whole: float) -> float:
        """Largest variance of an interval that meets two children of this block or of one below it."""
        if level == 0:
            return 0.0
        key = (level, leaves, whole)
        if key not in self.intervals:
            _, eta, children = self.kinds(level, leaves, whole)
            # full children are alike: a first one, the number between, and a second one say it all
            seen = {(children[0], gap, children[gap + 1]) for gap in range(len(children) - 2)}
            seen |= {(children[0], gap, children[-1]) for gap in range(len(children) - 1)}
            worst = max(self.interval(level - 1, width, inner) for width, _, inner in {children[0], children[-1]})
            for (width, own, inner), gap, (width2, own2, inner2) in seen:
                left = self.hull(level - 1, width, inner, mirrored=True)
                right = self.hull(level - 1, width2, inner2, mirrored=False)
                between = gap * children[0][1]
                first = left[:, 1] - 2 * eta * between * own * left[:, 0]
                second = right[:, 1] - 2 * eta * between * own2 * right[:, 0]
                cross = 2 * eta * own * own2 * np.outer(left[:, 0], right[:, 0])
                both = first[:, None] + second[None, :] - cross
                worst = max(worst, float(both.max()) + between - between * between * eta)
            self.intervals[key] = worst
        return self.intervals[key]


def _upper_hull(points: Float64) -> Float64:
    """Vertices of the upper convex hull of points (x, y), from left to right."""
    hull: list[tuple[float, float]] = []
    for x, y in sorted(map(tuple, points.tolist())):
        while len(hull) >= 2:
            (x1, y1), (x2, y2) = hull[-2:]
            if (x2 - x1) * (y - y1) < (y2 - y1) * (x - x1):
                break
            hull.pop()
        if hull and hull[-1][0] == x:
            hull.pop()  # sorted, so the new point is higher
        hull.append((x, y))
    return np.array(hull)
