"""What a cell of a CSV file means to a label or a condition does not depend on other records."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.engines import address
from helpers.scope import is_everything, size

import ogive
from ogive import Count, Grouped, Histogram, PureDP, Subset, Sum
from ogive.columns import Categories, Label, Listed, Membership
from ogive.errors import DataError
from ogive.local.values import numbers_of

FILES = {
    "numbers": ["5", "7", "NA"] * 20,
    "text": ["a", "b", "NA"] * 20,
    "words": ["NA", "?"] * 30,
    "dates": ["2024-02-01", "2024-03-01", "NA"] * 20,
    "times": ["2024-02-01T00:00:00", "2024-03-01T08:00:00"] * 30,
    "truths": ["true", "True", "false"] * 20,
    "capital truths": ["TRUE", "FALSE", "NA"] * 20,
    "codes": ["0012", "12"] * 30,
}
CELLS = ["5", "5.0", "abc", "NA", "?", "2024-02-01", "2024-02-01T00:00:00", "true", "TRUE", "0012", ""]
QUESTIONS = {
    "missing": Subset(Count("y"), "w is missing"),
    "given": Subset(Count("y"), "not w is missing"),
    "text": Subset(Count("y"), "w == 'a'"),
    "other text": Subset(Count("y"), "w != 'a'"),
    "number": Subset(Count("y"), "w == 5"),
    "day": Subset(Count("y"), "w == '2024-02-01'"),
    "other day": Subset(Count("y"), "w != '2024-02-01'"),
    "value": Count("w", missing="no"),
    "among numbers": Count("w", among=(5, 12), missing="no"),
    "among texts": Count("w", among=("a", "abc"), missing="no"),
    "among truths": Count("w", among=(True, "abc"), missing="no"),
    "histogram of numbers": Histogram("w", values=(5, 7, 12), other="count", missing="count"),
    "histogram of texts": Histogram("w", values=("a", "abc"), other="count", missing="count"),
    "histogram with a word": Histogram("w", values=("a", "NA", 5), other="count", missing="count"),
    "written truth": Subset(Count("y"), "w == 'TRUE'"),
    "no written truth": Subset(Count("y"), "w != 'TRUE'"),
    "among written truths": Count("w", among=("TRUE", "abc"), missing="no"),
    "histogram of written truths": Histogram("w", values=("TRUE", "false"), other="count", missing="count"),
    "histogram of known ones": Histogram("w", values=("a", True, 5), other="drop", missing="drop"),
}


def counted(path, cells, statistic):
    """The exact answer for a file of these cells, or None where it is refused."""
    path.write_text("w,y\n" + "".join(f"{cell},1\n" for cell in cells), encoding="utf-8")
    try:
        found = ogive.release(statistic, trust=ogive.Clear(path), adjacency=ogive.Adjacency.ADD_OR_REMOVE)
    except DataError:
        return None
    return np.array(found.counts if isinstance(statistic, Histogram) else [found.value])


def is_soon(number, name, question):
    """Whether `make test` takes a case: each question of one file, and more of truth values of files that hold some."""
    return number % 8 == 0 or ("truth" in name and "truth" in question and number % 2 == 0)


@pytest.mark.parametrize(
    ("number", "name", "question"),
    [
        pytest.param(
            number,
            name,
            question,
            id=f"{name}-{question}",
            marks=() if is_soon(number, name, question) else pytest.mark.everything,
        )
        for number, (name, question) in enumerate(itertools.product(FILES, QUESTIONS))
    ],
)
def test_one_record_more_or_another_one_changes_a_count_by_at_most_one(tmp_path, number, name, question):
    path, statistic, cells = tmp_path / "t.csv", QUESTIONS[question], FILES[name]
    before = counted(path, cells, statistic)
    kept = size(len(CELLS), part=4)  # of neighbouring cases each has every third cell in `make test`
    more = CELLS if kept == len(CELLS) else CELLS[number % 3 :: 3]
    added = [counted(path, [*cells, cell], statistic) for cell in more]
    # two tables that replace one record by the other, where the first may be refused
    for one, other in itertools.combinations([before, *added], 2):
        assert one is None or other is None or np.abs(one - other).max() <= 1
        # of a histogram a record leaves one place at most and joins another
        assert one is None or other is None or np.abs(one - other).sum() <= 2


@pytest.mark.parametrize("cells", FILES.values(), ids=list(FILES))
def test_some_question_of_each_file_is_answered(tmp_path, cells):
    """So that the cases above do not hold because everything is refused."""
    found = []
    for statistic in QUESTIONS.values():
        answer = counted(tmp_path / "t.csv", cells, statistic)
        if answer is not None:
            found.append(answer.any())
        if len(found) >= 4 and any(found) and not is_everything():
            break
    assert len(found) >= 4
    assert any(found)


def test_a_word_means_missing_wherever_it_stands(tmp_path):
    path = tmp_path / "t.csv"
    for rest in ([], ["5"], ["a"], ["2024-02-01"]):
        assert counted(path, ["NA"] * 21_000 + rest, QUESTIONS["missing"]) == 21_000


@pytest.mark.parametrize("other", ["5", "2024-02-01", "true"])
def test_a_column_that_mixes_text_with_other_kinds_is_refused_by_name(tmp_path, other):
    path = tmp_path / "t.csv"
    path.write_text("w,y\n" + "abc,1\n" * 25_000 + f"{other},1\n", encoding="utf-8")
    asked = (QUESTIONS["value"], QUESTIONS["text"], Grouped(Sum("y", (0, 1)), "w", ("abc", other)))
    # in `make test` each kind of question of one of the files
    first = 0 if is_everything() else ("5", "2024-02-01", "true").index(other)
    for statistic in asked if is_everything() else asked[first : first + 1]:
        with pytest.raises(DataError, match=r"column 'w' of .*t.csv mixes text with numbers"):
            ogive.release(statistic, trust=ogive.Central(path), privacy=PureDP(1))


PADDED_TRUTHS = [["TRUE ", "FALSE "], ["TRUE ", "FALSE"], ["true", "NA", " false"], ["True\u00a0", "\u3000FALSE"]]


@pytest.mark.parametrize("cells", PADDED_TRUTHS)
@pytest.mark.parametrize("positive", [True, "true", "TRUE"])
def test_truth_values_with_blanks_around_them_are_truth_values(tmp_path, cells, positive):
    path = tmp_path / "t.csv"
    written = ["true"] * 25_000 + cells * 10 if len(cells) == 3 else cells * 10
    rest = 25_000 if len(cells) == 3 else 0
    assert counted(path, written, Count("w", among=positive, missing="no")) == rest + 10
    assert counted(path, written, Subset(Count("y"), "w == 'True'")) == rest + 10


@pytest.mark.parametrize("reader", ["lists", "objects", "pandas", "polars", "Parquet", "DuckDB", "PostgreSQL"])
def test_a_text_that_writes_a_truth_value_is_found_in_each_spelling(reader, tmp_path):
    words = {"flag": ["TRUE", "FALSE ", "True", "maybe"] * 5, "y": [1.0] * 20}
    table = words if reader == "lists" else TEXT_READERS[reader](words, tmp_path)

    def of(statistic):
        return ogive.release(statistic, trust=ogive.Clear(table)).value

    for word in ("true", "TRUE", " True"):
        assert of(ogive.Proportion("flag", positive=word)) == 0.5
        assert of(Subset(Count("y"), f"flag == '{word}'")) == of(Subset(Count("y"), f"flag in ('{word}', 'x')")) == 10
        assert of(Subset(Count("y"), f"flag != '{word}'")) == 10
    assert of(Count("flag", among=("TRUE", "True"))) == 10
    assert of(Count("flag", among=("tRUE", "MAYBE"))) == 0
    with pytest.raises(DataError, match=r"holds text, but the values to count are truth values; .* .?positive='true'"):
        of(ogive.Proportion("flag", positive=True))


def test_a_declared_word_is_a_category(tmp_path):
    path = tmp_path / "t.csv"
    assert counted(path, ["a", "NA", "NA"], Count("w", among=("NA",))) == 2
    assert counted(path, ["5", "7", "NA", "NA"], Count("w", among=(5, "NA"))) == 3


def test_a_condition_on_a_word_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("w,y\na,1\nNA,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'NA' means a missing value in a CSV file.*write w is missing"):
        ogive.release(Subset(Count("y"), "w in ('a', 'NA')"), trust=ogive.Clear(path))


def test_whose_rows_are_kept_does_not_depend_on_a_label_of_another_person(tmp_path):
    def kept(*more):
        path = tmp_path / "t.csv"
        rows = [f"p{i % 100},{(i * 7) % 10 % 2},{i % 41}" for i in range(300)]
        path.write_text("p,w,y\n" + "\n".join([*rows, *more]) + "\n", encoding="utf-8")
        trust = ogive.Clear(path, person="p", max_rows_per_person=1)
        return ogive.release(Count("w", among=(1,), missing="no"), trust=trust).value

    assert abs(kept("new,0,5") - kept()) <= 1
    for odd in ("abc", "true", "2024-02-01"):
        with pytest.raises(DataError):
            kept(f"new,{odd},5")


TRUTHS = {"flag": [n % 3 == 0 for n in range(60)], "y": [1.0] * 60}
READERS = {
    "lists": lambda folder: TRUTHS,
    "arrays": lambda folder: {name: np.array(values) for name, values in TRUTHS.items()},
    "objects": lambda folder: pd.DataFrame(TRUTHS).astype({"flag": object}),
    "pandas": lambda folder: pd.DataFrame(TRUTHS),
    "categorical": lambda folder: pd.DataFrame(TRUTHS).astype({"flag": "category"}),
    "polars": lambda folder: pl.DataFrame(TRUTHS),
    "CSV": lambda folder: written(pd.DataFrame(TRUTHS), folder / "t.csv"),
    "Parquet": lambda folder: written(pd.DataFrame(TRUTHS), folder / "t.parquet"),
    "DuckDB": lambda folder: address("duckdb", pa.table(TRUTHS), folder),
    "PostgreSQL": lambda folder: address("postgresql", pa.table(TRUTHS), folder),
}


TEXT_READERS = {
    "objects": lambda words, folder: pd.DataFrame(words).astype({"flag": object}),
    "pandas": lambda words, folder: pd.DataFrame(words).astype({"flag": "category"}),
    "polars": lambda words, folder: pl.DataFrame(words),
    "Parquet": lambda words, folder: written(pd.DataFrame(words), folder / "t.parquet"),
    "DuckDB": lambda words, folder: address("duckdb", pa.table(words), folder, "words"),
    "PostgreSQL": lambda words, folder: address("postgresql", pa.table(words), folder, "words"),
}


def written(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("reader", READERS)
def test_truth_values_may_be_declared_as_the_texts_of_them(reader, tmp_path):
    table = READERS[reader](tmp_path)

    def of(statistic):
        return ogive.release(statistic, trust=ogive.Clear(table))

    spelled = (("TRUE", "FALSE"), ("true", "False"), (True, False), (1, 0))
    first = list(READERS).index(reader) % len(spelled)  # in `make test` each reader has one of them
    for true, false in spelled if is_everything() else spelled[first : first + 1]:
        assert of(Histogram("flag", values=(true, false))).counts == (20, 40)
        assert of(Grouped(Sum("y", (0, 1)), "flag", (false, true)))[true].value == 20
        assert of(Count("flag", among=(false,))).value == 40
        assert of(ogive.Roc("y", "flag", positive=true, bounds=(0, 1), bins=4)).classes == (40, 20)
        written_as = f"'{true}'" if isinstance(true, str) else int(true)
        assert of(Subset(Count("y"), f"flag == {written_as}")).value == 20
    assert of(Subset(Count("y"), "flag != 'true'")).value == of(Subset(Count("y"), "flag in ('FALSE',)")).value == 40
    for wrong in ("T", "yes"):
        with pytest.raises(DataError, match="column 'flag' holds truth values, but the values to count are texts"):
            of(Count("flag", among=(wrong,)))
        with pytest.raises(DataError, match=f"truth values, so where compares .*not with '{wrong}'"):
            of(Subset(Count("y"), f"flag == '{wrong}'"))
    with pytest.raises(DataError, match=r"holds truth values, .*categories are texts; write them as truth values"):
        of(Histogram("flag", values=("TRUE", "true")))


@pytest.mark.parametrize(("true", "false"), [("TRUE", "FALSE"), ("true", "False"), (True, False)])
@pytest.mark.parametrize("written", [(True, False), ("TRUE", "FALSE"), (" True ", "false")])
def test_a_device_and_an_upload_take_truth_values_as_a_curator_does(true, false, written):
    """A text is the truth value that it writes, in each spelling."""
    values = [written[0], written[1], written[0]]
    columns = {
        "member": (Membership("f", (true,), "no"), [1, 0, 1]),
        "listed": (Listed("f", (false, true), "count", "count"), [1, 0, 1]),
        "label": (Label("f", (true,), None), [1, 0, 1]),
        "category": (Categories("f", (false, true)), [1, 0, 1]),
    }
    for name, (column, expected) in columns.items():
        assert numbers_of(column, values).tolist() == expected, name


@pytest.mark.parametrize("cells", [["TRUE", "FALSE", "NA"], ["True", "False", "NA"], ["true", "false", "NA"]])
def test_truth_values_are_counted_beside_a_declared_word(tmp_path, cells):
    path = tmp_path / "t.csv"
    for rest in ([], ["TRUE"]):
        found = counted(path, [*cells * 20, *rest], Histogram("w", values=(True, False, "NA"), other="count"))
        assert found.tolist() == [20 + len(rest), 20, 20, 0]
    assert counted(path, cells * 20, Histogram("w", values=("TRUE", "FALSE", "NA"), other="count")) is None


@pytest.mark.parametrize("word", ["true", " FALSE", "True"])
def test_a_word_that_writes_a_truth_value_cannot_mean_a_missing_one(word):
    with pytest.raises(ogive.ParameterError, match="which is a truth value; name another word"):
        ogive.Clear({"w": [True]}, na_values=(word,))
