"""Oblivious transfer: one party gets what it chose of two things the other has, which learns nothing of the choice."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache

import numpy as np
from nacl import bindings
from nacl.exceptions import CryptoError

from ogive.core.arrays import Bool, UInt64
from ogive.crypto import domains, garbling, wire
from ogive.errors import ParameterError, PeerError, UnsupportedError

# --- The subgroup of prime order of the curve edwards25519
#
# A point is its encoding of 32 bytes, a scalar 32 bytes too. The curve has points outside the subgroup; libsodium's
# check of a point refuses those, the identity and encodings that are not canonical. Older versions of it accept the sum
# of a point of the subgroup and the point of order 2; so before the first point is believed, the installed one is tried
# on fixed points, once in a process, which costs less than a check of our own for every point. Scalars are never
# clamped: clamped ones are not uniform and would not multiply as scalars do.
#
# Source:
#     `crypto.md`, section 7.

POINT_BYTES = 32
_IDENTITY = bytes([1]) + bytes(31)
_ZERO = bytes(32)
# the base point plus a point of order 2, of order 4 and of order 8
_OUTSIDE = (
    "9599999999999999999999999999999999999999999999999999999999999999",
    "9bad33f580df7ecc49df5342bac8145d5bedc40f573d1b067f3c4ce449689a15",
    "98519eadf35b995233b51b5cd23e9cc5a28b639b5a4af0ec903cb960d81b7819",
)


def random_scalar(random: domains.Random = secrets.token_bytes) -> bytes:
    """A uniform scalar, not zero."""
    while True:
        # 64 bytes make the remainder uniform but for 2^-250
        scalar = bindings.crypto_core_ed25519_scalar_reduce(random(64))
        if scalar != _ZERO:
            return scalar


def checked(point: bytes) -> bytes:
    """A point as somebody else sent it, once it is known to be one."""
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
    """A multiple of a checked point."""
    try:
        return bindings.crypto_scalarmult_ed25519_noclamp(scalar, point)
    except CryptoError:
        raise PeerError("a multiple of a point is the identity") from None


def plus(first: bytes, second: bytes) -> bytes:
    """The sum of two checked points."""
    return _not_identity(bindings.crypto_core_ed25519_add(first, second))


def minus(first: bytes, second: bytes) -> bytes:
    """The difference of two checked points."""
    return _not_identity(bindings.crypto_core_ed25519_sub(first, second))


def hashed(label: domains.HashDomain, *fields: bytes) -> bytes:
    """A point that depends on fields as a random one would, so that nobody knows which multiple of another it is."""
    uniform = domains.digest(label, *fields, length=64)
    # one image reaches about half of the points, the sum of two all of them
    first, second = (bindings.crypto_core_ed25519_from_uniform(part) for part in (uniform[:32], uniform[32:]))
    return plus(first, second)


def _not_identity(point: bytes) -> bytes:
    if point == _IDENTITY:
        raise PeerError("a sum of two points is the identity")
    return point


# --- Oblivious transfer of random keys
#
# The sender gets two keys, the receiver the one of its choice and not the other. Both write one message, neither
# waiting for the other's; c is the receiver's choice and H a hash to points:
#
#     receiver    t random, R[1-c] a random point, R[c] = tG - H(c, R[1-c])           sends R[0], R[1]    64 bytes
#     sender      y random, B = yG                                                    sends B             32 bytes
#                 key b: of y(R[b] + H(b, R[1-b]))
#     receiver    key c: of tB
#
# The points sent do not depend on the choice, and the receiver knows at most one of the two multiples. It is secure
# against parties that do not follow the protocol, where the hash is modelled as a random oracle.
#
# Source:
#     Masny and Rindal 2019; `crypto.md`, section 7.

KeyPair = tuple[bytes, bytes]


class BaseTransfers:
    """One participant's part in the transfers of its sessions; each session is for one of both roles, once."""

    def __init__(self, random: domains.Random = secrets.token_bytes) -> None:
        self._random = random
        self._used: set[bytes] = set()

    def sender(self, session: bytes, count: int) -> BaseSender:
        self._begin(session)
        return BaseSender(session, count, self._random)

    def receiver(self, session: bytes, choices: Sequence[int]) -> BaseReceiver:
        """Begin a transfer for each choice, 0 or 1, as their receiver."""
        if any(choice not in (0, 1) for choice in choices):
            raise ParameterError("`choices` must be 0 or 1")
        self._begin(session)
        return BaseReceiver(session, choices, self._random)

    def _begin(self, session: bytes) -> None:
        if session in self._used:
            raise PeerError("the session was used before, and a transfer needs a new one")
        self._used.add(session)


