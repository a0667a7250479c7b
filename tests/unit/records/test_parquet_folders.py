"""A folder of Parquet files is one table; whatever else is in it is told in one line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ogive
from ogive.cli import main
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.records import Records

AGES = np.random.default_rng(1).integers(0, 100, 1000)
AGE = Binning("age", Grid.integers(0, 100))


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "visits [2024]*"
    found.mkdir()
    for number, part in enumerate(np.array_split(AGES, 4)):
        pq.write_table(pa.table({"age": part}), found / f"part-{number}.parquet")
    (found / "_SUCCESS").touch()
    (found / ".part-0.parquet.crc").write_bytes(b"sum")
    return found


def write(path, **columns):
    pq.write_table(pa.table(columns), path)


def test_the_parts_are_one_table(folder, tmp_path):
    whole = tmp_path / "whole.parquet"
    write(whole, age=AGES)
    parts, file = Records.of(folder), Records.of(whole)
    assert parts.count() == 1000
    assert np.array_equal(parts.aggregate(AGE), file.aggregate(AGE))
    (folder / "part-2.parquet").unlink()
    assert Records.of(folder).count() == 750
    assert not np.array_equal(Records.of(folder).aggregate(AGE), file.aggregate(AGE))


def test_a_ledger_knows_the_parts_by_their_bytes_and_not_their_names(folder, tmp_path):
    digest = Records.of(folder).digest()
    (folder / "part-3.parquet").rename(folder / "part-4.pq")
    assert Records.of(folder).digest() == digest
    (folder / "part-0.parquet").rename(folder / "part-9.parquet")  # another order
    assert Records.of(folder).digest() != digest
    write(folder / "part-9.parquet", age=AGES[:250] + 1)
    assert Records.of(folder).digest() != digest


def test_a_command_takes_a_folder(folder, tmp_path, capsys):
    out = tmp_path / "age.json"
    words = ["ecdf", str(folder), "--column", "age", "--bounds", "0", "100", "--epsilon", "1", "-o", str(out)]
    assert main(words) == 0
    assert ogive.Curve.from_json(out.read_text()).total == 1000
    assert "Distribution function of age" in capsys.readouterr().out


def test_parts_may_be_empty_tables_and_differ_in_what_may_be_null(folder):
    pq.write_table(pa.table({"age": AGES[:0]}), folder / "part-5.parquet")
    schema = pa.schema([pa.field("age", pa.int64(), nullable=False)])
    pq.write_table(pa.table({"age": AGES[:10]}, schema=schema), folder / "part-6.parquet")
    assert Records.of(folder).count() == 1010


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"other": AGES}, "part-5.parquet has other columns than part-0.parquet: it lacks 'age'"),
        ({"age": AGES.astype(float)}, "'age' holds double, and int64 there"),
        ({"age": AGES, "ward": AGES}, "it has 'ward' as well"),
    ],
)
def test_parts_with_other_columns_are_told_by_name(folder, columns, words):
    write(folder / "part-5.parquet", **columns)
    with pytest.raises(DataError) as refused:
        Records.of(folder)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_columns_in_another_order_are_told(tmp_path):
    write(tmp_path / "a.parquet", age=AGES, ward=AGES)
    write(tmp_path / "b.parquet", ward=AGES, age=AGES)
    with pytest.raises(DataError, match="their order is another"):
        Records.of(tmp_path)


def test_what_is_no_part_is_told(folder, tmp_path):
    (folder / "notes.txt").write_text("x")
    with pytest.raises(DataError, match=r"is a folder with the file notes\.txt; name a file"):
        Records.of(folder)
    (folder / "notes.txt").unlink()
    (folder / "year=2024").mkdir()
    with pytest.raises(DataError, match="is a folder with the folder year=2024"):
        Records.of(folder)
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="is a folder without Parquet files"):
        Records.of(tmp_path / "none")


@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more"])
def test_a_damaged_part_is_named(folder, damage):
    (folder / "part-1.parquet").write_bytes(damage)
    with pytest.raises(DataError, match=r"part-1\.parquet cannot be read: it is damaged, cut short"):
        Records.of(folder)
