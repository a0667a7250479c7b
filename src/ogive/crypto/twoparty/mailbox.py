"""What one participant of a pair writes and reads: signed until there is a session, and sealed in it.

    sealed message = header | ChaCha20-Poly1305 of the body, with the header as associated data

The session is hashed from the settings and the openings of all three, each with a fresh nonce and a fresh key: it is
new to every one of them. Keys for sealing are of one session and direction, in which every step is sent at most once,
so that the step is the nonce. A hello is tied to its invitation by the session that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.crypto.channels import PUBLIC_KEY_BYTES, agree, cipher_of, read_signed, sign
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.twoparty.messages import NONCE_BYTES, TAG_BYTES, Opening, Step
from ogive.crypto.twoparty.settings import AGGREGATOR, PairSettings
from ogive.crypto.wire import SESSION_BYTES, Header, Inbox, Suite
from ogive.errors import ParameterError, PeerError

Outgoing = tuple[int, bytes]
"""Number of the receiver, and the message."""

_AEAD_NONCE_BYTES = 12


class Mailbox:
    """What one participant writes and accepts; whatever raises leaves it as it was.

    Args:
        settings: Of the pair.
        owner: The participant's number.
        key: Its private key, which belongs to the public one in the settings.
        random: Gives so many random bytes.

    Raises:
        ParameterError: the key is another's.
    """

    def __init__(
        self, settings: PairSettings, owner: int, key: Ed25519PrivateKey, random: Callable[[int], bytes]
    ) -> None:
        if key.public_key().public_bytes_raw() != settings.public(owner):
            raise ParameterError(f"this is not the private key of number {owner}")
        self._settings = settings
        self._owner = owner
        self._key = key
        self._private: X25519PrivateKey | None = X25519PrivateKey.from_private_bytes(random(PUBLIC_KEY_BYTES))
        self.opening = Opening(random(NONCE_BYTES), self._private.public_key().public_bytes_raw()).to_bytes()
        self.session = digest(HashDomain.TWOPARTY_OPENING, settings.digest, length=SESSION_BYTES)
        """Of the step at hand; that of the pair once all openings are known."""
        self._ciphers: dict[tuple[int, int], ChaCha20Poly1305] = {}
        numbers = {AGGREGATOR, settings.garbler.number, settings.evaluator.number}
        self._others = numbers - {owner}
        self._inbox = Inbox(suite=Suite.PAIRS, study=settings.digest, receiver=owner, senders=self._others)

    def write_opening(self, step: Step, receiver: int) -> Outgoing:
        """The participant's opening, signed."""
        return receiver, sign(self._header(step, receiver).message(self.opening), self._key)

    def read_opening(self, data: bytes, step: Step) -> tuple[int, bytes]:
        """Sender and body of a signed opening.

        Raises:
            PeerError: it is nothing of the kind.
        """
        header, body = read_signed(
            self._inbox, data, public=self._settings.public, kind=step, session=self.session, round=step,
            longest=self._settings.body_bytes(step),
        )  # fmt: skip
        Opening.from_bytes(body)
        self._check_sender(header, step)
        self._inbox.mark(header)
        return header.sender, body

    def invited(self, invitation: bytes) -> None:
        """Go on to the hellos that answer an invitation."""
        self.session = digest(HashDomain.TWOPARTY_OPENING, self._settings.digest, invitation, length=SESSION_BYTES)

    def meet(self, openings: Mapping[int, bytes]) -> None:
        """Begin the session of the pair, once all openings are known, by number.

        Raises:
            PeerError: no secret can be agreed on with somebody's key.
        """
        assert self._private is not None
        ends = (AGGREGATOR, self._settings.garbler.number, self._settings.evaluator.number)
        fields = (openings[number] for number in ends)
        session = digest(HashDomain.TWOPARTY_SESSION, self._settings.digest, *fields, length=SESSION_BYTES)
        ciphers = {}
        for other in self._others:
            agreed = agree(self._private, Opening.from_bytes(openings[other]).key, other)
            for way in ((self._owner, other), (other, self._owner)):
                ciphers[way] = cipher_of(HashDomain.TWOPARTY_CHANNEL, session, *way, agreed)
        self.session = session
        self._ciphers = ciphers
        self._private = None

    def seal(self, step: Step, receiver: int, body: bytes) -> Outgoing:
        """A message that only the receiver can read."""
        assert len(body) == self._settings.body_bytes(step)
        header = self._header(step, receiver)
        sealed = self._ciphers[self._owner, receiver].encrypt(_nonce(step), body, header.message())
        return receiver, header.message(sealed)

    def unseal(self, data: bytes, step: Step) -> tuple[int, bytes]:
        """Sender and body of a sealed message.

        Raises:
            PeerError: it is not that of this step, was changed, or was received before.
        """
        wanted = self._settings.body_bytes(step)
        header, sealed = self._inbox.read(
            data, kind=step, session=self.session, round=step, sequence=step, longest=wanted + TAG_BYTES
        )
        self._check_sender(header, step)
        if len(sealed) != wanted + TAG_BYTES:
            raise PeerError(
                f"the message of the step {step.name.lower()} has {len(sealed)} bytes, not {wanted + TAG_BYTES}"
            )
        cipher = self._ciphers.get((header.sender, self._owner))
        if cipher is None:
            raise PeerError("there is no session yet in which messages are sealed")
        try:
            body = cipher.decrypt(_nonce(step), sealed, header.message())
        except InvalidTag:
            raise PeerError(f"the message was changed, or is not from number {header.sender}") from None
        self._inbox.mark(header)
        return header.sender, body

    def close(self) -> None:
        """Drop all keys; that memory is overwritten cannot be promised in Python."""
        self._private = None
        self._ciphers = {}

    def _check_sender(self, header: Header, step: Step) -> None:
        """Only the aggregator invites, and it sends nothing else."""
        if (header.sender == AGGREGATOR) != (step is Step.INVITE):
            raise PeerError(f"number {header.sender} has no message to send in the step {step.name.lower()}")

    def _header(self, step: Step, receiver: int) -> Header:
        return Header(
            Suite.PAIRS, step, self._settings.digest, self.session, self._owner, receiver, round=step, sequence=step
        )


def _nonce(step: Step) -> bytes:
    return step.to_bytes(_AEAD_NONCE_BYTES, "little")
