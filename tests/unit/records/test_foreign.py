"""Files of other programs: workbooks, SPSS, Stata, SAS, JSON lines, archives and other encodings, beside pandas."""

import datetime
import gc
import gzip
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ogive
from ogive.cli import main
from ogive.errors import DataError, ParameterError
from ogive.records import Records

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("python_calamine")

FRAME = pd.DataFrame(
    {
        "age": [20.5, np.nan, 35.0, 61.25],
        "sex": [1.0, 2.0, 1.0, np.nan],
        "name": ["a", "", "c", "d"],
        "seen": [datetime.datetime(2020, 1, 1, 8), None, datetime.datetime(2021, 2, 3), datetime.datetime(2022, 1, 1)],
    }
)
LABELS = {"sex": {1: "male", 2: "female"}}


def columns_of(data):
    """Every column as a list of Python values."""
    source = Records.of(data)._table
    return {
        name: [value for batch in source.batches([name]) for value in batch[0].to_pylist()] for name in source.columns
    }


def written(folder, end, **options):
    path = folder / f"visits{end}"
    match end:
        case ".xlsx":
            FRAME.to_excel(path, index=False)
        case ".sav":
            pyreadstat.write_sav(FRAME, str(path), **options)
        case ".dta":
            pyreadstat.write_dta(FRAME, str(path), **options)
        case ".xpt":
            pyreadstat.write_xport(FRAME, str(path))
        case ".jsonl":
            FRAME.drop(columns="seen").to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("end", [".xlsx", ".sav", ".dta", ".xpt", ".jsonl"])
def test_values_are_those_that_pandas_reads(tmp_path, end):
    path = written(tmp_path, end)
    found = columns_of(path)
    readers = {".xlsx": pd.read_excel, ".sav": pd.read_spss, ".dta": pd.read_stata, ".jsonl": None}
    if readers.get(end) is not None:
        options = {"engine": "calamine"} if end == ".xlsx" else {"convert_categoricals": False}
        peer = readers[end](path, **options)
        for name, values in found.items():
            theirs = [None if pd.isna(value) or value == "" else value for value in peer[name]]
            assert [
                value if value is None else pd.Timestamp(value) if name == "seen" else value for value in values
            ] == theirs
    assert found["age"] == [20.5, None, 35.0, 61.25]
    assert found["sex"] == [1, 2, 1, None]
    assert found["name"][0::2] == ["a", "c"]
    assert end == ".jsonl" or found["name"][1] is None
    mean = ogive.release(ogive.Mean("age", bounds=(0, 100), missing="low"), trust=ogive.Clear(path))
    assert mean.value == pytest.approx((20.5 + 0 + 35 + 61.25) / 4, abs=0.02)


@pytest.mark.parametrize("end", [".sav", ".dta"])
def test_codes_with_labels_in_a_row_are_categories(tmp_path, end):
    assert columns_of(written(tmp_path, end, variable_value_labels=LABELS))["sex"] == ["male", "female", "male", None]
    apart = {"sex": {1: "male", 2: "female", 9: "refused"}, "age": {0: "newborn", 99: "old"}}
    found = columns_of(written(tmp_path, end, variable_value_labels=apart))
    assert found["sex"] == [1, 2, 1, None]
    assert found["age"] == [20.5, None, 35.0, 61.25]


def test_codes_that_a_user_of_spss_declared_missing_are_missing(tmp_path):
    path = tmp_path / "coded.sav"
    frame = pd.DataFrame({"age": [20.0, 98.0, 99.0, 97.0], "sex": [1.0, 9.0, 2.0, 1.0]})
    labels = {"sex": {1: "male", 2: "female", 9: "refused"}}
    pyreadstat.write_sav(
        frame, str(path), missing_ranges={"age": [{"lo": 98, "hi": 99}], "sex": [9]}, variable_value_labels=labels
    )
    assert columns_of(path) == {"age": [20, None, None, 97], "sex": ["male", None, "female", "male"]}


