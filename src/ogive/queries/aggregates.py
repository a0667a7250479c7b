"""Exact integers that a query needs of the records: mostly sums over records, so parties can add theirs up.

An aggregate is plain data. `Records.aggregate` computes it. A sum adds one fixed contribution per
record, so the sum of all records is that of the sums of any division of them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ogive.columns import (
    LONGEST_LABEL,
    MAX_GROUPS,
    MAX_SYMBOLS,
    Binning,
    Domain,
    Label,
    LabelValue,
    OpenCategories,
    storable,
)
from ogive.columns.categories import told_apart
from ogive.columns.grids import Grid
from ogive.columns.predicates import Predicate
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import plain_fields, whole
from ogive.errors import ParameterError, quoted
from ogive.strategies.composed import PERSON_UNITS

# --- Records per value of a column of which nobody has listed the values
#
# Values are texts, numbers and truth values, and every answer is an array of whole numbers, so counts and values are
# written as one: see `write`. The values are sorted, so that nothing of the order of the records is in it.

_WORD = 8


@dataclass(frozen=True)
class Counted:
    """Numbers of records, exact or noisy.

    Fields:
        unnamed: With a value that could not be stored, a text that is too long say.
    """

    counts: Mapping[LabelValue, int]
    missing: int = 0
    unnamed: int = 0


@dataclass(frozen=True)
class ValueCounts:
    """Records per value of a column, for all values that occur; "sums" are what `write` makes of them.

    Only who sees all records has them: which values there are is as secret as the records.

    Fields:
        column: The column.
    """

    column: OpenCategories

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape for no records, (2,); it grows with the values that occur."""
        return (2,)

    def records(self, sums: Int64) -> int:
        """How many records were counted: with a value, or with a missing one unless those are dropped."""
        counted = read(sums)
        missing = 0 if self.column.missing == "drop" else counted.missing
        return sum(counted.counts.values()) + counted.unnamed + missing

    def to_dict(self) -> dict[str, Any]:
        return {"values": self.column.to_dict()}


