"""Files of every kind, whole and damaged. A message is one line and shows no record."""

import datetime
import gzip
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.records import Records, files

GRID = Grid.linear(0, 100, bins=10)
AGE = Binning("age", GRID)
SECRET = "424242"


def write_table(path, table):
    """The table in the format of the path's suffix."""
    name = path.name
    if name.endswith((".parquet", ".pq")):
        pq.write_table(table, path)
    elif name.endswith(".feather"):
        pyarrow.feather.write_feather(table, path)
    elif name.endswith((".arrow", ".ipc")):
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    else:
        separator = "\t" if ".tsv" in name else ","
        lines = [separator.join(table.column_names)]
        lines += [separator.join("" if v is None else str(v) for v in row.values()) for row in table.to_pylist()]
        content = ("\n".join(lines) + "\n").encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def refusal(path, binning=AGE):
    with pytest.raises(DataError) as caught:
        Records.of(path).histogram(binning)
    message = str(caught.value)
    assert "\n" not in message
    assert SECRET not in message, "a message must not show a record"
    return message


SUFFIXES = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq", ".arrow", ".ipc", ".feather", ".arrows", ".CSV"]


def test_a_file_that_unpacks_to_many_times_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_FREELY", 1 << 22)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"age\n" + b"1\n" * (1 << 22))
    with pytest.raises(DataError, match="unpacks to more than 200 times its size"):
        Records.of(path)


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_damaged_arrow_file_ends_no_process_and_shows_no_memory(tmp_path, kind):
    table = pa.table({"age": [40, 50, 60] * 100, "who": [f"person {number}" for number in range(300)]})
    path = tmp_path / "people.arrow"
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(str(path), table.schema) as file:
        file.write_table(table)
    content = path.read_bytes()
    offsets = np.cumsum([0, *(len(name) for name in table["who"].to_pylist())]).astype("<i4").tobytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, offsets[:400] + b"\xf0\xff\xff\x7f" + offsets[404:]))
    code = (
        "import sys, ogive\n"
        "try: ogive.release(ogive.Ecdf('age', bounds=(0, 100), bins=4), trust=ogive.Central(sys.argv[1], person='who'),"
        " privacy=ogive.PureDP(1), adjacency='add_or_remove')\n"
        "except ogive.DataError as problem: print(problem)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == f"{path} cannot be read: it is damaged, cut short or not of the kind its suffix says\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_file_gives_the_same_counts(tmp_path, suffix):
    ages = np.random.default_rng(3).integers(0, 120, 500)
    table = pa.table({"name": [f"p{i}" for i in range(500)], "age": ages, "when": [datetime.date(2024, 1, 1)] * 500})
    path = write_table(tmp_path / f"people{suffix}", table)
    records = Records.of(path)
    expected = np.bincount(GRID.bin_of(ages.astype(float)), minlength=10).tolist()
    assert records.columns == ("name", "age", "when")
    assert records.size == 500
    assert records.histogram(AGE).tolist() == expected
    assert Records.of(str(path)).histogram(AGE).tolist() == expected
    days = Grid.explicit(["2023-12-31", "2024-01-01", "2024-01-02"])
    assert records.histogram(Binning("when", days)).tolist() == [0, 500, 0]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_the_separator_is_found(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text(f'"a,;|b"{separator}age\n"x,y;z|"{separator}15\n"q"{separator}25\n')
    records = Records.of(path)
    assert records.columns == ("a,;|b", "age")
    assert records.histogram(AGE).tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"age\n15\n", [0, 1, 0]),
        (b"age\n15", [0, 1, 0]),
        (b"age\r\n15\r\n25\r\n", [0, 1, 1]),
        (b"\xef\xbb\xbfage,b\n15,1\n", [0, 1, 0]),
        (b"b,age\n" + b"x,15\n" * 30_000 + b"x,1.5e1\n", [0, 30_001, 0]),
        (b"age\ninf\n-inf\n5\n", [2, 0, 1]),
        (b"age,Age\n15,25\n", [0, 1, 0]),
        (b"age,b\n15,not a number\n15,3\n" + b"15,x\n" * 30_000, [0, 30_002, 0]),
    ],
    ids=[
        "one_row",
        "no_last_newline",
        "windows",
        "byte_order_mark",
        "late_fraction",
        "infinity",
        "case",
        "other_columns",
    ],
)
def test_csv_oddities_are_read(tmp_path, content, counts):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert Records.of(path).histogram(Binning("age", Grid.explicit([10, 20, 30]))).tolist() == counts


@pytest.mark.parametrize(("cell", "row"), [("", "{},1"), ("nan", "{},1"), ("NULL-as-empty", ",1")])
def test_empty_and_nan_cells_are_missing(tmp_path, cell, row):
    path = tmp_path / "t.csv"
    path.write_text("age,b\n15,1\n" + row.format(cell if cell == "nan" else "") + "\n")
    assert "missing values" in refusal(path)
    assert Records.of(path).histogram(Binning("age", GRID, "drop")).sum() == 1
    assert Records.of(path).histogram(Binning("age", GRID, "high"))[-1] == 1


