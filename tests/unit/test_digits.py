"""Numbers are shown with the digits that a tenth of the interval's width tells, and no more."""

import math
from decimal import Decimal

import numpy as np
import pytest

import ogive
from ogive.columns.grids import Grid
from ogive.core.digits import number, p_value, places
from ogive.showing.axis import shown

CASES = {
    "whole": (39_938.4, 12.0, "39,938"),
    "tens": (39_938.4, 150.0, "39,940"),
    "hundreds of thousands": (61_664_440, 1_533_344, "61,700,000"),
    "one place": (49.789, 1.0, "49.8"),
    "just above one": (49.789, 1.01, "49.8"),
    "just below one": (49.789, 0.99, "49.79"),
    "a share": (0.02232, 0.0131, "0.022"),
    "no sign of zero": (-0.004, 0.5, "0.00"),
    "no width": (1_234.5678, 0.0, "1,234.57"),
    "no end": (1_234.5678, math.inf, "1,234.57"),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_have_the_digits_of_a_tenth_of_the_width(case):
    value, width, wanted = CASES[case]
    assert number(value, width) == wanted


@pytest.mark.parametrize("width", [1.3e-7, 0.0123, 0.1, 0.35, 1, 7.7, 10, 123, 9.9e5])
def test_the_last_digit_counts_at_most_a_tenth_of_the_width_and_more_than_a_hundredth(width):
    unit = Decimal(1).scaleb(-places(width))
    assert unit <= Decimal(width) / 10 < 10 * unit


@pytest.mark.parametrize("bins", [1, 2, 8, 10, 777, 1024, 100_000])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (18, 100), (-5000, 100_000)])
@pytest.mark.parametrize("kind", ["linear", "geometric"])
def test_a_threshold_is_never_shown_as_if_it_were_another(kind, low, high, bins):
    if kind == "geometric" and low <= 0:
        low = 0.5
    grid = getattr(Grid, kind)(low, high, bins=bins)
    for at in range(0, bins, 1 + bins // 50):
        told = float(shown(grid, float(grid.thresholds[at])).replace(",", ""))
        assert abs(grid.thresholds - told).argmin() == at


def test_listed_and_whole_thresholds_are_shown_as_they_are():
    assert [shown(Grid.explicit([0.125, 0.25]), each) for each in (0.125, 0.25)] == ["0.125", "0.25"]
    assert shown(Grid.integers(0, 120), 39.0) == "39"
    assert shown(Grid.integers(0, 120), math.inf) == "inf"


def test_dates_and_times_are_shown_as_such():
    days = Grid.calendar("2020-01-01", "2020-12-31", every="days")
    assert shown(days, days.number("2020-03-01"), 40.0) == "2020-03-01"


def test_areas_and_groups_of_probabilities_are_shown_by_the_same_rule():
    draw = np.random.default_rng(5)
    risk = draw.uniform(size=400)
    table = {"risk": risk, "ill": (draw.uniform(size=400) < risk).astype(int)}
    roc = ogive.release(ogive.Roc("risk", "ill", bounds=(0, 1)), trust=ogive.Clear(table))
    low, high = roc.auc_interval()
    assert 0.01 < high - low < 0.1
    assert f"AUC:        {roc.auc:.3f} (95 % CI {low:.3f} to {high:.3f}, for the population)" in str(roc)
    found = ogive.release(ogive.HosmerLemeshow("risk", "ill", groups=4), trust=ogive.Clear(table))
    for group in found.groups:
        low, high = group.interval
        assert 0.1 < high - low < 1
        assert f"{group.observed_share:.2f} {low:.2f} to {high:.2f}" in " ".join(str(found).split())


def test_small_p_values_are_told_by_a_limit():
    assert [p_value(value) for value in (0.0001, 0.00099, 0.001, 0.0344, 1.0)] == [
        "< 0.001",
        "< 0.001",
        "= 0.001",
        "= 0.034",
        "= 1",
    ]
    assert p_value(0.03444, 3) == "= 0.0344"
