"""Grids: thresholds by definition, kinds of bounds, and what is refused."""

import datetime
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ogive.columns.grids import MAX_BINS, Grid
from ogive.errors import ParameterError

finite = st.floats(-1e12, 1e12)
GRIDS = {
    "linear": Grid.linear(-1, 3, bins=7),
    "geometric": Grid.geometric(0.01, 10, bins=5),
    "integers": Grid.integers(-3, 5),
    "explicit": Grid.explicit([0, 0.5, 8], low=-2),
    "dates": Grid.linear("2024-01-01", datetime.date(2024, 3, 1), bins=4),
    "days": Grid.integers("2024-01-01", "2024-01-31"),
    "times": Grid.explicit(["2024-01-01T00:00", datetime.datetime(2024, 1, 1, 12)]),
}


@settings(max_examples=100, deadline=None)
@given(low=finite, width=st.floats(1e-3, 1e9), bins=st.integers(1, 300))
def test_linear_thresholds_are_evenly_spaced_and_end_at_the_upper_bound(low, width, bins):
    assume(width / bins > 4 * math.ulp(abs(low) + width))
    grid = Grid.linear(low, low + width, bins=bins)
    for i, threshold in enumerate(grid.thresholds, start=1):
        exact = Fraction(grid.low) + i * (Fraction(grid.high) - Fraction(grid.low)) / bins
        assert abs(Fraction(float(threshold)) - exact) <= Fraction(4 * math.ulp(max(abs(grid.low), abs(grid.high))))
    assert grid.thresholds[-1] == grid.high
    assert len(grid.thresholds) == grid.bins == bins


@settings(max_examples=60, deadline=None)
@given(low=st.floats(1e-6, 1e3), factor=st.floats(1.01, 1e9), bins=st.integers(1, 60))
def test_geometric_thresholds_have_a_constant_ratio(low, factor, bins):
    grid = Grid.geometric(low, low * factor, bins=bins)
    np.testing.assert_allclose(np.diff(np.log([low, *grid.thresholds])), math.log(grid.high / low) / bins, atol=1e-12)
    assert grid.thresholds[-1] == grid.high


def test_integer_grids_hold_every_whole_number():
    assert GRIDS["integers"].thresholds.tolist() == list(range(-3, 6))
    assert Grid.integers(2**53 - 2, 2**53).thresholds.tolist() == [2**53 - 2, 2**53 - 1, 2**53]
    assert GRIDS["days"].bins == 31


@pytest.mark.parametrize("name", GRIDS)
def test_thresholds_increase_and_cannot_be_changed(name):
    thresholds = GRIDS[name].thresholds
    assert np.all(np.diff(thresholds) > 0)
    with pytest.raises(ValueError, match="read-only"):
        thresholds[0] = 0


@pytest.mark.parametrize("name", GRIDS)
def test_a_value_is_at_most_its_threshold_and_above_the_one_before(name):
    grid = GRIDS[name]
    values = np.linspace(grid.low - 1, grid.high + 1, 999)
    bins = grid.bin_of(values)
    clipped = np.clip(values, grid.low, grid.high)
    assert np.all(clipped <= grid.thresholds[bins])
    below = bins > 0
    assert np.all(clipped[below] > grid.thresholds[bins[below] - 1])


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_survives_json(name):
    grid = GRIDS[name]
    again = Grid.from_dict(json.loads(json.dumps(grid.to_dict())))
    assert again == grid
    assert hash(again) == hash(grid)
    assert again.thresholds.tolist() == grid.thresholds.tolist()


def test_labels_are_what_the_user_wrote():
    assert GRIDS["dates"].label(GRIDS["dates"].low) == datetime.date(2024, 1, 1)
    assert GRIDS["times"].label(GRIDS["times"].high) == datetime.datetime(2024, 1, 1, 12)
    assert GRIDS["linear"].label(2) == 2.0
    assert GRIDS["dates"].label(math.inf) == math.inf


def test_numbers_are_found_for_values_of_a_fitting_kind():
    times = GRIDS["times"]
    assert times.number(datetime.date(2024, 1, 1)) == times.low
    assert times.number("2024-01-01T12:00+00:00") == times.high
    assert times.number(np.datetime64("2024-01-01T12")) == times.high
    assert GRIDS["dates"].number("2024-01-01") == GRIDS["dates"].low
    with pytest.raises(ParameterError, match="is a date, but the grid holds numbers"):
        GRIDS["linear"].number("2024-01-01")
    assert GRIDS["dates"].number(datetime.datetime(2024, 1, 1, 23, 59)) == GRIDS["dates"].low


def test_times_with_an_offset_are_converted():
    grid = Grid.explicit(["2024-01-01T02:00+02:00"])
    assert grid.label(grid.high) == datetime.datetime(2024, 1, 1)


