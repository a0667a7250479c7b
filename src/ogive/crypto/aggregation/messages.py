"""Messages of secure aggregation as bytes, who signs and accepts them, stored states, and what one sum costs.

`docs/formats.md` lists the bodies of the messages. Lists of parties are a count (u32) and ascending numbers (u32 each).
Everything is little-endian.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from numpy.typing import NDArray

from ogive.crypto.aggregation.settings import PRIME, SHARE_BYTES, AggregationSettings
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import SESSION_BYTES, SIGNED_BYTES, Header, Inbox, Reader, Suite, read_signed, sign
from ogive.errors import DataError, ParameterError, PeerError

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
    """What a party makes known at first: 16 fresh bytes, which make the session new, two keys and two commitments.

    X25519 public keys for messages to this party and for masks; commitments to the secret of its own mask and to its
    declared totals.
    """

    nonce: bytes
    channel: bytes
    mask: bytes
    own: bytes
    totals: bytes

    def to_bytes(self) -> bytes:
        return self.nonce + self.channel + self.mask + self.own + self.totals

    @classmethod
    def from_bytes(cls, body: bytes) -> Advertised:
        reader = Reader(body, "party's keys")
        sizes = (NONCE_BYTES, KEY_BYTES, KEY_BYTES, DIGEST_BYTES, DIGEST_BYTES)
        read = cls(*map(reader.take, sizes))
        reader.finish()
        return read


@dataclass(frozen=True, eq=False)
class Roster:
    """Who takes part, and the signed keys of those whom a party needs to know: its neighbours' and its own.

    Entries are, for each member, ascending, its number and the digest of its signed keys; they are the same in every
    party's roster, and so held once.
    """

    entries: NDArray[Any]
    signed: tuple[bytes, ...]

    @classmethod
    def of(cls, members: Sequence[int], digests: Sequence[bytes], signed: Sequence[bytes] = ()) -> Roster:
        entries = np.empty(len(members), _ENTRY)
        entries["party"] = members
        entries["digest"] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES)
        return cls(entries, tuple(signed))

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(self.entries["party"].tolist())

    def digest_of(self, member: int) -> bytes | None:
        """Digest of a member's signed keys; None of whom is not in the list."""
        place = int(np.searchsorted(self.entries["party"], member))
        result = self.entries[place : place + 1]
        return bytes(result["digest"][0]) if result.size and int(result["party"][0]) == member else None

    def to_bytes(self) -> bytes:
        """The body of the server's first message to a party."""
        return b"".join((_count(self.entries), self.entries.tobytes(), _count(self.signed), *self.signed))

    @classmethod
    def from_bytes(cls, body: bytes, settings: AggregationSettings) -> Roster:
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
        return roster_bytes(len(settings.parties), len(settings.parties))


def roster_bytes(members: int, signed: int) -> int:
    """Length of a roster of these numbers of members and of signed keys."""
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
    """A list of parties."""
    result = reader.array(reader.number(_NUMBER), "<u4")
    _check_ascending(result, settings)
    return tuple(result.tolist())


def list_bytes(members: int) -> int:
    """Length of a list of parties."""
    return _NUMBER * (1 + members)


def confirmations_bytes(confirmations: int) -> int:
    """Length of a list of confirmations."""
    return _NUMBER + CONFIRMED_BYTES * confirmations


def write_confirmations(confirmations: Sequence[bytes]) -> bytes:
    """Signed confirmations of several parties."""
    return _count(confirmations) + b"".join(confirmations)


def read_confirmations(reader: Reader, settings: AggregationSettings) -> list[bytes]:
    """Signed confirmations, not yet checked."""
    return [reader.take(CONFIRMED_BYTES) for _ in range(_at_most(reader, settings))]


def write_shares(shares: Sequence[int]) -> bytes:
    """Shares of secrets, 32 bytes each."""
    return b"".join(each.to_bytes(SHARE_BYTES, "little") for each in shares)


def read_shares(body: bytes, count: int) -> list[int]:
    """Shares of secrets, `count` of them."""
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


