"""Garbled circuits: one circuit, evaluated by many pairs of parties at once on values that stay hidden."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Bool, Int32, UInt64
from ogive.core.checks import Progress
from ogive.core.compiling import njit
from ogive.crypto.circuits.circuit import Circuit, Gate, pairs_of
from ogive.crypto.domains import SEED_BYTES, Blocks, HashDomain, Permutation, Random, WordStream, digest, number
from ogive.errors import ParameterError

# --- Compiled passes over labels, before and after their encryption
#
# `labels` has shape (slots, pairs, 2): a slot holds the labels of one wire, the lower word first. `deltas` has shape
# (pairs, 2); `tables` of all AND gates have shape (ANDs, pairs, 2, 2), and `numbers` says which of them are those of
# the gates at hand. Blocks are flat arrays of words, two a block; those of a gate follow each other, first those of its
# half 0, then those of its half 1. For each half the garbler hashes both labels of all pairs, first the zero labels,
# and the evaluator hashes the one it holds.

_ONE = np.uint64(1)


@njit(nogil=True)
def choose_labels(bits: Bool, zeros: UInt64, deltas: UInt64, labels: UInt64) -> None:
    """Write the labels of values, from the zero labels of their wires; bits have shape (wires, pairs)."""
    for w in range(bits.shape[0]):
        for i in range(bits.shape[1]):
            mask = np.uint64(-np.int64(bits[w, i]))
            for word in range(2):
                labels[w, i, word] = zeros[w, i, word] ^ (mask & deltas[i, word])


@njit(nogil=True)
def free_gates(labels: UInt64, deltas: UInt64, left: Int32, right: Int32, out: Int32) -> None:
    """XOR and NOT gates in turn; the latter have no right wire, which is -1, and shift their label by delta."""
    for g in range(left.size):
        a, w = labels[left[g]], labels[out[g]]
        b = labels[right[g]] if right[g] >= 0 else deltas
        for i in range(a.shape[0]):
            w[i, 0] = a[i, 0] ^ b[i, 0]
            w[i, 1] = a[i, 1] ^ b[i, 1]


@njit(nogil=True)
def spread_pairs(labels: UInt64, deltas: UInt64, left: Int32, right: Int32, blocks: UInt64) -> None:
    """Write sigma of both labels of both inputs of each AND gate, 4 blocks a pair."""
    pairs = deltas.shape[0]
    for g in range(left.size):
        for half in range(2):
            x = labels[left[g] if half == 0 else right[g]]
            zero = blocks[(2 * g + half) * 4 * pairs :]
            one = zero[2 * pairs :]
            for i in range(pairs):
                low, high = x[i, 0], x[i, 1]
                zero[2 * i] = high
                zero[2 * i + 1] = high ^ low
                low, high = low ^ deltas[i, 0], high ^ deltas[i, 1]
                one[2 * i] = high
                one[2 * i + 1] = high ^ low


@njit(nogil=True)
def mix_pairs(
    labels: UInt64,
    deltas: UInt64,
    left: Int32,
    right: Int32,
    out: Int32,
    blocks: UInt64,
    hashed: UInt64,
    numbers: Int32,
    tables: UInt64,
) -> None:
    """Make tables and the zero labels of outputs from blocks and what they encrypt to."""
    pairs = deltas.shape[0]
    for g in range(left.size):
        a, b, w, table = labels[left[g]], labels[right[g]], labels[out[g]], tables[numbers[g]]
        x, y = blocks[8 * g * pairs :], hashed[8 * g * pairs :]
        for i in range(pairs):
            mask_a = np.uint64(-np.int64(a[i, 0] & _ONE))
            mask_b = np.uint64(-np.int64(b[i, 0] & _ONE))
            for word in range(2):
                at = 2 * i + word
                a_zero = x[at] ^ y[at]
                a_both = a_zero ^ x[at + 2 * pairs] ^ y[at + 2 * pairs]
                b_zero = x[at + 4 * pairs] ^ y[at + 4 * pairs]
                b_both = b_zero ^ x[at + 6 * pairs] ^ y[at + 6 * pairs]
                first = a_both ^ (mask_b & deltas[i, word])
                table[i, 0, word] = first
                table[i, 1, word] = b_both ^ a[i, word]
                w[i, word] = a_zero ^ (mask_a & first) ^ b_zero ^ (mask_b & b_both)


@njit(nogil=True)
def spread_held(labels: UInt64, left: Int32, right: Int32, blocks: UInt64) -> None:
    """Write sigma of the held labels of both inputs of each AND gate, 2 blocks a pair."""
    pairs = labels.shape[1]
    for g in range(left.size):
        for half in range(2):
            x = labels[left[g] if half == 0 else right[g]]
            block = blocks[(2 * g + half) * 2 * pairs :]
            for i in range(pairs):
                block[2 * i] = x[i, 1]
                block[2 * i + 1] = x[i, 1] ^ x[i, 0]


@njit(nogil=True)
def mix_held(
    labels: UInt64,
    left: Int32,
    right: Int32,
    out: Int32,
    blocks: UInt64,
    hashed: UInt64,
    numbers: Int32,
    tables: UInt64,
) -> None:
    """Find the held labels of outputs from tables, blocks and what these encrypt to."""
    pairs = labels.shape[1]
    for g in range(left.size):
        a, b, w, table = labels[left[g]], labels[right[g]], labels[out[g]], tables[numbers[g]]
        x, y = blocks[4 * g * pairs :], hashed[4 * g * pairs :]
        for i in range(pairs):
            mask_a = np.uint64(-np.int64(a[i, 0] & _ONE))
            mask_b = np.uint64(-np.int64(b[i, 0] & _ONE))
            for word in range(2):
                at = 2 * i + word
                both = x[at] ^ y[at] ^ x[at + 2 * pairs] ^ y[at + 2 * pairs]
                second = mask_b & (table[i, 1, word] ^ a[i, word])
                w[i, word] = both ^ (mask_a & table[i, 0, word]) ^ second


# --- Labels of wires
#
# There are two for every wire and pair, one for each value, that differ by the secret of the pair's garbler. The label
# of 0 is called the zero label; that of 1 is the zero label xor delta. The lowest bit of delta is 1, so that the lowest
# bit of a label, its permute bit, is the value of the wire hidden by the permute bit of the zero label.

LABEL_BYTES = 16


def fresh_deltas(pairs: int, stream: WordStream) -> UInt64:
    """A secret for each pair, uniform but for its lowest bit, which is 1; shape (pairs, 2)."""
    deltas = stream.words(2 * pairs).reshape(pairs, 2)
    deltas[:, 0] |= np.uint64(1)
    return deltas


def fresh_zeros(wires: int, pairs: int, stream: WordStream) -> UInt64:
    """Uniform zero labels; shape (wires, pairs, 2)."""
    return stream.words(2 * wires * pairs).reshape(wires, pairs, 2)


def labels_of(bits: Bool, zeros: UInt64, deltas: UInt64) -> UInt64:
    """The labels of values, shape (wires, pairs, 2), from bits, zero labels of their wires and the secrets of pairs."""
    check_shape("zero labels", zeros, (*bits.shape, 2))
    check_shape("secrets", deltas, (bits.shape[1], 2))
    labels = np.empty(zeros.shape, np.uint64)
    choose_labels(np.ascontiguousarray(bits), zeros, deltas, labels)
    return labels


def check_shape(name: str, array: UInt64, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape, for compiled passes look at no bounds."""
    if array.shape != shape:
        raise ParameterError(f"the {name} must have shape {shape}, got {array.shape}")


