"""What only one server may read, and what only one server can have said.

A part of an upload is encrypted to its server (HPKE, RFC 9180, base mode), so that whoever relays it sees nothing. A
message between servers is encrypted in the same way, and signed:

    envelope = signature 64 | encrypted message
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import PeerError

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SEALED_BYTES = 32 + 16
"""How much longer an encrypted message is: an ephemeral key and a tag."""

_SIGNATURE_BYTES = 64


def sealing_key(key: Ed25519PrivateKey) -> X25519PrivateKey:
    """The key to which a server's parts are encrypted, which follows from the key that it signs with."""
    info = HashDomain.UPLOAD_SEALING.encode()
    seed = HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(key.private_bytes_raw())
    return X25519PrivateKey.from_private_bytes(seed)


def seal(part: bytes, *, study: bytes, server: int, sealing: bytes) -> bytes:
    """Encrypt a part of an upload to a server.

    Args:
        part: Its plaintext.
        study: Digest of the study.
        server: Its number.
        sealing: Its public key, 32 bytes.
    """
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
    return key.sign(_signed(info, sealed)) + sealed


def disclose(envelope: bytes, *, study: bytes, sender: int, key: bytes, receiver: int, own: X25519PrivateKey) -> bytes:
    """The message in an envelope.

    Args:
        envelope: Of `enclose`.
        study: Digest of the study.
        sender: Number of the server that sent it.
        key: Its public key.
        receiver: Number of this server.
        own: The key of this server to which it was encrypted.

    Raises:
        PeerError: the server did not send this to this one in this study.
    """
    info = _message_info(study, sender, receiver)
    signature, sealed = envelope[:_SIGNATURE_BYTES], envelope[_SIGNATURE_BYTES:]
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, _signed(info, sealed))
        return _SUITE.decrypt(sealed, own, info=info)
    except (InvalidSignature, InvalidTag, ValueError):
        raise PeerError(f"the message is none of server {sender} to server {receiver} of this study") from None


def _part_info(study: bytes, server: int) -> bytes:
    return digest(HashDomain.UPLOAD_PART, study, number(server))


def _message_info(study: bytes, sender: int, receiver: int) -> bytes:
    return digest(HashDomain.UPLOAD_MESSAGE, study, number(sender), number(receiver))


def _signed(info: bytes, sealed: bytes) -> bytes:
    return digest(HashDomain.UPLOAD_SIGNED, info, sealed)
