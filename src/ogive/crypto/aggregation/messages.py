"""Bodies of the messages of secure aggregation, as bytes; `docs/formats.md` lists them.

Lists of parties are a count (u32) and ascending numbers (u32 each). Everything is little-endian.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.crypto.aggregation.settings import AggregationSettings
from ogive.crypto.aggregation.sharing import PRIME, SHARE_BYTES
from ogive.crypto.channels import SIGNED_BYTES
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import SESSION_BYTES, Reader
from ogive.errors import PeerError

NONCE_BYTES = 16
KEY_BYTES = 32
DIGEST_BYTES = 32
SALT_BYTES = 32
ADVERTISED_BYTES = NONCE_BYTES + 2 * KEY_BYTES + 2 * DIGEST_BYTES
SEALED_BYTES = 12 + 2 * SHARE_BYTES + 16
"""One ciphertext: nonce, two shares, tag."""
CONFIRMED_BYTES = SIGNED_BYTES + DIGEST_BYTES
_NUMBER = 4
_ENTRY = np.dtype([("party", "<u4"), ("digest", "u1", DIGEST_BYTES)])


@dataclass(frozen=True)
class Advertised:
    """What a party makes known at first.

    Fields:
        nonce: 16 fresh bytes, which make the session new.
        channel: X25519 public key for messages to this party.
        mask: X25519 public key for masks.
        own: Commitment to the secret of its own mask.
        totals: Commitment to its declared totals.
    """

    nonce: bytes
    channel: bytes
    mask: bytes
    own: bytes
    totals: bytes

    def to_bytes(self) -> bytes:
        """144 bytes."""
        return self.nonce + self.channel + self.mask + self.own + self.totals

    @classmethod
    def from_bytes(cls, body: bytes) -> Advertised:
        """Read one.

        Raises:
            PeerError: it has another length.
        """
        reader = Reader(body, "party's keys")
        sizes = (NONCE_BYTES, KEY_BYTES, KEY_BYTES, DIGEST_BYTES, DIGEST_BYTES)
        read = cls(*map(reader.take, sizes))
        reader.finish()
        return read


@dataclass(frozen=True, eq=False)
class Roster:
    """Who takes part, and the signed keys of those whom a party needs to know.

    Fields:
        entries: For each member, ascending, its number and the digest of its signed keys; the same in every party's
            roster, and so held once.
        signed: The signed messages with the keys, of neighbours and of the party itself.
    """

    entries: NDArray[Any]
    signed: tuple[bytes, ...]

    @classmethod
    def of(cls, members: Sequence[int], digests: Sequence[bytes], signed: Sequence[bytes] = ()) -> Roster:
        """The roster of these members, whose signed keys have these digests."""
        entries = np.empty(len(members), _ENTRY)
        entries["party"] = members
        entries["digest"] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES)
        return cls(entries, tuple(signed))

    @property
    def members(self) -> tuple[int, ...]:
        """Numbers of the parties, ascending."""
        return tuple(self.entries["party"].tolist())

    def digest_of(self, member: int) -> bytes | None:
        """Digest of a member's signed keys; None of whom is not in the list."""
        place = int(np.searchsorted(self.entries["party"], member))
        found = self.entries[place : place + 1]
        return bytes(found["digest"][0]) if found.size and int(found["party"][0]) == member else None

    def to_bytes(self) -> bytes:
        """The body of the server's first message to a party."""
        return b"".join((_count(self.entries), self.entries.tobytes(), _count(self.signed), *self.signed))

    @classmethod
    def from_bytes(cls, body: bytes, settings: AggregationSettings) -> Roster:
        """Read one.

        Raises:
            PeerError: it is malformed.
        """
        reader = Reader(body, "list of parties")
        count = reader.number(_NUMBER)
        entries = np.frombuffer(reader.take(count * _ENTRY.itemsize), _ENTRY)
        _check_ascending(entries["party"], settings)
        signed = tuple(reader.take(SIGNED_BYTES + ADVERTISED_BYTES) for _ in range(_at_most(reader, settings)))
        reader.finish()
        return cls(entries, signed)

    def session(self, settings: AggregationSettings) -> bytes:
        """The session of these members with these keys and nonces, 16 bytes."""
        return digest(HashDomain.AGGREGATION_SESSION, settings.digest, self.entries.tobytes(), length=SESSION_BYTES)

    @staticmethod
    def most_bytes(settings: AggregationSettings) -> int:
        """Length that one may have."""
        return roster_bytes(len(settings.parties), len(settings.parties))


