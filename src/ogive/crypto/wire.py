"""Messages as bytes: a header that binds each to its study, session and round, and a cursor that reads any bytes.

    message = header (84 bytes) | body
    header  = magic 4 | version u8 | kind u8 | suite u16 | study 32 | session 16 | sender u32 | receiver u32
              | round u32 | sequence u64 | length of the body u64, little-endian

The header does not prove who sent it: protocols sign or authenticate header and body together. Whatever bytes arrive,
they are read or they raise PeerError.

Source:
    `crypto.md`, section 10.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from numpy.typing import NDArray

from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError, PeerError

MAGIC = b"OGIV"
VERSION = 1
STUDY_BYTES = 32
SESSION_BYTES = 16
_LAYOUT = struct.Struct("<4sBBH32s16sIIIQQ")
HEADER_BYTES = _LAYOUT.size


def check_study(study: object) -> None:
    """Refuse what is not a digest of a study."""
    if not isinstance(study, bytes) or len(study) != STUDY_BYTES:
        raise ParameterError(f"`study` must be a digest of {STUDY_BYTES} bytes")


Note = Callable[[bytes, bytes], bytes | None]
"""Notes a value for good unless the token has one, and says which it had, None for none."""


class Suite(IntEnum):
    """Which protocol a message belongs to."""

    AGGREGATION = 1
    SKETCH = 2
    SERVERS = 3
    PAIRS = 4


class Reader:
    """A cursor over bytes that somebody else sent.

    Args:
        what: What they ought to be, for messages of errors, such as "list of keys".
    """

    def __init__(self, data: bytes | memoryview, what: str) -> None:
        if not isinstance(data, bytes | memoryview):
            raise PeerError(f"the {what} must be bytes, got {type(data).__name__}")
        self._data = memoryview(data)
        self._what = what
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """The next `count` bytes, as a copy of their own."""
        return bytes(self.view(count))

    def view(self, count: int) -> memoryview:
        """The next `count` bytes where they are, without a copy: for long fields."""
        if count > self.left:
            raise PeerError(f"the {self._what} ends after {len(self._data)} bytes, in the middle of a field")
        start, self._at = self._at, self._at + count
        return self._data[start : self._at]

    def number(self, size: int) -> int:
        """The next little-endian unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def expect(self, wanted: bytes, name: str) -> None:
        """Pass over bytes that have to be there."""
        if self.take(len(wanted)) != wanted:
            raise PeerError(f"the {self._what} has another {name} than expected")

    def array(self, count: int, dtype: str) -> NDArray[Any]:
        """The next `count` little-endian numbers, such as dtype "<u8", shape (count,); a read-only view."""
        return np.frombuffer(self.view(count * np.dtype(dtype).itemsize), dtype)

    def finish(self) -> None:
        if self.left:
            raise PeerError(f"the {self._what} is too long; bytes left over: {self.left}")


@dataclass(frozen=True)
class Header:
    """What every message says of itself.

    Fields:
        kind: Number of the type of message within the protocol, below 256.
        study: Digest of the study, 32 bytes.
        session: 16 bytes.
        sequence: Each sender uses a number once in a session, for one receiver.
    """

    suite: int
    kind: int
    study: bytes
    session: bytes
    sender: int
    receiver: int
    round: int
    sequence: int

    def message(self, *body: bytes | memoryview) -> bytes:
        """Header and body, which may come in pieces, as bytes."""
        assert len(self.study) == STUDY_BYTES
        assert len(self.session) == SESSION_BYTES
        packed = _LAYOUT.pack(
            MAGIC, VERSION, self.kind, self.suite, self.study, self.session,
            self.sender, self.receiver, self.round, self.sequence, sum(len(piece) for piece in body),
        )  # fmt: skip
        return b"".join([packed, *body])


def read_message(data: bytes, *, longest: int) -> tuple[Header, bytes]:
    """Take any bytes apart as a message, believing nothing; its body may have `longest` bytes."""
    reader = Reader(data, "message")
    header, length = _read_front(reader)
    if length > longest:
        raise PeerError(f"the message says that it has {length} bytes, and at most {longest} are allowed here")
    body = reader.take(length)
    reader.finish()
    return header, body


def read_header(data: bytes) -> Header:
    """What a message says of itself, whatever follows: to see where it belongs, before anything is believed."""
    return _read_front(Reader(data, "message"))[0]


