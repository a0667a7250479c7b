"""At most some rows of each person: exact sensitivity, the same choice everywhere, uniform over a person's rows."""

import decimal
import fractions
import functools
import itertools
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.queries import ClassBinning, GroupSums
from ogive.records import Records
from ogive.records import persons as hashing
from ogive.releasing.release import release
from ogive.statistics import Ecdf
from ogive.trust import Central, Clear

GRID = Grid.integers(0, 2)
X = Binning("x", GRID)
LABELED = ClassBinning(X, Label("y"))
GROUPED = GroupSums(Binning("x", Grid.explicit([0.25, 1], low=0)), Label("y"), bits=2)


def sums(rows, limit, aggregate=X):
    """The bounded aggregate of rows (person, x[, y])."""
    return _sums(tuple(rows), limit, aggregate)


@functools.lru_cache(maxsize=10_000)
def _sums(rows, limit, aggregate):
    names = ("p", "x", "y")[: len(rows[0])]
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Records.of(table).bounded("p", limit).aggregate(aggregate)


def test_siphash_is_the_published_one():
    key = (int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little"))
    words = np.frombuffer(bytes(range(24)), dtype=np.uint64)
    # the authors' vectors for the messages 00 01 02 ... of 0, 8 and 16 bytes
    for length, published in ((0, "310e0edd47db6f72"), (8, "6224939a79f5f593"), (16, "db9bc2577fcc2a3f")):
        assert int(hashing.siphash(words[: length // 8], key)).to_bytes(8, "little").hex() == published
    fifteen = hashing._siphash_bytes(np.arange(15, dtype=np.uint8), key)
    assert int(fifteen) == 0xA129CA6149BE45E5  # appendix A of the paper
    for length in (0, 8, 16, 24):
        content = np.arange(length, dtype=np.uint8)
        assert hashing._siphash_bytes(content, key) == hashing.siphash(words[: length // 8], key)


TINY = [rows for number in range(4) for rows in itertools.combinations_with_replacement((0, 1), number)]


@pytest.mark.parametrize("limit", [1, 2])
def test_adding_or_removing_a_person_moves_at_most_as_many_rows_as_are_kept(limit):
    """All tables of some persons with up to three rows each, in the histogram's exact l1 distance."""
    persons = size(3, part=2)
    largest = 0
    for tables in itertools.product(TINY, repeat=persons):
        rows = [(person, x) for person, xs in enumerate(tables) for x in xs]
        if not rows:
            continue
        counts = sums(rows, limit)
        assert counts.sum() == sum(min(limit, len(xs)) for xs in tables)
        for person in range(persons):
            others = [row for row in rows if row[0] != person]
            without = sums(others, limit) if others else np.zeros(3, dtype=np.int64)
            assert np.all(counts >= without)  # no other person's rows change
            assert np.abs(counts - without).sum() == min(limit, len(tables[person]))
            largest = max(largest, int(np.abs(counts - without).sum()))
    assert largest == limit


def test_replacing_a_person_moves_one_row_and_keeps_the_number_of_persons():
    for one, other, kept in itertools.product(TINY[1:], TINY[1:], TINY[1:]):
        rest = [("rest", x) for x in kept]
        first = sums([("a", x) for x in one] + rest, 1)
        for name in ("a", "b"):
            second = sums([(name, x) for x in other] + rest, 1)
            assert first.sum() == second.sum() == 2
            assert np.abs(first - second).sum() in (0, 2)


def test_two_persons_taken_for_one_would_break_the_bound():
    """The control: were persons a and b one, removing b could move more rows than are kept."""
    worst = 0
    for one, other in itertools.product(TINY[1:], TINY[1:]):
        together = sums([("ab", x) for x in one + other], 1)
        alone = sums([("ab", x) for x in one], 1)
        worst = max(worst, int(np.abs(together - alone).sum()))
    assert worst == 2


@pytest.mark.parametrize("aggregate", [LABELED, GROUPED], ids=["classes", "groups"])
def test_labels_are_bounded_with_their_scores(aggregate):
    rows_of = list(itertools.product((0, 1), (0, 1)))
    for one in itertools.combinations_with_replacement(rows_of, 3):
        for other in itertools.combinations(rows_of, 2):
            rows = [("a", *row) for row in one] + [("b", *row) for row in other]
            both = sums(rows, 2, aggregate)
            without = sums(rows[3:], 2, aggregate)
            assert aggregate.records(both) == 4
            single = [Records.of({"x": [x], "y": [y]}).aggregate(aggregate) for x, y in set(one)]
            candidates = [a + b for a in single for b in single]
            assert any(np.array_equal(both - without, candidate) for candidate in candidates)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([0.0, -0.0, 1.0, 2.0, float("nan")]), st.integers(0, 1)),
        min_size=1,
        max_size=30,
    ),
    limit=st.integers(1, 4),
    order=st.randoms(use_true_random=False),
)
def test_the_choice_does_not_depend_on_the_order_of_rows(rows, limit, order):
    aggregate = ClassBinning(Binning("x", GRID, "high"), Label("y"))
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert np.array_equal(sums(rows, limit, aggregate), sums(shuffled, limit, aggregate))


def a_table(size=4_000):
    rng = np.random.default_rng(7)
    return {"p": rng.integers(1, 900, size), "x": rng.integers(0, 300, size) / 100, "y": rng.integers(0, 2, size)}


def in_files(folder, table):
    frame, arrow = pd.DataFrame(table), pa.table(table)
    frame.to_csv(folder / "t.csv", index=False)
    frame.sample(frac=1, random_state=1).to_csv(folder / "shuffled.csv.gz", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    pq.write_table(arrow, folder / "t.parquet", row_group_size=500)
    with pa.ipc.new_file(folder / "t.arrow", arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=77)
    return {path.name: path for path in folder.iterdir()}


PERSONS = {
    "int32": lambda p: p.astype(np.int32),
    "uint64": lambda p: p.astype(np.uint64),
    "floats": lambda p: p.astype(float),
    "text": lambda p: [str(x) for x in p],
    "text_of_floats": lambda p: [f"{x}.0" if x % 2 else str(x) for x in p],
    "categories": lambda p: pa.array([str(x) for x in p]).dictionary_encode(),
    "number_categories": lambda p: pa.array(p).dictionary_encode(),
    "decimals": lambda p: [decimal.Decimal(int(x)) for x in p],
    "views": lambda p: pa.array([str(x) for x in p], pa.string_view()),
}


@pytest.mark.parametrize("limit", [1, 3])
def test_the_choice_is_the_same_in_every_kind_of_table(limit, tmp_path):
    table = a_table()
    aggregate = ClassBinning(Binning("x", Grid.linear(0, 3, bins=30)), Label("y"))
    expected = Records.of(table).bounded("p", limit).aggregate(aggregate)
    assert expected.sum() == sum(min(limit, n) for n in np.unique(table["p"], return_counts=True)[1])
    tables = in_files(tmp_path, table)
    tables |= {"pandas": pd.DataFrame(table), "polars": pl.DataFrame(table), "arrow": pa.table(table)}
    tables |= {name: {**table, "p": write(table["p"])} for name, write in PERSONS.items()}
    tables |= {"truth_values": {**table, "y": table["y"] == 1}, "reversed": {k: v[::-1] for k, v in table.items()}}
    for name, data in tables.items():
        assert np.array_equal(Records.of(data).bounded("p", limit).aggregate(aggregate), expected), name


def test_long_numbers_are_different_persons_in_every_kind_of_table(tmp_path):
    persons = [9007199254740992, 9007199254740993, 1234567890123456789, 1234567890123456788]
    path = tmp_path / "t.csv"
    path.write_text("p,x\n" + "".join(f"{p},1\n" for p in persons))
    for data in (path, {"p": persons, "x": [1] * 4}, {"p": [str(p) for p in persons], "x": [1] * 4}):
        assert Records.of(data).bounded("p", 1).aggregate(X).tolist() == [0, 4, 0]


def test_text_is_itself_letter_by_letter_but_for_blanks_around_it():
    names = ["0012", "12", "12E2", "1200", "1E10", "10E9", "ann", "Ann", "ann ", "-0.5", "-0.50", "0", "-0", "12.0"]
    kept = Records.of({"p": names, "x": [1] * len(names)}).bounded("p", 1).aggregate(X)
    assert int(kept.sum()) == len(names) - 4  # "ann " is ann, 12.0 is 12, -0.50 is -0.5, -0 is 0


def test_a_person_keeps_each_row_equally_often():
    """Rows A, A, B with one kept: A for two persons in three. Level 1e-6, fixed persons, so it never flickers."""
    size = 30_000
    table = {"p": np.repeat(np.arange(size), 3), "x": np.tile([0, 0, 1], size)}
    first = int(Records.of(table).bounded("p", 1).aggregate(X)[0])
    assert stats.binomtest(first, size, 2 / 3).pvalue > 1e-6
    # the control: a choice among different contents only would take A for one person in two
    assert stats.binomtest(first, size, 1 / 2).pvalue < 1e-6
    five = {"p": np.repeat(np.arange(size), 5), "x": np.tile(np.arange(5), size)}
    kept = Records.of(five).bounded("p", 2).aggregate(Binning("x", Grid.integers(0, 4)))
    assert kept.sum() == 2 * size
    assert stats.chisquare(kept).pvalue > 1e-6


def test_policies_apply_to_the_rows_that_are_kept():
    table = {"p": ["a"] * 200, "x": [1.0] + [None] * 199, "y": [1] + [None] * 199}
    assert Records.of(table).bounded("p", 1).aggregate(Binning("x", GRID, "high")).tolist() == [0, 0, 1]
    with pytest.raises(DataError, match="column 'x' has missing values"):
        Records.of(table).bounded("p", 1).aggregate(X)
    clean = {"p": ["a"] * 200, "x": [1.0] * 200, "y": [5] + [0] * 199}
    assert Records.of(clean).bounded("p", 1).aggregate(LABELED).sum() == 1
    with pytest.raises(DataError, match="of neither class"):
        Records.of(clean).bounded("p", 200).aggregate(LABELED)


def test_persons_with_few_rows_keep_all_of_them():
    table = {"p": [1, 1, 2], "x": [0, 1, 2]}
    assert Records.of(table).bounded("p", 2).aggregate(X).tolist() == [1, 1, 1]


REFUSED = {
    "missing": ({"p": ["424242", None], "x": [1, 1]}, "person column 'p' has missing values, or words for them"),
    "missing_number": ({"p": [424242, None], "x": [1, 1]}, "person column 'p' has missing values"),
    "nan": ({"p": [424242, float("nan")], "x": [1, 1]}, "person column 'p' has missing values"),
    "blank": ({"p": ["424242", ""], "x": [1, 1]}, "person column 'p' has missing values"),
    "nothing": ({"p": [None], "x": [1]}, "person column 'p' has missing values"),
    "dates": (
        {"p": pa.array([1], pa.date32()), "x": [1]},
        "holds dates, but person identifiers must be numbers or text",
    ),
    "truth": ({"p": [True], "x": [1]}, "holds truth values, but person identifiers must be numbers"),
    "none_such": ({"person": [1], "x": [1]}, "has no column 'p'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_cannot_name_persons_are_refused_in_one_line(name):
    data, words = REFUSED[name]
    with pytest.raises(DataError) as caught:
        Records.of(data).bounded("p", 1).aggregate(X)
    assert words in str(caught.value)
    assert "424242" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cell", ["", "nan", '""'])
def test_missing_persons_of_csv_files_are_refused(cell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"x,p\n1,7\n1,{cell}\n1,8\n")
    with pytest.raises(DataError, match="person column 'p' has missing values"):
        Records.of(path).bounded("p", 1).aggregate(X)


def test_a_limit_needs_a_person_and_a_whole_number():
    records = Records.of({"p": [1], "x": [1]})
    assert records.bounded(None) is records
    with pytest.raises(ParameterError, match="needs person"):
        records.bounded(None, 2)
    with pytest.raises(ParameterError, match="max_rows_per_person must be"):
        records.bounded("p", 0)
    bounded = records.bounded("p", 3)
    assert (bounded.person, bounded.max_rows_per_person) == ("p", 3)
    assert (records.person, records.max_rows_per_person) == (None, 1)
    assert Central(bounded).unit(Adjacency.ADD_OR_REMOVE).max_rows_per_person == 3


@pytest.mark.parametrize("person", ["x", "y"])
def test_a_column_of_persons_is_not_measured(person):
    """As floats, in which numbers are measured, two persons could be one."""
    with pytest.raises(DataError, match=f"column '{person}' identifies the person"):
        Records.of({"x": [1, 1, 2], "y": [0, 1, 1]}).bounded(person, 1).aggregate(LABELED)


def test_what_was_dropped_is_not_published():
    """Two tables that differ only in how many rows are dropped give the same release, word for word."""
    few = {"p": [1, 1, 2], "x": [1.0, 1.0, 2.0]}
    many = {"p": [1] * 50 + [2] * 30, "x": [1.0] * 50 + [2.0] * 30}
    texts = []
    for data in (few, many):
        trust = Central(data, person="p")
        curve = release(Ecdf("x", grid=GRID), trust=trust, privacy=PureDP(1), source=KeyedSource(bytes(32))).to_dict()
        del curve["provenance"]["release_id"]
        texts.append(curve)
    assert texts[0] == texts[1]
    assert texts[0]["provenance"]["total"] == 2


def test_several_rows_of_a_person_cost_as_many_times_as_much():
    table = a_table(500)
    for limit, total in ((1, False), (4, False)):
        curve = release(
            Ecdf("x", (0, 3), bins=8),
            trust=Central(table, person="p", max_rows_per_person=limit),
            privacy=PureDP(1),
            adjacency=Adjacency.ADD_OR_REMOVE,
        )
        assert (curve.provenance.total is not None) == total
        assert curve.provenance.max_rows_per_person == limit
        assert curve.provenance.price.epsilon <= 1
        assert curve.strategy.loss(Adjacency.ADD_OR_REMOVE).epsilon * limit <= 1
    exact = release(Ecdf("x", (0, 3), bins=8), trust=Clear(table, person="p"))
    assert exact.provenance.total == len(set(table["p"].tolist()))


def test_persons_and_labels_may_be_dictionaries_in_parquet(tmp_path):
    table = pa.table(
        {
            "p": pa.array(["a", "a", "b", "b", "c"]).dictionary_encode(),
            "x": [1, 1, 2, 2, 0],
            "y": pa.array(["yes", "yes", "no", "no", "no"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    aggregate = ClassBinning(X, Label("y", ("yes",), ("no",)))
    for data in (table, tmp_path / "t.parquet"):
        assert Records.of(data).bounded("p", 1).aggregate(aggregate).tolist() == [[1, 0, 1], [0, 1, 0]]


def slow_name(text):
    """Who a text names, by the rule as written: a plain decimal number without leading zeros is that number."""
    text = text.strip(" ")
    plain = re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]{2,3})?", text)
    return fractions.Fraction(text) if plain else text


NAMES = st.text("0123456789-+.eE ax", min_size=1, max_size=6).filter(
    lambda name: name.strip() not in ("", ".")
) | st.from_regex(r"-?[0-9]{1,22}(\.0{1,3})?", fullmatch=True)


@settings(max_examples=size(300, part=80), deadline=None)
@given(names=st.lists(NAMES | st.integers(-(10**20), 10**20).map(str), min_size=1, max_size=8))
def test_persons_are_told_apart_by_the_rule(names):
    kept = Records.of({"p": names, "x": [1] * len(names)}).bounded("p", 1).aggregate(X)
    assert int(kept.sum()) == len({slow_name(name) for name in names})


def test_both_zeros_and_all_kinds_of_missing_are_one_content():
    persons = np.repeat(np.arange(200), 3)
    binning = Binning("x", Grid.explicit([0, 1]), "high")
    plain = Records.of({"p": persons, "x": np.tile([0.0, 1.0, np.nan], 200)}).bounded("p", 1).aggregate(binning)
    signed = Records.of({"p": persons, "x": np.tile([-0.0, 1.0, -np.nan], 200)}).bounded("p", 1).aggregate(binning)
    null = {"p": persons, "x": pa.array([0.0, 1.0, None] * 200)}
    assert 40 < plain[0] < 95
    assert np.array_equal(plain, signed)
    assert np.array_equal(plain, Records.of(null).bounded("p", 1).aggregate(binning))


def test_large_and_fractional_floats_are_different_persons_and_the_same_as_their_digits():
    persons = [1e18, 1e19, 2e19, -1e19, 1e18 - 128, 0.5, 2.5, float("inf")]
    table = {"p": np.repeat(persons, 3), "x": np.tile([0, 1, 2], len(persons))}
    kept = Records.of(table).bounded("p", 1).aggregate(X)
    assert kept.sum() == len(persons)
    assert Records.of({"p": persons, "x": [1] * len(persons)}).bounded("p", 1).aggregate(X)[1] == len(persons)
    digits = [str(int(p)) if abs(p) < math.inf and p == int(p) else str(p) for p in persons]
    written = {**table, "p": np.repeat(np.array(digits, dtype=object), 3).tolist()}
    assert np.array_equal(Records.of(written).bounded("p", 1).aggregate(X), kept)
