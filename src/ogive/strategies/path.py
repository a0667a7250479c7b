"""Path noise: every point of the distribution function gets the noise of the blocks above it.

    answer_i = 2^bits (count of bins 0..i) + sum over levels of eta(level, block of i)

A point needs one aggregate of the records and one noise variable per level, so points can be
opened one at a time, in any order, as long as a block's noise is drawn once and kept.
The whole function is priced once. The shift that hides a record, and hence the price, is
computed exactly by `shift_cost` (Laplace) and `squared_shift` (Gaussian); proofs are in
docs/proofs/path_noise.md.

The tree covers all N points, also under REPLACE, where the last count is public: its noisy
value then serves to lower the error of the others (`estimate`).

Source: Barczewski, Mawass and Ramon, Differentially Private Empirical Cumulative Distribution
Functions, Theorems 1 and 3, with exact constants.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import ROOM, Range, all_whole, among, whole
from ogive.errors import ParameterError, plain, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Level, check_design

# --- The tree of blocks over which path noise is laid
#
# Level 0 holds the N points themselves, level l blocks of `sizes[l]` consecutive points, the last of them possibly
# short; the top block holds all points. Radices are listed from the leaves up and may differ: leaving a level out of
# the tree is merging two radices into one. Blocks beyond N do not exist. In code points and blocks are 0-based.


@dataclass(frozen=True)
class PathTree:
    """Which blocks carry noise.

    Fields:
        radices: Children per block, from the leaves up; their product is at least N.
    """

    size: int
    radices: tuple[int, ...]
    root: bool = True

    def __post_init__(self) -> None:
        whole(self.size, "size", 1)
        all_whole(self.radices, "radices", 2)
        if math.prod(self.radices) < self.size:
            raise ParameterError(f"radices {self.radices} cover {math.prod(self.radices)} points, not {self.size}")
        if not self.radices and not self.root:
            raise ParameterError("a tree of one point has only its root; it cannot be omitted")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Points of a full block at every level, 1 = B_0 to the top."""
        return tuple(itertools.accumulate(self.radices, initial=1, func=lambda size, radix: size * radix))

    @property
    def height(self) -> int:
        """Level of the top block, L."""
        return len(self.radices)

    @property
    def terms(self) -> int:
        """Noise variables per point, T."""
        return self.height + self.root

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """Blocks at every level that carries noise, from the leaves up."""
        return tuple(-(-self.size // block) for block in self.sizes[: self.terms])

    def children(self, level: int, leaves: int) -> tuple[int, int]:
        """Number of children of a block that holds `leaves` points, and the points of its last child."""
        block = self.sizes[level - 1]
        count = -(-leaves // block)
        return count, leaves - (count - 1) * block

    def path(self, points: Int64) -> tuple[Int64, ...]:
        """Block of each point at every level that carries noise; each array has the shape of `points`."""
        return tuple(points // block for block in self.sizes[: self.terms])

    @cached_property
    def shared_with_last(self) -> Float64:
        """K_iN: how many noise variables each point shares with the last point, shape (N,), read-only."""
        shared = np.zeros(self.size)
        for block in self.sizes[: self.terms]:
            shared[(self.size - 1) // block * block :] += 1
        shared.flags.writeable = False
        return shared


def uniform_tree(size: int, base: int, *, root: bool = True) -> PathTree:
    """The tree with `base` children per block and ceil(log_base N) levels above the leaves."""
    whole(base, "base", 2)
    height, reach = 0, 1
    while reach < size:
        height, reach = height + 1, reach * base
    return PathTree(size, (base,) * height, root or height == 0)


def merged_top_tree(size: int, merged: int) -> PathTree:
    """The base 2 tree, root kept, whose `merged` top radices 2 are one radix 2^merged."""
    radices = uniform_tree(size, 2).radices
    lower = max(len(radices) - merged, 0)
    return PathTree(size, (*radices[:lower], 1 << (len(radices) - lower)) if radices else ())


def candidate_trees(size: int, *, base: int | None = None, root: bool | None = None) -> tuple[PathTree, ...]:
    """Trees worth comparing: bases 2, 3, 4, 5, 8, 16 with and without the root, and base 2 with top radix 4 or 8.

    Richer mixtures of radices gain at most 4 % in variance (tried over three top radices at N up to 2^15).
    """
    trees = [
        uniform_tree(size, radix, root=rooted)
        for radix in ((2, 3, 4, 5, 8, 16) if base is None else (base,))
        for rooted in (True, False)
        if root in (None, rooted)
    ]
    if base in (None, 2) and root is not False:
        trees += [merged_top_tree(size, merged) for merged in (2, 3)]
    return tuple(dict.fromkeys(trees))


# --- Exact L1 constants of path noise: how far noise must be shifted to hide one record
#
# Adjacent histograms change the cumulative counts by v: plus or minus one on an interval
# (REPLACE) or on a suffix (ADD_OR_REMOVE). Shifting the node noise by chi with Z^T chi = v
# hides the change, so with Laplace noise of scale s the loss is c / s, where
#
#     c = max over v of min { ||chi||_1 : Z^T chi = v }.
#
# Some chi with entries -1, 0 and 1 attains the minimum; c therefore also bounds ||chi||_2^2 for
# integer noise. For Laplace noise no smaller price holds (docs/proofs/path_noise.md).
#
# A prefix of a block is summarized by two costs inside that block: A when the coefficients
# of its ancestors sum to 0 and B when they sum to 1. Only Pareto-maximal pairs matter, and
# they depend on how many children are covered, not on their sizes: the recursion below is
# polylogarithmic in N.

Pair = tuple[int, int]


@lru_cache(maxsize=256)
def shift_cost(tree: PathTree, adjacency: Adjacency) -> int:
    """The exact constant c for a tree and an adjacency."""
    return interval_cost(tree) if adjacency is Adjacency.REPLACE else half_open_cost(tree)


def interval_cost(tree: PathTree) -> int:
    """Largest cost of an interval of points: c_sub."""
    return max(_inside(tree), _from_one_end(tree, suffix=False), half_open_cost(tree))


def half_open_cost(tree: PathTree) -> int:
    """Largest cost of a suffix of the points: c_half."""
    return _from_one_end(tree, suffix=True)


def _from_one_end(tree: PathTree, *, suffix: bool) -> int:
    """Largest cost of a suffix of the points, or of a prefix."""
    pairs = _pairs(tree)
    if tree.root:
        return max(pair[suffix] for pair in pairs(tree.height, tree.size))
    return max(
        (count - 1 - child if suffix else child) + pair[suffix]
        for child, count, leaves in _child_kinds(tree, tree.height, tree.size)
        for pair in pairs(tree.height - 1, leaves)
    )


def _inside(tree: PathTree) -> int:
    """Largest cost of an interval that meets at least two children of some block."""
    pairs = _pairs(tree)
    worst = 1
    for level, leaves in _blocks(tree):
        count, last = tree.children(level, leaves)
        omitted = level == tree.height and not tree.root
        left = [(b, a) for a, b in pairs(level - 1, tree.sizes[level - 1])] if count > 1 else []
        for final, right in ((True, pairs(level - 1, last)), (False, pairs(level - 1, tree.sizes[level - 1]))):
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


def _pairs(tree: PathTree) -> Callable[[int, int], tuple[Pair, ...]]:
    """Pareto-maximal cost pairs (A, B) of the prefixes inside a block, by its level and the points that it holds."""

    @cache
    def of(level: int, leaves: int) -> tuple[Pair, ...]:
        pairs = {(0, 1), (1, 0)}
        if level > 0:
            for child, count, inner in _child_kinds(tree, level, leaves):
                for a, b in of(level - 1, inner):
                    without = child + a
                    through = count - 1 - child + b
                    pairs.add((min(without, 1 + through), min(1 + without, through)))
        return tuple(
            pair
            for pair in sorted(pairs)
            if not any(other != pair and other[0] >= pair[0] and other[1] >= pair[1] for other in pairs)
        )

    return of


# --- Exact squared L2 constants of path noise
#
# With real-valued noise shifts the constant is Delta_2^2 = max over v of v^T K^{-1} v, where
# K = Z^T Z. K^{-1} is also the covariance of the least-squares estimate of the points' bin
# counts when every node's count is measured with unit variance, so v^T K^{-1} v is the
# variance of one linear functional of independent measurements on a tree, and it obeys the
# two-pass recursion of such estimates, for any radices and any N:
#
#     V = variance of a block's count from measurements inside the block,
#     S = sum of V over its children (V = S / (1 + S) if the block is measured, else S),
#     W = variance of the block's count from all measurements.
#
# For the indicator of a prefix (or suffix) inside a block let a be its regression on the
# block's count and p its variance. If child c contains the end of the prefix and Q is the
# sum of V over the children before it, then with eta = (S - W) / S^2
#
#     a = (a_c V_c + Q) / S,      p = p_c + Q - Q^2 eta - 2 eta Q V_c a_c,
#
# which is affine in (a_c, p_c). The variance of an interval whose ends lie in two children is
# bilinear in their (a, p). Maxima are therefore attained at vertices of the upper convex hull
# of the points (a, p), and carrying hulls instead of points makes the exact maximum over all
# N^2 / 2 intervals a matter of milliseconds at any N.
#
# Noise is drawn in integers, so a shift must be integer too. `grid_squared_shift` bounds the
# integer shifts; counted in ever finer units of a fixed-point grid it approaches the real one.


@lru_cache(maxsize=256)
def squared_shift(tree: PathTree, adjacency: Adjacency) -> float:
    """Delta_2^2 for a tree and an adjacency, exact to floating point (relative error below 1e-12)."""
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
        self.own, self.hull, self.interval = cache(self._own), cache(self._hull), cache(self._interval)
        self.top = self.own(tree.height, tree.size)

    def _own(self, level: int, leaves: int) -> float:
        """V of a block."""
        if level == 0:
            return 1.0
        total = self.below(level, leaves)
        return total / (1 + total) if self.tree.root or level < self.tree.height else total

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

    def _hull(self, level: int, leaves: int, whole: float, *, mirrored: bool) -> Float64:
        """Upper hull of (a, p) over the prefixes (mirrored: suffixes) inside a block, shape (vertices, 2)."""
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
        return _upper_hull(np.concatenate(pieces))

    def _interval(self, level: int, leaves: int, whole: float) -> float:
        """Largest variance of an interval that meets two children of this block or of one below it."""
        if level == 0:
            return 0.0
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
        return worst


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


# --- The strategy

MAX_BITS = 32


@dataclass(frozen=True)
class PathNoise:
    """Cumulative counts with independent integer noise on the blocks of a tree, summed along paths.

    Fields:
        bits: Fractional bits of the answers: a count of 1 is 2^bits. A fine grid brings discrete
            Gaussian noise to the constant of the continuous one.
    """

    name: ClassVar[str] = "path"

    tree: PathTree
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MAX_BITS)

    @property
    def size(self) -> int:
        """Number of bins."""
        return self.tree.size

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The blocks level by level, from the points up, all under the same law."""
        return tuple(Level(nodes, self.law) for nodes in self.tree.nodes)

    def measure(self, counts: Int64) -> Int64:
        """Cumulative counts times 2^bits, shape (..., N), of histograms, shape (..., N)."""
        return self._totals(counts, self.size) << self.bits

    def measure_at(self, counts: Int64, points: Int64) -> Int64:
        """`measure` at some 0-based points only; the shape of `points` replaces the last axis."""
        points = self._checked(points)
        return self._totals(counts, int(points.max(initial=-1)) + 1)[..., points] << self.bits

    def nodes_at(self, points: Int64) -> tuple[Int64, ...]:
        """0-based block of each point at every level of `levels`; each array has the shape of `points`."""
        return self.tree.path(self._checked(points))

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """Sum the noise of the blocks above each point, shape (..., N), from shapes (..., nodes) per level."""
        total = noise[-1]
        for below, radix in zip(noise[-2::-1], self.tree.radices[self.tree.terms - 2 :: -1], strict=False):
            total = below + np.repeat(total, radix, axis=-1)[..., : below.shape[-1]]
        return total

    def spread_at(self, noise: Sequence[Int64]) -> Int64:
        """Sum the noise of the blocks of `nodes_at`, one array per level, all of one shape."""
        return np.asarray(np.sum(np.stack(noise), axis=0, dtype=np.int64))

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """The privacy loss of publishing the whole answer, or any part of it, points chosen adaptively included.

        Exact for Laplace noise: no smaller epsilon holds. For Gaussian noise the bound of the proof, rounded up.
        """
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(2**self.bits * shift_cost(self.tree, adjacency) / self.law.scale)
        return ZeroConcentratedDP(grid_squared_shift(self.tree, adjacency, 1 << self.bits) / (2 * self.law.sigma**2))

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N), from answers, shape (..., N).

        With a known total every point is conditioned on the last one, whose noise is then known:
        the best linear use of it. Post-processing.
        """
        counts = np.ldexp(np.asarray(answer, dtype=np.float64), -self.bits)
        if total is None:
            return counts
        slope = self.tree.shared_with_last / self.tree.terms
        # at the last point the slope is 1 and the difference loses no digit that matters: exactly the total
        return np.asarray(counts - slope * (counts[..., -1:] - total))

    def estimate_at(self, answer: Int64, points: Int64, total: int | None) -> Float64:
        """Cumulative counts at some points from the answers at those points, shape (..., points).

        A known total is used where the last point is among them, as `estimate` does.
        """
        counts = np.ldexp(np.asarray(answer, dtype=np.float64), -self.bits)
        last = np.flatnonzero(self._checked(points) == self.size - 1)
        if total is None or not last.size:
            return counts
        slope = self.tree.shared_with_last[points] / self.tree.terms
        return np.asarray(counts - slope * (counts[..., last[:1]] - total))

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        terms = self.tree.terms
        factor = np.full(self.size, float(terms))
        if total_known:
            factor -= self.tree.shared_with_last**2 / terms
        return factor * (self.law.variance / 4.0**self.bits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "size": self.size,
            "radices": list(self.tree.radices),
            "root": self.tree.root,
            "law": self.law.to_dict(),
            "bits": self.bits,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PathNoise:
        """Rebuild from plain data, which need not be trusted."""
        try:
            tree = PathTree(data["size"], tuple(data["radices"]), data["root"])
            law, bits = law_from_dict(data["law"]), data["bits"]
        except (KeyError, TypeError) as problem:
            raise ParameterError(f"not path noise: {plain(problem)}") from None
        if not isinstance(law, DiscreteLaplace | DiscreteGaussian):
            raise ParameterError(f"path noise needs a discrete Laplace or Gaussian law, got {quoted(data['law'])}")
        return cls(tree, law, bits)

    def _checked(self, points: Int64) -> Int64:
        if points.size and not (points.min() >= 0 and points.max() < self.size):
            raise ParameterError(f"`points` must be from 0 to {self.size - 1}")
        return points

    def _totals(self, counts: Int64, used: int) -> Int64:
        """Cumulative counts, of which the first `used` times 2^bits fit answers of 64 bits."""
        if counts.ndim == 0 or counts.shape[-1] != self.size:
            raise ParameterError(f"a histogram must have shape (..., {self.size}), got {counts.shape}")
        below = counts[..., :used].astype(np.int64, copy=False)
        if max(int(below.max(initial=0)), -int(below.min(initial=0))) * used << self.bits > ROOM:
            for row in below.reshape(-1, used):
                most = ROOM.bit_length() - self.bits
                Range.sums(row, 1 << self.bits).check(ROOM, f"more than 2^{most} records do not fit answers of 64 bits")
        return np.cumsum(counts, axis=-1, dtype=np.int64)


# --- Choose the tree and the noise scale of path noise for a guarantee


def design_path(
    size: int,
    *,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
    base: int | None = None,
    root: bool | None = None,
    constants: str = "exact",
    gaussian: str = "fine",
) -> PathNoise:
    """Design path noise of least variance for a guarantee.

    Args:
        size: Number of bins, N.
        privacy: Guarantee for the whole answer; Laplace noise for PureDP, Gaussian for zCDP.
        adjacency: Which data sets are adjacent.
        base: Children per block; None compares 2, 3, 4, 5, 8, 16 and base 2 with a wide top.
        root: Whether the top block carries noise; None compares both.
        constants: "exact", or "paper" for those of the paper: base 2, all levels, L + 1 terms to
            hide a replaced record and ceil((L + 1) / 2) to hide an added one; the price of such a
            strategy (`loss`) is then below `privacy`.
        gaussian: "fine" uses a fine grid, on which the noise is as small as continuous Gaussian noise; "integer" adds
            whole numbers to counts and needs more noise.

    Returns:
        A strategy whose `loss(adjacency)` is at most `privacy`.

    Raises:
        ParameterError: an argument is out of range, or "paper" is combined with a tree.
    """
    check_design(size, privacy, adjacency)
    among(constants, "constants", ("exact", "paper"))
    among(gaussian, "gaussian", ("fine", "integer"))
    if constants == "paper":
        if base not in (None, 2) or root not in (None, True):
            raise ParameterError("the paper's constants are for base 2 with all levels; leave base and root out")
        tree = uniform_tree(size, 2)
        terms = tree.height + 1
        cost = terms if adjacency is Adjacency.REPLACE else -(-terms // 2)
        return PathNoise(tree, _law(privacy, cost, 1))
    tree = best_tree(candidate_trees(size, base=base, root=root), privacy, adjacency, gaussian=gaussian)
    return PathNoise(tree, *path_noise_law(tree, privacy, adjacency, gaussian=gaussian))


def best_tree(
    trees: tuple[PathTree, ...], privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency, *, gaussian: str
) -> PathTree:
    """The tree of least variance per point; of equals the first."""

    def variance(tree: PathTree) -> float:
        if isinstance(privacy, PureDP):
            return tree.terms * shift_cost(tree, adjacency) ** 2
        if gaussian == "integer":
            return tree.terms * shift_cost(tree, adjacency)
        return round(tree.terms * squared_shift(tree, adjacency), 9)

    return min(trees, key=variance)


def path_noise_law(
    tree: PathTree,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
    *,
    gaussian: str = "fine",
    change: int = 1,
) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    """Noise that hides changes of the counts by up to `change`, and the fractional bits of its grid."""
    cost = shift_cost(tree, adjacency)
    if isinstance(privacy, PureDP) or gaussian == "integer":
        return _law(privacy, cost, change), 0
    bits = fine_bits(tree, adjacency, change)
    squared = grid_squared_shift(tree, adjacency, change << bits)
    return DiscreteGaussian(round_up_root(squared / (2 * privacy.rho))), bits


def _law(privacy: PureDP | ZeroConcentratedDP, terms: int, change: int) -> DiscreteLaplace | DiscreteGaussian:
    """Noise for shifts of `terms` nodes by up to `change` each."""
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(terms * change / privacy.epsilon))
    return DiscreteGaussian(round_up_root(terms * change * change / (2 * privacy.rho)))
