"""Secure aggregation: several parties, of whose answers only the sum is seen.

Roles: each party holds records of its own; the server sees one masked vector a party; the analyst sees the sum.

    party     adds up its own records (`measure` of its aggregate, integers) and its share of the noise, then masks
    server    adds up what it gets, modulo 2^64, and takes away the masks that are left with what parties tell it

A vector that lacks even one honest party's is uniformly distributed. The noise is whole once `honest` parties have
added theirs; the others' comes on top, so fewer honest parties mean more noise, by the number in the sum / honest in
variance, and never a higher price.

What is simulated here: all parties live in one process, which derives their noise from one secret of the release, so
that a release that was cut off goes on with the same noise. The messages are those of `ogive.crypto.aggregation`.

A release has one set of parties for all its measurements: one whose records are in some sums and not in others would
not be hidden by the noise. Every party notes that set before it confirms it and confirms no other, whatever session the
server begins. One that leaves between two measurements ends the release.

Source:
    Bonawitz et al. 2017 for the protocol; `docs/proofs/noise_shares.md` for the noise; `ecdf.md`, section 8, rule 8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from math import prod
from typing import Any, Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import UInt64
from ogive.core.checks import Progress
from ogive.crypto.aggregation import MOST_PARTIES, AggregationParty, AggregationServer, AggregationSettings, Round
from ogive.crypto.domains import derived_key
from ogive.errors import DataError, ParameterError, PeerError, quoted
from ogive.privacy import Adjacency
from ogive.queries import Answer, LinearQuery
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust import base, secagg, table
from ogive.trust.secagg.terms import (
    AggregationTerms,
    Contribution,
    of_no_records,
    opened_totals,
    public_bytes,
    shape_of,
)

# --- One secure aggregation in one process: the messages are real, the network is not


class Enrolment:
    """Signing keys of the server and of this many parties, who have to know each other's public ones."""

    def __init__(self, parties: int) -> None:
        self.server = Ed25519PrivateKey.generate()
        self.parties = tuple(Ed25519PrivateKey.generate() for _ in range(parties))


def new_notes() -> Callable[[bytes, bytes], bytes | None]:
    """What one party notes while the release is open: which steps it answered, and who is in the sums of a release.

    A party that runs by itself keeps it on disk.
    """
    values: dict[bytes, bytes] = {}

    def note(token: bytes, value: bytes) -> bytes | None:
        earlier = values.get(token)
        values.setdefault(token, value)
        return earlier

    return note


class Session:
    """The parties' vectors on their way to a sum, which is opened last.

    Parties are numbered from 1. `vector` makes that of a party, noise included; those that declared totals take part;
    `leaving` has the round that a party does not answer any more; notes are of all sessions of the release.
    """

    def __init__(
        self,
        settings: AggregationSettings,
        enrolment: Enrolment,
        vector: Callable[[int], UInt64],
        *,
        declared: Mapping[int, Sequence[int]],
        leaving: Mapping[int, Round],
        notes: Mapping[int, Callable[[bytes, bytes], bytes | None]],
    ) -> None:
        self._server = AggregationServer(settings, key=enrolment.server)
        self._parties = {
            number: AggregationParty(
                settings, number=number, key=enrolment.parties[number - 1], declared=totals, note=notes[number]
            )
            for number, totals in declared.items()
        }
        self._vector = vector
        self._leaving = leaving
        self._confirmed = settings.confirmed
        self._expected: tuple[int, ...] = tuple(self._parties)

    def collect(self) -> tuple[int, ...]:
        """Run the rounds up to the masked vectors: the parties in the sum are then fixed, and the sum is not open."""
        self._play(Round.KEYS, lambda number: self._parties[number].advertise())
        self._play(Round.SHARES, lambda number: self._parties[number].share_keys(self._server.message(number)))
        self._play(
            Round.INPUT, lambda number: self._parties[number].mask(self._server.message(number), self._vector(number))
        )
        return self._server.included

    def open(self) -> tuple[UInt64, tuple[int, ...]]:
        """Run the other rounds: the sum of the vectors modulo 2^64, shape (length,), and the sums of opened totals."""
        if self._confirmed:
            self._play(Round.CONFIRM, lambda number: self._parties[number].confirm(self._server.message(number)))
        self._play(Round.UNMASK, lambda number: self._parties[number].unmask(self._server.message(number)))
        return self._server.sum(), self._server.totals

    def _play(self, round: Round, answer: Callable[[int], bytes]) -> None:
        for number in self._expected:
            if self._leaving.get(number, round + 1) > round:
                self._server.receive(answer(number))
        self._expected = self._server.close_round()


# --- One release by several parties, with one secure aggregation for every measurement


def gone(leaving: Mapping[int, Round]) -> frozenset[int]:
    """The parties that leave before they send their vectors, given the first round that each does not answer."""
    return frozenset(number for number, round in leaving.items() if round <= Round.INPUT)


