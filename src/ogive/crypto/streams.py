"""Long streams of words from 16-byte seeds: AES-128 in counter mode, one stream a seed.

A seed must be secret, uniform and used for one purpose; of its stream at most 2^36 bytes may be used.

Source:
    `crypto.md`, section 2.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.arrays import UInt64

SEED_BYTES = 16
CHUNK_BYTES = 1 << 16
"""How much of a stream is made at a time; a multiple of 8, and small enough to stay in the cache."""
_ZEROS = bytes(CHUNK_BYTES)


class WordStream:
    """The words of one seed's stream, from its beginning; how many are asked for at a time does not matter.

    Args:
        seed: 16 bytes.
    """

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
