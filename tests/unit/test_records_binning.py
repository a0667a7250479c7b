"""Bins against a slow reading of the definition, over hostile values."""

import bisect
import datetime
import decimal
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns import Binning
from ogive.columns.grids import EPOCH, EPOCH_TIME, Grid
from ogive.records import Records
from ogive.records.cells import float_values, kind_of, type_words
from ogive.records.sources import BATCH_ROWS

GRIDS = {
    "linear": Grid.linear(-1.0, 3.0, bins=7),
    "linear_tenths": Grid.linear(0, 1, bins=10),
    "linear_one_bin": Grid.linear(0, 1, bins=1),
    "linear_huge": Grid.linear(-1e300, 1e300, bins=13),
    "linear_subnormal": Grid.linear(0.0, 1e-320, bins=5),
    "geometric": Grid.geometric(1e-3, 1e3, bins=9),
    "integers": Grid.integers(-3, 9),
    "integers_far": Grid.integers(2**52, 2**52 + 20),
    "one_threshold": Grid.explicit([2.5]),
    "explicit": Grid.explicit([-2.0, -0.0, 5e-324, 0.1, 7.0]),
    "explicit_low": Grid.explicit([0.5, 0.75], low=0.25),
}


def slow_histogram(values, grid):
    """The definition in exact rational arithmetic: the first threshold at or above the clipped value."""
    thresholds = [Fraction(float(t)) for t in grid.thresholds]
    counts = [0] * grid.bins
    for value in values:
        if value == math.inf or (value != -math.inf and Fraction(value) > Fraction(grid.high)):
            value = grid.high
        elif value == -math.inf or Fraction(value) < Fraction(grid.low):
            value = grid.low
        counts[bisect.bisect_left(thresholds, Fraction(value))] += 1
    return counts


def hostile_values(grid):
    near = [float(t) for t in grid.thresholds] + [grid.low]
    near += [math.nextafter(v, math.inf) for v in near] + [math.nextafter(v, -math.inf) for v in near]
    special = [0.0, -0.0, 5e-324, -5e-324, 1e-310, math.inf, -math.inf, 1.7e308, -1.7e308]
    return st.lists(
        st.one_of(st.sampled_from(near + special), st.floats(allow_nan=False), st.floats(grid.low, grid.high)),
        min_size=1,
        max_size=40,
    )


@pytest.mark.parametrize("name", GRIDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_histogram_follows_the_definition_exactly(name, data):
    grid = GRIDS[name]
    values = data.draw(hostile_values(grid))
    counts = Records.of({"x": np.array(values)}).histogram(Binning("x", grid))
    assert counts.dtype == np.int64
    assert counts.tolist() == slow_histogram(values, grid)
    assert counts.sum() == len(values)
    assert counts.tolist() == np.bincount(grid.bin_of(np.array(values)), minlength=grid.bins).tolist()


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.one_of(st.none(), st.just(math.nan), st.floats(-5, 15)), min_size=1, max_size=30),
    policy=st.sampled_from(["low", "high", "drop"]),
)
def test_missing_values_count_as_the_policy_says(values, policy):
    grid = Grid.linear(0, 10, bins=4)
    present = [v for v in values if v is not None and not math.isnan(v)]
    expected = slow_histogram(present, grid)
    if policy != "drop":
        expected[0 if policy == "low" else -1] += len(values) - len(present)
    counts = Records.of(pa.table({"x": pa.array(values, pa.float64())})).histogram(Binning("x", grid, policy))
    assert counts.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(days=st.lists(st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)), min_size=1, max_size=30))
def test_dates_fall_into_bins_of_days_and_of_times(days):
    by_day = Grid.linear("1950-01-01", "2050-01-01", bins=17)
    by_time = Grid.linear("1950-01-01T00:00", "2050-01-01T00:00", bins=17)
    records = Records.of({"when": days})
    numbers = [float((day - EPOCH).days) for day in days]
    assert records.histogram(Binning("when", by_day)).tolist() == slow_histogram(numbers, by_day)
    times = [number * 86_400_000_000 for number in numbers]
    assert records.histogram(Binning("when", by_time)).tolist() == slow_histogram(times, by_time)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@settings(max_examples=20, deadline=None)
