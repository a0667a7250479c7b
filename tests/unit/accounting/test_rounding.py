"""Numbers in sentences are never below what they stand for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting.losses import rounded_up, shown_up


@pytest.mark.parametrize("form", [".3f", ".4g", ".6g"])
def test_a_number_that_is_shown_is_never_below_and_less_than_a_last_digit_above(form):
    drawn = 10 ** np.random.default_rng(3).uniform(-12, 6, 2000)
    for value in drawn.tolist():
        shown = float(shown_up(value, form))
        step = 1e-3 if form == ".3f" else 10.0 ** (math.floor(math.log10(value)) + 1 - int(form[1]))
        assert value <= shown < value + step * (1 + 1e-6)
    # the control: to nearest is below about half of the time
    assert 0.3 < np.mean([float(format(value, form)) < value for value in drawn.tolist()]) < 0.9


def test_numbers_that_fit_are_shown_as_they_are():
    assert [shown_up(value) for value in (0.0, 2.6, 1e-05, 300.0, 0.1, 1.25e-7)] == [
        "0", "2.6", "1e-05", "300", "0.1", "1.25e-07",
    ]  # fmt: skip
    assert [shown_up(value, ".3f") for value in (2.6064, 2.606, 0.0, 9.99999)] == ["2.607", "2.606", "0.000", "10.000"]
    assert shown_up(9.99999999) == "10"
    assert shown_up(math.inf) == "inf"
    assert float(shown_up(1e300, ".3f")) == 1e300


def test_it_is_the_rounding_of_exact_numbers():
    assert Fraction(shown_up(0.1234561)) == rounded_up(Fraction("0.1234561")) == Fraction("0.123457")
