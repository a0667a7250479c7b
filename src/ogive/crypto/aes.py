"""AES-128 of secret, uniform 16-byte seeds: their expansion under fixed public keys, and long streams of words.

Block b of the expansion of a seed s is the Matyas-Meyer-Oseas hash AES_b(s) xor s, one key a block: a pseudorandom
generator where AES under a fixed key is modelled as a random permutation. AES_b(s) alone could be inverted, so
`encrypt` is only ever used with the xor, which compiled loops do in the pass that reads its results.

Keys are derived for every study, level and block, so that work spent on one does not help against another: what is
given as the study ought to be a digest of the session too, which has fresh nonces in it. With C seeds hashed under one
key the security level is 128 - log2(C) bits. Nothing here hides anything from other programs on the same machine.

Source:
    Guo, Katz, Wang and Yu 2020; `crypto.md`, section 2.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.core.arrays import UInt64
from ogive.crypto.domains import HashDomain, digest, number

KEY_BYTES = 16
BLOCK_BYTES = 16
SEED_BYTES = 16


class Block(IntEnum):
    """What a block of an expanded seed is for."""

    LEFT = 0
    RIGHT = 1
    VALUES = 2
    LEAF = 3


def block_key(study: bytes, level: int, block: Block) -> bytes:
    """The public key of one block of one level, 16 bytes."""
    return digest(HashDomain.COMPARISON_BLOCK, study, number(level), number(block), length=KEY_BYTES)


class Blocks:
    """An array of blocks that AES can read and write."""

    def __init__(self, count: int) -> None:
        padded = np.empty(2 * count + 2, np.uint64)
        self.words = padded[: 2 * count]
        """Two words a block."""
        self.room = padded.data.cast("B")
        """All bytes, with those of a block more."""
        self.bytes = self.room[: count * BLOCK_BYTES]
        """The bytes of the blocks."""


class Permutation:
    """AES-128 under one fixed key of 16 bytes. Not for two threads at once."""

    def __init__(self, key: bytes) -> None:
        # every block of the array on its own, which is what a permutation of seeds is
        self._encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def encrypt(self, blocks: Blocks, out: Blocks) -> None:
        """Encrypt every block on its own into as many others."""
        self._encryptor.update_into(blocks.bytes, out.room)

    def encrypt_part(self, blocks: Blocks, out: Blocks, *, first: int, count: int) -> None:
        """Encrypt `count` blocks from number `first` on, each on its own, into those at the same places of `out`."""
        start, stop = first * BLOCK_BYTES, (first + count) * BLOCK_BYTES
        # a block more is asked for and never written
        self._encryptor.update_into(blocks.bytes[start:stop], out.room[start : stop + BLOCK_BYTES])


# --- Streams of words: AES-128 in counter mode, one stream a seed
#
# A seed must be secret, uniform and used for one purpose; of its stream at most 2^36 bytes may be used.
#
# Source:
#     `crypto.md`, section 2.

CHUNK_BYTES = 1 << 16
"""How much of a stream is made at a time; a multiple of 8, and small enough to stay in the cache."""
_ZEROS = bytes(CHUNK_BYTES)


class WordStream:
    """The words of one seed's stream, from its beginning; how many are asked for at a time does not matter."""

    def __init__(self, seed: bytes) -> None:
        assert len(seed) == SEED_BYTES
        self._encryptor = Cipher(algorithms.AES(seed), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> UInt64:
        """The next `count` words, little-endian, uniform in [0, 2^64); shape (count,)."""
        out = np.empty(count, "<u8")
        self.fill(out)
        return out

    def fill(self, out: UInt64) -> None:
        """Write the next words over all of an array, which must lie in memory without gaps."""
        assert out.flags.c_contiguous
        # AES encrypts zeros into the array itself: block by block, so that zeros need not be as long as the stream
        memory = out.reshape(-1).view(np.uint8).data
        for start in range(0, len(memory), CHUNK_BYTES):
            part = memory[start : start + CHUNK_BYTES]
            self._encryptor.update_into(_ZEROS[: len(part)], part)


def words(seed: bytes, count: int) -> UInt64:
    """The first `count` words of a seed's stream, shape (count,)."""
    return WordStream(seed).words(count)
