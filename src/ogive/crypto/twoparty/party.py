"""The participants of a pair as state machines from bytes to bytes: garbler, evaluator and aggregator."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import Bool, UInt64
from ogive.crypto.aes import SEED_BYTES, WordStream
from ogive.crypto.circuits import Port, arrange
from ogive.crypto.garbling import (
    LABEL_BYTES,
    GateKeys,
    evaluate,
    fresh_deltas,
    fresh_zeros,
    garble,
    labels_of,
    permute_bits,
)
from ogive.crypto.transfer import (
    LABEL_BITS,
    POINT_BYTES,
    BaseReceiver,
    BaseTransfers,
    Random,
    bits_of,
    correct_choices,
    correct_zeros,
    extend_choices,
    extend_zeros,
)
from ogive.crypto.twoparty.messages import (
    AGGREGATOR,
    OPEN_STEPS,
    Mailbox,
    Outgoing,
    PairSettings,
    Step,
    read_bits,
    write_bits,
)
from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError

# --- The input bits of a party: its values, and the noise that it draws itself


def drawn_bits(
    ports: tuple[Port, ...],
    values: Mapping[str, int],
    *,
    noise: Collection[str] = ("noise",),
    random: Callable[[int], bytes] = os.urandom,
) -> Bool:
    """One party's inputs in the order of its wires, shape (wires,); nobody else may see them.

    Args:
        ports: The party's inputs.
        values: Whole numbers by the names of inputs.
        noise: Names of the inputs that are noise: where there are such inputs, their bits are drawn.
        random: Gives so many random bytes; has to be secret and uniform, for the noise is.

    Raises:
        ParameterError: names are others than those of the inputs, or a value does not fit in its width.
    """
    found: dict[str, Bool] = {}
    for port in ports:
        if port.name in noise:
            drawn = np.frombuffer(random(-(-port.width // 8)), np.uint8)
            found[port.name] = np.unpackbits(drawn, count=port.width).astype(np.bool_)[None]
    for name, value in values.items():
        if name in found:
            raise ParameterError(f"{name} is noise, which is drawn and not given")
        width = next((port.width for port in ports if port.name == name), 0)
        if not 0 <= value < 1 << width:
            raise ParameterError(
                f"`{name}` must be the name of an input, and from 0 to {(1 << width) - 1}, got {value}"
            )
        found[name] = np.array([[value >> place & 1 for place in range(width)]], np.bool_)
    bits: Bool = arrange(ports, found)[0]
    return bits


# --- What a garbler computes in a session, from bodies of messages to bodies of messages
#
#     begin    -> its base transfers, where they are extended
#     answer   to the evaluator's transfers -> its half, labels and tables, corrections where transfers are direct
#
# It learns nothing: what it is sent does not depend on any output.


class Garbler:
    """The garbler, for one session of 16 bytes that is new to it; `bits` are its inputs, shape (wires,)."""

    def __init__(self, settings: PairSettings, session: bytes, bits: Bool, random: Random) -> None:
        self.expected: tuple[Step, ...] = (Step.EXTENSION,) if settings.extended else (Step.TRANSFER,)
        self._settings = settings
        self._session = session
        self._bits = bits
        self._stream = WordStream(random(SEED_BYTES))
        self._delta = fresh_deltas(1, self._stream)
        self._transfers = BaseTransfers(random)
        self._chosen: BaseReceiver | None = None

    def begin(self) -> dict[Step, bytes]:
        if not self._settings.extended:
            return {}
        self._chosen = self._transfers.receiver(self._session, bits_of(self._delta[0]))
        return {Step.TRANSFER: self._chosen.message}

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        assert step in self.expected
        direct, theirs = self._evaluator_zeros(body)
        circuit = self._settings.circuit
        own = fresh_zeros(circuit.garbler_bits, 1, self._stream)
        zeros = np.concatenate([own, theirs[:, None]])
        tables, ends = garble(self._settings.schedule, zeros, self._delta, GateKeys(self._session))
        labels = labels_of(self._bits[:, None], own, self._delta)
        garbled = b"".join([direct, labels.astype("<u8").tobytes(), tables.astype("<u8").tobytes()])
        half = write_bits(permute_bits(ends)[:, 0])
        for secret in (zeros, own, ends):
            secret.fill(0)
        return {Step.HALF: half, Step.GARBLED: garbled}

    def erase(self) -> None:
        """Overwrite its values and its secret."""
        self._bits.fill(False)
        self._delta.fill(0)
        del self._stream, self._chosen

    def _evaluator_zeros(self, body: bytes) -> tuple[bytes, UInt64]:
        """What the evaluator needs to find labels of its inputs, and their zero labels, shape (inputs, 2)."""
        inputs, delta = self._settings.circuit.evaluator_bits, self._delta[0]
        if self._chosen is None:
            sender = self._transfers.sender(self._session, inputs)
            corrections, zeros = correct_zeros(sender.keys(body), delta)
            return sender.message + corrections, zeros
        reader = Reader(body, "extension")
        keys = self._chosen.keys(reader.take(POINT_BYTES * LABEL_BITS))
        return b"", extend_zeros(keys, delta, reader.take(reader.left), inputs=inputs)


# --- What an evaluator computes in a session, from bodies of messages to bodies of messages
#
#     begin    -> its base transfers, where they are direct
#     answer   to the garbler's base transfers -> its own and the extension
#              to labels and tables -> its half
#
# It learns nothing: the labels that it finds are uniform to it.


class Evaluator:
    """The evaluator, for one session of 16 bytes that is new to it; `bits` are its inputs, shape (wires,)."""

    def __init__(self, settings: PairSettings, session: bytes, bits: Bool, random: Random) -> None:
        self.expected: tuple[Step, ...] = (Step.TRANSFER, Step.GARBLED) if settings.extended else (Step.GARBLED,)
        self._settings = settings
        self._session = session
        self._bits = bits
        self._transfers = BaseTransfers(random)
        self._chosen: BaseReceiver | None = None
        self._labels: UInt64 = np.zeros((0, 2), np.uint64)

    def begin(self) -> dict[Step, bytes]:
        if self._settings.extended:
            return {}
        self._chosen = self._transfers.receiver(self._session, self._bits.tolist())
        return {Step.TRANSFER: self._chosen.message}

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        """Extend the garbler's base transfers, or evaluate."""
        assert step in self.expected
        if step is Step.TRANSFER:
            sender = self._transfers.sender(self._session, LABEL_BITS)
            columns, self._labels = extend_choices(sender.keys(body), self._bits)
            return {Step.EXTENSION: sender.message + columns}
        circuit, inputs = self._settings.circuit, self._bits.size
        reader = Reader(body, "garbled circuit")
        if self._chosen is not None:
            keys = self._chosen.keys(reader.take(POINT_BYTES * inputs))
            self._labels = correct_choices(keys, self._bits, reader.take(LABEL_BYTES * inputs))
        theirs = reader.array(2 * circuit.garbler_bits, "<u8").reshape(-1, 2)
        tables = reader.array(4 * circuit.ands, "<u8").reshape(-1, 1, 2, 2)
        reader.finish()
        held = np.concatenate([theirs, self._labels])[:, None]
        found = evaluate(self._settings.schedule, held, tables, GateKeys(self._session))
        return {Step.HALF: write_bits(permute_bits(found)[:, 0])}

    def erase(self) -> None:
        """Overwrite its values and labels."""
        self._bits.fill(False)
        self._labels = np.zeros((0, 2), np.uint64)
        self._chosen = None


