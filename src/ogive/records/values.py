"""Records per value of a column of which nobody has listed the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.columns import LabelValue, storable
from ogive.errors import DataError, quoted
from ogive.queries.value_counts import Counted, ValueCounts, write
from ogive.records.labels import MISSING, Columns, LabelCodes


class ValueSums:
    """Counts of all values so far.

    Args:
        aggregate: The column, and what a missing value means.
        labels: What the codes of its values mean.
    """

    def __init__(self, aggregate: ValueCounts, labels: LabelCodes) -> None:
        self._column = aggregate.column
        self._labels = labels
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, columns: Columns, counts: Int64 | None = None) -> None:
        """Count the values of some rows.

        Args:
            columns: Codes of the values.
            counts: As how many rows each counts; by default as one.

        Raises:
            DataError: one is missing, and the column refuses that.
        """
        (codes,) = columns
        size = max(len(self._labels.values), len(self._counts))
        if counts is None:
            here = np.bincount(codes, minlength=size)
        else:
            here = np.zeros(size, dtype=np.int64)
            np.add.at(here, codes, counts)
        if self._column.missing == "refuse" and here[MISSING]:
            raise DataError(
                f"column {quoted(self._column.column)} has missing values; choose their treatment with "
                "`missing='count'` or, under `ADD_OR_REMOVE`, `'drop'`"
            )
        here[: len(self._counts)] += self._counts
        self._counts = here

    @property
    def sums(self) -> Int64:
        """Of all rows so far."""
        found: dict[LabelValue, int] = {}
        missing = unnamed = 0
        for value, count in zip(self._labels.values, self._counts.tolist(), strict=False):
            if value is None:
                missing = count
            elif (name := _named(value)) is None:
                unnamed += count
            elif count:
                found[name] = found.get(name, 0) + count
        return write(Counted(found, missing, unnamed))


def _named(value: Any) -> LabelValue | None:
    """A value as it is told, which depends on nothing else; None for one that could not be stored."""
    if not isinstance(value, str | bool | int):
        value = float(value)
        if value.is_integer():
            value = int(value)
    return value if storable(value) else None