class BaseSender:
    """Who gets two keys for each transfer."""

    def __init__(self, session: bytes, count: int, random: domains.Random) -> None:
        self._session = session
        self._scalars = [random_scalar(random) for _ in range(count)]
        self._points = [base_times(scalar) for scalar in self._scalars]
        self.message = b"".join(self._points)
        """For the receiver."""

    def keys(self, message: bytes) -> list[KeyPair]:
        """The keys, two of 16 bytes for each transfer, from the receiver's message."""
        points = _read_points(message, 2 * len(self._scalars))
        pairs = [points[place : place + 2] for place in range(0, len(points), 2)]
        return [(self._key(index, 0, pair), self._key(index, 1, pair)) for index, pair in enumerate(pairs)]

    def _key(self, index: int, choice: int, pair: list[bytes]) -> bytes:
        mask = _mask(self._session, index, choice, pair[1 - choice])
        common = times(self._scalars[index], plus(pair[choice], mask))
        return _key(self._session, index, choice, self._points[index], pair, common)


class BaseReceiver:
    """Who gets one key for each transfer."""

    def __init__(self, session: bytes, choices: Sequence[int], random: domains.Random) -> None:
        self._session = session
        self._choices = [int(choice) for choice in choices]
        self._scalars: list[bytes] = []
        self._pairs: list[list[bytes]] = []
        for index, choice in enumerate(self._choices):
            scalar, other = random_scalar(random), base_times(random_scalar(random))
            own = minus(base_times(scalar), _mask(session, index, choice, other))
            self._scalars.append(scalar)
            self._pairs.append([other, own] if choice else [own, other])
        self.message = b"".join(point for pair in self._pairs for point in pair)
        """For the sender."""

    def keys(self, message: bytes) -> list[bytes]:
        """The chosen keys, one of 16 bytes for each transfer, from the sender's message."""
        points = _read_points(message, len(self._choices))
        sides = zip(self._choices, points, self._pairs, self._scalars, strict=True)
        return [
            _key(self._session, index, choice, point, pair, times(scalar, point))
            for index, (choice, point, pair, scalar) in enumerate(sides)
        ]


def _read_points(message: bytes, count: int) -> list[bytes]:
    reader = wire.Reader(message, "message of the transfer")
    points = [checked(reader.take(POINT_BYTES)) for _ in range(count)]
    reader.finish()
    return points


def _mask(session: bytes, index: int, choice: int, other: bytes) -> bytes:
    return hashed(domains.HashDomain.TRANSFER_POINT, session, domains.number(index), domains.number(choice), other)


def _key(session: bytes, index: int, choice: int, point: bytes, pair: list[bytes], common: bytes) -> bytes:
    fields = (session, domains.number(index), domains.number(choice), point, *pair, common)
    return domains.digest(domains.HashDomain.TRANSFER_KEY, *fields, length=domains.SEED_BYTES)


