"""Means and sums of values between the steps: the rounding is said, and the interval counts it."""

import json
import re

import numpy as np
import pytest

import ogive
from ogive.columns import Binning
from ogive.noise import KeyedSource
from ogive.statistics.sums.lattice import Lattice

HIGH = ogive.PureDP(1000)


def released(statistic, values, trust=ogive.Central, adjacency=ogive.Adjacency.REPLACE, key=0):
    return ogive.release(
        statistic,
        trust=trust({"x": values}),
        privacy=None if trust is ogive.Clear else HIGH,
        adjacency=adjacency,
        source=KeyedSource(key.to_bytes(32, "big")),
    )


@pytest.mark.parametrize("name", ["mean", "sum"])
def test_the_interval_holds_the_number_of_values_that_are_all_rounded_one_way(name):
    # 0.4 lies below the middle of the step from 0 to 1 and counts as 0
    values = np.full(500, 0.4)
    kind, exact = {"mean": (ogive.Mean, 0.4), "sum": (ogive.Sum, 200.0)}[name]
    found = released(kind("x", bounds=(0, 10), step=1), values)
    low, high = found.noise_interval()
    assert low <= exact <= high
    plain = found.reading.interval(0.95, sampling=False)
    assert not plain[0] <= exact <= plain[1], "control: without the rounding the interval misses it"
    assert found.rounding == pytest.approx({"mean": 0.5, "sum": 250}[name])


@pytest.mark.parametrize("name", ["mean", "sum"])
def test_no_values_leave_the_interval_by_rounding(name):
    kind = {"mean": ogive.Mean, "sum": ogive.Sum}[name]
    rng = np.random.default_rng(4)
    for key in range(20):
        values = rng.uniform(-3, 11, 300)
        found = released(kind("x", bounds=(0, 10), step=3), values, key=key)
        exact = {"mean": np.mean, "sum": np.sum}[name](np.clip(values, 0, 10))
        low, high = found.noise_interval(0.9999)
        assert low <= exact <= high


def test_a_bin_of_the_lattice_moves_no_value_by_more_than_half_a_step():
    for bounds, step in (((0, 10), 1), ((0, 10), 3), ((-1.5, 4), "0.7"), ((0, 1e6), None)):
        lattice = Lattice.of(bounds, step)
        grid = lattice.grid()
        values = np.linspace(float(lattice.low), float(lattice.high), 3001)
        bins = np.searchsorted(grid.thresholds, values, side="left")
        places = float(lattice.low) + bins * float(lattice.step)
        assert np.abs(places - values).max() <= float(lattice.step) / 2 * (1 + 1e-9)
    assert Binning("x", grid).grid == grid


@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_the_step_is_said_in_a_line_also_where_it_is_not_the_one_that_was_named(adjacency):
    values = np.linspace(0, 100, 400)
    found = released(ogive.Mean("x", bounds=(0, 100), step=3), values, adjacency=adjacency)
    assert re.search(r"rounding: .* steps of 2\.94118: at most \+/- 1\.5, which the interval counts", str(found))
    assert "2.94118" in found._repr_html_()
    total = released(ogive.Sum("x", bounds=(0, 100), step=1), values, adjacency=adjacency)
    said = "which the interval counts" if adjacency is ogive.Adjacency.REPLACE else "which the interval does not count"
    assert said in str(total)
    assert (total.rounding is None) is (adjacency is ogive.Adjacency.ADD_OR_REMOVE)


def test_owners_round_at_random_so_nothing_is_added():
    found = released(ogive.Mean("x", bounds=(0, 100)), np.linspace(0, 100, 400), trust=ogive.Local)
    assert found.rounding == 0
    assert "rounding" not in str(found)


def test_an_interval_stays_among_possible_means():
    for value in (0.0, 10.0):
        low, high = released(ogive.Mean("x", bounds=(0, 10), step=5), np.full(100, value)).interval()
        assert 0 <= low <= value <= high <= 10


@pytest.mark.parametrize("kind", [ogive.Mean, ogive.Sum])
def test_files_say_that_the_rounding_is_counted_and_those_of_before_have_their_intervals(kind):
    found = released(kind("x", bounds=(0, 10), step=1), np.linspace(0, 10, 200))
    data = json.loads(found.to_json())
    assert type(found).from_dict(data) == found
    assert data["counts_rounding"] is True
    del data["counts_rounding"]
    old = type(found).from_dict(data)
    assert old.rounding == 0
    assert old.interval() == pytest.approx(old.reading.interval(0.95, sampling=True))
    assert "rounding" not in str(old)
    assert "counts_rounding" not in old.to_dict()
    data["counts_rounding"] = "yes"
    with pytest.raises(ogive.DataError, match="must be true or false"):
        type(found).from_dict(data)
