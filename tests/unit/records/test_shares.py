"""Units of people: the definition, who moves how many of them, and that no order of rows matters."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError, UnsupportedError
from ogive.queries import PersonShares
from ogive.records import Records, bounding
from ogive.strategies.composed import PERSON_UNITS

GRID = Grid.integers(0, 2)
VALUES = (0, 1, 2)
NOTHING = np.zeros(3, dtype=np.int64)


def units(rows, missing="refuse", limit=1):
    """Units in the bins of a table, given as pairs of a person and a value."""
    table = {"who": [who for who, _ in rows], "x": [value for _, value in rows]}
    return Records.of(table).bounded("who", limit).aggregate(PersonShares(Binning("x", GRID, missing)))


def defined(rows):
    """The same by the definition, in fractions."""
    found = NOTHING.copy()
    for person in {who for who, _ in rows}:
        values = [value for who, value in rows if who == person]
        exact = [Fraction(PERSON_UNITS * sum(value <= b for value in values), len(values)) for b in VALUES]
        found += np.diff([math.floor(each + Fraction(1, 2)) for each in (Fraction(0), *exact)])
    return found


def all_rows(most):
    """What a person may have: nothing, or up to so many rows, in every order of values."""
    return [rows for size in range(most + 1) for rows in itertools.combinations_with_replacement(VALUES, size)]


def test_a_person_moves_all_of_one_weight_whatever_rows_there_are():
    others = [("b", 0), ("b", 2), ("b", 2), ("c", 1)]
    alone = units(others)
    assert alone.sum() == 2 * PERSON_UNITS
    with_other = [units([*others, *(("a", value) for value in before)]) for before in all_rows(3)[1:]]
    for rows in all_rows(4):
        with_one = units([*others, *(("a", value) for value in rows)])
        moved = with_one - alone
        assert moved.min() >= 0
        assert moved.sum() == (PERSON_UNITS if rows else 0)
        for before in with_other:  # one person in the place of another
            assert np.abs(with_one - before).sum() <= (2 if rows else 1) * PERSON_UNITS


def test_rows_that_were_counted_alike_would_move_more():
    others, rows = [("b", 0)], [("a", value) for value in (0, 1, 2, 2)]
    counts = [
        Records.of({"who": [who for who, _ in each], "x": [value for _, value in each]})
        .bounded("who", 4)
        .aggregate(Binning("x", GRID))
        for each in (others, others + rows)
    ]
    assert np.abs(np.diff(counts, axis=0)).sum() == 4 > 1


@pytest.mark.parametrize("limit", [1, 3])
def test_units_are_those_of_the_definition_whatever_may_be_kept(limit):
    rng = np.random.default_rng(3)
    rows = [
        (int(who), int(value)) for who, value in zip(rng.integers(0, 40, 500), rng.integers(0, 3, 500), strict=True)
    ]
    assert {sum(who == each for who, _ in rows) % 8 for each in range(40)} > {1, 3, 5}
    np.testing.assert_array_equal(units(rows, limit=limit), defined(rows))


def test_order_batches_and_files_on_disk_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    rows = [
        (f"p{who}", int(value)) for who, value in zip(rng.integers(0, 30, 300), rng.integers(0, 3, 300), strict=True)
    ]
    expected = units(rows)
    np.testing.assert_array_equal(units([rows[place] for place in rng.permutation(300)]), expected)
    monkeypatch.setattr(bounding, "MOST_HELD", 50)
    np.testing.assert_array_equal(units(rows), expected)


def test_rows_of_a_few_have_equal_parts():
    for size in range(1, 9):
        rows = [("a", 0)] + [("a", 2)] * (size - 1)
        assert units(rows).tolist() == [PERSON_UNITS // size, 0, PERSON_UNITS - PERSON_UNITS // size]


def test_missing_values_count_where_they_are_said_to():
    rows = [("a", 0), ("a", None), ("b", None)]
    assert units(rows, "high").tolist() == [420, 0, 420 + 840]
    assert units(rows, "drop").tolist() == [840, 0, 0]
    with pytest.raises(DataError, match="missing values"):
        units(rows)


def test_there_is_no_contribution_of_a_row():
    records = Records.of({"who": [1, 1], "x": [0, 2]}).bounded("who", 1)
    with pytest.raises(UnsupportedError, match="depends on the person's other rows"):
        list(records.contributions(PersonShares(Binning("x", GRID))))