@given(
    times=st.lists(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)), min_size=1, max_size=20)
)
def test_times_of_every_resolution_are_microseconds(unit, times):
    step = {"s": 10**6, "ms": 10**3, "us": 1, "ns": 1}[unit]
    exact = [(time - EPOCH_TIME) // datetime.timedelta(microseconds=step) * step for time in times]
    ticks = [value // step if unit != "ns" else value * 1000 + 999 for value in exact]
    array = pa.array([*ticks, None], pa.int64()).cast(pa.timestamp(unit))
    floats = float_values(array, "datetime")
    assert floats[:-1].tolist() == exact
    assert math.isnan(floats[-1])


def test_milliseconds_of_dates_are_whole_days():
    array = pa.array([-1, 0, 86_400_000, None], pa.int64()).cast(pa.int64()).view(pa.date64())
    floats = float_values(array, "date")
    assert floats[1:3].tolist() == [0.0, 1.0]
    assert math.isnan(floats[3])


def test_times_with_a_zone_are_read_in_universal_time():
    zone = datetime.timezone(datetime.timedelta(hours=5))
    grid = Grid.explicit(["2024-01-01T00:00", "2024-01-01T04:00"])
    time = datetime.datetime(2024, 1, 1, 5, 0, tzinfo=zone)
    assert Records.of({"t": [time]}).histogram(Binning("t", grid)).tolist() == [1, 0]


@settings(max_examples=60, deadline=None)
@given(text=st.decimals(-1000, 1000, places=4, allow_nan=False))
def test_decimals_are_read_as_the_nearest_float(text):
    array = pa.array([decimal.Decimal(text)], pa.decimal128(20, 4))
    floats = float_values(array, "number")
    assert floats[0] == float(text)


@pytest.mark.parametrize(
    "arrow_type", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
)
def test_whole_numbers_of_every_width_are_numbers(arrow_type):
    top = 2 ** (arrow_type.bit_width - (0 if pa.types.is_unsigned_integer(arrow_type) else 1)) - 1
    array = pa.array([0, 5, None, top], arrow_type)
    floats = float_values(array, "number")
    assert [floats[0], floats[1], floats[3]] == [0.0, 5.0, float(top)]
    assert math.isnan(floats[2])


def test_booleans_count_as_zero_and_one():
    grid = Grid.integers(0, 1)
    assert Records.of({"flag": [True, False, True]}).histogram(Binning("flag", grid)).tolist() == [1, 2]


def test_encoded_columns_are_decoded():
    array = pa.array([3, 3, 1, None]).dictionary_encode()
    assert kind_of(array.type) == "number"
    floats = float_values(array, "number")
    assert floats[:3].tolist() == [3.0, 3.0, 1.0]


def test_columns_longer_than_a_batch_are_read_whole():
    size = BATCH_ROWS + 3
    values = np.arange(size, dtype=np.int64)
    grid = Grid.linear(0, size, bins=3)
    counts = Records.of({"x": values}).histogram(Binning("x", grid))
    assert counts.tolist() == np.bincount(grid.bin_of(values.astype(float)), minlength=3).tolist()


@pytest.mark.parametrize(
    ("arrow_type", "words"),
    [
        (pa.string(), "text"),
        (pa.large_string(), "text"),
        (pa.null(), "no values at all"),
        (pa.time64("us"), "values of type time64[us]"),
        (pa.list_(pa.int8()), "values of type list<item: int8>"),
        (pa.dictionary(pa.int8(), pa.string()), "text"),
    ],
    ids=["text", "large_text", "nothing", "time_of_day", "list", "category"],
)
def test_types_that_cannot_be_ordered_on_a_grid_have_no_kind(arrow_type, words):
    assert kind_of(arrow_type) is None
    assert type_words(arrow_type) == words
