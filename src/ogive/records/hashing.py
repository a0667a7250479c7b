"""SipHash-2-4 of whole 64-bit words under a fixed public key: pseudo-random and the same everywhere.

Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.
"""

from __future__ import annotations

import hashlib

import numba
import numpy as np
from numpy.typing import NDArray

Word = np.uint64
Uint64 = NDArray[Word]

# the first 128 bits of the fraction of pi: public, and chosen by nobody
PUBLIC_KEY = (0x243F6A8885A308D3, 0x13198A2E03707344)


@numba.njit(cache=True, nogil=True)
def _rotated(word: Word, bits: int) -> Word:
    return np.uint64((word << np.uint64(bits)) | (word >> np.uint64(64 - bits)))


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def siphash(words: Uint64, key: tuple[int, int]) -> Word:
    """The 64-bit hash of some words, shape (n,), taken as 8 n little-endian bytes."""
    first, second = np.uint64(key[0]), np.uint64(key[1])
    a = np.uint64(first ^ np.uint64(0x736F6D6570736575))
    b = np.uint64(second ^ np.uint64(0x646F72616E646F6D))
    c = np.uint64(first ^ np.uint64(0x6C7967656E657261))
    d = np.uint64(second ^ np.uint64(0x7465646279746573))
    for i in range(len(words) + 1):
        word = words[i] if i < len(words) else np.uint64(8 * len(words) % 256) << np.uint64(56)
        d = np.uint64(d ^ word)
        a, b, c, d = _rounds(a, b, c, d, 2)
        a = np.uint64(a ^ word)
    a, b, c, d = _rounds(a, b, np.uint64(c ^ np.uint64(0xFF)), d, 4)
    return np.uint64(a ^ b ^ c ^ d)


def text_word(text: str) -> int:
    """64 bits of a text's BLAKE2b hash, as a word to be hashed with others."""
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")
