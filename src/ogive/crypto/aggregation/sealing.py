"""Shares on their way from one party to another through the server, which must not read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.crypto.aggregation.mailbox import Round
from ogive.crypto.aggregation.messages import read_shares, write_shares
from ogive.crypto.aggregation.sharing import share
from ogive.crypto.channels import cipher_of
from ogive.crypto.domains import HashDomain, number
from ogive.errors import PeerError

_NONCE_BYTES = 12


def deal(
    secrets: tuple[int, int],
    threshold: int,
    *,
    session: bytes,
    sender: int,
    agreed: Mapping[int, bytes],
    random: Callable[[int], bytes],
) -> tuple[bytes, tuple[int, int]]:
    """Share two secrets among a party's neighbours and itself, and encrypt the neighbours' shares.

    Args:
        secrets: That of the party's own mask, and its private key.
        threshold: How many shares give one.
        session: The session.
        sender: Number of the party.
        agreed: Neighbour -> what the two parties' key pairs agree on.
        random: Gives so many random bytes.

    Returns:
        For each neighbour in turn nonce, ciphertext and tag, 92 bytes, all joined; and the party's own two shares.
    """
    holders = (*agreed, sender)
    shares = [share(secret, threshold, holders, random=random) for secret in secrets]
    *dealt, kept = zip(*shares, strict=True)
    sealed = []
    for (receiver, key), pair in zip(agreed.items(), dealt, strict=True):
        nonce = random(_NONCE_BYTES)
        cipher, about = _cipher(session, sender, receiver, key)
        sealed.append(nonce + cipher.encrypt(nonce, write_shares(pair), about))
    return b"".join(sealed), kept


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


def _cipher(session: bytes, sender: int, receiver: int, key: bytes) -> tuple[ChaCha20Poly1305, bytes]:
    """The cipher of one direction between two parties, and what a ciphertext is tied to."""
    about = b"".join((session, number(Round.SHARES), number(sender), number(receiver)))
    return cipher_of(HashDomain.AGGREGATION_CHANNEL, session, sender, receiver, key), about
