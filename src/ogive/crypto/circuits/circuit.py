"""Public circuits of two parties: their description, how they are built, and their evaluation in the clear.

A circuit is plain data that says nothing about how it is evaluated. Wires are numbered: the garbler's inputs, the
evaluator's inputs, then the output of every gate. Gates are ordered by the number of AND gates on the longest way to
them, so that all AND gates of a level can be garbled in one go; within a level come its AND gates, and then the XOR and
NOT gates, which cost nothing.

Source:
    `ustatistics.md`, section 8; `crypto.md`, section 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import Bool, Int32, Int64, UInt8, UInt64
from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError, quoted


class Gate(IntEnum):
    """What a gate computes; a NOT gate names its only input twice."""

    XOR = 0
    AND = 1
    NOT = 2


@dataclass(frozen=True)
class Port:
    """Neighbouring wires with a name: one input of a party, or one output; the least significant bit comes first.

    Names are different from the others of a party. Signed ones are numbers in two's complement.
    """

    name: str
    width: int
    signed: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Circuit:
    """Gates between the inputs of a garbler and of an evaluator and outputs that neither of them sees.

    Args:
        outputs: In the order of `output_wires`.
        kinds: `Gate` of every gate, shape (gates,).
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
        return sum(port.width for port in self.garbler)

    @cached_property
    def evaluator_bits(self) -> int:
        """Wires that the evaluator sets, the next ones."""
        return sum(port.width for port in self.evaluator)

    @property
    def inputs(self) -> int:
        """Wires of both parties; the number of the first gate's output wire."""
        return self.garbler_bits + self.evaluator_bits

    @property
    def gates(self) -> int:
        return len(self.kinds)

    @property
    def wires(self) -> int:
        return self.inputs + self.gates

    @cached_property
    def ands(self) -> int:
        """AND gates: what a circuit costs, two ciphertexts each."""
        return int(np.count_nonzero(self.kinds == Gate.AND))

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


# --- Circuits under construction
#
# A bit is a node or its complement, so that NOT is free while building. Gates of constants and of equal or opposite
# bits are never emitted, nor is a gate twice, nor one that no output depends on.

FALSE, TRUE = 0, 1


@dataclass(frozen=True, eq=False)
class Bit:
    """One bit of a circuit under construction; combine bits of one builder with &, |, ^ and ~.

    The literal is twice the number of the node, and one more for its complement.
    """

    builder: Builder
    literal: int

    def __and__(self, other: Bit) -> Bit:
        return Bit(self.builder, self.builder.conjunction(self.literal, self._also_here(other)))

    def __xor__(self, other: Bit) -> Bit:
        return Bit(self.builder, self.builder.parity(self.literal, self._also_here(other)))

    def __or__(self, other: Bit) -> Bit:
        return ~(~self & ~other)

    def __invert__(self) -> Bit:
        return Bit(self.builder, self.literal ^ 1)

    def _also_here(self, other: Bit) -> int:
        if other.builder is not self.builder:
            raise ParameterError("bits of different circuits cannot be combined: build both with one builder")
        return other.literal


@dataclass(frozen=True, eq=False)
class Unsigned:
    """A number from 0 to 2^width - 1, of one bit or more, the least significant first."""

    bits: tuple[Bit, ...]

    @property
    def width(self) -> int:
        return len(self.bits)


@dataclass(frozen=True, eq=False)
class Signed:
    """A number from -2^(width - 1) to 2^(width - 1) - 1, in two's complement, the sign last."""

    bits: tuple[Bit, ...]

    @property
    def width(self) -> int:
        return len(self.bits)


Value = Bit | Unsigned | Signed


