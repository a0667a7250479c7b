"""The benchmark of all curve methods measures what it says, and the manual shows what it measured."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import ogive
from ogive.noise import KeyedSource

ROOT = Path(__file__).parents[2]


@pytest.fixture
def part(monkeypatch):
    """Imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def test_the_tables_of_distances_are_those_of_the_results(part):
    publish = part("publish")
    entries = json.loads(publish.DISTANCES.read_text())
    page = publish.PAGE.read_text()
    assert publish.with_distances(page, entries) == page, "run python benchmarks/publish.py"
    entries[0]["ks"] *= 2
    assert publish.with_distances(page, entries) != page


def test_every_cell_was_measured(part, shared_data):
    for name in ("bank-full.csv.gz", "socr_height_weight.csv.gz"):
        shared_data(name)
    projection = part("projection")
    found = projection.read()
    for cell, methods in projection.cells():
        for method in methods:
            assert (cell.name, cell.wider, cell.records, cell.epsilon, method) in found


def test_counts_are_answered_as_a_curator_answers(part):
    case = part("projection_cases").case("spikes")
    counts = case.draw(500, 3)
    values = np.repeat(case.grid.thresholds, counts)
    statistic = ogive.Ecdf("x", grid=case.grid, method="hat_ls")
    one, two = (
        ogive.release(statistic, trust=trust, privacy=ogive.PureDP(1), source=KeyedSource.from_seed(4))
        for trust in (part("projection_trust").Counted(counts), ogive.Central({"x": values}))
    )
    assert np.array_equal(one.raw, two.raw)
    assert not np.array_equal(one.raw, np.cumsum(counts))


@pytest.mark.parametrize("name", ["normal", "spikes", "rounded"])
def test_its_distances_are_those_of_the_library(part, name):
    cases = part("projection_cases")
    case = cases.case(name)
    counts = [case.draw(200, seed) for seed in (1, 2)]
    ours = cases.distances(*(np.cumsum(each) / 200 for each in counts), case.grid.thresholds)
    statistic = ogive.Ecdf("x", grid=case.grid)
    curves = [
        ogive.release(statistic, trust=ogive.Clear({"x": np.repeat(case.grid.thresholds, each)})) for each in counts
    ]
    found = ogive.distances(*curves, between="steps")
    assert ours == pytest.approx((found.ks, found.emd, found.energy), rel=1e-9)
    assert ours[0] > 0


@pytest.mark.parametrize("name", ["normal", "beta", "uniform", "exponential", "mixture", "spikes", "rounded"])
def test_shares_of_bins_are_a_distribution_with_the_right_middle(part, name):
    case = part("projection_cases").case(name)
    medians = {"normal": 0, "beta": 0.2645, "uniform": 0.5, "exponential": np.log(2), "mixture": 0, "spikes": 0.2}
    assert case.shares.min() >= 0
    assert case.shares.sum() == pytest.approx(1)
    median = case.grid.thresholds[np.searchsorted(np.cumsum(case.shares), 0.5 - 1e-9)]
    width = np.diff(case.grid.thresholds).max()
    assert median == pytest.approx(medians.get(name, 50), abs=1.01 * width)
