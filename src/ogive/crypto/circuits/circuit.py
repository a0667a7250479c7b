"""A public circuit of two parties: plain data that says nothing about how it is evaluated.

Wires are numbered: the garbler's inputs, the evaluator's inputs, then the output of every gate. Gates are ordered by
the number of AND gates on the longest way to them, so that all AND gates of a level can be garbled in one go; within a
level come its AND gates, and then the XOR and NOT gates, which cost nothing.

Source:
    `ustatistics.md`, section 8; `crypto.md`, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from ogive.arrays import Int32, UInt8
from ogive.crypto.domains import HashDomain, digest, number


class Gate(IntEnum):
    """What a gate computes; a NOT gate names its only input twice."""

    XOR = 0
    AND = 1
    NOT = 2


@dataclass(frozen=True)
class Port:
    """Neighbouring wires with a name: one input of a party, or one output.

    Args:
        name: Of the input or output; different from the others of its party.
        width: Wires, the least significant bit first.
        signed: Whether the bits are a number in two's complement.
    """

    name: str
    width: int
    signed: bool = False


@dataclass(frozen=True)
class Level:
    """Gates that have the same number of AND gates before them.

    Args:
        ands: The AND gates, a range of gate numbers.
        free: The XOR and NOT gates that follow.
    """

    ands: range
    free: range


@dataclass(frozen=True, kw_only=True, eq=False)
class Circuit:
    """Gates between the inputs of a garbler and of an evaluator and outputs that neither of them sees.

    Args:
        garbler: The garbler's inputs, in the order of their wires.
        evaluator: The evaluator's inputs.
        outputs: In the order of `output_wires`.
        kinds: `Gate` of every gate, shape (gates,).
        left: First wire that each gate reads.
        right: Second wire.
        output_wires: Wires of the outputs; one wire may be several of them.
    """

    garbler: tuple[Port, ...]
    evaluator: tuple[Port, ...]
    outputs: tuple[Port, ...]
    kinds: UInt8
    left: Int32
    right: Int32
    output_wires: Int32

    @cached_property
    def garbler_bits(self) -> int:
        """Wires that the garbler sets, the first ones."""
        return width_of(self.garbler)

    @cached_property
    def evaluator_bits(self) -> int:
        """Wires that the evaluator sets, the next ones."""
        return width_of(self.evaluator)

    @property
    def inputs(self) -> int:
        """Wires of both parties; the number of the first gate's output wire."""
        return self.garbler_bits + self.evaluator_bits

    @property
    def gates(self) -> int:
        """How many there are of any kind."""
        return len(self.kinds)

    @property
    def wires(self) -> int:
        """Inputs and outputs of gates."""
        return self.inputs + self.gates

    @cached_property
    def ands(self) -> int:
        """AND gates: what a circuit costs, two ciphertexts each."""
        return int(np.count_nonzero(self.kinds == Gate.AND))

    @property
    def depth(self) -> int:
        """AND gates on the longest way from an input to an output."""
        return len(self.levels) - 1

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The gates, level by level; the first level has no AND gate."""
        is_and = self.kinds == Gate.AND
        deepest = [0] * self.inputs
        for left, right, costs in zip(self.left.tolist(), self.right.tolist(), is_and.tolist(), strict=True):
            deepest.append(max(deepest[left], deepest[right]) + costs)
        of_gates = np.array(deepest[self.inputs :], np.int64)
        bounds = np.searchsorted(of_gates, np.arange(max(deepest, default=0) + 2)).tolist()
        found = []
        for start, stop in pairwise(bounds):
            middle = start + int(np.count_nonzero(is_and[start:stop]))
            found.append(Level(range(start, middle), range(middle, stop)))
        return tuple(found)

    @cached_property
    def last_use(self) -> Int32:
        """The last gate that reads each wire, -1 for none, the number of gates for an output; shape (wires,)."""
        last = np.full(self.wires, -1, np.int32)
        order = np.arange(self.gates, dtype=np.int32)
        np.maximum.at(last, self.left, order)
        np.maximum.at(last, self.right, order)
        last[self.output_wires] = self.gates
        return last

    def digest(self) -> bytes:
        """32 bytes that two parties compare, to know that they hold the same circuit."""
        ports = [
            b"".join(
                number(len(port.name.encode())) + port.name.encode() + number(port.width) + number(port.signed)
                for port in side
            )
            for side in (self.garbler, self.evaluator, self.outputs)
        ]
        arrays = [self.kinds.tobytes()]
        arrays += [wires.astype("<i4").tobytes() for wires in (self.left, self.right, self.output_wires)]
        return digest(HashDomain.CIRCUIT_DESCRIPTION, *ports, *arrays)


def width_of(ports: Sequence[Port]) -> int:
    """Wires of several ports together."""
    return sum(port.width for port in ports)
