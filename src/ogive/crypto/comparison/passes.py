"""Compiled passes over arrays of keys, one after each encryption.

Seeds `s` and blocks are flat arrays of words, two a key; `t` holds control bits, 0 or 1. Of a block of values `v`, one
is word `word` shifted right by `shift`; what is above the value's bits is cut off when it is stored. `cs`, `cw` and
`ct` are the corrections of a level. `prime` is the modulus of the field, or None for a ring.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ogive.crypto.comparison.arithmetic import minus, plus, reduced
from ogive.crypto.comparison.batch import UInt8, UInt64, Values

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_CLEAR = np.uint64(2**64 - 2)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def descend_summing(
    s: UInt64, t: UInt8, child: UInt64, v: UInt64, cs: UInt64, cw: Values, ct: UInt8,
    side: np.uint8, word: int, shift: np.uint64, prime: Any, t_child: UInt8,
) -> tuple[np.uint64, np.uint64]:  # fmt: skip
    """Walk to a child on one side, 0 for the left, and sum the values on the way over all keys.

    The encrypted block `child` is replaced by the child's seeds; `t_child` receives its control bits.

    Returns:
        Two numbers: the first plus 2^32 times the second is the sum of the values up to a multiple of the modulus.
    """
    v_word, s_word = v[word:], s[word:]
    low = _ZERO
    high = _ZERO
    for i in range(t.size):
        mask = np.uint64(-np.int64(t[i]))
        value = (v_word[2 * i] ^ s_word[2 * i]) >> shift
        correction = mask & np.uint64(cw[i])
        if prime is None:
            low += value + correction
        else:
            low += (value & _LOW) + (correction & _LOW)
            high += (value >> _HALF) + (correction >> _HALF)
        first = child[2 * i] ^ s[2 * i] ^ (mask & cs[2 * i])
        child[2 * i + 1] ^= s[2 * i + 1] ^ (mask & cs[2 * i + 1])
        child[2 * i] = first & _CLEAR
        t_child[i] = np.uint8(first & _ONE) ^ (t[i] & (ct[i] >> side))
    return low, high


@njit(cache=True, nogil=True)
def descend(
    s: UInt64, t: UInt8, child: UInt64, v: UInt64, cs: UInt64, cw: Values, ct: UInt8,
    side: np.uint8, word: int, shift: np.uint64, prime: Any, t_child: UInt8, total: Values, total_child: Values,
) -> None:  # fmt: skip
    """Walk to a child, and add the values on the way to the total of each key; otherwise as above."""
    v_word, s_word = v[word:], s[word:]
    for i in range(t.size):
        mask = np.uint64(-np.int64(t[i]))
        value = reduced((v_word[2 * i] ^ s_word[2 * i]) >> shift, prime)
        value = plus(value, mask & np.uint64(cw[i]), prime)
        total_child[i] = plus(value, np.uint64(total[i]), prime)
        first = child[2 * i] ^ s[2 * i] ^ (mask & cs[2 * i])
        child[2 * i + 1] ^= s[2 * i + 1] ^ (mask & cs[2 * i + 1])
        child[2 * i] = first & _CLEAR
        t_child[i] = np.uint8(first & _ONE) ^ (t[i] & (ct[i] >> side))


@njit(cache=True, nogil=True)
def sum_leaf(
    s: UInt64, t: UInt8, v: UInt64, leaf: Values, word: int, shift: np.uint64, prime: Any
) -> tuple[np.uint64, np.uint64]:
    """Sum one value of the leaf over all keys, as `descend_summing`; `leaf` has its corrections, of any stride."""
    v_word, s_word = v[word:], s[word:]
    low = _ZERO
    high = _ZERO
    for i in range(t.size):
        value = (v_word[2 * i] ^ s_word[2 * i]) >> shift
        correction = np.uint64(-np.int64(t[i])) & np.uint64(leaf[i])
        if prime is None:
            low += value + correction
        else:
            low += (value & _LOW) + (correction & _LOW)
            high += (value >> _HALF) + (correction >> _HALF)
    return low, high


@njit(cache=True, nogil=True)
def read_leaf(
    s: UInt64, t: UInt8, v: UInt64, leaf: Values, word: int, shift: np.uint64, prime: Any,
    total: Values, negated: bool, out: Values,
) -> None:  # fmt: skip
    """Add one value of the leaf to the total of each key, negated for the second server."""
    v_word, s_word = v[word:], s[word:]
    for i in range(t.size):
        value = reduced((v_word[2 * i] ^ s_word[2 * i]) >> shift, prime)
        value = plus(value, np.uint64(-np.int64(t[i])) & np.uint64(leaf[i]), prime)
        value = plus(value, np.uint64(total[i]), prime)
        out[i] = minus(_ZERO, value, prime) if negated else value


@njit(cache=True, nogil=True)
def flip_high(s: UInt64, bits: np.uint64, out: UInt64) -> None:
    """Seeds for a block of the leaf: `bits` are flipped in the high words."""
    for i in range(s.size // 2):
        out[2 * i] = s[2 * i]
        out[2 * i + 1] = s[2 * i + 1] ^ bits
