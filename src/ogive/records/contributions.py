"""What single records add to an aggregate, and the sums of it.

A record adds to the cell that it counts in, or an amount to a cell, where it has one. An aggregate is the sum of its
records' contributions, and is computed as that: each `Sums` is fed a bounded number of rows at a time and keeps
nothing but its sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.columns import (
    Binning,
    Categories,
    Column,
    Domain,
    Label,
    LabelValue,
    Listed,
    Membership,
    ReadColumn,
    storable,
)
from ogive.core.arrays import Bool, Float64, Int64
from ogive.errors import DataError, quoted
from ogive.queries import (
    Aggregate,
    Ballots,
    Cells,
    ClassBinning,
    GroupBinning,
    GroupSums,
    Parted,
    PersonShares,
    RowValues,
    Selected,
    ValueCounts,
)
from ogive.queries.aggregates import Counted, write
from ogive.records.cells import (
    DROP_TOO,
    LOW_OR_HIGH,
    MISSING,
    Classes,
    Columns,
    LabelCodes,
    Listing,
    Members,
    Places,
    add_amounts,
    add_cells,
    bins_of,
    fixed_point,
    in_class,
    missing_message,
    refuse_fractions,
    refuse_outside,
)

Summable = Binning | ClassBinning | GroupBinning | GroupSums | Cells | Ballots
"""Aggregates to which every record adds to some cell of a fixed shape: all but `RowValues` and `ValueCounts`."""

COUNTED = "widen the bounds, or count them at the nearer bound with `outside='clip'`"
MAX_SUM_BITS = 62


def columns_of(aggregate: Aggregate) -> tuple[ReadColumn, ...]:
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
        case ValueCounts():
            return (aggregate.column,)
        case Selected() | PersonShares():
            return columns_of(aggregate.values)
        case Parted():
            # one group after the other, and once for groups of which the same is asked
            parts = (column for each in dict.fromkeys(aggregate.values) for column in columns_of(each))
            return *parts, Categories(aggregate.by, aggregate.groups)


# --- Rows of several columns as numbers
#
# A number of the grid stays itself, within the bounds; a category becomes its place in the declared list, and a label 0
# or 1.

Reader = Callable[[NDArray[Any]], Float64]


class DomainRows:
    """Turns what was read of a domain's columns into rows of numbers."""

    def __init__(self, domain: Domain, labels: Mapping[str, LabelCodes]) -> None:
        self._readers = [_reader(column, labels) for column in domain.columns]

    def kept(self, columns: Columns) -> tuple[Float64, Bool]:
        """Rows of numbers without NaN, and which rows those are: all without a missing value that is dropped."""
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
    refuse_outside(values, binning, COUNTED)
    refuse_fractions(values, binning)
    found: Float64 = np.clip(values, binning.grid.low, binning.grid.high) + 0.0  # one number for both zeros
    missing = np.isnan(found)
    if missing.any():
        if binning.missing == "refuse":
            raise DataError(missing_message(binning, LOW_OR_HIGH))
        if binning.substitute is not None:
            found[missing] = binning.substitute
    return found


# --- Contributions of single records


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


def pieces(parts: Iterator[Contributions], size: int) -> Iterator[Contributions]:
    """Contributions in pieces of one size, of which the last may be smaller."""
    held: list[Contributions] = []
    missing = size
    for part in parts:
        start = 0
        while start < len(part.cells):
            some = slice(start, start + missing)
            held.append(Contributions(part.cells[some], None if part.amounts is None else part.amounts[some]))
            start += missing
            missing -= len(held[-1].cells)
            if not missing:
                yield _joined(held)
                held, missing = [], size
    if held:
        yield _joined(held)


def _joined(parts: Sequence[Contributions]) -> Contributions:
    amounts = [each.amounts for each in parts if each.amounts is not None]
    return Contributions(np.concatenate([each.cells for each in parts]), np.concatenate(amounts) if amounts else None)


class Contributor(Protocol):
    """Reads what records contribute to one aggregate."""

    def of(self, columns: Columns) -> Contributions:
        """Contributions of some rows of the columns of `columns_of`."""
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
        self._choices = DROP_TOO if binning.outside == "clip" else LOW_OR_HIGH

    def of(self, columns: Columns) -> Contributions:
        (values,) = columns
        return Contributions(_placed(values, self._binning, self._choices))


class _Classified:
    """Contribution of one record: one bin of one of two classes, the negative one first."""

    def __init__(self, aggregate: ClassBinning, labels: LabelCodes) -> None:
        self._score = aggregate.score
        self._classes = Classes(aggregate.label, labels, aggregate.score.column)

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        positive = self._classes.positive(codes)
        cells = _placed(values, self._score, advice=COUNTED)
        return Contributions(in_class(cells, positive, self._score.grid.bins))


class _Grouped:
    """Contribution of one record: one bin of one of several groups."""

    def __init__(self, aggregate: GroupBinning, labels: LabelCodes) -> None:
        self._values = aggregate.values
        self._groups = group_places(aggregate, labels)

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        numbers = self._groups.number(codes)
        return Contributions(in_class(_placed(values, self._values, DROP_TOO), numbers, self._values.grid.bins))


def group_places(aggregate: GroupBinning | Parted, labels: LabelCodes) -> Places:
    """What finds the declared group of each record."""
    return Places(
        Categories(aggregate.by, aggregate.groups),
        labels,
        one="group",
        parameter="groups",
        undeclared="holds groups that were not declared; list all public groups with `groups=`, or leave the "
        "records of others out with `where=`",
    )


