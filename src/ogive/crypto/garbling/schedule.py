"""The order in which the gates of a circuit are garbled, and where the labels of its wires are kept.

AND gates of one depth go together, after the free gates that they need. The labels of a wire are kept in a slot until
the wire was used for the last time; then its slot is another wire's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Int32
from ogive.crypto.circuits.circuit import Circuit, Gate
from ogive.errors import ParameterError


@dataclass(frozen=True)
class Gates:
    """Gates by slots, each array with one entry a gate.

    Fields:
        left: Slots of the left inputs.
        right: Slots of the right inputs, -1 for NOT.
        out: Slots of the outputs.
    """

    left: Int32
    right: Int32
    out: Int32


@dataclass(frozen=True)
class Level:
    """Free gates, in turn, and then AND gates, at once.

    Fields:
        free: XOR and NOT gates.
        ands: AND gates; no output lies in the slot of an input.
        numbers: Numbers of the AND gates among all AND gates of the circuit, in the circuit's order.
    """

    free: Gates
    ands: Gates
    numbers: Int32


@dataclass(frozen=True)
class Schedule:
    """How to garble a circuit.

    Fields:
        inputs: How many input wires there are; they begin in the slots 0, 1, ...
        ands: How many AND gates there are.
        slots: How many slots are needed.
        levels: What to do, by AND depth.
        outputs: Slots of the output wires at the end.
    """

    inputs: int
    ands: int
    slots: int
    levels: tuple[Level, ...]
    outputs: Int32


def schedule(kind: Int32, left: Int32, right: Int32, *, inputs: int, outputs: Int32) -> Schedule:
    """Order the gates of a circuit.

    Args:
        kind: `Gate` of each gate.
        left: Number of each gate's left wire. Inputs are the wires 0 to inputs - 1, and gate g makes wire inputs + g;
            a gate reads only wires before its own.
        right: Number of each gate's right wire, anything for NOT.
        inputs: How many input wires there are.
        outputs: Numbers of the output wires.

    Raises:
        ParameterError: a gate is of no kind or reads a wire that is not before its own, or an output is no wire.
    """
    is_and, is_not = kind == Gate.AND, kind == Gate.NOT
    right = np.where(is_not, left, right).astype(np.int32)
    own = inputs + np.arange(kind.size)
    bounds = (left, own), (right, own), (outputs, inputs + kind.size)
    if not np.isin(kind, list(Gate)).all() or any(((wire < 0) | (wire >= bound)).any() for wire, bound in bounds):
        raise ParameterError("`gates` must be XOR, AND or NOT of wires before their own, and outputs must be wires")
    depth = [0] * inputs
    for gate, a, b in zip(kind.tolist(), left.tolist(), right.tolist(), strict=True):
        depth.append(max(depth[a], depth[b]) + (gate == Gate.AND))
    made = np.array(depth[inputs:], np.int32)
    numbers = np.cumsum(is_and, dtype=np.int32) - np.int32(1)
    slots = _Slots(left, right, inputs=inputs, outputs=outputs)
    levels = []
    for level in range(max(depth, default=0) + 1):
        free = np.flatnonzero(~is_and & (made == level))
        ands = np.flatnonzero(is_and & (made == level + 1))
        placed = [slots.place([gate]) for gate in free.tolist()]
        a, b, out = np.concatenate([np.empty((3, 0), np.int32), *placed], axis=1)
        free_gates = Gates(a, np.where(is_not[free], -1, b).astype(np.int32), out)
        levels.append(Level(free_gates, Gates(*slots.place(ands.tolist())), numbers[ands]))
    return Schedule(inputs, int(is_and.sum()), slots.count, tuple(levels), slots.of(outputs.tolist()))


def schedule_of(circuit: Circuit) -> Schedule:
    """Order the gates of a circuit whose kinds, wires and outputs are numbered as `schedule` takes them."""
    kinds = circuit.kinds.astype(np.int32)
    return schedule(kinds, circuit.left, circuit.right, inputs=circuit.inputs, outputs=circuit.output_wires)


class _Slots:
    """Which wire is in which slot while gates are ordered."""

    def __init__(self, left: Int32, right: Int32, *, inputs: int, outputs: Int32) -> None:
        self._inputs = inputs
        self._left, self._right = left.tolist(), right.tolist()
        self._slot = {wire: wire for wire in range(inputs)}
        self._empty: list[int] = []
        self.count = inputs
        # uses that are still to come; that of an output is never over
        self._uses = np.bincount(np.concatenate([left, right, outputs]), minlength=inputs + left.size).tolist()

    def of(self, wires: list[int]) -> Int32:
        return np.array([self._slot[wire] for wire in wires], np.int32)

    def place(self, gates: list[int]) -> Int32:
        """Slots of left inputs, right inputs and outputs of gates that go together; shape (3, gates)."""
        lefts, rights = [self._left[gate] for gate in gates], [self._right[gate] for gate in gates]
        wires = [self._inputs + gate for gate in gates]
        for wire in wires:
            if not self._empty:
                self._empty.append(self.count)
                self.count += 1
            self._slot[wire] = self._empty.pop()
        placed = np.stack([self.of(lefts), self.of(rights), self.of(wires)])
        for wire in lefts + rights:
            self._uses[wire] -= 1
        # inputs that were used for the last time, and outputs that nobody uses
        for wire in {*lefts, *rights, *wires}:
            if self._uses[wire] == 0:
                self._empty.append(self._slot[wire])
        return placed
