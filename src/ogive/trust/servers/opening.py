"""One release between simulated clients, servers and an analyst, who exchange bytes.

Everybody's randomness follows from the secret of the release. One that goes on makes the same uploads again, and
has to ask the same questions in the same order, so that every message is the one that was sent before: the material
of a verification is never used for another. `release` asks so by itself; whoever chooses questions records them where
`takes` says so.

The analyst adds up what the servers answer, if all counted the same clients for the same question:

    answer = digest of the set and of who is left out, 32 bytes | digest of the question, 32 | shares, u64 each
             | where servers do not know them, shares of the numbers of records that are public, u64 each

Noisy sums of shares must not wrap around their modulus: such a sum would be wrong, though never less private.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.arrays import Int64
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.wire import Inbox, Suite
from ogive.errors import DataError, PeerError, ReleaseMismatchError
from ogive.noise import KeyedSource
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.progress import Progress
from ogive.queries import Aggregate, Answer, LabelsQuery, LinearQuery
from ogive.queries.blocks import block_ends
from ogive.queries.labels import ServedQuery
from ogive.records import Records
from ogive.records.contributions import Contributions, pieces
from ogive.trust.base import Opening
from ogive.trust.parties import naming, party_sums
from ogive.trust.servers.clients import upload, upload_sums
from ogive.trust.servers.comparing import Comparison
from ogive.trust.servers.costs import decided
from ogive.trust.servers.labeling import converse
from ogive.trust.servers.layout import Layout
from ogive.trust.servers.opened_labels import opened_labels
from ogive.trust.servers.parts import added, signed
from ogive.trust.servers.preparation import Preparation
from ogive.trust.servers.ranges import check_range
from ogive.trust.servers.server import ANALYST, ANSWER, Server, opened_totals
from ogive.trust.servers.settings import AggregateUploads, question_digest, question_number
from ogive.trust.servers.state import ServerState
from ogive.trust.servers.uploads import KEYS, SUMS, TABLES, Uploads

_CLIENTS = 1 << 14
_NUMBERS = 1 << 21
"""Clients, and numbers of all their tables, that one message holds at most; 16 MB are memory that is fast to reuse."""

_WORDS = {KEYS: "comparison keys", TABLES: "tables in shares", SUMS: "sums in shares"}

MOST_RECORDS = 10**12
"""Records of all organizations together."""


class ServersOpening(Opening[ServedQuery]):
    """One release, fixed to the parties' data, the adjacency and the secret.

    Args:
        parties: The records; of one table each is a client's own.
        uploads: What is uploaded, and to how many servers.
        adjacency: Which data sets are adjacent.
        secret: 32 bytes, from which everybody's randomness is derived.
        progress: Called with how many uploads were made or read, and how many there are.
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
        self._sums: dict[Aggregate, tuple[Int64, ...]] = {}
        self._servers: dict[Aggregate, list[Server]] = {}
        self._cut_off = self._compared = False

    def answer(self, query: ServedQuery) -> Answer:
        """Add up the servers' noisy answers, or let two of them compute labels of votes that neither sees.

        Raises:
            ReleaseMismatchError: an earlier question was cut off between the messages that it takes.

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
                server.answer_labels(query, self._adjacency, found)
                for server, found in zip(servers, labelings, strict=True)
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
        """How many uploads are not counted, because they did not come to all servers alike or were found false."""
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
        """Digest of the parties' sums, the question, and how it is answered; as secret as the data.

        Raises:
            UnsupportedError: sums of so many records might be wrong.
        """
        self._check(query)
        found = hashlib.sha256(b"ogive servers 2\n")
        settings = repr(self._decided(query.aggregate).digested).encode()
        found.update(len(settings).to_bytes(8, "big") + settings)
        for sums in self._aggregates(query.aggregate):
            found.update(query.digest(sums, self._adjacency))
        return found.digest()

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
            self._upload(collected, servers, session)
            frozen = [server.freeze() for server in servers]
            for number, server in enumerate(servers):
                server.agree([messages[number] for messages in frozen if number in messages])
            self._servers[aggregate] = servers
        return self._servers[aggregate]

    def _upload(self, collected: AggregateUploads, servers: Sequence[Server], session: bytes) -> None:
        for messages in self._messages(collected, session):
            for server, message in zip(servers, messages, strict=True):
                server.receive(message)

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
        for batch, some in enumerate(pieces(self._contributions(layout.aggregate), size)):
            added += layout.added(some)
            yield upload(collected, some, batch=batch, session=session, random=random)
            done += len(some.cells)
            self._progress(done, whole)
        priced = layout.columns(np.stack(self._aggregates(layout.aggregate)).sum(axis=0))
        if not np.array_equal(added, np.delete(priced, np.arange(layout.counted, layout.cells))):
            raise DataError("the records changed while they were read; make a table of them that stays as it is")

    def _contributions(self, aggregate: Aggregate) -> Iterator[Contributions]:
        for number, records in enumerate(self._parties):
            with naming(number, len(self._parties)):
                yield from records.contributions(aggregate)

    def _decided(self, aggregate: Aggregate) -> Uploads:
        """Choose what is uploaded of an aggregate where that was left open: the cheapest by public numbers."""
        return decided(self._uploads, aggregate, sum(records.size for records in self._parties))

    def _key(self, use: bytes, number: int = 0) -> bytes:
        info = b"ogive servers\n" + use + number.to_bytes(8, "big")
        return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret)

    def _aggregates(self, aggregate: Aggregate) -> tuple[Int64, ...]:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = party_sums(self._parties, aggregate)
        return self._sums[aggregate]


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
    """The noisy measurements, with the numbers of records that the adjacency makes public.

    Args:
        messages: One of each server.
        collected: What was uploaded.
        session: 16 bytes.
        query: What was asked.
        adjacency: Under which it was.
        clients: How many clients are counted, each of whom uploaded one record, unless they are organizations.

    Raises:
        PeerError: a message is missing, malformed, or belongs elsewhere, or servers counted different clients.
        DataError: there cannot be so many records: some organization uploaded what is no sum.
    """
    nothing = np.zeros(query.aggregate.shape, np.int64)
    shape = query.measure(nothing).shape
    measured, modulus = int(np.prod(shape)), collected.modulus
    count = measured + opened_totals(collected, query, nothing.astype(np.uint64), adjacency).size
    question = question_digest(query, adjacency)
    servers = range(collected.uploads.servers)
    inbox = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=ANALYST, senders=servers)
    total = np.zeros(count, np.uint64)
    counted: dict[int, bytes] = {}
    for message in messages:
        header, body = inbox.read(message, kind=ANSWER, session=session, round=0, sequence=None, longest=64 + 8 * count)
        if body[32:64] != question or header.sequence != question_number(question):
            raise PeerError(f"the answer of server {header.sender} is to another question")
        shares = np.frombuffer(body[64:], "<u8").astype(np.uint64) if len(body) == 64 + 8 * count else None
        if shares is None or (modulus < 1 << 64 and count and shares.max() >= modulus):
            raise PeerError(f"the answer of server {header.sender} is not {count} numbers below the modulus")
        if header.sender in counted:
            raise PeerError(f"server {header.sender} answered twice")
        counted[header.sender] = body[:32]
        total = added(total, shares, modulus)
    missing = set(servers) - set(counted)
    if missing:
        raise PeerError(f"server {min(missing)} has not answered")
    if len(set(counted.values())) > 1:
        raise PeerError("the servers did not count the same clients; their answers do not add up to anything")
    values = signed(total, modulus)
    totals: tuple[int, ...] | None = tuple(values[measured:].tolist()) or None
    if any(not 0 <= each <= MOST_RECORDS for each in totals or ()):
        raise DataError("the uploads add up to no number of records; somebody uploaded what is no sum of records")
    if totals is None and query.totals(nothing, adjacency) is not None:
        totals = (clients,)
    return Answer(values[:measured].reshape(shape), totals, adding=len(servers), honest=collected.uploads.honest)
