import datetime
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.columns.grids import Grid
from ogive.showing.axis import date_ticks, log_ticks, nice_step, number_ticks, plain_number, show, tick_label, ticks
from ogive.statistics.ecdf.statistic import make_grid

EPOCH = datetime.date(1970, 1, 1)


def day(text):
    return float((datetime.date.fromisoformat(text) - EPOCH).days)


def dates(numbers):
    return [(EPOCH + datetime.timedelta(days=number)).isoformat() for number in numbers]


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.integers(2, 12))
def test_number_ticks_are_few_round_and_inside(low, span, most):
    high = low + span
    found = number_ticks(low, high, most)
    step = nice_step(high - low, most)
    assert len(found) <= most + 1
    assert all(low - 1e-6 * step <= tick <= high + 1e-6 * step for tick in found)
    assert all(tick == round(tick / step) * step for tick in found)
    assert step in {f * 10.0 ** math.floor(math.log10(step) + 1e-9) for f in (1, 2, 2.5, 5)} or math.isclose(
        step / 10.0 ** round(math.log10(step)), 1
    )


def test_number_ticks_use_the_room_they_have():
    assert number_ticks(0, 120, 8) == [0, 20, 40, 60, 80, 100, 120]
    assert number_ticks(-10_000, 110_000, 8) == [0, 20_000, 40_000, 60_000, 80_000, 100_000]
    assert number_ticks(0.3, 0.7, 4) == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7])


def test_log_ticks_have_even_ratios_and_fall_back_where_a_decade_is_too_wide():
    assert log_ticks(1, 1000, 8) == [1, 3, 10, 30, 100, 300, 1000] or log_ticks(1, 1000, 8)[0] == 1
    assert log_ticks(1e-3, 1e12, 5) == [10.0**k for k in range(-3, 13, 3)]
    assert log_ticks(41, 49, 4) == number_ticks(41, 49, 4)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        ("2024-01-30", "2024-02-03", 8, ["2024-01-30", "2024-01-31", "2024-02-01", "2024-02-02", "2024-02-03"]),
        ("2023-12-15", "2024-05-15", 8, ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01"]),
        (
            "2020-02-01",
            "2023-02-01",
            7,
            ["2020-07-01", "2021-01-01", "2021-07-01", "2022-01-01", "2022-07-01", "2023-01-01"],
        ),
        ("1931-05-05", "2001-05-05", 4, ["1940-01-01", "1960-01-01", "1980-01-01", "2000-01-01"]),
    ],
    ids=["days", "months", "half years", "decades"],
)
def test_date_ticks_begin_days_months_and_years(low, high, most, expected):
    assert dates(date_ticks(day(low), day(high), most)) == expected


def test_weeks_begin_on_monday():
    found = date_ticks(day("2024-03-01"), day("2024-04-15"), 8)
    assert {(EPOCH + datetime.timedelta(days=number)).weekday() for number in found} == {0}


@given(st.dates(datetime.date(1, 1, 1), datetime.date(9990, 1, 1)), st.integers(1, 3_000_000), st.integers(2, 10))
def test_date_ticks_are_few_and_inside(start, span, most):
    low = float((start - EPOCH).days)
    high = min(low + span, float((datetime.date.max - EPOCH).days))
    found = date_ticks(low, high, most)
    assert len(found) <= most + 2
    assert all(low <= tick <= high for tick in found)
    assert found == sorted(set(found))


def test_times_fall_on_whole_minutes_hours_and_days():
    grid = Grid.linear("2024-03-01T08:10:00", "2024-03-01T11:50:00", bins=100)
    found = ticks(grid, grid.low, grid.high, 4)
    assert [tick_label(grid, tick, found[1] - found[0]) for tick in found] == ["09:00", "10:00", "11:00"]
    days = Grid.linear("2024-03-01T08:10:00", "2024-03-04T08:10:00", bins=100)
    found = ticks(days, days.low, days.high, 4)
    assert [tick_label(days, tick, found[1] - found[0]) for tick in found] == ["2 Mar", "3 Mar", "4 Mar"]


def test_ticks_far_from_zero_are_told_apart():
    grid = Grid.linear(1_000_000, 1_000_010, bins=10)
    found = ticks(grid, grid.low, grid.high, 5)
    assert [tick_label(grid, tick, 2.0) for tick in found][:3] == ["1M", "1.000002M", "1.000004M"]
    assert tick_label(grid, 2.5e9, 5e8) == "2.5B"


def test_labels_say_as_much_of_a_date_as_the_step_needs():
    grid = Grid.integers("1900-01-01", "2024-01-01")
    assert tick_label(grid, day("1990-01-01"), 3652) == "1990"
    assert tick_label(grid, day("1990-02-01"), 31) == "Feb 1990"
    assert tick_label(grid, day("1990-02-05"), 7) == "5 Feb"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1234567.0, "1,234,567"),
        (-35.5, "−35.5"),
        (0.0312, "0.0312"),
        (12345.678, "12,346"),
        (2.0000001, "2"),
        (1e18, "1e18"),
        (-3e-7, "−3e-7"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_are_written_for_people(value, expected):
    assert plain_number(value) == expected


def test_dates_and_times_are_shown_as_such():
    dates_grid = Grid.integers("2020-01-01", "2020-12-31")
    assert show(dates_grid, day("2020-06-01")) == "2020-06-01"
    times = Grid.linear("2020-01-01T00:00:00", "2020-01-02T00:00:00", bins=24)
    assert show(times, times.low) == "2020-01-01"
    assert show(times, float(times.thresholds[6])) == "2020-01-01 07:00"
    hours = make_grid(("2020-01-01", "2020-01-02"), 1024, "hours")
    assert show(hours, float(hours.thresholds[6])) == "2020-01-01 06:59:59"
    assert show(times, times.low + 1_500_000) == "2020-01-01 00:00:01.500000"
    assert show(dates_grid, math.inf) == "∞"
