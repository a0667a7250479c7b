"""Noisy measurements of a column of which each person has one weight, shared by the person's rows."""

from __future__ import annotations

from dataclasses import dataclass

from ogive.arrays import Int64
from ogive.columns import Binning
from ogive.errors import ParameterError
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import PersonShares
from ogive.strategies.base import Level
from ogive.strategies.people import CountedPeople


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
        if self.strategy.size != self.binning.grid.bins:
            raise ParameterError(
                f"the strategy covers {self.strategy.size} points but the grid has {self.binning.grid.bins}"
            )

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
        public = {
            "binning": self.binning.to_dict(),
            "strategy": base.described(self.strategy),
            "adjacency": adjacency.value,
        }
        return base.digest("people", public, sums)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The exact integers of the strategy plus the noise."""
        exact = self.strategy.measure(sums)
        return exact if nodes is None else exact + self.strategy.spread(base.draw(nodes, self.levels))
