"""Cumulative counts from reports about the nodes of a hierarchy: what curves of the local model are made of.

Nobody measures with this strategy. Owners report through a `TreeOracle`, whose estimates of the nodes' counts are
unbiased; this says what noise they have, so that curves, bands, smoothing and sums of batches need nothing new.
An answer holds the counts of all nodes, lowest level first, on the scale where a record counts 2^BITS.

The noise, given the records. With n people of whom n_l report on level l, each node's estimate is n / n_l times a sum
over these people of independent, bounded terms. The matrix of second moments of one person's terms at a level is

    Hadamard response   c^2 I,                      c = (e^epsilon + 1) / (e^epsilon - 1)
    unary response      v I + 2 e e^T,              v = 4 e^epsilon / (e^epsilon - 1)^2, e the person's own node

exactly: terms of two nodes are uncorrelated about their means, which are not both above 0. So the covariance of a
level's estimates is at most (n^2 / n_l) c^2 I, or (n^2 / n_l) diag(v + 2 p) with p the nodes' shares of the records: in
the order of positive semidefinite matrices, so that it holds for every linear combination, cumulative counts
included. That counts, besides the randomization, that the people who report on a level are a random part of all (up to
one part in n for levels of equal size). What bands simulate is independent normal noise of these
variances; sums of so many independent terms are nearly normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import all_whole
from ogive.errors import ParameterError
from ogive.local.oracles import oracle_from_dict
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteGaussian, law_from_dict
from ogive.privacy import Adjacency, Loss
from ogive.strategies.base import Level
from ogive.strategies.tree.strategy import LeastSquaresTree

BITS = 8


@dataclass(frozen=True)
class ReportedTree:
    """Counts of nested blocks as randomized reports gave them, combined by least squares.

    Fields:
        oracle: How each owner's bin was randomized; its branching gives the blocks.
        reports: How many reports there were on each level, top level first.
        laws: Noise of each level's counts, top level first, on the scale where a record counts 2^BITS.

    Raises:
        ParameterError: there is not one number of reports and one law for every level.

    Source:
        Kulkarni, Cormode and Srivastava (2019) for the hierarchy; Hay et al. (2010) for the least squares.
    """

    oracle: TreeOracle
    reports: tuple[int, ...]
    laws: tuple[DiscreteGaussian, ...]

    name: ClassVar[str] = "reports"

    def __post_init__(self) -> None:
        reports, laws = tuple(self.reports), tuple(self.laws)
        levels = self.oracle.levels
        if len(reports) != levels or len(laws) != levels:
            raise ParameterError(
                f"a hierarchy of {levels} levels needs a number of reports and a law for each, "
                f"got {len(reports)} and {len(laws)}"
            )
        all_whole(reports, "reports", 0)
        if not all(isinstance(law, DiscreteGaussian) for law in laws):
            raise ParameterError("the noise of reports is described by DiscreteGaussian laws")
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "laws", laws)

    @property
    def size(self) -> int:
        """Number of bins, N."""
        return self.oracle.size

    @cached_property
    def tree(self) -> LeastSquaresTree:
        """The same blocks and laws, measured by a curator; lowest level first."""
        blocks = tuple(self.oracle.branching**level for level in range(self.oracle.levels))
        return LeastSquaresTree(self.size, blocks, self.laws[::-1])

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level of independent noise for each of the hierarchy, lowest first."""
        return self.tree.levels

    def answer(self, counts: Sequence[Float64]) -> Int64:
        """Fixed-point counts of the nodes that hold a bin, shape (M,), from all nodes' counts, top level first."""
        parts = [level[: here.nodes] for level, here in zip(reversed(counts), self.levels, strict=True)]
        return np.rint(np.ldexp(np.concatenate(parts), BITS)).astype(np.int64)

    def measure(self, counts: Int64) -> Int64:
        """What reports without any noise would say, shape (M,)."""
        exact: Int64 = self.tree.measure(counts) << BITS
        return exact

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """Concatenate the levels' noise."""
        return self.tree.spread(noise)

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of one owner's report.

        Raises:
            ParameterError: the number of records would be private; whoever gets the reports can count them.
        """
        if adjacency is not Adjacency.REPLACE:
            raise ParameterError("reports can be counted, so only `REPLACE` is hidden by them")
        return self.oracle.loss

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts for these variances, shape (..., N), in time O(N)."""
        known = None if total is None else total << BITS
        return np.ldexp(self.tree.estimate(answer, known), -BITS)

    def variance(self, *, total_known: bool) -> Float64:
        """Bound of the variance of each cumulative count, shape (N,), attained but for terms of a record's share."""
        return np.ldexp(self.tree.variance(total_known=total_known), -2 * BITS)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "size": self.size,
            "oracle": self.oracle.to_dict(),
            "reports": list(self.reports),
            "laws": [law.to_dict() for law in self.laws],
        }

    @staticmethod
    def from_dict(data: dict[str, Any]) -> ReportedTree:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        oracle = oracle_from_dict(data["oracle"])
        if not isinstance(oracle, TreeOracle) or oracle.size != data["size"]:
            raise ParameterError(f"a curve of reports needs a tree oracle of {data['size']} bins")
        laws = tuple(law_from_dict(law) for law in data["laws"])
        return ReportedTree(oracle, tuple(data["reports"]), laws)  # type: ignore[arg-type]