class Builder:
    """A circuit under construction: make inputs, combine them, and `finish` with named outputs."""

    def __init__(self) -> None:
        # node 0 is the constant, and an input has no operands
        self._operands: list[tuple[Gate, int, int] | None] = [None]
        self._known: dict[tuple[Gate, int, int], int] = {}
        self._ports: dict[str, list[Port]] = {"garbler": [], "evaluator": []}
        self._input_nodes: dict[str, list[int]] = {"garbler": [], "evaluator": []}

    def garbler(self, name: str, width: int) -> Unsigned:
        """An input of the party that garbles, under a name that none of its other inputs has."""
        return self._input("garbler", name, width)

    def evaluator(self, name: str, width: int) -> Unsigned:
        """An input of the party that evaluates, under a name that none of its other inputs has."""
        return self._input("evaluator", name, width)

    def constant(self, value: int, width: int) -> Unsigned:
        """A public number; gates that read it are simplified away."""
        if width < 1 or not 0 <= value < 1 << width:
            raise ParameterError(f"a constant must be from 0 to 2^width - 1, got {value} in {width} bits")
        return Unsigned(tuple(Bit(self, value >> place & 1) for place in range(width)))

    def conjunction(self, left: int, right: int) -> int:
        """The literal of an AND; `Bit` calls it for &."""
        left, right = sorted((left, right))
        if left == FALSE or left == right ^ 1:
            return FALSE
        if left in (TRUE, right):
            return right
        return 2 * self._node(Gate.AND, left, right)

    def parity(self, left: int, right: int) -> int:
        """The literal of an XOR; `Bit` calls it for ^."""
        complement = (left ^ right) & 1
        left, right = sorted((left & ~1, right & ~1))
        if left == right:
            return complement
        if left == FALSE:
            return right ^ complement
        return 2 * self._node(Gate.XOR, left, right) ^ complement

    def finish(self, outputs: Mapping[str, Value]) -> Circuit:
        """The circuit of everything that the outputs depend on; they are opened to the aggregator, by name."""
        nodes = self._input_nodes["garbler"] + self._input_nodes["evaluator"]
        if not nodes or not outputs:
            raise ParameterError("a circuit must have an input and an output")
        values = {name: (value,) if isinstance(value, Bit) else value.bits for name, value in outputs.items()}
        if any(bit.builder is not self for bits in values.values() for bit in bits):
            raise ParameterError("an output is of another circuit: build both with one builder")
        wanted = [bit.literal for bits in values.values() for bit in bits]
        kinds, left, right, wires = self._emitted(nodes, wanted)
        return Circuit(
            garbler=tuple(self._ports["garbler"]),
            evaluator=tuple(self._ports["evaluator"]),
            outputs=tuple(Port(name, len(bits), isinstance(outputs[name], Signed)) for name, bits in values.items()),
            kinds=np.array(kinds, np.uint8),
            left=np.array(left, np.int32),
            right=np.array(right, np.int32),
            output_wires=np.array(wires, np.int32),
        )

    def _input(self, party: str, name: str, width: int) -> Unsigned:
        if width < 1 or any(port.name == name for port in self._ports[party]):
            raise ParameterError(
                f"inputs of one party need different names and a bit at least, got {quoted(name)}, {width}"
            )
        self._ports[party].append(Port(name, width))
        first = len(self._operands)
        self._operands += [None] * width
        self._input_nodes[party] += range(first, first + width)
        return Unsigned(tuple(Bit(self, 2 * node) for node in range(first, first + width)))

    def _node(self, kind: Gate, left: int, right: int) -> int:
        key = (kind, left, right)
        if key not in self._known:
            self._known[key] = len(self._operands)
            self._operands.append(key)
        return self._known[key]

    def _emitted(self, inputs: list[int], wanted: list[int]) -> tuple[list[Gate], list[int], list[int], list[int]]:
        """Kinds, left and right wires of the gates, by level, and the wires of the literals that are wanted."""
        # gates as (level, whether free, literal, kind, literals that it reads); a complement has a gate of its own
        needed = self._needed(wanted)
        level = dict.fromkeys((2 * node for node in inputs), 0)
        results: list[tuple[int, bool, int, Gate, int, int]] = []

        def complement(literal: int) -> int:
            if literal & 1 and literal not in level:
                level[literal] = level[literal ^ 1]
                results.append((level[literal], True, literal, Gate.NOT, literal ^ 1, literal ^ 1))
            return literal

        constant = 2 * inputs[0]
        if any(literal in (FALSE, TRUE) for literal in wanted):
            level[FALSE] = 0
            results.append((0, True, FALSE, Gate.XOR, constant, constant))
        for node in needed:
            operands = self._operands[node]
            if operands is not None:
                kind, left, right = operands
                deepest = max(level[complement(left)], level[complement(right)]) + (kind == Gate.AND)
                level[2 * node] = deepest
                results.append((deepest, kind != Gate.AND, 2 * node, kind, left, right))
        for literal in wanted:
            complement(literal)
        results.sort(key=lambda gate: gate[:2])  # stable: what a free gate reads stays before it
        wire = {2 * node: place for place, node in enumerate(inputs)}
        wire |= {gate[2]: len(inputs) + place for place, gate in enumerate(results)}
        kinds = [gate[3] for gate in results]
        left_wires = [wire[gate[4]] for gate in results]
        return kinds, left_wires, [wire[gate[5]] for gate in results], [wire[literal] for literal in wanted]

    def _needed(self, wanted: list[int]) -> list[int]:
        """Nodes that the wanted literals depend on, each after what it reads."""
        seen: set[int] = set()
        waiting = [literal >> 1 for literal in wanted]
        while waiting:
            node = waiting.pop()
            operands = self._operands[node]
            if node not in seen and operands is not None:
                seen.add(node)
                waiting += [operands[1] >> 1, operands[2] >> 1]
        return sorted(seen)


