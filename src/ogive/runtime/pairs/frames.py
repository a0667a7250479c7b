"""What goes over a connection between a person and the relay, and how the relay knows who is there.

    frame = type u8 | content

The relay begins with 32 random bytes; a person answers with its number and its signature of them, so that nobody is
kept out by a stranger who says their number. What the relay says of who is there it says to the aggregator alone, and
nothing depends on it but which pairs are tried.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ogive.crypto.channels import SIGNATURE_BYTES
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.domains import number as field
from ogive.crypto.wire import Reader
from ogive.errors import PeerError
from ogive.runtime.pairs.study import PairsStudy

CHALLENGE_BYTES = 32
NUMBER_BYTES = 4
ANSWER_BYTES = NUMBER_BYTES + SIGNATURE_BYTES
FRONT_BYTES = 1


class Channel(Protocol):
    """A connection that carries frames, such as a WebSocket."""

    async def receive(self) -> bytes | None:
        """The next frame, None once the other side has hung up."""

    async def send(self, frame: bytes) -> None:
        """Send a frame; waits while the other side takes none.

        Raises:
            ConnectionError: the connection is lost.
        """

    async def close(self) -> None:
        """Hang up."""


class Frame(IntEnum):
    """Types of frames."""

    CHALLENGE = 1
    ANSWER = 2
    MESSAGE = 3
    ARRIVED = 4
    LEFT = 5
    UNKNOWN = 6
    OVER = 7


def pack(kind: Frame, content: bytes = b"") -> bytes:
    """A frame."""
    return bytes([kind]) + content


def unpack(frame: bytes, *, longest: int) -> tuple[Frame, bytes]:
    """Type and content of a frame.

    Raises:
        PeerError: it is of no known type, or longer than allowed.
    """
    if not frame or frame[0] not in list(Frame) or len(frame) > FRONT_BYTES + longest:
        raise PeerError(f"a frame must be of a known type, with at most {longest} bytes, got {len(frame)} bytes")
    return Frame(frame[0]), frame[FRONT_BYTES:]


def answer(study: PairsStudy, number: int, challenge: bytes, key: Ed25519PrivateKey) -> bytes:
    """Who a participant is, signed."""
    return number.to_bytes(NUMBER_BYTES, "little") + key.sign(_signed(study, number, challenge))


def check_answer(study: PairsStudy, challenge: bytes, content: bytes) -> int:
    """The number of whoever answered.

    Raises:
        PeerError: there is nobody of the number, or somebody else signed.
    """
    reader = Reader(content, "answer to the relay")
    number, signature = reader.number(NUMBER_BYTES), reader.take(SIGNATURE_BYTES)
    reader.finish()
    if number > len(study.people):
        raise PeerError(f"there is no number {number} in this study")
    public = study.people[number - 1] if number else study.aggregator
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _signed(study, number, challenge))
    except InvalidSignature:
        raise PeerError(f"somebody who is not number {number} says so") from None
    return number


def read_user(study: PairsStudy, content: bytes) -> int:
    """The user that the relay says something of.

    Raises:
        PeerError: there is none of the number.
    """
    reader = Reader(content, "word of the relay")
    number = reader.number(NUMBER_BYTES)
    reader.finish()
    if not 1 <= number <= len(study.people):
        raise PeerError(f"there is no person with number {number} in this study")
    return number - 1


def _signed(study: PairsStudy, number: int, challenge: bytes) -> bytes:
    return digest(HashDomain.PAIRS_CONNECTION, study.digest, field(number), challenge)
