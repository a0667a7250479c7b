"""One generated table in memory, in DuckDB, PostgreSQL and Spark: every aggregate has the same integers."""

import datetime
import decimal
import itertools
import math
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from helpers.engines import ENGINES, address
from helpers.scope import size

from ogive.columns import Binning, Categories, Domain, Label, Listed, Membership, OpenCategories
from ogive.columns.grids import Grid
from ogive.columns.predicates import Among, predicate
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.queries import (
    Ballots,
    Cells,
    ClassBinning,
    GroupBinning,
    GroupSums,
    Parted,
    RowValues,
    Selected,
    ValueCounts,
)
from ogive.records import Records, contributions
from ogive.records.engines.connections import answer

ROWS = 4000
LINEAR = Grid.linear(0.1, 0.7, bins=7)
ROUND = Grid.linear(0, 1, bins=1024)
FINE = Grid.linear(1e9, 1e9 + 1e-3, bins=8000)
NARROW = Grid.linear(1e9, 1e9 + 1e-4, bins=800)
GEOMETRIC = Grid.geometric(1e-3, 1e5, bins=3000)
UNEVEN = Grid.explicit([-5e300, -3.0, -0.0, 5e-324, 1e-9, 0.1, 0.3, 1.0, 2.5, 2.5000000000000004, 7e299], low=-1e301)
WHOLE = Grid.integers(-3, 12)
DAYS = Grid.calendar("2023-12-01", "2024-06-30", every="days")
MONTHS = Grid.calendar("1960-01-01", "2026-06-30", every="months")
HOURS = Grid.calendar("2024-03-30", "2024-04-01", every="hours")
MOMENTS = Grid.linear("1969-12-31T23:59:59", "2024-04-02T00:00:00", bins=999)
GRIDS = (LINEAR, ROUND, FINE, NARROW, GEOMETRIC, UNEVEN, WHOLE, Grid.explicit([1.0]), Grid.explicit([0.0, 1.0]))
PARIS = ZoneInfo("Europe/Paris")


def near(grid):
    """Thresholds and bounds of a grid with their neighbors, at most some hundred of them."""
    ends = np.concatenate([[grid.low], grid.thresholds])
    ends = ends[np.linspace(0, len(ends) - 1, min(len(ends), 120)).astype(int)]
    return np.concatenate([ends, np.nextafter(ends, -math.inf), np.nextafter(ends, math.inf)])


