"""One release by several parties: their vectors, their noise, and one secure aggregation for every measurement."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.crypto.aggregation import Round
from ogive.crypto.streams import UInt64
from ogive.errors import DataError, PeerError
from ogive.noise import DerivedNodes
from ogive.noise.shares import ShareNodes
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, Answer, Int64, LinearQuery, Query
from ogive.records import Records
from ogive.trust.parties import naming, party_sums
from ogive.trust.secagg.modulus import largest_share
from ogive.trust.secagg.session import Enrolment, Session
from ogive.trust.secagg.terms import AggregationTerms


class SecAggOpening:
    """One release, fixed to the parties' data, the adjacency and the secret.

    Noise is a function of the secret, so a release that was cut off goes on with the same noise; masks and keys are
    fresh for every measurement. Whose records are counted is settled at the first measurement and is the same for all.

    Args:
        parties: Their records.
        terms: How many may leave or collude.
        leaving: Party -> the round that it does not answer any more.
        adjacency: Of the release.
        secret: 32 bytes, from which each party's noise key is derived.
    """

    def __init__(
        self,
        parties: tuple[Records, ...],
        terms: AggregationTerms,
        leaving: Mapping[int, Round],
        adjacency: Adjacency,
        secret: bytes,
    ) -> None:
        self._parties = parties
        self._terms = terms
        self._leaving = dict(leaving)
        self._adjacency = adjacency
        self.secret = secret
        self._sums: dict[Aggregate, tuple[Int64, ...]] = {}
        self._enrolment = Enrolment(len(parties))
        self._included: tuple[int, ...] | None = None
        self._waiting: dict[Query, Session] = {}

    def answer(self, query: Query) -> Answer:
        """Open the sum of the parties' masked vectors.

        Raises:
            PeerError: so many parties have left that there is no sum, or one whose records are in earlier sums has.
            DataError: a party's numbers are so large that the sum might not fit.

        Privacy: `query.price(unit)` once per measurement, against whoever sees the sum and as many parties as the terms
            say may collude.
        """
        assert isinstance(query, LinearQuery)
        included, _ = self._collect(query)
        total, totals = self._waiting.pop(query).open()
        values = total.view(np.int64).reshape(self._shape(query))
        return Answer(values, totals or None, adding=len(included), honest=self._terms.honest)

    def context(self, query: Query) -> bytes:
        """Digest of all that fixes the noise of a measurement, and of whose records are in it; nothing is opened."""
        assert isinstance(query, LinearQuery)
        included, contexts = self._collect(query)
        return hashlib.sha256(b"".join(contexts) + np.asarray(included, "<u4").tobytes()).digest()

    def _collect(self, query: LinearQuery) -> tuple[tuple[int, ...], list[bytes]]:
        """Bring a measurement to where who is in the sum is settled and nothing is open.

        Returns:
            Who is in the sum, and what fixes each party's noise; the session waits to be opened.
        """
        contexts = [self._own_context(query, number) for number in range(len(self._parties))]
        if query not in self._waiting:
            session = self._session(query, contexts)
            included = session.collect()
            if self._included is not None and included != self._included:
                gone = sorted(set(self._included) - set(included))
                raise PeerError(
                    f"party {gone[0]} left after its records were in a sum of this release; a sum without them would "
                    "tell them apart, so the release stops; start a new one"
                )
            self._included = included
            # by the query, not by its context: points of one measurement share its noise, and are other sums
            self._waiting[query] = session
        assert self._included is not None
        return self._included, contexts

    def _shape(self, query: LinearQuery) -> tuple[int, ...]:
        return query.measure(np.zeros_like(self._aggregates(query.aggregate)[0])).shape

    def _session(self, query: LinearQuery, contexts: list[bytes]) -> Session:
        sums = self._aggregates(query.aggregate)
        laws = [level.law for level in query.levels]
        most = largest_share(laws, parties=len(self._parties), honest=self._terms.honest)
        # of all parties: where one comes back with other records, nobody's noise is what it was
        context = b"".join(contexts)
        vectors = {}
        declared = {}
        for number in range(len(self._parties)):
            if self._included is None or number + 1 in self._included:
                vectors[number + 1] = self._vector(query, context, number, most)
                declared[number + 1] = query.totals(sums[number], Adjacency.REPLACE) or ()
        opened = query.totals(sums[0], self._adjacency) or ()
        settings = self._terms.settings(
            study=self._study(query),
            parties=self._enrolment.public(),
            server=self._enrolment.server.public_key().public_bytes_raw(),
            length=int(np.prod(self._shape(query))),
            totals=len(opened),
        )
        return Session(settings, self._enrolment, vectors, declared=declared, leaving=self._leaving)

    def _vector(self, query: LinearQuery, context: bytes, number: int, most: int) -> UInt64:
        """What one party adds: its exact integers and its share of the noise, modulo 2^64; shape (length,)."""
        exact = query.measure(self._aggregates(query.aggregate)[number])
        with naming(number, len(self._parties)):
            if exact.size and max(int(exact.max()), -int(exact.min())) > most:
                raise DataError(
                    f"its numbers go beyond {most}, so that the sum of all parties might not fit in 64 bits"
                )
        key = HKDF(
            hashes.SHA256(), KEY_BYTES, salt=None, info=b"ogive secagg\nnoise" + number.to_bytes(8, "big")
        ).derive(self.secret)
        noise = query.noise(ShareNodes(DerivedNodes(key, context), self._terms.honest))
        return np.ascontiguousarray(exact + noise).view(np.uint64).reshape(-1)

    def _own_context(self, query: LinearQuery, number: int) -> bytes:
        """Digest of one party's part of a measurement."""
        terms = self._terms
        found = hashlib.sha256(b"ogive secure aggregation 2\n")
        for value in (terms.parties, terms.honest, number):
            found.update(value.to_bytes(8, "big"))
        found.update(query.digest(self._aggregates(query.aggregate)[number], self._adjacency))
        return found.digest()

    def _study(self, query: LinearQuery) -> bytes:
        """Digest of what is public about a measurement."""
        public: dict[str, Any] = {
            "adjacency": self._adjacency.value,
            "levels": [[level.nodes, level.law.to_dict()] for level in query.levels],
            "method": query.method,
            "shape": self._shape(query),
        }
        return hashlib.sha256(json.dumps(public, sort_keys=True).encode()).digest()

    def _aggregates(self, aggregate: Aggregate) -> tuple[Int64, ...]:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = party_sums(self._parties, aggregate)
        return self._sums[aggregate]
