"""What every statistic can do.

A statistic is frozen parameters plus `questions`: a generator that yields queries, is sent
the answers and returns an estimate. The same text serves every trust model, in one round
or in twelve. It never sees records and never draws noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, TypeVar

from ogive.privacy import Adjacency, Privacy
from ogive.provenance import Provenance
from ogive.queries import Answer, Query


@dataclass(frozen=True)
class Terms:
    """What is public before any answer: how much may be spent, and what can be asked.

    Fields:
        privacy: The guarantee that all queries together must stay within.
        adjacency: Which data sets are adjacent.
        refusal: Says why the trust model cannot answer a query, or None if it can.
    """

    privacy: Privacy
    adjacency: Adjacency
    refusal: Callable[[Query], str | None]


class Estimate(Protocol):
    """A value with its error; frozen."""

    @property
    def provenance(self) -> Provenance | None:
        """What was released, at what price and under whose trust; None until released."""
        ...

    def with_provenance(self, provenance: Provenance) -> Self:
        """The same estimate carrying its provenance."""
        ...


EstimateT = TypeVar("EstimateT", bound=Estimate, covariant=True)


class Statistic(Protocol[EstimateT]):
    """What is wanted of the records, as frozen plain data."""

    name: ClassVar[str]
    """Short name, as on the command line."""

    def questions(self, terms: Terms) -> Generator[Query, Answer, EstimateT]:
        """Yield queries, receive answers, return the estimate.

        Queries with one measurement are priced once; the prices of all measurements must stay
        within `terms.privacy`, which `release` checks before every answer.

        Raises:
            ParameterError: parameters do not fit each other or the terms.
            UnsupportedError: no method that fits can be asked of this trust model.
        """
        ...
