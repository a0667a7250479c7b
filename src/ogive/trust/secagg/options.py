"""What is known of a secure aggregation without any records: what it serves, and what it takes of parties.

The protocol is imported where it is asked, since the command line needs the options alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from ogive.errors import UnsupportedError
from ogive.parameters import python_only
from ogive.trust.base import Traffic, TrustOptions

if TYPE_CHECKING:
    from ogive.privacy import Adjacency
    from ogive.queries import Kind, LinearQuery, Query
    from ogive.trust.secagg.terms import AggregationTerms

COLLUDING = 1
"""How many parties may collude where nothing else is said: any one that reads the result, and knows its own noise."""


@dataclass(frozen=True)
class SecAggOptions(TrustOptions):
    """How many parties there are, and how many of them may leave or collude.

    Fields:
        parties: Number of organizations, at least two, to which one table is dealt.
        colluding: How many parties may tell others all that they know, or read what is released.
        dropouts: How many parties may leave before the end.
        threshold: How many it takes to open the sum; None for the fewest that are safe.

    Raises:
        ParameterError: a number is out of range, or they do not fit together; says what would.
    """

    name: ClassVar[str] = "secagg"
    summary: ClassVar[str] = "several organizations, of whose answers only the sum is seen"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear"})
    limits: ClassVar[str] = "secure aggregation only adds up"

    parties: int
    colluding: int = COLLUDING
    dropouts: int = 0
    threshold: int | None = python_only(None)

    def __post_init__(self) -> None:
        _ = self.terms  # refuses what does not fit

    @cached_property
    def terms(self) -> AggregationTerms:
        """What the parties agree on beforehand, under the names that ledgers keep."""
        from ogive.trust.secagg.terms import AggregationTerms

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
        from ogive.noise.shares import share_of
        from ogive.trust.parties import check_classes_named
        from ogive.trust.secagg.modulus import largest_share

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
        from ogive.trust.secagg.traffic import traffic

        return (traffic(self.terms, queries, adjacency),)
