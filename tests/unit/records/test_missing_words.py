"""Words such as NA: missing where all other values are numbers or dates, and texts like any other elsewhere."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ogive
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.queries import ClassBinning, GroupBinning
from ogive.records import Records

GRID = Grid.integers(0, 10)
CELLS = ("1", "NA", "7", " ? ", "7", "null", "N/a", ".", "nan", "None", "3", "#N/A", "<NA>")
WANTED = [0, 1, 0, 1, 0, 9, 0, 2, 0, 0, 0]
"""Records per bin, where what is missing counts as 5."""
DAYS = ("2024-01-02", "?", "2024-01-05", "NaN")


def counts(data: object, missing: object = 5, grid: Grid = GRID, **named: object) -> list[int]:
    return Records.of(data, **named).histogram(Binning("x", grid, missing)).tolist()


def _csv(folder: Path, cells: tuple[str, ...] = CELLS, more: str = "") -> Path:
    path = folder / "t.csv"
    path.write_text("x,y\n" + "\n".join(f"{cell},{more}" for cell in cells) + "\n", encoding="utf-8")
    return path


def _written(frame: pl.DataFrame, folder: Path, kind: str) -> Path:
    path = folder / f"t.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    return path


CONTAINERS = {
    "csv": lambda folder: _csv(folder),
    "list": lambda folder: {"x": list(CELLS)},
    "numpy": lambda folder: {"x": np.array(CELLS)},
    "pandas objects": lambda folder: pd.DataFrame({"x": pd.Series(CELLS, dtype=object)}),
    "pandas strings": lambda folder: pd.DataFrame({"x": pd.Series(CELLS, dtype="string")}),
    "pandas categories": lambda folder: pd.DataFrame({"x": pd.Categorical(CELLS)}),
    "polars": lambda folder: pl.DataFrame({"x": CELLS}),
    "polars categories": lambda folder: pl.DataFrame({"x": pl.Series(CELLS, dtype=pl.Categorical)}),
    "polars enum": lambda folder: pl.DataFrame({"x": pl.Series(CELLS, dtype=pl.Enum(sorted(set(CELLS))))}),
    "arrow": lambda folder: pa.table({"x": pa.chunked_array([list(CELLS[:4]), list(CELLS[4:])])}),
    "arrow dictionary": lambda folder: pa.table({"x": pa.array(CELLS).dictionary_encode()}),
    "parquet": lambda folder: _written(pl.DataFrame({"x": CELLS}), folder, "parquet"),
    "arrow file": lambda folder: _written(pl.DataFrame({"x": CELLS}), folder, "arrow"),
    "numbers and words": lambda folder: {"x": [int(cell) if cell.isdigit() else cell for cell in CELLS]},
    "numbers and words in pandas": lambda folder: pd.DataFrame(
        {"x": pd.Series([float(cell) if cell.isdigit() else cell for cell in CELLS], dtype=object)}
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_words_mean_missing_among_numbers_in_every_container(container, tmp_path, caplog):
    assert counts(CONTAINERS[container](tmp_path)) == WANTED
    assert sum("as missing; other words are named by na_values=" in text for text in caplog.messages) == 1


@pytest.mark.parametrize("container", ["csv", "polars", "pandas", "dict"])
def test_words_mean_missing_among_dates(container, tmp_path):
    data = {
        "csv": _csv(tmp_path, DAYS),
        "polars": pl.DataFrame({"x": DAYS}),
        "pandas": pd.DataFrame({"x": DAYS}),
        "dict": {"x": [np.datetime64(day).item() if day[0] == "2" else day for day in DAYS]},
    }[container]
    assert counts(data, "2024-01-03", Grid.integers("2024-01-01", "2024-01-05")) == [0, 1, 2, 0, 1]


def test_the_refusal_is_that_of_any_missing_value(tmp_path):
    for container in ("csv", "polars", "numbers and words"):
        with pytest.raises(ogive.DataError, match=r"column 'x' has missing values; .*missing="):
            counts(CONTAINERS[container](tmp_path), "refuse")


def test_a_word_counts_wherever_it_stands(tmp_path):
    """The answer must not depend on whether a word is among the rows by which a column's kind is judged."""
    cells = ("7",) * 300_000 + ("NA",) + ("3",) * 5
    late, first = counts(_csv(tmp_path, cells)), counts(_csv(tmp_path, cells[::-1]))
    assert late == first == [0, 0, 0, 5, 0, 1, 0, 300_000, 0, 0, 0]
    assert counts({"x": list(cells)}) == late


def test_first_rows_that_are_all_missing_do_not_make_a_column_text(tmp_path):
    cells = ("NA", "") * 11_000 + ("4",)
    wanted = [0, 0, 0, 0, 1, 22_000, 0, 0, 0, 0, 0]
    assert counts(_csv(tmp_path, cells)) == counts({"x": list(cells)}) == wanted


