"""A trusted curator: one party sees all records and adds the noise.

Roles: the curator holds the records and the noise key; the analyst sees answers only.
Noise is a deterministic function of the release's secret key, a digest of everything that
fixes the release (data snapshot, binning, strategy, adjacency) and the node, so asking
again returns the same integers and never averages the noise away.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from ogive.noise import DerivedNodes
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Aggregate, Answer, CuratorQuery, Int64, Query
from ogive.records import Records
from ogive.trust.base import Opening, needs_owners


class Central:
    """A curator who sees every record, adds the noise and is trusted with both.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column that says whose record it is, where a person may have several; the guarantee is
            then for persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
    """

    name: ClassVar[str] = "central"
    private: ClassVar[bool] = True
    assumption: ClassVar[str] = (
        "The curator who made this release saw every record and knows the noise; "
        "everyone else learns only what is published."
    )

    def __init__(self, data: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> None:
        self.records = Records.of(data).bounded(person, max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record, or one person where a person column was named."""
        return PrivacyUnit(adjacency, self.records.person, self.records.max_rows_per_person)

    def data_digest(self) -> bytes:
        """SHA-256 of the records."""
        return self.records.digest()

    def count(self) -> int:
        """Records, after bounding."""
        return self.records.count()

    def refusal(self, query: Query) -> str | None:
        """A curator can answer every query but those for records' owners."""
        return needs_owners(query)

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release with a fresh noise key from the source."""
        return CentralOpening(self.records, adjacency, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its noise key."""
        return CentralOpening(self.records, adjacency, secret)


class Aggregated(Protocol):
    """What exact sums can be asked of: records, or sums that somebody made of them."""

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs.

        Raises:
            DataError: they cannot be had.
        """
        ...


class CentralOpening:
    """One release by a curator, fixed to its data, adjacency and noise key."""

    def __init__(self, records: Aggregated, adjacency: Adjacency, key: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = key
        self._sums: dict[Aggregate, Int64] = {}

    def answer(self, query: Query) -> Answer:
        """Exact sums plus the release's own noise.

        Privacy: `query.price(unit)` once per measurement, however often it is opened.
        """
        assert isinstance(query, CuratorQuery)
        sums = self._aggregate(query.aggregate)
        nodes = DerivedNodes(self.secret, self.context(query))
        return Answer(query.answer(sums, nodes), query.totals(sums, self._adjacency))

    def context(self, query: Query) -> bytes:
        """Digest of all that fixes the noise of a measurement."""
        return query.digest(self._aggregate(query.aggregate), self._adjacency)

    def _aggregate(self, aggregate: Aggregate) -> Int64:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = self._records.aggregate(aggregate)
        return self._sums[aggregate]