class SecAggOpening(base.Opening[LinearQuery]):
    """One release, fixed to the parties' data, the adjacency and the secret, which gives each party its noise key.

    Noise is a function of the secret, so a release that was cut off goes on with the same noise; masks and keys are
    fresh for every measurement. Whose records are counted is settled at the first measurement and is the same for all:
    the parties themselves confirm no other list. The records of a party that leaves before its vector are not read.
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
        self._notes = {number: new_notes() for number in range(1, len(parties) + 1)}
        self._included: tuple[int, ...] | None = None
        self._waiting: dict[LinearQuery, Session] = {}

    def answer(self, query: LinearQuery) -> Answer:
        """Open the sum of the parties' masked vectors.

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
        staying = self._staying()
        # of all parties: where one comes back with other records, nobody's noise is what it was
        context = b""
        for number in staying:
            with self._naming(number):
                context += self._parties[number].context(query)
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
            release=derived_key(self.secret, b"ogive secagg\nrelease"),
            parties=[key.public_key().public_bytes_raw() for key in self._enrolment.parties],
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
        key = derived_key(self.secret, b"ogive secagg\nnoise" + number.to_bytes(8, "big"))
        with self._naming(number):
            return self._parties[number].vector(query, key=key, context=context)

    def _naming(self, number: int) -> AbstractContextManager[None]:
        return table.naming(number - 1, len(self._parties))

    def _study(self, query: LinearQuery) -> bytes:
        about = b"ogive secure aggregation study 1\n" + derived_key(self.secret, b"ogive secagg\nrelease")
        return hashlib.sha256(about + public_bytes(query, self._adjacency)).digest()


# --- The trust model


class SecAgg(table.SeveralTables):
    """Several parties who add up masked vectors; only the sum is revealed.

    Args:
        parties: The records of each of at least two parties, in any form that `Records.of` reads. A party may have no
            records. No person may be in two parties.
        colluding: Number of parties that may share all they know with each other and with the server; one by default.
            One is the least if a party may read the release, since a party knows its own noise. 0 needs less noise and
            protects only against outsiders.
        dropouts: Number of parties that may leave before the end; none by default. More colluding or leaving parties
            mean more noise from each party.
        threshold: Number of parties needed to reveal the sum. By default the smallest number that is safe against a
            malicious server, or the number of parties sure to stay, if that is smaller.
        leaving: For tests and demonstrations: party, numbered from 1 -> the step at which it stops answering: "keys",
            "shares", "input", "confirm" or "unmask". Parties that leave before "confirm" are not in the sum.
        person: Column with the person's identifier, if a person may have several records; the same at every party.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.

    Raises:
        ParameterError: there are fewer than two parties, two are the same, or too many may leave or collude.
        DataError: a party's records cannot be read.

    Example:
        >>> import numpy as np, ogive
        >>> sites = [{"age": np.random.default_rng(seed).integers(18, 90, size=2_000)} for seed in range(5)]
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> trust = ogive.SecAgg(sites, dropouts=1)
        >>> curve = ogive.release(age, trust=trust, privacy=ogive.PureDP(1))
        >>> curve.total
        10000
    """

    options_type = secagg.SecAggOptions
    made_of = (
        "the records of each party, as in `ogive.{name}([north, south])`; to divide one table among simulated parties "
        "write `trust=ogive.Simulation(ogive.{name}, parties=3)`"
    )

    def __init__(
        self,
        parties: Sequence[Any],
        *,
        colluding: int = secagg.COLLUDING,
        dropouts: int = 0,
        threshold: int | None = None,
        leaving: Mapping[int, str] | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
        na_values: NaValues = (),
    ) -> None:
        if isinstance(parties, int):
            raise ParameterError(
                "`parties` must be a list with the records of each party; to divide one table among simulated "
                f"parties write `trust=ogive.Simulation(ogive.SecAgg, parties={parties})`"
            )
        if not isinstance(parties, list | tuple) or not 2 <= len(parties) <= MOST_PARTIES:
            raise ParameterError(
                f"`parties` must be a list of the records of 2 to {MOST_PARTIES} parties, for example "
                "[north, south]; for a single one use Central"
            )
        self.options: secagg.SecAggOptions = secagg.SecAggOptions(len(parties), colluding, dropouts, threshold)
        self.leaving = _rounds(leaving or {}, len(parties))
        self.parties = table.read_parties(
            parties, person=person, max_rows_per_person=max_rows_per_person, na_values=na_values
        )

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table whose rows are divided among the parties by a public hash, where they are enough."""
        return cls(
            Records.of(data).bounded(person, max_rows_per_person).split(options.parties),
            person=person,
            max_rows_per_person=max_rows_per_person,
            **cls.arguments(options),
        )

    @property
    def absent(self) -> frozenset[int]:
        """Parties whose vectors are missing."""
        return gone(self.leaving)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> SecAggOpening:
        """Continue a release from its secret."""
        return SecAggOpening(self.parties, self.options.terms, self.leaving, adjacency, secret)


def _rounds(leaving: Mapping[int, str], parties: int) -> dict[int, Round]:
    steps = {round.name.lower(): round for round in Round}
    for party, step in leaving.items():
        if party not in range(1, parties + 1) or step not in steps:
            raise ParameterError(
                f"`leaving` must be like {{3: 'input'}}, with parties from 1 to {parties} and one of the steps "
                f"{', '.join(steps)}; got {quoted(party)}: {quoted(step)}"
            )
    return {party: steps[step] for party, step in leaving.items()}
