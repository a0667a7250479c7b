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

from ogive.arrays import UInt8, UInt64
from ogive.compiling import njit
from ogive.crypto.comparison.arithmetic import minus, plus, reduced
from ogive.crypto.comparison.wire import Values

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
