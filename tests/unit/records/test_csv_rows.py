"""Rows of text files by their line ends, against what the engine takes for rows."""

import gzip

import pytest
from helpers.scope import size
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ogive.errors import DataError
from ogive.records import Records, engine, files
from ogive.records.files import rows_by_lines

CELL = st.sampled_from(["", " ", "1", "3.5", "é", "x y", "#", "\t"])
QUOTED = st.sampled_from(['"1"', '"a\nb"', '"""', '"a'])
END = st.sampled_from(["\n", "\r\n", "\n\n", "\r", "\r\r\n"])


def by_engine(path, columns):
    """Rows as the engine counts them; None where it takes the file for no table."""
    try:
        table = engine.read_csv(path, types={f"field{i}": "VARCHAR" for i in range(columns)}, separator=",")
        return table.aggregate("count(*)").fetchone()[0]
    except engine.ENGINE_ERRORS:
        return None


@st.composite
def texts(draw):
    """Small files: mostly one kind of line end and no quotes, sometimes anything."""
    columns = draw(st.integers(1, 3))
    usual = draw(END)
    lines = [",".join(f"c{i}" for i in range(columns))]
    for _ in range(draw(st.integers(0, 6))):
        width = columns if draw(st.integers(0, 5)) else draw(st.integers(1, 4))
        cell = CELL if draw(st.integers(0, 5)) else st.one_of(CELL, QUOTED)
        lines.append(",".join(draw(st.lists(cell, min_size=width, max_size=width))))
    text = "".join(line + (usual if draw(st.integers(0, 9)) else draw(END)) for line in lines)
    return columns, text if draw(st.booleans()) else text.rstrip("\r\n")


@pytest.mark.parametrize("block", [1, 2, 5, 1 << 18])
@settings(max_examples=size(60, part=20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=texts())
def test_lines_that_are_counted_are_the_rows_of_the_engine(tmp_path, monkeypatch, block, case):
    monkeypatch.setattr(files, "BLOCK_BYTES", block)
    columns, text = case
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode())
    counted = rows_by_lines(path)
    assert counted is None or by_engine(path, columns) in (None, counted)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_plain_files_are_counted_without_the_engine(tmp_path, end, last, name):
    text = ("age,name" + end + f"30,Ann{end}" * 1000)[: None if last else -len(end)].encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert rows_by_lines(path) == 1000
    assert Records.of(path).size == 1000


@pytest.mark.parametrize(
    "text",
    ['age,name\n30,"Ann\nLee"\n', "age\n1\n\n2\n", "age\n1\n2\n\n", "age,x\n1,2\r\n3,4\n", "age\n1\r2\n", "age\r\n1\r"],
    ids=["quote", "empty line", "empty line at the end", "mixed ends", "a return within", "a return at the end"],
)
def test_what_lines_do_not_tell_is_left_to_the_engine(tmp_path, text):
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode())
    assert rows_by_lines(path) is None


def test_a_row_that_is_too_short_is_counted_and_refused_when_it_is_read(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,name\n30,Ann\n40\n")
    assert rows_by_lines(path) == 2
    with pytest.raises(DataError, match="another number of fields than in the header on line 3"):
        Records.of(path)
