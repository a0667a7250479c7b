"""Several rows of a person: files and every engine keep the same ones, and one person moves few of them."""

import decimal
import hashlib
import itertools
import math
import re

import numpy as np
import pyarrow as pa
import pytest
from helpers import postgres
from helpers.engines import ENGINES, address, fill_postgresql
from helpers.scope import is_everything, size

import ogive
from ogive.columns import Binning, Categories, Domain, Label, Listed, OpenCategories
from ogive.columns.grids import Grid
from ogive.columns.predicates import predicate
from ogive.errors import DataError, LedgerError, ParameterError
from ogive.queries import Cells, ClassBinning, GroupBinning, GroupSums, Parted, PersonShares, Selected, ValueCounts
from ogive.records import Records
from ogive.records.engines import cells, choosing

ROWS = 600
LINEAR = Grid.linear(0.1, 0.7, bins=7)
FEW = Grid.integers(-1, 3)


COSTS = [0.5, 1.0, 0.5000001, 0.5000002, -0.0, 0.0, 1e300, -2e300, math.nan, None]


def made(rows=ROWS, seed=11):
    random = np.random.default_rng(seed)
    x = random.choice([math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 0.3, 0.7, 5.0], rows)
    x = np.where(random.random(rows) < 0.5, random.normal(0.4, 0.3, rows), x)
    whole = random.integers(1, 60, rows)
    texts = [
        "5",
        "5.0",
        "05",
        "-0",
        "0",
        "-1.50",
        "-1.5",
        "ü",
        "a|1",
        "A",
        "a",
        "5\n",
        " 5",
        "12345678901234567890",
        "1e5",
    ]
    some = random.random(rows) < 0.1
    return pa.table({
        "number": pa.array(whole.tolist(), pa.int64()),
        "float": pa.array(whole.astype(float) - 30),
        "text": pa.array(random.choice(texts, rows).tolist(), pa.string()),
        "exact": pa.array([decimal.Decimal(int(each)).scaleb(-1) for each in whole], pa.decimal128(12, 2)),
        "x": pa.array(x, mask=some, from_pandas=False),
        "k": pa.array(random.integers(-2, 5, rows).tolist(), pa.int64()),
        "p": pa.array((random.integers(0, 9, rows) / 8).tolist()),
        "label": pa.array((random.random(rows) < 0.3).tolist(), pa.bool_()),
        "group": pa.array(random.choice(["A", "B", "ü, |"], rows).tolist(), pa.string()),
        "gappy": pa.array([None if gone else "x" for gone in some], pa.string()),
        "cost": pa.array([COSTS[each] for each in random.integers(0, 10, rows)], pa.float64(), from_pandas=False),
        "price": pa.array([decimal.Decimal(int(each)).scaleb(-2) for each in random.integers(-200, 200, rows)],
                          pa.decimal128(12, 2)),
        "fine": pa.array([decimal.Decimal(int(each)).scaleb(-9) for each in random.integers(-20, 20, rows)],
                         pa.decimal128(12, 9)),
        "code": pa.array(random.choice([2**62, 2**62 + 1, -5, 10**18], rows).tolist(), pa.int64()),
    })  # fmt: skip


