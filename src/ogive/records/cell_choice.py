"""Which rows of a person with too many are kept, by the cells that the rows count in: a choice for every engine.

A row's cell is a short text with a part for each column that an aggregate reads: the bin of a number, or a label. Rows
of one cell add the same to the aggregate, so they are interchangeable, and are numbered 1, 2, 3 and so on in any
order. A row's rank is the MD5 of its cell, its number and its person. The rows of lowest rank are kept. So the choice
is the same wherever cells are, and depends on no other person's rows. `docs/proofs/contribution_bounding.md` has the
definition and the proof, and `records.engines.choosing` the same choice as an expression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ogive.arrays import Bool, Float64, Int64, UInt8
from ogive.columns import Binning
from ogive.compiling import njit
from ogive.queries import Aggregate, GroupSums, Parted
from ogive.records.binning import bins_of, fixed_point
from ogive.records.contributions import columns_of
from ogive.records.labels import Columns, LabelCodes
from ogive.records.md5 import buffer_bytes, first_half, write_text, write_whole
from ogive.records.persons import Persons

MISSING, BELOW, ABOVE, FRACTION = -1, -2, -3, -4
"""Codes of numbers that are in no bin, or that a policy may refuse."""

WHOLE_FLOATS = 2.0**53
"""Floats of at least this size are whole."""

PREFIX = "2|"
"""What every hashed text begins with: the number of this choice."""

MOST_DIGITS = 18
"""Digits of a whole number that is written as it is."""

FARTHEST, FINEST = 2.0**42, 2.0**20
"""Other numbers are written in units of 1 / FINEST, and no farther from zero than FARTHEST."""

_LONGEST_WHOLE = 20


class Coded(NamedTuple):
    """One part of the cell of each row.

    Fields:
        codes: A small whole number for each row, shape (rows,). Codes of labels that are numbers grow with them.
        texts: What is written for each code; None where that is the number itself.
    """

    codes: Int64
    texts: list[str] | None = None


def summed_bits(aggregate: Aggregate) -> dict[int, int]:
    """Fractional bits of the columns whose numbers are added up, by place in `columns_of`."""
    if isinstance(aggregate, GroupSums):
        return {0: aggregate.bits}
    found: dict[int, int] = {}
    place = 0
    if isinstance(aggregate, Parted):
        for each in dict.fromkeys(aggregate.values):
            found |= {place + own: bits for own, bits in summed_bits(each).items()}
            place += len(columns_of(each))
    return found


class ChoiceByCells:
    """The choice by the cells that rows count in.

    Args:
        aggregate: What the rows are read for.
        labels: What the codes of each column mean; None for numbers.

    Privacy:
        See docs/proofs/contribution_bounding.md. What is dropped must not be shown.
    """

    def __init__(self, aggregate: Aggregate, labels: Sequence[LabelCodes | None]) -> None:
        self._columns = columns_of(aggregate)
        self._bits = summed_bits(aggregate)
        self._labels = labels

    def marks(self, columns: Columns) -> tuple[Int64, ...]:
        """The parts of the cell of each row, of which labels are codes yet."""
        found: list[Int64] = []
        for place, (column, values, codes) in enumerate(zip(self._columns, columns, self._labels, strict=True)):
            if codes is not None:
                found.append(values.astype(np.int64, copy=False))
                continue
            assert isinstance(column, Binning), "only numbers have no codes of labels"
            found.append(_bins(values, column))
            if place in self._bits:
                substitute = 1.0 if column.substitute is None else column.substitute
                found.append(fixed_point(values, substitute, self._bits[place]))
        return tuple(found)

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        """Which rows are kept when every person keeps at most `limit`.

        Returns:
            Shape (rows,); True for min(limit, rows of the person) rows of every person. Which one of several rows of
            one cell is kept depends on their order.
        """
        written: list[LabelCodes | None] = []
        for place, codes in enumerate(self._labels):
            written += [codes, None] if place in self._bits else [codes]
        parts = [
            Coded(mark) if codes is None else _labels(mark, codes) for mark, codes in zip(marks, written, strict=True)
        ]
        return _kept(persons, parts, limit)


def _bins(values: Float64, binning: Binning) -> Int64:
    """The bin of each number, or why it has none."""
    found, _ = bins_of(values, binning.grid, MISSING)
    if binning.fractions == "refuse":
        found[(np.abs(values) < WHOLE_FLOATS) & (np.floor(values) < values)] = FRACTION
    if binning.outside == "refuse":
        found[values > binning.grid.high] = ABOVE
        found[values < binning.grid.low] = BELOW
    return found


def _labels(codes: Int64, labels: LabelCodes) -> Coded:
    values = labels.values
    numbers = [code for code, value in enumerate(values) if not (value is None or isinstance(value, str))]
    others = [code for code, value in enumerate(values) if value is None or isinstance(value, str)]
    # of numbers that are written alike the smaller one comes first
    order = [*others, *sorted(numbers, key=values.__getitem__)]
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.arange(len(values))
    return Coded(places[codes], [label_text(values[code]) for code in order])


def label_text(label: Any) -> str:
    """What is written for a label; a text with its length, so that no other cell is written alike."""
    if label is None:
        return "m"
    if isinstance(label, str):
        return f"t{len(label)}:{label}"
    if math.isfinite(label) and label == int(label) and abs(int(label)) < 10**MOST_DIGITS:
        return str(int(label))
    return f"f{math.floor(min(max(float(label), -FARTHEST), FARTHEST) * FINEST)}"


def _kept(persons: Persons, parts: Sequence[Coded], limit: int) -> Bool:
    counts = np.bincount(persons.codes, minlength=persons.number)
    keep: Bool = np.asarray(counts[persons.codes] <= limit)
    rows = np.flatnonzero(~keep)
    rows = rows[np.argsort(persons.codes[rows], kind="stable")]
    codes = np.stack([part.codes[rows] for part in parts], axis=1)
    texts: list[str] = []
    first = np.full(len(parts), -1, dtype=np.int64)
    for place, part in enumerate(parts):
        if part.texts is not None:
            first[place] = len(texts)
            texts += part.texts
    _choose(
        persons.codes[rows].astype(np.int64, copy=False), _cell_numbers(codes), codes, first,
        *_end_to_end(pa.array(texts, pa.large_string())),
        persons.numbers, *_end_to_end(persons.texts), rows, limit, keep,
    )  # fmt: skip
    return keep


def _end_to_end(texts: Any) -> tuple[UInt8, Int64]:
    """The bytes of some texts of Arrow, and where each of them begins and the last one ends."""
    texts = pc.cast(texts, pa.large_string())
    _, offsets, content = texts.buffers()
    if not len(texts):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.zeros(0, dtype=np.uint8) if content is None else np.frombuffer(content, dtype=np.uint8), ends


def _cell_numbers(codes: Int64) -> Int64:
    """One number for each cell, which grows with its codes, the first of them first; shape (rows,)."""
    found = np.zeros(len(codes), dtype=np.int64)
    for part in codes.T:
        low, high = int(part.min()), int(part.max())
        if int(found.max() + 1) * (high - low + 1) >= 1 << 62:
            found, part = _dense(found), _dense(part)
            low, high = 0, int(part.max())
        found = found * (high - low + 1) + (part - low)
    return found


def _dense(numbers: Int64) -> Int64:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64, copy=False)


def _choose(
    persons: Int64,
    cells: Int64,
    codes: Int64,
    first: Int64,
    labels: UInt8,
    label_ends: Int64,
    numbers: Int64,
    names: UInt8,
    name_ends: Int64,
    rows: Int64,
    limit: int,
    keep: Bool,
) -> None:
    """Mark the rows that are kept; rows of a person lie side by side."""
    written = codes.shape[1] * (_LONGEST_WHOLE + 1 + int(np.diff(label_ends).max(initial=0)))
    longest = len(PREFIX) + written + 2 * _LONGEST_WHOLE + 2 + int(np.diff(name_ends).max(initial=0))
    prefix = np.frombuffer(PREFIX.encode(), dtype=np.uint8)
    buffer = np.zeros(buffer_bytes(longest), dtype=np.uint8)
    buffer[: len(prefix)] = prefix
    _choose_each(
        persons, cells, codes, first, labels, label_ends, numbers, names, name_ends, rows, limit, keep, buffer,
        len(prefix),
    )  # fmt: skip


@njit(nogil=True)
def _choose_each(
    persons: Int64,
    cells: Int64,
    codes: Int64,
    first: Int64,
    labels: UInt8,
    label_ends: Int64,
    numbers: Int64,
    names: UInt8,
    name_ends: Int64,
    rows: Int64,
    limit: int,
    keep: Bool,
    buffer: UInt8,
    prefix: int,
) -> None:
    state = np.zeros(4, dtype=np.uint64)
    start = 0
    while start < len(persons):
        person, end = persons[start], start + 1
        while end < len(persons) and persons[end] == person:
            end += 1
        order = np.argsort(cells[start:end], kind="mergesort")
        ranks = np.empty(end - start, dtype=np.uint64)
        number = 0
        for i in range(end - start):
            row = start + order[i]
            number = number + 1 if i > 0 and cells[row] == cells[start + order[i - 1]] else 1
            size = prefix
            for part in range(codes.shape[1]):
                if part:
                    buffer[size] = 44  # a comma
                    size += 1
                if first[part] < 0:
                    size = write_whole(buffer, size, codes[row, part])
                else:
                    size = write_text(buffer, size, labels, label_ends, first[part] + codes[row, part])
            buffer[size] = 124  # a bar
            size = write_whole(buffer, size + 1, number)
            buffer[size] = 124
            size += 1
            if person < len(numbers):
                size = write_whole(buffer, size, numbers[person])
            else:
                size = write_text(buffer, size, names, name_ends, person - len(numbers))
            ranks[i] = first_half(buffer, size, state)
        for i in np.argsort(ranks, kind="mergesort")[:limit]:
            keep[rows[start + order[i]]] = True
        start = end