def made(seed=7):
    random = np.random.default_rng(seed)
    odd = [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -5e-324, 2.0**53, 2.0**53 + 2, 1.7e308, -1.7e308]
    special = np.concatenate([odd, *map(near, GRIDS)])
    x = np.resize(special, ROWS)
    fresh = random.random(ROWS) < 0.3
    x[fresh] = random.normal(0.5, 2, fresh.sum())
    x = x[random.permutation(ROWS)]
    with np.errstate(over="ignore"):
        small = x.astype(np.float32)
    whole = random.integers(-6, 15, ROWS)
    whole[:6] = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**53, 0]
    halves = (random.integers(0, 2**8, ROWS) + 0.5) / 2**8  # ties of 8 fractional bits
    p = np.where(random.random(ROWS) < 0.5, halves, random.random(ROWS))
    p[:6] = [0.0, 1.0, -0.0, 5e-324, 1 - 2.0**-53, 0.5]
    cents = [decimal.Decimal(int(each)).scaleb(-2) for each in random.integers(-500, 1500, ROWS)]
    wide = [
        decimal.Decimal(int(each)).scaleb(-10) + decimal.Decimal(int(near_))
        for each, near_ in zip(random.integers(-(10**17), 10**17, ROWS), random.integers(-3, 3, ROWS), strict=True)
    ]
    changes = [datetime.datetime(2024, 3, 31, 1, tzinfo=PARIS), datetime.datetime(2023, 10, 29, 1, tzinfo=PARIS)]
    zoned = [
        changes[row % 2].astimezone(datetime.UTC) + datetime.timedelta(minutes=int(minutes), microseconds=row % 3)
        for row, minutes in enumerate(random.integers(-3000, 3000, ROWS))
    ]
    naive = [
        datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(each))
        for each in random.integers(-(10**16), 17 * 10**14, ROWS)
    ]
    naive[:4] = [
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime.datetime(1970, 1, 1),
        datetime.datetime(2024, 3, 31),
        datetime.datetime(2024, 3, 30, 23, 59, 59, 999999),
    ]
    dates = [datetime.date(1990, 1, 1) + datetime.timedelta(days=int(each)) for each in random.integers(0, 13000, ROWS)]
    groups = random.choice(["A", "B", " B", "ü", "C "], ROWS)
    some = random.random(ROWS) < 0.03

    def gaps(values, kind):
        return pa.array([None if gone else value for value, gone in zip(values, some, strict=True)], kind)

    return pa.table({
        "x": pa.array(x, mask=some, from_pandas=False),
        "small": pa.array(small, mask=some, from_pandas=False),
        "whole": gaps(whole.tolist(), pa.int64()),
        "few": pa.array(random.integers(-6, 15, ROWS).tolist(), pa.int8()),
        "p": pa.array(p),
        "cents": gaps(cents, pa.decimal128(12, 2)),
        "wide": gaps(wide, pa.decimal128(38, 10)),
        "zoned": gaps(zoned, pa.timestamp("us", "UTC")),
        "naive": gaps(naive, pa.timestamp("us")),
        "day": gaps(dates, pa.date32()),
        "label": pa.array((random.random(ROWS) < 0.3).tolist(), pa.bool_()),
        "code": pa.array(random.choice([0, 1], ROWS).tolist(), pa.int64()),
        "group": pa.array(groups.tolist(), pa.string()),
        "gappy": gaps(groups.tolist(), pa.string()),
        "cost": pa.array(random.choice([0.5, 1.0, 2.0], ROWS).tolist()),
    })  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return made()


@pytest.fixture(scope="module", params=ENGINES)
def held(request, table, tmp_path_factory):
    """The same records in memory and in an engine."""
    return Records.of(table), Records.of(address(request.param, table, tmp_path_factory.mktemp("engine")))


MISSING = ("low", "high", "drop")
BINNINGS = [
    *(Binning("x", grid, missing) for grid, missing in itertools.product(GRIDS, MISSING)),
    Binning("x", LINEAR, 0.3),
    *(Binning("small", grid, "low") for grid in GRIDS),
    *(Binning(column, grid, "drop") for column in ("whole", "cents", "wide") for grid in (WHOLE, LINEAR, UNEVEN)),
    Binning("whole", Grid.linear(2.0**53 - 64, 2.0**53 + 64, bins=64), "drop"),
    Binning("few", WHOLE),
    Binning("label", Grid.linear(0, 1, bins=2)),
    *(Binning(column, grid, "drop") for column in ("zoned", "naive", "day") for grid in (DAYS, MONTHS, HOURS, MOMENTS)),
    Binning("few", Grid.integers(-6, 14), "refuse", "refuse", "refuse"),
    Binning("p", Grid.linear(0, 1, bins=10), "refuse", "refuse"),
]
SCORE = Binning("x", ROUND, "low")
CLASSES = Label("label", (True,), (False,))
OTHERS = {
    "classes": ClassBinning(SCORE, CLASSES),
    "classes of text": ClassBinning(SCORE, Label("group", ("A",), ("B", "C", "ü"))),
    "classes by numbers": ClassBinning(Binning("naive", MONTHS, "high"), Label("code", (1.0,), None)),
    "groups": GroupBinning(Binning("cents", LINEAR, "drop"), "group", ("B", "A", "C", "ü")),
    "groups of numbers": GroupBinning(Binning("day", MONTHS, "low"), "cost", (2, 1, 0.5)),
    "probabilities": GroupSums(Binning("p", Grid.explicit([0.1, 0.5, 1.0], low=0.0)), CLASSES, 8),
    "probabilities, missing": GroupSums(Binning("x", Grid.linear(0, 1, bins=9), "high"), Label("code"), 20),
    "cells": Cells(
        Domain(
            (Binning("x", GEOMETRIC, "drop"), Categories("group", ("A", "B", "C", "ü")), Membership("few", (3, 4.0)))
        )
    ),
    "listed": Cells(
        Domain((Listed("gappy", ("A", "B"), "count", "count"), Listed("whole", (2**53 + 1, 4), "drop", "drop")))
    ),
    "members": Cells(Domain((Membership("gappy", None, "no"), Membership("cost", (0.5,)), Binning("few", WHOLE)))),
    "values of text": ValueCounts(OpenCategories("gappy", "count")),
    "values of numbers": ValueCounts(OpenCategories("whole", "drop")),
    "values of decimals": ValueCounts(OpenCategories("cents", "count")),
    "values of floats": ValueCounts(OpenCategories("cost")),
    "values of truth": ValueCounts(OpenCategories("label")),
    "parted": Parted(
        (
            Binning("x", LINEAR, "low"),
            Binning("few", WHOLE),
            GroupSums(Binning("p", Grid.linear(0, 1, bins=3)), CLASSES),
            Binning("x", LINEAR, "low"),
        ),
        "group",
        ("A", "B", "C", "ü"),
    ),
}  # fmt: skip