CLASSES = Label("label", (True,), (False,))
ASKED = {
    "curve": Binning("x", LINEAR, "drop"),
    "curve, missing low": Binning("x", LINEAR, "low"),
    "curve of one bin": Binning("x", Grid.explicit([1.0]), "drop"),
    "whole": Binning("k", FEW),
    "classes": ClassBinning(Binning("x", LINEAR, "high"), CLASSES),
    "groups": GroupBinning(Binning("x", LINEAR, "drop"), "group", ("ü, |", "A", "B")),
    "probabilities": GroupSums(Binning("p", Grid.linear(0, 1, bins=3)), CLASSES, 8),
    "probabilities, missing": GroupSums(Binning("x", Grid.linear(0, 1, bins=3), "high"), CLASSES, 20),
    "cells": Cells(Domain((Binning("x", LINEAR, "drop"), Categories("group", ("A", "B", "ü, |")), Binning("k", FEW)))),
    "listed": Cells(Domain((Listed("gappy", ("x",), "count", "count"), Listed("cost", (0.5, 1), "count", "count")))),
    "values of text": ValueCounts(OpenCategories("gappy", "count")),
    "values of whole numbers": ValueCounts(OpenCategories("k")),
    "values of long numbers": ValueCounts(OpenCategories("code")),
    "values of floats": ValueCounts(OpenCategories("cost", "count")),
    "values of decimals": ValueCounts(OpenCategories("price")),
    "values of near decimals": ValueCounts(OpenCategories("fine")),
    "people": PersonShares(Binning("x", LINEAR, "high")),
    "people, missing dropped": PersonShares(Binning("x", LINEAR, "drop")),
    "some people": Selected(PersonShares(Binning("k", FEW)), predicate("group == 'A' or x > 0.3")),
    "some": Selected(Binning("k", FEW), predicate("group == 'A' or x > 0.3")),
    "parted": Parted(
        (
            Binning("x", LINEAR, "low"),
            GroupSums(Binning("p", Grid.linear(0, 1, bins=2)), CLASSES, 4),
            Binning("k", FEW),
        ),
        "group",
        ("A", "B", "ü, |"),
    ),
}


@pytest.fixture(scope="module")
def table():
    return made()


@pytest.fixture(scope="module", params=ENGINES)
def held(request, table, tmp_path_factory):
    """The same records in memory and in an engine."""
    return Records.of(table), Records.of(address(request.param, table, tmp_path_factory.mktemp("engine")))


def kind_of(name):
    """What rows of persons are counted as: values that nobody listed, units of people, or cells."""
    return {ValueCounts: "values", PersonShares: "people"}.get(type(ASKED[name]), "cells")


# Spark takes two seconds for each: every engine is asked for each kind, and DuckDB everything
@pytest.mark.covering("name", name=kind_of)
@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("name", ASKED)
def test_an_engine_keeps_the_rows_that_files_keep(held, name, limit):
    files, engine = (each.bounded("number", limit, "md5").aggregate(ASKED[name]) for each in held)
    assert files.any()
    np.testing.assert_array_equal(engine, files)


@pytest.mark.parametrize("person", ["number", "float", "text", "exact"])
def test_an_engine_tells_persons_apart_as_files_do(held, person):
    is_counted = person != "text"  # in `make test` they are counted, and texts asked for cells
    if is_everything() or not is_counted:
        files, engine = (each.bounded(person, 2, "md5") for each in held)
        np.testing.assert_array_equal(engine.aggregate(ASKED["cells"]), files.aggregate(ASKED["cells"]))
    if is_everything() or is_counted:
        files, engine = (each.bounded(person, 1, "md5") for each in held)
        assert engine.count() == files.count()


def test_a_person_is_the_same_as_number_decimal_or_text(tmp_path):
    whole = made()["number"].to_pylist()
    columns = [
        pa.array(whole, pa.int64()),
        pa.array([float(each) for each in whole]),
        pa.array([f"{each}.0" for each in whole]),
        pa.array([decimal.Decimal(each) for each in whole], pa.decimal128(12, 2)),
    ]  # fmt: skip
    found = set()
    for number, column in enumerate(columns):
        # in `make test` every engine has the whole numbers, and one of the other columns
        for engine in ENGINES if is_everything() or not number else ENGINES[number - 1 : number]:
            folder = tmp_path / f"{engine}{number}"
            folder.mkdir()
            url = address(engine, made().set_column(0, "number", column), folder)
            found.add(tuple(Records.of(url).bounded("number", 2).aggregate(ASKED["classes"]).ravel().tolist()))
    assert len(found) == 1


GROUPED = ["curve", "probabilities", "parted", "values of text"]


