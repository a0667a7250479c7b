"""Sums over rows: counts per bin, per class or group and bin, and sums per group.

Each `Sums` is fed a bounded number of rows at a time and keeps nothing but its sums.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.errors import DataError
from ogive.queries import Aggregate, Binning, ClassBinning, GroupBinning, GroupSums
from ogive.records.binning import add_class_counts, add_counts, add_group_sums
from ogive.records.labels import Classes, Codes, Groups, LabelCodes

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

MAX_SUM_BITS = 62


class Sums(Protocol):
    """The sums of an aggregate, growing row by row."""

    sums: Int64

    def add(self, values: Float64, codes: Codes) -> None:
        """Add some rows: numbers of the grid, NaN where missing, and codes of labels where there are any.

        Raises:
            DataError: a policy refuses what was found.
        """
        ...


def start_sums(aggregate: Aggregate, labels: LabelCodes) -> Sums:
    """Sums of no rows yet, whose labels will be coded by `labels`."""
    match aggregate:
        case Binning():
            return BinSums(aggregate)
        case ClassBinning():
            return ClassSums(aggregate, labels)
        case GroupBinning():
            return GroupedSums(aggregate, labels)
        case GroupSums():
            return ProbabilitySums(aggregate, labels)


class BinSums:
    """Records per bin, shape (N,)."""

    def __init__(self, binning: Binning) -> None:
        self._binning = binning
        self.sums = np.zeros(binning.shape, dtype=np.int64)

    def add(self, values: Float64, codes: Codes) -> None:
        """Add the bins of some values."""
        add_with_policy(self.sums, values, self._binning)


class ClassSums:
    """Records per class and bin, shape (2, N)."""

    def __init__(self, aggregate: ClassBinning, labels: LabelCodes) -> None:
        self._score = aggregate.score
        self._classes = Classes(aggregate.label, labels, aggregate.score.column)
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, values: Float64, codes: Codes) -> None:
        """Add the bins of some scores to the counts of their classes."""
        positive = self._classes.positive(codes)
        refuse_outside(values, self._score, "widen the bounds, or count them at the nearer bound with outside='clip'")
        missing = add_class_counts(self.sums, values, positive, self._score.grid)
        place_missing(self.sums, missing, self._score)


class GroupedSums:
    """Records per group and bin, shape (G, N)."""

    def __init__(self, aggregate: GroupBinning, labels: LabelCodes) -> None:
        self._values = aggregate.values
        self._groups = Groups(aggregate, labels)
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, values: Float64, codes: Codes) -> None:
        """Add the bins of some values to the counts of their groups."""
        numbers = self._groups.number(codes)
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

    def add(self, values: Float64, codes: Codes) -> None:
        """Add some probabilities and labels to the sums of their groups."""
        binning = self._aggregate.probability
        self._rows += len(values)
        check_room(self._rows, self._aggregate.bits)
        positive = self._classes.positive(codes)
        refuse_outside(values, binning)
        substitute = {"low": 0.0, "high": 1.0}.get(binning.missing, np.nan)
        if add_group_sums(self.sums, values, positive, binning.grid, substitute, self._aggregate.bits):
            raise DataError(_missing_message(binning, "'low' or 'high'"))


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


def refuse_outside(values: Float64, binning: Binning, advice: str = "") -> None:
    """Refuse values outside the bounds where the policy says so.

    Args:
        values: Numbers of the grid, NaN where missing.
        binning: The bounds and the policy. Numbers that may not leave 0 to 1, and for which no advice is
            given, are probabilities.
        advice: What would be right, where values outside could be allowed.

    Raises:
        DataError: there is one.
    """
    grid = binning.grid
    if binning.outside == "refuse" and bool(np.any((values < grid.low) | (values > grid.high))):
        low, high = (
            f"{bound:g}" if isinstance(bound, float) else str(bound)
            for bound in (grid.label(grid.low), grid.label(grid.high))
        )
        if not advice and (low, high) == ("0", "1"):
            raise DataError(
                f"column {binning.column!r} has values that are no probabilities: they must lie from 0 to 1; "
                "percentages must be divided by 100"
            )
        raise DataError(f"column {binning.column!r} has values outside {low} to {high}; {advice or 'widen the bounds'}")


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
            raise DataError(_missing_message(binning, choices))
        case "low":
            counts[..., 0] += missing
        case "high":
            counts[..., -1] += missing


def _missing_message(binning: Binning, choices: str) -> str:
    return f"column {binning.column!r} has missing values; say what they mean with missing={choices}"
