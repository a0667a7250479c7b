"""Sums over rows: counts per bin, per class or group and bin, and sums per group.

Each `Sums` is fed a bounded number of rows at a time and keeps nothing but its sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Categories, Column
from ogive.errors import DataError
from ogive.queries import Aggregate, Binning, Cells, ClassBinning, GroupBinning, GroupSums, RowValues
from ogive.records.binning import add_class_counts, add_counts, add_group_sums
from ogive.records.labels import Classes, Columns, LabelCodes, Places
from ogive.records.policies import missing_message, refuse_outside
from ogive.records.rows import CellSums, RowSums

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

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


def start_sums(aggregate: Aggregate, labels: Mapping[str, LabelCodes]) -> Sums:
    """Sums of no rows yet, whose labels will be coded by `labels` of their column."""
    match aggregate:
        case Binning():
            return BinSums(aggregate)
        case ClassBinning():
            return ClassSums(aggregate, labels[aggregate.label.column])
        case GroupBinning():
            return GroupedSums(aggregate, labels[aggregate.by])
        case GroupSums():
            return ProbabilitySums(aggregate, labels[aggregate.label.column])
        case Cells():
            return CellSums(aggregate, labels)
        case RowValues():
            return RowSums(aggregate, labels)


class BinSums:
    """Records per bin, shape (N,)."""

    def __init__(self, binning: Binning) -> None:
        self._binning = binning
        self.sums = np.zeros(binning.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Add the bins of some values."""
        (values,) = columns
        add_with_policy(self.sums, values, self._binning)


class ClassSums:
    """Records per class and bin, shape (2, N)."""

    def __init__(self, aggregate: ClassBinning, labels: LabelCodes) -> None:
        self._score = aggregate.score
        self._classes = Classes(aggregate.label, labels, aggregate.score.column)
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Add the bins of some scores to the counts of their classes."""
        values, codes = columns
        positive = self._classes.positive(codes)
        refuse_outside(values, self._score, "widen the bounds, or count them at the nearer bound with outside='clip'")
        missing = add_class_counts(self.sums, values, positive, self._score.grid)
        place_missing(self.sums, missing, self._score)


class GroupedSums:
    """Records per group and bin, shape (G, N)."""

    def __init__(self, aggregate: GroupBinning, labels: LabelCodes) -> None:
        self._values = aggregate.values
        self._groups = Places(
            Categories(aggregate.by, aggregate.groups),
            labels,
            one="group",
            undeclared="holds groups that were not declared; name all of them, which are public, with groups=",
        )
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Add the bins of some values to the counts of their groups."""
        values, codes = columns
        numbers = self._groups.number(codes).astype(np.uint16)
        refuse_outside(values, self._values)
        missing = add_class_counts(self.sums, values, numbers, self._values.grid)
        place_missing(self.sums, missing, self._values)


class ProbabilitySums:
    """Sums per group, shape (4, Q)."""

    def __init__(self, aggregate: GroupSums, labels: LabelCodes) -> None:
        self._aggregate = aggregate
        self._classes = Classes(aggregate.label, labels, aggregate.probability.column)
        self._rows = 0
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Add some probabilities and labels to the sums of their groups."""
        values, codes = columns
        binning = self._aggregate.probability
        self._rows += len(values)
        check_room(self._rows, self._aggregate.bits)
        positive = self._classes.positive(codes)
        refuse_outside(values, binning)
        substitute = {"low": 0.0, "high": 1.0}.get(binning.missing, np.nan)
        if add_group_sums(self.sums, values, positive, binning.grid, substitute, self._aggregate.bits):
            raise DataError(missing_message(binning, "'low' or 'high'"))


def check_room(rows: int, bits: int) -> None:
    """Refuse so many rows that their sums in units of 2^-bits could leave 64 bits.

    Raises:
        DataError: they could.
    """
    if rows > 1 << (MAX_SUM_BITS - bits):
        raise DataError(f"there are too many records for sums with {bits} fractional bits; use fewer bits")


def add_with_policy(counts: Int64, values: Float64, binning: Binning) -> None:
    """Add the bins of some values to counts, in place, as the policies say.

    Raises:
        DataError: a policy refuses what was found.
    """
    refuse_outside(values, binning)
    place_missing(counts, np.array(add_counts(counts, values, binning.grid)), binning)


def place_missing(counts: Int64, missing: Int64, binning: Binning) -> None:
    """Count missing values where the policy says, in place; shapes (..., N) and (...).

    Raises:
        DataError: the policy refuses them, and there are some.
    """
    if not missing.any():
        return
    match binning.missing:
        case "refuse":
            # classes and probabilities cannot be dropped
            droppable = counts.ndim == 1 and binning.outside == "clip"
            choices = "'low' or 'high', or, under ADD_OR_REMOVE, 'drop'" if droppable else "'low' or 'high'"
            raise DataError(missing_message(binning, choices))
        case "low":
            counts[..., 0] += missing
        case "high":
            counts[..., -1] += missing
