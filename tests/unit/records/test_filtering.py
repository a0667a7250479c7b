"""One condition means one thing in every container, also of missing values; a slow oracle reads row by row."""

import datetime
import math
import operator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.columns.predicates import All, Among, Comparison, Either, Missing, Not, predicate
from ogive.errors import DataError
from ogive.queries import Parted, RowValues, Selected
from ogive.records import Records, parts

ROWS = 200
BINNING = Binning("age", Grid.integers(0, 9), missing="low")


def table():
    rng = np.random.default_rng(3)
    wards = rng.choice(["A", "B", "C d"], ROWS).tolist()
    return {
        "age": rng.integers(0, 10, ROWS).astype(float).tolist(),
        "ward": [None if rng.random() < 0.1 else ward for ward in wards],
        "pressure": [None if rng.random() < 0.2 else float(x) for x in rng.integers(90, 99, ROWS)],
        "smoker": (rng.random(ROWS) < 0.5).tolist(),
        "day": [datetime.date(2024, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 60, ROWS)],
    }


TABLE = table()
CONDITIONS = [
    "ward == 'A'",
    "ward != 'A'",
    "ward in ('A', 'C d')",
    "ward not in ('A', 'C d')",
    "not ward == 'A'",
    "pressure >= 95",
    "pressure < 95",
    "not pressure >= 95",
    "pressure is missing",
    "pressure is not missing and age > 3",
    "smoker == true and (age <= 2 or ward == 'B')",
    "smoker == 1",
    "day >= '2024-02-01'",
    "day == '2024-01-05' or day in ('2024-01-06', '2024-01-07')",
    "age > 100",
]


def holds(where, row):
    """The oracle: Python's own comparisons of one row, false where a value is missing."""
    if isinstance(where, All):
        return all(holds(part, row) for part in where.parts)
    if isinstance(where, Either):
        return any(holds(part, row) for part in where.parts)
    if isinstance(where, Not):
        return not holds(where.part, row)
    value = row[where.column]
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    if isinstance(where, Missing):
        return missing
    if missing:
        return False
    value = value.isoformat() if isinstance(value, datetime.date) else value
    if isinstance(where, Among):
        return value in where.values
    compare = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    assert isinstance(where, Comparison)
    return getattr(value, compare[where.sign])(where.value)


def as_text(value):
    return "" if value is None else (str(value).lower() if isinstance(value, bool) else str(value))


@pytest.fixture(scope="module")
def containers(tmp_path_factory):
    """The same table in every form."""
    folder = tmp_path_factory.mktemp("containers")
    frame = pa.table(TABLE)
    csv, parquet, arrow = folder / "t.csv", folder / "t.parquet", folder / "t.arrow"
    lines = [",".join(map(as_text, row)) for row in zip(*TABLE.values(), strict=True)]
    csv.write_text(",".join(TABLE) + "\n" + "\n".join(lines) + "\n", encoding="utf-8")
    pq.write_table(frame, parquet)
    with pa.ipc.new_file(str(arrow), frame.schema) as writer:
        writer.write_table(frame)
    categories = pd.DataFrame(TABLE).astype({"ward": "category"})
    return {
        "dict": TABLE,
        "pandas": pd.DataFrame(TABLE),
        "categories": categories.assign(day=pd.Series(TABLE["day"])),
        "polars": pl.DataFrame(TABLE),
        "csv": csv,
        "parquet": parquet,
        "arrow": arrow,
    }


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_means_the_same_in_every_container(text, containers):
    where = predicate(text)
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    chosen = [row for row in rows if holds(where, row)]
    expected = np.bincount([int(row["age"]) for row in chosen], minlength=10)
    for name, data in containers.items():
        found = Records.of(data).aggregate(Selected(BINNING, where))
        assert np.array_equal(found, expected), name


def test_the_condition_comes_before_what_is_refused_of_a_value():
    data = {"age": [1.0, None, 3.0], "ward": ["A", "B", "A"]}
    strict = Binning("age", Grid.integers(0, 9))
    assert Records.of(data).aggregate(Selected(strict, predicate("ward == 'A'"))).sum() == 2
    with pytest.raises(DataError, match="missing"):
        Records.of(data).aggregate(Selected(strict, predicate("ward == 'B'")))