def permute_bits(labels: UInt64) -> Bool:
    """The lowest bit of each label, shape (wires, pairs); xor those of the zero labels they are the values."""
    return (labels[:, :, 0] & np.uint64(1)).astype(np.bool_)


# --- The hash of half gates
#
#     H_K(x) = AES_K(sigma(x)) xor sigma(x),    sigma(low, high) = (high, high xor low)
#
# The two labels of a wire differ by the garbler's secret, and the results are masked with it too: the hash must be
# circular correlation robust. AES_K(x) xor x is not: sigma, a linear map for which both sigma and sigma xor the
# identity can be inverted, makes it so.
#
# Every gate and half has a key of its own, for at most 2^12 pairs: work spent on one key helps against no other, and
# the security level is 128 - log2(blocks under one key), 115 bits.
#
# Source:
#     Guo, Katz, Wang, Weng and Yu 2020; `crypto.md`, sections 2 and 8.

CHUNK_PAIRS = 1 << 12
"""The most pairs that may share the keys of their gates."""


@dataclass(frozen=True)
class GateKeys:
    """The public keys of all gates of one chunk of pairs, by its number within the session.

    The session is a digest that is new every time, for the nonces of both parties are in it.
    """

    session: bytes
    chunk: int = 0

    def key(self, gate: int, half: int) -> bytes:
        """The key of one half, 0 or 1, of an AND gate, by its number among those; 16 bytes."""
        fields = (number(value) for value in (self.chunk, gate, half))
        return digest(HashDomain.GARBLING_GATE, self.session, *fields, length=SEED_BYTES)

    def permutation(self, gate: int, half: int) -> Permutation:
        return Permutation(self.key(gate, half))


# --- The order of gates, and the slots of labels
#
# AND gates of one depth go together, after the free gates that they need. The labels of a wire are kept in a slot until
# the wire was used for the last time; then its slot is another wire's.

_CIRCUITS = 64


