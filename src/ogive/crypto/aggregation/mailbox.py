"""Signed messages of one participant: who sends, who receives, in which session and round.

Party number u writes one message a round to the server, which is number 0, and the server one to each party; so the
sequence number of a message is its round, and nobody is heard twice in a round.
"""

from __future__ import annotations

from enum import IntEnum

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.aggregation.settings import AggregationSettings
from ogive.crypto.channels import read_signed, sign
from ogive.crypto.wire import Header, Inbox, Suite
from ogive.errors import ParameterError

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
    """What one participant signs and accepts.

    Args:
        settings: Of the aggregation.
        owner: The participant's number; 0 for the server.
        key: Its private key, which belongs to the public one in the settings.

    Raises:
        ParameterError: there is no such participant, or the key is another's.
    """

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
        """A signed message of this participant."""
        kind = _Kind.TO_SERVER if receiver == SERVER else _Kind.TO_PARTY
        header = Header(Suite.AGGREGATION, kind, self._study, session, self._owner, receiver, round, round)
        return sign(header.message(body), self._key)

    def read(self, data: bytes, *, session: bytes, round: Round, longest: int) -> tuple[Header, bytes]:
        """Header and body of a message to this participant that was not received before.

        Raises:
            PeerError: it is nothing of the kind.
        """
        return self._open(self._inbox, data, session=session, round=round, longest=longest)

    def mark(self, header: Header) -> None:
        """Note a message as received, once all of it was found good."""
        self._inbox.mark(header)

    def mark_from(self, sender: int, *, session: bytes, round: Round) -> None:
        """Note the message of a sender in a round as received, where it was received before its state was stored."""
        kind = _Kind.TO_SERVER if self._owner == SERVER else _Kind.TO_PARTY
        self._inbox.mark(Header(Suite.AGGREGATION, kind, self._study, session, sender, self._owner, round, round))

    def read_forwarded(self, data: bytes, *, session: bytes, round: Round, longest: int) -> tuple[int, bytes]:
        """Sender and body of a message that a party sent to the server.

        Raises:
            PeerError: it is nothing of the kind.
        """
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
