"""A curve of people: the rows of each person share one weight, so a person changes an answer as much as one row would.

Every person has `PERSON_UNITS` units, which are divided among the bins of the person's rows. The histogram holds units,
and any strategy measures it, with noise for as many records as a person has units. Estimates are divided by the units,
so they count people.

Source:
    `docs/proofs/people.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ogive.accounting import group_loss
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency, Loss
from ogive.strategies.base import Level, Strategy, approximates

PERSON_UNITS = 840
"""Units of a person, the least common multiple of 1 to 8. More would leave less room for people in 64 bits."""
SHARE_ROUNDING = 1 / (2 * PERSON_UNITS)
"""Most that the share of a person's rows at or below a threshold changes when it is rounded to whole units."""


@dataclass(frozen=True)
class CountedPeople:
    """A strategy that measures units of people.

    Fields:
        strategy: What is measured of the histogram of units; unbiased, and of one release.
    """

    strategy: Strategy

    name: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        if approximates(self.strategy) or isinstance(self.strategy, CountedPeople) or hasattr(self.strategy, "parts"):
            raise ParameterError(f"people are counted by one unbiased strategy, got {quoted(self.strategy.name)}")

    @property
    def size(self) -> int:
        return self.strategy.size

    @property
    def levels(self) -> tuple[Level, ...]:
        """Those of the strategy, whose noise is in its own units of units."""
        return self.strategy.levels

    def measure(self, counts: Int64) -> Int64:
        return self.strategy.measure(counts)

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        return self.strategy.spread(noise)

    def loss(self, adjacency: Adjacency) -> Loss:
        """The loss of one person, that is of `PERSON_UNITS` records of the strategy."""
        return group_loss(self.strategy.loss(adjacency), PERSON_UNITS)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """People at or below each threshold, shape (..., N), not whole; `total` is the public number of people."""
        return self.strategy.estimate(answer, units_of(total)) / PERSON_UNITS

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each estimated number of people, shape (N,)."""
        return self.strategy.variance(total_known=total_known) / PERSON_UNITS**2

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size, "units": PERSON_UNITS, "strategy": self.strategy.to_dict()}

    @staticmethod
    def from_dict(data: dict[str, Any], read: Callable[[dict[str, Any]], Strategy]) -> CountedPeople:
        """Rebuild from `to_dict`; `read` rebuilds the strategy of units, as `strategy_from_dict` does."""
        if data["units"] != PERSON_UNITS:
            raise ParameterError(f"a person has {PERSON_UNITS} units, got {quoted(data['units'])}")
        inner = data["strategy"]
        if not isinstance(inner, dict) or inner.get("size") != data["size"]:
            raise ParameterError("the strategy that counts people must cover the thresholds of the curve")
        return CountedPeople(read(inner))


def counts_people(strategy: Strategy | None) -> bool:
    """Whether a strategy, or every part of a sum, counts people, so that its exact counts need not be whole."""
    parts = getattr(strategy, "parts", (strategy,))
    return all(isinstance(part, CountedPeople) for part in parts)


def units_of(people: int | None) -> int | None:
    """The units of a public number of people; None where that is private."""
    return None if people is None else people * PERSON_UNITS
