"""No privacy: exact answers. The oracle of the tests, and a way to look at one's own data."""

from __future__ import annotations

from typing import Any, ClassVar

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, CuratorQuery, Query
from ogive.records import Records
from ogive.trust.base import Opening, needs_owners


class Clear:
    """Answers every query exactly. Nothing it returns may be published.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column that says whose record it is, where a person may have several; the guarantee is
            then for persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
    """

    name: ClassVar[str] = "clear"
    private: ClassVar[bool] = False
    assumption: ClassVar[str] = (
        "Not private: the answers are exact and must not leave the people who may see the records."
    )

    def __init__(self, data: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> None:
        self.records = Records.of(data).bounded(person, max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record, or one person where a person column was named."""
        return PrivacyUnit(adjacency, self.records.person, self.records.max_rows_per_person)

    def count(self) -> int:
        """Records, after bounding."""
        return self.records.count()

    def refusal(self, query: Query) -> str | None:
        """Nothing is refused but what only records' owners can answer."""
        return needs_owners(query)

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release without noise; the source stays untouched."""
        return _ClearOpening(self.records, adjacency)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """The same as `open`: there is no noise to go on with."""
        return _ClearOpening(self.records, adjacency)


class _ClearOpening:
    secret = b""

    def __init__(self, records: Records, adjacency: Adjacency) -> None:
        self._records = records
        self._adjacency = adjacency

    def answer(self, query: Query) -> Answer:
        assert isinstance(query, CuratorQuery)
        sums = self._records.aggregate(query.aggregate)
        return Answer(query.answer(sums, None), query.totals(sums, self._adjacency), noisy=False)

    def context(self, query: Query) -> bytes:
        return query.digest(self._records.aggregate(query.aggregate), self._adjacency)
