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


def written(tmp_path, *cells):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{cell},1\n" for cell in cells))
    return path


@pytest.mark.parametrize("cells", [(LARGE, LARGE + 1), (1, LARGE), (-LARGE - 1, 2.5), (1, 2**61)])
def test_categories_of_a_csv_file_that_floats_do_not_tell_apart_are_refused(tmp_path, cells):
    path = written(tmp_path, *cells)
    for statistic in (Histogram("x", values=cells), Histogram("x"), ogive.Grouped(ogive.Count("y"), "x", cells)):
        with pytest.raises(DataError, match=r"has numbers from 2\^53 on, which are read as floats") as refused:
            ogive.release(statistic, trust=Clear(path))
        assert "\n" not in str(refused.value)
    # what is measured is the nearest float, and persons are told apart and counted as they are written
    assert ogive.release(ogive.Ecdf("x", bounds=(0, 10), bins=20), trust=Clear(path)).total == len(cells)
    assert Clear(path, person="x").count() == len(cells)


def test_categories_of_a_csv_file_below_that_are_exact(tmp_path):
    found = ogive.release(
        Histogram("x", values=(LARGE - 1, 1 - LARGE, 2)), trust=Clear(written(tmp_path, 1 - LARGE, 2, 2))
    )
    assert list(found.counts) == [0, 1, 2]


def test_conditions_on_numbers_of_a_csv_file_are_refused_from_there_on(tmp_path):
    path = written(tmp_path, LARGE, LARGE + 1)
    for where in (f"x == {LARGE + 1}", f"x in (1, {LARGE})", f"x < {-LARGE}"):
        with pytest.raises(DataError, match=r"not told apart from 2\^53 on, so where cannot compare column 'x'"):
            ogive.release(ogive.Subset(ogive.Count("y"), where), trust=Clear(path))
    assert ogive.release(ogive.Subset(ogive.Count("y"), f"x > {LARGE - 1}"), trust=Clear(path)).value == 2


@pytest.mark.parametrize(
    ("cells", "noted"), [(("001", "1", "2"), True), (("-07", "1"), True), (("0", "0.5", "10"), False)]
)
def test_leading_zeros_of_a_csv_file_are_noted_and_change_nothing(tmp_path, caplog, cells, noted):
    path = written(tmp_path, *cells)
    found = ogive.release(Histogram("x", values=(1,), other="count"), trust=Clear(path))
    assert found.counts[0] == sum(float(cell) == 1 for cell in cells)
    told = [line for line in caplog.messages if "leading zeros, which do not count: 001 and 1 are one value" in line]
    assert len(told) == noted
    assert not any(cell in line.replace("001", "") for line in told for cell in cells if cell.startswith(("0", "-")))
