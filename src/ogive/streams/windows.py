"""Node noise that is asked for in order, drawn a window at a time."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.noise import DerivedNodes
from ogive.noise.base import Law

WIDTH = 64


class NoiseWindow:
    """Consecutive nodes of one level, drawn at least 64 at a time so that single steps are cheap.

    Args:
        nodes: Where the noise comes from.
        law: Its law.
        level: Which level of nodes.
        count: How many nodes the level has.
    """

    def __init__(self, nodes: DerivedNodes, law: Law, level: int, count: int) -> None:
        self._nodes, self._law, self._level, self._count = nodes, law, level, count
        self._first = 0
        self._drawn = np.empty(0, np.int64)

    def values(self, first: int, end: int) -> Int64:
        """Noise of the nodes first..end - 1, shape (end - first,)."""
        if first < self._first or end > self._first + len(self._drawn):
            wanted = np.arange(first, min(max(end, first + WIDTH), self._count))
            self._first, self._drawn = first, self._nodes.values(self._law, self._level, wanted)
        return self._drawn[first - self._first : end - self._first]
