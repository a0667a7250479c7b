"""Labels that a column of an engine takes for one, or that are written alike, are told apart as those of files are."""

import decimal
import itertools

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import postgres
from helpers.engines import ENGINES, address
from helpers.scope import is_everything

import ogive
from ogive.columns import Binning, Listed, OpenCategories
from ogive.columns.grids import Grid
from ogive.columns.predicates import predicate
from ogive.errors import DataError
from ogive.queries import Cells, GroupBinning, Parted, Selected, ValueCounts
from ogive.records import Records
from ogive.records.engines.table import EngineTable

X = Binning("x", Grid.integers(0, 3), "drop")
WORDS = ["a", "A", "a", "á", "b", "B", "A", "b"]
ASKED = {
    "groups": GroupBinning(X, "g", ("a", "A", "á", "b", "B")),
    "values": ValueCounts(OpenCategories("g")),
    "parted": Parted((X,) * 5, "g", ("A", "a", "á", "b", "B")),
    "some": Selected(X, predicate("g == 'A'")),
    "among": Selected(X, predicate("g in ('A', 'b')")),
    "others": Selected(X, predicate("g != 'A'")),
}


def duckdb_table(folder, collation, rows):
    path = folder / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (x DOUBLE, g VARCHAR {collation}, p VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return f"duckdb:///{path}?table=t"


def postgresql_table(kind, rows, before=""):
    url = postgres.server().database()
    with psycopg.connect(url) as connection:
        if before:
            connection.execute(before)
        connection.execute(f"CREATE TABLE t (x double precision, g {kind}, p text)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", rows)
    return f"{url}?table=t"


PLACES = {
    "duckdb nocase": lambda folder, rows: duckdb_table(folder, "COLLATE NOCASE", rows),
    "duckdb noaccent": lambda folder, rows: duckdb_table(folder, "COLLATE NOACCENT", rows),
    "duckdb": lambda folder, rows: duckdb_table(folder, "", rows),
    "citext": lambda folder, rows: postgresql_table("citext", rows, "CREATE EXTENSION citext"),
    "icu": lambda folder, rows: postgresql_table(
        "text COLLATE anycase",
        rows,
        "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    ),
}


@pytest.mark.each_value
@pytest.mark.parametrize("person", [None, "p"])
@pytest.mark.parametrize("place", PLACES)
def test_spellings_are_labels_of_their_own(place, person, tmp_path):
    rows = [(number % 4, word, f"{number // 5}") for number, word in enumerate(WORDS * 5)]
    columns = list(zip(*rows, strict=True))
    table = pa.table({
        "x": pa.array(columns[0], pa.float64()), "g": pa.array(columns[1], pa.string()), "p": pa.array(columns[2]),
    })  # fmt: skip
    found, file = Records.of(PLACES[place](tmp_path, rows)), Records.of(table)
    if person is not None:
        found, file = (each.bounded("p", 2, "md5") for each in (found, file))
    for name, asked in ASKED.items():
        np.testing.assert_array_equal(found.aggregate(asked), file.aggregate(asked), err_msg=name)


def test_one_row_more_of_another_spelling_moves_one_count(tmp_path):
    asked, counts = ASKED["groups"], []
    for number, rows in enumerate(([(1.0, "a", "p")] * 10, [(1.0, "A", "p"), *[(1.0, "a", "p")] * 10])):
        (tmp_path / str(number)).mkdir()
        counts.append(Records.of(duckdb_table(tmp_path / str(number), "COLLATE NOCASE", rows)).aggregate(asked))
    assert np.abs(counts[0] - counts[1]).sum() == 1


EVERY = [*ENGINES]
TRUTHS = [None, False, True]
NEAR = {
    "truths": (TRUTHS, pa.bool_(), Listed("v", (True, False), "count", "count")),
    "whole": ([10**18 + 1, 10**18 + 2, None], pa.int64(), OpenCategories("v", "count")),
    "decimals": (
        [decimal.Decimal("0.1"), decimal.Decimal("0.1") + decimal.Decimal(1).scaleb(-21), None],
        pa.decimal128(38, 21),
        OpenCategories("v", "count"),
    ),
    "floats": ([0.1, 0.1 + 2**-40, -3e300], pa.float64(), OpenCategories("v", "count")),
}


def people(name, persons, order):
    """Persons who have every value of a column once, and rows in one of several orders."""
    values, kind, _ = NEAR[name]
    rows = list(itertools.product(range(persons), values))
    rows = {"as made": rows, "backwards": rows[::-1], "by value": sorted(rows, key=lambda row: values.index(row[1]))}[
        order
    ]
    return pa.table({"p": [row[0] for row in rows], "v": pa.array([row[1] for row in rows], kind)})


def counted(records, name):
    column = NEAR[name][2]
    asked = ValueCounts(column) if isinstance(column, OpenCategories) else Cells(ogive.columns.Domain((column,)))
    return records.bounded("p", 1, "md5").aggregate(asked)


SOON = {"duckdb": tuple(NEAR), "postgresql": ("truths", "decimals"), "spark": ("decimals",)}
"""What `make test` asks each engine for: Spark takes four seconds for each."""


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        pytest.param(engine, name, marks=() if name in SOON[engine] else pytest.mark.everything)
        for engine in EVERY
        for name in NEAR
    ],
)
def test_the_row_of_a_person_does_not_depend_on_order_or_on_others(engine, name, tmp_path):
    expected = counted(Records.of(people(name, 60, "as made")), name)
    assert 0 < expected[1] < 60 or 0 < expected[0] < 60  # not one value for all persons, and so no choice
    for order in ("as made", "backwards", "by value") if is_everything() else ("by value",):
        table = people(name, 60, order)
        np.testing.assert_array_equal(counted(Records.of(table), name), expected)
        (tmp_path / order).mkdir()
        np.testing.assert_array_equal(counted(Records.of(address(engine, table, tmp_path / order)), name), expected)
    one_more = people(name, 61, "backwards")
    (tmp_path / "more").mkdir()
    found = counted(Records.of(address(engine, one_more, tmp_path / "more")), name)
    # labels come behind the counts of open ones, and are the same
    assert np.abs(found - expected).sum() == 1


