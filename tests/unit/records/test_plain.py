"""Records given as values of Python contribute what the same values in a table of Arrow contribute."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns import Binning, Categories, Domain, Label, Listed, Membership
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.queries import Ballots, Cells, ClassBinning, GroupBinning, GroupSums
from ogive.records import Records
from ogive.records.plain import PlainRecords

AGE = Binning("age", Grid.linear(0, 120, bins=24), missing="low")
DAY = Binning("day", Grid.linear("2020-01-01", "2020-12-31", bins=366), missing="drop")
TIME = Binning("time", Grid.linear("2020-01-01T00:00", "2020-12-31T12:00", bins=366), missing="high")
SHARE = Binning("share", Grid.linear(0, 1, bins=10), outside="refuse")
ILL = Label("ill", (1,), (0,))
SEX = Categories("sex", ("f", "m"))

numbers = st.lists(
    st.one_of(
        st.none(), st.floats(), st.integers(-(2**40), 2**40), st.sampled_from([0, 120]),
    ),
    min_size=1, max_size=9,
)  # fmt: skip
days = st.lists(st.one_of(st.none(), st.dates()), min_size=1, max_size=9)
times = st.lists(
    st.one_of(st.none(), st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2250, 1, 1))),
    min_size=1, max_size=9,
)  # fmt: skip


def both(aggregate, columns):
    """Contributions as Python's values give them, and as Arrow does, some rows after the other."""
    plain = list(PlainRecords(columns).contributions(aggregate))
    table = list(Records.of(columns).contributions(aggregate))
    return [
        (
            np.concatenate([each.cells for each in parts]).tolist(),
            [each.amounts for each in parts if each.amounts is not None],
        )
        for parts in (plain, table)
    ]


@settings(deadline=None, max_examples=60)
@given(numbers, days, times)
def test_measured_values_fall_into_the_bins_of_arrow(ages, dates, moments):
    for binning, values in ((AGE, ages), (DAY, dates), (TIME, moments)):
        if all(each is None for each in values):
            continue
        plain, table = both(binning, {binning.column: values})
        assert plain == table


@pytest.mark.parametrize(
    ("aggregate", "columns"),
    [
        (AGE, {"age": [True, False]}),
        (AGE, {"age": [Decimal("3.5"), Decimal("119.99")]}),
        (AGE, {"age": [np.float32(3), np.float32(2.5)]}),
        (AGE, {"age": ["65", "NA", "7.5", ""]}),
        (DAY, {"day": ["2020-03-04", None, "2020-12-31"]}),
        (DAY, {"day": [datetime.datetime(2020, 3, 4, 23, 59), datetime.datetime(2020, 3, 5)]}),
        (TIME, {"time": [datetime.date(2020, 3, 4)]}),
        (ClassBinning(AGE, ILL), {"age": [1, 2, 3], "ill": [1, 0, 1.0]}),
        (ClassBinning(AGE, Label("ill", ("yes",), ("no",))), {"age": [1, 2], "ill": ["yes", " no "]}),
        (GroupBinning(AGE, "sex", ("f", "m")), {"age": [1, 2, 3], "sex": ["f", "m", "f"]}),
        (GroupSums(SHARE, ILL, 12), {"share": [0.5, 0.25], "ill": [0, 1]}),
        (Cells(Domain((SEX, AGE))), {"sex": ["m", "f"], "age": [5, 100]}),
        (Cells(Domain((Listed("job", (1, 2, "x"), "count", "count"),))), {"job": ["1", "y", None, "x"]}),
        (Cells(Domain((Membership("ill", (1,), "no"),))), {"ill": [1, 0, None, float("nan")]}),
        (Ballots(("q", "r"), 3), {"q": [0, 2], "r": [1, 1]}),
    ],
)  # fmt: skip
def test_every_kind_of_column_is_read_as_arrow_reads_it(aggregate, columns):
    plain, table = both(aggregate, columns)
    assert plain[0] == table[0]
    assert [each.tolist() for each in plain[1]] == [each.tolist() for each in table[1]]


@pytest.mark.parametrize(
    ("aggregate", "columns", "words"),
    [
        (AGE, {"weight": [1]}, "has no column 'age'"),
        (AGE, {"age": []}, "has no rows"),
        (AGE, {"age": [1], "sex": []}, "must have one length"),
        (AGE, {"age": ["old"]}, "needs numbers"),
        (AGE, {"age": [datetime.date(2020, 1, 1)]}, "needs numbers"),
        (DAY, {"day": [3]}, "needs dates"),
        (SHARE, {"share": [1.5]}, "outside 0 to 1"),
        (SHARE, {"share": [None]}, "missing values"),
        (ClassBinning(AGE, ILL), {"age": [1, 2], "ill": [1, "yes"]}, "mixes kinds"),
        (ClassBinning(AGE, ILL), {"age": [1], "ill": ["yes"]}, "holds text"),
        (ClassBinning(AGE, ILL), {"age": [1], "ill": [2]}, "neither class"),
        (ClassBinning(AGE, ILL), {"age": [1], "ill": [datetime.date(2020, 1, 1)]}, "holds dates"),
        (ClassBinning(AGE, ILL), {"age": [1], "ill": [[1]]}, "holds values of type list"),
        (GroupBinning(AGE, "sex", ("f", "m")), {"age": [1], "sex": [1]}, "groups are texts"),
        (GroupBinning(AGE, "sex", ("f", "m")), {"age": [1], "sex": ["x"]}, "not declared"),
    ],
)  # fmt: skip
def test_refuses_in_one_line(aggregate, columns, words):
    with pytest.raises(DataError) as refusal:
        list(PlainRecords(columns).contributions(aggregate))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
