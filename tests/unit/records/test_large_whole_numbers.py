"""Whole numbers beyond 2^53 in columns without a type: no record of another kind makes one value of two."""

import numpy as np
import pandas as pd
import pytest

import ogive
from ogive import Adjacency, ApproxDP, Central, Clear, Histogram
from ogive.errors import DataError

LARGE = 2**53
ODD = [1.5, 10**40, 2**64 - 1, np.float64(0.25), -(10**40)]


def containers(values):
    return {
        "list": {"x": list(values)},
        "object array": {"x": np.array(values, dtype=object)},
        "object series": pd.DataFrame({"x": pd.Series(list(values), dtype=object)}),
    }


@pytest.mark.parametrize("container", ["list", "object array", "object series"])
def test_large_whole_numbers_stay_apart(container):
    table = containers([LARGE] * 30 + [LARGE + 1] * 20)[container]
    found = ogive.release(Histogram("x", values=(LARGE, LARGE + 1)), trust=Clear(table))
    assert list(found.counts) == [30, 20]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("container", ["list", "object array", "object series"])
def test_a_record_of_another_kind_is_refused_and_merges_nothing(container, odd):
    table = containers([LARGE] * 300 + [LARGE + 1] * 300 + [odd])[container]
    for values in (None, (LARGE, LARGE + 1)):
        statistic = Histogram("x", values=values, missing="drop", other="refuse" if values is None else "count")
        with pytest.raises(DataError, match="mixes whole numbers beyond 2"):
            ogive.release(
                statistic, trust=Central(table), privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.ADD_OR_REMOVE
            )
    with pytest.raises(DataError, match="mixes whole numbers beyond 2"):
        Central({"x": [1.0] * 601, "who": table["x"]}, person="who", max_rows_per_person=2).count()


def test_numbers_that_are_floats_may_be_mixed():
    table = {"x": [1, 2, 2.5, 2**60, 10**40, 3]}
    found = ogive.release(ogive.Ecdf("x", bounds=(0, 10), bins=20), trust=Clear(table))
    assert found(3) == pytest.approx(4 / 6)
