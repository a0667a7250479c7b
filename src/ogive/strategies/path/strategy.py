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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, whole
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Level, check_privacy
from ogive.strategies.path.tree import (
    PathTree,
    candidate_trees,
    fine_bits,
    grid_squared_shift,
    shift_cost,
    squared_shift,
    uniform_tree,
)

MAX_BITS = 32
MAX_ANSWER_BITS = 61


@dataclass(frozen=True)
class PathNoise:
    """Cumulative counts with independent integer noise on the blocks of a tree, summed along paths.

    Fields:
        tree: The blocks that carry noise.
        law: Noise of every block.
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
        """Number of bins and of published points, N."""
        return self.tree.size

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The blocks level by level, from the points up, all under the same law."""
        return tuple(Level(nodes, self.law) for nodes in self.tree.nodes)

    def measure(self, counts: Int64) -> Int64:
        """Cumulative counts times 2^bits, shape (..., N), of histograms, shape (..., N)."""
        return self._to_grid(self._totals(counts))

    def measure_at(self, counts: Int64, points: Int64) -> Int64:
        """`measure` at some 0-based points only; the shape of `points` replaces the last axis."""
        return self._to_grid(self._totals(counts)[..., self._checked(points)])

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
        total: Int64 = np.sum(np.stack(noise), axis=0, dtype=np.int64)
        return total

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
        anchored: Float64 = counts - slope * (counts[..., -1:] - total)
        return anchored

    def estimate_at(self, answer: Int64, points: Int64, total: int | None) -> Float64:
        """Cumulative counts at some points from the answers at those points, shape (..., points).

        A known total is used where the last point is among them, as `estimate` does.
        """
        counts = np.ldexp(np.asarray(answer, dtype=np.float64), -self.bits)
        last = np.flatnonzero(self._checked(points) == self.size - 1)
        if total is None or not last.size:
            return counts
        slope = self.tree.shared_with_last[points] / self.tree.terms
        anchored: Float64 = counts - slope * (counts[..., last[:1]] - total)
        return anchored

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each estimated cumulative count, shape (N,)."""
        terms = self.tree.terms
        factor = np.full(self.size, float(terms))
        if total_known:
            factor -= self.tree.shared_with_last**2 / terms
        return factor * (self.law.variance / 4.0**self.bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
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
        """Rebuild a strategy from `to_dict`."""
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

    def _totals(self, counts: Int64) -> Int64:
        if counts.ndim == 0 or counts.shape[-1] != self.size:
            raise ParameterError(f"a histogram must have shape (..., {self.size}), got {counts.shape}")
        return np.cumsum(counts, axis=-1, dtype=np.int64)

    def _to_grid(self, counts: Int64) -> Int64:
        if counts.size and int(np.abs(counts).max()) >> (MAX_ANSWER_BITS - self.bits):
            raise DataError(f"more than 2^{MAX_ANSWER_BITS - self.bits} records do not fit answers of 64 bits")
        return counts << self.bits


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
    check_privacy(privacy, adjacency)
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