@dataclass(frozen=True)
class Gates:
    """Slots of the left inputs, right inputs (-1 for NOT) and outputs of gates, each array with one entry a gate."""

    left: Int32
    right: Int32
    out: Int32


@dataclass(frozen=True)
class Level:
    """Free gates (XOR and NOT), in turn, and then AND gates, at once.

    No output of an AND gate lies in the slot of an input. Their numbers are those among all AND gates of the circuit.
    """

    free: Gates
    ands: Gates
    numbers: Int32


@dataclass(frozen=True)
class Schedule:
    """How to garble a circuit: what to do, by AND depth.

    Labels of the inputs begin in the slots 0, 1, ... of `slots`; those of the outputs are in `outputs` at the end.
    """

    inputs: int
    ands: int
    slots: int
    levels: tuple[Level, ...]
    outputs: Int32


def schedule(kind: Int32, left: Int32, right: Int32, *, inputs: int, outputs: Int32) -> Schedule:
    """Order the gates of a circuit."""
    is_and, is_not = kind == Gate.AND, kind == Gate.NOT
    right = np.where(is_not, left, right).astype(np.int32)
    own = inputs + np.arange(kind.size)
    bounds = (left, own), (right, own), (outputs, inputs + kind.size)
    if not np.isin(kind, list(Gate)).all() or any(((wire < 0) | (wire >= bound)).any() for wire, bound in bounds):
        raise ParameterError("`gates` must be XOR, AND or NOT of wires before their own, and outputs must be wires")
    depth = [0] * inputs
    for gate, a, b in zip(kind.tolist(), left.tolist(), right.tolist(), strict=True):
        depth.append(max(depth[a], depth[b]) + (gate == Gate.AND))
    depths = np.array(depth[inputs:], np.int32)
    numbers = np.cumsum(is_and, dtype=np.int32) - np.int32(1)
    slots = _Slots(left, right, inputs=inputs, outputs=outputs)
    levels = []
    for level in range(max(depth, default=0) + 1):
        free = np.flatnonzero(~is_and & (depths == level))
        ands = np.flatnonzero(is_and & (depths == level + 1))
        placed = [slots.place([gate]) for gate in free.tolist()]
        a, b, out = np.concatenate([np.empty((3, 0), np.int32), *placed], axis=1)
        free_gates = Gates(a, np.where(is_not[free], -1, b).astype(np.int32), out)
        levels.append(Level(free_gates, Gates(*slots.place(ands.tolist())), numbers[ands]))
    return Schedule(inputs, int(is_and.sum()), slots.count, tuple(levels), slots.of(outputs.tolist()))


@lru_cache(_CIRCUITS)
def schedule_of(circuit: Circuit) -> Schedule:
    """Order the gates of a circuit, once for all sessions that run it."""
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


# --- Garbling with half gates: XOR and NOT are free, an AND gate takes 32 bytes
#
# The garbler knows both labels of every wire, the evaluator finds one of each, which tells it nothing of the values.
# For an AND gate with zero labels A, B, permute bits a, b of these, secret D and hashes H, K of the gate's two halves:
#
#     garbler     T = H(A) ^ H(A ^ D) ^ bD      U = K(B) ^ K(B ^ D) ^ A
#                 zero label of the output: H(A) ^ aT ^ K(B) ^ b(U ^ A)
#     evaluator   holds A', B' with permute bits a', b':  H(A') ^ a'T ^ K(B') ^ b'(U ^ A')
#
# It hides the garbler's values from an evaluator that follows the protocol and the other way about. An evaluator that
# does not can flip outputs; a garbler that does not can garble another circuit. Labels stay in memory until Python lets
# go of them, and nothing here hides anything from other programs on the same machine.
#
# Source:
#     Zahur, Rosulek and Evans 2015; `crypto.md`, section 8.

_CACHED_BLOCKS = 1 << 14
"""How many blocks are encrypted between two passes, unless one gate has more: few enough to stay in the cache."""


def garble(schedule: Schedule, zeros: UInt64, deltas: UInt64, keys: GateKeys) -> tuple[UInt64, UInt64]:
    """Garble a circuit, from uniform zero labels of its inputs and secrets that are fresh in every session.

    Returns:
        The tables, for the evaluator, in the order of the circuit's AND gates, shape (ANDs, pairs, 2, 2); and the zero
        labels of the outputs, shape (outputs, pairs, 2), of which only permute bits may be given away.
    """
    labels = _room(schedule, zeros)
    tables = np.empty((schedule.ands, zeros.shape[1], 2, 2), np.uint64)
    return tables, garble_in_place(schedule, labels, deltas, tables, keys)


def evaluate(schedule: Schedule, held: UInt64, tables: UInt64, keys: GateKeys) -> UInt64:
    """Evaluate a garbled circuit: from a label of each input to a label of each output, shape (outputs, pairs, 2)."""
    return evaluate_in_place(schedule, _room(schedule, held), tables, keys)


