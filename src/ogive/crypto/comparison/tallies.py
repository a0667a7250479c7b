"""What a walk makes of the values it passes: sums over the keys, or each key's share at every point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ogive.arrays import UInt8, UInt64
from ogive.crypto.comparison.batch import KeyBatch, Values
from ogive.crypto.comparison.passes import add_values, negate, sum_leaf, sum_level


class Summing:
    """Sums over the keys of a chunk, at every point.

    Args:
        batch: The chunk.
        points: How many.
    """

    def __init__(self, batch: KeyBatch, points: int) -> None:
        shape = batch.shape
        self._values, self._modulus = batch.values, shape.modulus
        self._halves = shape.arithmetic.bits == 32
        row = batch.leaves.view(np.uint8).reshape(len(batch), shape.leaf_values * shape.dtype.itemsize)
        # whole blocks, as words
        padding = -row.shape[1] % 16
        self._leaf = (np.pad(row, ((0, 0), (0, padding))) if padding else row).view(np.uint64)
        self.found = np.empty(points, np.uint64)
        """Elements of the group, shape (points,)."""

    def start(self) -> int:
        return 0

    def descend(self, level: int, sides: Sequence[int], total: int, s: UInt64, t: UInt8, v: UInt64) -> list[int]:
        values = self._in_group(sum_level(s, t, v, self._values[level]))
        return [total + values[side] for side in sides]

    def arrive(self, block: int, wanted: Sequence[tuple[int, int]], total: int, s: UInt64, t: UInt8, v: UInt64) -> None:
        values = self._in_group(sum_leaf(s, t, v, self._leaf, 2 * block))
        for point, place in wanted:
            self.found[point] = (total + values[place]) % self._modulus

    def _in_group(self, halves: Sequence[int]) -> Sequence[int]:
        if self._halves:
            return halves
        return halves[0] + (halves[1] << 32), halves[2] + (halves[3] << 32)


class Reading:
    """The share of every key of a chunk at every point.

    Args:
        batch: The chunk.
        server: 0 or 1.
        found: Where shares go, shape (points, keys).
    """

    def __init__(self, batch: KeyBatch, server: int, found: Values) -> None:
        shape = batch.shape
        self._values, self._leaf = batch.values, batch.leaves
        self._places, self._prime = shape.places, shape.arithmetic.prime
        self._negated = bool(server)
        self._found = found

    def start(self) -> Any:
        return np.zeros(len(self._leaf), self._leaf.dtype)

    def descend(self, level: int, sides: Sequence[int], total: Any, s: UInt64, t: UInt8, v: UInt64) -> list[Any]:
        below = [np.empty_like(total) for _ in sides]
        for side, out in zip(sides, below, strict=True):
            add_values(s, t, v, self._values[level], *self._places[side], self._prime, total, out)
        return below

    def arrive(self, block: int, wanted: Sequence[tuple[int, int]], total: Any, s: UInt64, t: UInt8, v: UInt64) -> None:
        first = block * len(self._places)
        for point, place in wanted:
            out = self._found[point]
            add_values(s, t, v, self._leaf[:, first + place], *self._places[place], self._prime, total, out)
            if self._negated:
                negate(out, self._prime)
