"""Expand secret seeds of many clients at once into elements of the field.

Block b of a seed s is AES_k(s) xor s, where the key k is public and belongs to the study and to b; its two words,
modulo p, are two elements, each within 2^-61 of uniform. Whoever gives every kind of upload and every session a digest
of its own as the study lets a key see one seed of each client and server, or of each vector of a client that shares
several, so that an attacker who makes T calls of AES has an advantage of about n T / 2^128 against n seeds that it does
not hold (AES under fixed keys as random permutations).

Source:
    `crypto.md`, section 2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ogive.arrays import UInt64
from ogive.compiling import njit
from ogive.crypto.aes import KEY_BYTES, Blocks, Permutation
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.field import reduce


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
    plain, encrypted = Blocks(clients), Blocks(clients)
    plain.words[:] = seeds.reshape(-1)
    for block in range(count):
        Permutation(_key(study, first + block)).encrypt(plain, encrypted)
        _absorb(encrypted.words, plain.words, elements[2 * block], elements[2 * block + 1])
    return elements


@lru_cache(maxsize=1 << 16)
def _key(study: bytes, block: int) -> bytes:
    return digest(HashDomain.SHARE_BLOCK, study, number(block), length=KEY_BYTES)


@njit(nogil=True, steps=lambda encrypted, *rest: 5 * encrypted.size)
def _absorb(encrypted: UInt64, seeds: UInt64, even: UInt64, odd: UInt64) -> None:
    """Add flat seeds to what they were encrypted to, reduce, and part the two words."""
    for client in range(even.size):
        even[client] = reduce(encrypted[2 * client] ^ seeds[2 * client])
        odd[client] = reduce(encrypted[2 * client + 1] ^ seeds[2 * client + 1])
