"""Two people evaluate a public circuit on what only each of them knows, and an aggregator alone sees the outputs.

    1 invite    aggregator -> each             nonce, key for this pair                             signed
    2 hello     each -> aggregator, partner    nonce, key for this pair                             signed
    3 transfer  base transfers: of the garbler if they are extended, else of the evaluator          sealed
    4 extension evaluator -> garbler           its base transfers, 16 bytes an input                sealed
    5 garbled   garbler -> evaluator           labels of its bits and tables, and where transfers   sealed
                                               are not extended its base transfers and corrections
    6 half      each -> aggregator             permute bits of the outputs                          sealed

A garbler's half are the permute bits of the outputs' zero labels, an evaluator's those of the labels that it found:
their xor is the outputs, and either alone is uniform. `PairParty` and `PairAggregator` are state machines from bytes to
bytes. Whoever carries the messages sees who writes to whom, and how much; it has to keep the order of what each one
sends and of what each one is sent. The evaluator is invited after the garbler's hello, so that then nothing reaches
anybody before it is expected.

Learns: the aggregator the outputs; the two parties nothing, but that they took part.

Assumed: both parties follow the protocol, whoever else the other one is in league with. It does not protect against

- a garbler that garbles another circuit, whose outputs may tell the aggregator more of the evaluator's values;
- an evaluator that lies about its half, which flips outputs of its own pairs, or about its choices in an extension,
  which tells it bits of the garbler's secret and so of its values;
- selective failure: a garbler that spoils some labels learns from whether the evaluator gives up;
- an aggregator that a party tells everything it knows: together they know the outputs, as the aggregator does alone;
  what the circuit adds to them is hidden as long as the other party drew its bits uniformly;
- anybody who withholds messages, or sees them and counts.

When a release is made: neither half says anything, and both together are the outputs. A party counts a pair as spent
when its own half leaves it, for the partner and the aggregator may already hold all else; a pair that failed before may
be tried again with another partner, and costs it nothing. An aggregator that has given a pair up takes no half any
more, however late it comes: with both it would have an output that is counted nowhere.

Source:
    `crypto.md`, sections 7, 8 and 10; `ustatistics.md`, 7.1.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ogive.core.arrays import Bool
from ogive.crypto.circuits import Circuit, Port, arrange
from ogive.crypto.domains import HashDomain, Random, digest, number
from ogive.crypto.semi_honest import SemiHonestEvaluator, SemiHonestGarbler, Task, message_bytes, read_bits, write_bits
from ogive.crypto.transfer import LABEL_BITS
from ogive.crypto.wire import (
    HEADER_BYTES,
    PUBLIC_KEY_BYTES,
    SESSION_BYTES,
    SIGNED_BYTES,
    STUDY_BYTES,
    Header,
    Inbox,
    Note,
    Reader,
    Suite,
    agree,
    cipher_of,
    read_signed,
    sign,
)
from ogive.errors import ParameterError, PeerError

# --- The steps of a pair, and the lengths of their messages, which follow from the circuit

NONCE_BYTES = 16
TAG_BYTES = 16
SEALED_BYTES = HEADER_BYTES + TAG_BYTES
"""What header and tag add to a body."""


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
    if step in OPEN_STEPS:
        return NONCE_BYTES + PUBLIC_KEY_BYTES
    if step is Step.HALF:
        return -(-len(circuit.output_wires) // 8)
    return message_bytes(circuit, extended=is_extended(circuit))[step - Step.TRANSFER]


def pair_bytes(circuit: Circuit) -> dict[Step, int]:
    """Bytes that a pair sends by step, in all copies, with headers, signatures and tags; without the steps it lacks."""
    steps = [step for step in Step if step is not Step.EXTENSION or is_extended(circuit)]
    return {
        step: COPIES.get(step, 1) * ((SIGNED_BYTES if step in OPEN_STEPS else SEALED_BYTES) + body_bytes(circuit, step))
        for step in steps
    }


# --- What all agree on beforehand, and never take from each other

AGGREGATOR = 0
"""Number of who sees the outputs; parties are numbered from 1."""
_CIRCUITS = 64


@dataclass(frozen=True)
class Participant:
    """One party of a pair: its number, from 1 and below 2^32, and its Ed25519 public key."""

    number: int
    key: bytes


@dataclass(frozen=True)
class PairSettings:
    """One evaluation of one circuit by one pair.

    Fields:
        study: Digest of all that the pair belongs to, 32 bytes.
        pair: Number of the pair within it, so that a pair that meets twice has two sessions.
        aggregator: Ed25519 public key of who sees the outputs.
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
    def outputs(self) -> int:
        return len(self.circuit.output_wires)

    def public(self, number: int) -> bytes:
        return {
            AGGREGATOR: self.aggregator,
            self.garbler.number: self.garbler.key,
            self.evaluator.number: self.evaluator.key,
        }[number]


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

    def __init__(self, settings: PairSettings, owner: int, key: Ed25519PrivateKey, random: Random) -> None:
        if key.public_key().public_bytes_raw() != settings.public(owner):
            raise ParameterError(f"this is not the private key of number {owner}")
        self._settings = settings
        self._owner = owner
        self._key = key
        self._private: X25519PrivateKey | None = X25519PrivateKey.from_private_bytes(random(PUBLIC_KEY_BYTES))
        self.opening = random(NONCE_BYTES) + self._private.public_key().public_bytes_raw()
        """A fresh nonce, which makes the session new, and a key for this pair alone."""
        self.session = digest(HashDomain.TWOPARTY_OPENING, settings.digest, length=SESSION_BYTES)
        """Of the step at hand; that of the pair once all openings are known."""
        self._ciphers: dict[tuple[int, int], ChaCha20Poly1305] = {}
        numbers = {AGGREGATOR, settings.garbler.number, settings.evaluator.number}
        self._others = numbers - {owner}
        self._inbox = Inbox(suite=Suite.PAIRS, study=settings.digest, receiver=owner, senders=self._others)

    def write_opening(self, step: Step, receiver: int) -> Outgoing:
        return receiver, sign(self._header(step, receiver).message(self.opening), self._key)

    def read_opening(self, data: bytes, step: Step) -> tuple[int, bytes]:
        longest = body_bytes(self._settings.circuit, step)
        header, body = read_signed(
            self._inbox, data, public=self._settings.public, kind=step, session=self.session, round=step,
            longest=longest,
        )  # fmt: skip
        reader = Reader(body, "opening of the pair")
        reader.take(longest)
        reader.finish()
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
            agreed = agree(self._private, openings[other][NONCE_BYTES:], other)
            for way in ((self._owner, other), (other, self._owner)):
                ciphers[way] = cipher_of(HashDomain.TWOPARTY_CHANNEL, session, *way, agreed)
        self.session = session
        self._ciphers = ciphers
        self._private = None

    def seal(self, step: Step, receiver: int, body: bytes) -> Outgoing:
        assert len(body) == body_bytes(self._settings.circuit, step)
        header = self._header(step, receiver)
        sealed = self._ciphers[self._owner, receiver].encrypt(_nonce(step), body, header.message())
        return receiver, header.message(sealed)

    def unseal(self, data: bytes, step: Step) -> tuple[int, bytes]:
        wanted = body_bytes(self._settings.circuit, step)
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


