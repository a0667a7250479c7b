"""Rows that wait on disk while those of each person are chosen: the same ones are kept, in the same order."""

import errno
import tempfile

import numpy as np
import pyarrow as pa
import pytest

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.queries import Cells, ClassBinning, GroupSums, RowValues
from ogive.records import Records, bounding, sources

ROWS = 2_000
X = Binning("x", Grid.linear(0, 1, bins=20))
DOMAIN = Domain((X, Categories("ward", ("A", "B", "C"))))
ASKED = {
    "curve": X,
    "classes": ClassBinning(X, Label("sick")),
    "probabilities": GroupSums(Binning("x", Grid.linear(0, 1, bins=4)), Label("sick"), 8),
    "cells": Cells(DOMAIN),
    "rows in their order": RowValues(DOMAIN),
}


def a_table(persons):
    random = np.random.default_rng(5)
    names = random.integers(1, persons + 1, ROWS)
    return pa.table({
        "number": names.tolist(),
        "text": [f"é{each}" if each % 3 else str(each) for each in names],
        "x": random.random(ROWS),
        "sick": random.integers(0, 2, ROWS).tolist(),
        "ward": random.choice(["A", "B", "C"], ROWS).tolist(),
    })  # fmt: skip


@pytest.fixture
def files(monkeypatch):
    """How many files were made; rows wait in them in batches of 150 once there are more than 400."""
    made = []
    fresh = tempfile.TemporaryFile
    monkeypatch.setattr(bounding, "MOST_HELD", 400)
    monkeypatch.setattr(sources, "BATCH_ROWS", 150)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: made.append(fresh()) or made[-1])
    return made


@pytest.mark.each_value
@pytest.mark.parametrize("persons", [1, 300])
@pytest.mark.parametrize("person", ["number", "text"])
@pytest.mark.parametrize("choice", ["siphash", "md5"])
@pytest.mark.parametrize("name", ASKED)
def test_the_rows_that_are_kept_are_those_of_memory(name, choice, person, persons, request):
    records = Records.of(a_table(persons)).bounded(person, 2, choice)
    expected = records.aggregate(ASKED[name])
    files = request.getfixturevalue("files")
    np.testing.assert_array_equal(
        Records.of(a_table(persons)).bounded(person, 2, choice).aggregate(ASKED[name]), expected
    )
    assert len(files) == 1 + bounding.PARTS
    assert all(file.closed for file in files)


@pytest.mark.parametrize("person", ["number", "text"])
def test_persons_are_counted(person, files):
    table = a_table(300)
    assert Records.of(table).bounded(person).count() == len(set(table["number"].to_pylist()))
    assert len(files) == 1 + bounding.PARTS


def test_a_few_rows_wait_in_memory(files, monkeypatch):
    monkeypatch.setattr(bounding, "MOST_HELD", ROWS)
    assert Records.of(a_table(300)).bounded("number", 2).aggregate(X).sum() > 500
    assert files == []


def test_a_full_disk_is_one_line(files, monkeypatch):
    def full(self, part, marks):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bounding._Files, "add", full)
    with pytest.raises(DataError, match="has no room for them; set TMPDIR") as refused:
        Records.of(a_table(300)).bounded("number", 2).aggregate(X)
    assert "\n" not in str(refused.value)
