"""Noisy counts of one class in the nodes of a tree, and how noisy they are.

Level l = 1..depth has branching^l nodes; children of node p of a level are the nodes p * branching + (0..branching - 1)
of the next. Estimates of two nodes of a level are not correlated, and those of different levels are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class ArrayTree:
    """Counts of all nodes, level by level.

    Fields:
        records: Number of records, at least 1.
        levels: For l = 1, 2, ... counts of shape (branching^l,).
        noise: Of each level.
        branching: Children of a node, 2 to 8.

    Raises:
        ParameterError: a level has another number of nodes, or the noise is of another number of levels.
    """

    records: int
    levels: Sequence[Float64]
    noise: tuple[NodeNoise, ...]
    branching: int = 2

    def __post_init__(self) -> None:
        if not self.levels or len(self.noise) != len(self.levels):
            raise ParameterError(f"{len(self.levels)} levels of counts need the noise of each, got {len(self.noise)}")
        for depth, level in enumerate(self.levels, start=1):
            if len(level) != self.branching**depth:
                raise ParameterError(f"level {depth} must have {self.branching**depth} nodes, got {len(level)}")

    def counts(self, level: int, nodes: Int64) -> Float64:
        """Of some nodes."""
        return np.asarray(self.levels[level - 1], dtype=np.float64)[nodes]
