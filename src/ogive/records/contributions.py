"""What single records add to an aggregate, and the sums of it: the bin of a number, the cell of a record.

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
from ogive.columns.grids import Grid
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import WIDE, Range
from ogive.core.compiling import njit
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
from ogive.records.labels import (
    MISSING,
    Classes,
    Columns,
    LabelCodes,
    Listing,
    Members,
    Places,
    ends_observation,
    where_known,
)

Summable = Binning | ClassBinning | GroupBinning | GroupSums | Cells | Ballots
"""Aggregates to which every record adds to some cell of a fixed shape: all but `RowValues` and `ValueCounts`."""

COUNTED = "widen the bounds, or count them at the nearer bound with `outside='clip'`"


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


# --- Numbers as bins and sums
#
# Bins agree exactly with `Grid.bin_of`. A column is float64 here, with NaN for every missing value, whatever it was
# read from.

CENSORED = "`missing='high'`, which counts them as at risk to the end, or a public value within the bounds"
LOW_OR_HIGH = "`missing='low'`, `'high'` or a public value within the bounds"
"""What missing values may always mean, as a message marks it."""
DROP_TOO = (
    f"{LOW_OR_HIGH} under either adjacency, or `'drop'` under `ADD_OR_REMOVE` alone; the first release of an account "
    "fixes its adjacency"
)
"""What missing values may mean where the statistic can do without a record."""


def bins_of(values: Float64, grid: Grid, place: int) -> tuple[Int64, int]:
    """The 0-based bin of each value, and how many were missing."""
    result = np.empty(len(values), dtype=np.int64)
    return result, int(_place(values, grid.thresholds, grid.per_unit, place, result))


def _searched(values: Float64, thresholds: Float64, per_unit: float, place: int, result: Int64) -> int:
    """What `_place` does, by bisection of all values at once."""
    missing = np.isnan(values)
    result[:] = np.minimum(np.searchsorted(thresholds, values, side="left"), len(thresholds) - 1)
    result[missing] = place
    return int(np.count_nonzero(missing))


def _counted(counts: Int64, cells: Int64) -> None:
    """What `add_cells` does, for all cells at once."""
    counts += np.bincount(cells + 1, minlength=len(counts) + 1)[1:]


def _in_class_plain(bins: Int64, classes: NDArray[np.integer[Any]], size: int) -> Int64:
    """What `in_class` does, for all records at once."""
    return np.where(bins >= 0, classes.astype(np.int64) * size + bins, -1)


def _fixed_point_plain(values: Float64, substitute: float, bits: int) -> Int64:
    """What `fixed_point` does, for all values at once."""
    filled = np.where(np.isnan(values), substitute, values)
    return np.rint(np.minimum(np.maximum(filled, 0.0), 1.0) * float(1 << bits)).astype(np.int64)


def _add_amounts_plain(sums: Int64, cells: Int64, amounts: Int64, bits: int) -> None:
    """What `add_amounts` does, for all records at once."""
    labels, groups = np.divmod(cells, sums.shape[1])
    np.add.at(sums[0], groups, (1 << bits) - amounts)
    np.add.at(sums[1], groups, amounts)
    np.add.at(sums, (2 + labels, groups), 1)


@njit(nogil=True, steps=lambda bins, *rest: len(bins) // 50, twin=_in_class_plain)
def in_class(bins: Int64, classes: NDArray[np.integer[Any]], size: int) -> Int64:
    """Flat cells of a table of shape (classes, size), from bins and numbers of classes; bins of -1 stay -1."""
    cells = np.empty_like(bins)
    for i in range(len(bins)):
        cells[i] = np.int64(classes[i]) * size + bins[i] if bins[i] >= 0 else -1
    return cells


@njit(nogil=True, steps=lambda values, *rest: len(values) // 20, twin=_fixed_point_plain)
def fixed_point(values: Float64, substitute: float, bits: int) -> Int64:
    """Probabilities rounded once to multiples of 2^-bits, in that unit."""
    one = float(1 << bits)
    amounts = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        value = substitute if np.isnan(values[i]) else values[i]
        amounts[i] = np.int64(np.rint(min(max(value, 0.0), 1.0) * one))
    return amounts


@njit(nogil=True, steps=lambda counts, cells: len(cells) // 50 + len(counts) // 200, twin=_counted)
def add_cells(counts: Int64, cells: Int64) -> None:
    """Count flat cells, in place; those of -1 count nowhere."""
    for i in range(len(cells)):
        if cells[i] >= 0:
            counts[cells[i]] += 1


@njit(nogil=True, steps=lambda sums, cells, *rest: len(cells) // 5, twin=_add_amounts_plain)
def add_amounts(sums: Int64, cells: Int64, amounts: Int64, bits: int) -> None:
    """Add records to sums of shape (4, groups), in place; see `GroupSums` and `Contributions`."""
    groups = sums.shape[1]
    for i in range(len(cells)):
        label, group = divmod(cells[i], groups)
        sums[0, group] += (1 << bits) - amounts[i]
        sums[1, group] += amounts[i]
        sums[2 + label, group] += 1


@njit(nogil=True)
def _bin(value: float, thresholds: Float64, per_unit: float) -> int:
    """The first threshold at or above a value, or the last: guessed by arithmetic on an even grid, else by bisection.

    A guess is moved to where the comparisons with the thresholds hold.
    """
    last = len(thresholds) - 1
    if value <= thresholds[0]:
        return 0
    if value >= thresholds[last]:
        return last
    if per_unit > 0:
        guess = min(int((value - thresholds[0]) * per_unit) + 1, last)
        while thresholds[guess] < value:
            guess += 1
        while guess > 0 and thresholds[guess - 1] >= value:
            guess -= 1
        return guess
    first, end = 0, last
    while first < end:
        middle = (first + end) >> 1
        if thresholds[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@njit(nogil=True, steps=lambda values, *grid: len(values) // 4, twin=_searched)
def _place(values: Float64, thresholds: Float64, per_unit: float, place: int, result: Int64) -> int:
    missing = 0
    for i in range(len(values)):
        if np.isnan(values[i]):
            missing += 1
            result[i] = place
        else:
            result[i] = _bin(values[i], thresholds, per_unit)
    return missing


def refuse_outside(values: Float64, binning: Binning, advice: str = "") -> None:
    """Refuse values outside the bounds; of times to an event those below them."""
    grid = binning.grid
    if binning.outside == "censor":
        if bool(np.any(values < grid.low)):
            low = f"{grid.low:.15g}"
            wanted = where_known(binning.column, f">= {low}")
            advice = f"correct them, or leave these rows out with {wanted}"
            if grid.low > 0:
                advice += ", or lower the first of the bounds"
            raise DataError(
                f"column {quoted(binning.column)} has times below {low}, where observation starts; {advice}",
                parameter="bounds",
            )
        return
    if bool(np.any((values < grid.low) | (values > grid.high))):
        if not advice and grid.span == "0 to 1":
            raise DataError(
                f"column {quoted(binning.column)} has values outside 0 to 1, which are not probabilities; "
                "percentages must be divided by 100"
            )
        raise DataError(
            f"column {quoted(binning.column)} has values outside {grid.span}; {advice or 'widen the bounds'}",
            parameter="bounds",
        )


def missing_message(binning: Binning, choices: str) -> str:
    """The refusal of missing values, with the choices there are."""
    return f"column {quoted(binning.column)} has missing values; choose their treatment with {choices}"


# --- Rows of several columns as numbers
#
# A number of the grid stays itself, within the bounds; a category becomes its place in the declared list, and a label 0
# or 1.

Reader = Callable[[NDArray[Any]], Float64]


def domain_rows(domain: Domain, labels: Mapping[str, LabelCodes]) -> Callable[[Columns], tuple[Float64, Bool]]:
    """What turns columns into rows of numbers without NaN, and says which rows those are.

    They are all without a missing value that is dropped.
    """
    readers = [_reader(column, labels, domain) for column in domain.columns]

    def read(columns: Columns) -> tuple[Float64, Bool]:
        result = np.stack([each(column) for each, column in zip(readers, columns, strict=True)], axis=1)
        complete: Bool = np.asarray(~np.isnan(result).any(axis=1))
        return result if complete.all() else result[complete], complete

    return read


def _reader(column: Column, labels: Mapping[str, LabelCodes], domain: Domain) -> Reader:
    if isinstance(column, Binning):
        return lambda values: _bounded(values, column, domain)
    codes = labels[column.column]
    if isinstance(column, Label):
        classes = Classes(column, codes)
        return lambda values: classes.positive(values).astype(np.float64)
    if isinstance(column, Membership):
        return Members(column, codes, domain).inside
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


def _bounded(values: Float64, binning: Binning, domain: Domain) -> Float64:
    """Numbers within the bounds; NaN only where a missing value is to be dropped."""
    if binning.outside != "clip":
        refuse_outside(values, binning, COUNTED)
    if binning.holds_fractions(values):
        raise DataError(
            f"column {quoted(binning.column)} has values that are not whole, which a grid of integers does not hold; "
            "use `grid='linear'`"
        )
    result: Float64 = np.clip(values, binning.grid.low, binning.grid.high) + 0.0  # one number for both zeros
    missing = np.isnan(result)
    if missing.any():
        if binning.missing == "refuse":
            if ends_observation(domain.columns):
                raise DataError(
                    f"column {quoted(binning.column)} has missing values; leave these records out with "
                    f"{where_known(binning.column)} or, under `ADD_OR_REMOVE`, with `missing='drop'`"
                )
            raise DataError(missing_message(binning, LOW_OR_HIGH))
        if binning.substitute is not None:
            result[missing] = binning.substitute
    return result


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


Contributor = Callable[[Columns], Contributions]
"""Reads what some rows of the columns of `columns_of` contribute to one aggregate."""


def contributor(aggregate: Summable, labels: Mapping[str, LabelCodes]) -> Contributor:
    """What reads the contributions of an aggregate whose labels will be coded by `labels` of their column."""
    match aggregate:
        case Binning():
            # values that may not leave 0 to 1 are probabilities, and those are not dropped
            choices = DROP_TOO if aggregate.outside == "clip" else LOW_OR_HIGH
            return lambda columns: Contributions(_placed(columns[0], aggregate, choices))
        case ClassBinning():
            return _classified(aggregate, labels[aggregate.label.column])
        case GroupBinning():
            return _grouped(aggregate, labels[aggregate.by])
        case GroupSums():
            return _probable(aggregate, labels[aggregate.label.column])
        case Cells():
            return _combined(aggregate.domain, labels)
        case Ballots():
            return lambda columns: Contributions(np.ascontiguousarray(votes_of(aggregate, columns).T))


def _classified(aggregate: ClassBinning, labels: LabelCodes) -> Contributor:
    """One bin of one of two classes, the negative one first."""
    score = aggregate.score
    classes = Classes(aggregate.label, labels, score.column)

    def read(columns: Columns) -> Contributions:
        positive = classes.positive(columns[1])
        return Contributions(in_class(_placed(columns[0], score, advice=COUNTED), positive, score.grid.bins))

    return read


def _grouped(aggregate: GroupBinning, labels: LabelCodes) -> Contributor:
    """One bin of one of several groups."""
    binning, groups = aggregate.values, group_places(aggregate, labels)
    choices = CENSORED if binning.outside == "censor" else DROP_TOO

    def read(columns: Columns) -> Contributions:
        numbers = groups.number(columns[1])
        return Contributions(in_class(_placed(columns[0], binning, choices), numbers, binning.grid.bins))

    return read


def group_places(aggregate: GroupBinning | Parted, labels: LabelCodes) -> Places:
    """What finds the declared group of each record."""
    if isinstance(aggregate, GroupBinning) and aggregate.values.outside == "censor":
        return Places(
            Categories(aggregate.by, aggregate.groups),
            labels,
            one="value that says what ended it",
            parameter="causes",
            undeclared="has a value that is no event and not that of censored records; name every event with `causes=` "
            "and the value of the censored with `censored=`, or leave the records of others out with `where=`",
        )
    return Places(
        Categories(aggregate.by, aggregate.groups),
        labels,
        one="group",
        parameter="groups",
        undeclared="holds groups that were not declared; list all public groups with `groups=`, or leave the "
        "records of others out with `where=`",
    )


def _probable(aggregate: GroupSums, labels: LabelCodes) -> Contributor:
    """The group and label of a record, and the probability itself."""
    binning = aggregate.probability
    classes = Classes(aggregate.label, labels, binning.column)

    def read(columns: Columns) -> Contributions:
        positive = classes.positive(columns[1])
        cells = in_class(_placed(columns[0], binning), positive, binning.grid.bins)
        substitute = 1.0 if binning.substitute is None else binning.substitute  # a missing value was refused above
        return Contributions(cells, fixed_point(columns[0], substitute, aggregate.bits))

    return read


def _combined(domain: Domain, labels: Mapping[str, LabelCodes]) -> Contributor:
    """One symbol of a domain."""
    kept_rows = domain_rows(domain, labels)

    def read(columns: Columns) -> Contributions:
        numbers, complete = kept_rows(columns)
        result = np.full(len(complete), -1, dtype=np.int64)
        result[complete] = domain.symbols(numbers)
        return Contributions(result)

    return read


def votes_of(ballots: Ballots, columns: Columns) -> Int64:
    """The classes that some teachers vote for, shape (queries, teachers)."""
    result = np.stack(columns)
    with np.errstate(invalid="ignore"):
        votes = result.astype(np.int64)
    wrong = (votes != result) | (votes < 0) | (votes >= ballots.classes)
    if wrong.any():
        number = int(np.flatnonzero(wrong.any(axis=1))[0])
        query = ballots.queries[number]
        if np.isnan(result[number]).any():
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
    if binning.outside != "clip":
        refuse_outside(values, binning, advice)
    substitute = None if binning.missing in ("refuse", "drop") else binning.substitute
    place = -1 if substitute is None else int(binning.grid.bin_of(np.array(substitute)))
    result, missing = bins_of(values, binning.grid, place)
    if missing and binning.missing == "refuse":
        raise DataError(missing_message(binning, choices))
    return result


# --- Sums of contributions


class Sums(Protocol):
    """The sums of an aggregate, growing row by row."""

    @property
    def sums(self) -> Int64:
        """Sums of all rows so far, in the aggregate's shape."""

    def add(self, columns: Columns) -> None:
        """Add some rows of the columns of `columns_of`."""


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
        add_cells(self.sums.reshape(-1), self._reader(columns).cells)


