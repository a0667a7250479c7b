"""What is drawn around a distribution function between its thresholds."""

import datetime

import numpy as np
import pytest

import ogive
from ogive.columns.axis import band_steps
from ogive.columns.grids import Grid

GRIDS = {
    "linear": Grid.linear(0, 10, bins=20),
    "integers": Grid.integers(0, 10),
    "explicit": Grid.explicit([1, 1.5, 4, 10], low=0),
    "geometric": Grid.geometric(0.1, 10, bins=7),
}
PLACES = np.linspace(0, 10, 4001)[1:-1]


def shares(values, places):
    return np.searchsorted(np.sort(values), places, side="right") / len(values)


def at(grid, steps, places):
    """A step function where it is drawn."""
    return steps[np.searchsorted(grid.thresholds, places, side="right")]


@pytest.mark.parametrize("kind", GRIDS)
def test_a_function_that_is_in_the_band_at_the_thresholds_is_in_it_everywhere(kind):
    grid, rng = GRIDS[kind], np.random.default_rng(1)
    for _ in range(20):
        values = rng.uniform(0, 10, 50)
        exact = shares(values, grid.thresholds)
        low, high = exact - 0.01, exact + 0.01
        lower, upper = band_steps(grid, low, high)
        assert lower.shape == upper.shape == (grid.bins + 1,)
        found = shares(values, PLACES)
        assert (at(grid, lower, PLACES) <= found).all()
        assert (found <= at(grid, upper, PLACES)).all()
        # the control: without the next threshold's end the function leaves the band
        assert not (found <= at(grid, np.concatenate(([0.01], high)), PLACES)).all()


def test_on_a_grid_of_days_the_band_is_that_of_each_day():
    days = Grid.integers(datetime.date(2026, 1, 1), datetime.date(2026, 1, 4))
    low, high = np.array([0.1, 0.2, 0.3, 0.9]), np.array([0.3, 0.4, 0.6, 1.0])
    lower, upper = band_steps(days, low, high)
    assert lower.tolist() == [0.0, 0.1, 0.2, 0.3, 0.9]
    assert upper.tolist() == [0.0, 0.3, 0.4, 0.6, 1.0]


def test_matplotlib_and_the_report_draw_the_same_band():
    pytest.importorskip("matplotlib")
    values = np.random.default_rng(2).integers(0, 11, 400) + 0.5
    curve = ogive.ecdf(np.minimum(values, 10), bounds=(0, 10), grid="integers", privacy=ogive.PureDP(1))
    axes = curve.plot()
    outline = axes.collections[0].get_paths()[0].vertices
    band = curve.band(0.95)
    lower, upper = band_steps(curve.grid, band.low, band.high)
    drawn = {round(y, 9) for y in outline[:, 1]}
    assert drawn <= {round(y, 9) for y in (*lower, *upper)}
    assert {round(y, 9) for y in upper[:-1]} <= drawn
