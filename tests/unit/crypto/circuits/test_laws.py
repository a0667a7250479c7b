"""Laws of the noise of circuits: the specification's values, and what rounding costs."""

import contextlib
import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from helpers.scope import size

from ogive.crypto.circuits.sampling import LaplaceLaw, ResponseLaw
from ogive.errors import ParameterError

ONE = Fraction(1)


def laplace(scale, digits, sensitivity=1):
    return LaplaceLaw.of(Fraction(sensitivity, scale), sensitivity=sensitivity, digits=digits)


def close(value, digits=10):
    return pytest.approx(value, rel=10.0**-digits * 5, abs=0)


def test_value_29_variance_of_binary_responses():
    wanted = {Fraction(1, 2): 3.917698089, Fraction(1): 0.9206735942, Fraction(2): 0.1810154152}
    for epsilon, value in wanted.items():
        law = ResponseLaw.of(epsilon, values=2)
        assert [float(law.variance((Fraction(0), ONE), true)) for true in (0, 1)] == [close(value)] * 2


def test_value_30_variance_of_ternary_responses():
    law = ResponseLaw.of(ONE, values=3)
    found = [float(law.variance((Fraction(0), ONE, -ONE), true)) for true in range(3)]
    assert found == [close(3.19613, 6), close(4.94206, 6), close(4.94206, 6)]


def test_value_31_probabilities_of_digits():
    law = laplace(2, 4)
    found = [threshold / 2**64 for threshold in law.digits]
    assert found == pytest.approx([0.3775406688, 0.2689414214, 0.1192029220, 0.0179862100], rel=0, abs=5e-11)


def test_value_32_discrete_laplace():
    law = laplace(2, 6)
    assert float(law.probability(0)) == close(0.2449186624)
    assert float(law.probability(1)) == float(law.probability(-1)) == close(0.1485506779)
    assert float(law.variance) == close(7.835396178)


def test_values_33_and_34_truncated_discrete_laplace():
    assert laplace(2, 4).delta == close(8.218862933e-5)
    assert float(laplace(2, 4).variance) == close(7.749921841)
    assert laplace(4, 6, 4).delta == close(8.466068991e-8)
    assert laplace(8, 7, 8).delta == close(9.064871564e-8)


def test_value_33_the_difference_of_two_geometric_numbers_would_lose_more():
    # the digits alone: G is one less than noise above 0
    law = laplace(2, 4)
    sided = sum(law.probability(1 + g) for g in range(16))
    chance = [law.probability(1 + g) / sided for g in range(16)]
    difference = {x: sum(chance[g] * chance[g - x] for g in range(16) if 0 <= g - x < 16) for x in range(-16, 17)}
    loss = sum(max(0.0, float(difference[x]) - math.exp(0.5) * float(difference[x - 1])) for x in range(-15, 17))
    assert loss == close(2.176947708e-4, 9)
    assert loss > 2 * law.delta


def test_value_36_binary_responses_of_16_bits():
    law = ResponseLaw.of(ONE, values=2, precision=16)
    assert float(law.change) == pytest.approx(0.268951416, abs=1e-9)
    assert law.epsilon == close(0.9999491662)


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(5)])
@pytest.mark.parametrize("precision", [8, 16, 64])
def test_responses_are_never_less_private_than_asked_and_have_the_true_mean(values, epsilon, precision):
    law = ResponseLaw.of(epsilon, values=values, precision=precision)
    other = law.change / (values - 1)
    assert float((1 - law.change) / other) == pytest.approx(math.exp(law.epsilon), rel=1e-12)
    assert law.epsilon <= math.nextafter(float(epsilon), 9)
    kernel = [Fraction(1, 3), Fraction(2), Fraction(-1)][:values]
    counted = law.unbiased(kernel)
    for true in range(values):
        chances = [1 - law.change if index == true else other for index in range(values)]
        assert sum(p * c for p, c in zip(chances, counted, strict=True)) == kernel[true]
        spread = sum(p * (c - kernel[true]) ** 2 for p, c in zip(chances, counted, strict=True))
        assert law.variance(kernel, true) == spread


@pytest.mark.parametrize(("scale", "digits", "precision"), [(2, 2, 5), (2, 4, 12), (8, 5, 16), (3, 4, 64)])
@pytest.mark.parametrize("sensitivity", [1, 3, 4])
def test_privacy_and_moments_are_those_of_the_whole_law(scale, digits, precision, sensitivity):
    law = LaplaceLaw.of(Fraction(sensitivity, scale), sensitivity=sensitivity, digits=digits, precision=precision)
    support = range(-law.largest, law.largest + 1)
    assert sum(law.probability(x) for x in support) == 1
    assert sum(law.probability(x) * x**2 for x in support) == law.variance
    ratios = [
        law.probability(x) / law.probability(x - step)
        for step in range(1, sensitivity + 1)
        for x in support
        if x - step in support
    ]
    worst = max(abs(math.log(ratio)) for ratio in ratios)
    assert worst <= law.epsilon
    assert law.epsilon <= sensitivity / scale + 2.0 ** (6 - precision / 2)
    # beyond epsilon is only what one neighbour cannot give; one step more would lose more
    outside = sum(law.probability(x) for x in support if x - sensitivity not in support)
    assert law.delta == pytest.approx(float(outside), rel=1e-15)
    assert sum(law.probability(x) for x in support if x - sensitivity - 1 not in support) > Fraction(law.delta)