def test_times_are_read_from_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when\n2024-01-01 00:30:00\n2024-01-01 01:00:00\n2024-01-01T02:00:00\n2024-01-01T06:30:00+06:00\n")
    grid = Grid.explicit(["2024-01-01T01:00", "2024-01-01T03:00"])
    assert Records.of(path).histogram(Binning("when", grid)).tolist() == [3, 1]


NO_HEADER = {
    "dates": "424242,2020-01-05,HIV\nbob,2021-03-04,flu\n",
    "date": "N424242,2020-01-05,HIV\nbob,2021-03-04,flu\n",
    "other_date": "N424242,05/01/2020,HIV\nbob,04/03/2021,flu\n",
    "number": "N424242,7\nbob,8\n",
    "amount": "N424242,$7\nbob,$8\n",
    "truth": "N424242,False\nbob,True\n",
    "text_only": "N424242,HIV\nbob,flu\n",
    "unknown": "N424242,n/a\nbob,8\n",
    "empty": "N424242,HIV,\nbob,flu,8\n",
    "again": "N424242,refused\nbob,8\neve,refused\n",
    "mixed": "N424242,refused\nbob,8\neve,none of your business\n",
    "one_row_of_two": "N424242,HIV\n,\n",
    "twice": "N424242,N424242,2020-01-05\nbob,bob,2021-03-04\n",
    "letter": "N424242,y\nbob,n\n",
    "letter_late": "N424242,y\nbob,1\neve,t\n",
    "letter_alone": "y\n7\n",
    "letter_of_text": "y,N424242\n7,bob\n",
    "letter_blank": "N424242,y\n8,\n",
}


@pytest.mark.parametrize("case", NO_HEADER)
@pytest.mark.parametrize("column", ["age", "N42424"])
def test_a_first_line_that_may_be_a_record_is_not_shown(tmp_path, case, column):
    path = tmp_path / "t.csv"
    path.write_text(NO_HEADER[case])
    message = refusal(path, Binning(column, GRID))
    assert "HIV" not in message
    assert "first line" in message


