"""What is known of a secure aggregation without any records: what it serves, and what it takes of parties.

The protocol is imported where it is asked, since the command line needs the options alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from ogive.core.checks import python_only
from ogive.errors import UnsupportedError
from ogive.trust.base import Traffic, TrustOptions, check_classes_named

if TYPE_CHECKING:
    from ogive.privacy import Adjacency
    from ogive.queries import Kind, Query
    from ogive.queries.labels import ServedQuery
    from ogive.trust.secagg.terms import AggregationTerms

COLLUDING = 1
"""How many parties may collude by default: one, which reads the result and knows its own noise."""


@dataclass(frozen=True)
class SecAggOptions(TrustOptions):
    """How many parties there are, and how many of them may leave or collude.

    Fields:
        parties: Number of organizations, at least two, to which one table is dealt.
        colluding: How many parties may share all that they know, or read the result.
        dropouts: How many parties may leave before the end.
        threshold: How many parties must help to open the sum; None for the smallest safe number.

    Raises:
        ParameterError: a number is out of range, or the numbers do not fit together; the message says what would.
    """

    name: ClassVar[str] = "secagg"
    summary: ClassVar[str] = "several organizations, whose answers are seen only as a sum"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear"})
    limits: ClassVar[str] = "secure aggregation computes only sums"

    parties: int
    colluding: int = COLLUDING
    dropouts: int = 0
    threshold: int | None = python_only(None)

    def __post_init__(self) -> None:
        _ = self.terms  # refuses what does not fit

    @cached_property
    def terms(self) -> AggregationTerms:
        """What the parties agree on beforehand, under the names that ledgers store."""
        from ogive.trust.secagg.terms import AggregationTerms

        return AggregationTerms(self.parties, self.colluding, self.dropouts, self.threshold)

    @property
    def assumption(self) -> str:
        return self.terms.assumption()

    @property
    def adding(self) -> int:
        return self.parties

    @property
    def honest(self) -> int:
        return self.terms.honest

    def refusal(self, query: Query) -> str | None:
        """Why the query is refused: its answers do not add up, or its noise cannot be drawn in shares."""
        from ogive.noise.laws import largest_share, share_of

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
            return "the noise of this many parties might not fit in 64 bits; use a larger epsilon or rho"
        return None

    def traffic(self, queries: Sequence[ServedQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        from ogive.queries import LabelsQuery
        from ogive.trust.secagg.terms import traffic

        # labels were refused
        added = [query for query in queries if not isinstance(query, LabelsQuery)]
        return (traffic(self.terms, added, adjacency),)
