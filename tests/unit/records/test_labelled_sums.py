"""Sums over records with labels, from every kind of table, against sums written row by row."""

import decimal
import gzip
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.queries import ClassBinning, GroupSums
from ogive.records import Records, sources
from ogive.records.contributions import check_room

GRID = Grid.linear(0, 1, bins=7)
CLASSES = ClassBinning(Binning("score", GRID), Label("y"))
GROUPS = GroupSums(Binning("score", Grid.explicit([0.25, 0.5, 1], low=0)), Label("y"), bits=12)
SECRET = "424242"


def slow_sums(aggregate, values, labels):
    """One row at a time, in Python's whole numbers."""
    counts = [[0] * aggregate.shape[1] for _ in range(aggregate.shape[0])]
    binning = aggregate.score if isinstance(aggregate, ClassBinning) else aggregate.probability
    grid = binning.grid
    for value, label in zip(values, labels, strict=True):
        if value is None or math.isnan(value):
            value = {"low": grid.low, "high": grid.high}[binning.missing]
        value = min(max(value, grid.low), grid.high)
        at = next(i for i, end in enumerate(grid.thresholds) if value <= end)
        if isinstance(aggregate, ClassBinning):
            counts[int(label)][at] += 1
            continue
        expected = round(value * 2**aggregate.bits)
        for row, amount in enumerate((2**aggregate.bits - expected, expected, 1 - label, label)):
            counts[row][at] += amount
    return counts


def a_table(size=1_000, seed=1):
    rng = np.random.default_rng(seed)
    return {"name": [f"p{i}" for i in range(size)], "score": rng.random(size).round(6), "y": rng.integers(0, 2, size)}


def as_file(folder, kind, table):
    arrow = pa.table(table)
    path = folder / f"t.{kind}"
    match kind:
        case "csv":
            pd.DataFrame(table).to_csv(path, index=False)
        case "csv.gz":
            path.write_bytes(gzip.compress(pd.DataFrame(table).to_csv(index=False).encode()))
        case "parquet":
            pq.write_table(arrow, path, row_group_size=300)
        case "arrow":
            with pa.ipc.new_file(path, arrow.schema) as writer:
                writer.write_table(arrow, max_chunksize=100)
        case "arrows":
            with pa.ipc.new_stream(path, arrow.schema) as writer:
                writer.write_table(arrow, max_chunksize=100)
        case "feather":
            pyarrow.feather.write_feather(arrow, path)
    return path


FRAMES = {
    "dict": lambda table: table,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow_table": pa.table,
    "uneven_chunks": lambda table: pa.table(
        {
            "score": pa.chunked_array([table["score"][:10], table["score"][10:]]),
            "y": pa.chunked_array([table["y"][:500], [], table["y"][500:]]),
        }
    ),
    "truth_values": lambda table: {**table, "y": table["y"] == 1},
    "floats": lambda table: {**table, "y": table["y"].astype(float)},
    "small": lambda table: {**table, "y": table["y"].astype(np.int8)},
    "decimals": lambda table: {**table, "y": [decimal.Decimal(int(y)) for y in table["y"]]},
    "categories": lambda table: pd.DataFrame({**table, "y": pd.Categorical(table["y"])}),
}


@pytest.mark.parametrize("aggregate", [CLASSES, GROUPS], ids=["classes", "groups"])
@pytest.mark.parametrize("kind", [*FRAMES, "csv", "csv.gz", "parquet", "arrow", "arrows", "feather"])
def test_every_kind_of_table_gives_the_sums_of_its_rows(kind, aggregate, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 128)
    table = a_table()
    data = FRAMES[kind](table) if kind in FRAMES else as_file(tmp_path, kind, table)
    expected = slow_sums(aggregate, table["score"].tolist(), table["y"].tolist())
    assert Records.of(data).aggregate(aggregate).tolist() == expected


