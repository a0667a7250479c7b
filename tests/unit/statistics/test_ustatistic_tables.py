"""What arrays may be given in, and that all of it is one table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ogive
from ogive import Clear, DataError, ParameterError

RNG = np.random.default_rng(7)
FIRST = RNG.integers(1, 6, 60)
SECOND = np.clip(FIRST + RNG.integers(-1, 2, 60), 1, 5)

TABLES = {
    "tuple": (FIRST, SECOND),
    "list": [FIRST, SECOND],
    "series": [pd.Series(FIRST), pd.Series(SECOND)],
    "polars": [pl.Series(FIRST), pl.Series(SECOND)],
    "plain": (FIRST.tolist(), SECOND.tolist()),
    "rows": np.stack([FIRST, SECOND], axis=1),
    "lists": np.stack([FIRST, SECOND], axis=1).tolist(),
    "dictionary": {"a": FIRST, "b": SECOND},
}


def tau(data):
    return ogive.ustatistic(data, "kendall", bounds=(1, 5), grid="integers", trust=Clear)


@pytest.mark.parametrize("kind", TABLES)
def test_columns_are_columns_however_they_are_given(kind):
    signs = [
        np.sign((FIRST[i] - FIRST[j]) * (SECOND[i] - SECOND[j])) for i in range(len(FIRST)) for j in range(i)
    ]  # of every pair, one at a time
    assert tau(TABLES[kind]).value == pytest.approx(np.mean(signs))


def test_one_column_in_a_list_of_numbers_stays_one():
    exact = ogive.ustatistic(FIRST, bounds=(1, 5), trust=Clear).value
    for given in (FIRST.tolist(), list(FIRST), [FIRST]):
        assert ogive.ustatistic(given, bounds=(1, 5), trust=Clear).value == exact


def test_too_many_columns_are_counted_and_not_all_named():
    with pytest.raises(ParameterError, match=r"got 60: 'value_1', .*'value_6', \.\.\.$"):
        tau([FIRST.tolist(), SECOND.tolist()])


def test_rows_of_several_lengths_are_refused_in_one_line():
    with pytest.raises(DataError, match="every row of data must have the same number of values"):
        tau([[1, 2], [1]])