def _check_ascending(result: NDArray[Any], settings: AggregationSettings) -> None:
    members = result.astype(np.int64)
    if members.size and (members[0] < 1 or members[-1] > len(settings.parties) or (np.diff(members) < 1).any()):
        raise PeerError(f"a list of parties must be ascending, with numbers from 1 to {len(settings.parties)}")


# --- Signed messages of one participant
#
# Party number u writes one message a round to the server, which is number 0, and the server one to each party; so the
# sequence number of a message is its round, and nobody is heard twice in a round.

SERVER = 0


class Round(IntEnum):
    """The rounds, each begun by the server (but the first) and answered by the parties."""

    KEYS = 0
    SHARES = 1
    INPUT = 2
    CONFIRM = 3
    UNMASK = 4


class _Kind(IntEnum):
    TO_SERVER = 1
    TO_PARTY = 2


class Mailbox:
    """What one participant signs and accepts."""

    def __init__(self, settings: AggregationSettings, owner: int, key: Ed25519PrivateKey) -> None:
        if not 0 <= owner <= len(settings.parties):
            raise ParameterError(f"parties are numbered from 1 to {len(settings.parties)}, got {owner}")
        self._settings = settings
        if key.public_key().public_bytes_raw() != self._public(owner):
            raise ParameterError(f"this is not the private key of number {owner}")
        self._study = settings.digest
        self._owner = owner
        self._key = key
        self._inbox = self._inbox_of(owner)

    def write(self, body: bytes, *, receiver: int, session: bytes, round: Round) -> bytes:
        kind = _Kind.TO_SERVER if receiver == SERVER else _Kind.TO_PARTY
        header = Header(Suite.AGGREGATION, kind, self._study, session, self._owner, receiver, round, round)
        return sign(header.message(body), self._key)

    def read(self, data: bytes, *, session: bytes, round: Round, longest: int) -> tuple[Header, bytes]:
        """Header and body of a message to this participant that was not received before."""
        return self._open(self._inbox, data, session=session, round=round, longest=longest)

    def mark(self, header: Header) -> None:
        """Note a message as received, once all of it was found good."""
        self._inbox.mark(header)

    def mark_from(self, sender: int, *, session: bytes, round: Round) -> None:
        """Note the message of a sender in a round as received, where it was received before its state was stored."""
        kind = _Kind.TO_SERVER if self._owner == SERVER else _Kind.TO_PARTY
        self._inbox.mark(Header(Suite.AGGREGATION, kind, self._study, session, sender, self._owner, round, round))

    def read_forwarded(self, data: bytes, *, session: bytes, round: Round, longest: int) -> tuple[int, bytes]:
        header, body = self._open(self._inbox_of(SERVER), data, session=session, round=round, longest=longest)
        return header.sender, body

    def _public(self, number: int) -> bytes:
        return self._settings.server if number == SERVER else self._settings.parties[number - 1]

    def _inbox_of(self, owner: int) -> Inbox:
        senders = range(1, len(self._settings.parties) + 1) if owner == SERVER else [SERVER]
        return Inbox(suite=Suite.AGGREGATION, study=self._study, receiver=owner, senders=senders)

    def _open(self, inbox: Inbox, data: bytes, *, session: bytes, round: Round, longest: int) -> tuple[Header, bytes]:
        kind = _Kind.TO_SERVER if inbox.receiver == SERVER else _Kind.TO_PARTY
        return read_signed(inbox, data, public=self._public, kind=kind, session=session, round=round, longest=longest)


# --- The stored state of one participant, to go on after its process ended
#
#     magic          24 bytes, with the version
#     role           "party" or "server"
#     settings       digest of the settings, 32 bytes
#     fields         each after its length (8 bytes, little-endian); what is not there any more is empty
#     SHA-256        32 bytes, of all before
#
# A state holds secrets: private keys, seeds of masks and shares. It is stored where only its owner can read it,
# before the answer that led to it is sent. The digest finds damage; it is not a proof of who wrote the state.

MAGIC = b"ogive aggregation state1"
_SIZE = 8