def test_a_code_without_label_stays_itself(tmp_path):
    path = tmp_path / "coded.dta"
    pyreadstat.write_dta(pd.DataFrame({"x": [1, 2, 5]}), str(path), variable_value_labels={"x": {1: "one", 2: "two"}})
    assert columns_of(path)["x"] == ["one", "two", "5"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252"])
def test_text_of_another_encoding_is_read_and_its_copy_goes(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "städte.csv"
    path.write_text("größe;ort\n1.5;Köln\n2.5;Ulm\n", encoding=encoding)
    records = Records.of(ogive.Table(path, encoding=encoding))
    assert records.columns == ("größe", "ort")
    assert columns_of(ogive.Table(path, encoding=encoding))["ort"] == ["Köln", "Ulm"]
    (copy,) = tmp_path.glob("ogive-*")
    assert copy.stat().st_mode & 0o077 == 0
    with pytest.raises(DataError, match=r"städte\.csv has no column"):
        records.check_columns(["x"])
    del records
    gc.collect()
    assert list(tmp_path.glob("ogive-*")) == []


@pytest.mark.parametrize(("end", "options"), [(".csv", {"sheet": "a"}), (".xlsx", {"encoding": "latin-1"})])
def test_what_means_nothing_for_a_file_is_refused(tmp_path, end, options):
    path = tmp_path / f"a{end}"
    path.write_bytes(b"x,y\n1,2\n")
    with pytest.raises(ParameterError, match=r"leave (it )?out"):
        Records.of(ogive.Table(path, **options))


def test_an_archive_in_an_archive_is_refused(tmp_path):
    """One that holds itself would be unpacked for ever."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b.ZIP", b"PK")
    with pytest.raises(DataError, match=r"a\.zip holds another archive; unpack it"):
        Records.of(tmp_path / "a.zip")


def test_packed_text_of_another_encoding_is_read(tmp_path):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wt", encoding="latin-1") as file:
        file.write("x,y\n1,ä\n")
    assert columns_of(ogive.Table(path, encoding="latin-1")) == {"x": [1.0], "y": ["ä"]}
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"a\.csv\.gz is damaged"):
        Records.of(ogive.Table(path, encoding="latin-1"))


def test_a_byte_order_mark_names_utf_16(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,ä\n", encoding="utf-16")
    assert columns_of(path) == {"x": [1.0], "y": ["ä"]}
    path.write_text("x,y\n1,ä\n", encoding="latin-1")
    with pytest.raises(DataError, match=r"is not UTF-8 text, so .* or name its `?encoding"):
        Records.of(path)
    with pytest.raises(DataError, match="is not text of the encoding utf-16"):
        Records.of(ogive.Table(path, encoding="utf-16"))
    with pytest.raises(ParameterError, match="must be the name of one, such as 'latin-1', got 'klingon'"):
        ogive.Table(path, encoding="klingon")


def test_an_archive_of_one_file_is_that_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("folder/a.csv", "x,y\n1,2\n3,4\n")
        archive.writestr("__MACOSX/._a.csv", "junk")
    assert columns_of(tmp_path / "a.zip") == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(DataError, match=r"b\.zip must hold one file, and it holds 2"):
        Records.of(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("a.csv", "x,x\n1,2\n")
    with pytest.raises(DataError) as refused:
        Records.of(tmp_path / "c.zip")
    assert f"{tmp_path / 'c.zip'} has two columns named 'x'" in str(refused.value)
    assert "ogive-" not in str(refused.value)


def test_sheets_and_headers_of_workbooks(tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="visits", index=False)
        pd.DataFrame({"n": [1, 2], "t": ["x", 3]}).to_excel(book, sheet_name="other", index=False)
        pd.DataFrame([[1, 2]], columns=["a", ""]).to_excel(book, sheet_name="unnamed", index=False)
        pd.DataFrame([[1, 2]], columns=["a", "a"]).to_excel(book, sheet_name="twice", index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
    assert Records.of(path).columns == tuple(FRAME)
    assert columns_of(ogive.Table(path, sheet="visits"))["age"] == [20.5, None, 35.0, 61.25]
    for sheet, message in (
        ("nothing", "has no sheet 'nothing'; it has 'visits', 'other'"),
        ("other", "column 't' must hold values of one kind"),
        ("unnamed", "column 2 of .* has no name in the first row"),
        ("twice", "two columns of .* have the same name"),
        ("empty", "is empty"),
    ):
        with pytest.raises(DataError, match=message):
            Records.of(ogive.Table(path, sheet=sheet))


@pytest.mark.parametrize("end", [".xlsx", ".ods", ".sav", ".por", ".dta", ".sas7bdat", ".xpt", ".jsonl", ".zip"])
@pytest.mark.parametrize("content", [b"x,y\n1,2\n", b"PK\x03\x04", bytes(range(256)) * 40], ids=["csv", "zip", "bytes"])
def test_damaged_files_are_refused_in_one_line(tmp_path, end, content):
    path = tmp_path / f"bad{end}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"bad{end}") as refused:
        Records.of(path)
    assert "\n" not in str(refused.value)


def test_half_of_a_file_is_refused(tmp_path):
    for end in (".xlsx", ".sav", ".dta", ".xpt"):
        whole = written(tmp_path, end)
        part = tmp_path / f"part{end}"
        part.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
        with pytest.raises(DataError, match=r"part\."):
            Records.of(part)


def test_the_command_reads_them_with_a_ledger(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("größe\n1.5\n2.5\n", encoding="latin-1")
    asked = ["mean", "a.csv", "--column", "größe", "--bounds", "0", "9", "--epsilon", "1", "--json"]
    assert main([*asked, "--no-ledger"]) == 2
    assert "or name its --encoding" in capsys.readouterr().err
    books = ["--ledger", "budget.db", "--limit-epsilon", "2"]
    assert main([*asked, "--encoding", "latin-1", *books]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*asked, "--encoding", "latin-1", *books]) == 0
    assert json.loads(capsys.readouterr().out) == first  # asked again, for free
    assert main([*asked, "--no-ledger", "--encoding", "latin-1", "-o", "a.csv"]) == 2
    assert "would overwrite another file of this run" in capsys.readouterr().err
    FRAME.to_excel("book.xlsx", sheet_name="visits", index=False)
    asked = ["count", "book.xlsx", "--column", "sex", "--among", "1", "--epsilon", "1", "--no-ledger"]
    assert main([*asked, "--sheet", "visits"]) == 0
