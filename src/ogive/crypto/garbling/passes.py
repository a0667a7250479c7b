"""Compiled passes over the labels of many pairs, before and after their encryption.

`labels` has shape (slots, pairs, 2): a slot holds the labels of one wire, the lower word first. `deltas` has shape
(pairs, 2); `tables` of all AND gates have shape (ANDs, pairs, 2, 2), and `numbers` says which of them are those of the
gates at hand. Blocks are flat arrays of words, two a block; those of a gate follow each other, first those of its half
0, then those of its half 1. For each half the garbler hashes both labels of all pairs, first the zero labels, and the
evaluator hashes the one it holds.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, Int32, UInt64
from ogive.compiling import njit

_ONE = np.uint64(1)


@njit(nogil=True)
def choose_labels(bits: Bool, zeros: UInt64, deltas: UInt64, labels: UInt64) -> None:
    """Write the labels of values, from the zero labels of their wires; bits have shape (wires, pairs)."""
    for w in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            mask = np.uint64(-np.int64(bits[w, i]))
            for word in range(2):
                labels[w, i, word] = zeros[w, i, word] ^ (mask & deltas[i, word])


@njit(nogil=True)
def free_gates(labels: UInt64, deltas: UInt64, left: Int32, right: Int32, out: Int32) -> None:
    """XOR and NOT gates in turn; the latter have no right wire, which is -1, and shift their label by delta."""
    for g in range(left.size):
        a, w = labels[left[g]], labels[out[g]]
        b = labels[right[g]] if right[g] >= 0 else deltas
        for i in range(a.shape[0]):
            w[i, 0] = a[i, 0] ^ b[i, 0]
            w[i, 1] = a[i, 1] ^ b[i, 1]


@njit(nogil=True)
def spread_pairs(labels: UInt64, deltas: UInt64, left: Int32, right: Int32, blocks: UInt64) -> None:
    """Write sigma of both labels of both inputs of each AND gate, 4 blocks a pair."""
    pairs = deltas.shape[0]
    for g in range(left.size):
        for half in range(2):
            x = labels[left[g] if half == 0 else right[g]]
            zero = blocks[(2 * g + half) * 4 * pairs :]
            one = zero[2 * pairs :]
            for i in range(pairs):
                low, high = x[i, 0], x[i, 1]
                zero[2 * i] = high
                zero[2 * i + 1] = high ^ low
                low, high = low ^ deltas[i, 0], high ^ deltas[i, 1]
                one[2 * i] = high
                one[2 * i + 1] = high ^ low


@njit(nogil=True)
def mix_pairs(
    labels: UInt64,
    deltas: UInt64,
    left: Int32,
    right: Int32,
    out: Int32,
    blocks: UInt64,
    hashed: UInt64,
    numbers: Int32,
    tables: UInt64,
) -> None:
    """Make tables and the zero labels of outputs from blocks and what they encrypt to."""
    pairs = deltas.shape[0]
    for g in range(left.size):
        a, b, w, table = labels[left[g]], labels[right[g]], labels[out[g]], tables[numbers[g]]
        x, y = blocks[8 * g * pairs :], hashed[8 * g * pairs :]
        for i in range(pairs):
            mask_a = np.uint64(-np.int64(a[i, 0] & _ONE))
            mask_b = np.uint64(-np.int64(b[i, 0] & _ONE))
            for word in range(2):
                at = 2 * i + word
                a_zero = x[at] ^ y[at]
                a_both = a_zero ^ x[at + 2 * pairs] ^ y[at + 2 * pairs]
                b_zero = x[at + 4 * pairs] ^ y[at + 4 * pairs]
                b_both = b_zero ^ x[at + 6 * pairs] ^ y[at + 6 * pairs]
                first = a_both ^ (mask_b & deltas[i, word])
                table[i, 0, word] = first
                table[i, 1, word] = b_both ^ a[i, word]
                w[i, word] = a_zero ^ (mask_a & first) ^ b_zero ^ (mask_b & b_both)


@njit(nogil=True)
def spread_held(labels: UInt64, left: Int32, right: Int32, blocks: UInt64) -> None:
    """Write sigma of the held labels of both inputs of each AND gate, 2 blocks a pair."""
    pairs = labels.shape[1]
    for g in range(left.size):
        for half in range(2):
            x = labels[left[g] if half == 0 else right[g]]
            block = blocks[(2 * g + half) * 2 * pairs :]
            for i in range(pairs):
                block[2 * i] = x[i, 1]
                block[2 * i + 1] = x[i, 1] ^ x[i, 0]


@njit(nogil=True)
def mix_held(
    labels: UInt64,
    left: Int32,
    right: Int32,
    out: Int32,
    blocks: UInt64,
    hashed: UInt64,
    numbers: Int32,
    tables: UInt64,
) -> None:
    """Find the held labels of outputs from tables, blocks and what these encrypt to."""
    pairs = labels.shape[1]
    for g in range(left.size):
        a, b, w, table = labels[left[g]], labels[right[g]], labels[out[g]], tables[numbers[g]]
        x, y = blocks[4 * g * pairs :], hashed[4 * g * pairs :]
        for i in range(pairs):
            mask_a = np.uint64(-np.int64(a[i, 0] & _ONE))
            mask_b = np.uint64(-np.int64(b[i, 0] & _ONE))
            for word in range(2):
                at = 2 * i + word
                both = x[at] ^ y[at] ^ x[at + 2 * pairs] ^ y[at + 2 * pairs]
                second = mask_b & (table[i, 1, word] ^ a[i, word])
                w[i, word] = both ^ (mask_a & table[i, 0, word]) ^ second