REFUSED = {
    "reversed": (lambda: Grid.linear(5, 1, bins=3), "the lower bound must be below the upper bound"),
    "equal": (lambda: Grid.linear(5, 5, bins=3), "must be below"),
    "infinite": (lambda: Grid.linear(0, math.inf, bins=3), "the upper bound must be finite"),
    "not_a_number": (lambda: Grid.linear("nan", 1, bins=3), "the lower bound must be finite"),
    "huge": (lambda: Grid.linear(0, 10**400, bins=3), "the upper bound must be finite"),
    "far": (lambda: Grid.linear(-1.7e308, 1.7e308, bins=3), "too far apart"),
    "far_ratio": (lambda: Grid.geometric(1e-200, 1e200, bins=3), "too far apart"),
    "word": (lambda: Grid.linear(0, "x", bins=3), "must be a number or an ISO date, got 'x'"),
    "nothing": (lambda: Grid.linear(None, 1, bins=3), "must be a number or a date"),
    "two_kinds": (lambda: Grid.linear(0, "2024-01-01", bins=3), "bounds must be of one kind"),
    "no_bins": (lambda: Grid.linear(0, 1, bins=0), "bins must be a whole number from 1"),
    "many_bins": (lambda: Grid.linear(0, 1, bins=MAX_BINS + 1), "bins must be a whole number from 1"),
    "half_bins": (lambda: Grid.linear(0, 1, bins=1.5), "bins must be a whole number"),
    "true_bins": (lambda: Grid.linear(0, 1, bins=True), "bins must be a whole number"),
    "too_fine": (lambda: Grid.linear(1, 1 + 1e-15, bins=100), "finer than floating point"),
    "geometric_zero": (lambda: Grid.geometric(0, 1, bins=3), "needs bounds above 0"),
    "geometric_dates": (lambda: Grid.geometric("2024-01-01", "2025-01-01", bins=3), "needs bounds above 0"),
    "halves": (lambda: Grid.integers(0.5, 3), "needs whole bounds"),
    "integer_times": (lambda: Grid.integers("2024-01-01T00:00", "2024-01-02T00:00"), "needs whole bounds"),
    "beyond_floats": (lambda: Grid.integers(2**53, 2**53 + 4), "bounds up to 2\\^53"),
    "unsorted": (lambda: Grid.explicit([1, 3, 2]), "number 3 \\(2\\) does not exceed number 2 \\(3\\)"),
    "repeated": (lambda: Grid.explicit([1, 1]), "thresholds must increase"),
    "no_thresholds": (lambda: Grid.explicit([]), "at least one threshold"),
    "mixed": (lambda: Grid.explicit([1, "2024-01-01"]), "of one kind"),
    "low_above": (lambda: Grid.explicit([1, 2], low=1.5), "must not exceed the first threshold"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_grids_are_refused_in_one_line(name):
    make, words = REFUSED[name]
    with pytest.raises(ParameterError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "round"},
        {"unit": "month"},
        {"bins": 8.5},
        {"bins": 3},
        {"low": math.nan},
        {"high": math.inf},
        {"low": -2.5},
        {"low": None},
        {"thresholds": 5},
        {"thresholds": ["x"]},
    ],
    ids=lambda change: "_".join(f"{key}_{value}" for key, value in change.items()),
)
def test_a_changed_description_of_a_grid_is_refused(change):
    with pytest.raises(ParameterError):
        Grid.from_dict({**GRIDS["integers"].to_dict(), **change})


def test_a_description_that_lacks_a_field_is_refused():
    for field in ("kind", "low", "high", "bins", "unit"):
        data = GRIDS["linear"].to_dict()
        del data[field]
        with pytest.raises(ParameterError, match=field):
            Grid.from_dict(data)
    with pytest.raises(ParameterError, match="inconsistent"):
        Grid.from_dict({**GRIDS["explicit"].to_dict(), "high": 9.0})


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (Grid.calendar("2023-01-01", "2023-12-31", every="days"), "days"),
        (Grid.integers("2023-01-01", "2023-12-31"), "days"),
        (Grid.calendar("2023-01-01", "2023-12-31", every="weeks"), "weeks"),
        (Grid.calendar("2023-01-15", "2023-12-30", every="months"), "months"),
        (Grid.calendar("2023-01-01", "2023-01-03", every="hours"), "hours"),
        (Grid.calendar("2023-01-01T05:30", "2023-01-01T15:10", every="hours"), "hours"),
        (Grid.linear("2023-01-01", "2023-12-31", bins=12), "linear"),
        (Grid.explicit(["2023-01-01", "2023-03-31", "2023-12-31"]), "explicit"),
        (Grid.explicit(["2023-01-01"]), "explicit"),
        (Grid.explicit([1, 8, 15]), "explicit"),
        (Grid.integers(0, 9), "integers"),
        (Grid.geometric(1, 9, bins=3), "geometric"),
    ],
)
def test_people_are_told_of_calendar_steps_also_of_grids_that_were_stored(grid, words):
    assert grid.spacing == words
    assert Grid.from_dict(grid.to_dict()).spacing == words


def test_bins_that_are_guessed_are_those_of_bisection():
    """Even grids of any magnitude, also where thresholds are a few floats apart; values at and beside thresholds."""
    rng = np.random.default_rng(11)
    guessed = 0
    for trial in range(400):
        low = float(rng.normal() * 10.0 ** rng.integers(-300, 300)) if trial % 2 else float(rng.normal() * 100)
        bins = int(rng.integers(2, 3000))
        width = abs(low) * 10.0 ** float(rng.integers(-15, 3)) if trial % 4 else float(10.0 ** rng.integers(-3, 4))
        try:
            grid = (
                Grid.linear(low, low + width, bins=bins) if trial % 5 else Grid.integers(int(low) % 1000, 1000 + bins)
            )
        except ParameterError:
            continue
        thresholds = grid.thresholds
        near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)])
        values = np.concatenate([near, rng.uniform(-1, 2, 500) * width + low, [np.inf, -np.inf, 0.0, -0.0], near[:300]])
        expected = np.searchsorted(thresholds, np.clip(values, grid.low, grid.high), side="left")
        assert np.array_equal(grid.bin_of(values), expected)
        assert grid.bin_of(values).dtype == np.int64
        guessed += grid.per_unit > 0 and grid._guessed(np.clip(values, grid.low, grid.high)) is not None
    assert guessed > 200


def test_bins_of_a_grid_that_is_too_narrow_for_arithmetic_are_found_all_the_same():
    grid = Grid.linear(0, 5e-324 * 300, bins=300)
    values = np.tile(grid.thresholds, 3)
    assert np.array_equal(grid.bin_of(values), np.tile(np.arange(300), 3))
