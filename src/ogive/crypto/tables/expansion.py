"""Expand secret seeds of many clients at once into elements of the field.

Block b of a seed s is AES_k(s) xor s, where the key k is public and belongs to the study and to b; its two words,
modulo p, are two elements, each within 2^-61 of uniform. A key sees each client's seed once, so an attacker who makes T
calls of AES has an advantage of about n T / 2^128 against n clients (AES under fixed keys as random permutations).

Source:
    `crypto.md`, section 2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit

from ogive.crypto.aes import KEY_BYTES, Permutation
from ogive.crypto.field import UInt64, reduce
from ogive.crypto.labels import Label, digest, number


def expand(seeds: UInt64, *, study: bytes, first: int, count: int) -> UInt64:
    """Some blocks of every seed, as elements.

    Args:
        seeds: Uniform, shape (n, 2).
        study: Digest of the study, 32 bytes.
        first: The first block.
        count: How many blocks.

    Returns:
        Elements, shape (2 count, n): rows 2 j and 2 j + 1 are block first + j.
    """
    clients = len(seeds)
    elements = np.empty((2 * count, clients), dtype=np.uint64)
    if not clients:
        return elements
    encrypted = np.empty((clients + 1, 2), dtype=np.uint64)
    plain, room = np.ascontiguousarray(seeds).data.cast("B"), encrypted.data.cast("B")
    for block in range(count):
        Permutation(_key(study, first + block)).encrypt(plain, room)
        _absorb(encrypted, seeds, elements[2 * block : 2 * block + 2])
    return elements


@lru_cache(maxsize=1 << 16)
def _key(study: bytes, block: int) -> bytes:
    """The public key of one block of a study."""
    return digest(Label.SHARE_BLOCK, study, number(block), length=KEY_BYTES)


@njit(cache=True, nogil=True)
def _absorb(encrypted: UInt64, seeds: UInt64, elements: UInt64) -> None:
    """Add the seeds to what they were encrypted to, and reduce."""
    for client in range(len(seeds)):
        for half in range(2):
            elements[half, client] = reduce(encrypted[client, half] ^ seeds[client, half])
