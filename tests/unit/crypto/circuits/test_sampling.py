"""Noise inside circuits: its law by running through all uniform bits, its privacy loss, and its AND gates."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from ogive.crypto.circuits.arithmetic import absolute_difference, kendall, subtract
from ogive.crypto.circuits.circuit import Builder, Unsigned, arrange, evaluate, separate
from ogive.crypto.circuits.sampling import (
    LaplaceLaw,
    ResponseLaw,
    add_laplace,
    add_signed_magnitude,
    biased_bit,
    index_of_sign,
    respond_binary,
    respond_ternary,
    uniform_bits,
)
from ogive.errors import ParameterError

LAWS = [
    LaplaceLaw.of(Fraction(1, 2), sensitivity=1, digits=2, precision=5),
    LaplaceLaw.of(Fraction(3, 2), sensitivity=3, digits=2, precision=5),
    LaplaceLaw(sensitivity=2, scale=Fraction(3), flag=2, digits=(3, 2, 1), precision=3),
    LaplaceLaw(sensitivity=1, scale=Fraction(3), flag=5, digits=(6,), precision=4),
]


def exact_law(circuit, value, *, fixed=None, by_garbler=True):
    """Probabilities of the output, one party's bits running through all of them and the other's staying the same."""
    count = circuit.evaluator_bits
    running = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(bool)
    still = np.broadcast_to(np.zeros(count, bool) if fixed is None else fixed, running.shape)
    ours, theirs = (running, still) if by_garbler else (still, running)
    ours = arrange(circuit.garbler, {"x": np.full(len(ours), value), "noise": ours})
    found = separate(circuit.outputs, evaluate(circuit, ours, theirs))["out"]
    return {output: Fraction(times, 1 << count) for output, times in Counter(found.tolist()).items()}


def with_noise(add, law, width):
    builder = Builder()
    x = builder.garbler("x", width)
    return builder.finish({"out": add(x, law, uniform_bits(builder, law.uniform_bits))})


def stated(law, value):
    found = {value + noise: law.probability(noise) for noise in range(-law.largest, law.largest + 1)}
    return {output: chance for output, chance in found.items() if chance}


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_laplace_noise_has_its_stated_law_whatever_one_party_chooses(law):
    circuit = with_noise(add_laplace, law, 2)
    draw = np.random.default_rng(1)
    for value in range(4):
        assert exact_law(circuit, value) == stated(law, value)
    for by_garbler in (True, False):
        for fixed in draw.integers(2, size=(2, law.uniform_bits)).astype(bool):
            assert exact_law(circuit, 1, fixed=fixed, by_garbler=by_garbler) == stated(law, 1)


def signed_magnitude_without_flag(value, law, uniforms):
    """The mistake of counting 0 twice: the flag's bits are drawn, and not used."""
    parts = [uniforms[start : start + law.precision] for start in range(0, len(uniforms) - 1, law.precision)]
    digits = [biased_bit(part, threshold) for part, threshold in zip(parts[1:], law.digits, strict=True)]
    magnitude = Unsigned(tuple(digit & ~uniforms[-1] for digit in digits))
    return subtract(value, magnitude)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_control_another_sampler_does_not_have_that_law(law):
    assert exact_law(with_noise(signed_magnitude_without_flag, law, 2), 1) != stated(law, 1)
    other = LaplaceLaw(sensitivity=1, scale=law.scale, flag=law.flag + 1, digits=law.digits, precision=law.precision)
    assert exact_law(with_noise(add_laplace, law, 2), 1) != stated(other, 1)


def hockey_stick(ours, theirs, epsilon):
    return sum(max(0.0, float(p) - math.exp(epsilon) * float(theirs.get(x, 0))) for x, p in ours.items())


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_privacy_loss_of_the_output_is_what_is_reported(law):
    circuit = with_noise(add_laplace, law, 2)
    laws = [exact_law(circuit, value) for value in range(4)]
    steps = law.sensitivity
    neighbours = [(laws[a], laws[b]) for a in range(4) for b in range(4) if 0 < abs(a - b) <= steps]
    losses = [hockey_stick(ours, theirs, law.epsilon) for ours, theirs in neighbours]
    assert max(losses) == pytest.approx(law.delta, rel=1e-12)
    worst = max(math.log(ours[x] / theirs[x]) for ours, theirs in neighbours for x in ours.keys() & theirs.keys())
    assert worst <= law.epsilon
    # controls: neither a smaller loss nor a larger change is covered
    assert max(hockey_stick(ours, theirs, 0.9 * worst) for ours, theirs in neighbours) > 1.001 * law.delta
    if steps < 3:
        assert hockey_stick(laws[0], laws[steps + 1], law.epsilon) > 1.001 * law.delta


