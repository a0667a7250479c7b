"""A walk over the prefixes of public points, for a chunk of keys at once: every distinct prefix is expanded once.

All keys take the same path, so a block of a level is one call of AES for the whole chunk. The walk is depth-first: at
most two states a level are held, whatever the number of points.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Protocol, TypeVar

import numpy as np

from ogive.arrays import UInt8, UInt64
from ogive.crypto.aes import Block, Blocks, Permutation, block_key
from ogive.crypto.comparison.batch import KeyBatch
from ogive.crypto.comparison.passes import descend, flip_high
from ogive.crypto.comparison.shape import KeyShape

Total = TypeVar("Total")


class Tally(Protocol[Total]):
    """What is made of the values that a walk passes."""

    def start(self) -> Total:
        """The total at the root."""
        ...

    def descend(
        self, level: int, sides: Sequence[int], total: Total, s: UInt64, t: UInt8, v: UInt64
    ) -> Sequence[Total]:
        """The totals of the children on these sides of a node: its seeds, control bits and encrypted values."""
        ...

    def arrive(
        self, block: int, wanted: Sequence[tuple[int, int]], total: Total, s: UInt64, t: UInt8, v: UInt64
    ) -> None:
        """Take values of one block of a leaf: for each the number of its point, which is then done, and its place."""
        ...


class Walk:
    """Buffers and keyed permutations for chunks of so many keys; one for each thread.

    Args:
        shape: Of the keys.
        study: Digest of the study, 32 bytes.
        keys: In a chunk.
    """

    def __init__(self, shape: KeyShape, study: bytes, keys: int) -> None:
        self._bits, self._depth = shape.bits, shape.levels
        self._leaf_values, self._per_block = shape.leaf_values, shape.per_block
        blocks = (Block.LEFT, Block.RIGHT, Block.VALUES)
        self._levels = [
            [Permutation(block_key(study, level, block)) for block in blocks] for level in range(shape.levels)
        ]
        self._leaf = Permutation(block_key(study, shape.levels, Block.LEAF))
        # states that are free, the last used on top: while one path is walked, two of them stay in the cache
        self._free = [(Blocks(keys), np.empty(keys, np.uint8)) for _ in range(shape.levels + 2)]
        self._values = Blocks(keys)
        self._flipped = Blocks(keys)

    def run(self, batch: KeyBatch, points: Sequence[int], server: int, tally: Tally[Total]) -> None:
        """Walk to all points.

        Args:
            batch: The chunk of keys.
            points: Strictly increasing.
            server: 0 or 1.
            tally: What takes the values.
        """
        self._points, self._tally = points, tally
        self._corrections = [(batch.seeds[level].reshape(-1), batch.controls[level]) for level in range(self._depth)]
        root, t = self._free.pop()
        root.words[:] = batch.roots.reshape(-1)
        t[:] = server
        self._visit(0, 0, len(points), root, t, tally.start())

    def _visit(self, level: int, first: int, stop: int, at: Blocks, t: UInt8, total: Any) -> None:
        """Walk to the points numbered first, .., stop - 1, which share a prefix of `level` bits."""
        if level == self._depth:
            self._arrive(first, stop, at, t, total)
            self._free.append((at, t))
            return
        position = self._bits - 1 - level
        middle = bisect_left(self._points, (self._points[first] >> position | 1) << position, first, stop)
        sides = [side for side, wanted in enumerate((first < middle, middle < stop)) if wanted]
        permutations, (cs, ct) = self._levels[level], self._corrections[level]
        permutations[Block.VALUES].encrypt(at, self._values)
        totals = self._tally.descend(level, sides, total, at.words, t, self._values.words)
        children = []
        for side in sides:
            child, t_child = self._free.pop()
            permutations[side].encrypt(at, child)
            descend(at.words, t, child.words, cs, ct, np.uint8(side), t_child)
            children.append((child, t_child))
        self._free.append((at, t))
        for side, (child, t_child), below in zip(sides, children, totals, strict=True):
            begin, end = (middle, stop) if side else (first, middle)
            self._visit(level + 1, begin, end, child, t_child, below)

    def _arrive(self, first: int, stop: int, at: Blocks, t: UInt8, total: Any) -> None:
        seeds, low = at, self._leaf_values - 1
        places = [(point, divmod(self._points[point] & low, self._per_block)) for point in range(first, stop)]
        for block, group in groupby(places, key=lambda each: each[1][0]):
            if block:
                seeds = self._flipped
                flip_high(at.words, np.uint64(block), seeds.words)
            self._leaf.encrypt(seeds, self._values)
            wanted = [(point, place) for point, (_, place) in group]
            self._tally.arrive(block, wanted, total, seeds.words, t, self._values.words)