# --- The input bits of a party: its values, and the noise that it draws itself


def drawn_bits(
    ports: tuple[Port, ...],
    values: Mapping[str, int],
    *,
    noise: Collection[str] = ("noise",),
    random: Random = os.urandom,
) -> Bool:
    """One party's inputs in the order of its wires, shape (wires,), secret; those named in `noise` are drawn."""
    results: dict[str, Bool] = {}
    for port in ports:
        if port.name in noise:
            drawn = np.frombuffer(random(-(-port.width // 8)), np.uint8)
            results[port.name] = np.unpackbits(drawn, count=port.width).astype(np.bool_)[None]
    for name, value in values.items():
        if name in results:
            raise ParameterError(f"{name} is noise, which is drawn and not given")
        width = next((port.width for port in ports if port.name == name), 0)
        if not 0 <= value < 1 << width:
            raise ParameterError(
                f"`{name}` must be the name of an input, and from 0 to {(1 << width) - 1}, got {value}"
            )
        results[name] = np.array([[value >> place & 1 for place in range(width)]], np.bool_)
    bits: Bool = arrange(ports, results)[0]
    return bits


# --- A party of a pair
#
#     invitation -> its hello to the aggregator, and of the evaluator to the garbler, who was invited before it
#     the partner's hello -> the garbler's to the evaluator, and what a role begins with
#     every message of the partner -> what a role answers, and its half to the aggregator at the end
#
# Any bytes are accepted or raise PeerError. What is not from whom it should be, or not the next step, leaves the party
# as it was; what is, but malformed, ends the pair. Once a pair is over its secrets are dropped and arrays overwritten,
# as far as Python allows: bytes that were made on the way stay in memory until it is used for something else.

_EXPECTED: dict[tuple[bool, bool], tuple[Step, ...]] = {
    (True, True): (Step.EXTENSION,),
    (True, False): (Step.TRANSFER,),
    (False, True): (Step.TRANSFER, Step.GARBLED),
    (False, False): (Step.GARBLED,),
}
"""Steps of the partner that a party waits for, in turn: by whether it garbles, and whether transfers are extended."""


class PairParty:
    """The garbler or the evaluator of a pair, as its number says, for one session.

    Args:
        bits: Its inputs in the order of their wires, values and noise (`drawn_bits`), shape (wires,).
        key: Its enrolment key, whose public half is in the settings.
        note: Called as note(token, value) before its half is made, which must not be given twice; has to outlive the
            process and be one for all of the party's sessions, or a restarted party could be asked for another output
            of the same pair, which nobody has agreed to.
    """

    def __init__(
        self,
        settings: PairSettings,
        number: int,
        bits: Bool,
        *,
        key: Ed25519PrivateKey,
        note: Note,
        random: Random = os.urandom,
    ) -> None:
        if number not in (settings.garbler.number, settings.evaluator.number):
            raise ParameterError(f"number {number} is not of this pair")
        self._garbles = number == settings.garbler.number
        wanted = settings.circuit.garbler_bits if self._garbles else settings.circuit.evaluator_bits
        if bits.shape != (wanted,):
            raise ParameterError(f"this party has {wanted} inputs, got bits of shape {bits.shape}")
        self._settings = settings
        self._number = number
        self._partner = (settings.evaluator if self._garbles else settings.garbler).number
        self._bits = bits.copy()
        self._note = note
        self._random = random
        self._mailbox = Mailbox(settings, number, key, random)
        self._role: SemiHonestGarbler | SemiHonestEvaluator | None = None
        self._openings = {number: self._mailbox.opening}
        self._expected: tuple[Step, ...] = OPEN_STEPS
        self.spent = False
        """Whether its half may have left it: then the pair counts, whatever became of it."""

    @property
    def over(self) -> bool:
        """Whether no message is expected any more."""
        return not self._expected

    def receive(self, data: bytes) -> list[Outgoing]:
        """From a message to the messages that answer it."""
        if self.over:
            raise PeerError("this party has nothing more to say in this pair")
        step = self._expected[0]
        read = self._mailbox.read_opening if step in OPEN_STEPS else self._mailbox.unseal
        sender, body = read(data, step)
        try:
            answers = self._answer(step, sender, body)
        except PeerError:
            self.close()
            raise
        self._expected = self._expected[1:]
        if self.over:
            self.close()
        return answers

    def close(self) -> None:
        """Give the pair up, or end it: no message is sent any more, and secrets are dropped."""
        self._expected = ()
        self._bits.fill(False)
        if self._role is not None:
            self._role.erase()
            self._role = None
        self._mailbox.close()

    def _answer(self, step: Step, sender: int, body: bytes) -> list[Outgoing]:
        if step is Step.INVITE:
            self._openings[sender] = body
            self._mailbox.invited(body)
            # to the aggregator first: then it knows the session before it can get a half
            receivers = (AGGREGATOR,) if self._garbles else (AGGREGATOR, self._partner)
            return self._hellos(*receivers)
        if step is Step.HELLO:
            hellos = self._hellos(self._partner) if self._garbles else []
            self._openings[sender] = body
            self._mailbox.meet(self._openings)
            extended = is_extended(self._settings.circuit)
            kind = SemiHonestGarbler if self._garbles else SemiHonestEvaluator
            task = Task(self._settings.circuit, 1, self._mailbox.session, extended)
            self._role = kind(task, self._bits[np.newaxis], self._random)
            self._expected += _EXPECTED[self._garbles, extended]
            # the garbler begins where its transfers are extended, else the evaluator
            return hellos + self._sealed({Step.TRANSFER: self._role.transfer} if self._garbles == extended else {})
        if isinstance(self._role, SemiHonestGarbler):
            garbled, half = self._role.garbled(body)
            return self._sealed({Step.HALF: write_bits(half[0]), Step.GARBLED: garbled})
        assert self._role is not None
        if step is Step.TRANSFER:
            return self._sealed({Step.EXTENSION: self._role.extension(body)})
        return self._sealed({Step.HALF: write_bits(self._role.half(body)[0])})

    def _hellos(self, *receivers: int) -> list[Outgoing]:
        return [self._mailbox.write_opening(Step.HELLO, receiver) for receiver in receivers]

    def _sealed(self, bodies: dict[Step, bytes]) -> list[Outgoing]:
        if Step.HALF in bodies:
            if self._note(b"pair " + self._settings.digest, b"") is not None:
                raise PeerError("this party gave its half of this pair before")
            self.spent = True
        return [
            self._mailbox.seal(step, AGGREGATOR if step is Step.HALF else self._partner, body)
            for step, body in bodies.items()
        ]


# --- The aggregator, who sees the outputs of a pair
#
#     `invitation` to the garbler;  its hello -> the invitation to the evaluator, whose hello follows;
#     each party's half -> the outputs, once both are in
#
# Learns the outputs and nothing else. Any bytes are accepted or raise PeerError, and what raises leaves it as it was,
# but for an authentic message that is malformed, which ends the pair. A pair that was given up (`close`) takes nothing
# any more.

_PARTICIPANTS = 3


class PairAggregator:
    """The aggregator of a pair, for one session."""

    def __init__(self, settings: PairSettings, *, key: Ed25519PrivateKey, random: Random = os.urandom) -> None:
        self._settings = settings
        self._mailbox = Mailbox(settings, AGGREGATOR, key, random)
        self._openings = {AGGREGATOR: self._mailbox.opening}
        parties = (settings.garbler.number, settings.evaluator.number)
        self.invitation, self._second = (self._mailbox.write_opening(Step.INVITE, party) for party in parties)
        self._mailbox.invited(self._mailbox.opening)
        self._halves: dict[int, Bool] = {}
        self._over = False
        self.outputs: Bool | None = None
        """The circuit's output bits, shape (outputs,), once there are any."""

    @property
    def begun(self) -> bool:
        """Whether both parties have sent a hello: from then on either may have given its half, arrived or not."""
        return len(self._openings) == _PARTICIPANTS

    @property
    def over(self) -> bool:
        """Whether no message is accepted any more."""
        return self._over

    def receive(self, data: bytes) -> list[Outgoing]:
        """Take a party's hello, or its half, and say what follows; after the second half there are `outputs`.

        The evaluator is invited once the garbler has answered: so nobody hears of a pair before it was invited to it.
        """
        if self._over:
            raise PeerError("this pair is over, and nothing more is taken")
        step = Step.HALF if self.begun else Step.HELLO
        read = self._mailbox.unseal if self.begun else self._mailbox.read_opening
        sender, body = read(data, step)
        try:
            return self._take(step, sender, body)
        except PeerError:
            self.close()
            raise

    def close(self) -> None:
        """Give the pair up, or end it; a half that has come alone is dropped, and tells nothing."""
        self._over = True
        self._halves = {}
        self._mailbox.close()

    def _take(self, step: Step, sender: int, body: bytes) -> list[Outgoing]:
        if step is Step.HELLO:
            self._openings[sender] = body
            if not self.begun:
                return [self._second]
            self._mailbox.meet(self._openings)
            return []
        self._halves[sender] = read_bits(body, self._settings.outputs)
        if len(self._halves) == _PARTICIPANTS - 1:
            first, second = self._halves.values()
            self.outputs = first ^ second
            self.close()
        return []
