"""What is known of a secure aggregation without any records: what it serves, and what it takes of parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ogive.errors import UnsupportedError
from ogive.noise.shares import share_of
from ogive.privacy import Adjacency
from ogive.queries import Kind, LinearQuery, Query
from ogive.trust.base import Traffic, TrustOptions
from ogive.trust.parties import check_classes_named
from ogive.trust.secagg.modulus import largest_share
from ogive.trust.secagg.terms import COLLUDING, AggregationTerms
from ogive.trust.secagg.traffic import traffic


@dataclass(frozen=True)
class SecAggOptions(TrustOptions):
    """How many parties there are, and how many of them may leave or collude.

    Fields:
        parties: How many, at least two.
        colluding: How many may tell each other and the server all that they know.
        dropouts: How many may leave before the end.
        threshold: How many it takes to open the sum; None for the fewest that are safe.

    Raises:
        ParameterError: a number is out of range, or they do not fit together; says what would.
    """

    name: ClassVar[str] = "secagg"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear"})
    limits: ClassVar[str] = "secure aggregation only adds up"

    parties: int
    colluding: int = COLLUDING
    dropouts: int = 0
    threshold: int | None = None

    def __post_init__(self) -> None:
        _ = self.terms  # refuses what does not fit

    @cached_property
    def terms(self) -> AggregationTerms:
        """What the parties agree on beforehand, under the names that ledgers keep."""
        return AggregationTerms(self.parties, self.colluding, self.dropouts, self.threshold)

    @property
    def assumption(self) -> str:
        """Whom one has to trust with what."""
        return self.terms.assumption()

    @property
    def adding(self) -> int:
        """How many parties add their share of the noise, if nobody leaves."""
        return self.parties

    @property
    def honest(self) -> int:
        """How many parties are sure to add their noise to the sum and to keep it to themselves."""
        return self.terms.honest

    def refusal(self, query: Query) -> str | None:
        """Answers that do not add up, and noise that cannot be drawn in shares."""
        reason = super().refusal(query)
        if reason is not None:
            return reason
        check_classes_named(query, "parties")
        laws = [level.law for level in query.levels]
        try:
            for law in set(laws):
                share_of(law, self.honest)
        except UnsupportedError as problem:
            return problem.marked
        if largest_share(laws, parties=self.parties, honest=self.honest) < 1 << 32:
            return "so much noise of so many parties might not fit in 64 bits; ask for a larger epsilon or rho"
        return None

    def traffic(self, queries: Sequence[LinearQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        """What parties send and compute: a secure aggregation for every question."""
        return (traffic(self.terms, queries, adjacency),)
