"""Checks of arguments accept what they say, as it is, and refuse everything else in one line."""

import enum
from fractions import Fraction

import numpy as np
import pytest

from ogive.core.checks import all_whole, among, any_whole, is_whole, truth, whole
from ogive.errors import ParameterError


class Five(enum.IntEnum):
    FIVE = 5


class Word(enum.StrEnum):
    LOW = "low"


NO_WHOLE = (True, False, None, 5.0, "5", Fraction(5), np.bool_(True), np.float64(5), np.array([5]), [5], {})


@pytest.mark.parametrize("value", NO_WHOLE, ids=repr)
def test_what_is_no_whole_number_is_refused(value):
    assert not is_whole(value)
    for check in (whole, any_whole):
        with pytest.raises(ParameterError, match=r"^bins must be a whole number from 1 to 9, got ") as caught:
            check(value, "bins", 1, 9)
        assert caught.value.parameter == "bins"
    with pytest.raises(ParameterError, match=r"^radices must be whole numbers of at least 1, got \("):
        all_whole([5, value], "radices", 1)


def test_whole_numbers_in_their_range_come_back():
    assert [whole(value, "bins", 1, 9) for value in (1, 5, 9)] == [1, 5, 9]
    assert whole(Five.FIVE, "bins", 1, 9) is Five.FIVE
    assert whole(10**400, "bins", 1) == 10**400
    assert whole(-3, "bins") == -3
    all_whole((1, 2), "radices", 1)
    all_whole((), "radices", 1)


@pytest.mark.parametrize("number", [np.int64(5), np.uint8(5), np.int32(5)], ids=repr)
def test_numbers_of_numpy_are_whole_for_one_check_alone(number):
    found = any_whole(number, "bins", 1, 9)
    assert found == 5
    assert type(found) is int
    with pytest.raises(ParameterError, match="bins must be a whole number"):
        whole(number, "bins", 1, 9)
    with pytest.raises(ParameterError, match=r"bins must be a whole number from 6 to 9, got 5"):
        any_whole(number, "bins", 6, 9)


@pytest.mark.parametrize(
    ("value", "span", "message"),
    [
        (0, (1, 9), "`bins` must be a whole number from 1 to 9, got 0"),
        (10, (1, 9), "`bins` must be a whole number from 1 to 9, got 10"),
        (0, (1,), "`bins` must be a whole number of at least 1, got 0"),
        ("0", (), "`bins` must be a whole number, got '0'"),
        (-1, (0, 10**6), "`bins` must be a whole number from 0 to 1000000, got -1"),
        (-1, (0, 1 << 20), "`bins` must be a whole number from 0 to 1048576, got -1"),
        (-1, (0, 1 << 32), "`bins` must be a whole number from 0 to 2^32, got -1"),
        (-1, (0, (1 << 63) - 1), "`bins` must be a whole number from 0 to 2^63 - 1, got -1"),
        (-1, (0, 3 << 40), f"`bins` must be a whole number from 0 to {3 << 40}, got -1"),
    ],
)
def test_messages_say_the_range(value, span, message):
    with pytest.raises(ParameterError) as caught:
        whole(value, "bins", *span)
    assert caught.value.marked == message


def test_what_has_no_name_is_not_marked():
    with pytest.raises(ParameterError) as caught:
        whole(0, "the number of symbols", 2, 9)
    assert caught.value.marked == "the number of symbols must be a whole number from 2 to 9, got 0"
    assert caught.value.parameter is None


@pytest.mark.parametrize("value", [1, 0, None, "True", np.bool_(True)], ids=repr)
def test_what_is_merely_equal_to_a_truth_value_is_refused(value):
    with pytest.raises(ParameterError, match=r"^prune must be True or False, got "):
        truth(value, "prune")
    assert truth(True, "prune") is True
    assert truth(False, "prune") is False


@pytest.mark.parametrize("value", ["LOW", "", None, 1, b"low", ["low"], np.array(["low"]), "`low`"], ids=repr)
def test_what_is_none_of_the_words_is_refused(value):
    with pytest.raises(ParameterError, match=r"^missing must be low or high, got ") as caught:
        among(value, "missing", ("low", "high"))
    assert caught.value.parameter == "missing"
    with pytest.raises(ParameterError, match=r"^missing must be one of low, high, drop, got "):
        among(value, "missing", {"low": 1, "high": 2, "drop": 3})


def test_words_come_back():
    assert among("low", "missing", ("low", "high")) == "low"
    assert among(Word.LOW, "missing", ("low", "high")) is Word.LOW
    assert among(np.str_("low"), "missing", iter(("low", "high"))) == "low"