def garble_in_place(schedule: Schedule, labels: UInt64, deltas: UInt64, tables: UInt64, keys: GateKeys) -> UInt64:
    """Garble a circuit in memory that is there already: the zero labels of its outputs, shape (outputs, pairs, 2).

    `labels` holds zero labels of inputs in its first rows, and has room for those of other wires, which may take the
    place of the former, shape (slots, pairs, 2); `tables` is room for the tables, shape (ANDs, pairs, 2, 2).
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
    """Evaluate a garbled circuit in memory that is there already: a label of each output, shape (outputs, pairs, 2)."""
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
    """The AND gates of a level and their numbers, some at a time."""
    for start in range(0, level.numbers.size, at_once):
        part = slice(start, start + at_once)
        ands = level.ands
        yield Gates(ands.left[part], ands.right[part], ands.out[part]), level.numbers[part]


def _encrypt(keys: GateKeys, numbers: Int32, blocks: Blocks, hashed: Blocks, half_blocks: int) -> None:
    for place, gate in enumerate(numbers.tolist()):
        for half in range(2):
            first = (2 * place + half) * half_blocks
            keys.permutation(gate, half).encrypt_part(blocks, hashed, first=first, count=half_blocks)


# --- A simulation of many pairs in one process
#
# It is not a protocol: one process sees every value and every label, and hands the evaluator the labels of
# its inputs where two parties would transfer them. All else is as between them: secrets and labels that are fresh for
# every pair, keys that are fresh for every chunk of pairs, and an output that neither half of the permute bits tells.

_CHUNK_BYTES = 1 << 28
"""Memory for the labels and tables of a chunk, unless one pair takes more."""
_SESSION_BYTES = 32


def garbled_outputs(
    circuit: Circuit,
    garbler: Bool,
    evaluator: Bool,
    *,
    random: Random = secrets.token_bytes,
    progress: Progress | None = None,
) -> Bool:
    """Outputs of a circuit for every pair, shape (pairs, output wires), by garbling it.

    Bits of both sides have the shapes (pairs, wires); `progress` is called after every chunk with the number of pairs
    done and that of all pairs.
    """
    pairs = pairs_of(circuit, garbler, evaluator)
    plan = schedule_of(circuit)
    session = random(_SESSION_BYTES)
    result = np.empty((pairs, len(circuit.output_wires)), np.bool_)
    size = pairs_at_once(plan)
    room = _Room(plan, min(size, pairs))
    for chunk, start in enumerate(range(0, pairs, size)):
        part = slice(start, min(start + size, pairs))
        bits = np.hstack([garbler[part], evaluator[part]]).T
        result[part] = room.opened(bits, WordStream(random(SEED_BYTES)), GateKeys(session, chunk)).T
        if progress is not None:
            progress(part.stop, pairs)
    return result


def pairs_at_once(plan: Schedule) -> int:
    """How many pairs make a chunk: as many as may share the keys of gates, fewer where memory asks for it."""
    return max(1, min(CHUNK_PAIRS, _CHUNK_BYTES // (LABEL_BYTES * 2 * (plan.slots + plan.ands))))


class _Room:
    """Memory for one chunk at a time; to touch new memory takes longer than to garble in it."""

    def __init__(self, plan: Schedule, pairs: int) -> None:
        self._plan = plan
        self._zeros, self._held = (np.empty(plan.slots * pairs * 2, np.uint64) for _ in range(2))
        self._tables = np.empty(plan.ands * pairs * 4, np.uint64)

    def opened(self, bits: Bool, stream: WordStream, keys: GateKeys) -> Bool:
        """The outputs of one chunk, shape (output wires, pairs), of its inputs, shape (input wires, pairs)."""
        inputs, pairs = bits.shape
        plan = self._plan
        zeros, held = (
            flat[: plan.slots * pairs * 2].reshape(plan.slots, pairs, 2) for flat in (self._zeros, self._held)
        )
        tables = self._tables[: plan.ands * pairs * 4].reshape(plan.ands, pairs, 2, 2)
        # garbler: a secret for every pair, and zero labels of every input
        deltas = fresh_deltas(pairs, stream)
        stream.fill(zeros[:inputs])
        # evaluator: a label of every input, which nobody transfers here
        choose_labels(np.ascontiguousarray(bits), zeros[:inputs], deltas, held[:inputs])
        # garbler: tables for the evaluator, zero labels of the outputs; evaluator: a label of every output
        ends = garble_in_place(plan, zeros, deltas, tables, keys)
        held_ends = evaluate_in_place(plan, held, tables, keys)
        # aggregator: a bit of every output from either
        return permute_bits(ends) ^ permute_bits(held_ends)