@pytest.mark.parametrize(
    "cells",
    [("NA", "NA"), ("", "NA", ""), ("nan", "NA", "x"), ("a", "NA"), ("1", "NA", "many"), ("2024-01-01", "NA", "7")],
)
def test_a_column_of_other_text_stays_text(cells, tmp_path, caplog):
    for data in (_csv(tmp_path, cells), {"x": list(cells)}, pl.DataFrame({"x": cells})):
        with pytest.raises(ogive.DataError, match="column 'x' holds text, but numbers or dates are needed"):
            counts(data)
    assert not caplog.messages


@pytest.mark.parametrize("cells", [("NA", "NA"), ("", "NA", ""), ("?",) * 30_000], ids=["words", "blanks", "many"])
def test_a_column_without_any_value_says_so(cells, tmp_path):
    said = "numbers or dates are needed: every cell is empty or says"
    for data in (_csv(tmp_path, cells), {"x": list(cells)}):
        with pytest.raises(ogive.DataError, match=said):
            counts(data)


def test_a_late_text_is_refused_with_its_line_or_column(tmp_path):
    cells = (*map(str, range(30_000)), "SECRET")
    with pytest.raises(ogive.DataError, match=r"neither a number nor an ISO date on line 30002") as of_file:
        counts(_csv(tmp_path, cells))
    with pytest.raises(
        ogive.DataError, match=r"column 'x' of the data .*neither a number nor an ISO date"
    ) as in_memory:
        counts({"x": list(cells)})
    with pytest.raises(ogive.DataError, match=r"neither a number nor an ISO date on line 30004") as after_a_word:
        counts(_csv(tmp_path, ("7", "NA", *cells)))
    for refused in (of_file, in_memory, after_a_word):
        assert "SECRET" not in str(refused.value)


LABELS = pl.DataFrame({"x": [1, 2, 3, 4], "y": ["NA", "b", "NA", "b"]})


def test_a_label_or_category_may_be_such_a_word(tmp_path):
    path = tmp_path / "t.csv"
    LABELS.write_csv(path)
    classes = ClassBinning(Binning("x", GRID), Label("y", ("NA",), ("b",)))
    groups = GroupBinning(Binning("x", GRID), "y", ("b", "NA"))
    for data in (LABELS, path):
        assert Records.of(data).aggregate(classes).sum(axis=1).tolist() == [2, 2]
        assert Records.of(data).aggregate(groups).sum(axis=1).tolist() == [2, 2]


def test_a_declared_word_is_a_category_among_numbers_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,1\n2,NA\n3,2\n4,NA\n", encoding="utf-8")
    groups = GroupBinning(Binning("x", GRID), "y", (1, 2, "NA"))
    assert Records.of(path).aggregate(groups).sum(axis=1).tolist() == [1, 1, 2]
    with pytest.raises(ogive.DataError, match="column 'y' has missing values; every record needs a group"):
        Records.of(path).aggregate(GroupBinning(Binning("x", GRID), "y", (1, 2)))


@pytest.mark.parametrize("named", ["unknown", ("unknown", "-9"), ["unknown", -9]])
def test_named_words_mean_missing_too(named, tmp_path):
    cells = ("1", "unknown", "7", "NA") + (("-9",) if len(named) == 2 else ())
    missing = len(cells) - 2
    for data in (_csv(tmp_path, cells), {"x": list(cells)}):
        assert counts(data, na_values=named) == [0, 1, 0, 0, 0, missing, 0, 1, 0, 0, 0]


def test_named_numbers_mean_missing_among_numbers():
    for values in ([1, -9, 7], np.array([1.0, -9.0, 7.0]), pl.Series([1, -9, 7], dtype=pl.Int8)):
        assert counts({"x": values}, na_values=-9) == [0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]
    with pytest.raises(ogive.DataError, match="has missing values"):
        counts({"x": [1, -9]}, "refuse", na_values="-9")


def test_what_was_named_is_part_of_what_the_records_are():
    table = {"x": [1, -9, 7]}
    plain = Records.of(table).digest()
    named = Records.of(table, na_values=[-9, "x"]).digest()
    assert plain != named
    assert named == Records.of(table, na_values=["x", "-9"]).digest()


@pytest.mark.parametrize("named", [True, None, [3, None], [b"x"]])
def test_refuses_to_name_what_is_neither_text_nor_number(named):
    with pytest.raises(ogive.ParameterError, match="na_values must be texts or numbers"):
        Records.of({"x": [1]}, na_values=named)


