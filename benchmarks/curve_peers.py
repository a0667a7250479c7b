"""Distribution functions by other libraries, at equal privacy and adjacency.

OpenDP: a complete b-ary tree of counts with equal noise on every level, made consistent.
Google (python-dp): a quantile tree, asked for many quantiles in one call.
Scales are such that the stated epsilon or rho is met exactly under the stated adjacency: one
record added or removed changes a histogram by 1 in L1 and L2, one replaced by 2 in L1 and by
the root of 2 in L2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.tree import as_arrays, prefix_variance

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Privacy = PureDP | ZeroConcentratedDP

BASES = (2, 4, 8, 16, 32, 64)
"""Branching factors that OpenDP may use."""


def opendp_curve(size: int, base: int, privacy: Privacy, adjacency: Adjacency) -> Callable[[Int64], Float64]:
    """A function from a histogram to noisy, consistent cumulative counts."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int), size=size)
    tree = dp.t.make_b_ary_tree(domain, dp.l1_distance(T=int), leaf_count=size, branching_factor=base)
    consistent = dp.t.make_consistent_b_ary_tree(branching_factor=base)
    changes = 2 if adjacency is Adjacency.REPLACE else 1
    levels = tree.map(1)
    if isinstance(privacy, PureDP):
        # the tree's L1 sensitivity is the number of levels times the histogram's
        scale = changes * levels / float(privacy.epsilon)
        release = tree >> dp.m.then_laplace(scale=scale)
        assert math.isclose(release.map(changes), float(privacy.epsilon))
    else:
        # every level changes by at most the histogram's L2 distance; the transformation has no L2 map
        # of its own that is as tight, so the noise is added to its output
        sensitivity = math.sqrt(changes * levels)
        nodes = len(tree([0] * size))
        noise = dp.m.make_gaussian(
            dp.vector_domain(dp.atom_domain(T=int), size=nodes),
            dp.l2_distance(T=float),
            scale=sensitivity / math.sqrt(2 * float(privacy.rho)),
        )
        assert math.isclose(noise.map(sensitivity), float(privacy.rho), rel_tol=1e-9)

        def release(counts: list[int]) -> list[int]:
            return noise(tree(counts))

    def curve(counts: Int64) -> Float64:
        return np.cumsum(consistent(release(counts.tolist())))[:size]

    return curve


def best_base(size: int, privacy: Privacy) -> int:
    """The branching factor whose error is least by the exact variance of least squares on a tree with its root.

    A pilot of a few runs would pick by luck: errors of neighboring factors differ by a few percent.
    """

    def variance(base: int) -> float:
        blocks = [1]
        while blocks[-1] < size:
            blocks.append(blocks[-1] * base)
        levels = len(blocks)
        # equal noise on all levels: variance grows as their square (Laplace) or their number (Gaussian)
        noise = float(levels**2 if isinstance(privacy, PureDP) else levels)
        parts = prefix_variance(*as_arrays(size, tuple(blocks)), np.full(levels, noise), False)
        return float(parts.mean())

    return min(BASES, key=variance)


def google_quantiles(
    counts: Int64, probabilities: Float64, epsilon: float, adjacency: Adjacency, shape: tuple[int, int]
) -> Int64:
    """Bins of the noisy quantiles of a histogram's records.

    Args:
        counts: Shape (N,).
        probabilities: All asked in one call, which costs epsilon together.
        epsilon: For one record added or removed, halved here where one is replaced.
        adjacency: Which data sets are adjacent.
        shape: Height and branching factor of the tree.
    """
    from pydp.algorithms.quantile_tree import QuantileTree

    tree = QuantileTree(0, counts.size, *shape)
    for value in np.repeat(np.arange(counts.size) + 0.5, counts).tolist():
        tree.add_entry(value)
    spend = epsilon / 2 if adjacency is Adjacency.REPLACE else epsilon
    values = tree.compute_quantiles(spend, 0.0, 1, 1, probabilities.tolist(), "laplace")
    return np.clip(np.floor(values), 0, counts.size - 1).astype(np.int64)


def google_shapes(size: int) -> tuple[tuple[int, int], ...]:
    """Trees (height, branching factor) with at least as many leaves as bins, few more than needed."""
    bits = (size - 1).bit_length()
    return tuple((math.ceil(bits / power), 2**power) for power in (2, 3, 4, 5))