# two of the questions, each with another kind of person; `make test-all` takes all
@pytest.mark.parametrize(
    ("name", "person"),
    [
        pytest.param(name, person, marks=() if number == turn + 2 else pytest.mark.everything)
        for number, name in enumerate(GROUPED)
        for turn, person in enumerate(("number", "text"))
    ],
)
def test_persons_that_are_asked_for_in_groups_keep_the_same_rows(table, tmp_path, monkeypatch, name, person):
    records = Records.of(address("duckdb", table, tmp_path))
    bounded, single = records.bounded(person, 2, "md5"), records.bounded(person, 1, "md5")
    expected = bounded.aggregate(ASKED[name]), single.count()
    monkeypatch.setattr(choosing, "GROUP_ROWS", 200)
    asked = []
    of_group = choosing.of_group

    def seen(*table, **group):
        found = of_group(*table, **group)
        asked.append(found.count().to_pyarrow().as_py())
        return found

    monkeypatch.setattr(cells, "of_group", seen)
    np.testing.assert_array_equal(bounded.aggregate(ASKED[name]), expected[0])
    assert len(asked) == 3
    assert sum(asked) == ROWS  # no row is missed, and none is in two groups
    assert single.count() == expected[1]


def test_large_and_missing_persons_are_found_in_any_group(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "GROUP_ROWS", 2)
    table = pa.table({"who": pa.array([*range(9), None], pa.int64()), "x": np.arange(10.0)})
    records = Records.of(address("duckdb", table, tmp_path)).bounded("who", 1, "md5")
    (tmp_path / "large").mkdir()
    large = pa.table({"who": pa.array([2**64 - 1 - each for each in range(9)], pa.uint64()), "x": np.arange(9.0)})
    assert Records.of(address("duckdb", large, tmp_path / "large")).bounded("who", 1, "md5").count() == 9
    with pytest.raises(DataError, match="person column 'who'"):
        records.aggregate(Binning("x", FEW))
    assert records.count() == 9


def test_combinations_are_told_apart_across_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "GROUP_ROWS", 50)
    table = pa.table({"who": np.arange(200), "x": np.arange(200.0) % 4})
    records = Records.of(address("duckdb", table, tmp_path)).bounded("who", 1, "md5")
    monkeypatch.setattr(cells, "MOST_CELLS", 4)
    assert records.aggregate(Binning("x", FEW)).sum() == 200
    monkeypatch.setattr(cells, "MOST_CELLS", 3)
    with pytest.raises(DataError, match="more than 3 combinations"):
        records.aggregate(Binning("x", FEW))


# the slow oracle: what the page says, row by row, with hashlib


def name_text(person):
    if isinstance(person, str):
        person = person.strip(" \t\n\r\v\f")
        if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", person):
            value = decimal.Decimal(person)
            return "0" if value == 0 else format(value.normalize(), "f")
        return person
    return str(int(person))


def expected(rows, limit, cell):
    """The cells of the rows that are kept of rows (person, *values)."""
    ranked = {}
    for person, *values in rows:
        name = name_text(person)
        number = sum(cell(*values) == kept for _, kept, _ in ranked.get(name, ())) + 1
        digest = hashlib.md5(f"2|{cell(*values)}|{number}|{name}".encode(), usedforsecurity=False).hexdigest()
        ranked.setdefault(name, []).append((digest, cell(*values), values))
    return [row[2] for each in ranked.values() for row in sorted(each)[:limit]]


@pytest.mark.each_value
@pytest.mark.parametrize("limit", [1, 3])
def test_the_choice_is_the_documented_one(held, table, limit):
    def cell(k, group):
        return f"{min(max(k, -1), 3) + 1},t{len(group)}:{group}"

    asked = GroupBinning(Binning("k", FEW), "group", ("A", "B", "ü, |"))
    rows = zip(*(table[name].to_pylist() for name in ("text", "k", "group")), strict=True)
    counts = np.zeros(asked.shape, dtype=np.int64)
    for k, group in expected(rows, limit, cell):
        counts[asked.groups.index(group), min(max(k, -1), 3) + 1] += 1
    for records in held:
        np.testing.assert_array_equal(records.bounded("text", limit, "md5").aggregate(asked), counts)


