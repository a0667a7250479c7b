"""Shares on their way from one party to another through the server, which must not read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.crypto.aggregation.mailbox import Round
from ogive.crypto.aggregation.messages import read_shares, write_shares
from ogive.crypto.labels import Label, digest, number
from ogive.errors import PeerError

_NONCE_BYTES = 12


def seal(
    shares: Sequence[int],
    *,
    session: bytes,
    sender: int,
    receiver: int,
    agreed: bytes,
    random: Callable[[int], bytes],
) -> bytes:
    """Encrypt two shares: nonce, ciphertext, tag; 92 bytes.

    Args:
        shares: Of the secret of the sender's own mask, and of its private key.
        session: The session.
        sender: Number of the party whose secrets are shared.
        receiver: Number of the party who holds the shares.
        agreed: What the two parties' key pairs agree on.
        random: Gives so many random bytes.
    """
    nonce = random(_NONCE_BYTES)
    cipher, about = _cipher(session, sender, receiver, agreed)
    return nonce + cipher.encrypt(nonce, write_shares(shares), about)


def unseal(sealed: bytes, *, session: bytes, sender: int, receiver: int, agreed: bytes) -> tuple[int, int]:
    """Decrypt two shares.

    Raises:
        PeerError: they are from somebody else, for somebody else, of another session, or changed.
    """
    cipher, about = _cipher(session, sender, receiver, agreed)
    try:
        opened = cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about)
    except InvalidTag:
        raise PeerError(f"the shares from party {sender} were changed, or are not for party {receiver}") from None
    own, mask = read_shares(opened, 2)
    return own, mask


def _cipher(session: bytes, sender: int, receiver: int, agreed: bytes) -> tuple[ChaCha20Poly1305, bytes]:
    """The cipher of one direction between two parties, and what a ciphertext is tied to."""
    ends = (number(sender), number(receiver))
    key = digest(Label.AGGREGATION_CHANNEL, session, *ends, agreed)
    return ChaCha20Poly1305(key), b"".join((session, number(Round.SHARES), *ends))