WORDS = {
    "dict": {"score": [0.1, 0.9, 0.3], "y": ["no", "yes", "no"]},
    "pandas": pd.DataFrame({"score": [0.1, 0.9, 0.3], "y": ["no", "yes", "no"]}),
    "categories": pd.DataFrame(
        {"score": [0.1, 0.9, 0.3], "y": pd.Categorical(["no", "yes", "no"], ["a", "yes", "no"])}
    ),
    "polars": pl.DataFrame({"score": [0.1, 0.9, 0.3], "y": ["no", "yes", "no"]}),
    "polars_categories": pl.DataFrame(
        {"score": [0.1, 0.9, 0.3], "y": pl.Series(["no", "yes", "no"], dtype=pl.Categorical)}
    ),
    "views": {"score": [0.1, 0.9, 0.3], "y": pa.array(["no", "yes", "no"], pa.string_view())},
}


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("negative", [("no",), None, ("no", "never")], ids=["named", "the_other", "two"])
def test_words_are_labels(kind, negative):
    aggregate = ClassBinning(Binning("score", Grid.explicit([0.2, 0.5, 1], low=0)), Label("y", ("yes",), negative))
    assert Records.of(WORDS[kind]).aggregate(aggregate).tolist() == [[1, 1, 0], [0, 0, 1]]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=True) | st.floats(-1, 2) | st.none(), st.booleans()), min_size=1, max_size=40
    ),
    missing=st.sampled_from(["low", "high"]),
    bits=st.integers(0, 30),
    grid=st.sampled_from([Grid.linear(0, 1, bins=5), Grid.explicit([0.1, 0.11, 1], low=0), Grid.explicit([1], low=0)]),
)
def test_clipped_and_missing_values_are_summed_as_the_policies_say(rows, missing, bits, grid):
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    table = {"score": pa.array(values, pa.float64()), "y": labels}
    binning = Binning("score", grid, missing)
    for aggregate in (ClassBinning(binning, Label("y")), GroupSums(binning, Label("y"), bits=bits)):
        assert Records.of(table).aggregate(aggregate).tolist() == slow_sums(aggregate, values, labels)


def test_expected_sums_are_exact_where_floats_would_round():
    probabilities = np.full(300_000, 1 / 3)
    aggregate = GroupSums(Binning("score", Grid.explicit([1], low=0)), Label("y"), bits=30)
    sums = Records.of({"score": probabilities, "y": np.ones(300_000)}).aggregate(aggregate)
    assert int(sums[1, 0]) == 300_000 * round(2**30 / 3)
    assert int(sums[0, 0] + sums[1, 0]) == 300_000 << 30


def test_so_many_records_that_sums_could_overflow_are_refused():
    check_room(1 << 32, 30)
    with pytest.raises(DataError, match="use fewer bits"):
        check_room((1 << 32) + 1, 30)
    check_room(1 << 42, 20)


