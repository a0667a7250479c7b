"""No privacy: exact answers. The oracle of the tests, and a way to look at one's own data."""

from __future__ import annotations

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency
from ogive.queries import Answer, CuratorQuery
from ogive.records import Records
from ogive.trust.base import Opening
from ogive.trust.clear.options import ClearOptions
from ogive.trust.table import SingleTable


class Clear(SingleTable):
    """Answers every query exactly. Nothing it returns may be published.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column with the person's identifier, if a person may have several records. The guarantee is then for
            persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
    """

    options_type = ClearOptions

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> _ClearOpening:
        """Start a release without noise; the source stays untouched."""
        return _ClearOpening(self.records, adjacency)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _ClearOpening:
        """The same as `open`: there is no noise to continue."""
        return _ClearOpening(self.records, adjacency)


class _ClearOpening(Opening[CuratorQuery]):
    secret = b""

    def __init__(self, records: Records, adjacency: Adjacency) -> None:
        self._records = records
        self._adjacency = adjacency

    def answer(self, query: CuratorQuery) -> Answer:
        sums = self._records.aggregate(query.aggregate)
        return Answer(query.answer(sums, None), query.totals(sums, self._adjacency), noisy=False)

    def context(self, query: CuratorQuery) -> bytes:
        return query.digest(self._records.aggregate(query.aggregate), self._adjacency)
