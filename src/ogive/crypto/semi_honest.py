"""Two parties evaluate one public circuit on many inputs at once, if both follow the protocol.

    1 transfer   garbler -> evaluator    its base transfers, in which it chooses the bits of its secret
    2 extension  evaluator -> garbler    its base transfers, 16 bytes for each of its input bits
    3 garbled    garbler -> evaluator    labels of its input bits, 32 bytes for each AND gate

or, without an extension, which is shorter for few input bits of the evaluator,

    1 transfer   evaluator -> garbler    its base transfers, in which it chooses its input bits
    2 garbled    garbler -> evaluator    its base transfers and corrections, labels of its input bits, the gates

Each then has a half of every output: the permute bit of the output's zero label, and that of the label that was found.
The xor of both is the output, and either half alone is uniform. Who is given the other's half, and so learns outputs,
is up to whoever runs the parties. They are machines from bytes to bytes, for one session, over channels that nobody
else reads or changes.

All instances of a session have the same secret of the garbler, as the gates of one large circuit have. A session and
its secret are used once.

Learns: either party nothing but what halves it is given.

Assumed: **both parties follow the protocol** (they are semi-honest) and do not tell each other what they know. A
garbler that does not may garble another circuit, whose outputs tell of the evaluator's inputs; an evaluator that does
not may flip outputs, or learn bits of the secret by lying in the extension. The types are named for it.

Source:
    Yao 1986; Zahur, Rosulek and Evans 2015; Asharov, Lindell, Schneider and Zohner 2013; `crypto.md`, sections 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Bool, UInt64
from ogive.crypto import garbling
from ogive.crypto.circuits import Circuit
from ogive.crypto.domains import SEED_BYTES, Random, WordStream
from ogive.crypto.garbling import LABEL_BYTES, GateKeys, Schedule
from ogive.crypto.transfer import (
    LABEL_BITS,
    POINT_BYTES,
    BaseTransfers,
    bits_of,
    correct_choices,
    correct_zeros,
    extend_choices,
    extend_zeros,
)
from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError

MOST_INSTANCES = garbling.CHUNK_PAIRS
"""Instances that one session may have: they share the keys of gates."""

_TABLE_BYTES = 2 * LABEL_BYTES
_SESSION_BYTES = 1 << 26
"""What one party sends in a session is kept below this where it can be, and so is memory."""


@dataclass(frozen=True)
class Task:
    """What both parties know of one session.

    Fields:
        instances: On how many inputs it is evaluated, 1 to `MOST_INSTANCES`.
        session: 16 bytes, never used for anything else.
        extended: Whether 128 base transfers are extended, or each input bit of the evaluator has one of its own.
    """

    circuit: Circuit
    instances: int
    session: bytes
    extended: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.instances <= MOST_INSTANCES:
            raise ParameterError(f"a session has 1 to {MOST_INSTANCES} instances, got {self.instances}")

    @property
    def schedule(self) -> Schedule:
        return garbling.schedule_of(self.circuit)

    @property
    def keys(self) -> GateKeys:
        return GateKeys(self.session)

    def check(self, bits: Bool, wires: int) -> None:
        if bits.shape != (self.instances, wires):
            raise ParameterError(f"this party has inputs of the shape {(self.instances, wires)}, got {bits.shape}")


class SemiHonestGarbler:
    """Who garbles, for one session, inputs of shape (instances, wires).

    It learns nothing: what it is sent does not depend on any output.
    """

    def __init__(self, task: Task, bits: Bool, random: Random) -> None:
        task.check(bits, task.circuit.garbler_bits)
        self._task = task
        self._bits = bits
        self._stream = WordStream(random(SEED_BYTES))
        self._delta = garbling.fresh_deltas(1, self._stream)
        self._transfers = BaseTransfers(random)
        self._chosen = self._transfers.receiver(task.session, bits_of(self._delta[0])) if task.extended else None
        self.transfer = b"" if self._chosen is None else self._chosen.message
        """For the evaluator; nothing where it sends transfers of its own."""

    def garbled(self, received: bytes) -> tuple[bytes, Bool]:
        """What the evaluator needs, and the garbler's half of the outputs, shape (instances, outputs).

        `received` is the evaluator's extension, or its transfers where there is none.
        """
        circuit, instances = self._task.circuit, self._task.instances
        corrections, theirs = self._evaluator_zeros(received, circuit.evaluator_bits * instances)
        own = garbling.fresh_zeros(circuit.garbler_bits, instances, self._stream)
        zeros = np.concatenate([own, theirs.reshape(-1, instances, 2)])
        deltas = np.repeat(self._delta, instances, axis=0)
        tables, ends = garbling.garble(self._task.schedule, zeros, deltas, self._task.keys)
        labels = garbling.labels_of(self._bits.T, own, deltas)
        message = b"".join([corrections, labels.astype("<u8").tobytes(), tables.astype("<u8").tobytes()])
        half = garbling.permute_bits(ends).T
        for secret in (zeros, own, ends, deltas, self._delta):
            secret.fill(0)
        return message, half

    def erase(self) -> None:
        self._bits.fill(False)
        self._delta.fill(0)

    def _evaluator_zeros(self, received: bytes, inputs: int) -> tuple[bytes, UInt64]:
        """What the evaluator needs to find labels of its inputs, and their zero labels, shape (inputs, 2)."""
        delta = self._delta[0]
        if self._chosen is None:
            sender = self._transfers.sender(self._task.session, inputs)
            corrections, zeros = correct_zeros(sender.keys(received), delta)
            return sender.message + corrections, zeros
        reader = Reader(received, "extension")
        keys = self._chosen.keys(reader.take(POINT_BYTES * LABEL_BITS))
        return b"", extend_zeros(keys, delta, reader.take(reader.left), inputs=inputs)


class SemiHonestEvaluator:
    """Who evaluates, for one session, inputs of shape (instances, wires).

    It learns nothing: the labels that it finds are uniform to it.
    """

    def __init__(self, task: Task, bits: Bool, random: Random) -> None:
        task.check(bits, task.circuit.evaluator_bits)
        self._task = task
        self._bits = np.ascontiguousarray(bits.T).ravel()
        self._transfers = BaseTransfers(random)
        self._chosen = None if task.extended else self._transfers.receiver(task.session, self._bits.tolist())
        self.transfer = b"" if self._chosen is None else self._chosen.message
        """For the garbler; nothing where its transfers are extended."""
        self._labels: UInt64 = np.empty((0, 2), np.uint64)

    def extension(self, transfer: bytes) -> bytes:
        sender = self._transfers.sender(self._task.session, LABEL_BITS)
        columns, self._labels = extend_choices(sender.keys(transfer), self._bits)
        return sender.message + columns

    def half(self, garbled: bytes) -> Bool:
        """The evaluator's half of the outputs, shape (instances, outputs)."""
        circuit, instances, inputs = self._task.circuit, self._task.instances, self._bits.size
        reader = Reader(garbled, "garbled circuit")
        if self._chosen is not None:
            keys = self._chosen.keys(reader.take(POINT_BYTES * inputs))
            self._labels = correct_choices(keys, self._bits, reader.take(LABEL_BYTES * inputs))
        theirs = reader.array(2 * circuit.garbler_bits * instances, "<u8").reshape(-1, instances, 2)
        tables = reader.array(4 * circuit.ands * instances, "<u8").reshape(-1, instances, 2, 2)
        reader.finish()
        held = np.concatenate([theirs, self._labels.reshape(-1, instances, 2)])
        return garbling.permute_bits(garbling.evaluate(self._task.schedule, held, tables, self._task.keys)).T

    def erase(self) -> None:
        """Overwrite its values, and drop their labels and choices."""
        self._bits.fill(False)
        self._chosen = None
        self._labels = np.empty((0, 2), np.uint64)