# --- A party of a pair
#
#     invitation -> its hello to the aggregator, and of the evaluator to the garbler, who was invited before it
#     the partner's hello -> the garbler's to the evaluator, and what a role begins with
#     every message of the partner -> what a role answers, and its half to the aggregator at the end
#
# Any bytes are accepted or raise PeerError. What is not from whom it should be, or not the next step, leaves the party
# as it was; what is, but malformed, ends the pair. Once a pair is over its secrets are dropped and arrays overwritten,
# as far as Python allows: bytes that were made on the way stay in memory until it is used for something else.

Note = Callable[[bytes, bytes], bytes | None]
"""Notes a value for good unless the token has one, and says which it had, None for none."""


class Role(Protocol):
    """What a garbler or an evaluator computes."""

    expected: tuple[Step, ...]
    """Steps of the partner that it waits for, in turn."""

    def begin(self) -> dict[Step, bytes]:
        """Bodies by step, before anything was received."""

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        """Bodies by step, for the partner and of the half for the aggregator."""

    def erase(self) -> None:
        """Overwrite secrets."""


class PairParty:
    """The garbler or the evaluator of a pair, for one session.

    Args:
        settings: Agreed on beforehand.
        number: The party's, which says its role.
        bits: Its inputs in the order of their wires, values and noise (`drawn_bits`), shape (wires,).
        key: Its enrolment key, whose public half is in the settings.
        note: Called as note(token, value) before its half is made, which must not be given twice; has to outlive the
            process and be one for all of the party's sessions, or a restarted party could be asked for another output
            of the same pair, which nobody has agreed to.
        random: Gives so many random bytes.

    Raises:
        ParameterError: the number is of neither party, the key another's, or there are more or fewer bits than inputs.
    """

    def __init__(
        self,
        settings: PairSettings,
        number: int,
        bits: Bool,
        *,
        key: Ed25519PrivateKey,
        note: Note,
        random: Callable[[int], bytes] = os.urandom,
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
        self._role: Role | None = None
        self._openings = {number: self._mailbox.opening}
        self._expected: tuple[Step, ...] = OPEN_STEPS
        self.spent = False
        """Whether its half may have left it: then the pair counts, whatever became of it."""

    @property
    def over(self) -> bool:
        """Whether no message is expected any more."""
        return not self._expected

    def receive(self, data: bytes) -> list[Outgoing]:
        """From a message to the messages that answer it.

        Raises:
            PeerError: it is not the next message of who should send it, or malformed, or the half was given before.
        """
        if self.over:
            raise PeerError("this party has nothing more to say in this pair")
        step = self._expected[0]
        read = self._mailbox.read_opening if step in OPEN_STEPS else self._mailbox.unseal
        sender, body = read(data, step)
        try:
            said = self._answer(step, sender, body)
        except PeerError:
            self.close()
            raise
        self._expected = self._expected[1:]
        if self.over:
            self.close()
        return said

    def close(self) -> None:
        """Give the pair up, or end it: nothing is said any more, and secrets are dropped."""
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
            said = self._hellos(self._partner) if self._garbles else []
            self._openings[sender] = body
            self._mailbox.meet(self._openings)
            kind = Garbler if self._garbles else Evaluator
            role: Role = kind(self._settings, self._mailbox.session, self._bits, self._random)
            self._role = role
            self._expected += role.expected
            return said + self._sealed(role.begin())
        assert self._role is not None
        return self._sealed(self._role.answer(step, body))

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
    """The aggregator of a pair, for one session.

    Args:
        settings: Agreed on beforehand.
        key: Its enrolment key, whose public half is in the settings.
        random: Gives so many random bytes.

    Raises:
        ParameterError: the key is another's.
    """

    def __init__(
        self, settings: PairSettings, *, key: Ed25519PrivateKey, random: Callable[[int], bytes] = os.urandom
    ) -> None:
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
        """Whether both parties have said hello: from then on either may have given its half, arrived or not."""
        return len(self._openings) == _PARTICIPANTS

    @property
    def over(self) -> bool:
        """Whether no message is accepted any more."""
        return self._over

    def receive(self, data: bytes) -> list[Outgoing]:
        """Take a party's hello, or its half, and say what follows; after the second half there are `outputs`.

        The evaluator is invited once the garbler has answered: so nobody hears of a pair before it was invited to it.

        Raises:
            PeerError: it is neither, comes too early, too late or again, or is malformed.
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
