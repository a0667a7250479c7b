"""Masks that hide one party's vector and cancel, or can be removed, in the sum of all.

A party's vector gets a mask of its own and one for every neighbour: added for those after it, taken away for those
before it. Two neighbours have the same mask, which no one else can compute, so it cancels where both are in the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.arrays import UInt64
from ogive.crypto.aggregation.sharing import PRIME, uniform
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.streams import SEED_BYTES, words


def fresh_key(random: Callable[[int], bytes]) -> X25519PrivateKey:
    """A private key that can be shared as a number below the prime."""
    return X25519PrivateKey.from_private_bytes(as_secret(uniform(random)))


def pair_seed(session: bytes, one: int, other: int, agreed: bytes) -> bytes:
    """Seed of the mask of two parties; the same for both."""
    low, high = sorted((one, other))
    return digest(HashDomain.AGGREGATION_PAIR, session, number(low), number(high), agreed, length=SEED_BYTES)


def self_seed(session: bytes, party: int, secret: bytes) -> bytes:
    """Seed of a party's own mask, from the 32 bytes that it shares."""
    return digest(HashDomain.AGGREGATION_SELF, session, number(party), secret, length=SEED_BYTES)


def commitment(party: int, secret: bytes) -> bytes:
    """Commitment to the secret of a party's own mask, made before the secret is shared; 32 bytes."""
    return digest(HashDomain.AGGREGATION_COMMITMENT, number(party), secret)


def as_secret(value: int) -> bytes:
    """A shared number as the 32 bytes it was."""
    assert 0 <= value < PRIME
    return value.to_bytes(32, "little")


def add_masks(vector: UInt64, *, plus: Iterable[bytes], minus: Iterable[bytes]) -> None:
    """Add and take away the streams of seeds, in place, modulo 2^64.

    Args:
        vector: Shape (length,).
        plus: Seeds whose streams are added.
        minus: Seeds whose streams are taken away.
    """
    for seed in plus:
        np.add(vector, words(seed, vector.size), out=vector)
    for seed in minus:
        np.subtract(vector, words(seed, vector.size), out=vector)


def mask_vector(vector: UInt64, *, party: int, own: bytes, pairs: dict[int, bytes]) -> UInt64:
    """What a party sends instead of its vector.

    Args:
        vector: Shape (length,).
        party: Its number.
        own: Seed of its own mask.
        pairs: Seeds of the masks with its neighbours, by their numbers.

    Returns:
        The masked vector, shape (length,).
    """
    masked = vector.copy()
    after = [seed for other, seed in pairs.items() if other > party]
    before = [seed for other, seed in pairs.items() if other < party]
    add_masks(masked, plus=[own, *after], minus=before)
    return masked
