"""A server's shares of payload * [point < alpha], for many keys at public points.

Whoever has one server's keys learns how many there are, and nothing of the numbers compared or of the payloads. The
shares of the two servers add up to the result modulo the group's modulus.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import Int64, UInt8, UInt64
from ogive.core.compiling import njit
from ogive.crypto import field
from ogive.crypto.aes import Block, Blocks, Permutation, block_key
from ogive.crypto.comparison.keys import KeyBatch, KeyShape, Values, in_chunks
from ogive.crypto.comparison.passes import add_values, descend, flip_high, negate, sum_leaf, sum_level
from ogive.errors import ParameterError, quoted

# --- A walk over the prefixes of public points, for a chunk of keys at once
#
# Every distinct prefix is expanded once. All keys take the same path, so a block of a level is one call of AES for the
# whole chunk. The walk is depth-first: at most two states a level are held, whatever the number of points.

Total = TypeVar("Total")


class Tally(Protocol[Total]):
    """What is made of the values that a walk passes."""

    def start(self) -> Total:
        """The total at the root."""

    def descend(
        self, level: int, sides: Sequence[int], total: Total, s: UInt64, t: UInt8, v: UInt64
    ) -> Sequence[Total]:
        """The totals of the children on these sides of a node: its seeds, control bits and encrypted values."""

    def arrive(
        self, block: int, wanted: Sequence[tuple[int, int]], total: Total, s: UInt64, t: UInt8, v: UInt64
    ) -> None:
        """Take values of one block of a leaf: for each the number of its point, which is then done, and its place."""


class Walk:
    """Buffers and keyed permutations for chunks of so many keys; one for each thread."""

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
        """Walk to all points."""
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


# --- Sums over the keys, or each key's share, of the values that a walk passes


class Summing:
    """Sums over the keys of a chunk, at every point."""

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
    """The share of every key of a chunk at every point, written to `found`, shape (points, keys)."""

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


# --- Shares at public points, of each key or added up

CHUNK = 16384
"""Keys at a time: so many that calls cost little, so few that what is passed again and again stays in a cache."""
_ZERO = np.zeros((), np.uint64)


def evaluate(batch: KeyBatch, points: ArrayLike, *, server: int, threads: int | None = None) -> Values:
    """Each key's share at every point.

    Args:
        batch: The keys of one server.
        points: Public numbers in [0, 2^bits), shape (B,), in any order; work that prefixes share is done once.
        server: Which of the two, 0 or 1.
        threads: How many cores to use; None for all.

    Returns:
        Elements of the group, shape (n, B), of which each column is contiguous; with the other server's they
        add up to payload * [point < alpha].

    Raises:
        ParameterError: an argument is out of its range.
    """
    distinct, back = _distinct(points, batch, server)
    found = np.empty((len(distinct), len(batch)), batch.shape.dtype)
    listed = distinct.tolist()

    def work(walk: Walk, part: slice) -> None:
        keys = batch[part]
        walk.run(keys, listed, server, Reading(keys, server, found[:, part]))

    for _ in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=None):
        pass
    in_order = np.array_equal(back, np.arange(len(distinct)))
    shares: Values = (found if in_order else found[back]).T
    return shares


def evaluate_sums(
    batch: KeyBatch,
    points: ArrayLike,
    *,
    server: int,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Values:
    """The sum over all keys of their shares at every point, in memory that does not grow with the number of keys.

    Args:
        batch: The keys of one server.
        points: As for `evaluate`; all of them, np.arange(2^bits), cost less than an AES block a point and key.
        server: Which of the two, 0 or 1.
        threads: How many cores to use; None for all.
        progress: Called now and then with the number of keys done.

    Returns:
        Elements of the group, shape (B,).

    Raises:
        ParameterError: an argument is out of its range.
    """
    distinct, back = _distinct(points, batch, server)
    listed = distinct.tolist()
    group = batch.shape.arithmetic
    total = np.zeros(len(distinct), np.uint64)

    def work(walk: Walk, part: slice) -> UInt64:
        keys = batch[part]
        tally = Summing(keys, len(listed))
        walk.run(keys, listed, server, tally)
        return tally.found

    for found in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        total = total + found if group.prime is None else field.sums(total, found)
    if server:
        total = _ZERO - total if group.prime is None else field.differences(_ZERO, total)
    sums: Values = total.astype(group.dtype)[back]
    return sums


def _walks(batch: KeyBatch) -> Callable[[int], Walk]:
    return lambda keys: Walk(batch.shape, batch.study, keys)


def _distinct(points: ArrayLike, batch: KeyBatch, server: int) -> tuple[Int64, Int64]:
    """Points in increasing order without repetition, and where each of those asked for is among them."""
    if isinstance(server, bool) or server not in (0, 1):
        raise ParameterError(f"`server` must be 0 or 1, got {quoted(server)}")
    asked: NDArray[Any] = np.asarray(points)
    if asked.ndim != 1 or asked.size == 0 or asked.dtype.kind not in "iu":
        raise ParameterError(
            f"`points` must be whole numbers, at least one, shape (B,); got {asked.dtype} {asked.shape}"
        )
    if asked.min() < 0 or asked.max() >= batch.shape.domain:
        raise ParameterError(f"`points` must be in [0, {batch.shape.domain}), got {asked.min()} to {asked.max()}")
    distinct, back = np.unique(asked.astype(np.int64), return_inverse=True)
    return distinct, back


# --- Linear forms of every key's values, and sums over keys, without holding the values


class Weighed(NamedTuple):
    """What one server has of many keys.

    Fields:
        forms: Shares of the linear forms of each key, elements, shape (forms, n).
        sums: Shares of the sums over keys at each point, elements, shape (B,).
    """

    forms: UInt64
    sums: UInt64


def evaluate_weighed(
    batch: KeyBatch,
    points: NDArray[np.integer[Any]],
    weights: UInt64,
    *,
    server: int,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Weighed:
    """Walk to all points once, for a verification and the sums that it is about.

    Args:
        batch: The keys of one server, of the group "field".
        points: Public numbers in [0, 2^bits), strictly increasing, shape (B,).
        weights: Elements, shape (forms, B).
        server: 0 or 1.
        threads: How many cores to use; None for all.
        progress: Called now and then with the number of keys done.
    """
    where = np.asarray(points, dtype=np.int64)
    if where.ndim != 1 or not where.size or np.any(np.diff(where) <= 0) or where[0] < 0:
        raise ParameterError("`points` must be one or more increasing whole numbers from 0")
    if where[-1] >= batch.shape.domain or weights.ndim != 2 or weights.shape[1] != where.size:
        raise ParameterError("`points` must be in the domain of the keys, with a weight of every form for each")
    if batch.shape.group != "field":
        raise ParameterError("only keys of the group 'field' have linear forms")
    forms = np.zeros((len(weights), len(batch)), np.uint64)
    sums = np.zeros(where.size, np.uint64)
    listed = where.tolist()

    def work(walk: Walk, part: slice) -> UInt64:
        tally = _Weighing(batch[part], server, weights, forms[:, part])
        walk.run(batch[part], listed, server, tally)
        return tally.sums

    for found in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        sums = field.sums(sums, found)
    return Weighed(forms, sums)


class _Weighing(Reading):
    """Forms and sums of a chunk of keys; the shares of one point at a time are held in `_row`."""

    def __init__(self, batch: KeyBatch, server: int, weights: UInt64, forms: UInt64) -> None:
        self._row = np.empty((1, len(batch)), np.uint64)
        super().__init__(batch, server, self._row)
        self._weights = np.ascontiguousarray(weights.T)
        self._forms = forms
        self.sums = np.zeros(weights.shape[1], np.uint64)

    def arrive(self, block: int, wanted: Sequence[tuple[int, int]], total: Any, s: UInt64, t: UInt8, v: UInt64) -> None:
        for point, place in wanted:
            super().arrive(block, [(0, place)], total, s, t, v)
            self.sums[point] = _weigh(self._row[0], self._weights[point], self._forms)


@njit(nogil=True)
def _weigh(row: UInt64, weights: UInt64, forms: UInt64) -> np.uint64:
    """Add a point's values, each times the point's weight, to the forms; return their sum."""
    low = np.uint64(0)
    high = np.uint64(0)
    for key in range(row.size):
        low += row[key] & np.uint64(0xFFFFFFFF)
        high += row[key] >> np.uint64(32)
        for form in range(weights.size):
            forms[form, key] = field.add(forms[form, key], field.multiply(row[key], weights[form]))
    wide = field.multiply(field.reduce(high), np.uint64(1 << 32))
    return field.add(field.reduce(low), wide)
