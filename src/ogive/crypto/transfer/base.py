"""Oblivious transfer of random keys: the sender gets two keys, the receiver the one of its choice and not the other.

Both write one message, neither waiting for the other's; c is the receiver's choice and H a hash to points:

    receiver    t random, R[1-c] a random point, R[c] = tG - H(c, R[1-c])           sends R[0], R[1]    64 bytes
    sender      y random, B = yG                                                    sends B             32 bytes
                key b: of y(R[b] + H(b, R[1-b]))
    receiver    key c: of tB

The points sent do not depend on the choice, and the receiver knows at most one of the two multiples. It is secure
against parties that do not follow the protocol, where the hash is modelled as a random oracle.

Source:
    Masny and Rindal 2019; `crypto.md`, section 7.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Protocol

from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.streams import SEED_BYTES
from ogive.crypto.transfer.group import (
    POINT_BYTES,
    Random,
    base_times,
    checked,
    hashed,
    minus,
    plus,
    random_scalar,
    times,
)
from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError

KeyPair = tuple[bytes, bytes]


class Sender(Protocol):
    """Who gets two keys for each transfer."""

    message: bytes
    """For the receiver."""

    def keys(self, message: bytes) -> list[KeyPair]:
        """The keys, two of 16 bytes for each transfer.

        Args:
            message: The receiver's.

        Raises:
            PeerError: it is malformed.
        """


class Receiver(Protocol):
    """Who gets one key for each transfer."""

    message: bytes
    """For the sender."""

    def keys(self, message: bytes) -> list[bytes]:
        """The chosen keys, one of 16 bytes for each transfer.

        Args:
            message: The sender's.

        Raises:
            PeerError: it is malformed.
        """


class Transfers(Protocol):
    """One participant's part in the transfers of its sessions; each session is for one of both roles, once."""

    def sender(self, session: bytes, count: int) -> Sender:
        """Begin `count` transfers as their sender.

        Raises:
            PeerError: the session was used before.
        """

    def receiver(self, session: bytes, choices: Sequence[int]) -> Receiver:
        """Begin a transfer for each choice, 0 or 1, as their receiver.

        Raises:
            PeerError: the session was used before.
        """


class BaseTransfers:
    """Transfers between two participants that trust nobody else.

    Args:
        random: Gives so many random bytes.
    """

    def __init__(self, random: Random = secrets.token_bytes) -> None:
        self._random = random
        self._used: set[bytes] = set()

    def sender(self, session: bytes, count: int) -> BaseSender:
        self._begin(session)
        return BaseSender(session, count, self._random)

    def receiver(self, session: bytes, choices: Sequence[int]) -> BaseReceiver:
        """Begin a transfer for each choice, 0 or 1, as their receiver.

        Raises:
            ParameterError: a choice is neither 0 nor 1.
            PeerError: the session was used before.
        """
        if any(choice not in (0, 1) for choice in choices):
            raise ParameterError("`choices` must be 0 or 1")
        self._begin(session)
        return BaseReceiver(session, choices, self._random)

    def _begin(self, session: bytes) -> None:
        if session in self._used:
            raise PeerError("the session was used before, and a transfer needs a new one")
        self._used.add(session)


class BaseSender:
    """The sender's side of transfers; see `BaseTransfers.sender`."""

    def __init__(self, session: bytes, count: int, random: Random) -> None:
        self._session = session
        self._scalars = [random_scalar(random) for _ in range(count)]
        self._points = [base_times(scalar) for scalar in self._scalars]
        self.message = b"".join(self._points)

    def keys(self, message: bytes) -> list[KeyPair]:
        received = _read_points(message, 2 * len(self._scalars))
        return [
            (self._key(index, 0, received[2 * index : 2 * index + 2]),
             self._key(index, 1, received[2 * index : 2 * index + 2]))
            for index in range(len(self._scalars))
        ]  # fmt: skip

    def _key(self, index: int, choice: int, pair: list[bytes]) -> bytes:
        mask = _mask(self._session, index, choice, pair[1 - choice])
        common = times(self._scalars[index], plus(pair[choice], mask))
        return _key(self._session, index, choice, self._points[index], pair, common)


class BaseReceiver:
    """The receiver's side of transfers; see `BaseTransfers.receiver`."""

    def __init__(self, session: bytes, choices: Sequence[int], random: Random) -> None:
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

    def keys(self, message: bytes) -> list[bytes]:
        points = _read_points(message, len(self._choices))
        sides = zip(self._choices, points, self._pairs, self._scalars, strict=True)
        return [
            _key(self._session, index, choice, point, pair, times(scalar, point))
            for index, (choice, point, pair, scalar) in enumerate(sides)
        ]


def _read_points(message: bytes, count: int) -> list[bytes]:
    reader = Reader(message, "message of the transfer")
    points = [checked(reader.take(POINT_BYTES)) for _ in range(count)]
    reader.finish()
    return points


def _mask(session: bytes, index: int, choice: int, other: bytes) -> bytes:
    return hashed(HashDomain.TRANSFER_POINT, session, number(index), number(choice), other)


def _key(session: bytes, index: int, choice: int, point: bytes, pair: list[bytes], common: bytes) -> bytes:
    fields = (session, number(index), number(choice), point, *pair, common)
    return digest(HashDomain.TRANSFER_KEY, *fields, length=SEED_BYTES)
