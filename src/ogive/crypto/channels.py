"""What one participant says to another so that it can be believed, signed, or read by nobody else, sealed.

    signed message = header | body | Ed25519 signature of both by the sender

A key for sealing is of one session and one direction, made of what the key pairs of both agree on.
"""

from __future__ import annotations

from collections.abc import Callable

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import HEADER_BYTES, Header, Inbox
from ogive.errors import PeerError

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