ONE_COLUMN = ClassBinning(Binning("y", Grid.linear(0, 1, bins=4)), Label("y"))
REFUSED = {
    "no_such_label": ({"score": [0.5], "yy": [1]}, CLASSES, "has no column 'y'; did you mean 'yy'?"),
    "missing_label": ({"score": [0.5, 0.5], "y": [1, None]}, CLASSES, "label column 'y' has missing values"),
    "nan_label": ({"score": [0.5, 0.5], "y": [1, np.nan]}, CLASSES, "label column 'y' has missing values"),
    "no_label": ({"score": [0.5], "y": [None]}, CLASSES, "label column 'y' has missing values"),
    "dates": ({"score": [0.5], "y": pa.array([1], pa.date32())}, CLASSES, "holds dates, but numbers, truth values"),
    "lists": ({"score": [0.5], "y": [[1]]}, CLASSES, "but numbers, truth values or text are needed"),
    "text_for_numbers": (
        {"score": [0.5], "y": [SECRET]},
        CLASSES,
        "holds text; say which text is the positive class, for example positive='yes'",
    ),
    "numbers_for_text": (
        {"score": [0.5], "y": [424242]},
        ClassBinning(CLASSES.score, Label("y", ("yes",), ("no",))),
        "holds numbers, but its classes are given as text",
    ),
    "neither": ({"score": [0.5, 0.5], "y": [1, 424242]}, CLASSES, "holds numbers of neither class; name all values"),
    "neither_text": (
        {"score": [0.5, 0.5], "y": ["yes", SECRET]},
        ClassBinning(CLASSES.score, Label("y", ("yes",), ("no",))),
        "holds text of neither class",
    ),
    "three": (
        {"score": [0.5] * 3, "y": [1, 424242, 424243]},
        ClassBinning(CLASSES.score, Label("y", (1,), None)),
        "check positive=, or name the values of the negative class too with negative=",
    ),
    "missing_score": (
        {"score": [0.5, None], "y": [1, 0]},
        CLASSES,
        "missing values; choose their treatment with missing=",
    ),
    "nan_probability": (
        {"score": [0.5, np.nan], "y": [1, 0]},
        GROUPS,
        "choose their treatment with missing='low', 'high' or",
    ),
    "outside": (
        {"score": [0.5, 424242.0], "y": [1, 0]},
        ClassBinning(Binning("score", GRID, outside="refuse"), Label("y")),
        "column 'score' has values outside 0 to 1; widen the bounds",
    ),
    "outside_missing_label_first": ({"score": [0.5, 7.0], "y": [1, None]}, CLASSES, "label column 'y' has missing"),
    "outside_plain": (
        {"score": [-424242.0]},
        Binning("score", Grid.linear(0, 2, bins=4), outside="refuse"),
        "has values outside 0 to 2; widen the bounds",
    ),
    "infinite": ({"score": [math.inf]}, Binning("score", GRID, outside="refuse"), "are not probabilities"),
    "label_is_score": ({"y": [0.25, 0.5, 0.75]}, ONE_COLUMN, "name the column that holds the classes"),
    "label_is_score_unnamed_negative": (
        {"y": [1, 0.5, 0.75]},
        ClassBinning(ONE_COLUMN.score, Label("y", (1,), None)),
        "column 'y' is measured and is named as the label too",
    ),
    "outside_probability": (
        {"score": [1.5], "y": [1]},
        GroupSums(Binning("score", Grid.explicit([1], low=0), outside="refuse"), Label("y")),
        "column 'score' has values outside 0 to 1, which are not probabilities",
    ),
    "text_score": ({"score": [f"{SECRET}x"], "y": [1]}, CLASSES, "or dates are needed; convert the column to numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_labels_and_scores_are_refused_in_one_line(name):
    data, aggregate, words = REFUSED[name]
    with pytest.raises(DataError) as caught:
        Records.of(data).aggregate(aggregate)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_class_that_turns_up_in_a_later_batch_is_seen(monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 2)
    records = Records.of({"score": [0.5] * 5, "y": [1, 2, 1, 2, 3]})
    with pytest.raises(DataError, match="more than two classes"):
        records.aggregate(ClassBinning(CLASSES.score, Label("y", (1,), None)))
    assert records.aggregate(ClassBinning(CLASSES.score, Label("y", (1, 3), None))).sum() == 5


def test_one_column_may_be_score_and_label():
    aggregate = ClassBinning(Binning("y", Grid.explicit([0, 1], low=-1)), Label("y"))
    assert Records.of({"y": [0, 1, 1]}).aggregate(aggregate).tolist() == [[1, 0], [0, 2]]


def test_values_at_the_bounds_are_inside():
    inside = Binning("score", GRID, outside="refuse")
    assert Records.of({"score": [0.0, 1.0]}).aggregate(inside).tolist() == [1, 0, 0, 0, 0, 0, 1]


def test_files_are_never_held_whole(tmp_path, monkeypatch):
    """The largest batch that sums are fed is bounded, whatever the file's own batches are."""
    import ogive.records.table as table

    fed = []
    start = table.start_sums

    def watched(aggregate, labels):
        total = start(aggregate, labels)
        add = total.add
        total.add = lambda columns: (fed.append(len(columns[0])), add(columns))
        return total

    monkeypatch.setattr(table, "start_sums", watched)
    size = 2 * sources.BATCH_ROWS + 7
    data = {"score": np.zeros(size), "y": np.zeros(size)}
    for kind in ("arrow", "parquet"):
        path = tmp_path / f"t.{kind}"
        if kind == "arrow":
            with pa.ipc.new_file(path, pa.table(data).schema) as writer:
                writer.write_batch(pa.RecordBatch.from_pydict(data))
        else:
            pq.write_table(pa.table(data), path)
        fed.clear()
        assert Records.of(path).aggregate(CLASSES).sum() == size
        assert max(fed) <= sources.BATCH_ROWS
        assert sum(fed) == size


def test_a_probability_is_rounded_once_and_its_record_counts_as_one():
    aggregate = GroupSums(Binning("score", Grid.explicit([1], low=0)), Label("y"), bits=0)
    assert Records.of({"score": [0.5], "y": [1]}).aggregate(aggregate).tolist() == [[1], [0], [0], [1]]


def test_a_share_of_text_is_not_counted_by_numbers(tmp_path):
    """The default of a proportion is 1, which no text is: the release would say nothing, and be paid for."""
    for statistic in (ogive.Proportion("w"), ogive.Count("w", among=(1, True))):
        with pytest.raises(DataError, match="column 'w' holds text, but the values to count are numbers"):
            ogive.release(statistic, trust=ogive.Clear({"w": ["yes", "no"]}))
    assert ogive.release(ogive.Proportion("w", positive="yes"), trust=ogive.Clear({"w": ["yes", "no"]})).value == 0.5