@pytest.mark.one_in(3)
def test_the_first_rows_are_others(held, table):
    """The control: to keep the first rows of each person has other sums, and so has the older choice."""
    asked = ASKED["cells"]
    exact = held[1].bounded("number", 2).aggregate(asked)
    seen, first = {}, []
    for row, person in enumerate(table["number"].to_pylist()):
        seen[person] = seen.get(person, 0) + 1
        if seen[person] <= 2:
            first.append(row)
    naive = Records.of(table.take(first)).aggregate(asked)
    older = held[0].bounded("number", 2, "siphash").aggregate(asked)
    assert (
        naive.sum()
        == Records.of(table.take(first)).size - np.isnan(table.take(first)["x"].to_numpy(zero_copy_only=False)).sum()
    )
    assert not np.array_equal(naive, exact)
    assert not np.array_equal(older, exact)


TINY = [rows for number in range(4) for rows in itertools.combinations_with_replacement((0, 1), number)]


def histogram(tables, limit, engine=None):
    rows = [(person, x) for person, xs in enumerate(tables) for x in xs]
    if not rows:
        return np.zeros(3, dtype=np.int64)
    columns = {"p": [person for person, _ in rows], "x": [x for _, x in rows]}
    data = columns if engine is None else engine(columns)
    return Records.of(data).bounded("p", limit, "md5").aggregate(Binning("x", Grid.integers(0, 2)))


@pytest.mark.parametrize("limit", [1, 2])
def test_a_person_who_joins_or_leaves_moves_as_many_rows_as_are_kept(limit):
    """All tables of some persons with up to three rows each, and all their neighbors."""
    persons = size(3, part=2)
    found = {tables: histogram(tables, limit) for tables in itertools.product(TINY, repeat=persons)}
    largest = 0
    for tables, counts in found.items():
        assert counts.sum() == sum(min(limit, len(xs)) for xs in tables)
        for person in range(persons):
            without = found[(*tables[:person], (), *tables[person + 1 :])]
            assert np.all(counts >= without)  # no other person's rows change
            assert (counts - without).sum() == min(limit, len(tables[person]))
            largest = max(largest, int((counts - without).sum()))
            for other in TINY if limit == 1 and tables[person] else ():
                if other:
                    replaced = found[(*tables[:person], other, *tables[person + 1 :])]
                    assert np.abs(counts - replaced).sum() in (0, 2)
    assert largest == limit


def test_an_engine_has_the_counts_of_all_small_tables(tmp_path):
    """The same enumeration as one table, in which each small table is a group, so that persons are told apart by it."""
    ibis = pytest.importorskip("ibis")
    rows = [
        (str(number), 10 * number + person, x)
        for number, tables in enumerate(itertools.product(TINY, repeat=3))
        for person, xs in enumerate(tables)
        for x in xs
    ]
    names, persons, xs = zip(*rows, strict=True)
    groups = tuple(dict.fromkeys(names))
    asked = GroupBinning(Binning("x", Grid.integers(0, 2)), "t", groups)
    table = pa.table({"t": list(names), "p": list(persons), "x": list(xs)})
    connection = ibis.duckdb.connect()
    connection.create_table("small", table)
    for limit in (1, 2):
        engine = Records.of(connection.table("small")).bounded("p", limit).aggregate(asked)
        np.testing.assert_array_equal(engine, Records.of(table).bounded("p", limit, "md5").aggregate(asked))
        small = list(itertools.product(TINY, repeat=3))
        kept = [sum(min(limit, len(xs)) for xs in small[int(group)]) for group in groups]
        assert engine.sum(axis=1).tolist() == kept
    connection.disconnect()


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_without_a_clear_person_are_refused(engine, tmp_path):
    faults = {
        "missing values": [pa.array([1, None]), pa.array(["a", None]), pa.array(["a", ""]), pa.array([1.0, math.nan])],
        "cast the column": [pa.array([1.0, 1.5]), pa.array([1.0, 1e18]), pa.array([1.0, math.inf]),
                            pa.array(["1", "1e+05"])],
    }  # fmt: skip
    columns = {f"p{n}": each for n, each in enumerate(itertools.chain(*faults.values()))}
    records = Records.of(address(engine, pa.table({**columns, "x": [0, 1]}), tmp_path))
    persons = iter(columns)
    for said, each in faults.items():
        for number, _ in enumerate(each):
            bounded = records.bounded(next(persons))
            # every column is refused: in `make test` those that are to be cast are aggregated and counted in turn
            is_missing = said == "missing values"
            if is_everything() or is_missing or number % 2 == 0:
                with pytest.raises(DataError, match=said) as refused:
                    bounded.aggregate(Binning("x", FEW))
                assert "\n" not in str(refused.value)
            if is_missing:  # refused where they are used
                if is_everything() or number == 0:
                    assert bounded.count() == 1
            elif is_everything() or number % 2:
                with pytest.raises(DataError, match=said):
                    bounded.count()
    assert len(columns) == 8