def test_sessions_and_models_pass_names_on(tmp_path):
    table = {"x": [1, -9, 7] * 100}
    asked = {"bounds": (0, 10), "grid": "integers", "missing": 5}
    exact = ogive.Session(table, trust=ogive.Clear, na_values=-9).ecdf("x", **asked)
    assert exact(4) == pytest.approx(1 / 3)
    model = ogive.Clear(table, na_values=-9)
    assert ogive.release(ogive.Ecdf("x", **asked), trust=model).evaluate(4) == pytest.approx(1 / 3)


def test_functions_of_arrays_pass_names_on():
    values = [1, -9, 7] * 100
    asked = {"bounds": (0, 10), "missing": 5, "trust": "clear", "na_values": -9}
    assert ogive.ecdf(values, grid="integers", **asked).evaluate(4) == pytest.approx(1 / 3)
    assert ogive.quantiles(values, [0.5], grid="integers", **asked).numbers[0] == 5
    assert ogive.boxplot(values, grid="integers", **asked).boxes[0].median == 5
    assert ogive.mean(values, **asked).value == pytest.approx(13 / 3, abs=0.01)
    assert ogive.find_bounds(values, trust="clear", missing=5, na_values=[-9]).bounds[0] >= 0
    table = ogive.describe({"x": values}, bounds={"x": (0, 10)}, missing={"x": 5}, trust="clear", na_values=["-9"])
    assert table["x"]["mean"].value == pytest.approx(13 / 3, abs=0.01)
    scores, labels = [0.1, -9, 0.9], [0, 0, 1]
    curve = ogive.roc(scores, labels, bounds=(0, 1), missing="low", trust="clear", na_values=-9)
    assert curve.auc == 1
    pairs = ogive.ustatistic(values, bounds=(0, 10), grid="integers", missing=5, trust="clear", na_values=-9)
    assert pairs.value == pytest.approx(
        ogive.ustatistic([1, 5, 7] * 100, bounds=(0, 10), grid="integers", trust="clear").value
    )
    test = ogive.hosmer_lemeshow(scores * 50, labels * 50, groups=2, missing="low", trust="clear", na_values=-9)
    assert test.provenance.assumption
    with pytest.raises(ogive.DataError, match="missing values"):
        ogive.mean(values, bounds=(0, 10), trust="clear", na_values=-9)
    with pytest.raises(ogive.ParameterError, match="na_values must be texts or numbers"):
        ogive.mean(values, bounds=(0, 10), trust="clear", na_values=[None])


def test_parts_and_subsets_of_a_table_mean_the_same(tmp_path):
    records = Records.of(_csv(tmp_path, (*CELLS, "-9")), na_values=-9)
    parts = [part.histogram(Binning("x", GRID, 5)) for part in records.split(2)]
    assert sum(parts).tolist() == [0, 1, 0, 1, 0, 10, 0, 2, 0, 0, 0]


def test_the_note_names_words_and_no_other_value(caplog):
    with caplog.at_level(logging.WARNING):
        counts({"x": ["424242", "?", "NA", "?"]})
    (said,) = caplog.messages
    assert said.startswith("ogive: '?' and 'NA' in column 'x' of the data count as missing")
    assert "424242" not in said


def test_one_word_counts_and_many_are_cut_short(caplog):
    for words in (["NA"], ["", ".", "?", "N/A", "NA", "null"]):
        with caplog.at_level(logging.WARNING):
            counts({"x": ["1", *words]})
    one, many = caplog.messages
    assert one.startswith("ogive: 'NA' in column 'x' of the data counts as missing")
    assert many.startswith("ogive: '.', '?', 'N/A', 'NA', 'null' and others in column 'x' of the data count as")


TRUTHS = [True, False, None, True]


