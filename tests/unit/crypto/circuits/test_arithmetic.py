"""Arithmetic in circuits, over every pair of inputs of small widths, and what it costs."""

import itertools

import numpy as np
import pytest

from ogive.crypto.circuits.arithmetic import (
    absolute,
    absolute_difference,
    add,
    auc_half,
    equal,
    kendall,
    less,
    multiply,
    negate,
    select,
    square,
    subtract,
)
from ogive.crypto.circuits.circuit import Builder, Signed, arrange, evaluate, separate

WIDTHS = range(1, 6)


def squared_difference(x, y):
    return square(absolute_difference(x, y))


def on_all_inputs(function, widths=(3, 3), signed=(False, False)):
    """A function's circuit, all pairs of numbers, and what the circuit gives for them."""
    builder = Builder()
    inputs = builder.garbler("x", widths[0]), builder.evaluator("y", widths[1])
    x, y = (Signed(value.bits) if has_sign else value for value, has_sign in zip(inputs, signed, strict=True))
    circuit = builder.finish({"out": function(x, y)})
    raw = np.array([*itertools.product(range(1 << widths[0]), range(1 << widths[1]))]).T
    bits = evaluate(circuit, arrange(circuit.garbler, {"x": raw[0]}), arrange(circuit.evaluator, {"y": raw[1]}))
    numbers = [
        np.where(has_sign & (values >> width - 1 > 0), values - (1 << width), values)
        for values, width, has_sign in zip(raw, widths, signed, strict=True)
    ]
    return circuit, *numbers, separate(circuit.outputs, bits)["out"]


BINARY = {
    "add": (add, lambda x, y: x + y),
    "subtract": (subtract, lambda x, y: x - y),
    "less": (less, lambda x, y: x < y),
    "equal": (equal, lambda x, y: x == y),
    "negate": (lambda x, y: negate(x), lambda x, y: -x),
    "select": (lambda x, y: select(y.bits[0], x, y), lambda x, y: np.where(y & 1, x, y)),
    "absolute of a difference": (lambda x, y: absolute(subtract(x, y)), lambda x, y: abs(x - y)),
}


@pytest.mark.parametrize("signed", [*itertools.product((False, True), repeat=2)], ids=str)
@pytest.mark.parametrize("widths", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (2, 4), (5, 1)], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_any_numbers(name, widths, signed):
    function, wanted = BINARY[name]
    _, x, y, found = on_all_inputs(function, widths, signed)
    np.testing.assert_array_equal(found, wanted(x, y))


UNSIGNED = {
    "absolute difference": (absolute_difference, lambda x, y: abs(x - y)),
    "multiply": (multiply, lambda x, y: x * y),
    "square": (lambda x, y: square(x), lambda x, y: x * x),
    "gini": (absolute_difference, lambda x, y: abs(x - y)),
    "squared difference": (squared_difference, lambda x, y: (x - y) ** 2),
    "collision": (equal, lambda x, y: x == y),
    "auc strict": (less, lambda x, y: x < y),
    "auc half": (auc_half, lambda x, y: 2 * (x < y) + (x == y)),
}


@pytest.mark.parametrize("widths", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (2, 4), (5, 1)], ids=str)
@pytest.mark.parametrize("name", UNSIGNED)
def test_functions_of_unsigned_numbers(name, widths):
    function, wanted = UNSIGNED[name]
    _, x, y, found = on_all_inputs(function, widths)
    np.testing.assert_array_equal(found, wanted(x, y))


def test_the_least_signed_number_has_an_absolute_value():
    _, x, _, found = on_all_inputs(lambda x, y: absolute(x), (4, 1), (True, False))
    assert x.min() == -8
    np.testing.assert_array_equal(found, abs(x))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_kendall_is_the_product_of_signs(width):
    builder = Builder()
    first = builder.garbler("y", width), builder.garbler("z", width)
    second = builder.evaluator("y", width), builder.evaluator("z", width)
    circuit = builder.finish({"out": kendall(first, second)})
    y1, z1, y2, z2 = np.array([*itertools.product(range(1 << width), repeat=4)]).T
    ours, theirs = arrange(circuit.garbler, {"y": y1, "z": z1}), arrange(circuit.evaluator, {"y": y2, "z": z2})
    found = separate(circuit.outputs, evaluate(circuit, ours, theirs))["out"]
    np.testing.assert_array_equal(found, np.sign(y1 - y2) * np.sign(z1 - z2))
    assert circuit.ands == 4 * width


def ands(function, width):
    return on_all_inputs(function, (width, width))[0].ands


@pytest.mark.parametrize("width", WIDTHS)
def test_and_gates_are_those_of_the_specification(width):
    assert ands(subtract, width) == width
    assert ands(lambda x, y: absolute(subtract(x, y)), width) == 2 * width
    assert ands(less, width) == width
    assert ands(add, width) == width


@pytest.mark.parametrize("width", WIDTHS)
def test_kernels_take_no_more_and_gates_than_their_docstrings_say(width):
    assert (
        ands(absolute_difference, width) == 2 * width - 1
    )  # one less than the specification's: the last bit is known to be 0
    assert ands(auc_half, width) == 2 * width - 1
    assert ands(equal, width) == width - 1
    assert ands(multiply, width) <= width * (2 * width - 1)
    assert ands(lambda x, y: select(y.bits[0], x, y), width) == width
    assert ands(squared_difference, width) <= ands(
        lambda x, y: multiply(absolute_difference(x, y), absolute_difference(x, y)), width
    )


def test_value_35_of_the_specification():
    assert ands(lambda x, y: absolute(subtract(x, y)), 5) == 10
    assert ands(less, 5) == 5


def test_numbers_of_many_bits():
    draw = np.random.default_rng(3)
    x, y = draw.integers(1 << 30, size=(2, 5000))
    for name, (function, wanted) in (BINARY | UNSIGNED).items():
        builder = Builder()
        circuit = builder.finish({"out": function(builder.garbler("x", 30), builder.evaluator("y", 30))})
        bits = evaluate(circuit, arrange(circuit.garbler, {"x": x}), arrange(circuit.evaluator, {"y": y}))
        np.testing.assert_array_equal(separate(circuit.outputs, bits)["out"], wanted(x, y), err_msg=name)
