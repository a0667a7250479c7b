"""Units of people in the bins of a column: the rows of each person share one weight.

In the order of its bins, each row of a person gets what the rounded share of the rows up to it exceeds that of the rows
before it. So units depend on how many rows a person has in each bin, on no order of rows, and on no other person.
`docs/proofs/people.md` has the definition and the proof, and `records.engines.choosing` the same as an expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Bool, Int64
from ogive.columns import Binning
from ogive.records.cell_choice import MISSING
from ogive.records.contributions import contributor
from ogive.records.labels import Columns
from ogive.records.persons import Persons
from ogive.strategies.people import PERSON_UNITS


class EveryRow:
    """Keeps all rows of all persons, and sees in which bin each of them counts.

    Args:
        binning: Column and grid.
    """

    def __init__(self, binning: Binning) -> None:
        self._reader = contributor(binning, {})

    def marks(self, columns: Columns) -> tuple[Int64, Int64]:
        """The place of each row among those of its person, missing values first, and its bin; -1 where it is dropped.

        Raises:
            DataError: a policy refuses a value.
        """
        (values,) = columns
        cells = self._reader.of(columns).cells
        return np.where(np.isnan(values), MISSING, cells), cells

    def kept(self, persons: Persons, marks: Sequence[NDArray[Any]], limit: int) -> Bool:
        """Every row."""
        return np.ones(len(persons.codes), dtype=np.bool_)


def add_shares(sums: Int64, persons: Int64, places: Int64, cells: Int64) -> None:
    """Add the units of some persons to sums of shape (N,), in place.

    Args:
        sums: Units in each bin.
        persons: For each row the number of its person; all rows of a person are there.
        places: The order of the rows of a person.
        cells: The bin of each row; -1 where it counts nowhere.
    """
    counted = cells >= 0
    order = np.flatnonzero(counted)[np.lexsort((places[counted], persons[counted]))]
    whose = persons[order]
    if not len(whose):
        return
    rows = np.bincount(whose)
    number = np.arange(len(whose)) - (np.cumsum(rows) - rows)[whose]
    held = rows[whose]
    units = _rounded(number + 1, held) - _rounded(number, held)
    np.add.at(sums, cells[order], units)


def _rounded(part: Int64, rows: Int64) -> Int64:
    """The whole number nearest to `PERSON_UNITS` part / rows, a half rounded up."""
    return (2 * PERSON_UNITS * part + rows) // (2 * rows)