def roster_bytes(members: int, signed: int) -> int:
    """Length of a roster of so many members with so many signed keys."""
    return 2 * _NUMBER + members * _ENTRY.itemsize + signed * (SIGNED_BYTES + ADVERTISED_BYTES)


def opening_session(settings: AggregationSettings) -> bytes:
    """What stands for the session before there is one: in the messages of round 0."""
    return digest(HashDomain.AGGREGATION_OPENING, settings.digest, length=SESSION_BYTES)


def keys_digest(signed: bytes) -> bytes:
    """Digest of a party's signed keys."""
    return digest(HashDomain.AGGREGATION_KEYS, signed)


def totals_commitment(party: int, declaration: bytes) -> bytes:
    """Commitment to a declaration: salt and totals."""
    return digest(HashDomain.AGGREGATION_TOTALS, number(party), declaration)


def included_digest(session: bytes, members: Sequence[int]) -> bytes:
    """What parties confirm to each other: who is in the sum."""
    return digest(HashDomain.AGGREGATION_INCLUDED, session, write_list(members))


def write_list(members: Sequence[int]) -> bytes:
    """A list of parties."""
    return _count(members) + np.asarray(members, "<u4").tobytes()


def read_list(reader: Reader, settings: AggregationSettings) -> tuple[int, ...]:
    """A list of parties.

    Raises:
        PeerError: it is cut off, not ascending, or names somebody who is no party.
    """
    found = reader.array(reader.number(_NUMBER), "<u4")
    _check_ascending(found, settings)
    return tuple(found.tolist())


def list_bytes(members: int) -> int:
    """Length of a list of so many parties."""
    return _NUMBER * (1 + members)


def confirmations_bytes(confirmations: int) -> int:
    """Length of so many confirmations."""
    return _NUMBER + CONFIRMED_BYTES * confirmations


def write_confirmations(confirmations: Sequence[bytes]) -> bytes:
    """Signed confirmations of several parties."""
    return _count(confirmations) + b"".join(confirmations)


def read_confirmations(reader: Reader, settings: AggregationSettings) -> list[bytes]:
    """Signed confirmations, not yet checked.

    Raises:
        PeerError: they are cut off, or more than there are parties.
    """
    return [reader.take(CONFIRMED_BYTES) for _ in range(_at_most(reader, settings))]


def write_shares(shares: Sequence[int]) -> bytes:
    """Shares of secrets, 32 bytes each."""
    return b"".join(each.to_bytes(SHARE_BYTES, "little") for each in shares)


def read_shares(body: bytes, count: int) -> list[int]:
    """So many shares of secrets.

    Raises:
        PeerError: there are fewer or more, or one is out of range.
    """
    reader = Reader(body, "list of shares")
    shares = [reader.number(SHARE_BYTES) for _ in range(count)]
    reader.finish()
    if any(each >= PRIME for each in shares):
        raise PeerError("a share is not below the prime")
    return shares


def _count(items: Sized) -> bytes:
    return len(items).to_bytes(_NUMBER, "little")


def _at_most(reader: Reader, settings: AggregationSettings) -> int:
    count = reader.number(_NUMBER)
    if count > len(settings.parties):
        raise PeerError(f"a list names {count} parties, and there are {len(settings.parties)}")
    return count


def _check_ascending(found: NDArray[Any], settings: AggregationSettings) -> None:
    members = found.astype(np.int64)
    if members.size and (members[0] < 1 or members[-1] > len(settings.parties) or (np.diff(members) < 1).any()):
        raise PeerError(f"a list of parties must be ascending, with numbers from 1 to {len(settings.parties)}")