def is_soon(number, binning):
    """Whether `make test` takes a case: of the grids of `x` each with one policy, of those of `small` every third."""
    match binning.column:
        case "x":
            return number // len(MISSING) % len(MISSING) == number % len(MISSING)
        case "small":
            return GRIDS.index(binning.grid) % 3 == 0
    return True


# Spark takes a third of a second for each
@pytest.mark.covering("binning", binning=lambda each: {"few": "whole", "p": "x"}.get(each.column, each.column))
@pytest.mark.parametrize(
    "binning",
    [
        pytest.param(binning, marks=() if is_soon(number, binning) else pytest.mark.everything)
        for number, binning in enumerate(BINNINGS)
    ],
    ids=lambda each: f"{each.column}-{each.grid.kind}-{each.missing}",
)
def test_an_engine_counts_the_bins_that_numpy_counts(held, binning):
    files, engine = held
    expected = files.aggregate(binning)
    assert expected.any()
    np.testing.assert_array_equal(engine.aggregate(binning), expected)


@pytest.mark.covering("name", name=lambda name: type(OTHERS[name]))
@pytest.mark.parametrize("name", OTHERS)
def test_an_engine_has_the_sums_of_every_aggregate(held, name):
    files, engine = held
    np.testing.assert_array_equal(engine.aggregate(OTHERS[name]), files.aggregate(OTHERS[name]))


WHERE = [
    "x > 0.3", "x <= -0.0", "not (x >= 0.3)", "x is missing", "whole == 9007199254740993", "whole > 9007199254740992",
    "whole < 9007199254740993.0", "cents == 1.25 or cents in (3, 4.5)", "wide > 1.5 and group == 'B'", "group != 'A'",
    "gappy in ('A', 'ü')", "gappy is missing or label == true", "day >= '2010-02-28'", "zoned < '2024-03-31T01:00:00'",
    "naive == '1970-01-01T00:00:00'", "not (gappy == 'A' or x < 0.5)", "small == 0.5", "x != 9007199254740993",
    "x < 9007199254740993", "x >= 9007199254740993", "few == 3.5",
]  # fmt: skip


# each condition, and in every engine one of each column
@pytest.mark.covering("where", where=lambda where: where.removeprefix("not (").split()[0])
@pytest.mark.parametrize("where", WHERE)
def test_an_engine_takes_the_records_that_a_condition_takes(held, where):
    files, engine = held
    asked = Selected(Binning("p", ROUND), predicate(where))
    np.testing.assert_array_equal(engine.aggregate(asked), files.aggregate(asked))


