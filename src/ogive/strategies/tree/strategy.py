"""Least-squares trees: noisy counts of nested blocks, combined into the best cumulative counts.

Level l counts the records in each of the consecutive blocks of B_l bins (1 = B_0 | B_1 | ...). A
record is in one block per level, so the loss is a sum over levels, and blocks beyond the last
bin are not measured because their counts are known to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise import law_from_dict
from ogive.noise.base import Law
from ogive.parameters import plain_fields
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Level, batch, check_levels, check_privacy, histogram, measured_laws, measured_loss
from ogive.strategies.tree.design import tree_design
from ogive.strategies.tree.passes import as_arrays, block_counts, least_squares, prefix_variance


def _changes(adjacency: Adjacency) -> int:
    """Blocks of a level that one change of a record moves, each by 1."""
    return 2 if adjacency is Adjacency.REPLACE else 1


@dataclass(frozen=True)
class LeastSquaresTree:
    """Noisy block counts, estimated by generalized least squares in two passes.

    Fields:
        size: Number of bins, N.
        blocks: Block sizes, from 1 upward, each a multiple of the one before, the last below N.
        laws: Noise law of each level's counts, all discrete Laplace or all discrete Gaussian.

    Source:
        Hay, Rastogi, Miklau and Suciu (2010), for any radices, any variances and truncated trees.
    """

    size: int
    blocks: tuple[int, ...]
    laws: tuple[Law, ...]

    name: ClassVar[str] = "tree_ls"

    def __post_init__(self) -> None:
        check_levels(self.size, self.blocks, self.laws, what="blocks")
        if len(self.laws) != len(self.blocks):
            raise ParameterError(f"a tree needs one law per level, got {len(self.laws)} for {len(self.blocks)} levels")
        if not self.blocks or self.blocks[0] != 1:
            raise ParameterError(f"the lowest blocks must be single bins (1), got blocks {self.blocks}")
        for small, large in zip(self.blocks, self.blocks[1:], strict=False):
            if large <= small or large % small or large >= self.size:
                raise ParameterError(
                    f"each block size must be a multiple of the one before and below {self.size}, got {self.blocks}"
                )

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level per block size, lowest first."""
        sizes = self._arrays[1]
        return tuple(Level(int(nodes), law) for nodes, law in zip(sizes, self.laws, strict=True))

    @cached_property
    def _arrays(self) -> tuple[Int64, Int64, Float64]:
        blocks, sizes = as_arrays(self.size, self.blocks)
        return blocks, sizes, np.array([law.variance for law in self.laws])

    def measure(self, counts: Int64) -> Int64:
        """Count every block, shape (M,): single bins first, then level by level."""
        blocks, sizes, _ = self._arrays
        values: Int64 = block_counts(histogram(counts, self.size), blocks, sizes)
        return values

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """Concatenate the levels' noise: every measurement has its own variable."""
        return np.concatenate(noise, axis=-1)

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels, exactly.

        Privacy:
            Per level two counts change by 1 (REPLACE) or one does (ADD_OR_REMOVE); this is attained.
        """
        changes = [_changes(adjacency)] * len(self.blocks)
        return measured_loss(self.laws, l1=changes, l2_squared=changes)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N)."""
        blocks, sizes, variances = self._arrays
        rows, shape = batch(answer, int(sizes.sum()))
        totals = np.full(len(rows), 0.0 if total is None else float(total))
        values: Float64 = least_squares(rows, blocks, sizes, variances, totals, total is not None)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values: Float64 = prefix_variance(*self._arrays, total_known)
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> LeastSquaresTree:
        """Rebuild a tree from `to_dict`.

        Raises:
            ParameterError: a field is out of range.
        """
        return LeastSquaresTree(data["size"], tuple(data["blocks"]), tuple(map(law_from_dict, data["laws"])))


def design_tree(
    size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency, optimize: bool = True
) -> LeastSquaresTree:
    """Choose block sizes and noise with the smallest mean variance at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.
        optimize: Divide the loss unequally between levels; False gives each an equal part.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`, and equal to it unless scales were rounded up.
    """
    check_levels(size, (), (), what="blocks")
    check_privacy(privacy, adjacency)
    exponent = 2 if isinstance(privacy, PureDP) else 1
    blocks, shares = tree_design(size, exponent, adjacency is Adjacency.REPLACE, optimize)
    changes = [_changes(adjacency)] * len(blocks)
    return LeastSquaresTree(size, blocks, measured_laws(privacy, shares, l1=changes, l2_squared=changes))