def _read_front(reader: Reader) -> tuple[Header, int]:
    """Header, and the length of the body."""
    fields = _LAYOUT.unpack(reader.take(HEADER_BYTES))
    magic, version, kind, suite, study, session, sender, receiver, number, sequence, length = fields
    if magic != MAGIC:
        raise PeerError("the message does not begin as messages of ogive do")
    if version != VERSION:
        raise PeerError(f"the message is of version {version}; this is version {VERSION}")
    return Header(suite, kind, study, session, sender, receiver, number, sequence), length


class Inbox:
    """What one participant of a study reads: each message of each sender once, and only what is for it.

    `read` changes nothing; `mark` notes a message as received, once its signature was found good, so that nobody can
    use up another's numbers.
    """

    def __init__(self, *, suite: int, study: bytes, receiver: int, senders: Collection[int]) -> None:
        self._suite = suite
        self._study = study
        self.receiver = receiver
        self._senders = senders
        self._seen: set[tuple[bytes, int, int]] = set()

    def read(
        self, data: bytes, *, kind: int, session: bytes, round: int, sequence: int | None, longest: int
    ) -> tuple[Header, bytes]:
        """A message that belongs here and was not received before, with the stated kind, session, round and sequence.

        The sequence number is None where only the body tells it, and the reader compares the header's with that.
        """
        header, body = read_message(data, longest=longest)
        for name, result, wanted in (
            ("protocol", header.suite, self._suite),
            ("study", header.study, self._study),
            ("session", header.session, session),
            ("round", header.round, round),
            ("type", header.kind, kind),
            ("receiver", header.receiver, self.receiver),
        ):
            if result != wanted:
                values = f": {result}, not {wanted}" if isinstance(result, int) and isinstance(wanted, int) else ""
                raise PeerError(f"the message is of another {name} than expected{values}")
        if header.sender not in self._senders:
            raise PeerError(f"the message says it is from number {header.sender}, who does not take part")
        if (header.session, header.sender, header.sequence) in self._seen:
            raise PeerError(f"message {header.sequence} of number {header.sender} was received before")
        if sequence is not None and header.sequence != sequence:
            raise PeerError(f"the message has the sequence number {header.sequence}, and {int(sequence)} is expected")
        return header, body

    def mark(self, header: Header) -> None:
        self._seen.add((header.session, header.sender, header.sequence))


# --- What one participant says to another so that it can be believed, signed, or read by nobody else, sealed
#
#     signed message = header | body | Ed25519 signature of both by the sender
#
# A key for sealing is of one session and one direction, made of what the key pairs of both agree on.

PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64
SIGNED_BYTES = HEADER_BYTES + SIGNATURE_BYTES
"""What header and signature add to a body."""


def sign(message: bytes, key: Ed25519PrivateKey) -> bytes:
    """A message and its sender's signature."""
    return message + key.sign(message)


def read_signed(
    inbox: Inbox, data: bytes, *, public: Callable[[int], bytes], kind: int, session: bytes, round: int, longest: int
) -> tuple[Header, bytes]:
    """Header and body of a signed message that belongs in an inbox; it is not yet marked as received.

    `public` gives the Ed25519 public key of a number that may write to the reader. The sequence number is the round.
    """
    if not isinstance(data, bytes) or len(data) < SIGNED_BYTES:
        raise PeerError(f"a signed message has at least {SIGNED_BYTES} bytes")
    message, signature = data[:-SIGNATURE_BYTES], data[-SIGNATURE_BYTES:]
    header, body = inbox.read(message, kind=kind, session=session, round=round, sequence=round, longest=longest)
    try:
        Ed25519PublicKey.from_public_bytes(public(header.sender)).verify(signature, message)
    except InvalidSignature:
        raise PeerError(f"the message is not signed by number {header.sender}, from whom it says it is") from None
    return header, body


def agree(private: X25519PrivateKey, public: bytes, who: int) -> bytes:
    """The secret of two key pairs, 32 bytes; to be hashed before it is used."""
    try:
        return private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise PeerError(f"party {who} sent a key with which no secret can be agreed on") from None


def cipher_of(label: HashDomain, session: bytes, sender: int, receiver: int, agreed: bytes) -> ChaCha20Poly1305:
    """The cipher of one direction between two participants, in one session."""
    return ChaCha20Poly1305(digest(label, session, number(sender), number(receiver), agreed))
