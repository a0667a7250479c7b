"""The garbler and the evaluator of many instances of one circuit, from bodies of messages to bodies of messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.circuits import Circuit
from ogive.crypto.garbling import GateKeys, evaluate, garble
from ogive.crypto.garbling.hashing import CHUNK_PAIRS
from ogive.crypto.garbling.schedule import Schedule, schedule_of
from ogive.crypto.garbling.wires import LABEL_BYTES, fresh_deltas, fresh_zeros, labels_of, permute_bits
from ogive.crypto.streams import SEED_BYTES, WordStream
from ogive.crypto.transfer import BaseTransfers, extend_choices, extend_zeros
from ogive.crypto.transfer.extension import LABEL_BITS, bits_of
from ogive.crypto.transfer.group import POINT_BYTES, Random
from ogive.crypto.wire import Reader
from ogive.errors import ParameterError

MOST_INSTANCES = CHUNK_PAIRS
"""Instances that one session may have: they share the keys of gates."""

_TABLE_BYTES = 32
_SESSION_BYTES = 1 << 26
"""What one party sends in a session is kept below this where it can be, and so is memory."""
_CIRCUITS = 16


@dataclass(frozen=True)
class Task:
    """What both parties know of one session.

    Fields:
        circuit: Which one.
        instances: On how many inputs it is evaluated, 1 to `MOST_INSTANCES`.
        session: 16 bytes, never used for anything else.

    Raises:
        ParameterError: there are no instances, or too many of them.
    """

    circuit: Circuit
    instances: int
    session: bytes

    def __post_init__(self) -> None:
        if not 1 <= self.instances <= MOST_INSTANCES:
            raise ParameterError(f"a session has 1 to {MOST_INSTANCES} instances, got {self.instances}")

    @cached_property
    def schedule(self) -> Schedule:
        """The order in which the circuit is garbled; made once for all sessions."""
        return _schedule(self.circuit)

    @property
    def keys(self) -> GateKeys:
        """Keys of the gates."""
        return GateKeys(self.session)

    def check(self, bits: Bool, wires: int) -> None:
        """Refuse inputs of another shape.

        Raises:
            ParameterError: bits are not of the shape (instances, wires).
        """
        if bits.shape != (self.instances, wires):
            raise ParameterError(f"this party has inputs of the shape {(self.instances, wires)}, got {bits.shape}")


class SemiHonestGarbler:
    """Who garbles, for one session; it must follow the protocol, and so must the evaluator.

    Args:
        task: What is evaluated.
        bits: Its inputs, shape (instances, wires).
        random: Gives so many random bytes.

    Raises:
        ParameterError: inputs are of another shape.
    """

    def __init__(self, task: Task, bits: Bool, random: Random) -> None:
        task.check(bits, task.circuit.garbler_bits)
        self._task = task
        self._bits = bits
        self._stream = WordStream(random(SEED_BYTES))
        self._delta = fresh_deltas(1, self._stream)
        self._chosen = BaseTransfers(random).receiver(task.session, bits_of(self._delta[0]))
        self.transfer = self._chosen.message
        """For the evaluator."""

    def garbled(self, extension: bytes) -> tuple[bytes, Bool]:
        """What the evaluator needs, and the garbler's half of the outputs, shape (instances, outputs).

        Args:
            extension: The evaluator's answer to `transfer`.

        Raises:
            PeerError: it is malformed.
        """
        circuit, instances, delta = self._task.circuit, self._task.instances, self._delta[0]
        reader = Reader(extension, "extension")
        keys = self._chosen.keys(reader.take(POINT_BYTES * LABEL_BITS))
        inputs = circuit.evaluator_bits * instances
        theirs = extend_zeros(keys, delta, reader.take(reader.left), inputs=inputs)
        own = fresh_zeros(circuit.garbler_bits, instances, self._stream)
        zeros = np.concatenate([own, theirs.reshape(-1, instances, 2)])
        deltas = np.repeat(self._delta, instances, axis=0)
        tables, ends = garble(self._task.schedule, zeros, deltas, self._task.keys)
        labels = labels_of(self._bits.T, own, deltas)
        message = labels.astype("<u8").tobytes() + tables.astype("<u8").tobytes()
        half = permute_bits(ends).T
        for secret in (zeros, own, ends, deltas, self._delta):
            secret.fill(0)
        return message, half


class SemiHonestEvaluator:
    """Who evaluates, for one session; it must follow the protocol, and so must the garbler.

    Args:
        task: What is evaluated.
        bits: Its inputs, shape (instances, wires).
        random: Gives so many random bytes.

    Raises:
        ParameterError: inputs are of another shape.
    """

    def __init__(self, task: Task, bits: Bool, random: Random) -> None:
        task.check(bits, task.circuit.evaluator_bits)
        self._task = task
        self._bits = bits
        self._transfers = BaseTransfers(random)
        self._labels: UInt64 = np.empty((0, 2), np.uint64)

    def extension(self, transfer: bytes) -> bytes:
        """What answers the garbler's transfers.

        Raises:
            PeerError: they are malformed.
        """
        sender = self._transfers.sender(self._task.session, LABEL_BITS)
        columns, self._labels = extend_choices(sender.keys(transfer), np.ascontiguousarray(self._bits.T).ravel())
        return sender.message + columns

    def half(self, garbled: bytes) -> Bool:
        """The evaluator's half of the outputs, shape (instances, outputs).

        Raises:
            PeerError: what the garbler sent is malformed.
        """
        circuit, instances = self._task.circuit, self._task.instances
        reader = Reader(garbled, "garbled circuit")
        theirs = reader.array(2 * circuit.garbler_bits * instances, "<u8").reshape(-1, instances, 2)
        tables = reader.array(4 * circuit.ands * instances, "<u8").reshape(-1, instances, 2, 2)
        reader.finish()
        held = np.concatenate([theirs, self._labels.reshape(-1, instances, 2)])
        return permute_bits(evaluate(self._task.schedule, held, tables, self._task.keys)).T


def sent_bytes(circuit: Circuit, instances: int) -> tuple[int, int]:
    """Bytes that the garbler and the evaluator send in one session, without headers."""
    garbler = instances * (LABEL_BYTES * circuit.garbler_bits + _TABLE_BYTES * circuit.ands)
    padded = -(-instances * circuit.evaluator_bits // LABEL_BITS) * LABEL_BITS
    return garbler + 2 * POINT_BYTES * LABEL_BITS, LABEL_BYTES * padded + POINT_BYTES * LABEL_BITS


def instances_at_once(circuit: Circuit) -> int:
    """How many instances make a session: all that may, fewer where messages would be long."""
    each = max(LABEL_BYTES * circuit.garbler_bits + _TABLE_BYTES * circuit.ands, LABEL_BYTES * circuit.evaluator_bits)
    return max(1, min(MOST_INSTANCES, _SESSION_BYTES // each))


@lru_cache(_CIRCUITS)
def _schedule(circuit: Circuit) -> Schedule:
    return schedule_of(circuit)
