"""What missing values mean: a policy, or a public value as which they count."""

from __future__ import annotations

import datetime
import math
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import numbers
from helpers.scope import size

import ogive
from ogive.columns import Binning, Label
from ogive.local.values import numbers_of
from ogive.queries import ClassBinning, GroupSums
from ogive.records import Records
from ogive.statistics.base import describe

AGES = Binning("x", ogive.Grid.integers(0, 10))


def counts(values: object, binning: Binning) -> list[int]:
    return Records.of({"x": values}).aggregate(binning).tolist()


@pytest.mark.parametrize("substitute", [0, 3, 3.0, "3", np.float64(3), 10])
def test_counts_missing_values_as_the_public_value(substitute: object) -> None:
    values = np.array([1.0, math.nan, 7.0, math.nan])
    filled = np.where(np.isnan(values), float(substitute), values)
    assert counts(values, Binning("x", AGES.grid, substitute)) == counts(filled, AGES)


def test_counts_missing_dates_as_the_public_date() -> None:
    grid = ogive.Grid.integers("2024-01-01", "2024-01-31")
    days = np.array(["2024-01-05", "NaT", "2024-01-07"], dtype="datetime64[D]")
    filled = np.array(["2024-01-05", "2024-01-20", "2024-01-07"], dtype="datetime64[D]")
    for written in ("2024-01-20", datetime.date(2024, 1, 20)):
        assert counts(days, Binning("x", grid, written)) == counts(filled, Binning("x", grid))


def test_owners_count_a_missing_value_as_the_public_one() -> None:
    assert numbers_of(Binning("x", AGES.grid, 4), [None, 2, math.nan]).tolist() == [4, 2, 4]


def test_classes_and_sums_of_groups_count_missing_values_as_the_public_one() -> None:
    table = {"p": [0.25, math.nan, 0.75], "y": [0, 1, 1]}
    filled = table | {"p": [0.25, 0.5, 0.75]}
    grid = ogive.Grid.linear(0, 1, bins=4)
    for kind in (ClassBinning, GroupSums):
        asked, plain = (kind(Binning("p", grid, missing), Label("y")) for missing in (0.5, "refuse"))
        assert Records.of(table).aggregate(asked).tolist() == Records.of(filled).aggregate(plain).tolist()


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("mean", "`missing` must be refuse, low, high, drop, or a public value .*, got 'mean'"),
        (11, "`missing` must lie within the bounds, 0 to 10, got 11"),
        ("-1", "`missing` must lie within the bounds, 0 to 10, got '-1'"),
        (True, "`missing` must be a number as the bounds are, got True"),
        ("2024-01-01", "`missing` must be a number as the bounds are, got '2024-01-01'"),
        (math.nan, "`missing` must be finite, got nan"),
        (None, "`missing` must be a number or a date, got None"),
    ],
)
def test_refuses_what_no_missing_value_can_count_as(missing: object, said: str) -> None:
    with pytest.raises(ogive.ParameterError) as refused:
        ogive.Ecdf("x", bounds=(0, 10), grid="integers", missing=missing)
    assert re.fullmatch(said, refused.value.marked)


def test_a_number_is_no_date() -> None:
    with pytest.raises(ogive.ParameterError, match="missing must be a date as the bounds are, got 50"):
        ogive.Ecdf("x", bounds=("2024-01-01", "2024-12-31"), grid="integers", missing=50)


def test_a_fraction_is_no_value_where_fractions_are_refused() -> None:
    with pytest.raises(ogive.ParameterError, match="must be a whole number"):
        Binning("x", AGES.grid, 2.5, fractions="refuse")


@pytest.mark.parametrize("spelled", [50, 50.0, "50", np.int64(50)])
def test_one_public_value_is_one_question(spelled: object) -> None:
    asked = describe(ogive.Ecdf("x", bounds=(0, 120), missing=spelled))
    assert asked == describe(ogive.Ecdf("x", bounds=(0, 120), missing=50))
    assert asked["missing"] == 50


def test_every_statistic_takes_a_public_value() -> None:
    bounds = {"bounds": (0, 120)}
    asked = [
        ogive.Ecdf("x", missing=50, **bounds),
        ogive.Quantiles("x", [0.5], missing=50, **bounds),
        ogive.Boxplot("x", missing=50, **bounds),
        ogive.Bounds("x", missing=50),
        ogive.Roc("x", "y", missing=50, **bounds),
        ogive.HosmerLemeshow("p", "y", missing=0.5),
        ogive.Ustatistic("x", "gini", missing=50, **bounds),
    ]
    table = {
        "x": np.where(np.arange(400) % 4, np.arange(400) % 120, np.nan),
        "p": np.where(np.arange(400) % 3, 0.3, np.nan),
        "y": np.arange(400) % 2,
    }
    filled = {**table, "x": np.nan_to_num(table["x"], nan=50), "p": np.nan_to_num(table["p"], nan=0.5)}
    for statistic in asked:
        taken, put_in = (numbers(ogive.release(statistic, trust=ogive.Clear(each))) for each in (table, filled))
        np.testing.assert_array_equal(taken, put_in)
        for adjacency in ogive.Adjacency:
            ogive.release(statistic, trust=ogive.Central(table), privacy=ogive.PureDP(2), adjacency=adjacency)


def test_imagined_records_need_not_hold_the_public_value() -> None:
    bins, records = size(5000, part=500), size(1000, part=100)
    asked = ogive.Ecdf("x", bounds=(0, 500), bins=bins, missing=50, method="adaptive", expected_records=records)
    plan = ogive.plan(asked, records=records, privacy=ogive.PureDP(1))
    assert "adaptive" in str(plan)


def test_the_refusal_names_every_meaning_and_what_it_needs() -> None:
    with pytest.raises(ogive.DataError) as refused:
        counts([1.0, math.nan], AGES)
    for word in (
        "'low'",
        "'high'",
        "public value",
        "either adjacency",
        "'drop'",
        "ADD_OR_REMOVE",
        "fixes its adjacency",
    ):
        assert word in str(refused.value)


def test_a_refusal_neither_costs_anything_nor_fixes_the_adjacency(tmp_path: Path) -> None:
    table = {"x": [1.0, math.nan, 3.0] * 50}
    with ogive.Session(table, name="t", ledger=tmp_path / "l.db", limit=ogive.PureDP(1)) as session:
        with pytest.raises(ogive.DataError, match="the first release of an account fixes its adjacency"):
            session.ecdf("x", bounds=(0, 5), privacy=ogive.PureDP(1))
        assert session.spent is None
    add_or_remove = ogive.Adjacency.ADD_OR_REMOVE
    with ogive.Session(
        table, name="t", ledger=tmp_path / "l.db", limit=ogive.PureDP(1), adjacency=add_or_remove
    ) as session:
        curve = session.ecdf("x", bounds=(0, 5), missing="drop", privacy=ogive.PureDP(1))
        assert curve.adjacency is add_or_remove
