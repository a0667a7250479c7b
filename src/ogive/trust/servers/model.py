"""Non-colluding servers: clients upload shares once and leave, and the servers answer any number of questions.

Roles: a client holds one record (or an organization many); each of m servers holds one share of every upload and a
noise key of its own; the analyst sees the servers' noisy answers, which make sense only added up.

    client    shares the cell of its record between the servers, by comparison keys or as a table
    server    forms the set of clients with the others, finds out with them that every upload is that of one record,
              adds shares up, adds noise
    analyst   adds the servers' answers

Labels of teachers' votes two servers compute from their shares in garbled circuits, if both follow the protocol; see
`labeling`. Each of them learns which queries pass their check, and the analyst the labels.

A server learns how many uploads there are, and nothing else: each share by itself, and those of any m - 1 servers
together, look the same whatever the records are. Every server adds the whole noise, so any one honest server suffices
for the guarantee. Where fewer than m - 1 servers may collude, each adds the share of the noise that the others need.

What is simulated here: clients, servers and analyst live in one process, which derives the randomness of all from one
secret of the release, so that a release that was cut off goes on with the same uploads and the same noise. They
exchange bytes alone. Channels are taken to be authenticated and confidential, as TLS is: nothing here signs or seals.

Source:
    Barczewski, Mawass and Ramon for the protocol; Boyle, Gilboa and Ishai 2015 for the keys; Boneh, Boyle,
    Corrigan-Gibbs, Gilboa and Ishai 2021 for the verification; `docs/proofs/verified_uploads.md`.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from numbers import Number
from typing import Any, Self

import numpy as np

from ogive.core.arrays import Int64
from ogive.core.checks import Progress
from ogive.crypto.domains import HashDomain, derived_key, digest
from ogive.crypto.semi_honest import read_bits
from ogive.crypto.wire import Inbox, Reader, Suite
from ogive.errors import DataError, ParameterError, PeerError, ReleaseMismatchError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, Answer, LabelsQuery, LinearQuery
from ogive.queries.labels import NOT_ASKED, REFUSED, ServedQuery
from ogive.records import Records, contributions, missing_words
from ogive.trust.base import Opening
from ogive.trust.modulus import added, block_ends, check_range, signed
from ogive.trust.servers import ServersOptions
from ogive.trust.servers.clients import upload, upload_sums
from ogive.trust.servers.labeling import ANSWERED, Comparison, converse
from ogive.trust.servers.server import ANALYST, ANSWER, Preparation, Server, ServerState, opened_totals
from ogive.trust.servers.settings import AggregateUploads, Layout, decided, question_digest, question_number
from ogive.trust.servers.uploads import DEFAULT_TOLERATED, KEYS, SUMS, TABLES, Uploads
from ogive.trust.table import SeveralTables, naming, party_sums, read_parties

# --- The analyst reads what the servers answer, and finds labels from the halves of two of them

_DIGEST_BYTES = 32


def _read_answers(
    messages: Sequence[bytes], collected: AggregateUploads, *, session: bytes, question: bytes, longest: int
) -> dict[int, tuple[bytes, bytes]]:
    """From each server, in order, whom it counted, and the rest of its answer to a question."""
    servers = range(collected.uploads.servers)
    inbox = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=ANALYST, senders=servers)
    results: dict[int, tuple[bytes, bytes]] = {}
    for message in messages:
        header, body = inbox.read(
            message, kind=ANSWER, session=session, round=0, sequence=None, longest=2 * _DIGEST_BYTES + longest
        )
        if header.sender in results:
            raise PeerError(f"server {header.sender} answered twice")
        clients, answered = body[:_DIGEST_BYTES], body[_DIGEST_BYTES : 2 * _DIGEST_BYTES]
        if answered != question or header.sequence != question_number(question):
            raise PeerError(f"the answer of server {header.sender} is to another question")
        results[header.sender] = clients, body[2 * _DIGEST_BYTES :]
    missing = set(servers) - set(results)
    if missing:
        raise PeerError(f"server {min(missing)} has not answered")
    return {server: results[server] for server in servers}


def opened_labels(
    messages: Sequence[bytes], collected: AggregateUploads, *, session: bytes, query: LabelsQuery, adjacency: Adjacency
) -> Int64:
    """The labels, or why there are none, shape (queries,), from a message of each server."""
    question = question_digest(query, adjacency)
    queries, classes = query.ballots.shape
    digits = (classes - 1).bit_length()
    longest = queries + -(-query.max_answers * digits // 8)
    result = _read_answers(messages, collected, session=session, question=question, longest=longest)
    (counted, statuses, own), (also_counted, also_statuses, others) = (
        (clients, Reader(rest, f"answer of server {server}").array(queries, "<i1").astype(np.int64), rest[queries:])
        for server, (clients, rest) in result.items()
    )
    if counted != also_counted:
        raise PeerError("the servers did not count the same clients; their answers have no labels in common")
    if not (np.array_equal(statuses, also_statuses) and np.isin(statuses, [ANSWERED, REFUSED, NOT_ASKED]).all()):
        raise PeerError("the servers do not agree on which queries have labels")
    answered = np.flatnonzero(statuses == ANSWERED)
    if len(answered) > query.max_answers:
        raise PeerError(f"the servers answered {len(answered)} queries, and at most {query.max_answers} were asked for")
    halves = [read_bits(each, len(answered) * digits) for each in (own, others)]
    places = (halves[0] ^ halves[1]).reshape(len(answered), digits) @ (np.int64(1) << np.arange(digits))
    if (places >= classes).any():
        raise PeerError("the servers' halves make a label of no class; one of them did not follow the protocol")
    labels = statuses.copy()
    labels[answered] = places
    return labels


# --- One release between simulated clients, servers and an analyst, who exchange bytes
#
# Everybody's randomness follows from the secret of the release. One that goes on makes the same uploads again, and
# has to ask the same questions in the same order, so that every message is the one that was sent before: the material
# of a verification is never used for another. `release` asks so by itself; whoever chooses questions records them where
# `takes` says so.
#
# The analyst adds up what the servers answer, if all counted the same clients for the same question:
#
#     answer = digest of the set and of who is left out, 32 bytes | digest of the question, 32 | shares, u64 each
#              | where servers do not know them, shares of the numbers of records that are public, u64 each
#
# Noisy sums of shares must not wrap around their modulus: such a sum would be wrong, though never less private.

_CLIENTS = 1 << 14
_NUMBERS = 1 << 21
"""Clients, and numbers of all their tables, that one message holds at most; 16 MB are memory that is fast to reuse."""

_WORDS = {KEYS: "comparison keys", TABLES: "tables in shares", SUMS: "sums in shares"}

MOST_RECORDS = 10**12
"""Records of all organizations together."""


class ServersOpening(Opening[ServedQuery]):
    """One release, fixed to the parties' data, the adjacency and the secret, which gives everybody their randomness.

    Of one table each record is a client's own. `progress` is called with how many uploads were made or read, of how
    many.
    """

    replayed = True

    def __init__(
        self,
        parties: Sequence[Records],
        uploads: Uploads,
        adjacency: Adjacency,
        secret: bytes,
        *,
        progress: Progress | None,
    ) -> None:
        self._parties = parties
        self._uploads = uploads
        self._adjacency = adjacency
        self.secret = secret
        self._progress: Progress = progress if progress is not None else lambda done, whole: None
        # summed once: what a file holds may change while a release is open, the release may not
        self._aggregates: Callable[[Aggregate], tuple[Int64, ...]] = cache(partial(party_sums, parties))
        self._servers: dict[Aggregate, list[Server]] = {}
        self._cut_off = self._compared = False

    def answer(self, query: ServedQuery) -> Answer:
        """Add up the servers' noisy answers, or let two of them compute labels of votes that neither sees.

        Privacy: `query.price(unit)` once per measurement, against whoever sees the answers and at most all servers
            but one.
        """
        pooled = np.stack(self._aggregates(query.aggregate)).sum(axis=0)
        self._check(query)
        if self._cut_off:
            raise ReleaseMismatchError(
                "an earlier question of this release was cut off, and what follows must not meet what was sent for it; "
                "resume the release, or start a new one"
            )
        self._cut_off = True
        servers = self._collected(query)
        collected = servers[0].collected
        session = servers[0].session
        run([server.prepare(query) for server in servers])
        if isinstance(query, LabelsQuery):
            labelings = [server.label(query, self._adjacency) for server in servers]
            converse(*labelings)
            self._cut_off = False
            self._compared = True
            halves = [
                server.answer_labels(query, self._adjacency, each)
                for server, each in zip(servers, labelings, strict=True)
            ]
            labels = opened_labels(halves, collected, session=session, query=query, adjacency=self._adjacency)
            return Answer(labels, query.totals(pooled, self._adjacency), adding=len(servers))
        self._cut_off = False
        answers = [server.answer(query, self._adjacency) for server in servers]
        opened = opened_answer(answers, collected, session=session, query=query, adjacency=self._adjacency)
        return dataclasses.replace(opened, totals=query.totals(pooled, self._adjacency))

    def takes(self, query: ServedQuery) -> bool:
        """Whether clients upload, or uploads are verified anew; a resumed release repeats this in the same order."""
        servers = self._servers.get(query.aggregate)
        if servers is None:
            return True
        state, collected = servers[0].state, servers[0].collected
        assert state is not None
        return collected.uploads.verified and not np.isin(collected.layout.ends(block_ends(query)), state.ends).all()

    @property
    def left_out(self) -> int:
        return sum(servers[0].left_out for servers in self._servers.values())

    @property
    def uploaded(self) -> str:
        """What clients sent to how many servers, which the question and the options decide."""
        kinds = {servers[0].collected.uploads.kind: None for servers in self._servers.values()}
        sent = " and ".join(_WORDS[kind] for kind in kinds)
        count = len(self._parties)
        owners = f" by {count} organization{'s' if count > 1 else ''}" if self._uploads.organizations else ""
        compared = (
            " The two servers computed the labels from their shares and the noise of both in garbled circuits, which "
            "hide votes only if both servers follow the protocol (semi-honest)."
        )
        return f"Uploaded{owners} to {self._uploads.servers} servers: {sent}.{compared if self._compared else ''}"

    def context(self, query: ServedQuery) -> bytes:
        """Digest of the parties' sums, the question, and how it is answered; as secret as the data."""
        self._check(query)
        result = hashlib.sha256(b"ogive servers 2\n")
        settings = repr(self._decided(query.aggregate).digested).encode()
        result.update(len(settings).to_bytes(8, "big") + settings)
        for sums in self._aggregates(query.aggregate):
            result.update(query.digest(sums, self._adjacency))
        return result.digest()

    def _check(self, query: ServedQuery) -> None:
        """Refuse sums that might wrap around, before anybody pays for them."""
        collected = AggregateUploads(Layout(query.aggregate), self._decided(query.aggregate))
        records = query.aggregate.records(np.stack(self._aggregates(query.aggregate)).sum(axis=0))
        if isinstance(query, LabelsQuery):
            Comparison(query, records)
            return
        uploads = collected.uploads
        check_range(query, records=records, servers=uploads.servers, honest=uploads.honest, modulus=collected.modulus)

    def _collected(self, query: ServedQuery) -> list[Server]:
        """The servers that hold uploads of a query's aggregate, which clients make when it is first asked for."""
        aggregate = query.aggregate
        if aggregate not in self._servers:
            collected = AggregateUploads(Layout(aggregate), self._decided(aggregate))
            numbers = range(collected.uploads.servers)
            session = digest(
                HashDomain.SERVERS_SESSION, collected.study, *(self._key(b"nonce", n) for n in numbers), length=16
            )
            servers = [
                Server(
                    collected,
                    number,
                    session=session,
                    secret=self._key(b"noise" + collected.study, number),
                    random=_bytes_of(self._key(b"coins" + collected.study, number)),
                    state=ServerState(collected.study, session, number),
                    clients=_CLIENTS,
                    progress=self._progress,
                )
                for number in numbers
            ]
            for messages in self._messages(collected, session):
                for server, message in zip(servers, messages, strict=True):
                    server.receive(message)
            frozen = [server.freeze() for server in servers]
            for number, server in enumerate(servers):
                server.agree([names[number] for names in frozen if number in names])
            self._servers[aggregate] = servers
        return self._servers[aggregate]

    def _messages(self, collected: AggregateUploads, session: bytes) -> Iterator[list[bytes]]:
        """What clients upload, batch by batch, a message for each server."""
        layout, random = collected.layout, _bytes_of(self._key(b"clients" + collected.study))
        if collected.uploads.kind == SUMS:
            for batch, sums in enumerate(self._aggregates(layout.aggregate)):
                yield upload_sums(collected, layout.columns(sums), batch=batch, session=session, random=random)
            return
        columns = 1 if collected.tables is None else collected.tables.columns
        size = max(1, min(_CLIENTS, _NUMBERS // (columns * layout.vectors)))
        done = 0
        whole = sum(records.size for records in self._parties)
        added = np.zeros(layout.counted + layout.groups, np.int64)
        for batch, some in enumerate(contributions.pieces(self._contributions(layout.aggregate), size)):
            added += layout.added(some)
            yield upload(collected, some, batch=batch, session=session, random=random)
            done += len(some.cells)
            self._progress(done, whole)
        priced = layout.columns(np.stack(self._aggregates(layout.aggregate)).sum(axis=0))
        if not np.array_equal(added, np.delete(priced, np.arange(layout.counted, layout.cells))):
            raise DataError("the records changed while they were read; make a table of them that stays as it is")

    def _contributions(self, aggregate: Aggregate) -> Iterator[contributions.Contributions]:
        for number, records in enumerate(self._parties):
            with naming(number, len(self._parties)):
                yield from records.contributions(aggregate)

    def _decided(self, aggregate: Aggregate) -> Uploads:
        return decided(self._uploads, aggregate, sum(records.size for records in self._parties))

    def _key(self, use: bytes, number: int = 0) -> bytes:
        return derived_key(self.secret, b"ogive servers\n" + use + number.to_bytes(8, "big"))


def run(preparations: Sequence[Preparation]) -> None:
    """Let servers exchange messages until all are done: each gets what the others sent it in the last round."""
    sent = [preparation.begin() for preparation in preparations]
    while not all(preparation.done for preparation in preparations):
        received = [[messages[number] for messages in sent if number in messages] for number in range(len(sent))]
        sent = [preparation.take(messages) for preparation, messages in zip(preparations, received, strict=True)]


def _bytes_of(key: bytes) -> Callable[[int], bytes]:
    source = KeyedSource(key)
    return lambda count: source.words(-(-count // 4)).astype("<u4").tobytes()[:count]


def add_answers(
    messages: Sequence[bytes], collected: AggregateUploads, *, session: bytes, query: LinearQuery, adjacency: Adjacency
) -> Int64:
    """The noisy measurements, in the shape of `query.measure`; see `opened_answer`."""
    return opened_answer(messages, collected, session=session, query=query, adjacency=adjacency).values


def opened_answer(
    messages: Sequence[bytes],
    collected: AggregateUploads,
    *,
    session: bytes,
    query: LinearQuery,
    adjacency: Adjacency,
    clients: int = 0,
) -> Answer:
    """The noisy measurements from a message of each server, and the numbers of records that the adjacency makes public.

    `clients` are counted, each of whom uploaded one record, unless they are organizations.
    """
    nothing = np.zeros(query.aggregate.shape, np.int64)
    shape = query.measure(nothing).shape
    measured, modulus = int(np.prod(shape)), collected.modulus
    count = measured + opened_totals(collected, query, nothing.astype(np.uint64), adjacency).size
    question = question_digest(query, adjacency)
    result = _read_answers(messages, collected, session=session, question=question, longest=8 * count)
    total = np.zeros(count, np.uint64)
    for server, (_, rest) in result.items():
        shares = np.frombuffer(rest, "<u8").astype(np.uint64) if len(rest) == 8 * count else None
        if shares is None or (modulus < 1 << 64 and count and shares.max() >= modulus):
            raise PeerError(f"the answer of server {server} is not {count} numbers below the modulus")
        total = added(total, shares, modulus)
    if len({clients for clients, _ in result.values()}) > 1:
        raise PeerError("the servers did not count the same clients; their answers do not add up to anything")
    values = signed(total, modulus)
    totals: tuple[int, ...] | None = tuple(values[measured:].tolist()) or None
    if any(not 0 <= each <= MOST_RECORDS for each in totals or ()):
        raise DataError("the uploads add up to no number of records; somebody uploaded what is not a sum of records")
    if totals is None and query.totals(nothing, adjacency) is not None:
        totals = (clients,)
    return Answer(values[:measured].reshape(shape), totals, adding=len(result), honest=collected.uploads.honest)


# --- The trust model


class Servers(SeveralTables):
    """Servers that do not collude and answer from secret shares that clients uploaded once.

    Args:
        data: One table in which each record belongs to one client, or a list of tables, one for each organization, in
            any form that `Records.of` reads. No person may be in two tables.
        servers: Number of servers.
        upload: What is uploaded. "keys", for two servers: a comparison key for every record. "tables": the cells of the
            aggregate for every record, all zero but one, in shares. "sums", for organizations: all their records
            added up, in shares. "auto" takes tables for votes, else sums for organizations, else the cheaper of keys
            and tables, from public numbers.
        verified: Whether servers check that every upload encodes one record, so that a dishonest client changes no
            count by more than one. Uploads of sums cannot be checked. By default every upload that can be checked is
            checked.
        verifications: Number of checks for which material is uploaded: one for every set of thresholds that is
            queried.
        tolerated: Largest share of invalid uploads, from 0 to 1; with a larger share the servers refuse to answer.
        colluding: How many servers may share all that they know, 1 to servers - 1, which is the default. With fewer,
            there is less noise: servers / (servers - colluding) times the variance of a curator.
        person: Column with the person's identifier, if a person may have several records; the same in every table.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
        progress: Called repeatedly with the number of uploads made or read and the number of uploads in all.

    Raises:
        ParameterError: an option is out of range, or options do not fit each other.
        DataError: the records cannot be read.

    Privacy:
        The price of a release holds against everybody who sees the answers and the views of any `colluding` servers.
        The servers learn the number of uploads. Labels of votes are computed by two servers that must be semi-honest:
        garbled circuits hide votes from servers that follow the protocol, and not from those that do not.

    Example:
        >>> import numpy as np, ogive
        >>> ages = {"age": np.random.default_rng(1).integers(18, 90, size=2_000)}
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> curve = ogive.release(age, trust=ogive.Servers(ages), privacy=ogive.PureDP(1))
        >>> curve.total
        2000
    """

    options_type = ServersOptions

    def __init__(
        self,
        data: Any,
        *,
        servers: int = 2,
        upload: str = "auto",
        verified: bool | None = None,
        verifications: int = 16,
        tolerated: float = DEFAULT_TOLERATED,
        colluding: int | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
        na_values: missing_words.NaValues = (),
        progress: Progress | None = None,
    ) -> None:
        tables = data if _are_tables(data) else [data]
        if upload == SUMS and tables is not data:
            raise ParameterError(
                "sums are uploaded by organizations; give a list of their tables, or use `upload='tables'`"
            )
        self.options: ServersOptions = ServersOptions(
            servers, len(data) if tables is data else None, upload, verified, verifications, tolerated, colluding
        )
        self.parties = read_parties(tables, person=person, max_rows_per_person=max_rows_per_person, na_values=na_values)
        self._progress = progress

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table whose records are divided among organizations, or each belong to one owner."""
        records = Records.of(data).bounded(person, max_rows_per_person)
        return cls(
            records if options.parties is None else list(records.split(options.parties)),
            person=person,
            max_rows_per_person=max_rows_per_person,
            progress=progress,
            **cls.arguments(options),
        )

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> ServersOpening:
        """Continue a release from its secret; refused where no organization has records, and their number is public."""
        if adjacency is Adjacency.REPLACE and not any(records.size for records in self.parties):
            raise DataError("no party has any records; where their number is public, a release needs at least one")
        return ServersOpening(self.parties, self.options.uploads, adjacency, secret, progress=self._progress)


def _are_tables(data: Any) -> bool:
    """Whether these are several tables, and not one column of values."""
    values = Number | datetime.date | None
    return isinstance(data, list | tuple) and bool(data) and not any(isinstance(each, values) for each in data)
