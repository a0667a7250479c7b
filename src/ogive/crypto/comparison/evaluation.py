"""A server's shares of payload * [point < alpha], for many keys at public points.

Whoever has one server's keys learns how many there are, and nothing of the numbers compared or of the payloads. The
shares of the two servers add up to the result modulo the group's modulus.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import Int64, UInt8, UInt64
from ogive.core.compiling import njit
from ogive.crypto import field
from ogive.crypto.comparison.keys import (
    KeyBatch,
    KeyShape,
    Values,
    flip_high,
    in_chunks,
    minus,
    permutations,
    plus,
    reduced,
)
from ogive.crypto.domains import Block, Blocks
from ogive.errors import ParameterError, quoted

# --- Passes of a walk over arrays of keys, one after each encryption
#
# Seeds `s` and blocks are flat arrays of words, two a key; `t` holds control bits, 0 or 1. Of a block of values `v`,
# one is word `word` shifted right by `shift`; what is above the value's bits is cut off when it is stored. `cs`, `cw`
# and `ct` are the corrections of a level. `prime` is the modulus of the field, or None for a ring.
#
# Sums are returned as those of the lower and of the upper halves of the two words, which do not overflow below 2^31
# keys: in a group of 32 bits each half is a value, in one of 64 bits both are parts of one.

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_CLEAR = np.uint64(2**64 - 2)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)

Halves = tuple[int, int, int, int]


@njit(nogil=True)
def descend(s: UInt64, t: UInt8, child: UInt64, cs: UInt64, ct: UInt8, side: np.uint8, t_child: UInt8) -> None:
    """Walk to a child on one side, 0 for the left: its encrypted block is replaced by its seeds."""
    for i in range(t.size):
        mask = np.uint64(-np.int64(t[i]))
        first = child[2 * i] ^ s[2 * i] ^ (mask & cs[2 * i])
        child[2 * i + 1] ^= s[2 * i + 1] ^ (mask & cs[2 * i + 1])
        child[2 * i] = first & _CLEAR
        t_child[i] = np.uint8(first & _ONE) ^ (t[i] & (ct[i] >> side))


@njit(nogil=True)
def add_values(
    s: UInt64, t: UInt8, v: UInt64, cw: Values, word: int, shift: np.uint64, prime: Any, total: Values, out: Values
) -> None:
    """Add one value of a block, corrected, to the total of each key; `cw` may have any stride."""
    v_word, s_word = v[word:], s[word:]
    for i in range(t.size):
        value = reduced((v_word[2 * i] ^ s_word[2 * i]) >> shift, prime)
        value = plus(value, np.uint64(-np.int64(t[i])) & np.uint64(cw[i]), prime)
        out[i] = plus(value, np.uint64(total[i]), prime)


@njit(nogil=True)
def negate(values: Values, prime: Any) -> None:
    """Replace values by their negatives."""
    for i in range(values.size):
        values[i] = minus(_ZERO, np.uint64(values[i]), prime)


@njit(nogil=True)
def sum_level(s: UInt64, t: UInt8, v: UInt64, cw: Values) -> Halves:
    """Sum the corrected values of both sides over all keys; the second word counts in groups of 64 bits only."""
    low_0, high_0, low_1, high_1 = _ZERO, _ZERO, _ZERO, _ZERO
    for i in range(t.size):
        correction = np.uint64(-np.int64(t[i])) & np.uint64(cw[i])
        first = v[2 * i] ^ s[2 * i]
        if cw.itemsize == 4:
            low_0 += (first & _LOW) + correction
            high_0 += (first >> _HALF) + correction
        else:
            second = v[2 * i + 1] ^ s[2 * i + 1]
            low, high = correction & _LOW, correction >> _HALF
            low_0 += (first & _LOW) + low
            high_0 += (first >> _HALF) + high
            low_1 += (second & _LOW) + low
            high_1 += (second >> _HALF) + high
    return low_0, high_0, low_1, high_1  # type: ignore[return-value]


@njit(nogil=True)
def sum_leaf(s: UInt64, t: UInt8, v: UInt64, leaf: UInt64, word: int) -> Halves:
    """Sum the corrected values of a block of the leaf; its corrections are in each row of `leaf` from `word` on."""
    low_0, high_0, low_1, high_1 = _ZERO, _ZERO, _ZERO, _ZERO
    for i in range(t.size):
        mask = np.uint64(-np.int64(t[i]))
        first, second = v[2 * i] ^ s[2 * i], v[2 * i + 1] ^ s[2 * i + 1]
        one, two = mask & leaf[i, word], mask & leaf[i, word + 1]
        low_0 += (first & _LOW) + (one & _LOW)
        high_0 += (first >> _HALF) + (one >> _HALF)
        low_1 += (second & _LOW) + (two & _LOW)
        high_1 += (second >> _HALF) + (two >> _HALF)
    return low_0, high_0, low_1, high_1  # type: ignore[return-value]


# --- Sums over the keys, or each key's share, of the values that a walk passes
#
# `start` gives the total at the root; `descend` the totals of the children on some sides of a node, from its seeds,
# control bits and encrypted values; `arrive` takes values of one block of a leaf: for each the number of its point,
# which is then done, and its place.


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
        self.sums = np.empty(points, np.uint64)
        """Elements of the group, shape (points,)."""

    def start(self) -> int:
        return 0

    def descend(self, level: int, sides: Sequence[int], total: int, s: UInt64, t: UInt8, v: UInt64) -> list[int]:
        values = self._in_group(sum_level(s, t, v, self._values[level]))
        return [total + values[side] for side in sides]

    def arrive(self, block: int, wanted: Sequence[tuple[int, int]], total: int, s: UInt64, t: UInt8, v: UInt64) -> None:
        values = self._in_group(sum_leaf(s, t, v, self._leaf, 2 * block))
        for point, place in wanted:
            self.sums[point] = (total + values[place]) % self._modulus

    def _in_group(self, halves: Sequence[int]) -> Sequence[int]:
        if self._halves:
            return halves
        return halves[0] + (halves[1] << 32), halves[2] + (halves[3] << 32)


class Reading:
    """The share of every key of a chunk at every point, written to `sums`, shape (points, keys)."""

    def __init__(self, batch: KeyBatch, server: int, result: Values) -> None:
        shape = batch.shape
        self._values, self._leaf = batch.values, batch.leaves
        self._places, self._prime = shape.places, shape.arithmetic.prime
        self._negated = bool(server)
        self._result = result

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
            out = self._result[point]
            add_values(s, t, v, self._leaf[:, first + place], *self._places[place], self._prime, total, out)
            if self._negated:
                negate(out, self._prime)


# --- A walk over the prefixes of public points, for a chunk of keys at once
#
# Every distinct prefix is expanded once. All keys take the same path, so a block of a level is one call of AES for the
# whole chunk. The walk is depth-first: at most two states a level are held, whatever the number of points.


class Walk:
    """Buffers and keyed permutations for chunks of a number of keys; one for each thread."""

    def __init__(self, shape: KeyShape, study: bytes, keys: int) -> None:
        self._bits, self._depth = shape.bits, shape.levels
        self._leaf_values, self._per_block = shape.leaf_values, shape.per_block
        self._levels, self._leaf = permutations(shape, study)
        # states that are free, the last used on top: while one path is walked, two of them stay in the cache
        self._free = [(Blocks(keys), np.empty(keys, np.uint8)) for _ in range(shape.levels + 2)]
        self._values = Blocks(keys)
        self._flipped = Blocks(keys)

    def run(self, batch: KeyBatch, points: Sequence[int], server: int, tally: Summing | Reading) -> None:
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


# --- Shares at public points, of each key or added up

CHUNK = 16384
"""Keys at a time: enough that calls cost little, and few enough that what is passed repeatedly stays in a cache."""


def evaluate(batch: KeyBatch, points: ArrayLike, *, server: int, threads: int | None = None) -> Values:
    """Each key's share at every point, shape (n, B), of which each column is contiguous.

    Points are public numbers in [0, 2^bits), shape (B,), in any order; work that prefixes share is done once. With the
    shares of the other server, 0 or 1, the elements add up to payload * [point < alpha]. `threads` is the number of
    cores, None for all.
    """
    distinct, back = _distinct(points, batch, server)
    result = np.empty((len(distinct), len(batch)), batch.shape.dtype)
    listed = distinct.tolist()

    def work(walk: Walk, part: slice) -> None:
        keys = batch[part]
        walk.run(keys, listed, server, Reading(keys, server, result[:, part]))

    for _ in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=None):
        pass
    in_order = np.array_equal(back, np.arange(len(distinct)))
    shares: Values = (result if in_order else result[back]).T
    return shares


def evaluate_sums(
    batch: KeyBatch,
    points: ArrayLike,
    *,
    server: int,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Values:
    """The sum over all keys of their shares at every point, shape (B,), in memory that does not grow with the keys.

    All points, np.arange(2^bits), cost less than an AES block a point and key. `progress` is called now and then with
    the number of keys done.
    """
    distinct, back = _distinct(points, batch, server)
    listed = distinct.tolist()
    group = batch.shape.arithmetic
    total = np.zeros(len(distinct), np.uint64)

    def work(walk: Walk, part: slice) -> UInt64:
        keys = batch[part]
        tally = Summing(keys, len(listed))
        walk.run(keys, listed, server, tally)
        return tally.sums

    for result in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        total = total + result if group.prime is None else field.sums(total, result)
    if server:
        total = _ZERO - total if group.prime is None else field.differences(_ZERO, total)
    sums: Values = total.astype(group.dtype)[back]
    return sums


def _walks(batch: KeyBatch) -> Callable[[int], Walk]:
    return lambda keys: Walk(batch.shape, batch.study, keys)


def _distinct(points: ArrayLike, batch: KeyBatch, server: int) -> tuple[Int64, Int64]:
    """Points in increasing order without repetition, and where each of the given ones is among them."""
    if isinstance(server, bool) or server not in (0, 1):
        raise ParameterError(f"`server` must be 0 or 1, got {quoted(server)}")
    given: NDArray[Any] = np.asarray(points)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ParameterError(
            f"`points` must be whole numbers, at least one, shape (B,); got {given.dtype} {given.shape}"
        )
    if given.min() < 0 or given.max() >= batch.shape.domain:
        raise ParameterError(f"`points` must be in [0, {batch.shape.domain}), got {given.min()} to {given.max()}")
    distinct, back = np.unique(given.astype(np.int64), return_inverse=True)
    return distinct, back


# --- Linear forms of every key's values, and sums over keys, without holding the values


class Weighed(NamedTuple):
    """What one server has of many keys, as shares.

    The linear forms of each key, elements of shape (forms, n), and the sums over keys at each point, shape (B,).
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

    As `evaluate_sums`, with keys of the group "field", points that are strictly increasing, and weights of shape
    (forms, B).
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

    for result in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        sums = field.sums(sums, result)
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