# --- Labels of the evaluator's inputs by oblivious transfer
#
# The garbler gets zero labels, and the evaluator the labels of its bits. Many inputs take 128 base transfers with roles
# reversed, in which the garbler chooses the bits of its secret, and one message of the evaluator, 16 bytes an input:
#
#     evaluator   T[i] = stream of key 0, U[i] = T[i] ^ stream of key 1 ^ its bits        sends U
#     garbler     Q[i] = stream of the key of bit i of delta, ^ U[i] if that is 1
#
# Row i belongs to bit i of labels: column j of Q is the zero label of input j, and that of T the label of the
# evaluator's bit. Fewer than 128 inputs take a base transfer each, in which the evaluator chooses its bits, and one
# message of the garbler, 16 bytes an input, that makes the two keys differ by delta.
#
# An evaluator that uses other bits in other rows learns bits of delta: it has to follow the protocol. Keys are for one
# extension, and delta for one pair and session.
#
# Source:
#     Ishai, Kilian, Nissim and Petrank 2003; Asharov, Lindell, Schneider and Zohner 2013; `crypto.md`, section 7.

LABEL_BITS = 8 * garbling.LABEL_BYTES
"""Base transfers of an extension; with fewer inputs than this, direct transfers take fewer."""


def bits_of(delta: UInt64) -> list[int]:
    """The 128 bits of a secret, shape (2,), which the garbler chooses in the base transfers."""
    return np.unpackbits(delta.astype("<u8").view(np.uint8), bitorder="little").tolist()


def extend_choices(keys: Sequence[KeyPair], choices: Bool) -> tuple[bytes, UInt64]:
    """The evaluator's side of an extension: its message, and the labels of its bits, shape (inputs, 2).

    The keys are those of 128 base transfers that it sent.
    """
    width = _words_of(choices.size)
    padded = np.zeros(64 * width, np.bool_)
    padded[: choices.size] = choices
    row = np.packbits(padded, bitorder="little").view("<u8")
    chosen, other = (np.stack([domains.words(pair[side], width) for pair in keys]) for side in (0, 1))
    return (chosen ^ other ^ row).astype("<u8").tobytes(), _columns(chosen, choices.size)


def extend_zeros(keys: Sequence[bytes], delta: UInt64, message: bytes, *, inputs: int) -> UInt64:
    """The garbler's side of an extension: zero labels of the evaluator's inputs, shape (inputs, 2).

    The keys are those of 128 base transfers in which it chose the bits of its secret.
    """
    width = _words_of(inputs)
    reader = wire.Reader(message, "message of the extension")
    sent = reader.array(LABEL_BITS * width, "<u8").reshape(LABEL_BITS, width)
    reader.finish()
    own = np.stack([domains.words(key, width) for key in keys])
    chosen = np.array(bits_of(delta), np.bool_)[:, None]
    return _columns(own ^ np.where(chosen, sent, np.uint64(0)), inputs)


def correct_zeros(keys: Sequence[KeyPair], delta: UInt64) -> tuple[bytes, UInt64]:
    """The garbler's side of direct transfers: its message, and zero labels of the evaluator's inputs, (inputs, 2).

    The keys are those of base transfers that it sent, one for each input.
    """
    zeros, ones = (_labels([pair[side] for pair in keys]) for side in (0, 1))
    return (zeros ^ ones ^ delta).astype("<u8").tobytes(), zeros


def correct_choices(keys: Sequence[bytes], choices: Bool, message: bytes) -> UInt64:
    """The evaluator's side of direct transfers: labels of its bits, which it chose in them, shape (inputs, 2)."""
    reader = wire.Reader(message, "message of the transfer")
    corrections = reader.array(2 * choices.size, "<u8").reshape(-1, 2)
    reader.finish()
    return _labels(keys) ^ np.where(choices[:, None], corrections, np.uint64(0))


def _words_of(inputs: int) -> int:
    """Words of a row, whose bits are a multiple of 128."""
    return -(-inputs // LABEL_BITS) * 2


def _labels(keys: Sequence[bytes]) -> UInt64:
    return np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)


def _columns(rows: UInt64, count: int) -> UInt64:
    """The first columns of 128 rows of bits as labels."""
    bits = np.unpackbits(rows.astype("<u8").view(np.uint8), axis=1, count=count, bitorder="little")
    return np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little").view("<u8")
