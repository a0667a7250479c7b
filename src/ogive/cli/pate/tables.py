"""Tables for teachers: labels and persons of a file's rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.arrays import Int64
from ogive.cli.forms.plain import meanings
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.records.sources import Source


def table(path: Path) -> Source:
    """A file of rows.

    Raises:
        DataError: it cannot be read, or is empty.
    """
    from ogive.records.files import file_source

    source = file_source(path)
    if source.is_empty():
        raise DataError(f"{plain(path)} has no rows")
    return source


def labels_in(rows: Source, column: str, classes: Sequence[str], path: Path) -> Int64:
    """Classes of all rows as whole numbers from 0, shape (rows,).

    Raises:
        ParameterError: there are no two classes.
        DataError: there is no such column, or a row of no class.
    """
    import numpy as np

    if len(classes) == 1:
        if not classes[0].isdecimal() or int(classes[0]) < 2:
            raise ParameterError("--classes must be a whole number from 2, or two or more classes")
        known: dict[Any, int] = {number: number for number in range(int(classes[0]))}
    else:
        if len(set(classes)) < len(classes) or not classes:
            raise ParameterError("--classes must be a whole number from 2, or two or more different classes")
        known = {meaning: number for number, word in enumerate(classes) for meaning in meanings([word])}
    values = _values(rows, column, path)
    found = np.array([known.get(value, -1) for value in values], dtype=np.int64)
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        raise DataError(
            f"the label of row {row} in column {quoted(column)} of {plain(path)} is none of the classes of --classes"
        )
    return found


def persons_in(rows: Source, column: str, path: Path) -> NDArray[Any]:
    """Whose every row is, shape (rows,).

    Raises:
        DataError: there is no such column, or a row has no person.
    """
    import numpy as np

    values = _values(rows, column, path, identifier=True)
    if None in values:
        raise DataError(f"column {quoted(column)} of {plain(path)} has rows without a person")
    return np.array(values)


def _values(rows: Source, column: str, path: Path, *, identifier: bool = False) -> list[Any]:
    if column not in rows.columns:
        raise DataError(f"{plain(path)} has no column {quoted(column)}")
    named = {column} if identifier else set()
    return [value for (array,) in rows.batches((column,), identifiers=named) for value in array.to_pylist()]
