"""Transfers without any secrecy, for tests and for simulations on one machine: both sides know all keys.

Both derive the keys from a secret that they share, so that whoever receives could have both of each pair. Never for two
parties of which one has something to hide from the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.streams import SEED_BYTES
from ogive.crypto.transfer.base import KeyPair
from ogive.crypto.wire import Reader


class InsecureDealer:
    """Stands in for transfers where nothing needs to be hidden; sessions may be used again.

    Args:
        secret: The same for both sides.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sender(self, session: bytes, count: int) -> InsecureSender:
        return InsecureSender(self._secret, session, count)

    def receiver(self, session: bytes, choices: Sequence[int]) -> InsecureReceiver:
        return InsecureReceiver(self._secret, session, choices)


class InsecureSender:
    """The sender's side; see `InsecureDealer.sender`."""

    message = b""

    def __init__(self, secret: bytes, session: bytes, count: int) -> None:
        self._pairs = [(_key(secret, session, index, 0), _key(secret, session, index, 1)) for index in range(count)]

    def keys(self, message: bytes) -> list[KeyPair]:
        Reader(message, "message of the dealer").finish()
        return self._pairs


class InsecureReceiver:
    """The receiver's side; see `InsecureDealer.receiver`."""

    message = b""

    def __init__(self, secret: bytes, session: bytes, choices: Sequence[int]) -> None:
        self._chosen = [_key(secret, session, index, int(choice)) for index, choice in enumerate(choices)]

    def keys(self, message: bytes) -> list[bytes]:
        Reader(message, "message of the dealer").finish()
        return self._chosen


def _key(secret: bytes, session: bytes, index: int, choice: int) -> bytes:
    return digest(HashDomain.TRANSFER_DEALER, secret, session, number(index), number(choice), length=SEED_BYTES)
