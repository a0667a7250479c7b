"""Half gates: what garbler and evaluator find together is what the gates say."""

import itertools

import numpy as np
import pytest

from ogive.crypto.circuits import Gate
from ogive.crypto.domains import WordStream
from ogive.crypto.garbling import (
    GateKeys,
    evaluate,
    evaluate_in_place,
    fresh_deltas,
    fresh_zeros,
    garble,
    garble_in_place,
    labels_of,
    permute_bits,
    schedule,
)
from ogive.errors import ParameterError

SEED = bytes(range(16))
KEYS = GateKeys(b"session")


def ints(values):
    return np.array(values, np.int32)


def plain(kind, left, right, bits, outputs):
    """Gate by gate, on rows of bools."""
    wires = list(bits)
    for gate, a, b in zip(kind, left, right, strict=True):
        if gate == Gate.XOR:
            wires.append(wires[a] != wires[b])
        elif gate == Gate.AND:
            wires.append(wires[a] & wires[b])
        else:
            wires.append(~wires[a])
    return np.array([wires[wire] for wire in outputs])


def garbled(plan, bits, *, seed=SEED, keys=KEYS):
    """Both sides: (zero labels of outputs, labels of outputs, tables, deltas, zero labels of inputs)."""
    stream = WordStream(seed)
    pairs = bits.shape[1]
    deltas, zeros = fresh_deltas(pairs, stream), fresh_zeros(plan.inputs, pairs, stream)
    tables, ends = garble(plan, zeros, deltas, keys)
    return ends, evaluate(plan, labels_of(bits, zeros, deltas), tables, keys), tables, deltas, zeros


def random_circuit(rng, inputs, gates, outputs):
    kind = rng.integers(0, 3, gates)
    left = [int(rng.integers(inputs + g)) for g in range(gates)]
    right = [int(rng.integers(inputs + g)) if kind[g] != Gate.NOT else -1 for g in range(gates)]
    return ints(kind), ints(left), ints(right), ints(rng.integers(inputs + gates, size=outputs))


ONE_AND = schedule(ints([Gate.AND]), ints([0]), ints([1]), inputs=2, outputs=ints([2]))


def test_an_and_gate_is_right_for_all_inputs_of_thousands_of_pairs():
    seen = set()
    for a, b in itertools.product((False, True), repeat=2):
        bits = np.repeat([[a], [b]], 4096, axis=1)
        ends, held, _, deltas, zeros = garbled(ONE_AND, bits, seed=bytes([a, b]) * 8)
        # the label itself, and not its lowest bit alone
        assert np.array_equal(held, ends ^ (deltas if a and b else np.uint64(0)))
        seen |= {(a, b, *row) for row in permute_bits(zeros).T.tolist()}
    assert len(seen) == 16


@pytest.mark.parametrize(("pairs", "gates"), [(1, 400), (3, 60), (64, 300), (1000, 80), (4096, 40)])
@pytest.mark.parametrize("seed", range(4))
def test_random_circuits_agree_with_a_plain_evaluation(pairs, gates, seed):
    rng = np.random.default_rng(seed)
    kind, left, right, outputs = random_circuit(rng, 7, gates, 25)
    plan = schedule(kind, left, right, inputs=7, outputs=outputs)
    bits = rng.random((7, pairs)) < 0.5
    ends, held, tables, deltas, _ = garbled(plan, bits, seed=bytes([seed]) * 16)
    wanted = plain(kind, left, right, bits, outputs)
    assert np.array_equal(permute_bits(ends) ^ permute_bits(held), wanted)
    assert np.array_equal(held, labels_of(wanted, ends, deltas))
    assert tables.shape == (np.sum(kind == Gate.AND), pairs, 2, 2)


@pytest.mark.parametrize("outputs", [[], [0, 0, 1]])
def test_a_circuit_may_have_no_gates(outputs):
    plan = schedule(ints([]), ints([]), ints([]), inputs=2, outputs=ints(outputs))
    bits = np.array([[True, False], [False, False]])
    ends, held, tables, _, _ = garbled(plan, bits)
    assert tables.shape == (0, 2, 2, 2)
    assert np.array_equal(permute_bits(ends) ^ permute_bits(held), bits[np.array(outputs, int)])