@pytest.mark.parametrize("column", ["label", "x"])
def test_columns_that_name_no_person_are_refused(held, column):
    if column == "label":
        with pytest.raises(DataError, match="person column 'label' holds truth values"):
            held[1].bounded("label")
    with pytest.raises(DataError, match="so it cannot be measured too"):
        held[1].bounded("number").aggregate(Binning("number", FEW, "drop"))


def test_capitals_name_other_persons_whatever_the_column_was_declared_as(tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "records.duckdb") as connection:
        connection.execute("CREATE TABLE visits (p VARCHAR COLLATE NOCASE, x BIGINT)")
        connection.execute("INSERT INTO visits VALUES ('a', 0), ('A', 1), ('b', 2)")
    records = Records.of(f"duckdb:///{tmp_path}/records.duckdb?table=visits").bounded("p")
    assert records.aggregate(Binning("x", Grid.integers(0, 2))).tolist() == [1, 1, 1]
    assert records.count() == 3


def test_an_engine_has_one_choice_only(held):
    with pytest.raises(ParameterError, match=r"chosen by `?row_choice='md5'`? alone"):
        held[1].bounded("number", 2, "siphash")
    with pytest.raises(ParameterError, match="must be 'siphash' or 'md5'"):
        held[0].bounded("number", 2, "first")


def people(rows=500, seed=3):
    random = np.random.default_rng(seed)
    return pa.table({
        "pid": pa.array(random.integers(1, 200, rows).tolist(), pa.int64()),
        "age": pa.array(random.integers(18, 95, rows).tolist(), pa.int64()),
        "score": random.random(rows),
        "sick": random.random(rows) < 0.3,
        "ward": random.choice(["A", "B"], rows).tolist(),
    })  # fmt: skip


def questions(session):
    one = ogive.PureDP(1)
    return [
        lambda: session.ecdf("age", bounds=(0, 120), grid="integers", privacy=one),
        lambda: session.roc("score", "sick", positive=True, negative=False, bounds=(0, 1), bins=64, privacy=one),
        lambda: session.hosmer_lemeshow("score", "sick", positive=True, negative=False, groups=4, privacy=one),
        lambda: session.mean("age", bounds=(0, 120), by="ward", groups=("A", "B"), privacy=one),
        lambda: session.describe(["age", "ward"], bounds={"age": (0, 120)}, values={"ward": ("A", "B")}, privacy=one),
        lambda: session.crosstab("ward", "sick", rows=("A", "B"), columns=(False, True), privacy=one),
        lambda: session.quantiles("age", bounds=(0, 120), grid="integers", privacy=one, where="ward == 'A'"),
    ]


def without_provenance(plain):
    if isinstance(plain, dict):
        return {name: without_provenance(each) for name, each in plain.items() if name != "provenance"}
    return [without_provenance(each) for each in plain] if isinstance(plain, list) else plain


# Spark takes ten seconds for each, and is asked without persons in `test_table.py`
@pytest.mark.parametrize(
    ("engine", "limit"),
    [
        pytest.param(
            engine, limit, marks=() if (engine, limit) in (("duckdb", 2), ("postgresql", 1)) else pytest.mark.everything
        )
        for engine in ENGINES
        for limit in (1, 2)
    ],
)
def test_a_session_on_an_engine_finds_what_one_on_a_file_finds(engine, limit, tmp_path):
    options = {"name": "people", "trust": "clear", "person": "pid", "max_rows_per_person": limit, "row_choice": "md5"}
    url = address(engine, people(), tmp_path, "people")
    pair = [ogive.Session(data, **options) for data in (people(), url)]
    both = list(zip(*map(questions, pair), strict=True))
    assert len(both) == 7
    # in `make test` one limit has every other question, and the other limit the rest
    for expected_, here in both if is_everything() else both[limit % 2 :: 2]:
        assert without_provenance(expected_().to_dict()) == without_provenance(here().to_dict())


