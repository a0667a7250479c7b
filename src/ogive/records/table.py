"""Records: one table, read column by column and turned into bin counts.

`Records.of` takes files, data frames and plain arrays. Nothing here is private: a histogram
is the exact input of a release and must not leave the party that holds the records.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ogive.errors import DataError
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Aggregate, Binning, ClassBinning
from ogive.records.binning import float_chunks, kind_of, type_words
from ogive.records.labelled import add_with_policy, class_counts, group_sums
from ogive.records.sources import Source, memory_source

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

SHOWN_COLUMNS = 12


class Records:
    """One table of records, in a file or in memory; build it with `Records.of`."""

    def __init__(self, source: Source) -> None:
        if source.is_empty():
            raise DataError(f"{source.name} has no rows; a release needs at least one record")
        self._source = source
        self._size: int | None = None
        self.person: str | None = None
        self.max_rows_per_person = 1

    @staticmethod
    def of(data: Any, *, column: str = "value") -> Records:
        """Open a table.

        Args:
            data: A path to a CSV (.csv, .tsv, gzipped or not), Parquet or Arrow file; a pandas, polars or
                pyarrow frame; a dict of one-dimensional columns; one column; or records already opened.
            column: The name given to the values when `data` is one column.

        Raises:
            DataError: the data cannot be read, have no rows, or have two columns of one name.
        """
        if isinstance(data, Records):
            return data
        if isinstance(data, str | os.PathLike):
            from ogive.records.files import file_source  # the engine is slow to import, and arrays need none

            return Records(file_source(Path(data)))
        return Records(memory_source(data, column))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._source.columns

    @property
    def size(self) -> int:
        """Number of rows, missing values included."""
        if self._size is None:
            self._size = self._source.rows()
        return self._size

    def bounded(self, person: str | None, max_rows_per_person: int = 1) -> Records:
        """The same table with at most some rows of each person."""
        if person is None and self.person is None:
            PrivacyUnit(Adjacency.ADD_OR_REMOVE, None, max_rows_per_person)
            return self
        raise NotImplementedError

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs, of the aggregate's shape."""
        if isinstance(aggregate, Binning):
            return self.histogram(aggregate)
        binning = aggregate.score if isinstance(aggregate, ClassBinning) else aggregate.probability
        values = np.concatenate(list(self._chunks(binning.column, binning.grid.unit)))
        label = aggregate.label.column
        if label not in self.columns:
            raise DataError(self._no_such_column(label))
        labels = pa.chunked_array(list(self._source.arrays(label))).combine_chunks()
        if isinstance(aggregate, ClassBinning):
            return class_counts(aggregate, iter([(values, labels)]))
        return group_sums(aggregate, iter([(values, labels)]))

    def histogram(self, binning: Binning) -> Int64:
        """Count the records in each bin, in one pass with bounded memory.

        Args:
            binning: Column, thresholds, and what a missing value (null or NaN) means. Values outside the
                bounds, infinities included, are counted at the nearest bound. Booleans count as 0 and 1.

        Returns:
            Records per bin, shape (bins,); the sum is the number of rows that were not dropped.

        Raises:
            DataError: no such column, it holds neither numbers nor dates, it holds another kind than the
                bounds, or values are missing and the policy is "refuse".
        """
        grid = binning.grid
        counts = np.zeros(grid.bins, dtype=np.int64)
        rows = 0
        for values in self._chunks(binning.column, grid.unit):
            rows += len(values)
            add_with_policy(counts, values, binning)
        self._size = rows
        return counts

    def _chunks(self, column: str, unit: str) -> Iterator[Float64]:
        """The column as numbers in the given unit, NaN where missing."""
        if column not in self.columns:
            raise DataError(self._no_such_column(column))
        kind = kind_of(self._source.type(column))
        holds = type_words(self._source.type(column))
        if kind is None:
            raise DataError(f"column {column!r} holds {holds}, but numbers or dates are needed")
        if kind != unit and (kind, unit) != ("date", "datetime"):
            wanted = {"number": "numbers", "date": "dates", "datetime": "times"}[unit]
            hint = ""
            if (kind, unit) == ("datetime", "date"):
                hint = "; write the bounds as times, for example 2024-01-01T00:00"
            raise DataError(f"column {column!r} holds {holds}, but the bounds are {wanted}{hint}")
        for array in self._source.arrays(column):
            yield from float_chunks(array, unit)

    def _no_such_column(self, column: str) -> str:
        if not self._source.has_names:
            return (
                f"{self._source.name} has no column {column!r}, and its first line does not look like column names; "
                "the first line must name the columns"
            )
        lower = {name.lower(): name for name in reversed(self.columns)}
        near = [lower[name] for name in difflib.get_close_matches(column.lower(), list(lower), n=3)]
        shown = ", ".join(self.columns[:SHOWN_COLUMNS]) + (", ..." if len(self.columns) > SHOWN_COLUMNS else "")
        suggestion = f"; did you mean {' or '.join(near)}?" if near else ";"
        return f"{self._source.name} has no column {column!r}{suggestion} it has {shown}"