def test_a_gate_may_read_one_wire_twice():
    kind, wires = ints([Gate.AND, Gate.XOR]), ints([0, 0])
    plan = schedule(kind, wires, wires, inputs=1, outputs=ints([1, 2]))
    bits = np.array([[True, False, True]])
    ends, held, _, _, _ = garbled(plan, bits)
    assert np.array_equal(permute_bits(ends) ^ permute_bits(held), [bits[0], [False] * 3])


def test_tables_lie_in_the_order_of_the_circuit_and_not_of_its_levels():
    # gates 0 and 1 one after the other, gate 2 beside gate 0
    plan = schedule(ints([1, 1, 1]), ints([0, 3, 0]), ints([1, 2, 2]), inputs=3, outputs=ints([4, 5]))
    assert [level.numbers.tolist() for level in plan.levels] == [[0, 2], [1], []]
    alone = schedule(ints([1, 1]), ints([0, 3]), ints([1, 2]), inputs=3, outputs=ints([4]))
    bits = np.ones((3, 5), bool)
    assert np.array_equal(garbled(plan, bits)[2][:2], garbled(alone, bits)[2])


def test_permute_bits_are_balanced():
    rng = np.random.default_rng(5)
    # a chain of ANDs, all of whose wires come out
    gates = 100
    plan = schedule(
        ints([Gate.AND] * gates), ints(range(2, 2 + gates)), ints([0] + [1] * (gates - 1)),
        inputs=3, outputs=ints(range(3, 3 + gates)),
    )  # fmt: skip
    pairs = 4096
    ends, held, _, deltas, _ = garbled(plan, rng.random((3, pairs)) < 0.5)
    for bits in (permute_bits(ends), permute_bits(held)):
        # 409 600 fair bits: 5 deviations; and no wire or pair is fixed
        assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(bits.size)
        assert np.all(np.abs(bits.mean(axis=1) - 0.5) < 6 * 0.5 / np.sqrt(pairs))
    assert np.all(deltas[:, 0] & np.uint64(1))
    # control: the values themselves, 1 in one case of eight, are far from it
    assert (permute_bits(ends) ^ permute_bits(held)).mean() < 0.2


def blocks_of(*arrays):
    return {bytes(row) for array in arrays for row in np.ascontiguousarray(array).reshape(-1, 2)}


def test_two_sessions_share_no_label():
    rng = np.random.default_rng(6)
    kind, left, right, outputs = random_circuit(rng, 5, 60, 20)
    plan = schedule(kind, left, right, inputs=5, outputs=outputs)
    bits = np.ones((5, 50), bool)
    first, again, other = (garbled(plan, bits, seed=bytes([seed]) * 16) for seed in (1, 1, 2))
    shared = blocks_of(*first) & blocks_of(*other)
    # a wire that is always 0 has the label 0
    assert shared <= {bytes(16)}
    assert blocks_of(*first) == blocks_of(*again)


@pytest.mark.parametrize("keys", [GateKeys(b"other"), GateKeys(b"session", 1)])
def test_tables_of_another_session_or_chunk_are_different(keys):
    bits = np.ones((2, 100), bool)
    assert not blocks_of(garbled(ONE_AND, bits)[2]) & blocks_of(garbled(ONE_AND, bits, keys=keys)[2])


def test_all_labels_of_a_pair_differ():
    bits = np.ones((2, 1000), bool)
    ends, held, tables, deltas, zeros = garbled(ONE_AND, bits)
    assert len(blocks_of(ends, tables, deltas, zeros, held)) == 1000 * (1 + 2 + 1 + 2 + 1)


def test_too_many_pairs_and_labels_of_other_circuits_are_refused():
    with pytest.raises(ParameterError, match="at most 4096 pairs"):
        garbled(ONE_AND, np.ones((2, 4097), bool))
    with pytest.raises(ParameterError, match="has 2 inputs, got labels of 3"):
        garble(ONE_AND, np.zeros((3, 1, 2), np.uint64), np.ones((1, 2), np.uint64), KEYS)


