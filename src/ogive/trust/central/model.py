"""A trusted curator: one party sees all records and adds the noise.

Roles: the curator holds the records and the noise key; the analyst sees answers only.
Noise is a deterministic function of the release's secret key, a digest of everything that
fixes the release (data snapshot, binning, strategy, adjacency) and the node, so asking
again returns the same integers and never averages the noise away.
"""

from __future__ import annotations

from typing import Protocol

from ogive.arrays import Int64
from ogive.noise import DerivedNodes
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, Answer, CuratorQuery
from ogive.trust.base import Opening
from ogive.trust.central.options import CentralOptions
from ogive.trust.table import SingleTable


class Central(SingleTable):
    """A trusted curator, who sees every record and adds the noise.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column with the person's identifier, if a person may have several records. The guarantee is then for
            persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
    """

    options_type = CentralOptions

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> CentralOpening:
        """Continue a release from its noise key."""
        return CentralOpening(self.records, adjacency, secret)


class Aggregated(Protocol):
    """What exact sums can be asked of: records, or sums that somebody made of them."""

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The exact integers that a query needs.

        Raises:
            DataError: they cannot be had.
        """
        ...


class CentralOpening(Opening[CuratorQuery]):
    """One release by a curator, fixed to its data, adjacency and noise key."""

    def __init__(self, records: Aggregated, adjacency: Adjacency, key: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = key
        self._sums: dict[Aggregate, Int64] = {}

    def answer(self, query: CuratorQuery) -> Answer:
        """Exact sums plus the release's own noise.

        Privacy: `query.price(unit)` once per measurement, however often it is opened.
        """
        sums = self._aggregate(query.aggregate)
        nodes = DerivedNodes(self.secret, self.context(query))
        return Answer(query.answer(sums, nodes), query.totals(sums, self._adjacency))

    def context(self, query: CuratorQuery) -> bytes:
        return query.digest(self._aggregate(query.aggregate), self._adjacency)

    def _aggregate(self, aggregate: Aggregate) -> Int64:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = self._records.aggregate(aggregate)
        return self._sums[aggregate]
