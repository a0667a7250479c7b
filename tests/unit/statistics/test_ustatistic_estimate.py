"""The interval of an estimate: the normal approximation, where noise is even."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from ogive.columns import Categories, Domain
from ogive.kernels import measure_of
from ogive.statistics.ustatistic_estimate import KernelMean, UstatisticEstimate

LETTERS = Domain((Categories("x", tuple("abcdefgh")),))


def entropy(probability, error, *, sampling=0.0, quantization=0.0):
    """What a release makes of a noisy probability that two records are the same."""
    value = measure_of("collision").of(np.array([probability]), columns=LETTERS, records=100)
    slope = abs(float(value.gradient[0]))
    return UstatisticEstimate(
        kernel="collision",
        columns=("x",),
        method="krr",
        value=value.value,
        means=(KernelMean("same", probability, error),),
        randomization_error=slope * error,
        sampling_error=slope * sampling,
        quantization=slope * quantization,
        limits=(0.0, math.log(8)),
        bins=(8,),
        records=100,
        clipped=value.clipped,
    )


def test_the_interval_of_an_entropy_is_that_of_the_probability():
    found, z = entropy(0.5, 0.03, sampling=0.04), float(ndtri(0.975))
    assert found.interval(target="sample") == pytest.approx((-math.log(0.5 + 0.03 * z), -math.log(0.5 - 0.03 * z)))
    assert found.interval() == pytest.approx((-math.log(0.5 + 0.05 * z), -math.log(0.5 - 0.05 * z)))
    assert found.interval(0.5, target="sample") == pytest.approx(
        (-math.log(0.5 + 0.03 * float(ndtri(0.75))), -math.log(0.5 - 0.03 * float(ndtri(0.75))))
    )


def test_where_noise_may_hide_the_probability_an_entropy_may_be_the_largest():
    for probability, error in ((0.3, 0.2), (0.05, 0.001), (-0.4, 0.1)):
        low, high = entropy(probability, error).interval()
        assert 0 <= low < high == math.log(8)
    assert entropy(1.4, 0.1).interval()[0] == 0.0
    assert math.copysign(1, entropy(1.4, 0.1).value) == 1, "0, not -0"


def test_noise_is_even_in_the_probability_and_not_in_its_logarithm():
    # 4000 draws: a deviation of the share that is held is 0.35 %
    generator, truth, error = np.random.default_rng(4), 0.126, 0.25
    held = plain = 0
    for noise in generator.normal(0, error, 4000):
        found = entropy(truth + noise, error)
        low, high = found.interval(target="sample")
        held += low <= -math.log(truth) <= high
        plain += abs(found.value + math.log(truth)) <= 1.96 * found.randomization_error
    assert 0.935 < held / 4000 < 0.99, "one side is bounded, so a little more than 95 %"
    assert plain / 4000 < 0.93, "control: with the error of the logarithm"