def write_state(role: str, settings: AggregationSettings, fields: Sequence[bytes]) -> bytes:
    """One participant's state, of these fields."""
    parts = [MAGIC, role.encode().ljust(_SIZE), settings.digest]
    for each in fields:
        parts += [len(each).to_bytes(_SIZE, "little"), each]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def read_state(data: bytes, role: str, settings: AggregationSettings, count: int) -> list[bytes]:
    """The fields of a state."""
    whose = f"stored state of the {role}"
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise DataError(f"the {whose} is not a state of this version")
    body, written = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != written:
        raise DataError(f"the {whose} is damaged: its digest is another")
    reader = Reader(body, whose)
    try:
        reader.take(len(MAGIC))
        if reader.take(_SIZE) != role.encode().ljust(_SIZE):
            raise DataError(f"the {whose} is that of another role")
        if reader.take(DIGEST_BYTES) != settings.digest:
            raise DataError(f"the {whose} is of another aggregation")
        fields = [reader.take(reader.number(_SIZE)) for _ in range(count)]
        reader.finish()
    except PeerError as problem:
        raise DataError(str(problem)) from None
    return fields


def write_table(table: Mapping[int, bytes]) -> bytes:
    """Numbers of participants with bytes for each, in the order of the table."""
    parts = [len(table).to_bytes(_NUMBER, "little")]
    for participant, value in table.items():
        parts += [participant.to_bytes(_NUMBER, "little"), len(value).to_bytes(_SIZE, "little"), value]
    return b"".join(parts)


def read_table(data: bytes) -> dict[int, bytes]:
    """The inverse of `write_table`."""
    reader = Reader(data, "stored table")
    table = {}
    for _ in range(reader.number(_NUMBER)):
        number = reader.number(_NUMBER)
        table[number] = reader.take(reader.number(_SIZE))
    reader.finish()
    return table


# --- Costs: bytes exactly, and seconds as predicted
#
# Seconds are those of one core at the rates below, which are fitted to what `benchmarks/secagg.py` measures. Where
# nobody leaves, each party makes one mask for every neighbour and one of its own, and the server takes away what did
# not cancel.

NUMBERS_PER_SECOND = 3e8
"""Of a mask's stream, made and added to a vector."""

RECEIVED_PER_SECOND = 4e7
"""Numbers of a vector that the server receives: checked, added up, and the sender's own mask taken away."""

PAIR_SECONDS = 4.5e-4
"""For agreeing on secrets with one neighbour, sharing them, and checking what it signed."""

PARTY_SECONDS = 1.3e-3
"""For all that the server does for one party but its vector."""


@dataclass(frozen=True)
class AggregationCost:
    """What one sum takes.

    Fields:
        bytes_to_party: What the server sends to it: lists of all parties among it, so that the server sends as much as
            the square of their number.
    """

    bytes_per_party: int
    bytes_to_party: int
    bytes_per_server: int
    seconds: float


def aggregation_cost(
    parties: int,
    length: int,
    *,
    totals: int = 0,
    dropouts: int = 0,
    neighbours: int | None = None,
    confirmed: bool = True,
) -> AggregationCost:
    """Predict one sum from public numbers."""
    others = parties - 1 if neighbours is None else neighbours
    sent = (
        (SIGNED_BYTES + ADVERTISED_BYTES)
        + (SIGNED_BYTES + others * SEALED_BYTES)
        + (SIGNED_BYTES + 8 * length + (SALT_BYTES + 8 * totals if totals else 0))
        + (CONFIRMED_BYTES if confirmed else 0)
        + (SIGNED_BYTES + (others + 1) * SHARE_BYTES)
    )
    received = (
        (SIGNED_BYTES + roster_bytes(parties, others + 1))
        + (SIGNED_BYTES + list_bytes(parties) + others * SEALED_BYTES)
        + (SIGNED_BYTES + list_bytes(parties) if confirmed else 0)
        + (SIGNED_BYTES + list_bytes(parties) + confirmations_bytes(parties if confirmed else 0))
    )
    party = others * PAIR_SECONDS + (others + 1) * length / NUMBERS_PER_SECOND
    server = parties * (PARTY_SECONDS + length / RECEIVED_PER_SECOND) + dropouts * others * length / NUMBERS_PER_SECOND
    return AggregationCost(sent, received, parties * sent, max(party, server))
