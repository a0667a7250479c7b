"""Reports that were really collected: every owner randomized their own record, and this process saw no record.

Roles: as for `Local`, which simulates the owners; here they answered a description, and an aggregator added their
reports up. A release from a collection is post-processing of what owners gave away: it costs them nothing more.
"""

from __future__ import annotations

from typing import ClassVar

from ogive.errors import ParameterError, UnsupportedError
from ogive.local.collection import Collection
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Query, ReportsQuery
from ogive.trust.base import Opening

FEWEST = 2
"""Reports below which nothing can be said of their error."""


class Collected:
    """The reports of people who answered one description.

    Args:
        collection: What their reports add up to.

    Raises:
        ParameterError: it is no collection.
    """

    name: ClassVar[str] = "local"
    private: ClassVar[bool] = True

    def __init__(self, collection: Collection) -> None:
        if not isinstance(collection, Collection):
            raise ParameterError(f"Collected takes a Collection of reports, got {type(collection).__name__}")
        self.collection = collection

    @property
    def assumption(self) -> str:
        """Whom one has to trust: for privacy nobody, for the answer those who report."""
        asked = self.collection.description.participants
        return (
            "Nobody had to be trusted with a record: every participant's own device randomized it, and only the report "
            f"was sent. {self.collection.accepted} of {asked} participants reported, and that they told the truth is "
            "assumed."
        )

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One participant, who sends one report."""
        return PrivacyUnit(adjacency)

    def data_digest(self) -> bytes:
        """SHA-256 of the description and of all that was added up."""
        return self.collection.digest()

    def count(self) -> int:
        """Participants who were asked; what is asked was designed for so many, whoever answers."""
        return self.collection.description.participants

    def refusal(self, query: Query) -> str | None:
        """Everything but reports needs somebody who sees records."""
        if isinstance(query, ReportsQuery):
            return None
        return f"{query.method} needs somebody who sees records, and here are reports; ask what their description asked"

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release; nothing is drawn, since all noise is in the reports."""
        return _CollectedOpening(self.collection, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release."""
        return _CollectedOpening(self.collection, secret)


class _CollectedOpening:
    """One release of what reports add up to."""

    def __init__(self, collection: Collection, secret: bytes) -> None:
        self._collection = collection
        self.secret = secret

    def answer(self, query: Query) -> Answer:
        """What the reports add up to.

        Privacy: none is lost but by the reports themselves, `query.price(unit)` for every participant.

        Raises:
            UnsupportedError: they answer another question, or too few were accepted.
        """
        self._check(query)
        counts = self._collection.counts
        if counts.accepted < FEWEST:
            raise UnsupportedError(
                f"at least {FEWEST} reports are needed to tell the error of an estimate, "
                f"but {counts.accepted} were accepted and {counts.refused} refused"
            )
        return Answer(self._collection.sums, (counts.accepted,))

    def context(self, query: Query) -> bytes:
        """Digest of the description and of all that was added up."""
        self._check(query)
        return self._collection.digest()

    def _check(self, query: Query) -> None:
        assert isinstance(query, ReportsQuery)
        asked = self._collection.description
        same = (query.rows.domain, query.oracle, query.rounding) == (asked.domain, asked.oracle, asked.rounding)
        if not same:
            raise UnsupportedError(
                "these reports answer another question than this statistic asks; estimate what the description is for"
            )
