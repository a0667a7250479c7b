"""Both parties of many pairs in one process: what garbling finds, at the size of a study.

A simulation and not a protocol: one process sees every value and every label, and hands the evaluator the labels of
its inputs where two parties would transfer them. All else is as between them: secrets and labels that are fresh for
every pair, keys that are fresh for every chunk of pairs, and an output that neither half of the permute bits tells.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np

from ogive.arrays import Bool
from ogive.crypto.circuits.circuit import Circuit
from ogive.crypto.circuits.plain import pairs_of
from ogive.crypto.garbling.half_gates import evaluate_in_place, garble_in_place
from ogive.crypto.garbling.hashing import CHUNK_PAIRS, GateKeys
from ogive.crypto.garbling.passes import choose_labels
from ogive.crypto.garbling.schedule import Schedule, schedule_of
from ogive.crypto.garbling.wires import LABEL_BYTES, fresh_deltas, permute_bits
from ogive.crypto.streams import SEED_BYTES, WordStream
from ogive.progress import Progress

_CHUNK_BYTES = 1 << 28
"""Memory for the labels and tables of a chunk, unless one pair takes more."""
_SESSION_BYTES = 32


def evaluate(
    circuit: Circuit,
    garbler: Bool,
    evaluator: Bool,
    *,
    random: Callable[[int], bytes] = secrets.token_bytes,
    progress: Progress | None = None,
) -> Bool:
    """Outputs of a circuit for every pair, shape (pairs, output wires), by garbling it.

    Args:
        circuit: Which one.
        garbler: Bits of the garblers, shape (pairs, garbler's wires); `plain.arrange` makes them from numbers.
        evaluator: Bits of the evaluators, shape (pairs, evaluator's wires).
        random: Gives so many random bytes.
        progress: Called after every chunk with the number of pairs done and that of all pairs.

    Raises:
        ParameterError: the arrays are of other shapes.
    """
    pairs = pairs_of(circuit, garbler, evaluator)
    plan = schedule_of(circuit)
    session = random(_SESSION_BYTES)
    found = np.empty((pairs, len(circuit.output_wires)), np.bool_)
    size = pairs_at_once(plan)
    room = _Room(plan, min(size, pairs))
    for chunk, start in enumerate(range(0, pairs, size)):
        part = slice(start, min(start + size, pairs))
        bits = np.hstack([garbler[part], evaluator[part]]).T
        found[part] = room.opened(bits, WordStream(random(SEED_BYTES)), GateKeys(session, chunk)).T
        if progress is not None:
            progress(part.stop, pairs)
    return found


def pairs_at_once(plan: Schedule) -> int:
    """How many pairs make a chunk: as many as may share the keys of gates, fewer where memory asks for it."""
    return max(1, min(CHUNK_PAIRS, _CHUNK_BYTES // (LABEL_BYTES * 2 * (plan.slots + plan.ands))))


class _Room:
    """Memory for one chunk at a time; to touch new memory takes longer than to garble in it.

    Args:
        plan: The circuit.
        pairs: In a chunk, at most.
    """

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
