"""Messages of a pair: their steps, the lengths of their bodies, which follow from the circuit, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ogive.arrays import Bool
from ogive.crypto.channels import PUBLIC_KEY_BYTES, SIGNED_BYTES
from ogive.crypto.circuits import Circuit
from ogive.crypto.garbling.wires import LABEL_BYTES
from ogive.crypto.transfer.extension import LABEL_BITS
from ogive.crypto.transfer.group import POINT_BYTES
from ogive.crypto.wire import HEADER_BYTES, Reader
from ogive.errors import PeerError

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
        """Read one.

        Raises:
            PeerError: it has another length.
        """
        reader = Reader(body, "opening of the pair")
        read = cls(reader.take(NONCE_BYTES), reader.take(PUBLIC_KEY_BYTES))
        reader.finish()
        return read


def write_bits(bits: Bool) -> bytes:
    """Bits of shape (count,), eight a byte."""
    return np.packbits(bits, bitorder="little").tobytes()


def read_bits(body: bytes, count: int) -> Bool:
    """So many bits, shape (count,).

    Raises:
        PeerError: the length is another, or bits after the last are not 0.
    """
    reader = Reader(body, "half of the outputs")
    packed = reader.array(-(-count // 8), "u1")
    reader.finish()
    bits = np.unpackbits(packed, bitorder="little").astype(np.bool_)
    if bits[count:].any():
        raise PeerError("the half of the outputs has bits of no output")
    return bits[:count]
