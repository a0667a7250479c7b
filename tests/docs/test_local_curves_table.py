"""The table of docs/local_curves.md is what its benchmark measures."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import ogive
from ogive.noise import KeyedSource

ROOT = Path(__file__).parents[2]
RUNS = 10


@pytest.fixture
def measured(monkeypatch):
    """The benchmark's module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("local_curves")


def test_the_page_has_what_the_benchmark_finds(measured):
    assert measured.RUNS == RUNS
    counts = measured.records_in(64, 10**4)
    found = {name: measured.errors(way, counts, 2, RUNS) for name, way in measured.WAYS.items() if name != "curator"}
    row = next(line for line in measured.PAGE.read_text().splitlines() if line.startswith("| $10^4$ | 2 | 64 |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")][3:]
    # the curator's errors stand in the fourth and the last place
    shown = [cells[place] for place in (0, 1, 4, 2, 5)]
    expected = [*found["reports"], *found["square wave"][1:]]
    assert shown == [measured._percent(each) for each in expected]
    assert measured._percent(2 * found["square wave"][1]) != shown[3], "the control"


def test_a_square_wave_has_its_privacy_and_finds_a_smooth_law(measured):
    wave = measured.square_wave
    chance = wave.chances(64, 1.0)
    np.testing.assert_allclose(chance.sum(axis=0), 1)
    # bins at the edge of a wave are partly within it, so no ratio is above e^epsilon, and some attain it
    assert (chance.max(axis=1) / chance.min(axis=1)).max() == pytest.approx(np.e)
    shares = measured.records_in(64, 10**6) / 10**6
    found = wave.estimated(np.rint(chance @ shares * 1e6).astype(np.int64), chance)
    assert np.abs(np.cumsum(found) - np.cumsum(shares)).max() < 0.05


def test_its_reports_are_what_owners_release(measured):
    counts = measured.records_in(64, 10**4)
    values = {"x": np.repeat((np.arange(64) + 0.5) / 64, counts)}
    curve = ogive.release(
        ogive.Ecdf("x", (0, 1), bins=64),
        trust=ogive.Local(values),
        privacy=ogive.PureDP(1),
        source=KeyedSource(bytes(32)),
    )
    raw, published = measured.reports(counts, 1, 0)
    truth = np.cumsum(counts)
    mine, theirs = (np.sqrt(np.mean((each - truth) ** 2)) for each in (raw, curve.raw))
    assert 0.4 < mine / theirs < 2.5
    assert curve.rmse() == pytest.approx(measured._rmse(64, None, 10**4), rel=0.02)
    assert np.all(np.diff(published) >= 0)
