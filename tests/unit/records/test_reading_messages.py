"""What is said of files that cannot be read as they should: the defect, what would be right, and no value."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.records import Records

AGE = Binning("age", Grid.linear(0, 120, bins=12))
SECRET = "424242"

SAID = {
    "decimal_comma": ('b,age\n1,"1,424242"\n', "in Python release from 'pandas.read_csv(path, decimal=\",\")'"),
    "semicolons": ("b;age\n1;1,424242\n2;\n3;7\n4;NA\n", 'pandas.read_csv(path, sep=";", decimal=",")'),
    "other_text_too": ("b;age\n1;1,424242\n2;n.d.\n", "numbers have a decimal point and no comma"),
    "marker": (f"b,age\n{SECRET},n.d.\n1,5\n", "missing values are empty or a word such as NA"),
    "late_marker": ("b,age\n" + "1,2\n" * 30_000 + f"{SECRET},n.d.\n", "missing values are empty or a word such as NA"),
    "dates": (f"b,age\n{SECRET},31/12/2024\n1,30/12/2024\n", "dates are like 2024-12-31"),
    "quote": (f'age,b\n1,"{SECRET}\n3,4\n', "is not a well-formed table: a quote is missing or too many on line 2"),
    "control": (f"\x01\x02{SECRET}\x7f,age\n1,2\n", "is not a table: its first line holds control characters"),
    "capitals": (f"b,AGE\n{SECRET},2\n1,3\n", "has no column 'age'; did you mean 'AGE'?"),
    "unclear_capitals": (f"true,AGE\n{SECRET},2\n1,3\n", "has no column 'age', but one that differs only in capital"),
}


@pytest.mark.parametrize("name", SAID)
def test_one_line_says_what_is_wrong_and_what_would_be_right(tmp_path, name):
    content, words = SAID[name]
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        Records.of(path).histogram(AGE)
    said = str(caught.value).replace(str(path), "t.csv")
    assert words in said
    assert "\n" not in said
    assert SECRET not in said


def test_other_bytes_are_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(np.random.default_rng(1).bytes(5_000))
    with pytest.raises(DataError, match=r"is not UTF-8 text, .*save it as UTF-8"):
        Records.of(path)


def test_what_is_promised_of_missing_values_holds(tmp_path):
    """The control: the cells that the advice names are read as missing."""
    path = tmp_path / "t.csv"
    path.write_text("b,age\n1,\n2,nan\n3,5.5\n")
    with pytest.raises(DataError, match="column 'age' has missing values"):
        Records.of(path).histogram(AGE)
    assert Records.of(path).histogram(Binning("age", AGE.grid, "low")).sum() == 3


TIMES = "t\n2023-07-02T00:30:00Z\n2023-07-01T00:30:00{}\n"
DAYS = Binning("t", Grid.calendar("2023-06-01", "2023-07-31", every="days"), "refuse")


@pytest.mark.parametrize("offset", ["+02:00", "-0530", "+02", " Europe/Berlin"])
def test_days_of_times_with_an_offset_are_refused_as_those_of_a_zone_are(tmp_path, offset):
    path = tmp_path / "t.csv"
    path.write_text(TIMES.format(offset))
    with pytest.raises(DataError, match=r"offset from UTC \(first on line 3\), whose days are not those of UTC"):
        Records.of(path).histogram(DAYS)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_days_of_text_with_an_offset_are_refused_in_data_frames_too(frame):
    cells = TIMES.format("+02:00").split()[1:]
    with pytest.raises(DataError, match="holds times with an offset from UTC, whose days are not those of UTC"):
        Records.of(frame({"t": cells})).histogram(DAYS)
    assert Records.of(frame({"t": [each.replace("+02:00", "") for each in cells]})).histogram(DAYS).sum() == 2


@pytest.mark.parametrize("offset", ["Z", "+00:00", "+00", ""])
def test_days_of_times_in_utc_are_counted(tmp_path, offset):
    path = tmp_path / "t.csv"
    path.write_text(TIMES.format(offset))
    assert Records.of(path).histogram(DAYS).sum() == 2