def test_rows_of_a_person_are_chosen_among_those_that_satisfy_the_condition():
    data = {"who": [1] * 6 + [2] * 2, "age": [0.0, 1, 2, 3, 4, 5, 6, 7], "year": [1, 1, 1, 1, 1, 2, 1, 1]}
    bounded = Records.of(data).bounded("who", 1)
    found = bounded.aggregate(Selected(BINNING, predicate("year == 2")))
    assert found.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0], "the one row of that year is kept, whatever else there is"
    assert bounded.aggregate(Selected(BINNING, predicate("year == 1"))).sum() == 2
    assert bounded.aggregate(Selected(BINNING, predicate("year == 3"))).sum() == 0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ward == 3", "holds text, so where compares it with text, such as '3'"),
        ("ward < 'A'", "which where compares with == and != and in alone"),
        ("age == 'x'", "holds numbers, so where compares it with numbers, not with 'x'"),
        ("day > 3", "a date such as '2024-12-31'"),
        ("day > 'May'", "a date such as '2024-12-31'"),
        ("wart == 'A'", "no column 'wart'; did you mean 'ward'"),
    ],
)
def test_a_column_of_another_kind_is_refused_in_one_line(text, wanted):
    with pytest.raises(DataError) as refused:
        Records.of(TABLE).aggregate(Selected(BINNING, predicate(text)))
    assert wanted in str(refused.value)


def test_the_person_column_cannot_be_compared():
    with pytest.raises(DataError, match="identifies the person"):
        Records.of({"who": [1, 2], "age": [1.0, 2.0]}).bounded("who", 1).aggregate(
            Selected(BINNING, predicate("who == 1"))
        )


def test_a_column_without_values_satisfies_no_comparison():
    data = {"age": [1.0, 2.0], "x": [None, None]}
    assert Records.of(data).aggregate(Selected(BINNING, predicate("x == 1"))).sum() == 0
    assert Records.of(data).aggregate(Selected(BINNING, predicate("x is missing"))).sum() == 2


def test_sums_of_groups_are_those_of_each_group_alone():
    found = Records.of(TABLE).aggregate(Parted((BINNING, BINNING), "smoker", (False, True)))
    for smoker, part in zip((False, True), found.reshape(2, 10), strict=True):
        alone = Records.of(TABLE).aggregate(Selected(BINNING, predicate({"smoker": smoker})))
        assert np.array_equal(part, alone)
    with pytest.raises(DataError, match="not declared"):
        Records.of(TABLE).aggregate(Parted((BINNING, BINNING), "age", (1, 2)))
    with pytest.raises(Exception, match="the records themselves"):
        Parted((RowValues(None),) * 2, "smoker", (False, True))


EDGE = 1 << 53
ONES = np.ones(5)
NEAR = [EDGE - 1, EDGE, EDGE + 1, EDGE + 2, EDGE + 3]


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("kind", "turned"), [(np.int64, 1), (np.int64, -1), (np.uint64, 1), (np.float64, 1), (np.float64, -1)]
)
def test_whole_numbers_beyond_what_floats_tell_apart_compare_exactly(sign, kind, turned):
    exact = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
    cells = np.array([turned * value for value in NEAR], dtype=kind)
    for value in NEAR:
        condition = predicate(f"x {sign} {turned * value}")
        wanted = [getattr(operator, exact[sign])(int(cell), turned * value) for cell in cells]
        assert parts.holds(condition, {"x": pa.array(cells)}, len(cells)).tolist() == wanted


@pytest.mark.parametrize(
    "kept",
    [
        lambda folder: {"x": np.array([-9, 1, 2, -9, 5]), "y": ONES},
        lambda folder: {"x": np.array([-9.0, 1, 2, np.nan, 5]), "y": ONES},
        lambda folder: {"x": pa.array([-9, 1, 2, None, 5]), "y": ONES},
        lambda folder: (folder / "x.csv").write_text("x,y\n-9,1\n1,1\n2,1\n-9.0,1\n5,1\n") and folder / "x.csv",
    ],
    ids=["whole", "float", "arrow", "csv"],
)
def test_a_number_that_means_missing_is_missing_in_conditions(kept, tmp_path):
    data = kept(tmp_path)
    data = pa.table(data) if isinstance(data, dict) else data
    ones = Binning("y", Grid.integers(0, 2))

    def rows(text, **words):
        return Records.of(data, **words).aggregate(Selected(ones, predicate(text))).sum()

    for text, wanted in [("x is missing", 2), ("x < 3", 2), ("x != -9", 3), ("not x is missing", 3)]:
        assert rows(text, na_values=[-9]) == wanted, text
    with pytest.raises(DataError, match="-9 means a missing value"):
        rows("x == -9", na_values=[-9])
    assert rows("x == -9") > 0
    assert rows("x < 3") > 2