def test_arrays_of_other_shapes_are_refused():
    zeros, deltas = np.zeros((2, 3, 2), np.uint64), np.ones((3, 2), np.uint64)
    tables, _ = garble(ONE_AND, zeros, deltas, KEYS)
    with pytest.raises(ParameterError, match=r"secrets must have shape \(3, 2\), got \(2, 2\)"):
        garble(ONE_AND, zeros, deltas[:2], KEYS)
    for wrong in (tables[:0], tables[:, :2], tables[:, :, :1]):
        with pytest.raises(ParameterError, match=r"tables must have shape \(1, 3, 2, 2\), got"):
            evaluate(ONE_AND, zeros, wrong, KEYS)


def test_labels_and_secrets_that_cannot_be_are_refused():
    zeros, deltas = np.zeros((2, 3, 2), np.uint64), np.ones((3, 2), np.uint64)
    with pytest.raises(ParameterError, match=r"labels of inputs must have shape \(2, 3, 2\), got \(2, 3, 1\)"):
        garble(ONE_AND, zeros[:, :, :1], deltas, KEYS)
    deltas[1, 0] = 2
    with pytest.raises(ParameterError, match="lowest bit of every secret must be 1"):
        garble(ONE_AND, zeros, deltas, KEYS)
    bits = np.zeros((2, 3), bool)
    for wrong in (zeros[:1], zeros[:, :2], zeros[:, :, :1]):
        with pytest.raises(ParameterError, match=r"zero labels must have shape \(2, 3, 2\), got"):
            labels_of(bits, wrong, deltas)
    with pytest.raises(ParameterError, match=r"secrets must have shape \(3, 2\), got"):
        labels_of(bits, zeros, deltas[:2])


@pytest.mark.parametrize(
    ("kind", "left", "right", "output"),
    [(3, 0, 1, 2), (-1, 0, 1, 2), (1, -1, 1, 2), (1, 0, 2, 2), (2, 2, 0, 2), (1, 0, 1, 3), (1, 0, 1, -1)],
)
def test_circuits_of_other_gates_or_wires_are_refused(kind, left, right, output):
    with pytest.raises(ParameterError, match="gates must be XOR, AND or NOT of wires before their own"):
        schedule(ints([kind]), ints([left]), ints([right]), inputs=2, outputs=ints([output]))


def test_room_of_other_shapes_is_refused():
    labels, deltas, tables = (np.ones(shape, np.uint64) for shape in ((ONE_AND.slots, 3, 2), (3, 2), (1, 3, 2, 2)))
    for wrong in (labels[:-1], labels[:, :, :1]):
        with pytest.raises(ParameterError, match=r"labels must have shape \(3, 3, 2\), got"):
            garble_in_place(ONE_AND, wrong, deltas, tables, KEYS)
        with pytest.raises(ParameterError, match=r"labels must have shape \(3, 3, 2\), got"):
            evaluate_in_place(ONE_AND, wrong, tables, KEYS)
    for wrong in (tables[:0], tables[:, :2]):
        with pytest.raises(ParameterError, match=r"tables must have shape \(1, 3, 2, 2\), got"):
            garble_in_place(ONE_AND, labels, deltas, wrong, KEYS)
    with pytest.raises(ParameterError, match=r"secrets must have shape \(3, 2\), got"):
        garble_in_place(ONE_AND, labels, deltas[:2], tables, KEYS)


def test_tables_as_they_were_received_cannot_be_written():
    bits = np.array([[True, False], [True, True]])
    ends, held, tables, deltas, zeros = garbled(ONE_AND, bits)
    received = np.frombuffer(tables.tobytes(), "<u8").reshape(tables.shape)
    assert np.array_equal(evaluate(ONE_AND, labels_of(bits, zeros, deltas), received, KEYS), held)
    assert (permute_bits(ends) ^ permute_bits(held)).tolist() == [[True, False]]


def test_slots_are_used_again():
    gates = 1000
    plan = schedule(
        ints([Gate.AND, Gate.XOR] * (gates // 2)), ints(range(1, gates + 1)), ints([0] * gates),
        inputs=2, outputs=ints([gates + 1]),
    )  # fmt: skip
    assert plan.slots <= 4
