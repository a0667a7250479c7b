"""Votes of teachers: counted, checked, and read from files.

Vote counts have the shape (queries, classes); every teacher votes once in every query, so that each row adds up to the
number of teachers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Int64
from ogive.core.checks import any_whole, array_of, refuse_masked
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.pate.arrays import SUFFIXES, read_array

_LARGEST = 1 << 40
_TEXTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def check_votes(votes: Any, *, teachers: int | None = None) -> Int64:
    """Check vote counts and return them as an array.

    There may be more classes than teachers.

    Args:
        votes: Numbers, shape (queries, classes).
        teachers: Required sum of every row; by default the sum of the first row.

    Returns:
        The counts, int64, shape (queries, classes).

    Raises:
        DataError: there are no queries or fewer than two classes, a count is not a whole number from 0, or a row adds
            up to another number of teachers. The message names the first such row.
    """
    refuse_masked(votes)
    try:
        result = np.asarray(votes)
    except ValueError:
        raise DataError(
            "votes must be counts of the shape (queries, classes); the rows have different lengths"
        ) from None
    if result.dtype.kind not in "iufb" or result.ndim != 2:
        got = (
            f"an array of shape {result.shape}"
            if result.dtype.kind in "iufb"
            else "an object that is not an array of numbers"
        )
        raise DataError(f"votes must be counts of the shape (queries, classes), got {got}")
    if result.dtype.kind == "f":
        result = result.astype(np.promote_types(result.dtype, np.float64), copy=False)  # half precision ends at 65504
    queries, classes = result.shape
    if not queries:
        raise DataError("there are no votes: at least one query is needed")
    if classes < 2:
        raise DataError(f"votes must be for two or more classes, got {classes}; one class leaves no choice")
    if result.dtype.kind == "f":
        _refuse_row(~np.isfinite(result), "counts that are missing or infinite")
        _refuse_row(result != np.floor(result), "counts that are not whole")
    _refuse_row(result < 0, "counts below 0")
    _refuse_row(result > _LARGEST, f"counts above {_LARGEST}, too large for votes")
    counts = result.astype(np.int64)
    sums = counts.sum(axis=1)
    wanted = int(sums[0]) if teachers is None else teachers
    if (sums != wanted).any():
        row = int(np.argmax(sums != wanted))
        raise DataError(
            f"the votes of query {row} add up to {sums[row]}, not to {wanted}: every teacher votes once in every "
            f"query, if need be for a class of its own; {_arranged(counts)}"
        )
    if wanted < 1:
        raise DataError("there are no teachers: the votes of every query add up to 0")
    return counts


def _arranged(counts: Int64) -> str:
    """What may be wrong with counts whose rows add up to different numbers."""
    queries = len(counts)
    if queries > 1 and len(set(counts.sum(axis=0).tolist())) == 1:
        return "here every column adds up to the same, so give the transpose: rows are queries, columns are classes"
    if any(np.array_equal(counts[:, 0], np.arange(queries) + start) for start in (0, 1)):
        return "here the first column numbers the rows; leave it out, since every column is a class"
    return "rows are queries and columns are classes"


def check_answered(answered: Any, shape: tuple[int, ...]) -> Bool:
    """Which queries were answered, from truth values or labels.

    Args:
        answered: A truth value or a label for every query, -1 where there was none.
        shape: Queries and classes of the votes.

    Returns:
        Truth values, shape (queries,).
    """
    queries, classes = shape
    given = array_of(answered)
    if given.shape != (queries,) or given.dtype.kind not in "biu":
        got = f"{len(given)} of them" if given.ndim == 1 and given.dtype.kind in "biu" else "something else"
        raise ParameterError(
            f"`answered` must be {queries} truth values, or labels with -1 where there was none; got {got}"
        )
    if given.dtype == np.bool_:
        return given
    wrong = (given < -1) | (given >= classes)
    if wrong.any():
        query = int(np.argmax(wrong))
        raise ParameterError(f"the label of query {query} is {given[query]}, none of -1 to {classes - 1}")
    return np.asarray(given >= 0)


def read_votes(path: str | Path, *, name: str | None = None) -> Int64:
    """Read vote counts from a file: .npy, .npz, or a table (CSV, Parquet, Arrow) with one column per class.

    Args:
        path: The file.
        name: Name of the array in a file of several (.npz).

    Returns:
        The counts, int64, shape (queries, classes).

    Raises:
        ParameterError: there are several arrays and no name was given, or no array has that name.
        DataError: the file cannot be read, or does not contain vote counts.
    """
    file = Path(path)
    if file.suffix.lower() in SUFFIXES:
        return check_votes(read_array(file, name))
    if name is not None:
        raise ParameterError(f"`name` is for a file of several arrays (.npz), not for {plain(file.name)}")
    return check_votes(_read_table(file))


def tally(labels: Any, classes: int) -> Int64:
    """Count the teachers' labels.

    Args:
        labels: Label of every teacher and query, whole numbers from 0, shape (teachers, queries).
        classes: Number of classes, at least 2.

    Returns:
        Vote counts, int64, shape (queries, classes).

    Raises:
        ParameterError: there are fewer than two classes.
        DataError: labels have another shape, or one is not a class.
    """
    any_whole(classes, "classes", 2)
    result = array_of(labels)
    if result.ndim != 2 or result.dtype.kind not in "iufb" or not result.size:
        raise DataError("labels must be whole numbers of the shape (teachers, queries), at least one of each")
    wrong = ~((result >= 0) & (result < classes) & (result == np.floor(result)))
    if wrong.any():
        teacher, query = np.argwhere(wrong)[0].tolist()
        raise DataError(f"the label of teacher {teacher} for query {query} is none of the classes 0 to {classes - 1}")
    queries = result.shape[1]
    cells = result.astype(np.int64) + classes * np.arange(queries)
    counted = np.bincount(cells.ravel(), minlength=queries * classes)
    return np.asarray(counted.reshape(queries, classes), dtype=np.int64)


def _refuse_row(wrong: Any, what: str) -> None:
    if wrong.any():
        raise DataError(f"the votes of query {int(np.argmax(wrong.any(axis=1)))} hold {what}")


def check_header(names: Sequence[str], file: Path, *, teachers: float | None = None) -> None:
    """Refuse a text file without a header, whose first row would be taken for the names of columns and lost.

    Columns that are numbered in order, from 0 or 1, have names, unless these add up to the number of teachers too.
    """
    text = file.name.lower().endswith(_TEXTS)
    if not text or not all(re.fullmatch(r"\s*[0-9]{1,15}(\.0*)?\s*", name) for name in names):
        return
    numbers = [int(float(name)) for name in names]
    numbered = any(numbers == list(range(start, start + len(numbers))) for start in (0, 1))
    if not numbered or sum(numbers) == teachers:
        raise DataError(
            f"the first line of {plain(file)} must name the columns and holds numbers, which would be lost; write a "
            "line such as class0,class1,class2 above it"
        )


def _read_table(file: Path) -> Any:
    from ogive.records.cells import float_values, kind_of  # the engine is slow to import, and arrays need none
    from ogive.records.files import SUFFIXES as TABLES
    from ogive.records.files import file_source

    tables = tuple(end for ends in TABLES.values() for end in ends)
    if file.is_file() and not file.name.lower().endswith(tables):
        raise DataError(f"{plain(file)} has an unknown suffix; use one of {', '.join((*SUFFIXES, *tables))}")
    source = file_source(file)
    if source.is_empty():
        raise DataError(f"{plain(file)} has no rows: at least one query is needed")
    for column in source.columns:
        if kind_of(source.type(column)) != "number":
            raise DataError(
                f"column {quoted(column)} of {plain(file)} holds no numbers; votes have a column of counts per class"
            )
    batches = source.batches(source.columns)
    counts = np.concatenate([np.stack([float_values(each, "number") for each in some], axis=1) for some in batches])
    check_header(source.columns, file, teachers=counts[0].sum())
    return counts
