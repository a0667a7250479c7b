"""One release between simulated clients, servers and an analyst, who exchange bytes."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.crypto.labels import Label, digest
from ogive.noise import KeyedSource
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.queries import Aggregate, Answer, Int64, LinearQuery, Query
from ogive.records import Records
from ogive.records.contributions import Contributions
from ogive.trust.parties import naming, party_sums
from ogive.trust.servers.analyst import add_answers
from ogive.trust.servers.clients import upload, upload_sums
from ogive.trust.servers.costs import decided
from ogive.trust.servers.layout import Layout
from ogive.trust.servers.ranges import check_range
from ogive.trust.servers.server import Exchange, Server
from ogive.trust.servers.settings import SUMS, Collected, Uploads

_CLIENTS = 1 << 14
_NUMBERS = 1 << 22
"""Clients, and numbers of all their tables, that one message holds at most."""

Progress = Callable[[int, int], None]


class ServersOpening:
    """One release, fixed to the parties' data, the adjacency and the secret.

    Args:
        parties: The records; of one table each is a client's own.
        uploads: What is uploaded, and to how many servers.
        adjacency: Which data sets are adjacent.
        secret: 32 bytes, from which everybody's randomness is derived.
        progress: Called with how many uploads were made or read, and how many there are.
    """

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

    def answer(self, query: Query) -> Answer:
        """Add up the servers' noisy answers.

        Privacy: `query.price(unit)` once per measurement, against whoever sees the answers and at most all servers
            but one.
        """
        assert isinstance(query, LinearQuery)
        pooled = np.stack(self._aggregates(query.aggregate)).sum(axis=0)
        self._check(query)
        servers = self._collected(query)
        collected = servers[0].collected
        run([server.prepare(query) for server in servers])
        answers = [server.answer(query, self._adjacency) for server in servers]
        values = add_answers(answers, collected, session=servers[0].session, query=query)
        return Answer(values, query.totals(pooled, self._adjacency), adding=len(servers))

    def context(self, query: Query) -> bytes:
        """Digest of the parties' sums, the question, and how it is answered; as secret as the data.

        Raises:
            UnsupportedError: sums of so many records might be wrong.
        """
        self._check(query)
        found = hashlib.sha256(b"ogive servers 1\n")
        settings = repr(dataclasses.astuple(self._uploads)).encode()
        found.update(len(settings).to_bytes(8, "big") + settings)
        for sums in self._aggregates(query.aggregate):
            found.update(query.digest(sums, self._adjacency))
        return found.digest()

    def _check(self, query: Query) -> None:
        """Refuse sums that might wrap around, before anybody pays for them."""
        assert isinstance(query, LinearQuery)
        collected = Collected(Layout(query.aggregate), self._decided(query))
        records = query.aggregate.records(np.stack(self._aggregates(query.aggregate)).sum(axis=0))
        check_range(query, records=records, servers=collected.uploads.servers, modulus=collected.modulus)

    def _collected(self, query: LinearQuery) -> list[Server]:
        """The servers that hold uploads of a query's aggregate, which clients make when it is first asked for."""
        aggregate = query.aggregate
        if aggregate not in self._servers:
            collected = Collected(Layout(aggregate), self._decided(query))
            numbers = range(collected.uploads.servers)
            session = digest(
                Label.SERVERS_SESSION, collected.study, *(self._key(b"nonce", n) for n in numbers), length=16
            )
            servers = [
                Server(
                    collected,
                    number,
                    session=session,
                    secret=self._key(b"noise" + collected.study, number),
                    random=_bytes_of(self._key(b"coins" + collected.study, number)),
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

    def _upload(self, collected: Collected, servers: Sequence[Server], session: bytes) -> None:
        for messages in self._messages(collected, session):
            for server, message in zip(servers, messages, strict=True):
                server.receive(message)

    def _messages(self, collected: Collected, session: bytes) -> Iterator[list[bytes]]:
        """What clients upload, batch by batch, a message for each server."""
        random = _bytes_of(self._key(b"clients" + collected.study))
        if collected.uploads.kind == SUMS:
            for batch, sums in enumerate(self._aggregates(collected.layout.aggregate)):
                yield upload_sums(
                    collected, collected.layout.columns(sums), batch=batch, session=session, random=random
                )
            return
        columns = 1 if collected.tables is None else collected.tables.columns
        size = max(1, min(_CLIENTS, _NUMBERS // columns))
        batch = done = 0
        whole = sum(records.size for records in self._parties)
        for number, records in enumerate(self._parties):
            with naming(number, len(self._parties)):
                for some in pieces(records.contributions(collected.layout.aggregate), size):
                    yield upload(collected, some, batch=batch, session=session, random=random)
                    batch += 1
                    done += len(some.cells)
                    self._progress(done, whole)

    def _decided(self, query: LinearQuery) -> Uploads:
        """What is uploaded of an aggregate, where that was left open: what costs least by public numbers."""
        return decided(self._uploads, query, sum(records.size for records in self._parties))

    def _key(self, use: bytes, number: int = 0) -> bytes:
        info = b"ogive servers\n" + use + number.to_bytes(8, "big")
        return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret)

    def _aggregates(self, aggregate: Aggregate) -> tuple[Int64, ...]:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = party_sums(self._parties, aggregate)
        return self._sums[aggregate]


def run(exchanges: Sequence[Exchange]) -> None:
    """Let servers exchange messages until all are done: each gets what the others sent it in the last round."""
    received: list[list[bytes] | None] = [None] * len(exchanges)
    while True:
        sent = []
        for exchange, messages in zip(exchanges, received, strict=True):
            try:
                sent.append(next(exchange) if messages is None else exchange.send(messages))
            except StopIteration:
                continue
        if not sent:
            return
        assert len(sent) == len(exchanges), "all servers stop in the same round"
        received = [[messages[number] for messages in sent if number in messages] for number in range(len(sent))]


def pieces(parts: Iterator[Contributions], size: int) -> Iterator[Contributions]:
    """The same contributions, at most so many at a time."""
    for part in parts:
        for start in range(0, len(part.cells), size):
            some = slice(start, start + size)
            yield Contributions(part.cells[some], None if part.amounts is None else part.amounts[some])


def _bytes_of(key: bytes) -> Callable[[int], bytes]:
    source = KeyedSource(key)
    return lambda count: source.words(-(-count // 4)).astype("<u4").tobytes()[:count]
