"""Tables in memory: what is taken, what is refused, and in which words."""

import datetime
import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.datasets import data_directory
from ogive.errors import DataError
from ogive.records import Records

GRID = Grid.explicit([1, 2, 3])
X = Binning("x", GRID)
COUNTS = [1, 0, 2]

TABLES = {
    "pandas": pd.DataFrame({"x": [0.5, 3, 9], "y": ["a", "b", "c"]}),
    "pandas_nullable": pd.DataFrame({"x": pd.array([1, 3, 9], dtype="Int64")}),
    "pandas_categories": pd.DataFrame({"x": pd.Categorical([1, 3, 3])}),
    "pandas_decimals": pd.DataFrame({"x": [decimal.Decimal("0.5"), decimal.Decimal(3), decimal.Decimal(4)]}),
    "polars": pl.DataFrame({"x": [0.5, 3, 9]}),
    "polars_small": pl.DataFrame({"x": pl.Series([1, 3, 9], dtype=pl.UInt8)}),
    "arrow": pa.table({"x": [0.5, 3, 9]}),
    "arrow_chunks": pa.table({"x": pa.chunked_array([[0.5], [], [3.0, 9.0]])}),
    "dict_of_list": {"x": [0.5, 3, 9]},
    "dict_of_tuple": {"x": (0.5, 3, 9)},
    "dict_of_array": {"x": np.array([0.5, 3, 9]), "y": np.array(["a", "b", "c"])},
    "dict_of_series": {"x": pd.Series([0.5, 3, 9])},
    "dict_of_range": {"x": range(1, 8, 3)},
    "strided": {"x": np.array([0.5, -1, 3, -1, 9, -1])[::2]},
    "half": {"x": np.array([0.5, 3, 9], dtype=np.float16)},
    "swapped": {"x": np.array([0.5, 3, 9]).astype(np.dtype(np.float64).newbyteorder())},
    "swapped_whole": {"x": np.array([1, 3, 9]).astype(np.dtype(np.int32).newbyteorder())},
    "swapped_frame": pd.DataFrame({"x": np.array([0.5, 3, 9]).astype(np.dtype(np.float64).newbyteorder())}),
    "long": {"x": np.array([0.5, 3, "1e4000"], dtype=np.longdouble)},
    "long_frame": pd.DataFrame({"x": np.array([0.5, 3, 9], dtype=np.longdouble)}),
    "huge": {"x": [-(2**70), 3, 2**64]},
    "huge_and_fraction": {"x": [0.5, 3, 2**60]},
    "huge_beyond_floats": {"x": [-(10**400), 3, 10**400]},
    "huge_array": {"x": np.array([1, 3, 2**64], dtype=object)},
    "huge_frame": pd.DataFrame({"x": [1, 3, 2**64]}),
    "masked_swapped": {"x": np.ma.MaskedArray(np.array([0.5, 3, 9], dtype=">f8"), mask=[False, False, False])},
    "masked": {"x": np.ma.MaskedArray([0.5, 3.0, 9.0], mask=[False, False, False])},
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_gives_the_same_counts(name):
    records = Records.of(TABLES[name])
    assert records.histogram(X).tolist() == COUNTS
    assert records.size == 3
    assert records.columns[0] == "x"


ONE_COLUMN = {
    "list": [0.5, 3, 9],
    "array": np.array([0.5, 3, 9]),
    "pandas": pd.Series([0.5, 3, 9]),
    "polars": pl.Series([0.5, 3, 9]),
    "arrow": pa.array([0.5, 3, 9]),
    "range": range(1, 8, 3),
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_one_column_gets_the_name_it_is_given(name):
    records = Records.of(ONE_COLUMN[name], column="x")
    assert records.columns == ("x",)
    assert records.histogram(X).tolist() == COUNTS
    assert Records.of(ONE_COLUMN[name]).columns == ("value",)


def test_opened_records_are_taken_as_they_are():
    records = Records.of([1, 2])
    assert Records.of(records) is records


def test_a_histogram_may_be_changed_without_changing_the_next():
    records = Records.of({"x": [1, 2]})
    records.histogram(X)[:] = 7
    assert records.histogram(X).tolist() == [1, 1, 0]


def test_one_row_and_equal_rows_are_counted():
    assert Records.of({"x": [2]}).histogram(X).tolist() == [0, 1, 0]
    assert Records.of({"x": [2] * 50}).histogram(X).tolist() == [0, 50, 0]


def test_dropping_every_row_leaves_empty_bins():
    assert Records.of({"x": [None, float("nan")]}).histogram(Binning("x", GRID, "drop")).tolist() == [0, 0, 0]


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns", "2D"])
def test_numpy_times_of_every_unit_are_read(unit):
    days = np.array(["2024-01-01", "2024-01-03"], dtype="datetime64[D]")
    values = days.astype(f"datetime64[{unit}]")
    kind = datetime.date if unit == "D" else datetime.datetime
    ends = [kind(2024, 1, 1), kind(2024, 1, 2), kind(2024, 1, 4)]
    expected = np.searchsorted(np.array(ends, dtype="datetime64[us]"), values.astype("datetime64[us]"))
    counts = Records.of({"t": values}).histogram(Binning("t", Grid.explicit(ends)))
    assert counts.tolist() == np.bincount(expected, minlength=3).tolist()


def test_numpy_times_of_another_byte_order_are_read():
    days = np.array(["2024-01-01", "2024-01-03"], dtype="datetime64[D]")
    swapped = days.astype(days.dtype.newbyteorder())
    binning = Binning("t", Grid.explicit(["2024-01-01", "2024-01-02", "2024-01-03"]))
    assert Records.of({"t": swapped}).histogram(binning).tolist() == [1, 0, 1]


def test_huge_whole_numbers_are_read_as_their_nearest_floats():
    values = [2**64 + 2**11, 2**64 + 2**11 + 1, 2**70]
    grid = Grid.explicit([2.0**64, 2.0**64 + 2.0**12, 2.0**71])
    assert Records.of({"x": values}).histogram(Binning("x", grid)).tolist() == [1, 1, 1]
    assert [float(value) for value in values] == [2.0**64, 2.0**64 + 2.0**12, 2.0**70]


DATE_GRID = Grid.linear("2024-01-01", "2024-02-01", bins=3)
TIME_GRID = Grid.linear("2024-01-01T00:00", "2024-02-01T00:00", bins=3)
DAY, TIME = datetime.date(2024, 1, 5), datetime.datetime(2024, 1, 5, 12)

REFUSED = {
    "no_such_column": ({"y": [1]}, X, "the data has no column 'x'; it has 'y'"),
    "near_column": ({"Xs": [1], "y": [1]}, Binning("xs", GRID), "did you mean 'Xs'? it has 'Xs', 'y'"),
    "many_columns": ({f"a{i}": [1] for i in range(40)}, X, "'a29', ..."),
    "text": ({"x": ["a"]}, X, "column 'x' holds text, but numbers or dates are needed"),
    "nothing": ({"x": [None]}, X, "holds no values at all"),
    "nested": ({"x": [[1], [2]]}, X, "holds values of type list"),
    "complex": ({"x": np.array([1j])}, X, "it mixes kinds"),
    "mixed": ({"x": [1, "a"]}, X, "must hold values of one kind"),
    "truth_among_numbers": ({"x": [True, 2**70]}, X, "must hold values of one kind"),
    "text_among_huge": ({"x": [2**70, "424242"]}, X, "must hold values of one kind"),
    "missing_among_huge": ({"x": [2**70, None]}, X, "has missing values"),
    "two_dimensions": ({"x": np.ones((2, 2))}, X, "one-dimensional, got an array of shape (2, 2)"),
    "no_rows": ({"x": []}, X, "the data has no rows"),
    "no_columns": ({}, X, "the data has no rows"),
    "uneven": ({"x": [1], "y": [1, 2]}, X, "must have one length"),
    "missing": ({"x": [1, None]}, X, "column 'x' has missing values; choose their treatment with missing="),
    "not_a_number": ({"x": np.array([1, np.nan])}, X, "has missing values"),
    "dates_for_numbers": ({"x": [DAY]}, X, "holds dates, but the bounds are numbers"),
    "times_for_numbers": ({"x": [TIME]}, X, "holds times, but the bounds are numbers"),
    "numbers_for_dates": ({"x": [1]}, Binning("x", DATE_GRID), "holds numbers, but the bounds are dates"),
    "numbers_for_times": ({"x": [1]}, Binning("x", TIME_GRID), "holds numbers, but the bounds are times"),
    "times_of_a_zone_for_dates": (
        {"x": pa.array([TIME], pa.timestamp("us", "Europe/Paris"))},
        Binning("x", DATE_GRID),
        "in the zone Europe/Paris, whose days are not those of UTC; take the zone away",
    ),
    "lazy": (pl.LazyFrame({"x": [1]}), X, "the data frame is lazy; collect it first"),
    "relation": (duckdb.sql("SELECT 1 AS x"), X, "give relation.to_arrow_table(), or the address of a table in a file"),
    "reader": (pa.table({"x": [1]}).to_reader(), X, "give reader.read_all(), which is a table"),
    "same_names": (pd.DataFrame([[1, 2]], columns=["x", "x"]), X, "two columns of the data frame have the same name"),
    "same_names_arrow": (pa.Table.from_arrays([[1], [2]], names=["x", "x"]), X, "have the same name"),
    "object_frame": (pd.DataFrame({"x": [1, "a"]}), X, "must hold values of one kind"),
    "number": (5, X, "records must be a path, a data frame, a dict of columns or a sequence of numbers, got int"),
    "bytes": (b"123", X, "got bytes"),
    "nothing_at_all": (None, X, "got NoneType"),
    "iterator": (iter([1, 2]), X, "got list_iterator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_records_are_refused_in_one_line(name):
    data, binning, words = REFUSED[name]
    with pytest.raises(DataError) as caught:
        Records.of(data).histogram(binning)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_folder_of_public_data_is_the_one_named(tmp_path, monkeypatch):
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path / "none"))
    with pytest.raises(DataError, match="which is not a folder; set OGIVE_DATA"):
        data_directory()


@pytest.mark.parametrize(
    "values", [5, 0.5, None, {1.0, 2.0}, "12", b"12", (n for n in range(3))], ids=lambda values: type(values).__name__
)
def test_a_column_that_is_no_sequence_is_refused_in_one_line(values):
    with pytest.raises(DataError, match="column 'x' must be a sequence of values"):
        Records.of({"x": values})
