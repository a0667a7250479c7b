"""A few records that are given as values of Python: what they contribute, without Arrow.

A device that uploads one value has no use for a table. What is read here contributes the same as `Records` of the same
values does; each value is read by itself, so no record changes what another one means.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Binning, Label, ReadColumn
from ogive.errors import DataError, quoted
from ogive.local.values import grid_numbers, is_nan
from ogive.queries import GroupBinning
from ogive.records.contributions import Contributions, Summable, columns_of, contributor
from ogive.records.labels import LabelCodes, check_category_kind, check_label_kind, ends_observation
from ogive.records.missing_words import USUAL, check_column, tell

_KINDS = {
    "text": str,
    "truth values": bool | np.bool_,
    "numbers": numbers.Number,
    "times": datetime.datetime,
    "dates": datetime.date,
}


class PlainRecords:
    """Some records, column by column."""

    name = "the data"
    has_names = True

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._values = {name: list(values) for name, values in columns.items()}
        lengths = set(map(len, self._values.values()))
        if len(lengths) > 1:
            raise DataError("the columns must have one length")
        self.size = max(lengths, default=0)
        if not self.size:
            raise DataError("the data has no rows; a release needs at least one record")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._values)

    def contributions(self, aggregate: Summable) -> Iterator[Contributions]:
        columns = columns_of(aggregate)
        labels = {each.column: LabelCodes() for each in columns if not isinstance(each, Binning)}
        plural = "groups" if isinstance(aggregate, GroupBinning) else "categories"
        plural = "events" if ends_observation(columns) else plural
        read = tuple(self._read(column, labels, plural) for column in columns)
        yield contributor(aggregate, labels)(read)

    def _read(self, column: ReadColumn, labels: Mapping[str, LabelCodes], plural: str) -> NDArray[Any]:
        """The values of a column: numbers of the grid, NaN where missing, or codes of labels."""
        check_column(self, column.column)
        values = self._values[column.column]
        if isinstance(column, Binning):
            results = [each for each in values if each in USUAL]
            if results:
                tell(column.column, self.name, USUAL, results)
            array = np.empty(len(values), dtype=object)
            array[:] = [None if each in USUAL else each for each in values]
            return grid_numbers(column, array)
        if isinstance(column, Label):
            check_label_kind(column, _holds(column.column, values))
        else:
            check_category_kind(column, _holds(column.column, values), plural)
        codes = labels[column.column]
        return np.array([codes.code(None if is_nan(each) else each) for each in values], dtype=np.int64)


def _holds(column: str, values: Sequence[Any]) -> str:
    """What values are, in the words of `content_kind`; truth values among numbers are numbers."""
    result = {_kind(each) for each in values if each is not None and not is_nan(each)}
    if result == {"truth values", "numbers"}:
        return "numbers"
    if len(result) > 1:
        raise DataError(f"column {quoted(column)} must hold values of one kind, numbers or dates; it mixes kinds")
    return result.pop() if result else "no values at all"


def _kind(value: Any) -> str:
    for words, kind in _KINDS.items():
        if isinstance(value, kind):
            return words
    return f"values of type {type(value).__name__}"