def write(counted: Counted) -> Int64:
    """Counts of values as whole numbers: missing, unnamed, and of each value its count, a length and its text.

    Values stand in order, numbers before texts. A value is written as JSON, whose bytes fill as many integers as they
    need; the length is that in bytes.
    """
    words = [np.array([counted.missing, counted.unnamed], dtype="<i8")]
    for value in sorted(counted.counts, key=lambda value: (isinstance(value, str), value)):
        text = json.dumps(value).encode()
        padded = text.ljust(-(-len(text) // _WORD) * _WORD, b"\0")
        words.append(np.array([counted.counts[value], len(text)], dtype="<i8"))
        words.append(np.frombuffer(padded, dtype="<i8"))
    return np.concatenate(words).astype(np.int64)


def added_up(parts: Sequence[tuple[int, Int64]]) -> Int64:
    """The counts of several tables, each with how often it is there."""
    counts: Counter[LabelValue] = Counter()
    missing = unnamed = 0
    for times, sums in parts:
        result = read(sums)
        missing, unnamed = missing + times * result.missing, unnamed + times * result.unnamed
        counts.update({value: times * count for value, count in result.counts.items()})
    return write(Counted(counts, missing, unnamed))


def read(sums: Int64) -> Counted:
    """What `write` wrote."""
    raw = sums.astype("<i8").tobytes()
    counts: dict[LabelValue, int] = {}
    place = 2
    while place < len(sums):
        count, length = int(sums[place]), int(sums[place + 1])
        first = _WORD * (place + 2)
        counts[json.loads(raw[first : first + length])] = count
        place += 2 + -(-length // _WORD)
    return Counted(counts, int(sums[0]), int(sums[1]))


# --- Sums over records, and the records themselves

MAX_FRACTIONAL_BITS = 30


class _Cells:
    """What aggregates share of which every record is one of the counts, and whose plain data are their fields."""

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        return plain_fields(self)


@dataclass(frozen=True)
class PersonShares:
    """Units of people per bin of a column; sums have shape (N,).

    A person with r rows, c of them in bins up to b, has the nearest whole number to `PERSON_UNITS` c / r of units in
    these bins, a half rounded up. So all rows together have `PERSON_UNITS`. Missing values that count as a bin come
    before the others, and those that are dropped are no rows. Whoever holds all rows of a person can compute it.

    Fields:
        values: Column and thresholds.
    """

    values: Binning

    @property
    def shape(self) -> tuple[int, ...]:
        """(N,)."""
        return self.values.shape

    def records(self, sums: Int64) -> int:
        """How many people were counted."""
        return int(sums.sum()) // PERSON_UNITS

    def to_dict(self) -> dict[str, Any]:
        return {"people": self.values.to_dict(), "units": PERSON_UNITS}


@dataclass(frozen=True)
class ClassBinning(_Cells):
    """Records per bin of a score, for each of two classes; sums have shape (2, N), the negative class first."""

    score: Binning
    label: Label

    def __post_init__(self) -> None:
        if self.score.missing == "drop":
            raise ParameterError("missing scores cannot be dropped; use `missing='low'`, `'high'` or `'refuse'`")

    @property
    def shape(self) -> tuple[int, ...]:
        """One row for each class: (2, N)."""
        return (2, self.score.grid.bins)


@dataclass(frozen=True)
class GroupSums(_Cells):
    """Sums per group of a predicted probability p and a label y, in fixed point; shape (4, Q).

    Rows: expected negatives (1 - p), expected positives p, observed negatives (1 - y), observed
    positives y. Each p is rounded once to a multiple of 2^-bits. The first two rows are in units of 2^-bits,
    the others in records.

    Fields:
        probability: Column of probabilities; its grid's thresholds are the upper ends of the groups, the
            last one 1, its lower bound 0.
        label: Column and values that determine the class of a record.
        bits: Fractional bits of the expected sums, 0 to 30.
    """

    probability: Binning
    label: Label
    bits: int = 20

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MAX_FRACTIONAL_BITS)
        grid = self.probability.grid
        if grid.unit != "number" or grid.low != 0 or grid.high != 1:
            raise ParameterError("groups of probabilities must reach from 0 to 1")
        if self.probability.missing == "drop":
            raise ParameterError("missing probabilities cannot be dropped; use `missing='low'`, `'high'` or `'refuse'`")

    @property
    def shape(self) -> tuple[int, ...]:
        """One row for each kind of sum: (4, Q)."""
        return (4, self.probability.grid.bins)

    def records(self, sums: Int64) -> int:
        return int(sums[2:].sum())


def check_groups(by: object, groups: object) -> None:
    """Refuse what is not a column with a list of its values."""
    if not isinstance(by, str):
        raise ParameterError(f"`by` must be a column's name, got {quoted(by)}")
    if not isinstance(groups, tuple) or not all(isinstance(group, LabelValue) for group in groups):
        raise ParameterError(f"`groups` must be the values of column {quoted(by)}, public, got {quoted(groups)}")
    if not 1 <= len(groups) <= MAX_GROUPS:
        raise ParameterError(f"there must be 1 to {MAX_GROUPS} groups, got {len(groups)}")
    if not all(map(storable, groups)):
        raise ParameterError(
            f"`groups` must be texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
        )
    values = told_apart(groups)
    if len(set(values)) < len(values):
        place = next(place for place, group in enumerate(values) if group in values[:place])
        alike = "" if groups[place] in groups[:place] else "; blanks around a text do not matter"
        raise ParameterError(f"each group must be named once, but {quoted(groups[place])} is named twice{alike}")


@dataclass(frozen=True)
class GroupBinning(_Cells):
    """Records per bin of a column, for each of several declared groups; sums have shape (G, N).

    Fields:
        values: Column and thresholds, the same for all groups.
        by: Column that says which group a record belongs to: numbers, truth values or text.
        groups: The value of each group, public. A record of another group, or of none, is an error.

    Raises:
        ParameterError: there are no groups or too many, or two are the same, or one could not be stored.
    """

    values: Binning
    by: str
    groups: tuple[LabelValue, ...]

    def __post_init__(self) -> None:
        check_groups(self.by, self.groups)

    @property
    def shape(self) -> tuple[int, ...]:
        """(G, N)."""
        return (len(self.groups), self.values.grid.bins)

    @property
    def each(self) -> tuple[Binning, ...]:
        """What is asked of each group."""
        return (self.values,) * len(self.groups)

    def split(self, sums: Int64) -> list[Int64]:
        """The sums of each group, shape (N,)."""
        return list(sums)


@dataclass(frozen=True)
class Cells(_Cells):
    """Records per symbol of a domain, so per combination of the bins of several columns; sums have shape (k,)."""

    domain: Domain

    def __post_init__(self) -> None:
        self.domain.check_size()

    @property
    def shape(self) -> tuple[int, ...]:
        """One count for each symbol: (k,)."""
        return (self.domain.size,)

    def to_dict(self) -> dict[str, Any]:
        return {"cells": self.domain.to_dict()}


@dataclass(frozen=True)
class RowValues:
    """The records themselves, a row of numbers each: not a sum, so only who sees all records has it.

    "Sums" have shape (n, columns) and hold the bits of float64 numbers: `values` reads them.
    """

    domain: Domain

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape for no records, (0, columns); the first size grows with them."""
        return (0, len(self.domain.columns))

    def values(self, sums: Int64) -> Float64:
        """Numbers of the columns' grids and places of categories, shape (n, columns), without NaN."""
        return np.ascontiguousarray(sums).view(np.float64)

    def sums(self, values: Float64) -> Int64:
        """The bits of rows of numbers; `values` inverts it."""
        return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)

    def records(self, sums: Int64) -> int:
        """How many records there are."""
        return len(sums)

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.domain.to_dict()}


