"""What records are imagined to look like where an error depends on it.

Either a table that the user gave (`like`), repeated until it has as many records as planned for, or a
model that is stated in every plan that used it. In the model a record is positive with probability
`positive_share`; a hidden number is normal, of variance 1, around `shift` for positives and around 0 for
negatives. Scores are that number, with the bounds of the grid at -3 and shift + 3; predicted probabilities
are the exact ones, given the number, so the imagined model is well calibrated. Several columns without classes are
independent: numbers lie evenly, and categories are equally frequent.

Aggregates are sums over records, so those of k copies of a table are k times its own; rows are repeated.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from ogive import queries
from ogive.columns import Binning, Categories, Domain, Label, Listed, Membership, axis, grids
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import WIDE, Range
from ogive.errors import DataError, ParameterError, quoted
from ogive.queries.aggregates import added_up
from ogive.records import Records, contributions, sources
from ogive.strategies.composed import PERSON_UNITS

_MODEL_ROWS = 1 << 14
_REACH = 3.0  # standard deviations between a class and the bounds of the scores
_SEED = 0x6C696B65


class Shape(Protocol):
    """Imagined records of a certain number."""

    @property
    def words(self) -> str:
        """What is assumed, for the plan."""

    def sums(self, aggregate: queries.Aggregate) -> Int64:
        """Exact integers of the imagined records."""


@dataclass(frozen=True)
class BinormalShape:
    """Scores of two normal classes, and calibrated probabilities.

    Fields:
        positive_share: Share of the positive class, strictly between 0 and 1.
        auc: Area under the ROC curve of the score, from 0.5 to 0.999.
        labeled: Whether the classes are asked for; otherwise values alone are, and they lie evenly.
    """

    records: int
    positive_share: float = 0.3
    auc: float = 0.8
    labeled: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.positive_share < 1:
            raise ParameterError(
                f"`positive_share` must be strictly between 0 and 1, got {quoted(self.positive_share)}"
            )
        if not 0.5 <= self.auc <= 0.999:
            raise ParameterError(f"`auc` must be from 0.5 to 0.999, got {quoted(self.auc)}")

    @property
    def words(self) -> str:
        if not self.labeled:
            return "an assumed model: values over the whole range, equal groups; give `like=` for other data"
        return (
            f"an assumed model: binormal scores, {100 * self.positive_share:g} % positives, AUC {self.auc:g}; "
            "give `like=` for other data"
        )

    @property
    def shift(self) -> float:
        return math.sqrt(2) * float(ndtri(self.auc))

    def sums(self, aggregate: queries.Aggregate) -> Int64:
        """Exact integers of a table with these shapes in the columns that the aggregate names; groups are equal."""
        if isinstance(aggregate, queries.Parted):
            part = dataclasses.replace(self, records=max(1, self.records // len(aggregate.each)))
            return np.concatenate([part.sums(each).ravel() for each in aggregate.each])
        if isinstance(aggregate, queries.PersonShares):  # every imagined record is a person
            return PERSON_UNITS * self.sums(aggregate.values)
        if isinstance(aggregate, queries.Selected):  # every imagined record satisfies the condition
            return self.sums(aggregate.values)
        return Repeated(self._table(aggregate), self.records).sums(aggregate)

    def _table(self, aggregate: queries.Aggregate) -> dict[str, Any]:
        positives = min(_MODEL_ROWS - 1, max(1, round(self.positive_share * _MODEL_ROWS)))
        hidden = np.concatenate([_normal(_MODEL_ROWS - positives), _normal(positives) + self.shift])
        positive = np.arange(_MODEL_ROWS) >= _MODEL_ROWS - positives
        if isinstance(aggregate, Binning):
            return {aggregate.column: self._values(aggregate.grid, hidden)}
        if isinstance(aggregate, queries.GroupBinning):
            values = self._values(aggregate.values.grid, hidden)
            groups = [aggregate.groups[row % len(aggregate.groups)] for row in range(len(hidden))]
            return {aggregate.values.column: values, aggregate.by: groups}
        if isinstance(aggregate, queries.ClassBinning):
            values = self._scores(aggregate.score.grid, hidden)
            return {aggregate.score.column: values, aggregate.label.column: _labels(aggregate.label, positive)}
        if isinstance(aggregate, queries.GroupSums):
            values = self._probabilities(hidden)
            return {aggregate.probability.column: values, aggregate.label.column: _labels(aggregate.label, positive)}
        if isinstance(aggregate, queries.ValueCounts):
            # half of the records have one value, half of the others a second one, and so on
            return {
                aggregate.column.column: [f"value {(_MODEL_ROWS - row).bit_length()}" for row in range(_MODEL_ROWS)]
            }
        assert not isinstance(aggregate, queries.Ballots), "votes are imagined by AgreeingTeachers"
        assert not isinstance(aggregate, queries.Parted | queries.PersonShares | queries.Selected), (
            "they were taken apart before"
        )
        return self._columns(aggregate.domain, hidden, positive)

    def _columns(self, domain: Domain, hidden: Float64, positive: Bool) -> dict[str, Any]:
        """Scores of the classes where there is a label, else independent columns."""
        table: dict[str, Any] = {}
        labeled = any(isinstance(column, Label) for column in domain.columns)
        scrambled = np.random.default_rng(_SEED)
        for number, column in enumerate(domain.columns):
            order = scrambled.permutation(len(hidden)) if number else np.arange(len(hidden))
            if isinstance(column, Label):
                table[column.column] = _labels(column, positive)
            elif isinstance(column, Categories | Listed):
                table[column.column] = [column.values[row % len(column.values)] for row in order]
            elif isinstance(column, Membership):
                yes = 1 if column.values is None else column.values[0]
                no = column.others[0] if column.others else _another(yes)
                table[column.column] = [yes if positive[row] else no for row in order]
            elif labeled:
                table[column.column] = self._scores(column.grid, hidden)
            else:
                table[column.column] = _on_grid(column.grid, (order + 0.5) / len(order))
        return table

    def _scores(self, grid: grids.Grid, hidden: Float64) -> Any:
        return _on_grid(grid, (hidden + _REACH) / (self.shift + 2 * _REACH))

    def _values(self, grid: grids.Grid, hidden: Float64) -> Any:
        if grid.unit == "number" and grid.low == 0 and grid.high == 1:
            return self._probabilities(hidden)
        return _on_grid(grid, (np.arange(len(hidden)) + 0.5) / len(hidden))

    def _probabilities(self, hidden: Float64) -> Float64:
        odds = self.positive_share / (1 - self.positive_share)
        ratio = odds * np.exp(self.shift * hidden - self.shift**2 / 2)
        values: Float64 = ratio / (1 + ratio)
        return values


@dataclass(frozen=True)
class TimesShape(BinormalShape):
    """Times until events that happen, and observations that end, at constant rates.

    Of those who are there from the start, up to the last threshold but one, which is the end of the follow-up, 40 %
    have an event and 40 % are censored. Where records enter `late`, half of them do, evenly over the follow-up.
    """

    labeled: bool = False
    late: bool = False

    @property
    def words(self) -> str:
        entry = ", half of the records enter late, evenly over the follow-up" if self.late else ""
        return (
            f"an assumed model: events and censoring at equal, constant rates, 20 % still at risk at the end{entry}; "
            "give `like=` for other data"
        )

    def _table(self, aggregate: queries.Aggregate) -> dict[str, Any]:
        even = (np.arange(_MODEL_ROWS) + 0.5) / _MODEL_ROWS
        entries = np.maximum(2 * np.random.default_rng(_SEED).permutation(even) - 1, 0.0) if self.late else 0 * even
        if isinstance(aggregate, grids.Binning):
            grid = aggregate.grid
            entered = grid.low + entries * (float(grid.thresholds[-2]) - grid.low)
            return {aggregate.column: axis.to_labels(grid, np.floor(entered) if grid.kind == "integers" else entered)}
        if not isinstance(aggregate, queries.GroupBinning):
            return super()._table(aggregate)
        grid, groups = aggregate.values.grid, aggregate.groups
        shares = np.log1p(-even) / np.log(0.2) + entries
        times = np.minimum(grid.low + shares * (float(grid.thresholds[-2]) - grid.low), grid.high)
        ends = [groups[0 if row % 2 else 1 + row // 2 % (len(groups) - 1)] for row in range(_MODEL_ROWS)]
        return {aggregate.values.column: axis.to_labels(grid, times), aggregate.by: ends}


class Repeated:
    """A table repeated, as often as it takes, and the rest drawn at random, to a wanted number of records."""

    def __init__(self, like: Any, records: int) -> None:
        self._source = _source(like)
        if self._source.is_empty():
            raise DataError("`like` has no rows; give at least one")
        rows = self._source.rows()
        self._records = records
        self._copies, rest = divmod(records, rows)
        self._drawn = np.sort(np.random.default_rng(_SEED).permutation(rows)[:rest])
        self.words = f"the {rows} rows given as `like`"

    def sums(self, aggregate: queries.Aggregate) -> Int64:
        """Exact integers of all copies and the rest, each row that of a person."""
        if isinstance(aggregate, queries.PersonShares):
            return PERSON_UNITS * self.sums(aggregate.values)
        if isinstance(aggregate, queries.GroupSums):
            refusal = (
                f"sums of {self._records} records do not fit with {aggregate.bits} fractional bits; plan for fewer"
            )
            Range(0, self._records << aggregate.bits).check(WIDE - 1, refusal, ParameterError)
        parts = [(1, np.zeros(aggregate.shape, dtype=np.int64))]
        if self._copies:
            parts.append((self._copies, Records(self._source).aggregate(aggregate)))
        if len(self._drawn):
            names = list(dict.fromkeys(column.column for column in contributions.columns_of(aggregate)))
            parts.append((1, Records.of(self._rest(names)).aggregate(aggregate)))
        match aggregate:
            case queries.RowValues():
                return np.concatenate([part for times, part in parts for _ in range(times)])
            case queries.ValueCounts():
                return added_up(parts)
        return np.asarray(sum(times * part for times, part in parts))

    def _rest(self, names: Sequence[str]) -> dict[str, Any]:
        """The rows of some columns that are drawn beside the whole copies."""
        lacking = [name for name in names if name not in self._source.columns]
        if lacking:
            raise DataError(f"`like` has no column {quoted(lacking[0])}; it needs {' and '.join(names)}")
        parts: list[list[Any]] = [[] for _ in names]
        start = 0
        for arrays in self._source.batches(names):
            here = self._drawn[(self._drawn >= start) & (self._drawn < start + len(arrays[0]))] - start
            start += len(arrays[0])
            for part, array in zip(parts, arrays, strict=True):
                part.append(array.take(pa.array(here)))
        return {name: pa.chunked_array(part).combine_chunks() for name, part in zip(names, parts, strict=True)}


def _source(like: Any) -> sources.Source:
    if isinstance(like, str | os.PathLike):
        from ogive.records.files import file_source  # the engine is slow to import, and arrays need none

        return file_source(Path(like))
    return sources.memory_source(like, "value")


def _normal(size: int) -> Float64:
    """Normal numbers at evenly spaced quantiles."""
    values: Float64 = ndtri((np.arange(size) + 0.5) / size)
    return values


def _on_grid(grid: grids.Grid, positions: Float64) -> Any:
    """Values in the bins at these relative positions, 0 at the first and 1 after the last."""
    bins = np.clip((positions * grid.bins).astype(np.int64), 0, grid.bins - 1)
    return axis.to_labels(grid, grid.thresholds[bins])


def _labels(label: Label, positive: Bool) -> Any:
    yes = label.positive[0]
    no = label.negative[0] if label.negative else _another(yes)
    return [yes if each else no for each in positive]


def _another(value: Any) -> Any:
    """A label of the same type with another value."""
    if isinstance(value, bool):
        return not value
    return f"not {value}" if isinstance(value, str) else value + 1
