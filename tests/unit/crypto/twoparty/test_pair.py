"""A whole pair: outputs are those of a plain evaluation, and messages are as long as the specification says."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from helpers.twoparty import (
    EVALUATOR,
    GARBLER,
    Notes,
    Pair,
    auc_circuit,
    deliver_in_any_order,
    enrolment,
    gini_circuit,
    kendall_circuit,
    settings_of,
)

from ogive.crypto.circuits import Builder, arrange, evaluate, separate
from ogive.crypto.circuits.arithmetic import absolute_difference
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.twoparty import AGGREGATOR, Mailbox, PairParty, Participant, Step, drawn_bits, is_extended, pair_bytes
from ogive.errors import ParameterError, PeerError

RNG = np.random.default_rng(808)


def one_and():
    builder = Builder()
    both = builder.garbler("a", 1).bits[0] & builder.evaluator("b", 1).bits[0]
    return builder.finish({"both": both, "neither": ~both})


def one_sided(side):
    """A circuit of which one party has no input."""
    builder = Builder()
    bits = getattr(builder, side)("x", 3).bits
    return builder.finish({"all": bits[0] & bits[1] & bits[2]})


CIRCUITS = {
    "and": one_and(),
    "auc": auc_circuit(),
    "kendall": kendall_circuit(),
    "gini": gini_circuit(),
    "gini extended": gini_circuit(8, digits=9, precision=24),
    "evaluator has nothing": one_sided("garbler"),
    "garbler has nothing": one_sided("evaluator"),
}


def any_bits(circuit):
    return RNG.random(circuit.garbler_bits) < 0.5, RNG.random(circuit.evaluator_bits) < 0.5


@pytest.mark.parametrize("name", CIRCUITS)
def test_outputs_are_those_of_a_plain_evaluation(name):
    circuit = CIRCUITS[name]
    settings = settings_of(circuit)
    assert is_extended(settings.circuit) == (name == "gini extended")
    for _ in range(size(3, part=1)):
        garbler, evaluator = any_bits(circuit)
        found = Pair(settings, garbler, evaluator).run()
        assert np.array_equal(found, evaluate(circuit, garbler[None], evaluator[None])[0])


@pytest.mark.parametrize("inputs", [127, 128, 129, pytest.param(256, marks=pytest.mark.everything)])
def test_transfers_are_extended_from_128_inputs_on(inputs):
    builder = Builder()
    x, y = builder.garbler("x", inputs), builder.evaluator("y", inputs)
    circuit = builder.finish({"same": x.bits[0] ^ y.bits[0], "last": x.bits[-1] & y.bits[-1]})
    settings = settings_of(circuit)
    assert is_extended(settings.circuit) == (inputs >= 128)
    garbler, evaluator = any_bits(circuit)
    pair = Pair(settings, garbler, evaluator)
    found = pair.run()
    assert found.tolist() == [garbler[0] ^ evaluator[0], garbler[-1] & evaluator[-1]]
    assert len(pair.sent) == 10 + is_extended(settings.circuit)


def test_noise_that_neither_party_knows_is_added_to_the_kernel():
    circuit = gini_circuit()
    settings = settings_of(circuit)
    seen = set()
    for _ in range(size(6, part=4)):
        garbler = drawn_bits(circuit.garbler, {"x": 12})
        evaluator = drawn_bits(circuit.evaluator, {"x": 5})
        found = Pair(settings, garbler, evaluator).run()
        value = int(separate(circuit.outputs, found[None])["noisy"][0])
        assert -32 <= value - 7 <= 32
        seen.add(value)
    assert len(seen) > 1


@pytest.mark.parametrize("name", CIRCUITS)
def test_messages_are_as_long_as_the_specification_says(name):
    circuit = CIRCUITS[name]
    pair = Pair(settings_of(circuit), *any_bits(circuit))
    pair.run()
    sent = sum(len(data) for _, _, data in pair.sent)
    inputs = circuit.evaluator_bits
    halves = 2 * (-(-circuit.output_wires.size // 8))
    content = 32 * circuit.ands + 16 * circuit.garbler_bits + halves
    if inputs < 128:
        content += 96 * inputs + 16 * inputs
        sealed = 4
    else:
        content += 128 * 96 + 16 * (-(-inputs // 128) * 128)
        sealed = 5
    openings, header, signature, tag = 6, 84, 64, 16
    assert sent == content + openings * (header + 16 + 32 + signature) + sealed * (header + tag)
    assert sent == sum(pair_bytes(circuit).values())
    by_step = dict.fromkeys(pair_bytes(circuit), 0)
    for _, _, data in pair.sent:
        by_step[Step(data[5])] += len(data)
    assert by_step == pair_bytes(circuit)


@pytest.mark.parametrize(("name", "seed"), [("and", seed) for seed in range(20)] + [("gini extended", 0)])
def test_connections_may_be_faster_or_slower_than_others(name, seed):
    circuit = CIRCUITS[name]
    bits = any_bits(circuit)
    pair = Pair(settings_of(circuit), *bits)
    deliver_in_any_order(pair.queue, pair.step, np.random.default_rng(seed))
    assert np.array_equal(pair.aggregator.outputs, evaluate(circuit, *(side[None] for side in bits))[0])


def test_parties_that_were_invited_at_once_would_hear_of_each_other_too_early():
    """The control of the test before, and why the evaluator is invited second."""
    refused = 0
    for seed in range(20):
        pair = Pair(settings_of(CIRCUITS["and"]), [True], [True])
        pair.queue.append((AGGREGATOR, *pair.aggregator._second))
        try:
            deliver_in_any_order(pair.queue, pair.step, np.random.default_rng(seed))
        except PeerError:
            refused += 1
    assert refused


def test_a_session_is_hashed_from_all_three_openings():
    pair = Pair(settings_of(CIRCUITS["and"]), [True], [True])
    pair.run(until=6)
    boxes = [each._mailbox for each in (pair.aggregator, pair.parties[GARBLER], pair.parties[EVALUATOR])]
    openings = [box.opening for box in boxes]
    wanted = digest(HashDomain.TWOPARTY_SESSION, pair.settings.digest, *openings, length=16)
    assert [box.session for box in boxes] == [wanted] * 3
    assert len(set(openings)) == 3


def test_halves_alone_say_nothing_of_the_outputs():
    """The output is always 1; either half is 1 as often as not: less than 12 or more than 52 of 64 has chance 1e-7."""
    settings = settings_of(CIRCUITS["and"])
    halves = {GARBLER: 0, EVALUATOR: 0}
    for _ in range(64):
        pair = Pair(settings, [True], [True])
        pair.run(until=9)
        # as the queue is in order, only the garbler's half has come
        ((sender, half),) = pair.aggregator._halves.items()
        assert sender == GARBLER
        outputs = pair.run()
        assert outputs.tolist() == [True, False]
        halves[GARBLER] += int(half[0])
        halves[EVALUATOR] += int(half[0] ^ outputs[0])
    assert all(12 <= ones <= 52 for ones in halves.values())


def test_only_the_aggregator_is_sent_halves():
    for circuit in (CIRCUITS["auc"], CIRCUITS["gini extended"]):
        pair = Pair(settings_of(circuit), *any_bits(circuit))
        pair.run()
        for sender, receiver, data in pair.sent:
            assert (Step(data[5]) is Step.HALF) <= (receiver == AGGREGATOR)
            assert (receiver == AGGREGATOR) <= (Step(data[5]) in (Step.HELLO, Step.HALF))
            assert sender != receiver


@pytest.mark.parametrize("name", ["auc", "gini extended"])
def test_who_carries_messages_finds_nothing_of_what_is_in_them(name, monkeypatch):
    contents = []
    seal = Mailbox.seal

    def recorded(box, step, receiver, body):
        contents.append(body)
        return seal(box, step, receiver, body)

    monkeypatch.setattr(Mailbox, "seal", recorded)
    circuit = CIRCUITS[name]
    pair = Pair(settings_of(circuit), *any_bits(circuit))
    pair.run()
    carried = b"".join(data for _, _, data in pair.sent)
    windows = {carried[start : start + 16] for start in range(len(carried) - 15)}
    blocks = {body[start : start + 16] for body in contents for start in range(0, len(body) - 15, 16)}
    assert len(blocks) > 100
    assert not blocks & windows
    # the control: openings are not sealed
    assert pair.parties[GARBLER]._openings[GARBLER][:16] in windows


def test_two_sessions_of_a_pair_have_nothing_in_common():
    circuit = CIRCUITS["auc"]
    bits = any_bits(circuit)
    pairs = [Pair(settings_of(circuit), *bits) for _ in range(2)]
    for pair in pairs:
        pair.run()
    first, second = ({data[132:148] for _, _, data in pair.sent if len(data) > 150} for pair in pairs)
    assert not first & second


def test_settings_have_a_digest_of_all_that_is_in_them():
    circuit, other = CIRCUITS["auc"], CIRCUITS["and"]
    settings = settings_of(circuit)
    assert settings.digest == settings_of(auc_circuit()).digest
    garbler, evaluator = settings.garbler, settings.evaluator
    others = [
        settings_of(other),
        settings_of(circuit, pair=6),
        settings_of(circuit, study=bytes(32)),
        settings_of(circuit, aggregator=bytes(32)),
        settings_of(circuit, garbler=evaluator, evaluator=garbler),
        settings_of(circuit, garbler=Participant(4, garbler.key)),
        settings_of(circuit, evaluator=Participant(EVALUATOR, bytes(32))),
    ]
    assert len({settings.digest, *(each.digest for each in others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"study": bytes(31)}, "digest of the study must have 32 bytes, got 31"),
        ({"pair": -1}, "number of the pair must be from 0"),
        ({"garbler": Participant(0, bytes(32))}, "numbered from 1"),
        ({"garbler": Participant(1 << 32, bytes(32))}, "numbered from 1 and below 2\\^32"),
        ({"garbler": Participant(EVALUATOR, bytes(32))}, "must be of two parties"),
        ({"garbler": Participant(GARBLER, bytes(31))}, "public key of their own"),
        ({"garbler": Participant(GARBLER, settings_of(one_and()).evaluator.key)}, "public key of their own"),
    ],
)
def test_settings_that_do_not_fit_are_refused(more, message):
    with pytest.raises(ParameterError, match=message):
        settings_of(CIRCUITS["and"], **more)


def test_inputs_of_another_number_or_another_key_are_refused():
    settings = settings_of(CIRCUITS["auc"])
    bits = np.zeros(settings.circuit.garbler_bits, bool)
    with pytest.raises(ParameterError, match="this party has 24 inputs, got bits of shape \\(23,\\)"):
        PairParty(settings, GARBLER, bits[1:], key=enrolment(GARBLER), note=Notes())
    with pytest.raises(ParameterError, match="not the private key of number 3"):
        PairParty(settings, GARBLER, bits, key=enrolment(EVALUATOR), note=Notes())
    with pytest.raises(ParameterError, match="number 5 is not of this pair"):
        PairParty(settings, 5, bits, key=enrolment(5), note=Notes())


# --- bits of a party


def test_bits_of_values_and_noise_are_drawn_by_the_names_of_inputs():
    builder = Builder()
    x, wide = builder.garbler("x", 5), builder.garbler("wide", 64)
    noise, y = builder.garbler("noise", 11), builder.evaluator("x", 5)
    circuit = builder.finish({"d": absolute_difference(x, y), "w": wide.bits[63] & noise.bits[0]})
    bits = drawn_bits(circuit.garbler, {"wide": (1 << 64) - 2, "x": 6}, random=lambda count: b"\x81\x40"[:count])
    assert bits.dtype == bool
    assert bits[:5].tolist() == [False, True, True, False, False]
    assert bits[5:69].tolist() == [False] + [True] * 63
    assert bits[69:].tolist() == [True, *[False] * 6, True, False, True, False]
    drawn = np.array([drawn_bits(circuit.garbler, {"wide": 0, "x": 0})[69:] for _ in range(200)])
    # 200 fair bits: 5 deviations
    assert np.all(np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(200))
    assert np.array_equal(drawn_bits(circuit.evaluator, {"x": 9}), arrange(circuit.evaluator, {"x": np.array([9])})[0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "inputs must be x, noise, got noise"),
        ({"x": 256}, "x must be the name of an input, and from 0 to 255, got 256"),
        ({"x": -1}, "from 0 to 255"),
        ({"x": 1, "z": 0}, "inputs must be x, noise, got"),
        ({"x": 1, "z": 2}, "z must be the name of an input"),
        ({"x": 1, "noise": 2}, "noise is noise, which is drawn and not given"),
    ],
)
def test_values_that_do_not_fit_the_inputs_are_refused(values, message):
    with pytest.raises(ParameterError, match=message):
        drawn_bits(auc_circuit(8, Fraction(1)).garbler, values)
