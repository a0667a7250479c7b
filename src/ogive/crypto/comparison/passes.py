"""Passes over arrays of keys, one after each encryption.

Seeds `s` and blocks are flat arrays of words, two a key; `t` holds control bits, 0 or 1. Of a block of values `v`, one
is word `word` shifted right by `shift`; what is above the value's bits is cut off when it is stored. `cs`, `cw` and
`ct` are the corrections of a level. `prime` is the modulus of the field, or None for a ring.

Sums are returned as those of the lower and of the upper halves of the two words, which do not overflow below 2^31 keys:
in a group of 32 bits each half is a value, in one of 64 bits both are parts of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.core.arrays import UInt8, UInt64
from ogive.core.compiling import njit
from ogive.crypto.comparison.keys import Values
from ogive.crypto.field import add, reduce, subtract

# --- Sums and differences in a group, for compiled loops
#
# Rings wrap by themselves, modulo 2^64 here and modulo 2^32 once they are stored; given None, compilers drop the rest.


@njit(nogil=True)
def plus(x: Any, y: Any, prime: Any) -> Any:
    """The sum of two elements."""
    if prime is None:
        return x + y
    return add(x, y)


@njit(nogil=True)
def minus(x: Any, y: Any, prime: Any) -> Any:
    """The difference x - y of two elements."""
    if prime is None:
        return x - y
    return subtract(x, y)


@njit(nogil=True)
def reduced(word: Any, prime: Any) -> Any:
    """A word of a block as an element."""
    if prime is None:
        return word
    return reduce(word)


# --- Passes of a walk, after each encryption

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


@njit(nogil=True, steps=lambda s, *rest: s.size)
def flip_high(s: UInt64, bits: np.uint64, out: UInt64) -> None:
    """Seeds for a block of the leaf: `bits` are flipped in the high words."""
    for i in range(s.size // 2):
        out[2 * i] = s[2 * i]
        out[2 * i + 1] = s[2 * i + 1] ^ bits


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

_ALL = np.uint64(2**64 - 1)

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
            found = reduced((v_1[2 * i] ^ s_1[2 * i]) >> shift, prime)
            found = minus(found, reduced((v_0[2 * i] ^ s_0[2 * i]) >> shift, prime), prime)
            found = minus(found, missing[i], prime)
            found = plus(found, payloads[i] if bound < low[i] else _ZERO, prime)
            out[i] = _select(_ZERO - np.uint64(t[i]), minus(_ZERO, found, prime), found)
