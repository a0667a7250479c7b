"""Evaluates circuits in the clear, for many pairs at a time: what a secure evaluation is compared with.

It also runs large simulations, where nobody has anything to hide. Wires hold one bit a pair, 64 of them in a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.arrays import Bool, Int64, UInt64
from ogive.crypto.circuits.circuit import Circuit, Gate, Port
from ogive.errors import ParameterError

WORD = 64


def evaluate(circuit: Circuit, garbler: Bool, evaluator: Bool) -> Bool:
    """Outputs of a circuit for every pair, shape (pairs, output wires).

    Args:
        circuit: Which one.
        garbler: Bits of the garblers, shape (pairs, garbler's wires); `arrange` makes them from numbers.
        evaluator: Bits of the evaluators, shape (pairs, evaluator's wires).

    Raises:
        ParameterError: the arrays are of other shapes.
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
    found = np.array([wires[wire] for wire in circuit.output_wires.tolist()])
    bits = np.unpackbits(found.view(np.uint8), axis=1, count=pairs, bitorder="little")
    return bits.T.astype(bool)


def pairs_of(circuit: Circuit, garbler: Bool, evaluator: Bool) -> int:
    """How many pairs there are inputs of.

    Args:
        circuit: Which one.
        garbler: As in `evaluate`.
        evaluator: As in `evaluate`.

    Raises:
        ParameterError: the arrays are of other shapes.
    """
    pairs = len(garbler)
    if garbler.shape != (pairs, circuit.garbler_bits) or evaluator.shape != (pairs, circuit.evaluator_bits):
        wanted = f"(pairs, {circuit.garbler_bits}) and (pairs, {circuit.evaluator_bits})"
        raise ParameterError(f"`inputs` must have the shapes {wanted}, got {garbler.shape} and {evaluator.shape}")
    return pairs


def arrange(ports: tuple[Port, ...], values: Mapping[str, ArrayLike]) -> Bool:
    """One party's inputs as bits in the order of its wires, shape (pairs, wires).

    Args:
        ports: The party's inputs.
        values: By name: whole numbers of shape (pairs,), or bits of shape (pairs, width).

    Raises:
        ParameterError: names are others, or a number does not fit in the width of its input.
    """
    if {port.name for port in ports} != set(values):
        raise ParameterError(f"`inputs` must be {', '.join(port.name for port in ports)}, got {', '.join(values)}")
    return np.hstack([_bits_of(np.asarray(values[port.name]), port) for port in ports])


def separate(ports: tuple[Port, ...], bits: Bool) -> dict[str, Int64]:
    """Numbers of the outputs by name, each of shape (pairs,).

    Args:
        ports: The outputs, of at most 62 bits each.
        bits: As `evaluate` gives them.

    Raises:
        ParameterError: an output is wider.
    """
    found, first = {}, 0
    for port in ports:
        if port.width >= WORD - 1:
            raise ParameterError(f"`{port.name}` must have at most {WORD - 2} bits to be a number, got {port.width}")
        weights = np.int64(1) << np.arange(port.width)
        if port.signed:
            weights[-1] = -weights[-1]
        found[port.name] = bits[:, first : first + port.width].astype(np.int64) @ weights
        first += port.width
    return found


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
