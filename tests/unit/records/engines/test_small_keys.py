"""Keys of DuckDB stand for the bins that numpy finds, next to every threshold and far away."""

import math

import numpy as np
import pyarrow as pa
import pytest
from helpers.engines import address
from helpers.scope import is_everything

pytest.importorskip("ibis", reason="ibis is not installed (pip install 'ogive[engines]')")

import ibis

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.queries import ClassBinning
from ogive.records import Records
from ogive.records.engines import values as small_keys
from ogive.records.engines.cells import CellReader
from ogive.records.engines.values import Line, line_of
from ogive.records.missing_words import USUAL

GRIDS = {
    "even": Grid.linear(0, 100, bins=4096),
    "shifted": Grid.linear(-7, 9, bins=64),
    "ages": Grid.linear(18, 90, bins=576),
    "rounded": Grid.linear(0.1, 97.3, bins=5000),
    "far": Grid.linear(1e9, 1e9 + 1, bins=900),
    "most": Grid.linear(-0.3, 0.7, bins=65_534),
    "geometric": Grid.geometric(0.01, 100, bins=4096),
    "wide": Grid.geometric(1e-290, 1e15, bins=1234),
    "narrow": Grid.geometric(1e6, 1.001e6, bins=500),
    "integers": Grid.integers(-3, 900),
    "large integers": Grid.integers(2**53 - 40, 2**53),
    "three": Grid.geometric(1, 8, bins=3),
}
ODD = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**53, -(2.0**53), -1e5, 1e5]


def values_of(grid):
    """All thresholds with their neighbors, values around the bounds, and odd ones."""
    ends = np.concatenate([[grid.low], grid.thresholds])
    near = [ends, np.nextafter(ends, -math.inf), np.nextafter(ends, math.inf)]
    random, span = np.random.default_rng(3), grid.high - grid.low
    # keys below zero and above 16 bits, of which two may differ
    away = [end + span * random.standard_cauchy(4000) for end in (grid.low, grid.high)]
    return np.concatenate([ODD, *near, *away, random.uniform(grid.low, grid.high, 4000)])


def expected(values, grid):
    return np.bincount(grid.bin_of(values[~np.isnan(values)]), minlength=grid.bins)


@pytest.mark.parametrize("name", GRIDS)
def test_keys_stand_for_the_bins_of_numpy(name, tmp_path):
    grid = GRIDS[name]
    values = values_of(grid)
    asked = Binning("x", grid, "drop")
    assert line_of(asked) is not None
    records = Records.of(address("duckdb", pa.table({"x": values}), tmp_path))
    np.testing.assert_array_equal(records.aggregate(asked), expected(values, grid))
    if name == "wide":  # which the other expression refuses
        return
    if not is_everything() and list(GRIDS).index(name) % 3:
        return
    # policies that need more than bins have the same counts by the other expression
    inside = values[(values >= grid.low) & (values <= grid.high)]
    (tmp_path / "inside").mkdir()
    strict = Records.of(address("duckdb", pa.table({"x": inside}), tmp_path / "inside"))
    found = strict.aggregate(Binning("x", grid, "refuse", "refuse"))
    np.testing.assert_array_equal(found, expected(inside, grid))


def test_keys_and_labels_are_counted_together(tmp_path):
    grid = GRIDS["rounded"]
    values = values_of(grid)
    sick = np.arange(len(values)) % 3 == 0
    table = pa.table({"x": values, "sick": sick})
    asked = ClassBinning(Binning("x", grid, "low"), Label("sick", (True,), (False,)))
    found = Records.of(address("duckdb", table, tmp_path)).aggregate(asked)
    np.testing.assert_array_equal(found, Records.of(table).aggregate(asked))


@pytest.mark.parametrize("name", ["rounded", "geometric", "far"])
def test_one_key_of_these_grids_would_be_wrong(name, tmp_path, monkeypatch):
    """The control: without the second key, numbers next to thresholds are in other bins."""
    grid = GRIDS[name]
    line = line_of(Binning("x", grid))
    assert line.low < line.high
    middle = (line.low + line.high) / 2
    monkeypatch.setattr(small_keys, "_widened", lambda *_: Line(0.0, line.scale, middle, middle))
    values = values_of(grid)
    records = Records.of(address("duckdb", pa.table({"x": values}), tmp_path))
    assert records.aggregate(Binning("x", grid, "drop")).tolist() != expected(values, grid).tolist()


def test_one_key_is_enough_where_no_threshold_is_rounded():
    for name in ("even", "ages"):
        line = line_of(Binning("x", GRIDS[name]))
        assert line.low == line.high


@pytest.mark.parametrize(
    "asked",
    [
        Binning("x", GRIDS["even"], "drop", "refuse"),
        Binning("x", GRIDS["integers"], "drop", "clip", "refuse"),
        Binning("x", Grid.linear(0, 1, bins=65_535)),
        Binning("x", Grid.linear(0, 1, bins=2)),
        Binning("x", Grid.linear(1e9, 1e9 + 1e-3, bins=8000)),
        Binning("x", Grid.explicit([1.0, 2.0, 4.0])),
        Binning("x", Grid.integers(-(2**53), -(2**53) + 90)),
    ],
    ids=["outside", "fractions", "bins", "two bins", "fine", "listed", "low integers"],
)
def test_other_questions_have_no_keys(asked):
    assert line_of(asked) is None


def test_logarithms_of_duckdb_are_as_near_as_keys_need():
    values = np.exp(np.random.default_rng(1).uniform(-700, 700, 20_000))
    values = np.concatenate([values, 1 + np.random.default_rng(2).normal(0, 1e-6, 20_000)])
    table = ibis.duckdb.connect().create_table("some", pa.table({"x": values}))
    found = table.select(x=table.x, y=table.x.ln()).to_pyarrow()
    exact = np.log(found["x"].to_numpy())
    assert np.all(np.abs(found["y"].to_numpy() - exact) <= np.abs(exact) * small_keys._LOGARITHM / 8)


def test_duckdb_keeps_groups_of_keys_in_an_array(tmp_path):
    records = Records.of(address("duckdb", pa.table({"x": [1.0, 2.0]}), tmp_path))
    table = records._table
    reader = CellReader(table._expression, table._types, USUAL, "visits", None, "duckdb")
    question = ibis.to_sql(reader.questions(Binning("x", GRIDS["even"]))[0], dialect="duckdb")
    plan = table._expression.get_backend().raw_sql(f"EXPLAIN {question}").fetchall()
    assert "PERFECT_HASH_GROUP_BY" in str(plan)