@pytest.mark.parametrize(
    "content",
    [
        "job,age\nx,33\n",
        ",job,age\n0,x,33\n",
        'job,age\nx,33\n"' + "y" * (1 << 20) + '",4\n',
        "job;when\nx;2024-01-01\ny;\n",
        "job,age\nx,\ny,7\n",
        "job,age,y\nx,7,yes\nz,8,no\n",
        "job,y,t,age\nx,0,1.5,2\nz,1,,3\n",
    ],
    ids=["number", "unnamed_index", "long_field", "date", "missing_first", "letter_of_words", "letters_of_numbers"],
)
def test_names_above_values_are_shown(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    message = refusal(path, Binning("jab", GRID))
    assert "did you mean 'job'?" in message


@pytest.mark.parametrize("name", ["2019", "2019-01-01", "true", "-1"])
def test_a_column_that_is_named_like_a_value_is_read(tmp_path, name):
    path = tmp_path / "t.csv"
    path.write_text(f"region,{name}\nnorth,15\nsouth,25\n")
    assert Records.of(path).histogram(Binning(name, GRID)).tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert name not in refusal(path, Binning("region ", GRID)).replace(str(path), "")


DEFECTS = {
    "header_only": (b"age,b\n", "has no rows"),
    "nothing": (b"", "is empty"),
    "blank_header": (b"\n1,2\n", "name the columns"),
    "no_header": (b"39,13,7\n50,13,8\n424242,9,1\n", "does not look like column names"),
    "two_names": (b"age,age\n1,424242\n", "two columns named 'age'"),
    "short_row": (b"age,b\n" + b"1,2\n" * 30_000 + b"424242\n", "fields than in the header on line 30002"),
    "long_row": (b"age,b\n" + b"1,2\n" * 30_000 + b"1,2,424242\n", "fields than in the header on line 30002"),
    "early_short_row": (b"age,b\n1,2\n424242\n1,3\n", "fields than in the header"),
    "late_text": (
        b"age,b\n" + b"1,2\n" * 30_000 + b"N424242,2\n",
        "neither a number nor an ISO date on line 30002",
    ),
    "text": (b"age,b\nN424242,2\n", "holds text"),
    "other_dates": (b"age,b\n31/12/2024,2\n30/12/2024,2\n", "holds text"),
    "dates": (b"age,b\n2024-12-31,2\n", "holds dates, but the bounds are numbers"),
    "late_time": (b"when\n" + b"2024-12-31\n" * 30_000 + b"2024-12-31 23:00:00\n", "neither a number nor an ISO date"),
    "garbage": (bytes(range(256)) * 40, "is not UTF-8 text"),
    "latin": ("âge,age\n1,2\n".encode("latin-1"), "is not UTF-8 text"),
    "sixteen_bits": ("age,b\n1,2\n".encode("utf-16-le"), "is not UTF-8 text"),
    "open_quote": (b'age,b\n1,"424242\n2,3\n', "t.csv"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defective_csv_is_refused_in_one_line(tmp_path, defect):
    content, words = DEFECTS[defect]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    days = Binning("when", Grid.explicit(["2024-12-30", "2024-12-31"]))
    assert words in refusal(path, days if defect == "late_time" else AGE)


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".arrow", ".arrows", ".feather"])
@pytest.mark.parametrize("kept", [0.02, 0.3, 0.7, 0.97, "all but one byte"])
def test_a_file_cut_short_is_refused(tmp_path, suffix, kept):
    table = pa.table({"age": np.random.default_rng(5).random(4_000)})
    whole = write_table(tmp_path / f"whole{suffix}", table).read_bytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(whole[: len(whole) - 1 if isinstance(kept, str) else int(kept * len(whole))])
    assert "cut" in refusal(path)


def test_a_stream_cut_between_messages_is_refused(tmp_path):
    path = write_table(tmp_path / "t.arrows", pa.table({"age": [1.0, 2.0]}))
    path.write_bytes(path.read_bytes()[:-8])
    assert "no end mark" in refusal(path)


def test_damaged_compression_is_refused(tmp_path):
    path = write_table(tmp_path / "t.csv.gz", pa.table({"age": np.arange(5_000)}))
    content = bytearray(path.read_bytes())
    content[-6] ^= 1  # the checksum
    path.write_bytes(content)
    assert "does not decompress" in refusal(path)


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".arrow", ".feather"])
def test_garbage_under_every_suffix_is_refused(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(np.random.default_rng(1).bytes(5_000))
    assert str(path) in refusal(path)


@pytest.mark.parametrize("suffix", [".arrow", ".arrows", ".parquet"])
def test_names_that_are_not_text_are_refused(tmp_path, suffix):
    path = write_table(tmp_path / f"t{suffix}", pa.table({"agegroup": [1.0, 2.0]}))
    path.write_bytes(path.read_bytes().replace(b"agegroup", b"\x80gegroup"))
    assert "cannot be read: it is damaged, cut short or not of the kind its suffix says" in refusal(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_are_counted_or_refused(tmp_path, data):
    suffix = data.draw(st.sampled_from([".csv", ".parquet", ".arrow", ".arrows"]))
    whole = write_table(tmp_path / f"whole{suffix}", pa.table({"age": [1.0, 2.0, 30.0] * 20})).read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:position] + data.draw(st.binary(min_size=1, max_size=4)) + whole[position + 1 :]
    path = tmp_path / f"t{suffix}"
    path.write_bytes(changed)
    try:
        total = Records.of(path).histogram(AGE).sum()
    except DataError as problem:
        total = len(str(problem).splitlines())
    assert total >= 1


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows"])
def test_two_columns_of_one_name_are_refused(tmp_path, suffix):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    if suffix == ".parquet":
        path = tmp_path / "t.parquet"
        pq.write_table(table, path)
    else:
        path = tmp_path / f"t{suffix}"
        opened = pa.ipc.new_file if suffix == ".arrow" else pa.ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table)
    assert "two columns named 'age'" in refusal(path)


def test_a_file_without_rows_is_refused(tmp_path):
    for suffix in (".parquet", ".arrow", ".arrows"):
        path = write_table(tmp_path / f"t{suffix}", pa.table({"age": pa.array([], pa.int64())}))
        assert "has no rows" in refusal(path)


def test_places_that_hold_no_table_are_named(tmp_path):
    assert "no such file" in refusal(tmp_path / "none.csv")
    assert "is a folder" in refusal(tmp_path)
    (tmp_path / "t.docx").write_bytes(b"x")
    assert "unknown suffix; use one of .csv" in refusal(tmp_path / "t.docx")


def test_signs_that_mean_patterns_elsewhere_are_only_names_here(tmp_path):
    (tmp_path / "a1.csv").write_text("age\n95\n95\n")
    for name in ("a[1].csv", "a*.csv", "a?.csv"):
        (tmp_path / name).write_text("age\n5\n")
        assert Records.of(tmp_path / name).histogram(AGE).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_a_missing_column_is_answered_with_near_ones(tmp_path):
    path = write_table(tmp_path / "t.parquet", pa.table({"age": [1], "job": [2]}))
    message = refusal(path, Binning("Aged", GRID))
    assert "did you mean 'age'?" in message
    assert "it has 'age', 'job'" in message


def test_the_bank_table_is_read_as_published(shared_data):
    table = shared_data("bank-full.csv.gz")
    records = Records.of(table)
    assert records.size == 45_211
    assert len(records.columns) == 17
    counts = records.histogram(Binning("age", Grid.integers(0, 120)))
    assert counts.sum() == 45_211
    assert np.flatnonzero(counts)[[0, -1]].tolist() == [18, 95]
    assert "holds text" in refusal(table, Binning("job", GRID))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_reading_warns_of_nothing(tmp_path, name):
    write_table(tmp_path / name, pa.table({"age": [1.0, 50.0]}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert Records.of(tmp_path / name).histogram(AGE).sum() == 2
    assert [str(each.message) for each in caught] == []
