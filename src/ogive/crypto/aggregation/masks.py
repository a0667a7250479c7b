"""Masks that hide one party's vector and cancel, or can be removed, in the sum of all.

A party's vector gets a mask of its own and one for every neighbour: added for those after it, taken away for those
before it. Two neighbours have the same mask, which no one else can compute, so it cancels where both are in the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.core.arrays import UInt64
from ogive.crypto.aes import SEED_BYTES, words
from ogive.crypto.domains import HashDomain, digest, number

# --- Threshold sharing of secrets (Shamir 1979)
#
# Secrets and shares are whole numbers modulo the prime q = 2^256 - 189; the share of holder number j >= 1 is the value
# at j of a random polynomial of degree threshold - 1 whose value at 0 is the secret.

PRIME = 2**256 - 189
SHARE_BYTES = 32


def uniform(random: Callable[[int], bytes], prime: int = PRIME) -> int:
    """A uniform number in [0, prime), by rejection."""
    size = (prime.bit_length() + 7) // 8
    limit = (1 << 8 * size) // prime * prime
    while True:
        value = int.from_bytes(random(size), "little")
        if value < limit:
            return value % prime


def share(
    secret: int, threshold: int, holders: Sequence[int], *, random: Callable[[int], bytes], prime: int = PRIME
) -> list[int]:
    """Shares of a secret.

    Args:
        secret: In [0, prime).
        threshold: How many shares give it, at least 1.
        holders: Their distinct numbers, from 1 and below the prime.
        random: Gives so many random bytes.
        prime: The modulus; another one in tests only.

    Privacy:
        Any threshold - 1 shares are uniform, whatever the secret.
    """
    coefficients = [uniform(random, prime) for _ in range(threshold - 1)]
    shares = []
    for holder in holders:
        value = 0
        for coefficient in coefficients:
            value = (value + coefficient) * holder % prime
        shares.append((value + secret) % prime)
    return shares


@lru_cache(maxsize=256)
def _weights(holders: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """What each share is multiplied with so that they add up to the secret."""
    weights = []
    for holder in holders:
        above, below = 1, 1
        for other in holders:
            if other != holder:
                above = above * other % prime
                below = below * (other - holder) % prime
        weights.append(above * pow(below, -1, prime) % prime)
    return tuple(weights)


def reconstruct(shares: Mapping[int, int], *, prime: int = PRIME) -> int:
    """The secret, from as many shares as its threshold: holder's number -> share.

    More or other shares than were dealt give some number, which says nothing of itself whether it is the secret.
    """
    weights = _weights(tuple(shares), prime)
    return sum(weight * value for weight, value in zip(weights, shares.values(), strict=True)) % prime


# --- Masks of one party


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
    """Add and take away the streams of seeds, in place, modulo 2^64."""
    for seed in plus:
        np.add(vector, words(seed, vector.size), out=vector)
    for seed in minus:
        np.subtract(vector, words(seed, vector.size), out=vector)


def mask_vector(vector: UInt64, *, party: int, own: bytes, pairs: dict[int, bytes]) -> UInt64:
    """The masked vector, shape (length,), which a party sends instead of its vector."""
    masked = vector.copy()
    after = [seed for other, seed in pairs.items() if other > party]
    before = [seed for other, seed in pairs.items() if other < party]
    add_masks(masked, plus=[own, *after], minus=before)
    return masked
