"""What only one server may read, and what only one server can have said.

A part of an upload is encrypted to its server (HPKE, RFC 9180, base mode), so that whoever relays it sees nothing. A
message between servers is encrypted in the same way, and signed:

    envelope = signature 64 | length of the encrypted message u64 | its SHA-256 32 | encrypted message

What is signed are length and digest, with the study and both servers, so that a server knows from the first bytes
whether it wants to read the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from ogive.crypto.domains import HashDomain, derived_key, digest, number
from ogive.errors import PeerError

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SEALED_BYTES = 32 + 16
"""How much longer an encrypted message is: an ephemeral key and a tag."""

_SIGNATURE_BYTES = 64
_LENGTH_BYTES = 8
FRONT_BYTES = _SIGNATURE_BYTES + _LENGTH_BYTES + hashlib.sha256().digest_size
"""Of an envelope, before the encrypted message."""
LARGEST_ENVELOPE = 1 << 30


def sealing_key(key: Ed25519PrivateKey) -> X25519PrivateKey:
    """The key to which a server's parts are encrypted, which follows from the key that it signs with."""
    seed = derived_key(key.private_bytes_raw(), HashDomain.UPLOAD_SEALING.encode())
    return X25519PrivateKey.from_private_bytes(seed)


def is_sealing_key(key: bytes) -> bool:
    """Whether anything can be encrypted to a public key: to points of small order it would be readable by everybody."""
    try:
        X25519PrivateKey.from_private_bytes(bytes(32)).exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        return False
    return True


def seal(part: bytes, *, study: bytes, server: int, sealing: bytes) -> bytes:
    """Encrypt a part of an upload to a server, whose public key is `sealing`, 32 bytes."""
    return _SUITE.encrypt(part, X25519PublicKey.from_public_bytes(sealing), info=_part_info(study, server))


def unseal(sealed: bytes, *, study: bytes, server: int, key: X25519PrivateKey) -> bytes | None:
    """The plaintext of a part; None where it was not encrypted to this server in this study."""
    try:
        return _SUITE.decrypt(sealed, key, info=_part_info(study, server))
    except (InvalidTag, ValueError):
        return None


def enclose(
    message: bytes, *, study: bytes, sender: int, key: Ed25519PrivateKey, receiver: int, sealing: bytes
) -> bytes:
    """A message from a server to another one, which whoever carries it can neither read nor change."""
    info = _message_info(study, sender, receiver)
    sealed = _SUITE.encrypt(message, X25519PublicKey.from_public_bytes(sealing), info=info)
    stated = len(sealed).to_bytes(_LENGTH_BYTES, "little") + hashlib.sha256(sealed).digest()
    return key.sign(_signed(info, stated)) + stated + sealed


def envelope_bytes(front: bytes, *, study: bytes, sender: int, key: bytes, receiver: int) -> int:
    stated = front[_SIGNATURE_BYTES:FRONT_BYTES]
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            front[:_SIGNATURE_BYTES], _signed(_message_info(study, sender, receiver), stated)
        )
    except InvalidSignature:
        raise _stranger(sender, receiver) from None
    return FRONT_BYTES + int.from_bytes(stated[:_LENGTH_BYTES], "little")


class Arriving:
    """An envelope as it comes: no more of it is kept than its first bytes state, which its sender signed."""

    def __init__(self, bytes_of: Callable[[bytes], int]) -> None:
        self._bytes_of = bytes_of
        self._length: int | None = None
        self._body = bytearray()

    def add(self, some: bytes) -> bool:
        """Add what came; False if the envelope is longer than it states, or than any may be."""
        self._body += some
        if len(self._body) < FRONT_BYTES:
            return True
        if self._length is None:
            self._length = self._bytes_of(bytes(self._body[:FRONT_BYTES]))
        return len(self._body) <= self._length <= LARGEST_ENVELOPE

    def __bytes__(self) -> bytes:
        return bytes(self._body)


def disclose(envelope: bytes, *, study: bytes, sender: int, key: bytes, receiver: int, own: X25519PrivateKey) -> bytes:
    length = envelope_bytes(envelope, study=study, sender=sender, key=key, receiver=receiver)
    sealed = envelope[FRONT_BYTES:]
    stated = envelope[_SIGNATURE_BYTES + _LENGTH_BYTES : FRONT_BYTES]
    if len(envelope) != length or hashlib.sha256(sealed).digest() != stated:
        raise _stranger(sender, receiver)
    try:
        return _SUITE.decrypt(sealed, own, info=_message_info(study, sender, receiver))
    except (InvalidTag, ValueError):
        raise _stranger(sender, receiver) from None


def _stranger(sender: int, receiver: int) -> PeerError:
    return PeerError(f"the message is none of server {sender} to server {receiver} of this study")


def _part_info(study: bytes, server: int) -> bytes:
    return digest(HashDomain.UPLOAD_PART, study, number(server))


def _message_info(study: bytes, sender: int, receiver: int) -> bytes:
    return digest(HashDomain.UPLOAD_MESSAGE, study, number(sender), number(receiver))


def _signed(info: bytes, stated: bytes) -> bytes:
    return digest(HashDomain.UPLOAD_SIGNED, info, stated)