KINDS = {
    "enumeration": ("mood", "CREATE TYPE mood AS ENUM ('calm', 'cross')", "calm", "cross"),
    "json": ("json", "", '{"a": 1}', '{"a": 2}'),
    "jsonb": ("jsonb", "", '{"a": 1}', '{"a": 2}'),
    "address": ("inet", "", "10.0.0.1", "10.0.0.2"),
    "domain": ("word", "CREATE DOMAIN word AS text", "a", "b"),
    "bytes": ("bytea", "", "\\x00", "\\x01"),
    "list": ("int[]", "", "{1,2}", "{1,3}"),
    "point": ("point", "", "(1,2)", "(1,3)"),
    "money": ("money", "", "1.50", "2.50"),
    "bits": ("bit(3)", "", "101", "111"),
    "range": ("int4range", "", "[1,5)", "[1,6)"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_a_value_of_any_kind_is_another_table(kind):
    name, before, one, other = KINDS[kind]
    url = postgresql_table(name, [(1.0, one, "p"), (2.0, None, "q")], before)
    digest = Records.of(url).digest()
    assert Records.of(url).digest() == digest
    assert Records.of(url).aggregate(X).tolist() == [0, 1, 1, 0]
    for value in (other, None):
        with psycopg.connect(url.partition("?")[0]) as connection:
            connection.execute(f"UPDATE t SET g = %s::{name} WHERE p = 'p'", [value])
        changed = Records.of(url).digest()
        assert changed != digest
        digest = changed


def test_an_enumeration_is_a_label_a_condition_and_a_person():
    url = postgresql_table(
        "mood", [(1.0, "calm", "p"), (2.0, "cross", "p"), (3.0, "calm", "q")], KINDS["enumeration"][1]
    )
    records = Records.of(url)
    assert records.aggregate(GroupBinning(X, "g", ("calm", "cross"))).tolist() == [[0, 1, 0, 1], [0, 0, 1, 0]]
    assert records.aggregate(Selected(X, predicate("g == 'calm'"))).tolist() == [0, 1, 0, 1]
    assert records.bounded("g", 1, "md5").aggregate(X).sum() == 2
    named = Records.of(url, na_values=["cross", 7])
    assert named.aggregate(Selected(X, predicate("g is missing"))).tolist() == [0, 0, 1, 0]
    known = Selected(X, predicate("g is not missing"))
    assert named.aggregate(known).tolist() == [0, 1, 0, 1]
    assert named.bounded("g", 1, "md5").aggregate(known).sum() == 1


def test_money_as_a_label_is_refused_in_one_line():
    records = Records.of(postgresql_table("money", [(1.0, "1.50", "p")]))
    with pytest.raises(DataError, match="money; cast the column to numeric in a view"):
        records.aggregate(ValueCounts(OpenCategories("g")))


def test_a_view_of_other_files_is_read_again_and_a_table_is_not(tmp_path):
    outside, path = tmp_path / "rows.parquet", tmp_path / "t.duckdb"
    pq.write_table(pa.table({"x": [1.0]}), outside)
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM read_parquet('{outside}')")
        connection.execute("CREATE TABLE t AS SELECT * FROM v")
    # a name that is not a table of the file is that of another file for DuckDB
    names = ("v", str(outside), "T")
    view, beside, stored = (Records.of(f"duckdb:///{path}?table={name}") for name in names)
    before, kept = [view.digest(), beside.digest()], stored.digest()
    pq.write_table(pa.table({"x": [2.0, 3.0]}), outside)
    assert before[0] != view.digest()
    assert before[1] != beside.digest()
    assert stored.digest() == kept
    assert EngineTable.of(f"duckdb:///{path}?table=t")._is_locked
    assert not EngineTable.of(f"duckdb:///{path}?table=v")._is_locked
