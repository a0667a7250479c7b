"""Pairs of comparison keys for many clients at once.

A client makes its own pair; an organization makes those of all its records. The number compared and the payload are in
neither key alone.

Source:
    Boyle, Gilboa and Ishai 2015; Boyle et al. 2021.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import UInt8, UInt64
from ogive.core.compiling import njit
from ogive.crypto.aes import SEED_BYTES, Blocks, words
from ogive.crypto.comparison.evaluation import flip_high, minus, plus, reduced
from ogive.crypto.comparison.keys import KeyBatch, KeyShape, Values, in_chunks, permutations
from ogive.crypto.domains import Random
from ogive.crypto.wire import check_study
from ogive.errors import ParameterError

# --- Passes that choose corrections, from both servers' encrypted seeds
#
# Off the path of alpha both servers must reach the same seeds, control bits and values; on it their control bits
# differ.
#
# Arrays of seeds `s` and of encrypted blocks hold two words for each of server 0's keys, and then for each of server
# 1's. `t` are control bits of server 0, of which server 1 has the opposite. `missing` is value 1 less value 0 on the
# path so far. Of a block of values `v`, the left side's begin, and the right side's are in word `word` shifted right by
# `shift`. The bit of `alphas` at `position` is where the path turns.
#
# Loops are short and read few arrays, so that compilers use vectors. They run uncompiled for a client's own key.

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL, _CLEAR = np.uint64(2**64 - 1), np.uint64(2**64 - 2)

STEPS_A_LEVEL, STEPS_A_BLOCK = 100, 50
"""Steps of uncompiled loops that a key takes at each level, and for each block of its leaf."""


@njit(nogil=True, steps=lambda s, *rest: STEPS_A_LEVEL * (s.size // 4))
def correct_level(
    s: UInt64, t: UInt8, missing: UInt64, left: UInt64, right: UInt64, v: UInt64,
    alphas: UInt64, position: np.uint64, payloads: UInt64, word: int, shift: np.uint64, prime: Any,
    cs: UInt64, cw: Values, ct: UInt8,
) -> None:  # fmt: skip
    """Choose the corrections of a level, and walk one level down the path of alpha.

    `s`, `t` and `missing` are replaced by those of the next level; `cs`, `cw` and `ct` receive the corrections of
    seeds, values and control bits.
    """
    n = t.size
    s_0, s_1, left_0, left_1 = s[: 2 * n], s[2 * n : 4 * n], left[: 2 * n], left[2 * n : 4 * n]
    right_0, right_1, v_0, v_1 = right[: 2 * n], right[2 * n : 4 * n], v[: 2 * n], v[2 * n : 4 * n]
    _values(s_0, s_1, v_0, v_1, t, missing, alphas, position, payloads, word, shift, prime, cw)
    _corrections(s_0, s_1, left_0, left_1, right_0, right_1, alphas, position, cs, ct)
    before = t.copy()
    _controls(s_0, t, left_0, right_0, alphas, position, ct)
    _seeds(s_0, left_0, right_0, before, _ZERO, alphas, position, cs)
    _seeds(s_1, left_1, right_1, before, _ALL, alphas, position, cs)


@njit(nogil=True)
def _select(choice: np.uint64, zero: np.uint64, one: np.uint64) -> np.uint64:
    """`zero` where choice is 0, `one` where all its bits are set."""
    return zero ^ (choice & (zero ^ one))


@njit(nogil=True)
def _values(
    s_0: UInt64, s_1: UInt64, v_0: UInt64, v_1: UInt64, t: UInt8, missing: UInt64, alphas: UInt64, position: np.uint64,
    payloads: UInt64, word: int, shift: np.uint64, prime: Any, cw: Values,
) -> None:  # fmt: skip
    other_s_0, other_s_1, other_v_0, other_v_1 = s_0[word:], s_1[word:], v_0[word:], v_1[word:]
    for i in range(t.size):
        turn = _ZERO - ((alphas[i] >> position) & _ONE)
        left_0, left_1 = reduced(v_0[2 * i] ^ s_0[2 * i], prime), reduced(v_1[2 * i] ^ s_1[2 * i], prime)
        right_0 = reduced((other_v_0[2 * i] ^ other_s_0[2 * i]) >> shift, prime)
        right_1 = reduced((other_v_1[2 * i] ^ other_s_1[2 * i]) >> shift, prime)
        # off the path the left child has the payload: points there are below alpha
        lost = minus(_select(turn, right_1, left_1), _select(turn, right_0, left_0), prime)
        lost = plus(lost, turn & payloads[i], prime)
        kept = minus(_select(turn, left_0, right_0), _select(turn, left_1, right_1), prime)
        correction = minus(lost, missing[i], prime)
        missing[i] = plus(kept, lost, prime)
        cw[i] = _select(_ZERO - np.uint64(t[i]), minus(_ZERO, correction, prime), correction)


@njit(nogil=True)
def _corrections(
    s_0: UInt64, s_1: UInt64, left_0: UInt64, left_1: UInt64, right_0: UInt64, right_1: UInt64,
    alphas: UInt64, position: np.uint64, cs: UInt64, ct: UInt8,
) -> None:  # fmt: skip
    for i in range(ct.size):
        bit = (alphas[i] >> position) & _ONE
        turn = _ZERO - bit
        both = s_0[2 * i] ^ s_1[2 * i]
        left, right = left_0[2 * i] ^ left_1[2 * i] ^ both, right_0[2 * i] ^ right_1[2 * i] ^ both
        high_left, high_right = left_0[2 * i + 1] ^ left_1[2 * i + 1], right_0[2 * i + 1] ^ right_1[2 * i + 1]
        cs[2 * i] = _select(turn, right, left) & _CLEAR
        cs[2 * i + 1] = _select(turn, high_right, high_left) ^ s_0[2 * i + 1] ^ s_1[2 * i + 1]
        ct[i] = np.uint8(((left ^ bit ^ _ONE) & _ONE) | (((right ^ bit) & _ONE) << _ONE))


@njit(nogil=True)
def _controls(s: UInt64, t: UInt8, left: UInt64, right: UInt64, alphas: UInt64, position: np.uint64, ct: UInt8) -> None:
    for i in range(t.size):
        bit = (alphas[i] >> position) & _ONE
        kept = _select(_ZERO - bit, left[2 * i], right[2 * i]) ^ s[2 * i]
        t[i] = np.uint8((kept ^ (np.uint64(t[i]) & (np.uint64(ct[i]) >> bit))) & _ONE)


@njit(nogil=True)
def _seeds(
    s: UInt64,
    left: UInt64,
    right: UInt64,
    t: UInt8,
    opposite: np.uint64,
    alphas: UInt64,
    position: np.uint64,
    cs: UInt64,
) -> None:
    for i in range(t.size):
        turn = _ZERO - ((alphas[i] >> position) & _ONE)
        mask = (_ZERO - np.uint64(t[i])) ^ opposite
        kept = _select(turn, left[2 * i], right[2 * i]) ^ s[2 * i]
        high = _select(turn, left[2 * i + 1], right[2 * i + 1]) ^ s[2 * i + 1]
        s[2 * i] = (kept & _CLEAR) ^ (mask & cs[2 * i])
        s[2 * i + 1] = high ^ (mask & cs[2 * i + 1])


@njit(nogil=True, steps=lambda s, *rest: STEPS_A_BLOCK * (s.size // 4))
def correct_leaf(
    s: UInt64, t: UInt8, missing: UInt64, v: UInt64, low: UInt64, first: int, payloads: UInt64, prime: Any, leaf: Values
) -> None:
    """Choose the corrections of the values of one block of the leaf.

    `low` are the low bits of alpha, `s` what was encrypted to `v`; `leaf`, shape (n, values of the leaf), receives the
    corrections, from the value numbered `first` on.
    """
    n, width = t.size, leaf.itemsize
    for value in range(first, min(first + 16 // width, leaf.shape[1])):
        word, shift = (value - first) * width // 8, np.uint64((value - first) * width % 8 * 8)
        s_0, s_1, v_0, v_1 = s[word : 2 * n], s[2 * n + word : 4 * n], v[word : 2 * n], v[2 * n + word : 4 * n]
        out, bound = leaf[:, value], np.uint64(value)
        for i in range(n):
            result = reduced((v_1[2 * i] ^ s_1[2 * i]) >> shift, prime)
            result = minus(result, reduced((v_0[2 * i] ^ s_0[2 * i]) >> shift, prime), prime)
            result = minus(result, missing[i], prime)
            result = plus(result, payloads[i] if bound < low[i] else _ZERO, prime)
            out[i] = _select(_ZERO - np.uint64(t[i]), minus(_ZERO, result, prime), result)


# --- Making pairs of keys

CHUNK = 8192
"""Pairs at a time: so many that calls cost little, so few that the blocks of a level stay in a cache."""


def generate(
    alphas: ArrayLike,
    *,
    shape: KeyShape,
    study: bytes,
    payloads: ArrayLike | None = None,
    random: Random = os.urandom,
    threads: int | None = None,
) -> tuple[KeyBatch, KeyBatch]:
    """Share the functions x -> payload * [x < alpha] between two servers.

    Alphas are private numbers in [0, 2^bits), shape (n,); payloads private elements of the group, such as class bits or
    amounts in fixed point, None for 1. Keys are of use in the study of this digest, 32 bytes, alone.

    Returns:
        The keys for server 0 and those for server 1, which share all arrays but the roots.
    """
    numbers = _checked("alphas", alphas, shape.domain)
    amounts = None if payloads is None else _checked("payloads", payloads, shape.modulus)
    if amounts is not None and amounts.size != numbers.size:
        raise ParameterError(f"`payloads` must be as many as alphas, {numbers.size}, got {amounts.size}")
    check_study(study)
    n, dtype = numbers.size, shape.dtype
    roots = words(random(SEED_BYTES), 4 * n).reshape(2, n, 2)
    shared = {
        "seeds": np.empty((shape.levels, n, 2), np.uint64),
        "values": np.empty((shape.levels, n), dtype),
        "controls": np.empty((shape.levels, n), np.uint8),
        "leaves": np.empty((n, shape.leaf_values), dtype),
    }
    first = KeyBatch(shape, study, roots[0], **shared)
    second = KeyBatch(shape, study, roots[1], **shared)

    def work(maker: _Maker, part: slice) -> None:
        worth = np.ones(part.stop - part.start, np.uint64) if amounts is None else amounts[part]
        maker.run(first[part], second.roots[part], numbers[part], worth)

    for _ in in_chunks(
        work, lambda keys: _Maker(shape, study, keys), keys=n, chunk=CHUNK, threads=threads, progress=None
    ):
        pass
    return first, second


def _checked(name: str, numbers: ArrayLike, stop: int) -> UInt64:
    """Whole numbers in [0, stop) as unsigned words."""
    result: NDArray[Any] = np.asarray(numbers)
    if result.ndim != 1 or (result.dtype.kind not in "iub" and result.size):
        raise ParameterError(f"`{name}` must be whole numbers, shape (n,); got {result.dtype} {result.shape}")
    if result.size and (result.min() < 0 or int(result.max()) >= stop):
        raise ParameterError(f"`{name}` must be in [0, {stop}), got {result.min()} to {result.max()}")
    return result.astype(np.uint64)


class _Maker:
    """Buffers and keyed permutations to make so many pairs of keys; one for each thread."""

    def __init__(self, shape: KeyShape, study: bytes, keys: int) -> None:
        self._shape = shape
        self._levels, self._leaf = permutations(shape, study)
        # the seeds of server 0's keys, then those of server 1's; then what they are encrypted to, with room for AES
        self._seeds, self._left, self._right, self._values = (Blocks(2 * keys) for _ in range(4))
        self._t = np.empty(keys, np.uint8)
        self._missing = np.empty(keys, np.uint64)

    def run(self, batch: KeyBatch, other_roots: UInt64, alphas: UInt64, payloads: UInt64) -> None:
        """Fill a chunk of keys, whose roots are drawn, but for the bit that seeds have clear."""
        shape, keys = self._shape, len(batch)
        prime, (word, shift) = shape.arithmetic.prime, shape.places[1]
        seeds, left, right, values = self._seeds, self._left, self._right, self._values
        for server, roots in enumerate((batch.roots, other_roots)):
            roots[:, 0] &= np.uint64(2**64 - 2)
            seeds.words[2 * keys * server : 2 * keys * (server + 1)] = roots.reshape(-1)
        t, missing = self._t, self._missing
        t[:] = 0
        missing[:] = 0
        for level, keyed in enumerate(self._levels):
            for permutation, out in zip(keyed, (left, right, values), strict=True):
                permutation.encrypt(seeds, out)
            correct_level(
                seeds.words, t, missing, left.words, right.words, values.words,
                alphas, np.uint64(shape.bits - 1 - level), payloads, word, shift, prime,
                batch.seeds[level].reshape(-1), batch.values[level], batch.controls[level],
            )  # fmt: skip
        low = alphas & np.uint64(shape.leaf_values - 1)
        for block in range(shape.leaf_blocks):
            flip_high(seeds.words, np.uint64(block), left.words)
            self._leaf.encrypt(left, values)
            first = block * shape.per_block
            correct_leaf(left.words, t, missing, values.words, low, first, payloads, prime, batch.leaves)
