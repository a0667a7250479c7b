"""Compiled passes that choose the corrections of a level and of the leaf, from both servers' encrypted seeds.

Arrays of seeds and blocks hold two words for each of server 0's keys and then for each of server 1's. Off the path of
alpha both servers must reach the same seeds, control bits and values; on it their control bits differ.
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


@njit(cache=True, nogil=True)
def _select(choice: np.uint64, zero: np.uint64, one: np.uint64) -> np.uint64:
    """`zero` where choice is 0, `one` where all its bits are set."""
    return zero ^ (choice & (zero ^ one))


@njit(cache=True, nogil=True)
def correct_level(
    s: UInt64, t: UInt8, missing: UInt64, left: UInt64, right: UInt64, v: UInt64,
    alphas: UInt64, position: np.uint64, payloads: UInt64, word: int, shift: np.uint64, prime: Any,
    cs: UInt64, cw: Values, ct: UInt8,
) -> None:  # fmt: skip
    """Choose the corrections of a level, and walk one level down the path of alpha.

    Seeds `s` (4 n words), control bits `t` of server 0 (n, server 1 has the opposite ones) and `missing` (n, value 1
    less value 0 on the path so far) are replaced by those of the next level. `left`, `right` and `v` are encrypted
    blocks; in the last, values of the left side begin, and those of the right are in word `word` shifted right by
    `shift`. The bit of `alphas` at `position` is this level's. `cs`, `cw` and `ct` receive the corrections of seeds,
    values and control bits.
    """
    n = t.size
    v_word, s_word = v[word:], s[word:]
    for i in range(n):
        a, b = 2 * i, 2 * (i + n)
        bit = (alphas[i] >> position) & _ONE
        turn = _ZERO - bit  # all ones where the path turns right
        left_0, left_1 = left[a] ^ s[a], left[b] ^ s[b]
        right_0, right_1 = right[a] ^ s[a], right[b] ^ s[b]
        lost = _select(turn, right_0 ^ right_1, left_0 ^ left_1) & _CLEAR
        lost_high = _select(turn, right[a + 1] ^ right[b + 1], left[a + 1] ^ left[b + 1]) ^ s[a + 1] ^ s[b + 1]
        to_left = (left_0 ^ left_1 ^ bit ^ _ONE) & _ONE
        to_right = (right_0 ^ right_1 ^ bit) & _ONE
        cs[a], cs[a + 1] = lost, lost_high
        ct[i] = np.uint8(to_left | (to_right << _ONE))

        first_0, first_1 = reduced(v[a] ^ s[a], prime), reduced(v[b] ^ s[b], prime)
        other_0 = reduced((v_word[a] ^ s_word[a]) >> shift, prime)
        other_1 = reduced((v_word[b] ^ s_word[b]) >> shift, prime)
        off = minus(_select(turn, other_1, first_1), _select(turn, other_0, first_0), prime)
        off = plus(off, turn & payloads[i], prime)
        correction = minus(off, missing[i], prime)
        on = minus(_select(turn, first_0, other_0), _select(turn, first_1, other_1), prime)
        missing[i] = plus(on, off, prime)

        mask = _ZERO - np.uint64(t[i])
        cw[i] = correction if t[i] else minus(_ZERO, correction, prime)
        kept_0, kept_1 = _select(turn, left_0, right_0), _select(turn, left_1, right_1)
        t[i] = np.uint8((kept_0 & _ONE) ^ (np.uint64(t[i]) & _select(turn, to_left, to_right)))
        high_0 = _select(turn, left[a + 1], right[a + 1]) ^ s[a + 1]
        high_1 = _select(turn, left[b + 1], right[b + 1]) ^ s[b + 1]
        s[a], s[a + 1] = (kept_0 & _CLEAR) ^ (mask & lost), high_0 ^ (mask & lost_high)
        s[b], s[b + 1] = (kept_1 & _CLEAR) ^ (~mask & lost), high_1 ^ (~mask & lost_high)


@njit(cache=True, nogil=True)
def correct_leaf(
    s: UInt64, t: UInt8, missing: UInt64, v: UInt64, low: UInt64, value: np.uint64, payloads: UInt64,
    word: int, shift: np.uint64, prime: Any, leaf: Values,
) -> None:  # fmt: skip
    """Choose the correction of one value of the leaf; `low` are the low bits of alpha, `s` what was encrypted."""
    n = t.size
    v_word, s_word = v[word:], s[word:]
    for i in range(n):
        a, b = 2 * i, 2 * (i + n)
        found = reduced((v_word[b] ^ s_word[b]) >> shift, prime)
        found = minus(found, reduced((v_word[a] ^ s_word[a]) >> shift, prime), prime)
        found = minus(found, missing[i], prime)
        if value < low[i]:
            found = plus(found, payloads[i], prime)
        leaf[i] = found if t[i] else minus(_ZERO, found, prime)
