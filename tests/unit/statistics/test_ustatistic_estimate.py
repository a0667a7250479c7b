"""The interval of an estimate: the normal approximation, where noise is even."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

import ogive
from ogive.columns import Categories, Domain
from ogive.errors import DataError, ParameterError
from ogive.kernels import measure_of
from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.statistics.ustatistic.estimate import KernelMean, UstatisticEstimate

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


def one(value, *, trust=None, kernel="auc", limits=(0.0, 1.0), method="krr", **parts):
    errors = {"randomization_error": 0.03, "sampling_error": 0.04, "quantization": 0.12, **parts}
    found = UstatisticEstimate(kernel, ("x",), method, value, (), limits=limits, bins=(8,), records=100, **errors)
    assert trust is None or found.private == (trust != "clear")
    return found


def test_the_total_error_counts_randomization_sampling_and_rounding():
    found = one(0.6)
    assert found.standard_error == pytest.approx(0.05)
    assert found.total_error == pytest.approx(0.13)
    assert "error:          0.13 (randomization 0.03, sampling 0.04, rounding at most 0.12)" in str(found)
    assert one(0.6, quantization=0.0).total_error == found.standard_error
    assert "rounding" not in str(one(0.6, quantization=0.0))
    assert one(0.6, sampling_error=None).total_error == pytest.approx(math.hypot(0.03, 0.12))
    data = found.to_dict()
    assert (data["total_error"], data["sampling_is_a_bound"]) == (found.total_error, False)
    assert one(0.6, method="kernel").to_dict()["sampling_is_a_bound"] is True
    assert UstatisticEstimate.from_dict(data) == found
    for wrong in ({"total_error": 0.05}, {"sampling_is_a_bound": True}):
        with pytest.raises(DataError, match=f"{next(iter(wrong))}.*contradicts the others"):
            UstatisticEstimate.from_dict({**data, **wrong})


@pytest.mark.parametrize("value", [1.22, -4.47])
def test_a_value_that_no_records_have_is_said_to_be_none(value):
    found = one(value)
    assert not found.possible
    assert "note:           outside the possible values, 0 to 1, because of noise" in str(found)
    for usual in (one(0.5), one(1.0), one(1.0 + 1e-12, method="exact"), one(math.nan), one(9.0, limits=(0, math.inf))):
        assert usual.possible
        assert "outside the possible values" not in str(usual)


@pytest.mark.parametrize("value", [1.22, -4.47, 0.5])
def test_the_point_of_a_picture_lies_within_its_bars(value):
    axes = one(value).plot()
    points = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert len(points) == 2
    for point, target in zip(points, ("population", "sample"), strict=True):
        low, high = one(value).interval(target=target)
        assert low <= point.get_xdata()[0] <= high
        assert (point.get_fillstyle() == "full") == (value == 0.5)
    assert ("noise moved it to" in axes.get_xlabel()) == (value != 0.5)


def test_what_exact_records_leave_undefined_is_not_blamed_on_noise():
    exact = one(math.nan, method="exact", randomization_error=0.0)
    assert "these records leave this statistic undefined" in str(exact)
    assert "noise" not in str(exact)
    with pytest.raises(ParameterError, match="these records leave this value undefined"):
        exact.plot()
    assert "noise leaves this statistic undefined; use a larger privacy budget" in str(one(math.nan))
    with pytest.raises(ParameterError, match="noise leaves this value undefined"):
        one(math.nan).plot()


def test_sampling_is_not_known_where_noise_leaves_nothing_to_tell_it_from():
    one_class = {"x": np.linspace(0, 1, 60), "label": np.ones(60, dtype=int)}
    statistic = ogive.Ustatistic(("x", "label"), "auc", bounds=(0, 1), public_labels=False)
    seen = set()
    for seed in range(40):
        source = KeyedSource.from_seed(seed)
        found = ogive.release(statistic, trust=ogive.Central(one_class), privacy=PureDP(1), source=source)
        if found.defined:
            assert (found.sampling_error is None) == (not found.possible)
            assert "sampling at most 0)" not in str(found)
            seen.add(found.possible)
    assert False in seen
    exact = ogive.release(ogive.Ustatistic("x", "gini", bounds=(0, 1)), trust=ogive.Clear({"x": np.full(9, 0.5)}))
    assert (exact.value, exact.sampling_error) == (0, None)


@pytest.mark.parametrize(("records", "epsilon"), [(2, 8), (3, 8), (3, "0.00001"), (60, "0.00001")])
def test_sampling_of_reports_is_estimated_or_not_known_but_never_none_at_all(records, epsilon):
    table = {"x": np.linspace(0, 1, records)}
    statistic = ogive.Ustatistic("x", "gini", bounds=(0, 1), bins=4, method="krr")
    found = [
        ogive.release(
            statistic, trust=ogive.Local(table), privacy=PureDP(epsilon), source=KeyedSource.from_seed(seed)
        ).sampling_error
        for seed in range(20)
    ]
    assert (None in found) == (epsilon != 8)
    assert all(each is None or each > 0 for each in found)


def test_an_interval_for_these_records_is_printed_once():
    assert str(one(0.6, sampling_error=None)).count("for these records") == 1
    assert str(one(0.6)).count("for the population") == str(one(0.6)).count("for these records") == 1
