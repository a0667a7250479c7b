"""Noisy counts of every combination of bins of some columns.

A replaced record leaves one cell and joins another: a change of two counts by one each. One that is added or removed
changes one count. All that is computed of the noisy counts, every pairwise statistic at once, costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.accounting import group_loss, pure_epsilon
from ogive.arrays import Int64
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP
from ogive.queries import base
from ogive.queries.aggregates import Cells
from ogive.strategies.base import Level
from ogive.strategies.counted_noise import check_counted, counted_loss, counted_noise

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
        if adjacency is not Adjacency.REPLACE:
            return None
        if self.public_classes:
            return tuple(int(count) for count in sums.reshape(-1, self.cells.domain.sizes[-1]).sum(axis=0))
        return (self.cells.records(sums),)

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
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    found, problem = [], None
    for grant in dict.fromkeys((privacy, pure)):
        try:
            found.append(_designed(cells, grant, unit, public_classes))
        except (ScaleError, ParameterError) as refused:
            problem = refused
    if not found:
        assert problem is not None, "nothing was tried"
        raise problem
    return min(found, key=lambda query: query.law.variance / 4.0**query.bits)


def _designed(cells: Cells, grant: Privacy, unit: PrivacyUnit, public_classes: bool) -> CellsQuery:
    changed = _changed(unit.adjacency)
    law, bits = counted_noise(
        grant, l1=changed, l2_squared=changed, integers=cells.domain.size, rows=unit.max_rows_per_person
    )
    return CellsQuery(cells, law, bits, public_classes)


def _changed(adjacency: Adjacency) -> int:
    return 2 if adjacency is Adjacency.REPLACE else 1
