"""SipHash-2-4 of words and of texts: under a fixed public key pseudo-random and the same everywhere.

Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.arrays import Bool, Int64, UInt8, UInt64
from ogive.compiling import njit

Word = np.uint64
Key = tuple[int, int] | tuple[np.uint64, np.uint64]
"""128 bits, as two words."""

# the first 128 bits of the fraction of pi: public, and chosen by nobody
PUBLIC_KEY = (0x243F6A8885A308D3, 0x13198A2E03707344)


@njit(nogil=True)
def _rotated(word: Word, bits: int) -> Word:
    return np.uint64((word << np.uint64(bits)) | (word >> np.uint64(64 - bits)))


@njit(nogil=True)
def _rounds(a: Word, b: Word, c: Word, d: Word, count: int) -> tuple[Word, Word, Word, Word]:
    for _ in range(count):
        a = np.uint64(a + b)
        b = np.uint64(_rotated(b, 13) ^ a)
        a = _rotated(a, 32)
        c = np.uint64(c + d)
        d = np.uint64(_rotated(d, 16) ^ c)
        a = np.uint64(a + d)
        d = np.uint64(_rotated(d, 21) ^ a)
        c = np.uint64(c + b)
        b = np.uint64(_rotated(b, 17) ^ c)
        c = _rotated(c, 32)
    return a, b, c, d


@njit(nogil=True)
def _start(key: Key) -> tuple[Word, Word, Word, Word]:
    first, second = np.uint64(key[0]), np.uint64(key[1])
    return (
        np.uint64(first ^ np.uint64(0x736F6D6570736575)),
        np.uint64(second ^ np.uint64(0x646F72616E646F6D)),
        np.uint64(first ^ np.uint64(0x6C7967656E657261)),
        np.uint64(second ^ np.uint64(0x7465646279746573)),
    )


@njit(nogil=True)
def siphash(words: UInt64, key: Key) -> Word:
    """The 64-bit hash of some words, shape (n,), taken as 8 n little-endian bytes."""
    a, b, c, d = _start(key)
    for i in range(len(words) + 1):
        word = words[i] if i < len(words) else np.uint64(8 * len(words) % 256) << np.uint64(56)
        a, b, c, d = _rounds(a, b, c, np.uint64(d ^ word), 2)
        a = np.uint64(a ^ word)
    a, b, c, d = _rounds(a, b, np.uint64(c ^ np.uint64(0xFF)), d, 4)
    return np.uint64(a ^ b ^ c ^ d)


@njit(nogil=True)
def hashes_of(words: UInt64, key: Key = PUBLIC_KEY) -> UInt64:
    """The hash of each row of words, shape (rows,)."""
    found = np.empty(len(words), dtype=np.uint64)
    for row in range(len(words)):
        found[row] = siphash(words[row], key)
    return found


@njit(nogil=True)
def _siphash_bytes(content: UInt8, key: Key) -> Word:
    a, b, c, d = _start(key)
    size = len(content)
    for first in range(0, size - size % 8 + 8, 8):
        word = np.uint64(0) if first + 8 <= size else np.uint64(size % 256) << np.uint64(56)
        for i in range(min(8, size - first)):
            word = np.uint64(word | (np.uint64(content[first + i]) << np.uint64(8 * i)))
        a, b, c, d = _rounds(a, b, c, np.uint64(d ^ word), 2)
        a = np.uint64(a ^ word)
    a, b, c, d = _rounds(a, b, np.uint64(c ^ np.uint64(0xFF)), d, 4)
    return np.uint64(a ^ b ^ c ^ d)


@njit(nogil=True)
def _hash_each(content: UInt8, offsets: Int64, wanted: Bool, key: Key, out: UInt64) -> None:
    for i in range(len(out)):
        if wanted[i]:
            out[i] = _siphash_bytes(content[offsets[i] : offsets[i + 1]], key)


def text_words(texts: Any, wanted: Bool, key: Key = PUBLIC_KEY) -> UInt64:
    """The hash of each wanted text of an Arrow array without nulls, else 0; shape (texts,)."""
    texts = pc.cast(texts, pa.large_string())
    _, offsets, content = texts.buffers()
    words = np.zeros(len(texts), dtype=np.uint64)
    if content is not None:
        ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        _hash_each(np.frombuffer(content, dtype=np.uint8), ends, wanted, key, words)
    return words
