"""Counts of the values of a column that nobody has listed: exact, and of each record by its own value alone."""

import collections
import datetime
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns import LONGEST_LABEL, OpenCategories
from ogive.columns.predicates import predicate
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.queries import DiscoveryQuery, Parted, Selected, ValueCounts
from ogive.queries.aggregates import Counted, added_up, read, write
from ogive.records import Records
from ogive.records.imagined import BinormalShape, Repeated

COUNTED = ValueCounts(OpenCategories("x", "count"))
LABELS = st.one_of(st.text(max_size=30), st.integers(-(2**61), 2**61), st.floats(-1e18, 1e18).filter(lambda x: x % 1))


def found(table, missing="count", **bounded):
    records = Records.of(table).bounded(bounded.get("person"), bounded.get("rows", 1))
    return read(records.aggregate(ValueCounts(OpenCategories("x", missing))))


@given(st.dictionaries(LABELS, st.integers(-(2**62), 2**62), max_size=8), st.integers(0, 2**40), st.integers(0, 9))
@settings(max_examples=size(100, part=40), deadline=None)
def test_counts_are_read_as_they_were_written(counts, missing, unnamed):
    counted = Counted(counts, missing, unnamed)
    assert read(write(counted)) == counted
    shuffled = list(counts.items())
    random.Random(3).shuffle(shuffled)
    assert np.array_equal(write(Counted(dict(shuffled), missing, unnamed)), write(counted))


def test_every_value_is_counted_in_any_order_of_the_records():
    rows = ["b", "a", None, "b", " b ", "ü", "NA", ""] * 3
    expected = collections.Counter(value for value in rows if value is not None)
    for seed in range(5):
        mixed = list(rows)
        random.Random(seed).shuffle(mixed)
        assert found({"x": mixed}) == Counted(dict(sorted(expected.items())), missing=3)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ([1, 2, 2], {1: 1, 2: 2}),
        ([1.0, 2.5, 2.5, -0.0, 0.0], {0: 2, 1: 1, 2.5: 2}),
        ([True, False, True], {False: 1, True: 2}),
        ([Decimal("1.50"), Decimal("2.00")], {1.5: 1, 2: 1}),
    ],
    ids=["whole", "fractions", "truth", "decimals"],
)
def test_numbers_have_one_form(rows, counts):
    counted = found({"x": rows}).counts
    assert counted == counts
    assert [type(value) for value in counted] == [type(value) for value in counts]


def test_values_that_could_not_be_stored_are_counted_and_never_told():
    table = {"x": ["a"] * 3 + ["b" * (LONGEST_LABEL + 1)] * 50}
    sums = Records.of(table).aggregate(COUNTED)
    assert (read(sums), COUNTED.records(sums)) == (Counted({"a": 3}, unnamed=50), 53)
    query = DiscoveryQuery(COUNTED, DiscreteLaplace(1), 2)
    for nodes in (None, DerivedNodes(bytes(32), b"")):
        assert list(read(query.answer(sums, nodes)).counts) == ["a"]
    assert found({"x": [1.5, float("inf"), -1e300, float("nan")]}) == Counted({1.5: 1}, missing=1, unnamed=2)


def test_endless_numbers_are_counted_where_persons_have_several_rows():
    table = {"x": [float("inf"), 1.0, float("inf"), 2.0], "who": ["a", "a", "a", "b"]}
    counted = found(table, person="who", rows=2)
    assert sum(counted.counts.values()) + counted.unnamed == 3


def test_missing_values_are_refused_counted_or_dropped():
    table = {"x": ["a", None, "a"]}
    assert found(table, "drop").counts == {"a": 2}
    dropping = ValueCounts(OpenCategories("x", "drop"))
    assert dropping.records(Records.of(table).aggregate(dropping)) == 2
    with pytest.raises(DataError, match="missing='count'"):
        found(table, "refuse")
    assert found({"x": ["a"]}, "refuse") == Counted({"a": 1})
    with pytest.raises(ParameterError, match="refuse, count, drop"):
        OpenCategories("x", "low")
    with pytest.raises(ParameterError, match="name"):
        OpenCategories(3)


def test_persons_keep_some_of_their_rows():
    table = {"x": ["a", "b", "c"] * 4 + ["d"], "who": [1] * 12 + [2]}
    assert sum(found(table, person="who", rows=5).counts.values()) == 6


