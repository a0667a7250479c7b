"""Points between thousands, in files whose other columns have decimal commas, are no decimal points."""

import pytest

import ogive
from ogive.errors import DataError
from ogive.statistics import Count, Grouped, Histogram, Mean, Proportion, Roc, Subset

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


COMMAS = (
    "column 'hb' holds text, but .* a number; it holds numbers with decimal commas; write the file with decimal points"
)
POINTED = {
    "proportion": Proportion("hb", positive="14.5"),
    "whole number": Proportion("hb", positive="14"),
    "proportion of two": Proportion("hb", positive="14,5", negative="15.5"),
    "count of a number": Count("hb", among=14.5),
    "histogram": Histogram("hb", values=(14.5, 15.5)),
    "groups": Grouped(Count("id"), "hb", ("14.5", "15.5")),
    "classes": Roc("id", "hb", (0, 60), bins=4, positive="14.5"),
    "condition": Subset(Count("id"), "hb > 14"),
    "condition on a text": Subset(Count("id"), "hb == '14.5'"),
    "condition in": Subset(Count("id"), "hb in ('14,5', '15.5')"),
}


@pytest.mark.parametrize("asked", POINTED.values(), ids=list(POINTED))
def test_a_declared_number_is_no_text_with_a_decimal_comma(tmp_path, asked):
    path = file(tmp_path, [f"{n};{14 + n % 2},5;1" for n in range(60)])
    with pytest.raises(DataError, match=COMMAS):
        ogive.release(asked, trust=ogive.Clear(path))


@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        (("14,5", "15,5"), Count("hb", among="14,5")),
        (("14,5", "15,5"), Subset(Count("hb"), "hb == '14,5'")),
        (("1.2.0", "1.2.1"), Count("hb", among="1.2.0")),
        (("a,b", "1.5b"), Count("hb", among=("a,b", "1.5"))),
    ],
)
def test_the_control_texts_are_counted_as_they_are_written(tmp_path, cells, asked):
    path = file(tmp_path, [f"{n};{cells[n % 2]};1" for n in range(60)])
    assert ogive.release(asked, trust=ogive.Clear(path)).value == 30


@pytest.mark.parametrize(
    ("costs", "separator", "reads"),
    [
        (["1,326.90", "663.42"], ",", 'commas between thousands; .*read_csv\\(path, thousands=","\\)'),
        (["1,326", "663"], ",", 'commas between thousands; .*read_csv\\(path, thousands=","\\)'),
        (["1,326,900", "NA"], ";", 'commas between thousands; .*read_csv\\(path, sep=";", thousands=","\\)'),
        (["1,326", "663"], ";", 'decimal commas; .*read_csv\\(path, sep=";", decimal=","\\)'),
        (["0,326", "1,500"], ",", 'decimal commas; .*read_csv\\(path, decimal=","\\)'),
    ],
)
def test_commas_between_thousands_are_told_with_what_reads_them(tmp_path, costs, separator, reads):
    rows = [f'{n}{separator}"{costs[n % 2]}"' for n in range(60)]
    with pytest.raises(DataError, match=f"column 'cost' holds text.*it holds numbers with {reads}"):
        mean(file(tmp_path, rows, head=f"id{separator}cost"))
