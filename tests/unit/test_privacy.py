import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.privacy import (
    ApproxDP,
    GaussianDP,
    PureDP,
    ZeroConcentratedDP,
    charge_from_dict,
    check_charge,
    check_privacy,
    exact,
    number_text,
    privacy_from_dict,
)


def test_reads_a_float_as_the_decimal_it_prints_as():
    assert PureDP(0.1).epsilon == Fraction(1, 10)
    assert PureDP(0.1) + PureDP(0.2) == PureDP("0.3")
    assert PureDP(np.float64(0.1)) == PureDP("1/10")
    assert PureDP(np.int64(2)) == PureDP(2)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "x", "1/0", None, True, 1j])
def test_refuses_an_epsilon_that_is_not_a_positive_number(value):
    with pytest.raises(ParameterError, match="epsilon must be"):
        PureDP(value)


@pytest.mark.parametrize(
    "value", ["1e-99999", "1e9999999", "9" * 20_000, "9" * 6000, "1e301", "1e-301", 10**400, np.array([1, 2])]
)
def test_refuses_numbers_that_floating_point_cannot_hold_at_once(value):
    with pytest.raises(ParameterError, match="epsilon must be"):
        PureDP(value)


LONG = {
    "whole": 10**5000,
    "negative": -(10**5000),
    "fraction": Fraction(10**5000 + 1, 10**5000),
    "denominator": Fraction(1, 10**5000),
    "in a list": [10**5000],
    "in an array": np.array(10**5000, object),
    "long double": np.longdouble("1e4000") if np.finfo(np.longdouble).max > 1e4000 else np.inf,
    "exponent with underscores": "1e9_999_999_999",
    "negative exponent with underscores": "1e-0_9_999_999_999",
    "exponent of other digits": "1e\N{ARABIC-INDIC DIGIT NINE}\N{ARABIC-INDIC DIGIT NINE}9999999",
    "decimals": "0." + "3" * 9000,
    "digits": "1/" + "7" * 4200,
    "text": "x" * 10**6,
}


@pytest.mark.parametrize("make", [PureDP, ZeroConcentratedDP, GaussianDP, lambda value: ApproxDP(value, "1e-6")])
@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_refuses_numbers_too_long_for_python_at_once_and_in_one_line(make, value):
    begun = time.thread_time()
    with pytest.raises(ParameterError) as caught:
        make(value)
    assert time.thread_time() - begun < 1
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_an_array_that_holds_itself_is_no_number():
    itself = np.empty((), object)
    itself[()] = itself
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        PureDP(itself)


NO_GUARANTEES = [
    None,
    [],
    "PureDP",
    5,
    {},
    {"type": None},
    {"type": []},
    {"type": "x" * 10**6},
    {"type": "PureDP", "epsilon": {}},
    {"type": "PureDP", "epsilon": 10**5000},
    {"type": "GaussianDP", "mu_squared": "1e9_999_999_999", "distance": "0"},
]


@pytest.mark.parametrize("data", NO_GUARANTEES, ids=range(len(NO_GUARANTEES)))
@pytest.mark.parametrize("read", [privacy_from_dict, charge_from_dict])
def test_plain_data_that_is_no_guarantee_is_refused_in_one_line(read, data):
    with pytest.raises(ParameterError) as caught:
        read(data)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("delta", [0, 1, 1.5, -0.1, "1e-300", "1e-330", "1e-2000"])
def test_refuses_a_delta_outside_the_open_unit_interval(delta):
    with pytest.raises(ParameterError, match="delta must be"):
        ApproxDP(1, delta)


@pytest.mark.parametrize("rho", [0, -1, float("-inf")])
def test_refuses_a_rho_that_is_not_positive(rho):
    with pytest.raises(ParameterError, match="rho must be"):
        ZeroConcentratedDP(rho)


def test_types_do_not_mix():
    with pytest.raises(TypeError):
        PureDP(1) + ZeroConcentratedDP(1)
    with pytest.raises(TypeError):
        PureDP(1) < PureDP(2)  # noqa: B015


def test_sums_within_a_type():
    assert ApproxDP(1, "1e-6") + ApproxDP(0.5, "1e-6") == ApproxDP("1.5", "2e-6")
    assert ZeroConcentratedDP(0.5) + ZeroConcentratedDP("1/3") == ZeroConcentratedDP("5/6")


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**9))
def test_text_of_a_number_reads_back(value):
    text = number_text(value)
    assert len(text) <= 30
    assert text.startswith("about ") or exact(text, "value") == value


def test_a_long_decimal_is_shown_with_few_digits():
    assert str(ApproxDP(1, 1 / 45_211)) == "epsilon = 1, delta = about 2.21185e-05"
    assert str(ApproxDP("0.125", "1e-6")) == "epsilon = 0.125, delta = 1e-06"
    assert str(PureDP(1 / 3)) == "epsilon = about 0.333333"


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=100), st.fractions(Fraction(1, 10**9), Fraction(1, 2)))
def test_plain_data_reads_back(loss, slack):
    for privacy in (PureDP(loss), ZeroConcentratedDP(loss), ApproxDP(loss, slack)):
        assert privacy_from_dict(privacy.to_dict()) == privacy


def test_refuses_plain_data_of_no_known_type():
    with pytest.raises(ParameterError, match="unknown privacy type"):
        privacy_from_dict({"type": "RenyiDP"})
    with pytest.raises(ParameterError, match="lacks the field 'epsilon'"):
        privacy_from_dict({"type": "PureDP"})


def test_gaussian_losses_are_charged_and_never_granted():
    loss = GaussianDP("1/9", "1e-12")
    assert check_charge(loss) == loss
    assert check_charge(PureDP(1)) == PureDP(1)
    for refuse in (check_privacy, lambda value: privacy_from_dict(value.to_dict())):
        with pytest.raises(ParameterError):
            refuse(loss)
    with pytest.raises(ParameterError, match="privacy must be"):
        check_charge("1/9")
    assert charge_from_dict(loss.to_dict()) == loss
    assert charge_from_dict(PureDP(1).to_dict()) == PureDP(1)
    with pytest.raises(ParameterError, match="lacks the field 'distance'"):
        charge_from_dict({"type": "GaussianDP", "mu_squared": "1"})


def test_a_gaussian_loss_says_mu_and_adds_up_in_squares():
    loss = GaussianDP("0.09", "1e-12")
    assert str(loss) == "mu = 0.3 (Gaussian DP)"
    assert loss + GaussianDP("0.16", "2e-12") == GaussianDP("0.25", "3e-12")
    assert loss.concentrated == ZeroConcentratedDP("0.045")
    for squared, distance in (("0", "0"), ("-1", "0"), ("1", "-1e-9"), ("1", "1")):
        with pytest.raises(ParameterError, match="must be"):
            GaussianDP(squared, distance)
    with pytest.raises(TypeError):
        _ = loss + PureDP(1)
