"""Garbling of one circuit for many pairs at once with half gates: XOR and NOT are free, an AND gate takes 32 bytes.

The garbler knows both labels of every wire, the evaluator finds one of each, which tells it nothing of the values. For
an AND gate with zero labels A, B, permute bits a, b of these, secret D and hashes H, K of the gate's two halves:

    garbler     T = H(A) ^ H(A ^ D) ^ bD      U = K(B) ^ K(B ^ D) ^ A
                zero label of the output: H(A) ^ aT ^ K(B) ^ b(U ^ A)
    evaluator   holds A', B' with permute bits a', b':  H(A') ^ a'T ^ K(B') ^ b'(U ^ A')

It hides the garbler's values from an evaluator that follows the protocol and the other way about. An evaluator that
does not can flip outputs; a garbler that does not can garble another circuit. Labels stay in memory until Python lets
go of them, and nothing here hides anything from other programs on the same machine.

Source:
    Zahur, Rosulek and Evans 2015; `crypto.md`, section 8.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ogive.arrays import Int32, UInt64
from ogive.crypto.aes import Blocks
from ogive.crypto.garbling.hashing import CHUNK_PAIRS, GateKeys
from ogive.crypto.garbling.passes import free_gates, mix_held, mix_pairs, spread_held, spread_pairs
from ogive.crypto.garbling.schedule import Gates, Level, Schedule
from ogive.crypto.garbling.wires import check_shape
from ogive.errors import ParameterError

_CACHED_BLOCKS = 1 << 14
"""How many blocks are encrypted between two passes, unless one gate has more: few enough to stay in the cache."""


def garble(schedule: Schedule, zeros: UInt64, deltas: UInt64, keys: GateKeys) -> tuple[UInt64, UInt64]:
    """Garble a circuit.

    Args:
        schedule: The circuit.
        zeros: Zero labels of its inputs, uniform; shape (inputs, pairs, 2).
        deltas: The garbler's secrets, fresh in every session; shape (pairs, 2).
        keys: Keys of the gates of this chunk of pairs.

    Returns:
        The tables, for the evaluator, in the order of the circuit's AND gates, shape (ANDs, pairs, 2, 2); and the zero
        labels of the outputs, shape (outputs, pairs, 2), of which only permute bits may be given away.

    Raises:
        ParameterError: there are more pairs than may share keys, arrays are not of the circuit's shapes, or the lowest
            bit of a secret is 0.
    """
    labels = _room(schedule, zeros)
    tables = np.empty((schedule.ands, zeros.shape[1], 2, 2), np.uint64)
    return tables, garble_in_place(schedule, labels, deltas, tables, keys)


def evaluate(schedule: Schedule, held: UInt64, tables: UInt64, keys: GateKeys) -> UInt64:
    """Evaluate a garbled circuit.

    Args:
        schedule: The circuit.
        held: A label of each of its inputs; shape (inputs, pairs, 2).
        tables: Of the garbler; shape (ANDs, pairs, 2, 2).
        keys: Keys of the gates of this chunk of pairs.

    Returns:
        A label of each output; shape (outputs, pairs, 2).

    Raises:
        ParameterError: there are more pairs than may share keys, or arrays are not of the circuit's shapes.
    """
    return evaluate_in_place(schedule, _room(schedule, held), tables, keys)


def garble_in_place(schedule: Schedule, labels: UInt64, deltas: UInt64, tables: UInt64, keys: GateKeys) -> UInt64:
    """Garble a circuit in memory that is there already.

    Args:
        schedule: The circuit.
        labels: Zero labels of its inputs in the first rows, and room for those of other wires, which may take the
            place of the former; shape (slots, pairs, 2).
        deltas: As in `garble`.
        tables: Room for the tables; shape (ANDs, pairs, 2, 2).
        keys: As in `garble`.

    Returns:
        The zero labels of the outputs, shape (outputs, pairs, 2).

    Raises:
        ParameterError: as `garble`.
    """
    pairs = _checked(schedule, labels, tables)
    check_shape("secrets", deltas, (pairs, 2))
    if not (deltas[:, 0] & np.uint64(1)).all():
        raise ParameterError("the lowest bit of every secret must be 1, or permute bits would not hide values")
    blocks, hashed, at_once = _buffers(schedule, 4 * pairs)
    for level in schedule.levels:
        free_gates(labels, deltas, level.free.left, level.free.right, level.free.out)
        for ands, numbers in _parts(level, at_once):
            spread_pairs(labels, deltas, ands.left, ands.right, blocks.words)
            _encrypt(keys, numbers, blocks, hashed, 2 * pairs)
            places = ands.left, ands.right, ands.out
            mix_pairs(labels, deltas, *places, blocks.words, hashed.words, numbers, tables)
    return labels[schedule.outputs]


def evaluate_in_place(schedule: Schedule, labels: UInt64, tables: UInt64, keys: GateKeys) -> UInt64:
    """Evaluate a garbled circuit in memory that is there already.

    Args:
        schedule: The circuit.
        labels: A label of each of its inputs in the first rows, and room as in `garble_in_place`.
        tables: As in `evaluate`.
        keys: As in `evaluate`.

    Returns:
        A label of each output; shape (outputs, pairs, 2).

    Raises:
        ParameterError: there are more pairs than may share keys, or arrays are not of the circuit's shapes.
    """
    pairs = _checked(schedule, labels, tables)
    nothing = np.zeros((pairs, 2), np.uint64)
    blocks, hashed, at_once = _buffers(schedule, 2 * pairs)
    for level in schedule.levels:
        # a NOT gate leaves the label as it is, and the garbler changes what it stands for
        free_gates(labels, nothing, level.free.left, level.free.right, level.free.out)
        for ands, numbers in _parts(level, at_once):
            spread_held(labels, ands.left, ands.right, blocks.words)
            _encrypt(keys, numbers, blocks, hashed, pairs)
            places = ands.left, ands.right, ands.out
            mix_held(labels, *places, blocks.words, hashed.words, numbers, tables)
    return labels[schedule.outputs]


def _room(schedule: Schedule, inputs: UInt64) -> UInt64:
    wires, pairs = inputs.shape[:2]
    if wires != schedule.inputs:
        raise ParameterError(f"the circuit has {schedule.inputs} inputs, got labels of {wires}")
    check_shape("labels of inputs", inputs, (wires, pairs, 2))
    labels = np.empty((schedule.slots, pairs, 2), np.uint64)
    labels[:wires] = inputs
    return labels


def _checked(schedule: Schedule, labels: UInt64, tables: UInt64) -> int:
    """How many pairs there are."""
    pairs = int(labels.shape[1])
    if pairs > CHUNK_PAIRS:
        raise ParameterError(f"at most {CHUNK_PAIRS} pairs may share the keys of gates, got {pairs}")
    check_shape("labels", labels, (schedule.slots, pairs, 2))
    check_shape("tables", tables, (schedule.ands, pairs, 2, 2))
    return pairs


def _buffers(schedule: Schedule, gate_blocks: int) -> tuple[Blocks, Blocks, int]:
    """Memory for blocks and what they encrypt to, and of how many gates these may be."""
    largest = max(level.numbers.size for level in schedule.levels)
    at_once = max(1, min(largest, _CACHED_BLOCKS // max(1, gate_blocks)))
    return Blocks(at_once * gate_blocks), Blocks(at_once * gate_blocks), at_once


def _parts(level: Level, at_once: int) -> Iterator[tuple[Gates, Int32]]:
    """The AND gates of a level and their numbers, so many at a time."""
    for start in range(0, level.numbers.size, at_once):
        part = slice(start, start + at_once)
        ands = level.ands
        yield Gates(ands.left[part], ands.right[part], ands.out[part]), level.numbers[part]


def _encrypt(keys: GateKeys, numbers: Int32, blocks: Blocks, hashed: Blocks, half_blocks: int) -> None:
    for place, gate in enumerate(numbers.tolist()):
        for half in range(2):
            first = (2 * place + half) * half_blocks
            keys.permutation(gate, half).encrypt_part(blocks, hashed, first=first, count=half_blocks)
