"""Columns of text are read alike, however Arrow lays them out."""

import pyarrow as pa
import pytest
from pyarrow import feather

import ogive
from ogive import Clear, Count, Crosstab, Grouped, Histogram, Mean, Proportion, Roc, Subset, Ustatistic

N = 60
WORDS = ["a", "b", None] * (N // 3)
TWO = ["a", "b"] * (N // 2)


def dictionary_of(kind):
    return lambda values: pa.DictionaryArray.from_arrays(
        pa.array([None if value is None else "ab".index(value) for value in values], pa.int32()),
        pa.array(["a", "b"]).cast(kind),
    )


LAYOUTS = {
    "large": lambda values: pa.array(values, pa.large_string()),
    "view": lambda values: pa.array(values).cast(pa.string_view()),
    "chunks of views": lambda values: pa.chunked_array([pa.array(values[:20]), pa.array(values[20:])]).cast(
        pa.string_view()
    ),
    "dictionary": dictionary_of(pa.string()),
    "dictionary of large": dictionary_of(pa.large_string()),
    "dictionary of views": dictionary_of(pa.string_view()),
    "chunks of dictionaries of views": lambda values: pa.chunked_array(
        [dictionary_of(pa.string_view())(values[:20]), dictionary_of(pa.string_view())(values[20:])]
    ),
}

MEAN = Mean("x", (0, N))
ASKED = {
    "condition": Subset(MEAN, "s == 'a'"),
    "condition on another column": Subset(Count("s", among=("a",)), "y == 1"),
    "missing": Subset(MEAN, "s is missing"),
    "groups": Subset(Grouped(MEAN, "t", ("a", "b")), "y == 1"),
    "classes": Subset(Roc("x", "t", bounds=(0, N), positive="a", negative="b"), "y == 1"),
    "proportion": Subset(Proportion("t", positive="a", negative="b"), "y == 1"),
    "histogram": Subset(Histogram("s", values=("a", "b"), missing="count"), "y == 1"),
    "crosstab": Crosstab("t", "y", rows=("a", "b"), columns=(0, 1)),
    "pairs": Subset(Ustatistic("t", "collision", categories=("a", "b")), "y == 1"),
    "text of numbers": Subset(Mean("z", (0, N)), "y == 1"),
}


def table(layout):
    numbers = pa.array([str(number) for number in range(N)])
    return pa.table(
        {
            "x": pa.array(range(N), pa.float64()),
            "y": pa.array([number // 7 % 2 for number in range(N)]),
            "s": layout(WORDS),
            "t": layout(TWO),
            "z": numbers.cast(pa.string_view()) if "view" in str(layout(TWO).type) else numbers,
        }
    )


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("asked", ASKED)
def test_text_is_read_alike_in_every_layout(name, asked):
    expected = ogive.release(ASKED[asked], trust=Clear(table(pa.array)))
    assert str(ogive.release(ASKED[asked], trust=Clear(table(LAYOUTS[name])))) == str(expected)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("data", ["table", "dict", "file"])
def test_words_for_missing_values_and_persons_are_read_alike_in_every_container(name, data, tmp_path):
    def given(layout):
        found = table(layout)
        if data == "dict":
            return {column: found[column] for column in found.column_names}
        if data == "file":
            feather.write_feather(found, tmp_path / "t.arrow", compression="uncompressed")
            return tmp_path / "t.arrow"
        return found

    def released(layout):
        found = Clear(given(layout), person="z", max_rows_per_person=1, na_values=("b",))
        return str(ogive.release(Subset(Histogram("s", values=("a",), missing="count"), "t == 'a'"), trust=found))

    assert released(LAYOUTS[name]) == released(pa.array)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary_view()], ids=str)
def test_bytes_are_refused_in_one_line(kind):
    bytes_ = table(pa.array).set_column(2, "s", pa.array([b"a", b"b"] * (N // 2), kind))
    with pytest.raises(ogive.DataError, match="column 's' holds values of type binary") as refused:
        ogive.release(Subset(MEAN, "s == 'a'"), trust=Clear(bytes_))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary(1), pa.list_(pa.int64()), pa.duration("s")], ids=str)
@pytest.mark.parametrize("asked", [{"bounds": {"s": (0, 1)}}, {"values": {"s": ("a", "b")}}], ids=["numbers", "values"])
def test_a_description_refuses_columns_that_hold_neither_numbers_nor_text(kind, asked):
    values = {pa.list_(pa.int64()): [1], pa.duration("s"): 1}.get(kind, b"a")
    with pytest.raises(ogive.DataError, match="column 's' holds values of type"):
        ogive.release(ogive.Describe(("s",), **asked), trust=Clear(pa.table({"s": pa.array([values] * N, kind)})))
