"""Messages of a pair: their steps and lengths, what all agree on beforehand, and what each writes and reads.

The lengths of bodies follow from the circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.core.arrays import Bool
from ogive.crypto.channels import PUBLIC_KEY_BYTES, SIGNED_BYTES, agree, cipher_of, read_signed, sign
from ogive.crypto.circuits import Circuit
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.garbling import LABEL_BYTES, Schedule, schedule_of
from ogive.crypto.transfer import LABEL_BITS, POINT_BYTES
from ogive.crypto.wire import HEADER_BYTES, SESSION_BYTES, STUDY_BYTES, Header, Inbox, Reader, Suite
from ogive.errors import ParameterError, PeerError

NONCE_BYTES = 16
OPENING_BYTES = NONCE_BYTES + PUBLIC_KEY_BYTES
TAG_BYTES = 16
SEALED_BYTES = HEADER_BYTES + TAG_BYTES
"""What header and tag add to a body."""
TABLE_BYTES = 2 * LABEL_BYTES


class Step(IntEnum):
    """What a message is; also its type, its round and its sequence number."""

    INVITE = 1
    HELLO = 2
    TRANSFER = 3
    EXTENSION = 4
    GARBLED = 5
    HALF = 6


OPEN_STEPS = (Step.INVITE, Step.HELLO)
"""What is signed and not sealed, for there are no common keys yet."""
COPIES = {Step.INVITE: 2, Step.HELLO: 4, Step.HALF: 2}
"""How often a step is sent, where it is not once."""


def is_extended(circuit: Circuit) -> bool:
    """Whether 128 base transfers are extended; with fewer inputs of the evaluator each has a transfer of its own."""
    return circuit.evaluator_bits >= LABEL_BITS


def body_bytes(circuit: Circuit, step: Step) -> int:
    """Length that the body of a message has before it is sealed: no more and no less."""
    inputs, extended = circuit.evaluator_bits, is_extended(circuit)
    transfers = LABEL_BITS if extended else inputs
    match step:
        case Step.INVITE | Step.HELLO:
            return OPENING_BYTES
        case Step.TRANSFER:
            return 2 * POINT_BYTES * transfers
        case Step.EXTENSION:
            return POINT_BYTES * transfers + -(-inputs // LABEL_BITS) * LABEL_BITS * LABEL_BYTES
        case Step.GARBLED:
            direct = 0 if extended else (POINT_BYTES + LABEL_BYTES) * inputs
            return direct + LABEL_BYTES * circuit.garbler_bits + TABLE_BYTES * circuit.ands
        case Step.HALF:
            return -(-len(circuit.output_wires) // 8)


def pair_bytes(circuit: Circuit) -> dict[Step, int]:
    """Bytes that a pair sends by step, in all copies, with headers, signatures and tags; without the steps it lacks."""
    steps = [step for step in Step if step is not Step.EXTENSION or is_extended(circuit)]
    return {
        step: COPIES.get(step, 1) * ((SIGNED_BYTES if step in OPEN_STEPS else SEALED_BYTES) + body_bytes(circuit, step))
        for step in steps
    }


@dataclass(frozen=True)
class Opening:
    """What a participant begins with.

    Fields:
        nonce: 16 fresh bytes, which make the session new.
        key: X25519 public key, for this pair alone.
    """

    nonce: bytes
    key: bytes

    def to_bytes(self) -> bytes:
        """48 bytes."""
        return self.nonce + self.key

    @classmethod
    def from_bytes(cls, body: bytes) -> Opening:
        """Read one."""
        reader = Reader(body, "opening of the pair")
        read = cls(reader.take(NONCE_BYTES), reader.take(PUBLIC_KEY_BYTES))
        reader.finish()
        return read


def write_bits(bits: Bool) -> bytes:
    """Bits of shape (count,), eight a byte."""
    return np.packbits(bits, bitorder="little").tobytes()


def read_bits(body: bytes, count: int) -> Bool:
    """So many bits, shape (count,)."""
    reader = Reader(body, "half of the outputs")
    packed = reader.array(-(-count // 8), "u1")
    reader.finish()
    bits = np.unpackbits(packed, bitorder="little").astype(np.bool_)
    if bits[count:].any():
        raise PeerError("the half of the outputs has bits of no output")
    return bits[:count]


# --- What all agree on beforehand, and never take from each other

AGGREGATOR = 0
"""Number of who sees the outputs; parties are numbered from 1."""
_CIRCUITS = 64


@dataclass(frozen=True)
class Participant:
    """One party of a pair.

    Fields:
        number: From 1, below 2^32.
        key: Its Ed25519 public key.
    """

    number: int
    key: bytes


@dataclass(frozen=True)
class PairSettings:
    """One evaluation of one circuit by one pair.

    Fields:
        study: Digest of all that the pair belongs to, 32 bytes.
        pair: Number of the pair within it, so that a pair that meets twice has two sessions.
        circuit: What is evaluated.
        garbler: Who garbles.
        evaluator: Who evaluates.
        aggregator: Ed25519 public key of who sees the outputs.

    Raises:
        ParameterError: a digest or key has another length, a number is out of its range, or two are the same.
    """

    study: bytes
    pair: int
    circuit: Circuit
    garbler: Participant
    evaluator: Participant
    aggregator: bytes

    def __post_init__(self) -> None:
        if len(self.study) != STUDY_BYTES:
            raise ParameterError(f"the digest of the study must have {STUDY_BYTES} bytes, got {len(self.study)}")
        if not 0 <= self.pair < 1 << 64:
            raise ParameterError(f"the number of the pair must be from 0 and below 2^64, got {self.pair}")
        numbers = (self.garbler.number, self.evaluator.number)
        if min(numbers) < 1 or max(numbers) >> 32 or numbers[0] == numbers[1]:
            raise ParameterError(f"a pair must be of two parties, numbered from 1 and below 2^32, got {numbers}")
        keys = (self.aggregator, self.garbler.key, self.evaluator.key)
        if any(len(key) != PUBLIC_KEY_BYTES for key in keys) or len(set(keys)) != len(keys):
            raise ParameterError("everybody in a pair needs an Ed25519 public key of their own, of 32 bytes")

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that tell this pair from all others; every message carries them."""
        return digest(
            HashDomain.TWOPARTY_SETTINGS,
            self.study,
            number(self.pair),
            _circuit_digest(self.circuit),
            number(self.garbler.number),
            self.garbler.key,
            number(self.evaluator.number),
            self.evaluator.key,
            self.aggregator,
        )

    @property
    def schedule(self) -> Schedule:
        return schedule_of(self.circuit)

    @property
    def extended(self) -> bool:
        return is_extended(self.circuit)

    @property
    def outputs(self) -> int:
        """How many bits are opened."""
        return len(self.circuit.output_wires)

    def public(self, number: int) -> bytes:
        return {
            AGGREGATOR: self.aggregator,
            self.garbler.number: self.garbler.key,
            self.evaluator.number: self.evaluator.key,
        }[number]

    def body_bytes(self, step: Step) -> int:
        return body_bytes(self.circuit, step)


@lru_cache(_CIRCUITS)
def _circuit_digest(circuit: Circuit) -> bytes:
    return circuit.digest()


# --- Mailboxes: messages are signed until there is a session, and sealed in it
#
#     sealed message = header | ChaCha20-Poly1305 of the body, with the header as associated data
#
# The session is hashed from the settings and the openings of all three, each with a fresh nonce and a fresh key: it is
# new to every one of them. Keys for sealing are of one session and direction, in which every step is sent at most once,
# so that the step is the nonce. A hello is tied to its invitation by the session that it names.

Outgoing = tuple[int, bytes]
"""Number of the receiver, and the message."""

_AEAD_NONCE_BYTES = 12


class Mailbox:
    """What the participant of a number, its owner, writes and accepts; whatever raises leaves it as it was."""

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
        """Sender and body of a signed opening."""
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
        """Begin the session of the pair, once all openings are known, by number."""
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
        """Sender and body of a sealed message."""
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