@pytest.mark.parametrize(
    "column",
    [
        TRUTHS,
        pd.Series(TRUTHS, dtype="boolean"),
        pd.Series(TRUTHS, dtype=object),
        pl.Series(TRUTHS),
        pa.array(TRUTHS),
        ["true", "False", "NA", "TRUE"],
    ],
    ids=["list", "pandas", "pandas objects", "polars", "arrow", "text"],
)
def test_truth_values_count_as_0_and_1(column):
    assert counts({"x": column}, 5) == [1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", ["pandas", "polars", "enum", "arrow"])
def test_categories_keep_their_names(kind):
    names = ["low", "high", "low", "middle"] * 50
    column = {
        "pandas": lambda: pd.Categorical(names),
        "polars": lambda: pl.Series(names, dtype=pl.Categorical),
        "enum": lambda: pl.Series(names, dtype=pl.Enum(["high", "low", "middle"])),
        "arrow": lambda: pa.array(names).dictionary_encode(),
    }[kind]()
    statistic = ogive.Boxplot("x", bounds=(0, 200), by="grade", groups=("low", "middle", "high"))
    boxes = ogive.release(statistic, trust=ogive.Clear({"x": np.arange(200.0), "grade": column}))
    assert [line.split()[0] for line in str(boxes).splitlines()[2:5]] == ["low", "middle", "high"]


@pytest.mark.parametrize("made", ["secagg", "servers", "pairs"])
def test_models_of_several_parties_take_words_for_missing_values(made):
    tables = [{"x": ["1", "gone", "3", "-9"]}, {"x": ["gone", "2", "NA", "4"]}]
    words = ("gone", -9)

    def model(**given):
        match made:
            case "secagg":
                return ogive.SecAgg(tables, **given)
            case "servers":
                return ogive.Servers(tables, **given)
            case _:
                return ogive.Pairs(tables[0], circuits="clear", **given)

    counted = Binning("x", Grid.integers(0, 9), missing=9)

    def bins(held):
        records = [held.records] if made == "pairs" else held.parties
        return sum(each.histogram(counted) for each in records).tolist()

    wanted = [0, 1, 0, 1, 0, 0, 0, 0, 0, 2] if made == "pairs" else [0, 1, 1, 1, 1, 0, 0, 0, 0, 4]
    assert bins(model(na_values=words)) == wanted
    with pytest.raises(DataError):
        bins(model())
    with pytest.raises(ParameterError, match="must be texts or numbers"):
        model(na_values=[True])


@pytest.mark.parametrize(
    "asked",
    [
        ogive.Count("s", among=-9),
        ogive.Count("s", among=(1, -9.0)),
        ogive.Proportion("s", positive=1, negative=(0, -9)),
        ogive.Roc("v", "s", (0, 1), bins=4, positive=1, negative=(0, -9)),
        ogive.Count("t", among=" refused"),
    ],
    ids=["count", "count of several", "proportion", "classes", "text"],
)
def test_what_was_named_as_missing_is_not_counted_as_a_value(asked, tmp_path):
    table = {"s": [1, 0, -9] * 20, "v": [0.5, 0.25, 1.0] * 20, "t": ["yes", "no", "Refused"] * 20}
    path = tmp_path / "t.csv"
    pl.DataFrame(table).write_csv(path)
    for data in (table, path):
        with pytest.raises(ogive.DataError, match=r"means a missing value as was said with na_values=.*is missing"):
            ogive.release(asked, trust=ogive.Clear(data, na_values=[-9, "refused"]))


def test_the_control_a_usual_word_that_was_declared_is_a_value(tmp_path):
    path = _csv(tmp_path, ("NA", "EU", "NA"))
    assert ogive.release(ogive.Count("x", among="NA"), trust=ogive.Clear(path)).value == 2


def test_a_missing_category_is_refused_with_what_leaves_it_out():
    asked = ogive.Ustatistic("s", "collision", categories=(0, 1))
    with pytest.raises(ogive.DataError, match=r"every record needs a category, so leave .* where='s is not missing'"):
        ogive.release(asked, trust=ogive.Clear({"s": [1, 0, -9] * 20}, na_values=-9))


@pytest.mark.parametrize("late", [0, 30_000])
def test_a_time_with_blanks_around_it_is_read_and_a_word_beside_times_is_refused(tmp_path, late):
    path, rows = tmp_path / "t.csv", ["2020-01-01 00:00:00"] * (3 + late)

    def ask():
        question = ogive.Ecdf("x", bounds=("2020-01-01T00:00:00", "2020-01-05T00:00:00"), bins=4, missing="high")
        return ogive.release(question, trust=ogive.Clear(path)).cumulative.tolist()

    path.write_text("\n".join(["x", *rows, "\u00a02020-01-02 00:00:00", *rows[:1]]), encoding="utf-8")
    assert ask()[-1] == ask()[1] == len(rows) + 2
    path.write_text("\n".join(["x", *rows, "abc", *rows[:1]]), encoding="utf-8")
    with pytest.raises(DataError, match=f"line {len(rows) + 2}"):
        ask()


def test_two_spellings_of_one_truth_value_are_two_classes_where_both_are_declared():
    data = {"s": [1.0, 2.0, 3.0, 4.0] * 5, "t": ["TRUE", "true", "true", "true"] * 5}
    question = ogive.Roc("s", "t", positive=("TRUE",), negative=("true",), bounds=(0, 5))
    estimate = ogive.release(question, trust=ogive.Clear(data))
    assert (estimate.positives.cumulative[-1], estimate.negatives.cumulative[-1]) == (5, 15)


def test_a_document_with_many_names_of_which_one_stands_twice_is_refused_at_once():
    text = json.dumps({str(number): number for number in range(200_000)})
    with pytest.raises(DataError, match="stands twice"):
        ogive.Curve.from_json('{"100000": 1, ' + text[1:])
