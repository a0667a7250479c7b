"""Noisy measurements of the histograms of one score in each of two classes, or of several groups, priced together.

The classes are disjoint. Replacing a record either keeps its class, and then moves one histogram as
a replaced record does, or changes it, and then a record leaves one histogram and one joins
another. So under REPLACE

    loss = max(loss of a replaced record in one class, twice the loss of an added record),

and the second part falls away where labels are public and stay. Adding or removing a record
moves one histogram only. The number of classes does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.accounting import group_loss, larger_loss, total_loss
from ogive.arrays import Int64
from ogive.errors import ParameterError
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, GaussianDP, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import ClassBinning, GroupBinning
from ogive.strategies.base import Level, Strategy


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
        bins = self.classes.shape[-1]
        if self.strategy.size != bins:
            raise ParameterError(f"the strategy covers {self.strategy.size} points but the grid has {bins}")

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
        return (_column(self.classes),) if self.public_labels else ()

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
        if adjacency is not Adjacency.REPLACE:
            return None
        if self.public_labels:
            return tuple(int(counts.sum()) for counts in sums)
        return (self.classes.records(sums),)

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


def _column(classes: ClassBinning | GroupBinning) -> str:
    return classes.label.column if isinstance(classes, ClassBinning) else classes.by