def test_constants_are_the_floats_that_were_meant(tmp_path):
    """DuckDB reads 0.9504637 without quotes as a decimal number and not always as the nearest float."""
    values = np.random.default_rng(2).random(300).tolist()
    engine = Records.of(address("duckdb", pa.table({"x": values}), tmp_path))
    asked = Selected(Binning("x", Grid.linear(0, 1, bins=2)), Among("x", tuple(values)))
    assert engine.aggregate(asked).sum() == 300


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_are_their_nearest_floats(engine, tmp_path):
    """A cast of DuckDB is off by one unit in the last place for some of these."""
    whole = np.random.default_rng(4).integers(-(10**18) + 1, 10**18, 600).tolist()
    exact = [decimal.Decimal(each).scaleb(-17) for each in whole]
    held = address(engine, pa.table({"x": pa.array(exact, pa.decimal128(18, 17))}), tmp_path)
    ends = sorted({float(each) for each in exact})
    expected = np.bincount(np.searchsorted(ends, [float(each) for each in exact]), minlength=len(ends))
    np.testing.assert_array_equal(Records.of(held).aggregate(Binning("x", Grid.explicit(ends))), expected)


def test_numbers_that_mean_missing_are_missing_in_an_engine(table, tmp_path):
    pair = [
        Records.of(each, na_values=("5", 0.5, "2024-03-31")) for each in (table, address("duckdb", table, tmp_path))
    ]
    for asked in (
        Binning("few", WHOLE, "drop"),
        Binning("day", MONTHS, "drop"),
        Selected(Binning("p", ROUND, "drop"), predicate("few < 9 and not (p < 0.25)")),
        Selected(Binning("p", ROUND, "drop"), predicate("few is missing")),
    ):
        expected, found = (each.aggregate(asked) for each in pair)
        np.testing.assert_array_equal(found, expected)


REFUSED = [
    Binning("x", LINEAR),
    Binning("x", LINEAR, "low", "refuse"),
    Cells(Domain((Binning("cents", WHOLE, "drop", "clip", "refuse"),))),
    Selected(Cells(Domain((Binning("cents", WHOLE, "drop", "clip", "refuse"),))), predicate("cents < 0")),
    Binning("p", Grid.linear(0.1, 1, bins=4), "refuse", "refuse"),
    Binning("group", LINEAR),
    Binning("day", LINEAR, "drop"),
    Binning("xs", LINEAR),
    ClassBinning(SCORE, Label("group", ("A",), ("B",))),
    ClassBinning(SCORE, Label("gappy", ("A",), None)),
    GroupBinning(SCORE, "group", ("A", "B")),
    GroupBinning(SCORE, "gappy", ("A", "B", "C", "ü")),
    Cells(Domain((Membership("gappy", ("A",)),))),
    Cells(Domain((Listed("gappy", ("A", "B")),))),
    ValueCounts(OpenCategories("gappy")),
    Selected(SCORE, predicate("group == 3")),
]


@pytest.mark.covering("asked", asked=type)
@pytest.mark.parametrize("asked", REFUSED, ids=str)
def test_an_engine_refuses_in_the_words_in_which_files_are_refused(held, asked):
    files, engine = held
    with pytest.raises(DataError) as expected:
        files.aggregate(asked)
    with pytest.raises(DataError) as found:
        engine.aggregate(asked)
    hint = "cast the column to numbers in a view of the table"
    said = found.value.marked.replace(engine._table.name, "the data frame")
    assert said.replace(hint, "convert the column to numbers first") == expected.value.marked


def test_any_grid_is_divided_so_that_its_bins_are_found(tmp_path):
    random = np.random.default_rng(5)
    for number in range(size(25, part=3)):
        points = int(random.integers(2, 400))
        ends = np.unique(random.choice([1e-300, 1.0, 1e15]) * random.standard_cauchy(points) ** random.integers(1, 4))
        grid = Grid.explicit(ends.tolist())
        values = np.concatenate([near(grid), random.standard_cauchy(500)])
        folder = tmp_path / str(number)
        folder.mkdir()
        engine = Records.of(address("duckdb", pa.table({"x": values}), folder))
        np.testing.assert_array_equal(
            engine.aggregate(Binning("x", grid)), np.bincount(grid.bin_of(values), minlength=grid.bins)
        )


