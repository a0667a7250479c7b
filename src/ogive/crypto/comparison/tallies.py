"""What a walk makes of the values it passes: sums over the keys, or each key's share at every point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.crypto.comparison.batch import KeyBatch, UInt8, UInt64, Values
from ogive.crypto.comparison.passes import descend, descend_summing, read_leaf, sum_leaf


class _Corrections:
    """Arrays of a chunk of keys as the passes take them, and where the values of a block are."""

    def __init__(self, batch: KeyBatch) -> None:
        shape = batch.shape
        levels = range(shape.levels)
        self.levels = [(batch.seeds[level].reshape(-1), batch.values[level], batch.controls[level]) for level in levels]
        self.leaf = [batch.leaves[:, value] for value in range(shape.leaf_values)]
        self.prime = shape.arithmetic.prime
        self.places = shape.places


class Summing:
    """Sums over the keys of a chunk, at every point.

    Args:
        batch: The chunk.
        points: How many.
    """

    def __init__(self, batch: KeyBatch, points: int) -> None:
        self._corrections = _Corrections(batch)
        self._modulus = batch.shape.modulus
        self.found = np.empty(points, np.uint64)
        """Elements of the group, shape (points,)."""

    def start(self) -> int:
        """The sum at the root."""
        return 0

    def descend(
        self, level: int, side: int, total: int, s: UInt64, t: UInt8, child: UInt64, t_child: UInt8, v: UInt64
    ) -> int:
        """Walk to a child."""
        here = self._corrections
        low, high = descend_summing(
            s, t, child, v, *here.levels[level], np.uint8(side), *here.places[side], here.prime, t_child
        )
        return total + int(low) + (int(high) << 32)

    def arrive(self, point: int, value: int, total: int, s: UInt64, t: UInt8, v: UInt64) -> None:
        """Take one value of the leaf."""
        here = self._corrections
        low, high = sum_leaf(s, t, v, here.leaf[value], *here.places[value % len(here.places)], here.prime)
        self.found[point] = (total + int(low) + (int(high) << 32)) % self._modulus


class Reading:
    """The share of every key of a chunk at every point.

    Args:
        batch: The chunk.
        server: 0 or 1.
        found: Where shares go, shape (points, keys).
    """

    def __init__(self, batch: KeyBatch, server: int, found: Values) -> None:
        shape = batch.shape
        self._corrections = _Corrections(batch)
        self._negated = bool(server)
        self._totals = np.empty((shape.levels + 1, 2, len(batch)), shape.dtype)
        self._found = found

    def start(self) -> Any:
        """The totals at the root."""
        self._totals[0, 0] = 0
        return self._totals[0, 0]

    def descend(
        self, level: int, side: int, total: Any, s: UInt64, t: UInt8, child: UInt64, t_child: UInt8, v: UInt64
    ) -> Any:
        """Walk to a child."""
        here = self._corrections
        below = self._totals[level + 1, side]
        descend(
            s, t, child, v, *here.levels[level], np.uint8(side), *here.places[side], here.prime, t_child, total, below
        )
        return below

    def arrive(self, point: int, value: int, total: Any, s: UInt64, t: UInt8, v: UInt64) -> None:
        """Take one value of the leaf."""
        here = self._corrections
        place = here.places[value % len(here.places)]
        read_leaf(s, t, v, here.leaf[value], *place, here.prime, total, self._negated, self._found[point])
