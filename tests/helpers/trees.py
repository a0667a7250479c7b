"""Noisy trees whose counts are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.statistics.ustatistic.trees import NodeNoise


@dataclass(frozen=True, eq=False)
class ArrayTree:
    """Counts of all nodes, level by level.

    Fields:
        records: Number of records, at least 1.
        levels: For l = 1, 2, ... counts of shape (branching^l,).
        noise: Of each level.
        branching: Children of a node, 2 to 8.
    """

    records: int
    levels: Sequence[Float64]
    noise: tuple[NodeNoise, ...]
    branching: int = 2

    def counts(self, level: int, nodes: Int64) -> Float64:
        """Of some nodes."""
        return np.asarray(self.levels[level - 1], dtype=np.float64)[nodes]
