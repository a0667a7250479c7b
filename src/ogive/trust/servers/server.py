"""One of several servers: keeps shares of uploads, verifies them with the others, and answers with its own noise.

It takes bytes and gives bytes, in this order:

    receive      uploads, any number, until
    freeze       the set is closed; its digest goes to the other servers, who must have the same set
    verify       before records are counted in new blocks: four rounds of messages with the other servers
    answer       its share of the exact answer, plus the whole noise

Noise is a function of the server's secret, the frozen set and the question, so that the same question gets the same
answer, and another set of clients gets other noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ogive.crypto.labels import Label, digest, number
from ogive.crypto.sketch import Verifier, rejected
from ogive.crypto.tables import ShareShape
from ogive.crypto.tables.batch import Material
from ogive.crypto.wire import Header, Inbox, Suite
from ogive.errors import PeerError
from ogive.noise import DerivedNodes
from ogive.privacy import Adjacency
from ogive.queries import Int64, LinearQuery
from ogive.queries.blocks import block_ends
from ogive.queries.modular import measure_modulo
from ogive.trust.servers.clients import CLIENTS, UPLOAD
from ogive.trust.servers.parts import Parts, added, residues, subtracted
from ogive.trust.servers.settings import Collected
from ogive.trust.servers.shelf import Shelf

FROZEN, ANSWER = 2, 3
"""Kinds of messages."""

ANALYST = 0xFFFFFFFE
"""Receiver of answers."""

UInt64 = NDArray[np.uint64]
Exchange = Generator[dict[int, bytes], Sequence[bytes], None]
"""Yields messages by the number of the server that they are for, and is sent those of the others."""


class Server:
    """A server's part in the collection of one aggregate.

    Args:
        collected: What is uploaded; public.
        number: Of this server, from 0.
        session: 16 bytes, agreed by all servers.
        secret: 32 bytes that nobody else has, kept before the first use: they are the noise.
        random: Where coins for verifications come from.
        longest: Bytes that one upload may have.
        progress: Called with how many uploads were read for one purpose, and how many there are.
    """

    def __init__(
        self,
        collected: Collected,
        number: int,
        *,
        session: bytes,
        secret: bytes,
        random: Callable[[int], bytes],
        longest: int = 1 << 30,
        progress: Callable[[int, int], None] = lambda done, whole: None,
    ) -> None:
        self.collected = collected
        self.session = session
        self._number = number
        self._secret = secret
        self._random = random
        self._longest = longest
        self._progress = progress
        self._others = [server for server in range(collected.uploads.servers) if server != number]
        self._uploads = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=number, senders=[CLIENTS])
        self._peers = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=number, senders=self._others)
        self._shelf = Shelf()
        self._sizes: list[int] = []
        self._shared: list[bytes] = []
        self._set: bytes | None = None
        self._agreed = False
        self._sent = 0
        self._verifier: Verifier | None = None
        self._dropped: Int64 = np.empty(0, np.int64)
        self._ends: Int64 | None = None
        self._sums: UInt64 = np.empty(0, np.uint64)

    @property
    def clients(self) -> int:
        """How many uploads there are, but for those that failed a verification."""
        return sum(self._sizes) - self._dropped.size

    @property
    def dropped(self) -> Int64:
        """Numbers of the clients that failed a verification, in the order of their uploads."""
        return self._dropped

    def receive(self, message: bytes) -> None:
        """Take the uploads of some clients.

        Raises:
            PeerError: it is no such message, it came before, or the set is closed; nothing of it is kept.
        """
        if self._set is not None:
            raise PeerError("the set of uploads is closed; what comes later belongs to another collection")
        header, body = self._uploads.read(message, kind=UPLOAD, session=self.session, round=0, longest=self._longest)
        if header.sequence != len(self._sizes):
            raise PeerError(f"the next upload is number {len(self._sizes)}, and this is number {header.sequence}")
        parts = Parts.read(body, self.collected, self._number)
        self._uploads.mark(header)
        self._shelf.append(body)
        self._sizes.append(parts.clients)
        self._shared.append(parts.shared_digest())

    def freeze(self) -> dict[int, bytes]:
        """Close the set of uploads; returns what the other servers compare theirs with."""
        if self._set is None:
            self._set = digest(Label.SERVERS_SET, self.session, *self._shared)
        return {other: self._message(FROZEN, other, 0, self._set) for other in self._others}

    def agree(self, messages: Sequence[bytes]) -> None:
        """Compare the set with those of all other servers.

        Raises:
            PeerError: a server has other uploads, or a message is missing or does not belong here.
        """
        assert self._set is not None, "freeze the set first"
        heard = set()
        for message in messages:
            header, body = self._peers.read(message, kind=FROZEN, session=self.session, round=0, longest=32)
            if body != self._set:
                raise PeerError(f"server {header.sender} has other uploads than server {self._number}")
            self._peers.mark(header)
            heard.add(header.sender)
        missing = set(self._others) - heard
        if missing:
            raise PeerError(f"server {min(missing)} has not said which uploads it has")
        self._agreed = True
        if self.collected.material is not None:
            self._verifier = Verifier(
                _Material(self, self.collected.material), session=self.session, uploads=self._set, random=self._random
            )

    def prepare(self, query: LinearQuery) -> Exchange:
        """Count records in the blocks that a query tells apart, verifying the uploads where these are new.

        Raises:
            PeerError: a message is missing or does not belong here.
            UnsupportedError: too many clients failed, or uploads hold material for no more verifications.
        """
        assert self._agreed, "compare the sets first"
        ends = self.collected.layout.ends(block_ends(query))
        if self._ends is not None:
            if np.isin(ends, self._ends).all():
                return
            ends = np.union1d(ends, self._ends)
        if self._verifier is not None and self._verifier.left == 1:
            ends = np.arange(self.collected.layout.cells)  # the last verification covers all that may be asked later
        if self._verifier is None or not self.collected.points(ends).size:
            self._sums = self._add_up(parts.sums(ends) for parts in self._parts())
        else:
            yield from self._verify(ends, self._verifier)
        self._ends = ends

    def answer(self, query: LinearQuery, adjacency: Adjacency) -> bytes:
        """The server's share of the answer to a query that was prepared, with noise.

        Privacy: with the noise of any one server that tells nobody, the added answers cost the query's price, once
            for a query, however often it is asked.
        """
        assert self._ends is not None, "prepare the query first"
        assert self._set is not None
        layout, modulus = self.collected.layout, self.collected.modulus
        ends = layout.ends(block_ends(query))
        blocks, amounts = self._coarser(ends, modulus), self._sums[self._ends.size :]
        exact = measure_modulo(query, layout.sums(ends, blocks, amounts, modulus), modulus)
        public = query.digest(np.zeros(query.aggregate.shape, np.int64), adjacency)
        context = digest(Label.SERVERS_NOISE, self.session, self._set, public)
        noise = query.noise(DerivedNodes(self._secret, context))
        noisy = added(exact.ravel(), residues(noise.ravel(), modulus), modulus)
        return self._message(ANSWER, ANALYST, 0, noisy.astype("<u8").tobytes())

    def _verify(self, ends: Int64, verifier: Verifier) -> Exchange:
        """Verify all uploads for these blocks, and add up those that are good."""
        check = verifier.check(self.collected.claim(ends))
        found: list[UInt64] = []

        def project(weights: UInt64) -> UInt64:
            forms = []
            for parts in self._parts():
                some, sums = parts.weighed(ends, weights)
                forms.append(some)
                found.append(sums)
            return np.concatenate(forms, axis=1)

        received = yield check.commit()
        received = yield check.open(received)
        received = yield check.masks(received, project)
        received = yield check.results(received)
        accepted = check.accepted(received)
        accepted[self._dropped] = False
        self._dropped = rejected(accepted)
        self._sums = self._add_up(iter(found))
        if self._dropped.size:
            modulus = self.collected.modulus
            left_out = self._add_up(self._only(client).sums(ends) for client in self._dropped.tolist())
            self._sums = subtracted(self._sums, left_out, modulus)

    def _parts(self) -> Iterator[Parts]:
        done = 0
        for body, size in zip(self._shelf, self._sizes, strict=True):
            yield Parts.read(body, self.collected, self._number)
            done += size
            self._progress(done, sum(self._sizes))

    def _only(self, client: int) -> Parts:
        """The upload of one client."""
        starts = np.cumsum([0, *self._sizes])
        place = int(np.searchsorted(starts, client, side="right")) - 1
        parts = Parts.read(self._shelf[place], self.collected, self._number)
        return parts.only(client - int(starts[place]))

    def _add_up(self, sums: Iterator[UInt64]) -> UInt64:
        total = next(sums)
        for more in sums:
            total = added(total, more, self.collected.modulus)
        return total

    def _coarser(self, ends: Int64, modulus: int) -> UInt64:
        """Shares of the records in blocks that are made of whole blocks counted before."""
        assert self._ends is not None
        below = self._sums[: self._ends.size].astype(object).cumsum()[np.searchsorted(self._ends, ends)]
        steps = np.diff(below, prepend=0)
        return np.array(steps % modulus, dtype=np.uint64)

    def _message(self, kind: int, receiver: int, round: int, body: bytes) -> bytes:
        self._sent += 1
        header = Header(
            Suite.SERVERS, kind, self.collected.study, self.session, self._number, receiver, round, self._sent
        )
        return header.message(body)


class _Material:
    """Shares of the material of all uploads, read from the shelf when it is needed."""

    def __init__(self, server: Server, shape: ShareShape) -> None:
        self._server = server
        self.shape = shape
        self.study = server.collected.study
        self.server = server._number
        self.servers = server.collected.uploads.servers

    def __len__(self) -> int:
        return sum(self._server._sizes)

    def shared_digest(self) -> bytes:
        """Of what all servers know of the uploads: how many there are."""
        return digest(Label.SHARE_BATCH, number(len(self)))

    def material(self, verification: int) -> Material:
        """Of all clients, in the order of their uploads."""
        pieces = [
            parts.material.material(verification) for parts in self._server._parts() if parts.material is not None
        ]
        return Material(*(np.concatenate(each, axis=1) for each in zip(*pieces, strict=True)))
