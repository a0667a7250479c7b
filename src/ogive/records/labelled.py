"""Sums of what records contribute: counts per bin, per class or group and bin, and sums per group.

Each `Sums` is fed a bounded number of rows at a time and keeps nothing but its sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ogive.arrays import Int64
from ogive.columns import Binning, Categories, Column
from ogive.errors import DataError
from ogive.queries import Aggregate, Ballots, Cells, ClassBinning, GroupBinning, GroupSums, RowValues
from ogive.records.ballots import BallotCounts
from ogive.records.binning import add_amounts, add_cells
from ogive.records.contributions import Contributor, Summable, contributor
from ogive.records.labels import Columns, LabelCodes
from ogive.records.rows import RowSums

MAX_SUM_BITS = 62


class Sums(Protocol):
    """The sums of an aggregate, growing row by row."""

    @property
    def sums(self) -> Int64:
        """Of all rows so far, in the aggregate's shape."""
        ...

    def add(self, columns: Columns) -> None:
        """Add some rows of the columns of `columns_of`.

        Raises:
            DataError: a policy refuses what was found.
        """
        ...


def columns_of(aggregate: Aggregate) -> tuple[Column, ...]:
    """What an aggregate reads of each record."""
    match aggregate:
        case Binning():
            return (aggregate,)
        case GroupBinning():
            return aggregate.values, Categories(aggregate.by, aggregate.groups)
        case ClassBinning():
            return aggregate.score, aggregate.label
        case GroupSums():
            return aggregate.probability, aggregate.label
        case Cells() | RowValues():
            return aggregate.domain.columns
        case Ballots():
            return aggregate.columns


def start_sums(aggregate: Aggregate, labels: Mapping[str, LabelCodes]) -> Sums:
    """Sums of no rows yet, whose labels will be coded by `labels` of their column."""
    match aggregate:
        case RowValues():
            return RowSums(aggregate, labels)
        case Ballots():
            return BallotCounts(aggregate)
        case GroupSums():
            return ProbabilitySums(aggregate, contributor(aggregate, labels))
        case _:
            return CellCounts(aggregate, contributor(aggregate, labels))


class CellCounts:
    """Records per cell, in the aggregate's shape."""

    def __init__(self, aggregate: Summable, reader: Contributor) -> None:
        self._reader = reader
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Count the cells of some rows."""
        add_cells(self.sums.reshape(-1), self._reader.of(columns).cells)


class ProbabilitySums:
    """Sums per group, shape (4, Q)."""

    def __init__(self, aggregate: GroupSums, reader: Contributor) -> None:
        self._bits = aggregate.bits
        self._reader = reader
        self._rows = 0
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Add some probabilities and labels to the sums of their groups."""
        self._rows += len(columns[0])
        check_room(self._rows, self._bits)
        found = self._reader.of(columns)
        assert found.amounts is not None
        add_amounts(self.sums, found.cells, found.amounts, self._bits)


def check_room(rows: int, bits: int) -> None:
    """Refuse so many rows that their sums in units of 2^-bits could leave 64 bits.

    Raises:
        DataError: they could.
    """
    if rows > 1 << (MAX_SUM_BITS - bits):
        raise DataError(f"there are too many records for sums with {bits} fractional bits; use fewer bits")
