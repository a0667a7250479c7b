"""Noisy measurements of the histogram of one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.accounting import group_loss
from ogive.arrays import Int64
from ogive.columns import Binning
from ogive.errors import ParameterError, quoted
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.strategies.base import Level, Pointwise, Strategy


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
        if self.strategy.size != self.binning.grid.bins:
            raise ParameterError(
                f"the strategy covers {self.strategy.size} points but the grid has {self.binning.grid.bins}"
            )
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
        return group_loss(self.strategy.loss(unit.adjacency), unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, strategy and adjacency; as secret as the data."""
        public = {
            "binning": self.binning.to_dict(),
            "strategy": base.described(self.strategy),
            "adjacency": adjacency.value,
        }
        return base.digest("curve", public, sums)

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
