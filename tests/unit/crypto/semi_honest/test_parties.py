"""Two parties who evaluate a circuit on many inputs: what they find, what they see, and bytes that do not belong."""

import numpy as np
import pytest

from ogive.crypto.circuits import Builder, evaluate
from ogive.crypto.circuits.arithmetic import first_largest
from ogive.crypto.semi_honest import (
    MOST_INSTANCES,
    SemiHonestEvaluator,
    SemiHonestGarbler,
    Task,
    instances_at_once,
    message_bytes,
)
from ogive.errors import ParameterError, PeerError

CIRCUIT = first_largest(3, 4)


def bytes_of(seed):
    return np.random.default_rng(seed).bytes


def task_of(instances, number=0, circuit=CIRCUIT):
    return Task(circuit, instances, bytes([number]) * 16)


def inputs_of(circuit, instances, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.random((instances, width)) < 0.5 for width in (circuit.garbler_bits, circuit.evaluator_bits)]


def meet(task, inputs, seed=2):
    """Messages and halves of a session."""
    garbler = SemiHonestGarbler(task, inputs[0], bytes_of(seed))
    evaluator = SemiHonestEvaluator(task, inputs[1], bytes_of(seed + 1))
    extension = evaluator.extension(garbler.transfer)
    garbled, half = garbler.garbled(extension)
    return (garbler.transfer, extension, garbled), (half, evaluator.half(garbled))


@pytest.mark.parametrize("instances", [1, 2, 7, 64])
def test_the_halves_make_the_outputs_of_every_instance(instances):
    inputs = inputs_of(CIRCUIT, instances)
    _, (ours, theirs) = meet(task_of(instances), inputs)
    assert np.array_equal(ours ^ theirs, evaluate(CIRCUIT, *inputs))


def test_one_gate_on_all_four_inputs():
    builder = Builder()
    a, b = builder.garbler("a", 1).bits[0], builder.evaluator("b", 1).bits[0]
    circuit = builder.finish({"and": a & b, "or": a | b, "not": ~a})
    inputs = [np.array([[0], [0], [1], [1]], bool), np.array([[0], [1], [0], [1]], bool)]
    _, (ours, theirs) = meet(task_of(4, circuit=circuit), inputs)
    assert (ours ^ theirs).astype(int).tolist() == [[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0]]


def test_either_half_alone_is_a_fair_coin_whatever_the_output_is():
    instances = 2_000
    inputs = [np.repeat(each[:1], instances, axis=0) for each in inputs_of(CIRCUIT, 1)]
    _, halves = meet(task_of(instances), inputs)
    for half in halves:
        # 2,000 fair coins: six standard deviations are 134
        assert (np.abs(half.sum(axis=0) - instances / 2) < 134).all()
    assert len(np.unique(halves[0] ^ halves[1], axis=0)) == 1


def test_messages_have_the_lengths_that_are_stated():
    for instances in (1, 5, 130):
        messages, _ = meet(task_of(instances), inputs_of(CIRCUIT, instances))
        assert tuple(map(len, messages)) == message_bytes(CIRCUIT, instances)


def test_labels_of_two_sessions_have_nothing_in_common():
    inputs = inputs_of(CIRCUIT, 4)
    first = meet(task_of(4, 0), inputs, seed=2)[0][2]
    second = meet(task_of(4, 1), inputs, seed=9)[0][2]
    blocks = [{each[start : start + 16] for start in range(0, len(each), 16)} for each in (first, second)]
    assert len(blocks[0]) * 16 == len(first)
    assert not blocks[0] & blocks[1]


def test_messages_of_another_length_are_refused_in_one_line():
    task, inputs = task_of(3), inputs_of(CIRCUIT, 3)
    (transfer, extension, garbled), _ = meet(task, inputs)
    for wrong in (b"", transfer[:-1], transfer + b"\0", b"\0" * len(transfer)):
        with pytest.raises(PeerError) as why:
            SemiHonestEvaluator(task, inputs[1], bytes_of(3)).extension(wrong)
        assert "\n" not in str(why.value)
    for wrong in (b"", extension[:-1], extension + b"\0", b"\0" * len(extension)):
        with pytest.raises(PeerError) as why:
            SemiHonestGarbler(task, inputs[0], bytes_of(2)).garbled(wrong)
        assert "\n" not in str(why.value)
    for wrong in (b"", garbled[:-1], garbled + b"\0"):
        evaluator = SemiHonestEvaluator(task, inputs[1], bytes_of(3))
        evaluator.extension(transfer)
        with pytest.raises(PeerError) as why:
            evaluator.half(wrong)
        assert "\n" not in str(why.value)


def test_inputs_of_another_shape_and_too_many_instances_are_refused():
    inputs = inputs_of(CIRCUIT, 3)
    for kind, bits in ((SemiHonestGarbler, inputs[0]), (SemiHonestEvaluator, inputs[1])):
        for wrong in (bits[:2], bits[:, 1:], bits[0]):
            with pytest.raises(ParameterError, match="inputs of the shape"):
                kind(task_of(3), wrong, bytes_of(1))
    for instances in (0, MOST_INSTANCES + 1):
        with pytest.raises(ParameterError, match=f"1 to {MOST_INSTANCES} instances, got {instances}"):
            task_of(instances)


def test_sessions_are_as_large_as_their_messages_may_be():
    for circuit in (CIRCUIT, first_largest(50, 20)):
        size = instances_at_once(circuit)
        assert 1 <= size <= MOST_INSTANCES
        transfer, extension, garbled = message_bytes(circuit, size)
        assert max(transfer + garbled, extension) < (1 << 26) + (1 << 14)
    assert instances_at_once(CIRCUIT) == MOST_INSTANCES
