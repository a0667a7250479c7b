"""One party's part of a release: what it adds up of its own records, its share of the noise, and what fixes both."""

from __future__ import annotations

import hashlib

import numpy as np

from ogive.core.arrays import Int64, UInt64
from ogive.errors import DataError
from ogive.noise import DerivedNodes
from ogive.noise.laws import ShareNodes
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, CurveQuery, LinearQuery
from ogive.records import Records
from ogive.trust.modulus import largest_share
from ogive.trust.secagg.terms import AggregationTerms


class Contribution:
    """What one party contributes to the measurements of one release."""

    def __init__(self, records: Records, number: int, terms: AggregationTerms, adjacency: Adjacency) -> None:
        self._records = records
        self._number = number
        self._terms = terms
        self._adjacency = adjacency
        self._sums: dict[Aggregate, Int64] = {}

    def sums(self, aggregate: Aggregate) -> Int64:
        """The exact sums of the party's records."""
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = self._records.aggregate(aggregate)
        return self._sums[aggregate]

    def declared(self, query: LinearQuery) -> tuple[int, ...]:
        """The party's numbers of records, which it commits to; opened where the adjacency makes them public."""
        return query.totals(self.sums(query.aggregate), Adjacency.REPLACE) or ()

    def context(self, query: LinearQuery) -> bytes:
        """Digest of the party's part of a measurement."""
        found = hashlib.sha256(b"ogive secure aggregation 3\n")
        for value in (self._terms.parties, self._terms.honest, self._number):
            found.update(value.to_bytes(8, "big"))
        found.update(query.digest(self.sums(query.aggregate), self._adjacency))
        return found.digest()

    def vector(self, query: LinearQuery, *, key: bytes, context: bytes) -> UInt64:
        """The party's exact integers and its share of the noise, modulo 2^64; shape (length,).

        The noise follows from its key, 32 bytes, and from the context.
        """
        exact = query.measure(self.sums(query.aggregate))
        laws = [level.law for level in query.levels]
        most = largest_share(laws, parties=self._terms.parties, honest=self._terms.honest)
        if exact.size and max(int(exact.max()), -int(exact.min())) > most:
            raise DataError(f"its numbers go beyond {most}, so that the sum of all parties might not fit in 64 bits")
        noise = query.noise(ShareNodes(DerivedNodes(key, context), self._terms.honest))
        return np.ascontiguousarray(exact + noise).view(np.uint64).reshape(-1)


def of_no_records(query: LinearQuery) -> Int64:
    """The sums of no records, shape of the aggregate: what is public about a query's answer follows from them."""
    return np.zeros(query.aggregate.shape, np.int64)


def shape_of(query: LinearQuery) -> tuple[int, ...]:
    """The shape of what is measured."""
    return query.measure(of_no_records(query)).shape


def public_bytes(query: LinearQuery, adjacency: Adjacency) -> bytes:
    """All that is public about a query, to be hashed.

    That is the digest of the query as of no records, and its points: other points make other sums with the same noise.
    """
    points = query.points if isinstance(query, CurveQuery) else None
    opened = b"all" if points is None else np.asarray(points, "<u8").tobytes()
    return query.digest(of_no_records(query), adjacency) + opened


def opened_totals(query: LinearQuery, adjacency: Adjacency) -> int:
    """How many totals every party opens with its vector."""
    return len(query.totals(of_no_records(query), adjacency) or ())
