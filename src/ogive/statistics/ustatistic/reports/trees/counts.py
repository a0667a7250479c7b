"""Noisy counts of one class in the nodes of a tree, and how noisy they are.

Level l = 1..depth has branching^l nodes; children of node p of a level are the nodes p * branching + (0..branching - 1)
of the next. Estimates of two nodes of a level are not correlated, and those of different levels are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ogive.arrays import Float64, Int64


@dataclass(frozen=True)
class NodeNoise:
    """Variance of a level's estimate of a node that holds h records: variance + slope h + curve h^2.

    Fields:
        variance: Of a node that holds nobody.
        slope: What each person in the node adds.
        curve: What each pair of persons in the node adds; above -1.
        bound: At least the variance of every node; None takes `variance`, which is right where nothing is added.
    """

    variance: float
    slope: float = 0.0
    curve: float = 0.0
    bound: float | None = None

    @property
    def most(self) -> float:
        """At least the variance of every node."""
        return self.variance if self.bound is None else self.bound

    def of(self, counts: Float64) -> Float64:
        """Unbiased estimates of the variances of unbiased estimates."""
        found: Float64 = (self.variance + (self.slope + self.curve * counts) * counts) / (1 + self.curve)
        return found


class NoisyTree(Protocol):
    """Interface; what is known of one class."""

    @property
    def records(self) -> int:
        """Number of records in the tree, public."""
        ...

    @property
    def branching(self) -> int:
        """Children of a node."""
        ...

    @property
    def noise(self) -> tuple[NodeNoise, ...]:
        """Of each level but the root's."""
        ...

    def counts(self, level: int, nodes: Int64) -> Float64:
        """Unbiased counts of some nodes of a level from 1, shape of the nodes."""
        ...
