"""Least-squares hats: noisy bin counts and overlapping triangles in place of blocks.

The best known strategies for prefix sums under pure differential privacy look like the identity
plus rows of overlapping triangles that add up to a constant. Here level l has spacing B_l: the
record in bin i, at x = 2i + 1, adds 2 B_l - r to hat j and r to hat j + 1, where j = floor(x / 2 B_l)
and r = x - 2 B_l j. Everything is an integer and every record adds exactly 2 B_l per level.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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
from ogive.strategies.hats.design import hats_design
from ogive.strategies.hats.passes import as_arrays, hat_sums
from ogive.strategies.hats.solver import HatSolver


def hat_changes(size: int, spacing: int, adjacency: Adjacency) -> tuple[int, int]:
    """How far one change of a record moves the hats of one level: largest L1 change, bound on the squared L2.

    One record adds (2B - r, r) with r odd. Two records in the same interval between knots move two
    hats by |r - r'| each; in adjacent intervals the L1 change is max(2 r', 4B - 2r) <= 4B - 2;
    farther apart it is 4B. Bins 0 and N - 1 attain the L1 change on all levels at once.
    """
    intervals = -(-size // spacing)
    one = (2 * spacing - 1) ** 2 + 1
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return 2 * spacing, one
    if intervals == 1:
        return 4 * (size - 1), 8 * (size - 1) ** 2
    return 4 * spacing - 2 * (intervals == 2), 2 * one


@dataclass(frozen=True)
class LeastSquaresHats:
    """Noisy bin counts and integer hat sums, combined by least squares.

    Fields:
        size: Number of bins, N.
        spacings: Distances between knots, increasing, in bins, each below N; may be empty.
        laws: Noise law of the bins, then of each level of hats on its integer scale (2 spacing per record).
    """

    size: int
    spacings: tuple[int, ...]
    laws: tuple[Law, ...]

    name: ClassVar[str] = "hat_ls"

    def __post_init__(self) -> None:
        check_levels(self.size, self.spacings, self.laws, what="spacings")
        if len(self.laws) != len(self.spacings) + 1:
            raise ParameterError(
                f"hats need a law for the bins and one per spacing, got {len(self.laws)} laws for {self.spacings}"
            )
        if any(b <= a for a, b in zip(self.spacings, self.spacings[1:], strict=False)) or any(
            spacing >= self.size for spacing in self.spacings
        ):
            raise ParameterError(f"`spacings` must increase and stay below {self.size}, got {self.spacings}")

    @property
    def levels(self) -> tuple[Level, ...]:
        """The bins, then the hats of each spacing."""
        nodes = (self.size, *(int(size) for size in self._arrays[1]))
        return tuple(Level(count, law) for count, law in zip(nodes, self.laws, strict=True))

    @cached_property
    def _arrays(self) -> tuple[Int64, Int64]:
        return as_arrays(self.size, self.spacings)

    @cached_property
    def solver(self) -> HatSolver:
        """The least-squares problem, on the scale where a record adds 1 per level."""
        scaled = [law.variance / (2 * spacing) ** 2 for law, spacing in zip(self.laws[1:], self.spacings, strict=True)]
        return HatSolver(self.size, self.spacings, self.laws[0].variance, np.array(scaled))

    def measure(self, counts: Int64) -> Int64:
        """Bin counts followed by the integer hat sums of each level, shape (M,)."""
        bins = histogram(counts, self.size)
        return np.concatenate([bins, hat_sums(bins, *self._arrays)])

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """Concatenate the levels' noise: every measurement has its own variable."""
        return np.concatenate(noise, axis=-1)

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels: exactly for Laplace noise, safely from above for Gaussian.

        Privacy:
            A level's sums change by at most 2B in absolute value for a record added or removed, 4B for one replaced.
        """
        l1, l2_squared = _all_changes(self.size, self.spacings, adjacency)
        return measured_loss(self.laws, l1=l1, l2_squared=l2_squared)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N levels)."""
        rows, shape = batch(answer, self.size + int(self._arrays[1].sum()))
        return self.solver.estimate(rows, total).reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        return self.solver.variance(total_known=total_known)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> LeastSquaresHats:
        """Rebuild hats from `to_dict`.

        Raises:
            ParameterError: a field is out of range.
        """
        return LeastSquaresHats(data["size"], tuple(data["spacings"]), tuple(map(law_from_dict, data["laws"])))


def _all_changes(size: int, spacings: tuple[int, ...], adjacency: Adjacency) -> tuple[list[int], list[int]]:
    """L1 and squared L2 changes of the bins and of every level of hats."""
    bins = 2 if adjacency is Adjacency.REPLACE else 1
    changes = [(bins, bins), *(hat_changes(size, spacing, adjacency) for spacing in spacings)]
    return [change[0] for change in changes], [change[1] for change in changes]


def design_hats(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> LeastSquaresHats:
    """Choose spacings and noise with a small mean variance at the cost of `privacy`.

    Designs were optimized for Laplace noise at powers of two and are scaled to other sizes.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="spacings")
    check_privacy(privacy, adjacency)
    exponent = 2 if isinstance(privacy, PureDP) else 1
    spacings, shares = hats_design(size, exponent, adjacency is Adjacency.REPLACE)
    return shared_hats(size, spacings, shares, privacy=privacy, adjacency=adjacency)


def shared_hats(
    size: int,
    spacings: tuple[int, ...],
    shares: tuple[Fraction, ...],
    *,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
) -> LeastSquaresHats:
    """Hats of given spacings and shares of the loss.

    Args:
        size: Number of bins, N.
        spacings: Of each level of hats.
        shares: Of the bins and of each level, which add up to 1.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    l1, l2_squared = _all_changes(size, spacings, adjacency)
    return LeastSquaresHats(size, spacings, measured_laws(privacy, shares, l1=l1, l2_squared=l2_squared))