# --- Evaluation in the clear, for many pairs at a time
#
# Secure evaluations are compared with it, and large simulations use it, where nobody has anything to hide. Wires hold
# one bit a pair, 64 of them in a word.

WORD = 64


def evaluate(circuit: Circuit, garbler: Bool, evaluator: Bool) -> Bool:
    """Outputs of a circuit for every pair, shape (pairs, output wires).

    From bits of both sides, shape (pairs, wires), which `arrange` makes of numbers.
    """
    pairs = pairs_of(circuit, garbler, evaluator)
    wires: list[UInt64 | None] = [*_packed(garbler), *_packed(evaluator), *[None] * circuit.gates]
    gates = zip(circuit.kinds.tolist(), circuit.left.tolist(), circuit.right.tolist(), strict=True)
    last = circuit.last_use.tolist()
    for place, (kind, left, right) in enumerate(gates):
        a, b = wires[left], wires[right]
        assert a is not None
        assert b is not None
        wires[circuit.inputs + place] = ~a if kind == Gate.NOT else a & b if kind == Gate.AND else a ^ b
        for read in (left, right):
            if last[read] == place:
                wires[read] = None
    result = np.array([wires[wire] for wire in circuit.output_wires.tolist()])
    bits = np.unpackbits(result.view(np.uint8), axis=1, count=pairs, bitorder="little")
    return bits.T.astype(bool)


def pairs_of(circuit: Circuit, garbler: Bool, evaluator: Bool) -> int:
    """How many pairs there are inputs of."""
    pairs = len(garbler)
    if garbler.shape != (pairs, circuit.garbler_bits) or evaluator.shape != (pairs, circuit.evaluator_bits):
        wanted = f"(pairs, {circuit.garbler_bits}) and (pairs, {circuit.evaluator_bits})"
        raise ParameterError(f"`inputs` must have the shapes {wanted}, got {garbler.shape} and {evaluator.shape}")
    return pairs


def arrange(ports: tuple[Port, ...], values: Mapping[str, ArrayLike]) -> Bool:
    """One party's inputs as bits in the order of its wires, shape (pairs, wires).

    Values are, by name, whole numbers of shape (pairs,), or bits of shape (pairs, width).
    """
    if {port.name for port in ports} != set(values):
        raise ParameterError(f"`inputs` must be {', '.join(port.name for port in ports)}, got {', '.join(values)}")
    return np.hstack([_bits_of(np.asarray(values[port.name]), port) for port in ports])


def separate(ports: tuple[Port, ...], bits: Bool) -> dict[str, Int64]:
    """Numbers of the outputs of `evaluate` by name, each of shape (pairs,) and of at most 62 bits."""
    result, first = {}, 0
    for port in ports:
        if port.width >= WORD - 1:
            raise ParameterError(f"`{port.name}` must have at most {WORD - 2} bits to be a number, got {port.width}")
        weights = np.int64(1) << np.arange(port.width)
        if port.signed:
            weights[-1] = -weights[-1]
        result[port.name] = bits[:, first : first + port.width].astype(np.int64) @ weights
        first += port.width
    return result


def _bits_of(values: NDArray[Any], port: Port) -> Bool:
    if values.dtype == np.bool_ and values.shape[1:] == (port.width,):
        return values
    if values.ndim != 1 or values.dtype.kind not in "iu" or port.width >= WORD:
        raise ParameterError(f"`{port.name}` must be whole numbers of less than 64 bits, or {port.width} bits a pair")
    if values.size and (values.min() < 0 or int(values.max()) >> port.width):
        raise ParameterError(f"`{port.name}` must be from 0 to {(1 << port.width) - 1}")
    return (values.astype(np.int64)[:, None] >> np.arange(port.width) & 1).astype(bool)


def _packed(bits: Bool) -> UInt64:
    """Bits of one wire a row, 64 pairs in a word."""
    padded = np.pad(bits.T, ((0, 0), (0, -len(bits) % WORD)))
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little")).view(np.uint64)