def message_bytes(circuit: Circuit, instances: int = 1, *, extended: bool = True) -> tuple[int, int, int]:
    """Lengths of the transfer, of the extension, if there is one, and of the garbled circuit, without headers."""
    inputs = instances * circuit.evaluator_bits
    transfers, direct = (LABEL_BITS, 0) if extended else (inputs, (POINT_BYTES + LABEL_BYTES) * inputs)
    padded = -(-inputs // LABEL_BITS) * LABEL_BITS
    garbled = instances * (LABEL_BYTES * circuit.garbler_bits + _TABLE_BYTES * circuit.ands)
    return 2 * POINT_BYTES * transfers, POINT_BYTES * transfers + LABEL_BYTES * padded, direct + garbled


def instances_at_once(circuit: Circuit) -> int:
    """How many instances make a session: all that may, fewer where messages would be long."""
    each = max(LABEL_BYTES * circuit.garbler_bits + _TABLE_BYTES * circuit.ands, LABEL_BYTES * circuit.evaluator_bits)
    return max(1, min(MOST_INSTANCES, _SESSION_BYTES // each))


def write_bits(bits: Bool) -> bytes:
    """Bits of shape (count,), eight a byte."""
    return np.packbits(bits, bitorder="little").tobytes()


def read_bits(body: bytes, count: int) -> Bool:
    """Random bits, shape (count,)."""
    reader = Reader(body, "half of the outputs")
    packed = reader.array(-(-count // 8), "u1")
    reader.finish()
    bits = np.unpackbits(packed, bitorder="little").astype(np.bool_)
    if bits[count:].any():
        raise PeerError("the half of the outputs has bits of no output")
    return bits[:count]
