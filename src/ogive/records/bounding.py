"""Contribution bounding: which rows of a person with too many are kept.

A row's rank is the hash of its person, of its contents in the columns in use, and of its number
among the person's rows with the same contents. The rows of lowest rank are kept. So the choice is the
same in any order of the rows, in any kind of file and on any engine, uniform over a person's rows, and
depends on nobody else's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ogive.arrays import Bool, Int64, UInt64
from ogive.compiling import njit
from ogive.records.hashing import PUBLIC_KEY, hashes_of, siphash, text_words
from ogive.records.labels import Columns, LabelCodes
from ogive.records.persons import Persons


class ChoiceByContents:
    """The choice by what stands in rows.

    Args:
        labels: What the codes of each column mean; None for numbers.

    Privacy:
        See docs/proofs/contribution_bounding.md. What is dropped must not be shown.
    """

    def __init__(self, labels: Sequence[LabelCodes | None]) -> None:
        self._labels = labels

    def marks(self, columns: Columns) -> tuple[UInt64]:
        """A hash of what stands in each row."""
        return (hashes_of(content_words(columns, self._labels)),)

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        """Which rows are kept when every person keeps at most `limit`.

        Returns:
            Shape (rows,); True for min(limit, rows of the person) rows of every person.
        """
        counts = np.bincount(persons.codes, minlength=persons.number)
        keep = np.zeros(len(persons.codes), dtype=np.bool_)
        contents = marks[0].view(np.uint64)
        _choose(
            persons.codes.astype(np.int64, copy=False), counts, persons.words(counts > limit), contents, limit, keep
        )
        return keep


def content_words(columns: Columns, labels: Sequence[LabelCodes | None]) -> UInt64:
    """What stands in rows, as words that are the same for equal contents, shape (rows, columns or 2).

    Args:
        columns: Numbers, NaN where missing, or codes of labels, each of shape (rows,).
        labels: What the codes of each column mean; None for numbers.
    """
    words = np.zeros((len(columns[0]), max(2, len(columns))), dtype=np.uint64)
    for place, (column, codes) in enumerate(zip(columns, labels, strict=True)):
        if codes is None:
            # one number for both zeros, one for all that is missing
            numbers = np.where(np.isnan(column), np.nan, column + 0.0)
            words[:, place] = numbers.view(np.uint64)
        else:
            tags = pa.array([_tag(value) for value in codes.values], pa.large_string())
            words[:, place] = text_words(tags, np.ones(len(tags), dtype=np.bool_))[column]
    return words


def _tag(label: Any) -> str:
    """A label as text; numbers that are equal are written alike."""
    if label is None:
        return "missing"
    if isinstance(label, str):
        return "text " + label
    return f"number {int(label) if math.isfinite(label) and label == int(label) else float(label)}"


@njit(nogil=True)
def _choose(
    persons: Int64,
    counts: Int64,
    names: UInt64,
    hashed: UInt64,
    limit: int,
    keep: Bool,
) -> None:
    # the rows of each person with too many, side by side
    ends = np.zeros(len(counts), dtype=np.int64)
    end = 0
    for person in range(len(counts)):
        ends[person] = end
        if counts[person] > limit:
            end += counts[person]
    rows = np.empty(end, dtype=np.int64)
    contents = np.empty(end, dtype=np.uint64)
    for row in range(len(persons)):
        person = persons[row]
        if counts[person] <= limit:
            keep[row] = True
            continue
        rows[ends[person]] = row
        contents[ends[person]] = hashed[row]
        ends[person] += 1
    words = np.empty(4, dtype=np.uint64)
    for person in range(len(counts)):
        if counts[person] <= limit:
            continue
        start = ends[person] - counts[person]
        order = np.argsort(contents[start : ends[person]], kind="mergesort")
        ranks = np.empty(counts[person], dtype=np.uint64)
        words[0], words[1] = names[person, 0], names[person, 1]
        occurrence = np.uint64(0)
        for i in range(counts[person]):
            content = contents[start + order[i]]
            same = i > 0 and content == words[2]
            occurrence = np.uint64(occurrence + np.uint64(1)) if same else np.uint64(0)
            words[2], words[3] = content, occurrence
            ranks[i] = siphash(words, PUBLIC_KEY)
        for i in np.argsort(ranks, kind="mergesort")[:limit]:
            keep[rows[start + order[i]]] = True