class _Probable:
    """Contribution of one record: its group and label, and the probability itself."""

    def __init__(self, aggregate: GroupSums, labels: LabelCodes) -> None:
        self._aggregate = aggregate
        self._classes = Classes(aggregate.label, labels, aggregate.probability.column)

    def of(self, columns: Columns) -> Contributions:
        values, codes = columns
        binning = self._aggregate.probability
        positive = self._classes.positive(codes)
        cells = in_class(_placed(values, binning), positive, binning.grid.bins)
        substitute = 1.0 if binning.substitute is None else binning.substitute  # a missing value was refused above
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


def votes_of(ballots: Ballots, columns: Columns) -> Int64:
    """The classes that some teachers vote for, shape (queries, teachers).

    Args:
        ballots: The queries and how many classes there are.
        columns: Numbers of each query's column, NaN where missing.

    Raises:
        DataError: a vote is missing or no class.
    """
    found = np.stack(columns)
    with np.errstate(invalid="ignore"):
        votes = found.astype(np.int64)
    wrong = (votes != found) | (votes < 0) | (votes >= ballots.classes)
    if wrong.any():
        number = int(np.flatnonzero(wrong.any(axis=1))[0])
        query = ballots.queries[number]
        if np.isnan(found[number]).any():
            raise DataError(
                f"column {quoted(query)} has missing votes; every teacher votes, if need be for a class of its own "
                "that means none of the others"
            )
        raise DataError(
            f"column {quoted(query)} has votes that are not classes; the classes are 0 to {ballots.classes - 1}"
        )
    return np.asarray(votes)


def _placed(values: Float64, binning: Binning, choices: str = LOW_OR_HIGH, *, advice: str = "") -> Int64:
    """The bin of each value; missing ones where the policy says, or -1 where they are dropped.

    What the policies refuse is refused, with the choices there are for missing values and advice for those outside.
    """
    refuse_outside(values, binning, advice)
    substitute = binning.substitute
    place = -1 if substitute is None else int(binning.grid.bin_of(np.array(substitute)))
    found, missing = bins_of(values, binning.grid, place)
    if missing and binning.missing == "refuse":
        raise DataError(missing_message(binning, choices))
    return found


# --- Sums of contributions


class Sums(Protocol):
    """The sums of an aggregate, growing row by row."""

    @property
    def sums(self) -> Int64:
        """Sums of all rows so far, in the aggregate's shape."""
        ...

    def add(self, columns: Columns) -> None:
        """Add some rows of the columns of `columns_of`."""
        ...


def start_sums(aggregate: Aggregate, labels: Mapping[str, LabelCodes]) -> Sums:
    """Sums of no rows yet, whose labels will be coded by `labels` of their column."""
    match aggregate:
        case RowValues():
            return RowSums(aggregate, labels)
        case Ballots():
            return BallotCounts(aggregate)
        case GroupSums():
            return ProbabilitySums(aggregate, contributor(aggregate, labels))
        case Parted():
            return PartedSums(aggregate, labels)
        case ValueCounts():
            return ValueSums(aggregate, labels[aggregate.column.column])
        case Selected() | PersonShares():
            raise AssertionError("`Records.aggregate` has chosen the rows, or what they count for, before")
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


def check_room(rows: int, bits: int) -> None:
    """Refuse so many rows that their sums in units of 2^-bits could leave 64 bits."""
    if rows > 1 << (MAX_SUM_BITS - bits):
        raise DataError(f"there are too many records for sums with {bits} fractional bits; use fewer bits")


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


class PartedSums:
    """Sums of another aggregate for each of several groups."""

    def __init__(self, aggregate: Parted, labels: Mapping[str, LabelCodes]) -> None:
        self._places = group_places(aggregate, labels[aggregate.by])
        self._parts = [start_sums(each, labels) for each in aggregate.values]
        first, places = 0, {}
        for each in dict.fromkeys(aggregate.values):
            places[each] = slice(first, first := first + len(columns_of(each)))
        self._columns = [places[each] for each in aggregate.values]

    def add(self, columns: Columns) -> None:
        """Add some rows to the sums of their groups."""
        numbers = self._places.number(columns[-1])
        for number, (part, read) in enumerate(zip(self._parts, self._columns, strict=True)):
            here = numbers == number
            if here.any():
                part.add(tuple(values[here] for values in columns[read]))

    @property
    def sums(self) -> Int64:
        """Sums of all rows so far, one group after the other."""
        return np.concatenate([part.sums.ravel() for part in self._parts])


class BallotCounts:
    """Votes per query and class, shape (queries, classes)."""

    def __init__(self, ballots: Ballots) -> None:
        self._ballots = ballots
        self.sums = np.zeros(ballots.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Count the votes of some teachers."""
        classes = self._ballots.classes
        for query, votes in zip(self.sums, votes_of(self._ballots, columns), strict=True):
            query += np.bincount(votes, minlength=classes)


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


class ValueSums:
    """Records per value of a column of which nobody has listed the values."""

    def __init__(self, aggregate: ValueCounts, labels: LabelCodes) -> None:
        self._column = aggregate.column
        self._labels = labels
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, columns: Columns, counts: Int64 | None = None) -> None:
        """Count the values of some rows."""
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
        """Counts of all rows so far, as `write` writes them."""
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
    """A value in the form that is released, which depends on no other one; None for one that could not be stored."""
    if not isinstance(value, str | bool | int):
        value = float(value)
        if value.is_integer():
            value = int(value)
    return value if storable(value) else None
