"""Expansion of secret, uniform 16-byte seeds by AES-128 under fixed public keys.

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

from ogive.crypto.domains import HashDomain, digest, number

KEY_BYTES = 16
BLOCK_BYTES = 16


class Block(IntEnum):
    """What a block of an expanded seed is for."""

    LEFT = 0
    RIGHT = 1
    VALUES = 2
    LEAF = 3


def block_key(study: bytes, level: int, block: Block) -> bytes:
    """The public key of one block of one level.

    Args:
        study: Digest of the study.
        level: Of the tree, from 0 at the root.
        block: Which block of the expansion.

    Returns:
        16 bytes.
    """
    return digest(HashDomain.COMPARISON_BLOCK, study, number(level), number(block), length=KEY_BYTES)


class Blocks:
    """An array of blocks that AES can read and write.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        padded = np.empty(2 * count + 2, np.uint64)
        self.words = padded[: 2 * count]
        """Two words a block."""
        self.room = padded.data.cast("B")
        """All bytes, with those of a block more."""
        self.bytes = self.room[: count * BLOCK_BYTES]
        """The bytes of the blocks."""


class Permutation:
    """AES-128 under one fixed key. Not for two threads at once.

    Args:
        key: 16 bytes.
    """

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
