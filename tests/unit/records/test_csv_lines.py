"""A wrong cell of a CSV file is told by its line, as an editor counts lines, and never by its content."""

import csv
import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.queries import Cells
from ogive.records import Records
from ogive.records.files import line_of

NUMBERS, DAYS = Grid.integers(0, 10), Grid.integers("2024-01-01", "2024-01-05")
SECRET = "S42424"
MANY = "1,2\n" * 30_000

FILES = {
    "a text": (f"x,y\n1,2\n{SECRET},2\n3,4\n", NUMBERS),
    "several": (f"x,y\n1,2\n{SECRET},2\n{SECRET},4\n", NUMBERS),
    "all text": (f"x,y\n{SECRET},2\n{SECRET},4\n", NUMBERS),
    "after a word": (f"x,y\nNA,2\n?,2\n{SECRET},4\n", NUMBERS),
    "a line break before": (f'x,y\n1,"a\nb\n"\n{SECRET},4\n', NUMBERS),
    "a line break in the same row": (f'y,x\n1,2\n"a\nb",{SECRET}\n', NUMBERS),
    "a line break in the header": (f'x,"y\nz"\n1,2\n{SECRET},4\n', NUMBERS),
    "blank lines": (f"x,y\n1,2\n\n\n{SECRET},4\n", NUMBERS),
    "blank cells of one column": (f"x\n1\n\n\n{SECRET}\n", NUMBERS),
    "lines of Windows": (f"\ufeffx;y\r\n1;2\r\n{SECRET};4\r\n", NUMBERS),
    "a date among numbers": (f"x,y\n1,2\n2024-01-01,2\n{SECRET},4\n", NUMBERS),
    "a number among dates": (f"x,y\n2024-01-01,2\n7,2\n{SECRET},4\n", DAYS),
    "a text among dates and times": (f"x,y\n2024-01-01,2\n2024-01-01 10:00,2\n{SECRET},4\n", DAYS),
    "a late text": (f"x,y\n{MANY}{SECRET},4\n", NUMBERS),
    "a late text after a word": (f"x,y\nNA,2\n{MANY}{SECRET},4\n", NUMBERS),
    "a late text and a late word": (f"x,y\n{MANY}NA,4\n{SECRET},4\n", NUMBERS),
    "a late text after a line break": (f'x,y\n1,"a\nb"\n{MANY}{SECRET},4\n', NUMBERS),
    "a late time": ("x\n" + "2024-01-01\n" * 30_000 + "2024-01-01 10:00\n", DAYS),
}


@pytest.mark.each_value
@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_wrong_cell_is_told_by_its_line(case, packed, tmp_path):
    text, grid = FILES[case]
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    wrong = {"a date among numbers": "2024-01-01,2", "a number among dates": "7,2", "a late time": "2024-01-01 10:00"}
    line = text[: text.index(wrong.get(case, SECRET))].count("\n") + 1
    if case == "a line break in the same row":
        line -= 1  # of the row, which begins there
    with pytest.raises(DataError, match=rf"on line {line}\b") as refused:
        Records.of(path).histogram(Binning("x", grid))
    assert len(str(refused.value).splitlines()) == 1
    assert SECRET not in str(refused.value)


def test_of_several_columns_the_one_with_the_wrong_cell_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,z\n" + "1,2,a\n" * 30_000 + f"1,{SECRET},a\n{SECRET},2,a\n")
    both = Cells(Domain((Binning("x", NUMBERS), Binning("y", NUMBERS))))
    with pytest.raises(DataError, match=r"column 'y' of .* on line 30002;"):
        Records.of(path).aggregate(both)


def test_no_line_is_told_where_no_cell_is_wrong_by_itself(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\ntrue,2\n1,2\n0,2\n")
    with pytest.raises(DataError, match="column 'x' holds text, but numbers or dates are needed; numbers have"):
        Records.of(path).histogram(Binning("x", NUMBERS))


def test_no_line_is_told_where_the_text_before_is_too_long_to_be_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n1,{'a' * (csv.field_size_limit() + 1)}\n{SECRET},2\n")
    assert line_of(path, 1, separator=",", columns=2) is None
    with pytest.raises(DataError, match="column 'x' holds text, but numbers or dates are needed"):
        Records.of(path).histogram(Binning("x", NUMBERS))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(*[st.text(alphabet='a,;"\n ', max_size=4)] * 2), min_size=1, max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
    blank=st.lists(st.integers(0, 7)),
)
def test_the_line_of_a_row_is_that_of_the_bytes_before_it(tmp_path, rows, end, blank):
    path = tmp_path / "t.csv"
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator=end)
    writer.writerow(("x", "y"))
    wanted = []
    for place, row in enumerate(rows):
        written.write(end * (place in blank))
        wanted.append(written.getvalue().count("\n") + 1)
        writer.writerow(row)
    path.write_text(written.getvalue(), newline="")
    assert [line_of(path, row, separator=",", columns=2) for row in range(len(rows))] == wanted