@pytest.mark.parametrize("threshold", range(17))
def test_a_biased_bit_has_its_probability_and_few_gates(threshold):
    builder = Builder()
    x = builder.garbler("x", 1)
    bit = biased_bit(uniform_bits(builder, 4), threshold)
    circuit = builder.finish({"out": bit, "x": x})
    assert circuit.ands <= 3
    assert exact_law(circuit, 0).get(1, Fraction(0)) == Fraction(threshold, 16)


def binary(x, law, uniforms):
    return respond_binary(x.bits[0], law, uniforms)


@pytest.mark.parametrize(("values", "respond", "width"), [(2, binary, 1), (3, respond_ternary, 2)])
@pytest.mark.parametrize("precision", [4, 7])
def test_randomized_responses_have_their_stated_law(values, respond, width, precision):
    law = ResponseLaw.of(Fraction(1), values=values, precision=precision)
    circuit = with_noise(respond, law, width)
    assert circuit.ands <= precision - 1 + (values == 3) * 5
    laws = [exact_law(circuit, value) for value in range(values)]
    for true in range(values):
        other = law.change / (values - 1)
        assert laws[true] == {index: 1 - law.change if index == true else other for index in range(values)}
    worst = max(a[index] / b[index] for a in laws for b in laws for index in range(values))
    assert math.log(worst) == pytest.approx(law.epsilon, rel=1e-12)
    assert math.log(worst) <= 1
    # control: a law with another threshold
    assert laws[0][0] != 1 - Fraction(law.threshold + 1, 1 << precision)


def test_a_sign_is_a_number_that_can_be_responded_to():
    builder = Builder()
    y, z = builder.garbler("y", 2), builder.evaluator("z", 2)
    one = builder.constant(1, 2)
    circuit = builder.finish({"out": index_of_sign(kendall((y, z), (one, one)))})
    a, b = np.divmod(np.arange(16), 4)
    bits = evaluate(circuit, arrange(circuit.garbler, {"y": a}), arrange(circuit.evaluator, {"z": b}))
    np.testing.assert_array_equal(separate(circuit.outputs, bits)["out"], np.sign(a - 1) * np.sign(b - 1) % 3)


def test_value_35_and_gates_after_the_bits():
    for digits, width, wanted in ((3, 6, 13), (5, 4, 2 * 5 + 7 - 1), (1, 1, 2 + 3 - 1)):
        builder = Builder()
        x, noise = builder.garbler("x", width), builder.evaluator("digits", digits)
        flag, sign = builder.evaluator("flag", 1).bits[0], builder.evaluator("sign", 1).bits[0]
        found = add_signed_magnitude(x, noise.bits, flag, sign)
        assert found.width == max(width, digits) + 2
        assert builder.finish({"out": found}).ands <= wanted
        if (digits, width) == (3, 6):
            assert builder.finish({"out": found}).ands == 13


def test_the_example_of_the_specification_takes_no_more_gates_and_bits():
    law = LaplaceLaw.within(Fraction(1), delta=1e-9, sensitivity=256)
    builder = Builder()
    x, y = builder.garbler("x", 8), builder.evaluator("y", 8)
    noisy = add_laplace(absolute_difference(x, y), law, uniform_bits(builder, law.uniform_bits))
    circuit = builder.finish({"out": noisy})
    assert circuit.ands <= 15 + 922
    assert circuit.evaluator_bits == 8 + 897


def test_a_law_and_other_bits_do_not_go_together():
    builder = Builder()
    x, bits = builder.garbler("x", 2), uniform_bits(builder, 9)
    law = ResponseLaw.of(Fraction(1), values=3, precision=8)
    respond_ternary(x, law, bits)
    for call in (
        lambda: respond_binary(x.bits[0], law, bits),
        lambda: respond_ternary(x, law, bits[1:]),
        lambda: add_laplace(x, LAWS[0], bits),
    ):
        with pytest.raises(ParameterError, match="uniform bits"):
            call()
