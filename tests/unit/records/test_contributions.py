"""What single records contribute, against contributions written row by row, and tables dealt to parties."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.scope import size

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.queries import Cells, ClassBinning, GroupBinning, GroupSums, RowValues
from ogive.records import Records, sources

GRID = Grid.linear(0, 1, bins=7)
ENDS = Grid.explicit([0.25, 0.5, 1], low=0)
POLICIES = [(missing, outside) for missing in ("refuse", "low", "high", "drop") for outside in ("clip", "refuse")]
GROUPS = ("a", "b", "c")


def aggregates(missing, outside):
    """One of every kind that adds up, under policies for what is measured."""
    column = Binning("x", GRID, missing=missing, outside=outside)
    combined = Domain((column, Categories("g", GROUPS), Label("y")))
    found = {"bins": column, "groups": GroupBinning(column, "g", GROUPS), "cells": Cells(combined)}
    if missing != "drop":
        found["classes"] = ClassBinning(column, Label("y"))
        found["sums"] = GroupSums(Binning("x", ENDS, missing=missing, outside=outside), Label("y"), bits=9)
    return found


EVERY = [(kind, *policy) for policy in POLICIES for kind in aggregates(*policy)]


def a_table(missing, outside, *, size=3_000, seed=1):
    """Numbers, some beyond the bounds where those are clipped, some missing where they are not refused."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(*((0, 1) if outside == "refuse" else (-0.3, 1.3)), size=size).round(4)
    if missing != "refuse":
        x[rng.random(size) < 0.1] = np.nan
    return {
        "x": x,
        "y": rng.integers(0, 2, size),
        "g": rng.choice(GROUPS, size),
        "who": rng.integers(0, size // 2, size),
    }


def slow_contributions(aggregate, table):
    """Cell and amount of each row, one at a time, in Python's whole numbers."""
    found = []
    for x, y, g in zip(table["x"], table["y"], table["g"], strict=True):
        binning = Binning("x", ENDS if isinstance(aggregate, GroupSums) else GRID)
        missing = {
            "sums": lambda: aggregate.probability.missing,
            "bins": lambda: aggregate.missing,
            "groups": lambda: aggregate.values.missing,
            "classes": lambda: aggregate.score.missing,
            "cells": lambda: aggregate.domain.columns[0].missing,
        }[kind_of(aggregate)]()
        if math.isnan(x):
            if missing == "drop":
                found.append((-1, None))
                continue
            x = 0.0 if missing == "low" else 1.0
        x = min(max(x, 0.0), 1.0)
        at = next(i for i, end in enumerate(binning.grid.thresholds) if x <= end)
        size = binning.grid.bins
        place = GROUPS.index(g)
        cell = {
            "bins": at,
            "groups": place * size + at,
            "classes": y * size + at,
            "cells": (at * 3 + place) * 2 + y,
            "sums": y * size + at,
        }[kind_of(aggregate)]
        found.append((int(cell), round(x * 2**9) if isinstance(aggregate, GroupSums) else None))
    return found


def kind_of(aggregate):
    kinds = {Binning: "bins", GroupBinning: "groups", ClassBinning: "classes", GroupSums: "sums", Cells: "cells"}
    return kinds[type(aggregate)]


def added_up(aggregate, parts):
    """The aggregate that contributions make, in plain numpy."""
    sums = np.zeros(aggregate.shape, dtype=np.int64)
    for part in parts:
        if isinstance(aggregate, GroupSums):
            label, group = np.divmod(part.cells, aggregate.shape[1])
            np.add.at(sums[0], group, 2**aggregate.bits - part.amounts)
            np.add.at(sums[1], group, part.amounts)
            np.add.at(sums, (2 + label, group), 1)
        else:
            assert part.amounts is None
            np.add.at(sums.reshape(-1), part.cells[part.cells >= 0], 1)
    return sums


def as_source(folder, kind, table):
    path = folder / f"t.{kind}"
    match kind:
        case "arrays":
            return table
        case "pandas":
            return pd.DataFrame(table)
        case "csv":
            pd.DataFrame(table).to_csv(path, index=False)
        case "parquet":
            pq.write_table(pa.table(table), path)
    return path


@pytest.mark.parametrize(("kind", "missing", "outside"), EVERY)
def test_every_record_contributes_what_its_row_says(kind, missing, outside):
    aggregate, table = aggregates(missing, outside)[kind], a_table(missing, outside, size=size(3_000, part=500))
    parts = list(Records.of(table).contributions(aggregate))
    slow = slow_contributions(aggregate, table)
    assert np.concatenate([part.cells for part in parts]).tolist() == [cell for cell, _ in slow]
    if kind == "sums":
        assert np.concatenate([part.amounts for part in parts]).tolist() == [amount for _, amount in slow]


@pytest.mark.each_value
@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("source", ["arrays", "pandas", "csv", "parquet"])
@pytest.mark.parametrize("policy", [("low", "refuse"), ("drop", "clip")])
def test_contributions_and_parts_add_up_to_the_aggregate(tmp_path, monkeypatch, policy, source, person):
    data = as_source(tmp_path, source, a_table(*policy))
    whole = Records.of(data).bounded(person, 1 if person is None else 2)
    parties = whole.split(4)
    monkeypatch.setattr(sources, "BATCH_ROWS", 700)
    for aggregate in aggregates(*policy).values():
        exact = whole.aggregate(aggregate)
        parts = list(whole.contributions(aggregate))
        assert np.array_equal(added_up(aggregate, parts), exact)
        assert np.array_equal(sum(part.aggregate(aggregate) for part in parties), exact)
        assert np.array_equal(added_up(aggregate, parties[1].contributions(aggregate)), parties[1].aggregate(aggregate))
        if source == "arrays" and person is None:
            assert max(len(part.cells) for part in parts) <= 700
    assert exact.sum() > 1_000


def test_values_that_a_policy_refuses_are_refused_here_too():
    records = Records.of({"x": [0.5, np.nan, 3.0]})
    for binning, words in (
        (Binning("x", GRID), "missing"),
        (Binning("x", GRID, outside="refuse"), "which are not probabilities"),
    ):
        with pytest.raises(DataError, match=words):
            list(records.contributions(binning))
    with pytest.raises(DataError, match="no column 'z'"):
        records.contributions(Binning("z", GRID))  # before the first row is read


def test_rows_are_no_sums():
    with pytest.raises(UnsupportedError, match="ask for counts of cells"):
        Records.of({"x": [1.0]}).contributions(RowValues(Domain((Binning("x", GRID),))))


@pytest.mark.parametrize(("size", "parties"), [(20_000, 8), (1_000, 200), (7, 7), (11, 4)])
def test_parties_hold_each_row_once_and_equally_many(size, parties):
    table = {"row": np.arange(size)}
    grid = Grid.integers(0, size - 1)
    held = np.stack([part.histogram(Binning("row", grid)) for part in Records.of(table).split(parties)])
    assert held.sum(axis=0).tolist() == [1] * size
    assert set(held.sum(axis=1).tolist()) <= {size // parties, -(-size // parties)}
    deviation = math.sqrt(size / parties * (1 - 1 / parties))
    # neighbors in the table share a party as often as chance has it
    owners = held.argmax(axis=0)
    together = int((owners[1:] == owners[:-1]).sum())
    assert abs(together - size / parties) < 5 * deviation


@pytest.mark.parametrize("source", ["arrays", "csv", "parquet"])
def test_all_rows_of_a_person_go_to_one_party_whatever_the_file(tmp_path, source):
    table = {"who": [f"p{i % 37}" if i % 3 else str(i % 41) for i in range(500)], "x": np.linspace(0, 1, 500)}
    records = Records.of(as_source(tmp_path, source, table)).bounded("who", 3)
    seen = [_persons(part) for part in records.split(5)]
    assert sum(map(len, seen)) == len(set.union(*seen)) == len(set(table["who"]))
    assert max(map(len, seen)) - min(map(len, seen)) <= 1
    in_memory = [_persons(part) for part in Records.of(table).bounded("who", 3).split(5)]
    assert seen == in_memory


def _persons(part):
    return {str(who) for (column,) in part._source.batches(("who",), identifiers={"who"}) for who in column.to_pylist()}


@pytest.mark.parametrize("source", ["arrays", "csv", "parquet"])
def test_a_party_may_have_no_records_and_then_adds_zeros(tmp_path, source):
    table = {name: values[:0] for name, values in a_table("low", "clip").items()}
    records = Records.of_party(as_source(tmp_path, source, table))
    assert records.size == records.count() == records.bounded("who").count() == 0
    for aggregate in aggregates("low", "clip").values():
        for held in (records, records.bounded("who", 3)):
            assert held.aggregate(aggregate).shape == aggregate.shape
            assert not held.aggregate(aggregate).any()
            assert list(held.contributions(aggregate)) == []
    with pytest.raises(DataError, match="no column 'z'"):
        records.aggregate(Binning("z", GRID))
    with pytest.raises(DataError, match="has no rows"):
        Records.of(records)


@pytest.mark.parametrize("unit", ["number", "date", "datetime"])
@pytest.mark.parametrize("kind", ["list", "arrow", "csv"])
def test_a_party_may_have_records_without_values_which_are_missing(tmp_path, kind, unit):
    if kind == "csv":
        data = tmp_path / "some.csv"
        data.write_text("age,who\n,a\n,b\n,c\n")
    else:
        data = {"age": [None] * 3} if kind == "list" else pa.table({"age": pa.nulls(3)})
    bounds = {
        "number": (0, 9),
        "date": ("2024-01-01", "2024-01-09"),
        "datetime": ("2024-01-01T00:00", "2024-01-09T00:00"),
    }
    grid = Grid.linear(*bounds[unit], bins=4)
    party = Records.of_party(data)
    assert party.aggregate(Binning("age", grid, "low")).tolist() == [3, 0, 0, 0]
    assert party.aggregate(Binning("age", grid, "drop")).tolist() == [0, 0, 0, 0]
    assert Records.of_party(party.split(2)[0]).aggregate(Binning("age", grid, "drop")).tolist() == [0, 0, 0, 0]
    with pytest.raises(DataError, match="missing"):
        party.aggregate(Binning("age", grid, "refuse"))
    with pytest.raises(DataError, match="no values at all"):
        Records.of(data).aggregate(Binning("age", grid, "low"))
    with pytest.raises(DataError, match="no column"):
        party.aggregate(Binning("ages", grid, "low"))


@pytest.mark.parametrize("of", [Records.of, Records.of_party])
def test_a_csv_column_whose_values_come_late_has_their_kind(tmp_path, of):
    path = tmp_path / "late.csv"
    path.write_text("age,who\n" + ",a\n" * 30_000 + "5.5,b\n")
    counts = of(path).aggregate(Binning("age", Grid.linear(0, 9, bins=4), "low"))
    assert counts.tolist() == [30_000, 0, 1, 0]
    with pytest.raises(DataError, match="holds numbers, but the bounds are dates"):
        of(path).aggregate(Binning("age", Grid.linear("2024-01-01", "2024-01-09", bins=4), "low"))


def test_parts_are_tables_of_their_own(tmp_path):
    path = as_source(tmp_path, "csv", a_table("low", "clip"))
    first, second = Records.of(path).split(2)
    assert first.columns == Records.of(path).columns
    assert first.size + second.size == 3_000
    assert first.count() == first.size
    assert len({first.digest(), second.digest(), Records.of(path).digest()}) == 3
    assert Records.of(path).split(2)[0].digest() == first.digest()
    bounded = Records.of(path).bounded("who").split(2)
    assert sum(part.count() for part in bounded) == Records.of(path).bounded("who").count()
    assert bounded[0].person == "who"


def test_a_table_that_has_other_rows_than_it_was_dealt_with_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "0.5\n" * 50)
    part = Records.of(path).split(2)[0]
    for rows in (49, 51):
        path.write_text("x\n" + "0.5\n" * rows)
        with pytest.raises(DataError, match="another number of rows than when it was dealt"):
            part.aggregate(Binning("x", GRID))


@pytest.mark.parametrize("parties", [0, -1, True, 2.0, "2", 1 << 17])
def test_refuses_a_number_of_parties_that_is_none(parties):
    with pytest.raises(ParameterError, match="parties must be a whole number from 1 to 65536"):
        Records.of({"x": [1.0, 2.0]}).split(parties)


def test_refuses_to_leave_a_party_without_records():
    with pytest.raises(ParameterError, match="too few records to deal to 3 parties; use fewer"):
        Records.of({"x": [1.0, 2.0]}).split(3)
    with pytest.raises(ParameterError, match="too few different values of 'who'"):
        Records.of({"x": np.ones(99), "who": np.ones(99)}).bounded("who").split(2)
