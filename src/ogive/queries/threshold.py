"""The noisy number of records at or below one threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.accounting import group_loss
from ogive.arrays import Int64
from ogive.checks import whole
from ogive.columns import Binning
from ogive.errors import DataError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.strategies.base import Level
from ogive.strategies.counted_noise import check_counted, counted_loss


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
        last = self.binning.grid.bins - 1
        whole(self.point, "point", 0, last)

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
        """Privacy loss: one record changes the count by one at most.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        loss = counted_loss(self.law, self.bits, l1=1, l2_squared=1, integers=1)
        return group_loss(loss, unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, threshold, noise and adjacency; as secret as the data."""
        return base.fields_digest("threshold", self, sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """The exact count times 2^bits, shape (1,).

        Raises:
            DataError: there are so many records that the count would not fit.
        """
        count = int(sums[: self.point + 1].sum())
        if count >= 1 << (61 - self.bits):
            raise DataError("so many records do not fit the fixed-point counts of adaptive quantiles")
        return np.array([count << self.bits], dtype=np.int64)

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, shape (1,)."""
        return nodes.values(self.law, 0, np.zeros(1, dtype=np.int64))
