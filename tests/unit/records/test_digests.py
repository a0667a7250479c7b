"""Digests of tables: the same for the same data, another for every change."""

import datetime
import hashlib
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import DataError
from ogive.records import Records, sources

TABLE = {
    "x": [1.5, float("nan"), None, -0.0],
    "n": [1, 2, None, 4],
    "t": ["a", "", None, "bc"],
    "d": [datetime.date(2024, 1, 1), None, None, datetime.date(1970, 1, 1)],
    "b": [True, None, False, True],
    "nested": [[1], None, [], [2, 3]],
}


def digest(table):
    return Records.of(table).digest()


def test_the_same_contents_have_the_same_digest_however_they_are_laid_out(monkeypatch):
    arrow = pa.table(TABLE)
    expected = digest(arrow)
    assert len(expected) == 32
    longer = pa.concat_tables([arrow.slice(0, 1), arrow, arrow.slice(2)])
    layouts = {
        "dict": TABLE,
        "chunks": pa.concat_tables([arrow.slice(0, 1), arrow.slice(1, 0), arrow.slice(1)]),
        "slice": longer.slice(1, 4),
        "codes": arrow.set_column(2, "t", arrow["t"].dictionary_encode()),
        "large_text": arrow.set_column(2, "t", arrow["t"].cast(pa.large_string())),
        "views": arrow.set_column(2, "t", arrow["t"].cast(pa.string_view())),
    }
    for name, data in layouts.items():
        assert digest(data) == expected, name
    blocks = digest({"x": np.arange(1000)})
    assert digest(pa.table({"x": pa.chunked_array([np.arange(7), np.arange(7, 1000)])})) == blocks
    monkeypatch.setattr(sources, "BLOCK_ROWS", 10)
    assert digest({"x": np.arange(1000)}) != blocks  # so the block's size is part of the definition


def test_frames_of_every_library_have_one_digest():
    table = {"x": [1.5, 2.5], "n": [1, 2], "t": ["a", "bc"]}
    expected = digest(table)
    assert digest(pd.DataFrame(table)) == expected
    assert digest(pl.DataFrame(table)) == expected
    assert digest({**table, "x": np.array([0, 1.5, 0, 2.5])[1::2]}) == expected
    assert digest({**table, "x": np.array([1.5, 2.5]).astype(">f8")}) == expected
    assert digest(Records.of(table).bounded("n", 1)) == expected


CHANGES = {
    "value": ("x", [1.5, float("nan"), None, 1.0]),
    "sign_of_zero": ("x", [1.5, float("nan"), None, 0.0]),
    "present": ("x", [1.5, float("nan"), float("nan"), -0.0]),
    "missing_number": ("n", [1, 2, 0, 4]),
    "width": ("n", pa.array([1, 2, None, 4], pa.int32())),
    "kind": ("n", [1.0, 2.0, None, 4.0]),
    "letter": ("t", ["a", "", None, "bd"]),
    "border": ("t", ["ab", "", None, "c"]),
    "empty_text": ("t", ["a", "", "", "bc"]),
    "day": ("d", [datetime.date(2024, 1, 2), None, None, datetime.date(1970, 1, 1)]),
    "truth": ("b", [True, None, True, True]),
    "nested": ("nested", [[1], None, [], [2, 4]]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_cell_changes_the_digest(change):
    column, values = CHANGES[change]
    assert digest({**TABLE, column: values}) != digest(TABLE)


def test_names_order_and_rows_change_the_digest():
    seen = {
        digest(table)
        for table in (
            {"x": [1, 2], "y": [3, 4]},
            {"x": [1, 2], "z": [3, 4]},
            {"y": [3, 4], "x": [1, 2]},
            {"x": [2, 1], "y": [4, 3]},
            {"x": [1, 2, 2], "y": [3, 4, 4]},
            {"x": [1, 2]},
        )
    }
    assert len(seen) == 6


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.floats() | st.none(), min_size=1, max_size=8), data=st.data())
def test_two_columns_of_numbers_have_one_digest_only_if_they_are_equal(values, data):
    other = data.draw(st.permutations(values))

    def plain(xs):
        return [None if x is None else "nan" if math.isnan(x) else (x, math.copysign(1, x)) for x in xs]

    one, two = ({"x": pa.array(xs, pa.float64())} for xs in (values, other))
    assert (digest(one) == digest(two)) == (plain(values) == plain(other))


def test_a_file_is_its_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "READ_BYTES", 16)
    content = b"age,b\n" + b"15,1\n" * 100
    one, two, other = (tmp_path / name for name in ("one.csv", "two.csv", "other.csv"))
    one.write_bytes(content)
    two.write_bytes(content)
    other.write_bytes(content[:-2] + b"2\n")
    assert digest(one) == digest(two) == hashlib.sha256(b"ogive file 1\n" + content).digest()
    assert digest(one) != digest(other)
    records = Records.of(one)
    one.write_bytes(content + b"15,1\n")
    assert records.digest() != digest(two)
    one.unlink()
    with pytest.raises(DataError, match="cannot be read: no such file"):
        records.digest()