def test_grids_that_are_too_long_or_uneven_to_be_looked_up_are_refused(held):
    long = Grid.geometric(1, 1e6, bins=(1 << 16) + 1)
    uneven = Grid.explicit(
        [
            sign * 2.0**power * (1 + step / 16)
            for sign, powers in ((-1, range(900, -900, -9)), (1, range(-900, 900, 9)))
            for power in powers
            for step in (range(8) if sign > 0 else range(7, -1, -1))
        ]
    )
    for grid, said in ((long, "too long for an engine"), (uneven, "too unevenly for an engine")):
        with pytest.raises(ParameterError, match=said):
            held[1].aggregate(Binning("x", grid, "drop"))


@pytest.mark.parametrize("engine", ENGINES)
def test_infinite_dates_are_outside_the_bounds(engine, tmp_path):
    # Spark has no infinite dates, but some that no other engine has
    endless = ["+12000-01-01", "-0300-01-01"] if engine == "spark" else ["infinity", "-infinity"]
    texts = [*endless, "2024-01-02", None]
    given = Records.of(address(engine, pa.table({"text": pa.array(texts, pa.string())}), tmp_path))
    expression = given._table._expression
    for kind in ("date", "timestamp", "timestamp('UTC')"):
        records = Records.of(expression.mutate(at=expression.text.cast(kind)))
        counts = records.aggregate(Binning("at", Grid.calendar("2024-01-01", "2024-01-03", every="days"), "drop"))
        assert counts.tolist() == [1, 1, 1]
        later = Selected(
            Binning("at", Grid.calendar("2024-01-01", "2024-01-03", every="days")), predicate("at > '2024-01-02'")
        )
        assert records.aggregate(later).tolist() == [0, 0, 1]


def test_sums_that_could_leave_64_bits_are_refused(held, monkeypatch):
    asked = GroupSums(Binning("p", Grid.linear(0, 1, bins=3)), CLASSES, 20)
    monkeypatch.setattr(contributions, "WIDE", 1 << 31)
    with pytest.raises(DataError, match="too many records for sums with 20 fractional bits"):
        held[1].aggregate(asked)
    monkeypatch.setattr(contributions, "WIDE", 1 << 32)
    assert held[1].aggregate(asked).sum() > ROWS


@pytest.mark.one_in(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_naive_arithmetic_counts_other_bins(engine, table, tmp_path):
    """The control: what a user would write for an even grid, over the same values, differs."""
    engine = Records.of(address(engine, table, tmp_path))
    expression = engine._table._expression
    x = expression.x.cast("float64")
    inside = expression.filter(x.notnull() & ~x.isnan() & (x > LINEAR.low) & (x < LINEAR.high))
    bins = ((inside.x - LINEAR.low) / ((LINEAR.high - LINEAR.low) / LINEAR.bins)).floor().cast("int64")
    naive = answer(inside.select(b=bins).group_by("b").aggregate(n=lambda each: each.count()).order_by("b"))
    where = predicate(f"x > {LINEAR.low!r} and x < {LINEAR.high!r}")
    exact = engine.aggregate(Selected(Binning("x", LINEAR, "drop"), where))
    assert sum(naive["n"].to_pylist()) == exact.sum()
    assert naive["n"].to_pylist() != exact.tolist()


@pytest.mark.parametrize("asked", [RowValues(Domain((SCORE,))), Ballots(("few",), 3)], ids=["rows", "votes"])
def test_rows_stay_in_the_engine(held, asked):
    with pytest.raises(UnsupportedError, match="hands out no"):
        held[1].aggregate(asked)
