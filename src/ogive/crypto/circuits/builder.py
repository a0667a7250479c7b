"""Builds circuits gate by gate, and emits none that is not needed.

A bit is a node or its complement, so that NOT is free while building. Gates of constants and of equal or opposite bits
are never emitted, nor is a gate twice, nor one that no output depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ogive.crypto.circuits.circuit import Circuit, Gate, Port
from ogive.errors import ParameterError, quoted

FALSE, TRUE = 0, 1


@dataclass(frozen=True, eq=False)
class Bit:
    """One bit of a circuit under construction; combine bits of one builder with &, |, ^ and ~.

    Args:
        builder: Where its gates go.
        literal: Twice the number of the node, and one more for its complement.
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
    """A number from 0 to 2^width - 1.

    Args:
        bits: At least one, the least significant first.
    """

    bits: tuple[Bit, ...]

    @property
    def width(self) -> int:
        return len(self.bits)


@dataclass(frozen=True, eq=False)
class Signed:
    """A number from -2^(width - 1) to 2^(width - 1) - 1, in two's complement.

    Args:
        bits: At least one, the least significant first, the sign last.
    """

    bits: tuple[Bit, ...]

    @property
    def width(self) -> int:
        """How many bits it has, with the sign."""
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
        """An input of the party that garbles.

        Args:
            name: Different from its other inputs.
            width: Bits, at least one.

        Raises:
            ParameterError: the name is taken, or there is no bit.
        """
        return self._input("garbler", name, width)

    def evaluator(self, name: str, width: int) -> Unsigned:
        """An input of the party that evaluates.

        Args:
            name: Different from its other inputs.
            width: Bits, at least one.

        Raises:
            ParameterError: the name is taken, or there is no bit.
        """
        return self._input("evaluator", name, width)

    def constant(self, value: int, width: int) -> Unsigned:
        """A public number; gates that read it are simplified away.

        Args:
            value: From 0 to 2^width - 1.
            width: Bits, at least one.

        Raises:
            ParameterError: the number does not fit.
        """
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
        """The circuit of everything that the outputs depend on.

        Args:
            outputs: What is opened to the aggregator, by name.

        Raises:
            ParameterError: there is no input, or no output, or an output belongs to another builder.
        """
        nodes = self._input_nodes["garbler"] + self._input_nodes["evaluator"]
        if not nodes or not outputs:
            raise ParameterError("a circuit must have an input and an output")
        values = {name: (value,) if isinstance(value, Bit) else value.bits for name, value in outputs.items()}
        if any(bit.builder is not self for bits in values.values() for bit in bits):
            raise ParameterError("an output is of another circuit: build both with one builder")
        wanted = [bit.literal for bits in values.values() for bit in bits]
        gates = _Emitted(self._operands, nodes)
        kinds, left, right, wires = gates.emit(wanted)
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


class _Emitted:
    """Gates of the nodes that are wanted, ordered by level.

    Args:
        operands: Of every node: its kind and the literals that it reads.
        inputs: Nodes of the inputs, in the order of their wires.
    """

    def __init__(self, operands: list[tuple[Gate, int, int] | None], inputs: list[int]) -> None:
        self._operands = operands
        self._inputs = inputs

    def emit(self, wanted: list[int]) -> tuple[list[Gate], list[int], list[int], list[int]]:
        """Kinds, left and right wires of the gates, and the wires of the literals that are wanted."""
        # gates as (level, whether free, literal, kind, literals that it reads); a complement has a gate of its own
        needed = self._needed(wanted)
        level = dict.fromkeys((2 * node for node in self._inputs), 0)
        found: list[tuple[int, bool, int, Gate, int, int]] = []

        def complement(literal: int) -> int:
            if literal & 1 and literal not in level:
                level[literal] = level[literal ^ 1]
                found.append((level[literal], True, literal, Gate.NOT, literal ^ 1, literal ^ 1))
            return literal

        constant = 2 * self._inputs[0]
        if any(literal in (FALSE, TRUE) for literal in wanted):
            level[FALSE] = 0
            found.append((0, True, FALSE, Gate.XOR, constant, constant))
        for node in needed:
            operands = self._operands[node]
            if operands is not None:
                kind, left, right = operands
                deepest = max(level[complement(left)], level[complement(right)]) + (kind == Gate.AND)
                level[2 * node] = deepest
                found.append((deepest, kind != Gate.AND, 2 * node, kind, left, right))
        for literal in wanted:
            complement(literal)
        found.sort(key=lambda gate: gate[:2])  # stable: what a free gate reads stays before it
        wire = {2 * node: place for place, node in enumerate(self._inputs)}
        wire |= {gate[2]: len(self._inputs) + place for place, gate in enumerate(found)}
        kinds = [gate[3] for gate in found]
        left_wires = [wire[gate[4]] for gate in found]
        return kinds, left_wires, [wire[gate[5]] for gate in found], [wire[literal] for literal in wanted]

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