def test_rounding_to_16_bits_costs_what_the_specification_says():
    fine = laplace(8, 7, 8)
    digits = tuple(round(Fraction(threshold, 1 << 48)) for threshold in fine.digits)
    # an exact flag, as far as 16 bits can tell: what is left is the digits' part
    flag = round(Fraction(fine.flag, 1 << 48))
    law = LaplaceLaw(sensitivity=8, scale=Fraction(8), flag=flag, digits=digits, precision=16)
    of_flag = abs(math.log(flag / (65536 - flag)) - math.log(fine.flag / (2**64 - fine.flag)))
    assert law.epsilon - 1 - of_flag == pytest.approx(0.00135, abs=5e-6)


def test_the_fewest_digits_reach_a_delta():
    law = LaplaceLaw.within(ONE, delta=1e-9, sensitivity=256)
    assert len(law.digits) == 13
    assert law.uniform_bits == 897
    assert law.delta <= 1e-9 < LaplaceLaw.of(ONE, sensitivity=256, digits=12).delta
    assert law.epsilon == pytest.approx(1, abs=1e-12)


def test_laws_that_cannot_be_drawn_are_refused():
    for precision in (0, 65, True, 3.0):
        with pytest.raises(ParameterError, match="precision must be"):
            ResponseLaw.of(ONE, values=2, precision=precision)
    with pytest.raises(ParameterError, match="2 or 3"):
        ResponseLaw.of(ONE, values=4)
    with pytest.raises(ParameterError, match="no signal"):
        ResponseLaw.of(Fraction(1, 100), values=2, precision=4)
    for epsilon, sensitivity, digits in ((Fraction(0), 1, 3), (ONE, 0, 3), (ONE, 9, 3), (ONE, 1, -1)):
        with pytest.raises(ParameterError, match="not below the sensitivity"):
            LaplaceLaw.of(epsilon, sensitivity=sensitivity, digits=digits)
    with pytest.raises(ParameterError, match="too low for 7 digits"):
        LaplaceLaw.of(ONE, sensitivity=1, digits=7)
    with pytest.raises(ParameterError, match="too low"):
        LaplaceLaw.within(ONE, delta=1e-30, sensitivity=1)
    with pytest.raises(ParameterError, match="delta"):
        LaplaceLaw.within(ONE, delta=0.0, sensitivity=1)


def hockey_stick(law, shift, epsilon):
    """The most that any set of sums is likelier under one of two neighbours than e^epsilon times under the other."""
    support = range(-law.largest, law.largest + 1)
    with mpmath.workdps(60):
        factor = mpmath.exp(epsilon)
        gaps = (exactly(law.probability(x)) - factor * exactly(law.probability(x - shift)) for x in support)
        return mpmath.fsum(gap for gap in gaps if gap > 0)


def exactly(value):
    return mpmath.mpf(value.numerator) / value.denominator


def drawable(epsilon, sensitivity):
    """All laws of few digits and of several precisions that are not refused."""
    least = (sensitivity - 1).bit_length()
    for digits, precision in itertools.product(range(least, least + size(5, part=3)), (8, 20, 64)):
        with contextlib.suppress(ParameterError):
            yield LaplaceLaw.of(epsilon, sensitivity=sensitivity, digits=digits, precision=precision)


@pytest.mark.each_value
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 50), Fraction(1, 4), ONE, Fraction(20)])
@pytest.mark.parametrize("sensitivity", [1, 3, 8])
def test_neither_epsilon_nor_delta_says_too_little_however_few_digits_there_are(epsilon, sensitivity):
    laws = list(drawable(epsilon, sensitivity))
    assert laws
    for law in laws:
        for shift in range(1, sensitivity + 1):
            assert hockey_stick(law, shift, law.epsilon) <= law.delta


def test_few_digits_cost_more_than_the_scale_says():
    # the control: noise of 1 is twice as likely as none, for all of the noise beyond 0 is squeezed into few values
    law = LaplaceLaw.of(Fraction(1, 4), sensitivity=1, digits=0)
    assert law.epsilon == pytest.approx(math.log(law.probability(1) / law.probability(0)), rel=1e-14)
    assert law.epsilon > 1
    assert hockey_stick(law, 1, 0.25) > law.delta


@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(1, 1000), 1e-6), (Fraction(1, 100), 1e-4), (ONE, 0.5)])
def test_a_large_delta_does_not_raise_epsilon(epsilon, delta):
    law = LaplaceLaw.within(epsilon, delta=delta, sensitivity=4)
    assert law.delta <= delta
    assert law.epsilon == pytest.approx(float(epsilon), rel=1e-8)


@pytest.mark.parametrize("sensitivity", [1, 255, 65536])
@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-12])
def test_usual_budgets_can_all_be_drawn(sensitivity, delta):
    for tenths in (1, 2, 5, 8, 15, 30, 59, 75):
        epsilon = Fraction(tenths, 10)
        law = LaplaceLaw.within(epsilon, delta=delta, sensitivity=sensitivity)
        assert law.delta <= delta
        assert float(epsilon) <= law.epsilon <= float(epsilon) * (1 + 2.0**-10)


def test_thresholds_of_any_epsilon_are_found():
    for epsilon in (Fraction(700), Fraction(10**9), Fraction(10**400)):
        law = ResponseLaw.of(epsilon, values=2)
        assert law.threshold == 1
        assert law.epsilon == pytest.approx(math.log(2.0**64 - 1), rel=1e-15)
        with pytest.raises(ParameterError, match="too low"):
            LaplaceLaw.of(epsilon, sensitivity=1, digits=1)
