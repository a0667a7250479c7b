"""Reports that were really collected: every owner randomized their own record, and this process saw no record.

Roles: as for `Local`, which simulates the owners; here they answered a description, and an aggregator added their
reports up. A release from a collection is post-processing of what owners gave away: it costs them nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ogive.errors import ParameterError, UnsupportedError
from ogive.local.collection import Collection
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Kind, ReportsQuery
from ogive.trust.base import Opening, TrustModel, TrustOptions

FEWEST = 2
"""Reports below which nothing can be said of their error."""


@dataclass(frozen=True)
class CollectedOptions(TrustOptions):
    """What is known of a collection before anything is estimated.

    Fields:
        collection: Says how many people were asked, and how many reported so far.
    """

    name: ClassVar[str] = "local"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "here are reports"
    instead: ClassVar[str] = "ask what their description asked"

    collection: Collection

    @property
    def assumption(self) -> str:
        """Whom one has to trust: for privacy nobody, for the answer those who report."""
        asked = self.collection.description.participants
        return (
            "Nobody had to be trusted with a record: every participant's own device randomized it, and only the report "
            f"was sent. {self.collection.accepted} of {asked} participants reported, and that they told the truth is "
            "assumed."
        )


class Collected(TrustModel):
    """The reports of people who answered one description.

    Args:
        collection: What their reports add up to.

    Raises:
        ParameterError: it is no collection.
    """

    options_type = CollectedOptions

    def __init__(self, collection: Collection) -> None:
        if not isinstance(collection, Collection):
            raise ParameterError(f"Collected takes a Collection of reports, got {type(collection).__name__}")
        self.options = CollectedOptions(collection)
        self.collection = collection

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One participant, who sends one report."""
        return PrivacyUnit(adjacency)

    def data_digest(self) -> bytes:
        """SHA-256 of the description and of all that was added up."""
        return self.collection.digest()

    def count(self) -> int:
        """Participants who were asked; what is asked was designed for so many, whoever answers."""
        return self.collection.description.participants

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _CollectedOpening:
        """Go on with a release; nothing is drawn, since all noise is in the reports."""
        return _CollectedOpening(self.collection, secret)


class _CollectedOpening(Opening[ReportsQuery]):
    """One release of what reports add up to."""

    def __init__(self, collection: Collection, secret: bytes) -> None:
        self._collection = collection
        self.secret = secret

    def answer(self, query: ReportsQuery) -> Answer:
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

    def context(self, query: ReportsQuery) -> bytes:
        """Digest of the description and of all that was added up."""
        self._check(query)
        return self._collection.digest()

    def _check(self, query: ReportsQuery) -> None:
        asked = self._collection.description
        same = (query.rows.domain, query.oracle, query.rounding) == (asked.domain, asked.oracle, asked.rounding)
        if not same:
            raise UnsupportedError(
                "these reports answer another question than this statistic asks; estimate what the description is for"
            )
