"""Noisy histograms: of one column, classes, people, or combinations of columns; the number below a threshold."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ogive.accounting import group_loss, larger_loss, total_loss
from ogive.columns import Binning
from ogive.core.arrays import Int64
from ogive.core.checks import whole
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, GaussianDP, Loss, Privacy, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Cells, ClassBinning, GroupBinning, PersonShares
from ogive.strategies.base import Level, Pointwise, Strategy
from ogive.strategies.counted_noise import check_counted, counted_loss, counted_noise
from ogive.strategies.people import CountedPeople


def _check_size(strategy: Strategy | CountedPeople, bins: int) -> None:
    """Refuse a strategy that is for another number of thresholds."""
    if strategy.size != bins:
        raise ParameterError(f"the strategy covers {strategy.size} points but the grid has {bins}")


# --- One column


@dataclass(frozen=True)
class CurveQuery(base.LinearQuery):
    """Noisy measurements of the histogram of one column.

    The pair (binning, strategy) is the *measurement*, priced once however often and at
    whatever points it is opened. `points` restricts the answer to some 0-based points,
    which only pointwise strategies (path noise) can do; None asks for the whole answer.
    """

    binning: Binning
    strategy: Strategy
    points: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _check_size(self.strategy, self.binning.grid.bins)
        if self.points is not None and not isinstance(self.strategy, Pointwise):
            raise ParameterError(
                f"method {quoted(self.strategy.name)} cannot be opened at single points; use method 'path'"
            )

    @property
    def method(self) -> str:
        """Name of the strategy."""
        return self.strategy.name

    @property
    def aggregate(self) -> Binning:
        """Records per bin."""
        return self.binning

    @property
    def measurement(self) -> tuple[Binning, Strategy]:
        """Binning and strategy, which are priced and to which the noise of a release is bound."""
        return self.binning, self.strategy

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the strategy."""
        return self.strategy.levels

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of opening the measurement, all points included.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of
                records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        return _loss(cast(Hashable, self.strategy), unit.adjacency, unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, strategy and adjacency; as secret as the data."""
        return _digest("curve", self, sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """The exact integers that the query asks for, from a histogram of shape (N,)."""
        if self.points is None:
            return self.strategy.measure(sums)
        assert isinstance(self.strategy, Pointwise)
        return self.strategy.measure_at(sums, np.array(self.points, dtype=np.int64))

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, same shape."""
        strategy = self.strategy
        if self.points is None:
            return strategy.spread(base.draw(nodes, strategy.levels))
        assert isinstance(strategy, Pointwise)
        wanted = strategy.nodes_at(np.array(self.points, dtype=np.int64))
        levels = enumerate(strategy.levels)
        return strategy.spread_at(tuple(nodes.values(level.law, number, wanted[number]) for number, level in levels))


@lru_cache(maxsize=256)
def _loss(strategy: Any, adjacency: Adjacency, rows: int) -> Loss:
    alone: Loss = strategy.loss(adjacency)
    return group_loss(alone, rows)


def _digest(kind: str, query: CurveQuery | PeopleQuery, sums: Int64, adjacency: Adjacency) -> bytes:
    public = {
        "binning": query.binning.to_dict(),
        "strategy": base.described(query.strategy),
        "adjacency": adjacency.value,
    }
    return base.digest(kind, public, sums)


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
class ClassCurvesQuery(base.LinearQuery):
    """The same strategy for all classes, each with noise of its own; answers have shape (classes, M), negatives first.

    Fields:
        classes: Score, thresholds and label, or column, thresholds and groups.
        strategy: What is measured of each class.
        public_labels: Whether everybody may know each record's class; adjacent data sets then have the
            same labels, and under REPLACE the size of each class is public.
    """

    classes: ClassBinning | GroupBinning
    strategy: Strategy
    public_labels: bool = False

    def __post_init__(self) -> None:
        _check_size(self.strategy, self.classes.shape[-1])

    @property
    def method(self) -> str:
        """Name of the strategy."""
        return self.strategy.name

    @property
    def aggregate(self) -> ClassBinning | GroupBinning:
        """Records per class and bin."""
        return self.classes

    @property
    def measurement(self) -> tuple[ClassBinning | GroupBinning, Strategy, bool]:
        """What is priced."""
        return self.classes, self.strategy, self.public_labels

    @property
    def levels(self) -> tuple[Level, ...]:
        """The strategy's levels for each class in turn, of two the negatives first."""
        return self.strategy.levels * self.classes.shape[0]

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of classes or groups, where these are public."""
        column = self.classes.label.column if isinstance(self.classes, ClassBinning) else self.classes.by
        return (column,) if self.public_labels else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all curves together.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        if isinstance(self.classes, GroupBinning):
            base.check_missing(self.classes.values, unit.adjacency)
        classes = self.classes.shape[0]
        return class_curves_price(self.strategy, unit, public_labels=self.public_labels, classes=classes)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, classes, strategy and adjacency; as secret as the data."""
        public = {
            "classes": self.classes.to_dict(),
            "strategy": base.described(self.strategy),
            "public_labels": self.public_labels,
            "adjacency": adjacency.value,
        }
        return base.digest("class curves", public, sums)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each class where labels are public."""
        if self.public_labels and adjacency is Adjacency.REPLACE:
            return tuple(int(counts.sum()) for counts in sums)
        return super().totals(sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Exact measurements of all classes, shape (classes, M)."""
        return np.stack([self.strategy.measure(counts) for counts in sums])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of all classes, shape (classes, M)."""
        levels = self.strategy.levels
        return np.stack(
            [
                self.strategy.spread(base.draw(nodes, levels, first=number * len(levels)))
                for number in range(self.classes.shape[0])
            ]
        )


# --- One column, with one weight for each person that the person's rows share


@dataclass(frozen=True)
class PeopleQuery(base.CuratorQuery):
    """Noisy measurements of the units of people in each bin of one column, for those who see all rows of a person.

    Fields:
        binning: Column and grid.
        strategy: What is measured of the units.

    Raises:
        ParameterError: the strategy is for another number of thresholds.
    """

    binning: Binning
    strategy: CountedPeople

    def __post_init__(self) -> None:
        _check_size(self.strategy, self.binning.grid.bins)

    @property
    def method(self) -> str:
        """Name of what is measured of the units."""
        return self.strategy.strategy.name

    @property
    def aggregate(self) -> PersonShares:
        """Units of people per bin."""
        return PersonShares(self.binning)

    @property
    def points(self) -> None:
        """Nothing: the curve is opened whole."""
        return

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the strategy."""
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

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, strategy and adjacency; as secret as the data."""
        return _digest("people", self, sums, adjacency)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The exact integers of the strategy plus the noise."""
        exact = self.strategy.measure(sums)
        return exact if nodes is None else exact + self.strategy.spread(base.draw(nodes, self.levels))


# --- Every combination of bins of some columns
#
# A replaced record leaves one cell and joins another: a change of two counts by one each. One that is added or removed
# changes one count. All that is computed of the noisy counts, every pairwise statistic at once, costs nothing more.

_ROOM_BITS = 61


@dataclass(frozen=True)
class CellsQuery(base.LinearQuery):
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

    cells: Cells
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0
    public_classes: bool = False

    def __post_init__(self) -> None:
        check_counted(self.cells.domain.size, (self.law,), self.bits)
        if self.public_classes and len(self.cells.domain.columns) < 2:
            raise ParameterError("public classes need a column of their own, the last one")

    @property
    def method(self) -> str:
        """Name of this query."""
        return "cells"

    @property
    def aggregate(self) -> Cells:
        """Records per symbol."""
        return self.cells

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable per symbol."""
        return (Level(self.cells.domain.size, self.law),)

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
        changed = _changed(unit.adjacency)
        loss = counted_loss(self.law, self.bits, l1=changed, l2_squared=changed, integers=self.cells.domain.size)
        return group_loss(loss, unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the counts, columns, noise and adjacency; as secret as the data."""
        return base.fields_digest("cells", self, sums, adjacency)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Under REPLACE the number of records, or of each public class."""
        if self.public_classes and adjacency is Adjacency.REPLACE:
            return tuple(int(count) for count in sums.reshape(-1, self.cells.domain.sizes[-1]).sum(axis=0))
        return super().totals(sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Counts times 2^bits, shape (k,).

        Raises:
            DataError: there are too many records for these bits.
        """
        if int(sums.sum()) >> (_ROOM_BITS - self.bits):
            raise DataError(f"there are too many records for counts with {self.bits} fractional bits")
        scaled: Int64 = sums << self.bits
        return scaled

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of every count, shape (k,)."""
        return np.asarray(base.draw(nodes, self.levels)[0])


def design_cells(cells: Cells, privacy: Privacy, unit: PrivacyUnit, *, public_classes: bool = False) -> CellsQuery:
    """The least noise that meets a guarantee: discrete Laplace or, where that is less and enough, discrete Gaussian.

    Raises:
        ScaleError: the noise is larger than can be drawn.
    """

    def designed(grant: Privacy) -> CellsQuery:
        changed, rows = _changed(unit.adjacency), unit.max_rows_per_person
        law, bits = counted_noise(grant, l1=changed, l2_squared=changed, integers=cells.domain.size, rows=rows)
        return CellsQuery(cells, law, bits, public_classes)

    return base.with_least_noise(privacy, designed, lambda query: query.law.variance / 4.0**query.bits)


def _changed(adjacency: Adjacency) -> int:
    return 2 if adjacency is Adjacency.REPLACE else 1


# --- The number of records at or below one threshold


@dataclass(frozen=True)
class ThresholdQuery(base.LinearQuery):
    """The noisy number of records at or below one threshold of a grid, times 2^bits.

    Queries at several thresholds are several measurements, each with noise of its own and paid for; a threshold
    may be chosen after looking at the answers before.

    Fields:
        binning: Column and grid.
        point: 0-based threshold.
        law: Noise of the count, on the scale where a record counts 2^bits.
        bits: Fractional bits of the count.
    """

    binning: Binning
    point: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        check_counted(self.binning.grid.bins, (self.law,), self.bits)
        whole(self.point, "point", 0, self.binning.grid.bins - 1)

    @property
    def method(self) -> str:
        """Counts at thresholds chosen one after the other."""
        return "adaptive"

    @property
    def aggregate(self) -> Binning:
        """Records per bin."""
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable."""
        return (Level(1, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss: one record changes the count by one at most."""
        base.check_missing(self.binning, unit.adjacency)
        loss = counted_loss(self.law, self.bits, l1=1, l2_squared=1, integers=1)
        return group_loss(loss, unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, threshold, noise and adjacency; as secret as the data."""
        return base.fields_digest("threshold", self, sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """The exact count times 2^bits, shape (1,)."""
        count = int(sums[: self.point + 1].sum())
        if count >= 1 << (61 - self.bits):
            raise DataError("this many records do not fit the fixed-point counts of adaptive quantiles")
        return np.array([count << self.bits], dtype=np.int64)

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, shape (1,)."""
        return nodes.values(self.law, 0, np.zeros(1, dtype=np.int64))
