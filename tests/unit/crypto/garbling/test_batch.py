"""Garbling in one process: it finds what the evaluation in the clear finds, with nothing used twice."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.circuits import random_circuit

from ogive.crypto import garbling
from ogive.crypto.circuits import arithmetic
from ogive.crypto.circuits import circuit as plain
from ogive.crypto.circuits.circuit import Bit, Builder, Port, Unsigned
from ogive.crypto.circuits.sampling import (
    LaplaceLaw,
    ResponseLaw,
    add_laplace,
    index_of_sign,
    respond_binary,
    respond_ternary,
    uniform_bits,
)
from ogive.crypto.domains import WordStream
from ogive.crypto.garbling import permute_bits, schedule_of
from ogive.errors import ParameterError


def seeded(number):
    """Random bytes that can be had again."""
    stream = WordStream(bytes([number]) * 16)
    return lambda count: stream.words(-(-count // 8)).tobytes()[:count]


def with_all_wires_open(circuit):
    """The same gates, of which every one is an output."""
    return replace(
        circuit, outputs=(Port("wires", circuit.wires),), output_wires=np.arange(circuit.wires, dtype=np.int32)
    )


def built(kernel, width, *, inputs=1):
    """A kernel of numbers of some bits, `inputs` of each party."""
    builder = Builder()
    ours = [builder.garbler(f"x{place}", width) for place in range(inputs)]
    theirs = [builder.evaluator(f"y{place}", width) for place in range(inputs)]
    return builder.finish({"out": kernel(*ours, *theirs)})


def kendall(y1, z1, y2, z2):
    return arithmetic.kendall((y1, z1), (y2, z2))


def squared_difference(x, y):
    return arithmetic.square(arithmetic.absolute_difference(x, y))


KERNELS = {
    "gini": (arithmetic.absolute_difference, 5, 1),
    "squared difference": (squared_difference, 4, 1),
    "collision": (arithmetic.equal, 5, 1),
    "auc strict": (arithmetic.less, 5, 1),
    "auc half": (arithmetic.auc_half, 5, 1),
    "kendall": (kendall, 3, 2),
}


def all_inputs(circuit):
    """Every input of both parties."""
    grid = (np.arange(1 << circuit.inputs)[:, None] >> np.arange(circuit.inputs) & 1).astype(bool)
    return grid[:, : circuit.garbler_bits], grid[:, circuit.garbler_bits :]


def random_inputs(circuit, pairs, seed=1):
    draw = np.random.default_rng(seed)
    return [draw.random((pairs, bits)) < 0.5 for bits in (circuit.garbler_bits, circuit.evaluator_bits)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(30))
def test_random_circuits_compute_what_their_gates_say_for_every_input(seed):
    circuit, x, y, wanted = random_circuit(seed)
    np.testing.assert_array_equal(garbling.garbled_outputs(circuit, x, y), wanted)
    every = with_all_wires_open(circuit)
    np.testing.assert_array_equal(garbling.garbled_outputs(every, x, y), plain.evaluate(every, x, y))


@pytest.mark.parametrize("name", KERNELS)
def test_every_gate_of_every_kernel_agrees_for_every_input(name):
    kernel, width, inputs = KERNELS[name]
    circuit = with_all_wires_open(built(kernel, width, inputs=inputs))
    x, y = all_inputs(circuit)
    found = garbling.garbled_outputs(circuit, x, y)
    np.testing.assert_array_equal(found, plain.evaluate(circuit, x, y))
    # control: wires take both values, but for the few that are 0 in every square: to agree is not to agree on nothing
    assert np.mean(found.any(axis=0) & ~found.all(axis=0)) > 0.9


def noisy_circuits():
    """Kernels with the noise of studies."""
    laplace = LaplaceLaw.within(Fraction(1), delta=1e-9, sensitivity=255)
    binary, ternary = (ResponseLaw.of(Fraction(1), values=values) for values in (2, 3))
    builder = Builder()
    x, y = builder.garbler("x", 8), builder.evaluator("y", 8)
    noise = uniform_bits(builder, laplace.uniform_bits)
    yield builder.finish({"out": add_laplace(arithmetic.absolute_difference(x, y), laplace, noise)})
    builder = Builder()
    x, y = builder.garbler("x", 64), builder.evaluator("y", 64)
    noise = uniform_bits(builder, binary.uniform_bits)
    yield builder.finish({"out": respond_binary(arithmetic.less(x, y), binary, noise)})
    builder = Builder()
    ours, theirs = ([make(name, 64) for name in "yz"] for make in (builder.garbler, builder.evaluator))
    noise = uniform_bits(builder, ternary.uniform_bits)
    yield builder.finish({"out": respond_ternary(index_of_sign(kendall(*ours, *theirs)), ternary, noise)})


@pytest.mark.parametrize("circuit", list(noisy_circuits()), ids=["gini", "auc", "kendall"])
def test_every_gate_of_large_circuits_with_noise_agrees_for_random_inputs(circuit):
    every = with_all_wires_open(circuit)
    inputs = random_inputs(every, 300)
    np.testing.assert_array_equal(garbling.garbled_outputs(every, *inputs), plain.evaluate(every, *inputs))


@pytest.mark.parametrize(("pairs", "ends"), [(0, []), (1, [1]), (4095, [4095]), (4096, [4096]), (4097, [4096, 4097])])
def test_pairs_are_right_on_both_sides_of_a_chunks_end(pairs, ends):
    circuit = built(arithmetic.absolute_difference, 6)
    assert garbling.pairs_at_once(schedule_of(circuit)) == 4096
    inputs, told = random_inputs(circuit, pairs), []
    found = garbling.garbled_outputs(circuit, *inputs, progress=lambda done, todo: told.append((done, todo)))
    np.testing.assert_array_equal(found, plain.evaluate(circuit, *inputs))
    assert found.shape == (pairs, 6)
    assert told == [(end, pairs) for end in ends]


def test_chunks_of_large_circuits_are_smaller():
    circuit = built(arithmetic.absolute_difference, 6)
    plan = schedule_of(circuit)
    # labels of garbler and evaluator and two blocks a gate, 16 bytes each
    bytes_a_pair = 32 * plan.slots + 32 * plan.ands
    assert garbling.pairs_at_once(replace(plan, slots=plan.slots + (1 << 16))) == (1 << 28) // (
        bytes_a_pair + (1 << 21)
    )
    assert garbling.pairs_at_once(replace(plan, slots=1 << 24)) == 1


@pytest.fixture
def chunks(monkeypatch):
    """What was garbled: (zero labels, secrets, tables, keys) of every chunk, each of five pairs at most."""
    seen = []

    def seeing(plan, labels, deltas, tables, keys):
        zeros = labels[: plan.inputs].copy()
        ends = garble_in_place(plan, labels, deltas, tables, keys)
        seen.append((zeros, deltas.copy(), tables.copy(), keys))
        return ends

    garble_in_place = garbling.garble_in_place
    monkeypatch.setattr(garbling, "garble_in_place", seeing)
    monkeypatch.setattr(garbling, "pairs_at_once", lambda plan: 5)
    return seen


def blocks_of(chunk):
    return [bytes(row) for array in chunk[:3] for row in np.ascontiguousarray(array).reshape(-1, 2)]


def test_chunks_and_runs_share_no_label_no_secret_and_no_key(chunks):
    circuit = built(arithmetic.absolute_difference, 4)
    inputs = random_inputs(circuit, 23)
    for _ in range(2):
        np.testing.assert_array_equal(garbling.garbled_outputs(circuit, *inputs), plain.evaluate(circuit, *inputs))
    assert [chunk[1].shape[0] for chunk in chunks] == 2 * [5, 5, 5, 5, 3]
    blocks = [block for chunk in chunks for block in blocks_of(chunk)]
    # of every pair: a label of each input, a secret and a table; all are different
    assert len(blocks) == len(set(blocks)) == 2 * 23 * (circuit.inputs + 1 + 2 * circuit.ands)
    keys = {chunk[3].key(gate, half) for chunk in chunks for gate in range(circuit.ands) for half in range(2)}
    assert len(keys) == len(chunks) * circuit.ands * 2
    # the lowest bit of every secret is 1, and of labels either
    assert all(permute_bits(chunk[1][None]).all() for chunk in chunks)
    assert len({bit for chunk in chunks for bit in permute_bits(chunk[0]).ravel().tolist()}) == 2


def test_random_bytes_make_the_labels_and_not_the_outputs(chunks):
    circuit = built(arithmetic.absolute_difference, 4)
    inputs = random_inputs(circuit, 9)
    first, again, other = (garbling.garbled_outputs(circuit, *inputs, random=seeded(number)) for number in (1, 1, 2))
    np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(first, again)
    blocks = [{*blocks_of(one), *blocks_of(two)} for one, two in zip(chunks[::2], chunks[1::2], strict=True)]
    assert blocks[0] == blocks[1]
    assert not blocks[0] & blocks[2]
    # control: what the test above looks for is there when randomness is used twice
    del chunks[:]
    garbling.garbled_outputs(circuit, *inputs, random=bytes)
    assert {*blocks_of(chunks[0])} & {*blocks_of(chunks[1])}


def test_the_evaluator_is_not_told_its_pairs_values_by_permute_bits(chunks, monkeypatch):
    held = []
    evaluate_in_place = garbling.evaluate_in_place

    def seeing(plan, labels, tables, keys):
        held.append(permute_bits(labels[: plan.inputs]))
        return evaluate_in_place(plan, labels, tables, keys)

    monkeypatch.setattr(garbling, "evaluate_in_place", seeing)
    monkeypatch.setattr(garbling, "pairs_at_once", lambda plan: 4096)
    circuit = built(arithmetic.absolute_difference, 5)
    x, y = (np.ones((4096, 5), bool) for _ in range(2))
    garbling.garbled_outputs(circuit, x, y, random=seeded(3))
    # 40 960 fair bits, whatever the inputs: 5 deviations
    assert abs(held[0].mean() - 0.5) < 5 * 0.5 / np.sqrt(held[0].size)
    assert np.array_equal(held[0] ^ permute_bits(chunks[0][0]), np.ones((10, 4096), bool))


def test_a_circuit_may_have_no_gates():
    builder = Builder()
    x, y = builder.garbler("x", 3), builder.evaluator("y", 2)
    circuit = builder.finish({"y": y, "low": Bit(builder, x.bits[0].literal), "both": Unsigned((*x.bits, *y.bits))})
    assert circuit.gates == 0
    inputs = all_inputs(circuit)
    np.testing.assert_array_equal(garbling.garbled_outputs(circuit, *inputs), plain.evaluate(circuit, *inputs))


@pytest.mark.parametrize("shapes", [((3, 5), (3, 4)), ((3, 4), (2, 4)), ((3, 4), (3, 4, 1)), ((12,), (3, 4))])
def test_inputs_of_other_shapes_are_refused(shapes):
    circuit = built(arithmetic.absolute_difference, 4)
    for evaluate in (garbling.garbled_outputs, plain.evaluate):
        with pytest.raises(ParameterError, match=r"inputs must have the shapes \(pairs, 4\) and \(pairs, 4\), got"):
            evaluate(circuit, *(np.zeros(shape, bool) for shape in shapes))