@dataclass(frozen=True)
class Ballots(_Cells):
    """Votes per class, for each of several queries; sums have shape (queries, classes). A record is a teacher.

    Fields:
        queries: Names of the vote columns, one for each query.
        classes: Number of classes, m; a vote is a whole number from 0 to m - 1. A missing vote is an error. If
            teachers may abstain, declare a class for abstentions.

    Raises:
        ParameterError: there is no query, or one twice, or there are fewer than two classes or too many votes to count.
    """

    queries: tuple[str, ...]
    classes: int

    def __post_init__(self) -> None:
        named = isinstance(self.queries, tuple) and all(isinstance(each, str) for each in self.queries)
        if not named or not self.queries:
            raise ParameterError(f"`queries` must be the names of one or more columns, got {quoted(self.queries)}")
        if len(set(self.queries)) < len(self.queries):
            raise ParameterError("each query must have a column of its own, but one is named twice")
        whole(self.classes, "classes", 2)
        if len(self.queries) * self.classes > MAX_SYMBOLS:
            raise ParameterError(
                f"{len(self.queries)} queries of {self.classes} classes are more than {MAX_SYMBOLS} counts; "
                "ask for fewer queries"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """(queries, classes)."""
        return (len(self.queries), self.classes)

    @cached_property
    def columns(self) -> tuple[Binning, ...]:
        """What is read of a teacher: one class for each query."""
        grid = Grid.integers(0, self.classes - 1)
        return tuple(Binning(query, grid, "refuse", "refuse", "refuse") for query in self.queries)

    def records(self, sums: Int64) -> int:
        """Number of teachers that voted."""
        return int(sums[0].sum())


@dataclass(frozen=True)
class Selected:
    """Another aggregate of the records that satisfy a condition; sums have its shape.

    Fields:
        values: What is asked of these records.
        where: The condition.
    """

    values: Aggregate
    where: Predicate

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the aggregate."""
        return self.values.shape

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return self.values.records(sums)

    def to_dict(self) -> dict[str, Any]:
        return {"selected": self.values.to_dict(), "where": self.where.to_dict()}


@dataclass(frozen=True)
class Parted:
    """Another aggregate of each of several declared groups; sums are those of all groups, one after the other.

    `GroupBinning` is that of one `Binning`, which servers can add up too.

    Fields:
        values: What is asked of each group; a sum over records.
        by: Column that says which group a record belongs to: numbers, truth values or text.
        groups: The value of each group, public. A record of another group, or of none, is an error.
    """

    values: tuple[Aggregate, ...]
    by: str
    groups: tuple[LabelValue, ...]

    def __post_init__(self) -> None:
        check_groups(self.by, self.groups)
        if any(isinstance(each, RowValues | Ballots) for each in self.values):
            raise ParameterError("groups need sums over records, and these are the records themselves")
        if any(isinstance(each, PersonShares) for each in self.values):
            raise ParameterError("a person may be in several groups, and would count once in each of them")
        if any(isinstance(each, ValueCounts) for each in self.values):
            raise ParameterError("groups need a column whose values are named; name them, which makes them public")
        if len(self.values) != len(self.groups):
            raise ParameterError(f"{len(self.groups)} groups need as many aggregates, got {len(self.values)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """All numbers of all groups in a row."""
        return (sum(math.prod(each.shape) for each in self.values),)

    @property
    def each(self) -> tuple[Aggregate, ...]:
        """What is asked of each group."""
        return self.values

    def split(self, sums: Int64) -> list[Int64]:
        """The sums of each group, in the shape of its aggregate."""
        ends = np.cumsum([math.prod(each.shape) for each in self.values])[:-1]
        return [part.reshape(each.shape) for part, each in zip(np.split(sums, ends), self.values, strict=True)]

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return sum(each.records(part) for each, part in zip(self.values, self.split(sums), strict=True))

    def to_dict(self) -> dict[str, Any]:
        return {"parted": [each.to_dict() for each in self.values], "by": self.by, "groups": list(self.groups)}


Aggregate = (
    Binning
    | ClassBinning
    | GroupBinning
    | GroupSums
    | Cells
    | Ballots
    | RowValues
    | ValueCounts
    | PersonShares
    | Selected
    | Parted
)
