"""Labels by transfers: t = q xor r delta, bit by bit from a slow reading, and messages of other lengths."""

import numpy as np
import pytest
from helpers.dealer import InsecureDealer

from ogive.crypto.circuits import Gate
from ogive.crypto.domains import WordStream, words
from ogive.crypto.garbling import (
    GateKeys,
    evaluate,
    fresh_deltas,
    fresh_zeros,
    garble,
    labels_of,
    permute_bits,
    schedule,
)
from ogive.crypto.transfer import (
    BaseTransfers,
    bits_of,
    correct_choices,
    correct_zeros,
    extend_choices,
    extend_zeros,
)
from ogive.errors import PeerError

DELTA = fresh_deltas(1, WordStream(bytes(16)))[0]


def transferred(evaluator, garbler, *, garbler_sends, choices=None, count=128):
    """Keys of the sender, keys of the receiver."""
    send, receive = (garbler, evaluator) if garbler_sends else (evaluator, garbler)
    sender, receiver = send.sender(b"s", count), receive.receiver(b"s", choices)
    return sender.keys(receiver.message), receiver.keys(sender.message)


def dealt(**changed):
    return transferred(InsecureDealer(b"x"), InsecureDealer(b"x"), **changed)


def extended(choices, delta=DELTA):
    pairs, chosen = dealt(garbler_sends=False, choices=bits_of(delta))
    message, held = extend_choices(pairs, choices)
    return extend_zeros(chosen, delta, message, inputs=choices.size), held, message, pairs


@pytest.mark.parametrize("inputs", [0, 1, 127, 128, 129, 640, 897])
def test_the_labels_of_the_evaluators_bits_are_those_of_the_garbler(inputs):
    choices = np.random.default_rng(inputs).random(inputs) < 0.5
    zeros, held, message, _ = extended(choices)
    assert zeros.shape == held.shape == (inputs, 2)
    assert np.array_equal(held, zeros ^ np.where(choices[:, None], DELTA, np.uint64(0)))
    assert len(message) == 16 * (-(-inputs // 128) * 128)


def test_labels_are_columns_of_the_streams():
    choices = np.random.default_rng(1).random(200) < 0.5
    _, held, _, pairs = extended(choices)
    streams = [int.from_bytes(words(pair[0], 4).tobytes(), "little") for pair in pairs]
    for j in range(200):
        label = sum((stream >> j & 1) << i for i, stream in enumerate(streams))
        assert held[j].tolist() == [label & (1 << 64) - 1, label >> 64]


def test_the_message_is_uniform_whatever_the_bits_are():
    ones, zeros = (extended(np.full(6400, value))[2] for value in (True, False))
    for message in (ones, zeros):
        bits = np.unpackbits(np.frombuffer(message, np.uint8))
        assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(bits.size)
    # control: under one and the same keys the two differ in every bit
    assert bytes(a ^ b for a, b in zip(ones, zeros, strict=True)) == b"\xff" * len(ones)


def test_an_evaluator_with_other_keys_gets_nothing():
    choices = np.ones(128, bool)
    pairs, _ = dealt(garbler_sends=False, choices=bits_of(DELTA))
    _, chosen = transferred(InsecureDealer(b"y"), InsecureDealer(b"y"), garbler_sends=False, choices=bits_of(DELTA))
    message, held = extend_choices(pairs, choices)
    zeros = extend_zeros(chosen, DELTA, message, inputs=128)
    assert not np.any(np.all(held == zeros ^ DELTA, axis=1))


@pytest.mark.parametrize("change", [-16 * 128, -1, 1, 16 * 128])
def test_messages_of_other_lengths_are_refused(change):
    pairs, chosen = dealt(garbler_sends=False, choices=bits_of(DELTA))
    message, _ = extend_choices(pairs, np.ones(256, bool))
    wrong = message[:change] if change < 0 else message + bytes(change)
    with pytest.raises(PeerError, match=r"too long|in the middle of a field"):
        extend_zeros(chosen, DELTA, wrong, inputs=256)
    # control: as it is, it is read
    assert extend_zeros(chosen, DELTA, message, inputs=256).shape == (256, 2)


@pytest.mark.parametrize("inputs", [0, 1, 8, 127])
def test_direct_transfers_give_such_labels_too(inputs):
    choices = np.random.default_rng(inputs).random(inputs) < 0.5
    pairs, chosen = dealt(garbler_sends=True, choices=choices.tolist(), count=inputs)
    message, zeros = correct_zeros(pairs, DELTA)
    held = correct_choices(chosen, choices, message)
    assert len(message) == 16 * inputs
    assert np.array_equal(held, zeros ^ np.where(choices[:, None], DELTA, np.uint64(0)))
    for wrong in (message + b"\0", *([message[:-1]] if inputs else [])):
        with pytest.raises(PeerError, match=r"too long|in the middle of a field"):
            correct_choices(chosen, choices, wrong)


@pytest.mark.parametrize("direct", [True, False])
def test_a_pair_without_a_dealer_evaluates_and_gates(direct):
    inputs = 9
    ands = [np.array(row, np.int32) for row in ([Gate.AND] * inputs, range(inputs), range(inputs, 2 * inputs))]
    plan = schedule(*ands, inputs=2 * inputs, outputs=np.arange(2 * inputs, 3 * inputs, dtype=np.int32))
    rng = np.random.default_rng(8)
    mine, yours = rng.random((2, inputs)) < 0.5
    stream = WordStream(bytes(16))
    deltas, own = fresh_deltas(1, stream), fresh_zeros(inputs, 1, stream)
    evaluator, garbler = BaseTransfers(), BaseTransfers()
    choices = yours.tolist() if direct else bits_of(deltas[0])
    count = inputs if direct else 128
    pairs, chosen = transferred(evaluator, garbler, garbler_sends=direct, choices=choices, count=count)
    if direct:
        message, zeros = correct_zeros(pairs, deltas[0])
        held = correct_choices(chosen, yours, message)
    else:
        message, held = extend_choices(pairs, yours)
        zeros = extend_zeros(chosen, deltas[0], message, inputs=inputs)
    keys = GateKeys(b"session")
    tables, ends = garble(plan, np.concatenate([own, zeros[:, None]]), deltas, keys)
    labels = np.concatenate([labels_of(mine[:, None], own, deltas), held[:, None]])
    found = permute_bits(ends) ^ permute_bits(evaluate(plan, labels, tables, keys))
    assert found[:, 0].tolist() == (mine & yours).tolist()