def check_room(rows: int, bits: int) -> None:
    """Refuse so many rows that their sums in units of 2^-bits could leave 64 bits."""
    refusal = f"there are too many records for sums with {bits} fractional bits; use fewer bits"
    Range(0, rows << bits).check(WIDE, refusal)


class ProbabilitySums:
    """Sums per group, shape (4, Q)."""

    def __init__(self, aggregate: GroupSums, reader: Contributor) -> None:
        self._bits = aggregate.bits
        self._reader = reader
        self._rows = 0
        self.sums = np.zeros(aggregate.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        self._rows += len(columns[0])
        check_room(self._rows, self._bits)
        result = self._reader(columns)
        assert result.amounts is not None
        add_amounts(self.sums, result.cells, result.amounts, self._bits)


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
        numbers = self._places.number(columns[-1])
        for number, (part, read) in enumerate(zip(self._parts, self._columns, strict=True)):
            here = numbers == number
            if here.any():
                part.add(tuple(values[here] for values in columns[read]))

    @property
    def sums(self) -> Int64:
        return np.concatenate([part.sums.ravel() for part in self._parts])


class BallotCounts:
    """Votes per query and class, shape (queries, classes)."""

    def __init__(self, ballots: Ballots) -> None:
        self._ballots = ballots
        self.sums = np.zeros(ballots.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        classes = self._ballots.classes
        for query, votes in zip(self.sums, votes_of(self._ballots, columns), strict=True):
            query += np.bincount(votes, minlength=classes)


class RowSums:
    """All rows in the order of the table, shape (n, columns), as the bits of their numbers."""

    def __init__(self, rows: RowValues, labels: Mapping[str, LabelCodes]) -> None:
        self._aggregate = rows
        self._rows = domain_rows(rows.domain, labels)
        self._parts = [np.zeros(rows.shape, dtype=np.float64)]

    def add(self, columns: Columns) -> None:
        self._parts.append(self._rows(columns)[0])

    @property
    def sums(self) -> Int64:
        return self._aggregate.sums(np.concatenate(self._parts))


class ValueSums:
    """Records per value of a column of which nobody has listed the values."""

    def __init__(self, aggregate: ValueCounts, labels: LabelCodes) -> None:
        self._column = aggregate.column
        self._labels = labels
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, columns: Columns, counts: Int64 | None = None) -> None:
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
        results: dict[LabelValue, int] = {}
        missing = unnamed = 0
        for value, count in zip(self._labels.values, self._counts.tolist(), strict=False):
            if value is None:
                missing = count
            elif (name := _named(value)) is None:
                unnamed += count
            elif count:
                results[name] = results.get(name, 0) + count
        return write(Counted(results, missing, unnamed))


def _named(value: Any) -> LabelValue | None:
    """A value in the form that is released, which depends on no other one; None for one that could not be stored."""
    if not isinstance(value, str | bool | int):
        value = float(value)
        if value.is_integer():
            value = int(value)
    return value if storable(value) else None
