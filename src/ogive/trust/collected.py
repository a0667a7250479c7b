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
from ogive.provenance import trust_statement
from ogive.queries import Answer, Kind, ReportsQuery
from ogive.trust.base import Opening, TrustModel, TrustOptions

FEWEST = 2
"""Reports below which nothing can be said of their error."""


@dataclass(frozen=True)
class CollectedOptions(TrustOptions):
    """What is known of a collection before anything is estimated."""

    name: ClassVar[str] = "local"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "only randomized reports were collected"
    instead: ClassVar[str] = "estimate what their description asked for"

    collection: Collection

    @property
    def assumption(self) -> str:
        """Who holds the records: the participants, who are trusted to report truthfully."""
        asked = self.collection.description.participants
        return trust_statement(
            holds="Each participant holds their own record, and their own device randomized it.",
            sees="Everyone else sees only the randomized report that was sent. "
            f"{self.collection.accepted} of {asked} participants reported.",
            assumed="Nobody is trusted with another's record. Participants are assumed to report truthfully.",
        )


class Collected(TrustModel):
    """The reports of people who answered one description.

    Args:
        collection: The collection that holds their reports.

    Raises:
        ParameterError: the argument is not a collection.
    """

    options_type = CollectedOptions
    made_of = "a collection of reports, as in `ogive.{name}(collection)`"

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
        """Number of participants who were asked. The question is designed for this number, however many answer."""
        return self.collection.description.participants

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _CollectedOpening:
        """Continue a release; nothing is drawn, since all noise is in the reports."""
        return _CollectedOpening(self.collection, secret)


class _CollectedOpening(Opening[ReportsQuery]):
    """One release of what reports add up to."""

    def __init__(self, collection: Collection, secret: bytes) -> None:
        self._collection = collection
        self.secret = secret

    def answer(self, query: ReportsQuery) -> Answer:
        """What the reports add up to.

        Privacy: none is lost but by the reports themselves, `query.price(unit)` for every participant.
        """
        self._check(query)
        counts = self._collection.counts
        if counts.accepted < FEWEST:
            raise UnsupportedError(
                f"at least {FEWEST} reports are needed to tell the error of an estimate, "
                f"but {counts.accepted} were accepted and {counts.refused} refused"
            )
        return Answer(self._collection.sums, (counts.accepted,))

    def digest_of(self, query: ReportsQuery) -> bytes:
        """Digest of the description and of all that was added up."""
        self._check(query)
        return self._collection.digest()

    def _check(self, query: ReportsQuery) -> None:
        asked = self._collection.description
        if (query.rows.domain, query.oracle, query.rounding) != (asked.domain, asked.oracle, asked.rounding):
            raise UnsupportedError(
                "these reports answer another question than this statistic asks; estimate the statistic of the "
                "description"
            )