def test_columns_of_dates_have_no_categories():
    with pytest.raises(DataError, match="numbers, truth values or texts"):
        found({"x": [datetime.date(2024, 1, 1)] * 3})


def test_a_file_has_the_counts_of_its_frame(tmp_path):
    rows = ["a", "b", None, "a"]
    pq.write_table(pa.table({"x": pa.array(rows).dictionary_encode()}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{row or ''},1\n" for row in rows), encoding="utf-8")
    (tmp_path / "n.csv").write_text("x\n0012\n12\n12.0\nNA\n", encoding="utf-8")
    expected = Counted({"a": 2, "b": 1}, missing=1)
    assert found(tmp_path / "t.parquet") == found(tmp_path / "t.csv") == found({"x": rows}) == expected
    assert found(tmp_path / "n.csv") == Counted({12: 3}, missing=1)


CELLS = ["5", "5.0", "abc", "NA", "?", "2024-02-01", "true", "0012", " a", ""]
FILES = {
    "numbers": ["5", "7", "NA"] * 4,
    "text": ["a", "b", "NA"] * 4,
    "words": ["NA", "?"] * 6,
    "truths": ["true", "True", "false"] * 4,
    "codes": ["0012", "12"] * 6,
}


@pytest.mark.parametrize("name", FILES)
def test_one_cell_more_adds_one_to_one_count_and_changes_no_other(tmp_path, name):
    def counts(cells):
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{cell},1\n" for cell in cells), encoding="utf-8")
        try:
            return found(tmp_path / "t.csv")
        except DataError:
            return None

    before = counts(FILES[name])
    kept = size(len(CELLS), part=5)  # every other cell in `make test`
    cells = CELLS[:: len(CELLS) // kept]
    answered = [after for cell in cells if (after := counts([*FILES[name], cell])) is not None]
    for after in answered:
        values = {*before.counts, *after.counts}
        moved = sum(abs(after.counts.get(value, 0) - before.counts.get(value, 0)) for value in values)
        assert (moved + abs(after.missing - before.missing), after.unnamed) == (1, 0)
        assert len({type(value) for value in values}) <= 1
    assert len(answered) >= kept * 4 // 10


def test_a_condition_leaves_records_out():
    table = {"x": ["a", "b", "b"], "y": [1, 1, 2]}
    chosen = Selected(COUNTED, predicate("y == 1"))
    assert read(Records.of(table).aggregate(chosen)) == Counted({"a": 1, "b": 1})


def test_values_have_no_cells_that_parties_or_groups_could_add_up():
    with pytest.raises(UnsupportedError, match="list the values"):
        Records.of({"x": ["a"]}).contributions(COUNTED)
    with pytest.raises(ParameterError, match="named"):
        Parted((COUNTED,), "y", (1,))


def test_imagined_records_have_the_counts_of_their_copies():
    table = {"x": ["a", "b", "b", None]}
    whole = Repeated(table, 40).sums(COUNTED)
    assert read(whole) == Counted({"a": 10, "b": 20}, missing=10)
    assert read(added_up([(10, Records.of(table).aggregate(COUNTED))])) == read(whole)
    assert COUNTED.records(Repeated(table, 41).sums(COUNTED)) == 41
    modelled = read(BinormalShape(1 << 14, labeled=False).sums(COUNTED))
    assert sum(modelled.counts.values()) == 1 << 14
    assert max(modelled.counts.values()) == 1 << 13


def test_other_counts_columns_or_thresholds_get_other_noise():
    sums = write(Counted({"a": 3, "b": 4}))
    query = DiscoveryQuery(COUNTED, DiscreteLaplace(1), 5)
    others = [
        query.digest(write(Counted({"a": 4, "b": 3})), Adjacency.REPLACE),
        query.digest(sums, Adjacency.ADD_OR_REMOVE),
        DiscoveryQuery(COUNTED, DiscreteLaplace(1), 6).digest(sums, Adjacency.REPLACE),
        DiscoveryQuery(COUNTED, DiscreteLaplace(2), 5).digest(sums, Adjacency.REPLACE),
        DiscoveryQuery(ValueCounts(OpenCategories("y", "count")), DiscreteLaplace(1), 5).digest(
            sums, Adjacency.REPLACE
        ),
    ]
    assert query.digest(sums, Adjacency.REPLACE) not in others
    assert len(set(others)) == len(others)
