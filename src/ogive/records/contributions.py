"""What single records add to an aggregate: the cell that each counts in, and the amount of those that add one.

An aggregate is the sum of its records' contributions, and is computed as that, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Binning, Categories
from ogive.errors import DataError
from ogive.queries import Ballots, Cells, ClassBinning, GroupBinning, GroupSums
from ogive.records.ballots import votes_of
from ogive.records.binning import bins_of, fixed_point, in_class
from ogive.records.labels import Classes, Columns, LabelCodes, Places
from ogive.records.policies import LOW_OR_HIGH, missing_message, refuse_outside
from ogive.records.rows import DomainRows

Summable = Binning | ClassBinning | GroupBinning | GroupSums | Cells | Ballots
"""Aggregates to which every record adds something of its own: all but `RowValues`, which are no sums."""

COUNTED = "widen the bounds, or count them at the nearer bound with `outside='clip'`"


@dataclass(frozen=True)
class Contributions:
    """What some records add to an aggregate, as secret as they are.

    Fields:
        cells: The flat index of the cell that each record counts in, or -1 where it counts nowhere because a
            missing value is dropped; shape (n,). Of `GroupSums` with Q groups `label * Q + group`. Of `Ballots` the
            class that each teacher votes for in each query, shape (n, queries).
        amounts: Of `GroupSums` the probability of each record in units of 2^-bits, shape (n,); else None.
    """

    cells: Int64
    amounts: Int64 | None = None


class Contributor(Protocol):
    """Reads what records contribute to one aggregate."""

    def of(self, columns: Columns) -> Contributions:
        """Contributions of some rows of the columns of `columns_of`.

        Raises:
            DataError: a policy refuses what was found.
        """
        ...


def contributor(aggregate: Summable, labels: Mapping[str, LabelCodes]) -> Contributor:
    """What reads the contributions of an aggregate whose labels will be coded by `labels` of their column."""
    match aggregate:
        case Binning():
            return _Binned(aggregate)
        case ClassBinning():
            return _Classified(aggregate, labels[aggregate.label.column])
        case GroupBinning():
            return _Grouped(aggregate, labels[aggregate.by])
        case GroupSums():
            return _Probable(aggregate, labels[aggregate.label.column])
        case Cells():
            return _Combined(aggregate, labels)
        case Ballots():
            return _Voted(aggregate)


class _Binned:
    """Contribution of one record: one bin of a column."""

    def __init__(self, binning: Binning) -> None:
        self._binning = binning
        # values that may not leave 0 to 1 are probabilities, and those are not dropped
        choices = "`missing='low'` or `'high'`, or, under `ADD_OR_REMOVE`, `'drop'`"
        self._choices = choices if binning.outside == "clip" else LOW_OR_HIGH

    def of(self, columns: Columns) -> Contributions:
        (values,) = columns
        refuse_outside(values, self._binning)
        return Contributions(_placed(values, self._binning, self._choices))


class _Classified:
    """Contribution of one record: one bin of one of two classes, the negative one first."""

    def __init__(self, aggregate: ClassBinning, labels: LabelCodes) -> None:
        self._score = aggregate.score
        self._classes = Classes(aggregate.label, labels, aggregate.score.column)

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        positive = self._classes.positive(codes)
        refuse_outside(values, self._score, COUNTED)
        return Contributions(in_class(_placed(values, self._score), positive, self._score.grid.bins))


class _Grouped:
    """Contribution of one record: one bin of one of several groups."""

    def __init__(self, aggregate: GroupBinning, labels: LabelCodes) -> None:
        self._values = aggregate.values
        self._groups = Places(
            Categories(aggregate.by, aggregate.groups),
            labels,
            one="group",
            parameter="groups",
            undeclared="holds groups that were not declared; name all of them, which are public, with `groups=`",
        )

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        numbers = self._groups.number(codes)
        refuse_outside(values, self._values)
        return Contributions(in_class(_placed(values, self._values), numbers, self._values.grid.bins))


class _Probable:
    """Contribution of one record: its group and label, and the probability itself."""

    def __init__(self, aggregate: GroupSums, labels: LabelCodes) -> None:
        self._aggregate = aggregate
        self._classes = Classes(aggregate.label, labels, aggregate.probability.column)

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        binning = self._aggregate.probability
        positive = self._classes.positive(codes)
        refuse_outside(values, binning)
        cells = in_class(_placed(values, binning), positive, binning.grid.bins)
        substitute = 0.0 if binning.missing == "low" else 1.0
        return Contributions(cells, fixed_point(values, substitute, self._aggregate.bits))


class _Combined:
    """Contribution of one record: one symbol of a domain."""

    def __init__(self, cells: Cells, labels: Mapping[str, LabelCodes]) -> None:
        self._domain = cells.domain
        self._rows = DomainRows(cells.domain, labels)

    def of(self, columns: Columns) -> Contributions:
        numbers, kept = self._rows.kept(columns)
        found = np.full(len(kept), -1, dtype=np.int64)
        found[kept] = self._domain.symbols(numbers)
        return Contributions(found)


class _Voted:
    """Contribution of one teacher: one class in every query."""

    def __init__(self, ballots: Ballots) -> None:
        self._ballots = ballots

    def of(self, columns: Columns) -> Contributions:
        return Contributions(np.ascontiguousarray(votes_of(self._ballots, columns).T))


def _placed(values: Float64, binning: Binning, choices: str = LOW_OR_HIGH) -> Int64:
    """The bin of each value; missing ones where the policy says, or -1 where they are dropped."""
    place = {"low": 0, "high": binning.grid.bins - 1}.get(binning.missing, -1)
    found, missing = bins_of(values, binning.grid, place)
    if missing and binning.missing == "refuse":
        raise DataError(missing_message(binning, choices))
    return found