def test_a_ledger_keeps_the_choice_that_its_account_began_with(tmp_path):
    one = ogive.PureDP("1/2")
    options = {"ledger": tmp_path / "books.db", "name": "people", "person": "pid", "max_rows_per_person": 2}
    data = people()
    question = {"column": "age", "bounds": (0, 120), "grid": "integers", "privacy": one}
    with ogive.Session(data, limit=ogive.PureDP(2), row_choice="md5", **options) as session:
        first = session.ecdf(**question)
        assert session.unit.row_choice == first.provenance.row_choice == "md5"
        assert first.provenance.to_dict()["row_choice"] == session.unit.to_dict()["row_choice"] == "md5"
        assert ogive.PrivacyUnit.from_dict(session.unit.to_dict()) == session.unit
        assert type(first).from_json(first.to_json()).provenance == first.provenance
        assert session.part("north", data).unit == session.unit
    with ogive.Session(data, row_choice="md5", **options) as again:
        assert again.ecdf(**question).to_json() == first.to_json()
        assert again.remaining == ogive.PureDP("3/2")
    with pytest.raises(
        LedgerError, match=r"chooses rows of a person by 'md5', and this release would choose them by"
    ) as no:
        ogive.Session(data, **options)
    assert "\n" not in str(no.value)


def test_the_older_choice_is_named_nowhere(tmp_path):
    """So questions and units of earlier versions are written as they were."""
    with ogive.Session(people(), limit=ogive.PureDP(2), person="pid", max_rows_per_person=2) as session:
        found = session.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
    assert session.unit.row_choice == found.provenance.row_choice == "siphash"
    assert "row_choice" not in {**session.unit.to_dict(), **found.provenance.to_dict()}


def test_a_table_of_an_engine_pays_for_persons_from_a_ledger(tmp_path):
    url = address("duckdb", people(), tmp_path, "people")
    options = {"ledger": tmp_path / "books.db", "person": "pid"}
    with ogive.Session(url, limit=ogive.PureDP(2), **options) as session:
        curve = session.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1))
    assert curve.total == len(set(people()["pid"].to_pylist()))
    assert (curve.provenance.person, curve.provenance.row_choice) == ("pid", "md5")
    with ogive.Session(url, **options) as again:
        assert again.ecdf("age", bounds=(0, 120), grid="integers", privacy=ogive.PureDP(1)).to_json() == curve.to_json()


def test_letters_of_a_database_of_another_encoding_are_no_blanks():
    server, name = postgres.server(), "dos"
    server.execute(f"CREATE DATABASE {name} ENCODING 'WIN866' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    # the bytes of these letters there are those of blanks elsewhere
    table = pa.table({"p": ["z\u0430", "z", " z ", "\u0415z", "z\t"] * 4, "x": [0, 1, 1, 2, 1] * 4})
    fill_postgresql(server.url(name), table, "visits")
    engine, files = (
        Records.of(data).bounded("p", 1, "md5").aggregate(Binning("x", Grid.integers(0, 2)))
        for data in (f"{server.url(name)}?table=visits", table)
    )
    assert files.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(engine, files)


def test_a_database_of_another_encoding_keeps_the_same_rows():
    server, name = postgres.server(), "latin"
    server.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    random = np.random.default_rng(4)
    table = pa.table({
        "p": random.choice([f"é{each}" for each in range(20)], 200).tolist(),
        "x": random.integers(0, 3, 200).tolist(),
        "ward": random.choice(["ü", "ö"], 200).tolist(),
    })  # fmt: skip
    fill_postgresql(server.url(name), table, "visits")
    asked_ = GroupBinning(Binning("x", Grid.integers(0, 2)), "ward", ("ö", "ü"))
    engine, files = (
        Records.of(data).bounded("p", 2, "md5").aggregate(asked_)
        for data in (f"{server.url(name)}?table=visits", table)
    )
    np.testing.assert_array_equal(engine, files)
