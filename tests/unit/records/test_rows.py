"""Rows of several columns and counts of their combinations, from every kind of table, against slow ones."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.queries import Cells, RowValues
from ogive.records import Records, sources
from ogive.records.imagined import BinormalShape, Repeated

AGE = Binning("age", Grid.linear(0, 100, bins=5))
STARS = Binning("stars", Grid.integers(1, 5))
CITY = Categories("city", ("bern", "genf", "basel"))
ILL = Label("ill", ("yes",), ("no",))
DOMAIN = Domain((AGE, CITY, ILL, STARS))
SECRET = "424242"


def a_table(size=1_000, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "name": [f"p{i}" for i in range(size)],
        "ill": rng.choice(["yes", "no"], size).tolist(),
        "age": rng.uniform(-10, 120, size).round(3),
        "stars": rng.integers(1, 6, size),
        "city": rng.choice(CITY.values, size).tolist(),
    }


def slow_rows(table):
    """One row at a time."""
    return [
        [
            min(max(float(age), 0.0), 100.0),
            float(CITY.values.index(city)),
            float(ill == "yes"),
            float(stars),
        ]
        for age, city, ill, stars in zip(table["age"], table["city"], table["ill"], table["stars"], strict=True)
    ]


def slow_cells(rows):
    """One row at a time, each a place among all combinations in order."""
    order = list(itertools.product(range(5), range(3), range(2), range(5)))
    counts = [0] * len(order)
    for age, city, ill, stars in rows:
        counts[order.index((max(0, math.ceil(age / 20) - 1), int(city), int(ill), int(stars) - 1))] += 1
    return counts


def as_csv(table, path):
    pd.DataFrame(table).to_csv(path / "t.csv", index=False)
    return path / "t.csv"


def as_parquet(table, path):
    pq.write_table(pa.table(table), path / "t.parquet", row_group_size=300)
    return path / "t.parquet"


def as_arrow(table, path):
    arrow = pa.table(table)
    with pa.ipc.new_file(path / "t.arrow", arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=100)
    return path / "t.arrow"


KINDS = {
    "dict": lambda table, path: table,
    "pandas": lambda table, path: pd.DataFrame(table),
    "polars": lambda table, path: pl.DataFrame(table),
    "pandas_categories": lambda table, path: pd.DataFrame(table).astype({"city": "category", "ill": "category"}),
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_its_rows_and_their_counts(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 128)
    table = a_table()
    records = Records.of(KINDS[kind](table, tmp_path))
    rows = RowValues(DOMAIN)
    found = records.aggregate(rows)
    assert found.dtype == np.int64
    assert rows.values(found).tolist() == slow_rows(table)  # in the order of the table
    assert records.aggregate(Cells(DOMAIN)).tolist() == slow_cells(slow_rows(table))


@given(st.lists(st.tuples(st.floats(-5, 105), st.integers(0, 2)), min_size=1, max_size=40), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_cells_count_the_symbols_of_the_rows(pairs, bins):
    domain = Domain((Binning("x", Grid.linear(0, 100, bins=bins)), Categories("c", (0, 1, 2))))
    records = Records.of({"x": [x for x, _ in pairs], "c": [c for _, c in pairs]})
    rows = RowValues(domain)
    symbols = domain.symbols(rows.values(records.aggregate(rows)))
    assert np.bincount(symbols, minlength=domain.size).tolist() == records.aggregate(Cells(domain)).tolist()


def test_both_zeros_are_one_number():
    rows = RowValues(Domain((Binning("x", Grid.linear(-1, 1, bins=2)),)))
    found = Records.of({"x": [0.0, -0.0]}).aggregate(rows)
    assert found[0] == found[1]


def test_infinite_values_are_at_the_bounds():
    rows = RowValues(Domain((AGE,)))
    found = rows.values(Records.of({"age": [math.inf, -math.inf]}).aggregate(rows))
    assert found.tolist() == [[100.0], [0.0]]


@pytest.mark.parametrize(("missing", "number"), [("low", 0.0), ("high", 100.0)])
def test_missing_values_are_at_the_bound_that_was_named(missing, number):
    domain = Domain((Binning("age", AGE.grid, missing),))
    rows = RowValues(domain)
    records = Records.of({"age": [None, 50.0, math.nan]})
    assert rows.values(records.aggregate(rows)).ravel().tolist() == [number, 50.0, number]
    assert records.aggregate(Cells(domain)).tolist() == [
        (missing == "low") * 2,
        0,
        1,
        0,
        (missing == "high") * 2,
    ]


def test_rows_with_a_missing_value_that_is_dropped_are_left_out_whole():
    domain = Domain((Binning("age", AGE.grid, "drop"), STARS))
    rows = RowValues(domain)
    records = Records.of({"age": [None, 50.0], "stars": [3, 4]})
    assert rows.values(records.aggregate(rows)).tolist() == [[50.0, 4.0]]
    assert records.aggregate(Cells(domain)).sum() == 1


REFUSED = [
    (AGE, {"age": [1.0, None]}, "column 'age' has missing values"),
    (
        Binning("age", AGE.grid, outside="refuse"),
        {"age": [1.0, 424242.0]},
        "column 'age' has values outside 0 to 100; widen the bounds, or",
    ),
    (
        Binning("age", Grid.linear(0, 1, bins=2), outside="refuse"),
        {"age": [424242.0]},
        "column 'age' has values outside 0 to 1; widen",
    ),
    (
        CITY,
        {"city": ["bern", SECRET]},
        "column 'city' has a value that is not among its categories; list all public categories",
    ),
    (CITY, {"city": ["bern", None]}, "column 'city' has missing values; every record needs a category"),
    (CITY, {"city": [1, 2]}, "column 'city' holds numbers, but its categories are texts; write them as numbers"),
    (
        CITY,
        {"city": np.array(["2024-01-01"], dtype="datetime64[D]")},
        "column 'city' holds dates, but categories are numbers, truth values or texts",
    ),
    (ILL, {"ill": ["yes", SECRET]}, "holds text of neither class"),
    (ILL, {"ill": ["yes", None]}, "has missing values; every record needs a class"),
    (AGE, {"age": ["a", SECRET]}, "column 'age' holds text, but numbers or dates are needed"),
    (STARS, {"age": [1.0]}, "no column 'stars'"),
]


@pytest.mark.parametrize("aggregate", [Cells, RowValues])
@pytest.mark.parametrize(("column", "table", "message"), REFUSED)
def test_what_a_column_may_not_hold_is_refused_in_one_line_that_shows_no_record(aggregate, column, table, message):
    with pytest.raises(DataError, match=re.escape(message)) as refused:
        Records.of(table).aggregate(aggregate(Domain((column,))))
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_category_that_was_not_declared_is_seen_in_a_later_batch(monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 2)
    with pytest.raises(DataError, match="not among its categories"):
        Records.of({"city": ["bern", "genf", "basel", "chur"]}).aggregate(Cells(Domain((CITY,))))
    shown = Records.of({"city": ["bern", "genf", "basel", "genf"]}).aggregate(Cells(Domain((CITY,))))
    assert shown.tolist() == [1, 2, 1]


def test_numbers_are_categories_however_they_are_written(tmp_path):
    domain = Domain((Categories("c", (2, True, 0.5)),))
    (tmp_path / "t.csv").write_text("c\n2\n1\n0.5\n2.0\n")
    for data in (tmp_path / "t.csv", {"c": [2, 1, 0.5, 2.0]}):
        rows = RowValues(domain)
        assert rows.values(Records.of(data).aggregate(rows)).ravel().tolist() == [0, 1, 2, 0]


def test_more_categories_than_sixteen_bits_hold():
    size = 70_000
    domain = Domain((Categories("c", tuple(range(size))),))
    found = Records.of({"c": np.arange(size)[::-1].copy()}).aggregate(Cells(domain))
    assert found.tolist() == [1] * size


@given(st.permutations(range(12)), st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_the_rows_kept_of_a_person_do_not_depend_on_their_order(order, limit):
    table = {
        "person": [row // 4 for row in range(12)],
        "age": [7.0, 7.0, 30.0, 90.0] * 3,
        "stars": [1, 2, 2, 3] * 3,
        "city": ["bern", "genf", "bern", "basel"] * 3,
    }
    domain = Domain((AGE, STARS, CITY))
    cells = Records.of(table).bounded("person", limit).aggregate(Cells(domain))
    shuffled = {name: [column[row] for row in order] for name, column in table.items()}
    bounded = Records.of(shuffled).bounded("person", limit)
    assert bounded.aggregate(Cells(domain)).tolist() == cells.tolist()
    rows = RowValues(domain)
    assert len(bounded.aggregate(rows)) == 3 * limit


def test_cells_of_many_symbols_take_a_batch_at_a_time():
    domain = Domain((Binning("x", Grid.linear(0, 1, bins=1 << 12)), Binning("y", Grid.linear(0, 1, bins=1 << 10))))
    rng = np.random.default_rng(1)
    table = {"x": rng.random(300_000), "y": rng.random(300_000)}
    found = Records.of(table).aggregate(Cells(domain))
    joint = domain.symbols(np.stack([table["x"], table["y"]], axis=1))
    assert np.array_equal(found, np.bincount(joint, minlength=domain.size))


@pytest.mark.parametrize("domain", [Domain((AGE, STARS)), DOMAIN, Domain((CITY,))], ids=["numbers", "all", "city"])
def test_imagined_rows_are_as_many_as_wished_and_counted_alike(domain):
    shape = BinormalShape(40_000)
    rows = RowValues(domain)
    found = rows.values(shape.sums(rows))
    assert len(found) == 40_000
    assert np.bincount(domain.symbols(found), minlength=domain.size).tolist() == shape.sums(Cells(domain)).tolist()


def test_imagined_columns_without_classes_are_independent_and_even():
    counts = BinormalShape(1 << 14).sums(Cells(Domain((AGE, STARS)))).reshape(5, 5)
    assert np.all(np.abs(counts / (1 << 14) - 1 / 25) < 0.005)


def test_imagined_scores_with_a_label_have_the_area_that_was_asked_for():
    score = Binning("score", Grid.linear(0, 1, bins=512))
    counts = BinormalShape(1 << 15, auc=0.8).sums(Cells(Domain((score, ILL)))).reshape(512, 2)
    negatives, positives = counts[:, 0], counts[:, 1]
    below = np.concatenate([[0], np.cumsum(negatives)[:-1]])
    area = float(positives @ (below + negatives / 2)) / (negatives.sum() * positives.sum())
    assert abs(area - 0.8) < 0.003
    assert abs(positives.sum() / counts.sum() - 0.3) < 0.001


def test_rows_that_were_given_as_like_are_repeated():
    table = a_table(10)
    rows = RowValues(DOMAIN)
    shape = Repeated(table, 25)
    found = rows.values(shape.sums(rows)).tolist()
    exact = slow_rows(table)
    assert len(found) == 25
    assert sorted(found[:20]) == sorted(exact * 2)
    assert all(row in exact for row in found[20:])
    assert shape.sums(Cells(DOMAIN)).tolist() == slow_cells(found)


WHOLE = Binning("stars", Grid.integers(1, 5), fractions="refuse")


@pytest.mark.parametrize("aggregate", [Cells, RowValues])
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_whole_numbers_refuses_others_without_quoting_them(kind, aggregate, tmp_path):
    table = a_table(300)
    whole = aggregate(Domain((WHOLE,)))
    kept = Records.of(KINDS[kind](table, tmp_path)).aggregate(whole)
    assert kept.tolist() == Records.of(table).aggregate(aggregate(Domain((STARS,)))).tolist()
    table["stars"] = table["stars"].astype(float)
    table["stars"][299] = 2.424242
    with pytest.raises(DataError, match=r"^column 'stars' .*that are not whole, .*use grid='linear'$") as caught:
        Records.of(KINDS[kind](table, tmp_path)).aggregate(whole)
    assert "2.42" not in str(caught.value)
    Records.of(table).aggregate(aggregate(Domain((STARS,))))  # the control: elsewhere a fraction is counted


def test_infinite_and_missing_values_are_no_fractions():
    column = Binning("stars", WHOLE.grid, missing="low", fractions="refuse")
    rows = RowValues(Domain((column,)))
    found = rows.values(Records.of({"stars": [math.inf, -math.inf, math.nan, 3.0]}).aggregate(rows))
    assert found.ravel().tolist() == [5, 1, 1, 3]


def test_missing_values_of_rows_are_not_said_to_be_droppable():
    with pytest.raises(DataError, match=r"missing='low', 'high' or a public value within the bounds$"):
        Records.of({"stars": [1.0, math.nan]}).aggregate(Cells(Domain((STARS,))))
