"""Building circuits: nothing needless is emitted, and gates come level by level."""

import numpy as np
import pytest
from helpers.circuits import random_circuit

from ogive.crypto.circuits.arithmetic import less, multiply
from ogive.crypto.circuits.circuit import Builder, Gate, Port, Signed, Unsigned, arrange, evaluate, separate
from ogive.errors import ParameterError


@pytest.mark.parametrize("seed", range(40))
def test_random_circuits_compute_what_their_gates_say(seed):
    circuit, x, y, wanted = random_circuit(seed)
    np.testing.assert_array_equal(evaluate(circuit, x, y), wanted)


@pytest.mark.parametrize("seed", range(40))
def test_gates_come_level_by_level_after_what_they_read(seed):
    circuit, *_ = random_circuit(seed)
    own = circuit.inputs + np.arange(circuit.gates)
    assert (circuit.left < own).all()
    assert (circuit.right < own).all()
    depth = [0] * circuit.inputs  # AND gates on the longest way to each wire
    places = []
    for left, right, kind in zip(circuit.left, circuit.right, circuit.kinds, strict=True):
        depth.append(max(depth[left], depth[right]) + (kind == Gate.AND))
        places.append((depth[-1], kind != Gate.AND))
    assert places == sorted(places)


@pytest.mark.parametrize("seed", range(10))
def test_the_last_use_of_a_wire_is_the_last_gate_that_reads_it(seed):
    circuit, *_ = random_circuit(seed)
    for wire in range(circuit.wires):
        readers = [gate for gate in range(circuit.gates) if wire in (circuit.left[gate], circuit.right[gate])]
        last = circuit.gates if wire in circuit.output_wires else max(readers, default=-1)
        assert circuit.last_use[wire] == last


def test_gates_of_constants_and_of_known_bits_are_not_emitted():
    builder = Builder()
    a, b = builder.garbler("a", 1).bits[0], builder.evaluator("b", 1).bits[0]
    no, yes = builder.constant(2, 2).bits
    assert [(a & no).literal, (a & ~a).literal, (a ^ a).literal] == [no.literal] * 3
    assert [(a | yes).literal, (a | ~a).literal, (a ^ ~a).literal] == [yes.literal] * 3
    assert [(a & yes).literal, (a & a).literal, (a ^ no).literal, (~~a).literal] == [a.literal] * 4
    assert (a ^ yes).literal == (~a).literal
    assert (a & b).literal == (b & a).literal
    assert (~a ^ b).literal == (~(b ^ a)).literal
    both = builder.finish({"first": a & b, "again": b & a, "unused": no})
    assert both.ands == 1
    assert builder.finish({"only": a}).gates == 0


def test_gates_that_no_output_needs_are_left_out():
    builder = Builder()
    x, y = builder.garbler("x", 4), builder.evaluator("y", 4)
    multiply(x, y)
    assert builder.finish({"less": less(x, y)}).ands == 4


def test_an_output_may_be_constant_an_input_or_twice_the_same():
    builder = Builder()
    x = builder.garbler("x", 1).bits[0]
    no, yes = builder.constant(2, 2).bits
    circuit = builder.finish({"no": no, "yes": yes, "x": x, "not": ~x, "again": x})
    found = separate(circuit.outputs, evaluate(circuit, np.array([[False], [True]]), np.zeros((2, 0), bool)))
    assert {name: values.tolist() for name, values in found.items()} == {
        "no": [0, 0],
        "yes": [1, 1],
        "x": [0, 1],
        "not": [1, 0],
        "again": [0, 1],
    }


def comparison(width=4, name="x", swapped=False):
    builder = Builder()
    x, y = builder.garbler(name, width), builder.evaluator("y", width)
    return builder.finish({"less": less(y, x) if swapped else less(x, y)})


def test_the_digest_names_the_circuit():
    assert comparison().digest() == comparison().digest()
    others = [comparison(), comparison(5), comparison(name="z"), comparison(swapped=True)]
    assert len({circuit.digest() for circuit in others}) == len(others)


def test_the_digest_tells_apart_ports_over_the_same_wires():
    def whole(*widths, kind=Unsigned):
        builder = Builder()
        bits = [bit for place, width in enumerate(widths) for bit in builder.garbler(str(place), width).bits]
        return builder.finish({"out": kind(tuple(bits))}).digest()

    assert len({whole(1, 2), whole(2, 1), whole(3), whole(3, kind=Signed)}) == 4


@pytest.mark.parametrize("pairs", [0, 1, 63, 64, 65, 1000])
def test_any_number_of_pairs_is_evaluated(pairs):
    draw, circuit = np.random.default_rng(7), comparison()
    x, y = draw.integers(16, size=(2, pairs))
    bits = evaluate(circuit, arrange(circuit.garbler, {"x": x}), arrange(circuit.evaluator, {"y": y}))
    np.testing.assert_array_equal(separate(circuit.outputs, bits)["less"], x < y)


def test_what_cannot_be_built_or_evaluated_is_refused():
    builder, other = Builder(), Builder()
    x = builder.garbler("x", 2)
    with pytest.raises(ParameterError, match="different names"):
        builder.garbler("x", 2)
    with pytest.raises(ParameterError, match="a bit at least"):
        builder.evaluator("x", 0)
    with pytest.raises(ParameterError, match="in 2 bits"):
        builder.constant(4, 2)
    with pytest.raises(ParameterError, match="one builder"):
        x.bits[0] & other.garbler("y", 1).bits[0]
    with pytest.raises(ParameterError, match="another circuit"):
        other.finish({"x": x})
    with pytest.raises(ParameterError, match="an output"):
        builder.finish({})
    circuit = comparison()
    with pytest.raises(ParameterError, match="shapes"):
        evaluate(circuit, np.zeros((3, 4), bool), np.zeros((2, 4), bool))
    for values in ({"y": [1]}, {"x": [16]}, {"x": [-1]}, {"x": [0.5]}, {"x": np.zeros((1, 3), bool)}):
        with pytest.raises(ParameterError, match="must be"):
            arrange(circuit.garbler, values)
    assert separate((Port("widest", 62),), np.ones((1, 62), bool))["widest"].tolist() == [(1 << 62) - 1]
    with pytest.raises(ParameterError, match="wide must have at most 62 bits"):
        separate((Port("wide", 63),), np.zeros((1, 63), bool))
