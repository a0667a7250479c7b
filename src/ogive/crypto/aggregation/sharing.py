"""Threshold sharing of secrets (Shamir 1979): so many shares give the secret, one fewer give nothing.

Secrets and shares are whole numbers modulo the prime q = 2^256 - 189; the share of holder number j >= 1 is the value at
j of a random polynomial of degree threshold - 1 whose value at 0 is the secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

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

    Returns:
        One share a holder, in their order.

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
