"""One release by several parties: their vectors, their noise, and one secure aggregation for every measurement."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from math import prod

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.arrays import UInt64
from ogive.crypto.aggregation import Round
from ogive.errors import DataError, PeerError
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.queries import Answer, CurveQuery, LinearQuery
from ogive.records import Records
from ogive.trust.base import Opening
from ogive.trust.parties import naming
from ogive.trust.secagg.contribution import Contribution, of_no_records, opened_totals, shape_of
from ogive.trust.secagg.session import Enrolment, Notes, Session
from ogive.trust.secagg.terms import AggregationTerms


def gone(leaving: Mapping[int, Round]) -> frozenset[int]:
    """The parties that leave before they send their vectors, given the first round that each does not answer."""
    return frozenset(number for number, round in leaving.items() if round <= Round.INPUT)


class SecAggOpening(Opening[LinearQuery]):
    """One release, fixed to the parties' data, the adjacency and the secret.

    Noise is a function of the secret, so a release that was cut off goes on with the same noise; masks and keys are
    fresh for every measurement. Whose records are counted is settled at the first measurement and is the same for all:
    the parties themselves confirm no other list. The records of a party that leaves before its vector are not read.

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
        self._parties = {
            number: Contribution(records, number, terms, adjacency) for number, records in enumerate(parties, 1)
        }
        self._terms = terms
        self._leaving = dict(leaving)
        self._adjacency = adjacency
        self.secret = secret
        self._enrolment = Enrolment(len(parties))
        self._notes = {number: Notes() for number in range(1, len(parties) + 1)}
        self._included: tuple[int, ...] | None = None
        self._waiting: dict[LinearQuery, Session] = {}

    def answer(self, query: LinearQuery) -> Answer:
        """Open the sum of the parties' masked vectors.

        Raises:
            PeerError: so many parties have left that there is no sum, or one whose records are in earlier sums has.
            DataError: a party's numbers are so large that the sum might not fit, or there is no record at all and the
                number of records is public.

        Privacy: `query.price(unit)` once per measurement, against whoever sees the sum and as many parties as the terms
            say may collude.
        """
        included, _ = self._collect(query)
        total, totals = self._waiting.pop(query).open()
        values = total.view(np.int64).reshape(shape_of(query))
        return Answer(values, totals or None, adding=len(included), honest=self._terms.honest)

    def context(self, query: LinearQuery) -> bytes:
        """Digest of all that fixes the noise of a measurement, and of whose records are in it; nothing is opened."""
        included, context = self._collect(query)
        return hashlib.sha256(context + np.asarray(included, "<u4").tobytes()).digest()

    def _collect(self, query: LinearQuery) -> tuple[tuple[int, ...], bytes]:
        """Run a session until the parties in the sum are fixed, before the sum is opened.

        Returns:
            Who is in the sum, and what fixes its parties' noise; the session waits to be opened.
        """
        staying = self._staying()
        # of all parties: where one comes back with other records, nobody's noise is what it was
        context = b"".join(self._own_context(query, number) for number in staying)
        if query not in self._waiting:
            session = self._session(query, staying, context)
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
        return self._included, context

    def _staying(self) -> tuple[int, ...]:
        """Numbers of the parties whose vectors will come; the records of the others are not read."""
        if self._included is not None:
            return self._included
        without = gone(self._leaving)
        return tuple(number for number in range(1, len(self._parties) + 1) if number not in without)

    def _session(self, query: LinearQuery, staying: tuple[int, ...], context: bytes) -> Session:
        nothing = query.totals(of_no_records(query), Adjacency.REPLACE) or ()
        # one that leaves before its vector commits to something too, which is never opened
        declared = dict.fromkeys(range(1, len(self._parties) + 1) if self._included is None else staying, nothing)
        for number in staying:
            with self._naming(number):
                declared[number] = self._parties[number].declared(query)
        opened = opened_totals(query, self._adjacency)
        if opened and not any(map(any, declared.values())):
            raise DataError("no party has any records; where their number is public, a release needs at least one")
        settings = self._terms.settings(
            study=self._study(query),
            release=self._derived(b"release"),
            parties=self._enrolment.public(),
            server=self._enrolment.server.public_key().public_bytes_raw(),
            length=prod(shape_of(query)),
            totals=opened,
        )
        return Session(
            settings,
            self._enrolment,
            lambda number: self._vector(query, context, number),
            declared=declared,
            leaving=self._leaving,
            notes=self._notes,
        )

    def _vector(self, query: LinearQuery, context: bytes, number: int) -> UInt64:
        key = self._derived(b"noise" + number.to_bytes(8, "big"))
        with self._naming(number):
            return self._parties[number].vector(query, key=key, context=context)

    def _naming(self, number: int) -> AbstractContextManager[None]:
        return naming(number - 1, len(self._parties))

    def _derived(self, purpose: bytes) -> bytes:
        """Derive 32 bytes for one purpose from the secret of the release."""
        return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=b"ogive secagg\n" + purpose).derive(self.secret)

    def _own_context(self, query: LinearQuery, number: int) -> bytes:
        with self._naming(number):
            return self._parties[number].context(query)

    def _study(self, query: LinearQuery) -> bytes:
        """Digest of the release and of all that is public about a measurement.

        Of the query as of no records, which is all of it but points: those make other sums with the same noise.
        """
        points = query.points if isinstance(query, CurveQuery) else None
        found = hashlib.sha256(b"ogive secure aggregation study 1\n" + self._derived(b"release"))
        found.update(query.digest(of_no_records(query), self._adjacency))
        found.update(b"all" if points is None else np.asarray(points, "<u8").tobytes())
        return found.digest()
