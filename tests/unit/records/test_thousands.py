"""Points between thousands, in files whose other columns have decimal commas, are no decimal points."""

import pytest

import ogive
from ogive.errors import DataError
from ogive.statistics import Mean

REMEDY = r"decimal=\",\", thousands=\".\"\)"


def file(tmp_path, rows, *, head="id;hb;cost"):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def mean(path, column="cost", highest=5000):
    return ogive.release(Mean(column, bounds=(0, highest)), trust=ogive.Clear(path)).value


@pytest.mark.parametrize(
    ("costs", "holds"),
    [
        (["1.234", "2.345"], "points between thousands"),
        (["999", "1.234"], "points between thousands"),
        (["NA", "1.234.567"], "points between thousands"),
        (["1.234,50", "999,10"], "points between thousands and decimal commas"),
        (["999,10", "5"], "decimal commas"),
    ],
)
def test_they_are_refused_with_what_reads_them(tmp_path, costs, holds):
    path = file(tmp_path, [f"{n};14,{n % 10};{costs[n % 2]}" for n in range(60)])
    with pytest.raises(DataError, match=f"column 'cost' holds text.* it holds numbers with {holds}; write the file"):
        mean(path)
    assert mean(path, "id") == pytest.approx(29.5)
    if "between" in holds:
        with pytest.raises(DataError, match=REMEDY):
            mean(path)


def test_missing_values_written_as_a_point_are_no_points_between_thousands(tmp_path):
    path = file(tmp_path, [f"{n};14,5;." for n in range(60)])
    with pytest.raises(DataError, match="every cell is empty or says that a value is missing"):
        mean(path)


def test_they_are_found_after_the_rows_by_which_columns_are_judged(tmp_path):
    path = file(tmp_path, [f"{n};14,5;999" for n in range(25_000)] + ["1;14,5;1.234"])
    with pytest.raises(DataError, match="points between thousands"):
        mean(path)


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([f"{n};14.5;1.234" for n in range(60)], 1.234),  # no column has decimal commas
        ([f"{n};14,5;{(1.234, 1.5)[n % 2]}" for n in range(60)], 1.367),  # some point stands elsewhere
        ([f"{n};a,b;1.234" for n in range(60)], 1.234),  # a comma of a text
        ([f"{n};{('1,3', '2', '1,2,3')[n % 3]};1.234" for n in range(60)], 1.234),  # several answers
    ],
    ids=["points", "one decimal", "text", "answers"],
)
def test_the_control_other_points_are_decimal_points(tmp_path, rows, value):
    assert mean(file(tmp_path, rows), highest=5) == pytest.approx(value, abs=0.02)


def test_a_file_whose_separator_is_a_comma_has_none(tmp_path):
    path = file(tmp_path, [f'{n},"14,5",1.234' for n in range(60)], head="id,hb,cost")
    assert mean(path, highest=5) == pytest.approx(1.234, abs=0.02)
