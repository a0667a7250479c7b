"""Noisy histograms: of one column, classes, people, or combinations of columns; the number below a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import group_loss, larger_loss, total_loss
from ogive.columns import Binning
from ogive.core.arrays import Int64
from ogive.core.checks import ROOM, Range, refuse_sums, whole
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Loss, Privacy, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Cells, ClassBinning, Counted, GroupBinning, PersonShares, ValueCounts, read, write
from ogive.strategies.base import Level, Strategy, moved_counts
from ogive.strategies.composed import CountedPeople
from ogive.strategies.counts import check_counted, counted_loss, counted_noise

# --- One column in each of several classes or groups, priced together
#
# The classes are disjoint. Replacing a record either keeps its class, and then moves one histogram as
# a replaced record does, or changes it, and then a record leaves one histogram and one joins
# another. So under REPLACE
#
#     loss = max(loss of a replaced record in one class, twice the loss of an added record),
#
# and the second part falls away where labels are public and stay. Adding or removing a record
# moves one histogram only. The number of classes does not matter.


def class_curves_price(strategy: Strategy, unit: PrivacyUnit, *, public_labels: bool, classes: int = 2) -> Loss:
    """Privacy loss of measuring the scores of all classes with one strategy, each with noise of its own.

    Args:
        strategy: What is measured of each class.
        unit: Privacy unit of the guarantee.
        public_labels: Whether adjacent data sets have the same labels.
        classes: Number of classes.
    """
    loss = strategy.loss(unit.adjacency)
    if unit.adjacency is Adjacency.REPLACE and not public_labels:
        joins = strategy.loss(Adjacency.ADD_OR_REMOVE)
        loss = larger_loss(loss, total_loss([joins, joins]))
    return in_several(group_loss(loss, unit.max_rows_per_person), unit, classes)


def in_several(loss: Loss, unit: PrivacyUnit, classes: int) -> Loss:
    """A loss of so many rows in one class, as that of the same rows wherever they are.

    Squared changes of several classes add up to at most that of all rows in one. But each class's noise has a distance
    of its own from an ideal one.
    """
    if not isinstance(loss, GaussianDP):
        return loss
    touched = min(unit.max_rows_per_person, classes)
    return GaussianDP(loss.mu_squared, loss.distance * touched)


@dataclass(frozen=True)
class ClassCurvesQuery(base.Described, base.LinearQuery):
    """The same strategy for all classes, each with noise of its own; answers have shape (classes, M), negatives first.

    Fields:
        classes: Score, thresholds and label, or column, thresholds and groups; or several columns, of which the last
            has thresholds and every combination of the others is a class, in the order of their symbols.
        strategy: What is measured of each class.
        public_labels: Whether everybody may know each record's class; adjacent data sets then have the
            same labels, and under REPLACE the size of each class is public.
    """

    digested: ClassVar[str] = "class curves"

    classes: ClassBinning | GroupBinning | Cells
    strategy: Strategy
    public_labels: bool = False

    def __post_init__(self) -> None:
        base.check_size(self.strategy, self.shape[1])
        if isinstance(self.classes, Cells) and self.public_labels:
            raise ParameterError("classes that are combinations of columns are not public")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of classes, and of thresholds."""
        if isinstance(self.classes, Cells):
            *others, thresholds = self.classes.domain.sizes
            return math.prod(others), thresholds
        classes, thresholds = self.classes.shape
        return classes, thresholds

    @property
    def method(self) -> str:
        return self.strategy.name

    @property
    def aggregate(self) -> ClassBinning | GroupBinning | Cells:
        return self.classes

    @property
    def measurement(self) -> tuple[ClassBinning | GroupBinning | Cells, Strategy, bool]:
        """What is priced."""
        return self.classes, self.strategy, self.public_labels

    @property
    def levels(self) -> tuple[Level, ...]:
        """The strategy's levels for each class in turn, of two the negatives first."""
        return self.strategy.levels * self.shape[0]

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of classes or groups, where these are public."""
        if not self.public_labels or isinstance(self.classes, Cells):
            return ()
        return (self.classes.label.column if isinstance(self.classes, ClassBinning) else self.classes.by,)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all curves together.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        if isinstance(self.classes, GroupBinning):
            base.check_missing(self.classes.values, unit.adjacency)
        elif isinstance(self.classes, Cells):
            for column in self.classes.domain.columns:
                base.check_missing(column, unit.adjacency)
        return class_curves_price(self.strategy, unit, public_labels=self.public_labels, classes=self.shape[0])

    def description(self) -> dict[str, Any]:
        return {
            "classes": self.classes.to_dict(),
            "strategy": base.described(self.strategy),
            "public_labels": self.public_labels,
        }

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each class where labels are public."""
        if self.public_labels and adjacency is Adjacency.REPLACE:
            return tuple(int(counts.sum()) for counts in sums)
        return super().totals(sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Exact measurements of all classes, shape (classes, M)."""
        return np.stack([self.strategy.measure(counts) for counts in sums.reshape(self.shape)])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of all classes, shape (classes, M)."""
        levels = self.strategy.levels
        return np.stack(
            [
                self.strategy.spread(base.draw(nodes, levels, first=number * len(levels)))
                for number in range(self.shape[0])
            ]
        )


# --- One column, with one weight for each person that the person's rows share


@dataclass(frozen=True)
class PeopleQuery(base.Described, base.CuratorQuery):
    """Noisy measurements of the units of people in each bin of one column, for those who see all rows of a person.

    Fields:
        binning: Column and grid.
        strategy: What is measured of the units.

    Raises:
        ParameterError: the strategy is for another number of thresholds.
    """

    digested: ClassVar[str] = "people"

    binning: Binning
    strategy: CountedPeople

    def __post_init__(self) -> None:
        base.check_size(self.strategy, self.binning.grid.bins)

    @property
    def method(self) -> str:
        return self.strategy.strategy.name

    @property
    def aggregate(self) -> PersonShares:
        return PersonShares(self.binning)

    @property
    def points(self) -> None:
        """Nothing: the curve is opened whole."""
        return

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.strategy.levels

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of a person with all rows, however many these are and may be.

        Raises:
            ParameterError: no column says whose a row is; or missing values are dropped although the adjacency makes
                the number of people public.
        """
        if unit.person is None:
            raise ParameterError("people are counted where `person` names the column with their identifier")
        base.check_missing(self.binning, unit.adjacency)
        return self.strategy.loss(unit.adjacency)

    def description(self) -> dict[str, Any]:
        return {"binning": self.binning.to_dict(), "strategy": base.described(self.strategy)}

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The exact integers of the strategy plus the noise."""
        exact = self.strategy.measure(sums)
        return exact if nodes is None else exact + self.strategy.spread(base.draw(nodes, self.levels))


# --- Every combination of bins of some columns
#
# A replaced record leaves one cell and joins another: a change of two counts by one each. One that is added or removed
# changes one count. All that is computed of the noisy counts, every pairwise statistic at once, costs nothing more.


class CountsQuery(base.Described):
    """What queries share that count every cell of an aggregate, times 2^bits, each with noise of one law."""

    law: DiscreteLaplace | DiscreteGaussian
    bits: int
    counted: ClassVar[str] = "records"

    @property
    def aggregate(self) -> Any:
        raise NotImplementedError

    @property
    def levels(self) -> tuple[Level, ...]:
        return (Level(math.prod(self.aggregate.shape), self.law),)

    def measure(self, sums: Int64) -> Int64:
        """Counts times 2^bits, in the shape of the aggregate.

        Raises:
            DataError: there are too many records for these bits.
        """
        refusal = f"there are too many {self.counted} for counts with {self.bits} fractional bits"
        refuse_sums(sums, 1 << self.bits, ROOM, refusal)
        return np.asarray(sums << self.bits)

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of every count, in the shape of the aggregate."""
        return base.draw(nodes, self.levels)[0].reshape(self.aggregate.shape)

    def _loss(self, changed: int, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all counts together, of which one record changes so many by one."""
        integers = self.levels[0].nodes
        loss = counted_loss(self.law, self.bits, l1=changed, l2_squared=changed, integers=integers)
        return group_loss(loss, unit.max_rows_per_person)


@dataclass(frozen=True)
class CellsQuery(CountsQuery, base.LinearQuery):
    """The count of every symbol, times 2^bits, each with noise of its own; answers have shape (k,).

    Fields:
        cells: The columns.
        law: Noise of every count, on the scale where a record counts 2^bits.
        bits: Fractional bits of the counts: 0 for Laplace noise.
        public_classes: Whether everybody may know the last column of each record; adjacent data sets then have
            the same classes, and under REPLACE the size of each is public.

    Raises:
        ParameterError: the law and the bits do not go together.
    """

    digested: ClassVar[str] = "cells"
    method: ClassVar[str] = "cells"

    cells: Cells
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0
    public_classes: bool = False

    def __post_init__(self) -> None:
        check_counted(self.cells.domain.size, (self.law,), self.bits)
        if self.public_classes and len(self.cells.domain.columns) < 2:
            raise ParameterError("public classes need a column of their own, the last one")

    @property
    def aggregate(self) -> Cells:
        return self.cells

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The last column, where its classes are public."""
        return (self.cells.domain.columns[-1].column,) if self.public_classes else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all counts together.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        for column in self.cells.domain.columns:
            base.check_missing(column, unit.adjacency)
        return self._loss(moved_counts(unit.adjacency), unit)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each public class."""
        if self.public_classes and adjacency is Adjacency.REPLACE:
            return tuple(int(count) for count in sums.reshape(-1, self.cells.domain.sizes[-1]).sum(axis=0))
        return super().totals(sums, adjacency)


def design_cells(cells: Cells, privacy: Privacy, unit: PrivacyUnit, *, public_classes: bool = False) -> CellsQuery:
    """The least noise that meets a guarantee: discrete Laplace or, where that is less and enough, discrete Gaussian.

    Raises:
        ScaleError: the noise is larger than can be drawn.
    """

    def designed(grant: Privacy) -> CellsQuery:
        changed, rows = moved_counts(unit.adjacency), unit.max_rows_per_person
        law, bits = counted_noise(grant, l1=changed, l2_squared=changed, integers=cells.domain.size, rows=rows)
        return CellsQuery(cells, law, bits, public_classes)

    return base.with_least_noise(privacy, designed, lambda query: query.law.variance / 4.0**query.bits)


# --- The number of records at or below one threshold


@dataclass(frozen=True)
class ThresholdQuery(base.Described, base.LinearQuery):
    """The noisy number of records at or below one threshold of a grid, times 2^bits.

    Queries at several thresholds are several measurements, each with noise of its own and paid for; a threshold
    may be chosen after looking at the answers before.

    Fields:
        point: 0-based threshold.
        law: Noise of the count, on the scale where a record counts 2^bits.
    """

    digested: ClassVar[str] = "threshold"
    method: ClassVar[str] = "adaptive"

    binning: Binning
    point: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        check_counted(self.binning.grid.bins, (self.law,), self.bits)
        whole(self.point, "point", 0, self.binning.grid.bins - 1)

    @property
    def aggregate(self) -> Binning:
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        return (Level(1, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss: one record changes the count by one at most."""
        base.check_missing(self.binning, unit.adjacency)
        loss = counted_loss(self.law, self.bits, l1=1, l2_squared=1, integers=1)
        return group_loss(loss, unit.max_rows_per_person)

    def measure(self, sums: Int64) -> Int64:
        """The exact count times 2^bits, shape (1,)."""
        below = sums[: self.point + 1]
        refusal = "this many records do not fit the fixed-point counts of adaptive quantiles"
        refuse_sums(below, 1 << self.bits, ROOM, refusal)
        return np.array([int(below.sum()) << self.bits], dtype=np.int64)

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, shape (1,)."""
        return nodes.values(self.law, 0, np.zeros(1, dtype=np.int64))


# --- Which values of a column many records have, and how many, where nobody has listed the values
#
# Every value that occurs is counted, every count gets discrete Laplace noise, and the values whose noisy count is at
# least a public threshold are told with it. A value that no record has is never told, so a value that is told says that
# some record has it. That is where the delta is: a value that only one person has must hardly ever reach the threshold.
#
# With noise Z of scale t, of which P(Z >= m) = q^m / (1 + q) for m >= 0 and q = exp(-1/t), and at most k records of a
# person, a threshold T > k costs exactly
#
#     epsilon = k / t, or 2 / t under REPLACE,    delta = max(x_k, 1 - (1 - x_1)^k)    with x_d = q^(T - d) / (1 + q):
#
# a person adds most by k records of one value that nobody else has, or by a record of each of k such values. The proof
# is in the manual, under discovery.

LARGEST_THRESHOLD = 1 << 61
_DIGITS = 40
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
_KEPT = Context(prec=15, rounding=ROUND_CEILING)
_LEAST_DELTA = Fraction(11, 10**301)  # below that there is no delta
_FURTHEST = 2000
"""Noise of so many scales has a chance below 1e-800, where a delta is at least 1e-300."""


@dataclass(frozen=True)
class DiscoveryQuery(base.Described, base.CuratorQuery):
    """The values that at least about so many records have, each with its noisy count; `read` reads the answer.

    It is not linear: only who sees all records can answer it. The exact answer has every value.

    Fields:
        values: The column, and what a missing value means. Where those are counted, their noisy count is told whatever
            it is, since everybody may know of that place.
        law: Noise of every count.
        threshold: Least noisy count that is told, at least 1.

    Raises:
        ParameterError: the threshold is out of range.
    """

    digested: ClassVar[str] = "discovery"
    method: ClassVar[str] = "discovery"

    values: ValueCounts
    law: DiscreteLaplace
    threshold: int

    def __post_init__(self) -> None:
        whole(self.threshold, "threshold", 1, LARGEST_THRESHOLD)

    @property
    def aggregate(self) -> ValueCounts:
        return self.values

    @property
    def levels(self) -> tuple[Level, ...]:
        """Noise of a value, and of missing ones that are counted; how many values there are is secret."""
        return (Level(1, self.law),) * (2 if self.values.column.missing == "count" else 1)

    def price(self, unit: PrivacyUnit) -> ApproxDP:
        """Exact privacy loss of the values that are told with their counts; its delta is rounded up.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public, or
                the records of one person may reach the threshold without noise.
        """
        base.check_missing(self.values.column, unit.adjacency)
        rows = unit.max_rows_per_person
        return ApproxDP(_changed(unit) / self.law.scale, shown_chance(self.law, self.threshold, rows))

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The values that are told and their counts, as `write` writes them, in the order of the values.

        Every value has a noise of its own, that of its place among the values that occur. The places follow from the
        values alone, and the noise of a release is independent of that of other data, so nothing of those values
        that are not told is in the answer.

        Raises:
            DataError: there are too many records.
        """
        exact = read(sums)
        counted = self.values.column.missing == "count"
        if nodes is None:
            return write(Counted(exact.counts, exact.missing if counted else 0))
        Range(0, self.values.records(sums)).check(ROOM, "there are too many records to be counted with noise")
        noise = nodes.values(self.law, 0, np.arange(len(exact.counts)))
        noisy = {value: count + int(added) for (value, count), added in zip(exact.counts.items(), noise, strict=True)}
        missing = exact.missing + int(nodes.values(self.law, 1, np.arange(1))[0]) if counted else 0
        return write(Counted({value: count for value, count in noisy.items() if count >= self.threshold}, missing))


def design_discovery(values: ValueCounts, privacy: ApproxDP, unit: PrivacyUnit) -> DiscoveryQuery:
    """The least noise and the least threshold that meet a guarantee.

    Args:
        values: The column.
        privacy: What the answer may cost; all of its epsilon goes to the noise, all of its delta to the threshold.
        unit: Whose data the guarantee hides.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
    """
    law = DiscreteLaplace(round_up_scale(_changed(unit) / privacy.epsilon))
    return DiscoveryQuery(values, law, least_threshold(law, privacy.delta, unit.max_rows_per_person))


def least_threshold(law: DiscreteLaplace, delta: Fraction, rows: int) -> int:
    """The least whole number above the rows of a person with which one's own value is told with at most this chance."""
    low = rows + 1
    high = rows + 2 + int(_FURTHEST * law.scale)
    while low < high:
        middle = (low + high) // 2
        if shown_chance(law, middle, rows) <= delta:
            high = middle
        else:
            low = middle + 1
    return low


def shown_chance(law: DiscreteLaplace, threshold: int, rows: int) -> Fraction:
    """The largest chance with which any value that only one person has is told, rounded up to 15 digits."""
    if threshold <= rows:
        raise ParameterError(f"`threshold` must be above the {rows} records that a person may have, got {threshold}")
    together, each = (_reaches(law, threshold - records) for records in (rows, 1))
    return max(Fraction(_KEPT.plus(max(together, _any_of(each, rows)))), _LEAST_DELTA)


def _changed(unit: PrivacyUnit) -> Fraction:
    """By how much one person changes all counts at most, in absolute values."""
    return Fraction(unit.max_rows_per_person * (2 if unit.adjacency is Adjacency.REPLACE else 1))


def _reaches(law: DiscreteLaplace, least: int) -> Decimal:
    """P(Z >= least) for least >= 0, rounded up."""
    return _UP.divide(_exp(-least / law.scale, up=True), _DOWN.add(1, _exp(-1 / law.scale, up=False)))


def _exp(exponent: Fraction, *, up: bool) -> Decimal:
    """The exponential of a number, rounded up or down."""
    towards = _UP if up else _DOWN
    near = towards.exp(towards.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    return towards.next_plus(near) if up else towards.next_minus(near)  # `exp` rounds to the nearest in any context


def _any_of(chance: Decimal, times: int) -> Decimal:
    """1 - (1 - chance)^times, rounded up."""
    result, power = Decimal(0), chance
    while times:
        if times & 1:
            result = _either(result, power)
        power, times = _either(power, power), times >> 1
    return result


def _either(one: Decimal, other: Decimal) -> Decimal:
    """The chance of one or the other of two independent events, a + b (1 - a), rounded up."""
    return min(_UP.add(one, _UP.multiply(other, _UP.subtract(Decimal(1), one))), Decimal(1))
