"""The subgroup of prime order of the curve edwards25519, with everything checked that another party sends.

A point is its encoding of 32 bytes, a scalar 32 bytes too. The curve has points outside the subgroup; libsodium's check
of a point refuses those, the identity and encodings that are not canonical. Older versions of it accept the sum of a
point of the subgroup and the point of order 2; so before the first point is believed, the installed one is tried on
fixed points, once in a process, which costs less than a check of our own for every point. Scalars are never clamped:
clamped ones are not uniform and would not multiply as scalars do.

Source:
    `crypto.md`, section 7.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cache

from nacl import bindings
from nacl.exceptions import CryptoError

from ogive.crypto.domains import HashDomain, digest
from ogive.errors import PeerError, UnsupportedError

POINT_BYTES = 32
_IDENTITY = bytes([1]) + bytes(31)
_ZERO = bytes(32)
# the base point plus a point of order 2, of order 4 and of order 8
_OUTSIDE = (
    "9599999999999999999999999999999999999999999999999999999999999999",
    "9bad33f580df7ecc49df5342bac8145d5bedc40f573d1b067f3c4ce449689a15",
    "98519eadf35b995233b51b5cd23e9cc5a28b639b5a4af0ec903cb960d81b7819",
)

Random = Callable[[int], bytes]
"""Gives so many random bytes."""


def random_scalar(random: Random = secrets.token_bytes) -> bytes:
    """A uniform scalar, not zero."""
    while True:
        # 64 bytes make the remainder uniform but for 2^-250
        scalar = bindings.crypto_core_ed25519_scalar_reduce(random(64))
        if scalar != _ZERO:
            return scalar


def checked(point: bytes) -> bytes:
    """A point as somebody else sent it, once it is known to be one.

    Raises:
        PeerError: it is not in the subgroup, or the identity, or not the one encoding of its point.
        UnsupportedError: the installed libsodium does not find that out.
    """
    _try_libsodium()
    if len(point) != POINT_BYTES or not bindings.crypto_core_ed25519_is_valid_point(point):
        raise PeerError("a point is not one of the subgroup of prime order")
    return point


@cache
def _try_libsodium() -> None:
    """Refuse a libsodium that takes points of the curve for points of the subgroup."""
    if any(bindings.crypto_core_ed25519_is_valid_point(bytes.fromhex(point)) for point in _OUTSIDE):
        raise UnsupportedError(
            "the installed libsodium accepts points outside of the subgroup; install PyNaCl 1.6.2 or later"
        )


def base_times(scalar: bytes) -> bytes:
    """A multiple of the base point, by a scalar that is not zero."""
    return bindings.crypto_scalarmult_ed25519_base_noclamp(scalar)


def times(scalar: bytes, point: bytes) -> bytes:
    """A multiple of a checked point.

    Raises:
        PeerError: it is the identity.
    """
    try:
        return bindings.crypto_scalarmult_ed25519_noclamp(scalar, point)
    except CryptoError:
        raise PeerError("a multiple of a point is the identity") from None


def plus(first: bytes, second: bytes) -> bytes:
    """The sum of two checked points.

    Raises:
        PeerError: it is the identity.
    """
    return _not_identity(bindings.crypto_core_ed25519_add(first, second))


def minus(first: bytes, second: bytes) -> bytes:
    """The difference of two checked points.

    Raises:
        PeerError: it is the identity.
    """
    return _not_identity(bindings.crypto_core_ed25519_sub(first, second))


def hashed(label: HashDomain, *fields: bytes) -> bytes:
    """A point that depends on fields as a random one would, so that nobody knows which multiple of another it is."""
    uniform = digest(label, *fields, length=64)
    # one image reaches about half of the points, the sum of two all of them
    first, second = (bindings.crypto_core_ed25519_from_uniform(part) for part in (uniform[:32], uniform[32:]))
    return plus(first, second)


def _not_identity(point: bytes) -> bytes:
    if point == _IDENTITY:
        raise PeerError("a sum of two points is the identity")
    return point
