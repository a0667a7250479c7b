"""Rows of several columns as numbers.

A number of the grid stays itself, within the bounds; a category becomes its place in the declared list, and a label 0
or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Bool, Float64, Int64
from ogive.columns import Binning, Column, Domain, Label, Listed, Membership
from ogive.errors import DataError
from ogive.queries import RowValues
from ogive.records.binning import LOW_OR_HIGH, missing_message, refuse_fractions, refuse_outside
from ogive.records.labels import Classes, Columns, LabelCodes, Listing, Members, Places

Reader = Callable[[NDArray[Any]], Float64]


class RowSums:
    """All rows in the order of the table, shape (n, columns), as the bits of their numbers."""

    def __init__(self, rows: RowValues, labels: Mapping[str, LabelCodes]) -> None:
        self._aggregate = rows
        self._rows = DomainRows(rows.domain, labels)
        self._parts = [np.zeros(rows.shape, dtype=np.float64)]

    def add(self, columns: Columns) -> None:
        """Keep the numbers of some rows."""
        self._parts.append(self._rows.kept(columns)[0])

    @property
    def sums(self) -> Int64:
        """The rows so far."""
        return self._aggregate.sums(np.concatenate(self._parts))


class DomainRows:
    """Turns what was read of a domain's columns into rows of numbers."""

    def __init__(self, domain: Domain, labels: Mapping[str, LabelCodes]) -> None:
        self._readers = [_reader(column, labels) for column in domain.columns]

    def kept(self, columns: Columns) -> tuple[Float64, Bool]:
        """Rows of numbers without NaN, and which rows those are: all without a missing value that is dropped.

        Returns:
            Shapes (kept rows, columns) and (rows,).

        Raises:
            DataError: a policy refuses a value, or a label or category is missing or was not declared.
        """
        found = np.stack([read(column) for read, column in zip(self._readers, columns, strict=True)], axis=1)
        kept: Bool = np.asarray(~np.isnan(found).any(axis=1))
        return found if kept.all() else found[kept], kept


def _reader(column: Column, labels: Mapping[str, LabelCodes]) -> Reader:
    if isinstance(column, Binning):
        return lambda values: _bounded(values, column)
    codes = labels[column.column]
    if isinstance(column, Label):
        classes = Classes(column, codes)
        return lambda values: classes.positive(values).astype(np.float64)
    if isinstance(column, Membership):
        return Members(column, codes).inside
    if isinstance(column, Listed):
        return Listing(column, codes).symbols
    places = Places(
        column,
        codes,
        one="category",
        parameter="categories",
        undeclared="has a value that is not among its categories; list all public categories",
    )
    return lambda values: places.number(values).astype(np.float64)


def _bounded(values: Float64, binning: Binning) -> Float64:
    """Numbers within the bounds; NaN only where a missing value is to be dropped."""
    refuse_outside(values, binning, "widen the bounds, or count them at the nearer bound with `outside='clip'`")
    refuse_fractions(values, binning)
    found: Float64 = np.clip(values, binning.grid.low, binning.grid.high) + 0.0  # one number for both zeros
    missing = np.isnan(found)
    if missing.any():
        if binning.missing == "refuse":
            raise DataError(missing_message(binning, LOW_OR_HIGH))
        if binning.substitute is not None:
            found[missing] = binning.substitute
    return found
