"""One of several servers: keeps shares of uploads, verifies them with the others, and answers with its own noise.

It takes bytes and gives bytes, in this order:

    receive      uploads, any number, until
    freeze       no more are taken; the names of their clients go to the other servers, and
    agree        the set is formed: the clients that all servers have
    prepare      before a question is answered: rounds of messages with the other servers, see `Preparation`
    answer       its share of the exact answer, plus its share of the noise

Of two servers that verify votes, labels may be asked for instead of sums; see `labeling`:

    label        messages with the other server, in place of an answer of its own
    answer_labels    its half of the labels

A message has a sequence number that follows from what it is: 0 for the names, for a state how often the server has said
where it stands, for an answer the number of its question. The reader compares it, so a message with another number, one
that is late or comes twice, and one of another session is refused.

Noise is a function of the server's secret, the set and the question, so that the same question gets the same answer,
and another set of clients gets other noise. Messages between servers, clients and analyst are taken to come over
channels that nobody else reads or changes.

Who drives a server stores `state` whenever a call has returned or raised, before anything is sent. One that was stopped
is made again with its secret, its uploads and its state; without the state it answers nothing.
"""

from __future__ import annotations

import dataclasses
import logging
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.core.checks import Progress
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.semi_honest import write_bits
from ogive.crypto.sketch import Verifier
from ogive.crypto.wire import Header, Inbox, Reader, Suite
from ogive.errors import ParameterError, PeerError, UnsupportedError
from ogive.noise import DerivedNodes
from ogive.noise.laws import ShareNodes
from ogive.privacy import Adjacency
from ogive.queries import LabelsQuery, LinearQuery, Query
from ogive.queries.labels import ServedQuery
from ogive.trust.modulus import added, block_ends, measure_modulo, residues, subtracted, totals_modulo
from ogive.trust.servers.clients import CLIENTS, UPLOAD, Gathered, GatheredMaterial, Parts, read_names
from ogive.trust.servers.labeling import Channel, Comparison, SemiHonestLabeling, Votes
from ogive.trust.servers.settings import AggregateUploads, question_digest, question_number
from ogive.trust.servers.uploads import SUMS, most_rejected

# --- The state with which a server goes on after it was stopped
#
#     state = "OGSS" | version u8 | answered u8 | stopped u8 | 0 | server u32 | study 32 | session 16 | set 32
#             | verifications begun u64 | states said u64 | ends: how many u64, then i64 each
#             | left out: how many u64, then i64 each
#
# All little-endian. The server needs its secret and the uploads besides. Servers send each other their states before
# they count anything, since nothing in them is secret from a server.

_LAYOUT = struct.Struct("<4sBBBBI32s16s32sQQ")
_MAGIC, _VERSION = b"OGSS", 2
_NO_SET = bytes(32)


def _none() -> Int64:
    return np.empty(0, np.int64)


class Stop(IntEnum):
    """Why nothing is answered any more."""

    NO = 0
    MANY = 1
    LATE = 2


@dataclass(frozen=True, eq=False)
class ServerState:
    """Where a server stands.

    The digest of the set of uploads is zeros until it is known. `used` verifications were begun; records were counted
    in blocks with last cells `ends`; clients `left_out` failed a verification. Each state that another server reads has
    a number of its own, its `sequence`.
    """

    study: bytes
    session: bytes
    server: int
    uploads: bytes = _NO_SET
    used: int = 0
    ends: Int64 = field(default_factory=_none)
    left_out: Int64 = field(default_factory=_none)
    answered: bool = False
    stopped: Stop = Stop.NO
    sequence: int = 0

    @property
    def frozen(self) -> bool:
        return self.uploads != _NO_SET

    def to_bytes(self) -> bytes:
        head = _LAYOUT.pack(
            _MAGIC, _VERSION, self.answered, self.stopped, 0,
            self.server, self.study, self.session, self.uploads, self.used, self.sequence,
        )  # fmt: skip
        lists = [each.astype("<i8").tobytes() for each in (self.ends, self.left_out)]
        return head + b"".join((len(each) // 8).to_bytes(8, "little") + each for each in lists)

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerState:
        """Read a state, believing nothing."""
        reader = Reader(data, "state of a server")
        fields = _LAYOUT.unpack(reader.take(_LAYOUT.size))
        magic, version, answered, stopped, reserved, server, study, session, uploads, used, sequence = fields
        known = magic == _MAGIC and version == _VERSION and answered < 2 and stopped in tuple(Stop) and not reserved
        ends, left_out = (reader.array(reader.number(8), "<i8").astype(np.int64) for _ in range(2))
        reader.finish()
        ordered = all((each >= 0).all() and (each[1:] > each[:-1]).all() for each in (ends, left_out))
        if not known or not ordered:
            raise PeerError("the state of a server is not in the form of this version")
        return cls(study, session, server, uploads, used, ends, left_out, bool(answered), Stop(stopped), sequence)


# --- The server

FROZEN, ANSWER, STATE, LABELS = 2, 3, 4, 5
"""Kinds of messages."""

ANALYST = 0xFFFFFFFE
"""Receiver of answers."""


Evaluator = Callable[[Int64, UInt64, Sequence[Bool]], tuple[UInt64, UInt64] | None]
"""Evaluates a server's uploads as `Parts.evaluated` does.

It is given the last cells of blocks, the weights of the forms, and of each message that the server was sent which of
its clients count. It returns the forms of all that count, in the order of the messages, and the sums; or None where it
could not, and the server has to.
"""

_NO_FORMS = np.empty((0, 0), np.uint64)

_log = logging.getLogger(__name__)


class Server:
    """A server's part in the collection of one aggregate; servers count from 0.

    The session, 16 bytes, has a fresh nonce of each server in it. The secret, 32 bytes, is stored before its first use:
    it is the noise. The state is `ServerState(study, session, number)` when a session begins, what was stored where it
    goes on; without one a server takes uploads, and answers nothing. A message is of `clients` at most: of one
    where clients are admitted by their messages. An evaluator evaluates the uploads in place of this process.
    """

    def __init__(
        self,
        collected: AggregateUploads,
        number: int,
        *,
        session: bytes,
        secret: bytes,
        random: Callable[[int], bytes],
        state: ServerState | None = None,
        clients: int = 1,
        longest: int = 1 << 30,
        progress: Progress = lambda done, whole: None,
        evaluator: Evaluator | None = None,
    ) -> None:
        if state is not None and (state.study, state.session, state.server) != (collected.study, session, number):
            raise ParameterError("`state` must be that of this server in this session of this study")
        self.collected = collected
        self.session = session
        self.random = random
        self.state = state
        self._number = number
        self._secret = secret
        self._most_clients = clients
        self._longest = longest
        self._evaluator = evaluator
        self._others = [server for server in range(collected.uploads.servers) if server != number]
        self._uploads = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=number, senders=[CLIENTS])
        self._peers = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=number, senders=self._others)
        self._gathered = Gathered(collected, number, session=session, progress=progress)
        self._closed = self._agreed = False
        self._sequences: dict[int, int] = {}  # numbers of the last states of the others
        self._confirmed: tuple[bytes, bytes] | None = None  # what all servers found that they count
        self._whole: tuple[bytes, UInt64] = (b"", np.empty(0, np.uint64))

    @property
    def clients(self) -> int:
        """How many clients the set has, but for those that failed a verification."""
        return self._gathered.clients - self.dropped.size

    @property
    def dropped(self) -> Int64:
        """Numbers of the clients of the set that failed a verification."""
        return np.empty(0, np.int64) if self.state is None else self.state.left_out

    @property
    def left_out(self) -> int:
        """How many uploads came to this server and are not counted: not at all servers, or false."""
        return self._gathered.sent - self.clients

    def receive(self, message: bytes) -> None:
        """Take the uploads of some clients; what comes twice counts once, by its name."""
        if self._closed:
            raise PeerError("the set of uploads is closed; what comes later belongs to another collection")
        # clients have no numbers of their own, so their messages have none that could be expected
        _, body = self._uploads.read(
            message, kind=UPLOAD, session=self.session, round=0, sequence=None, longest=self._longest
        )
        parts = Parts.read(body, self.collected, self._number, self.session)
        if parts.clients > self._most_clients:
            raise PeerError(f"the message is of {parts.clients} clients, and at most {self._most_clients} are allowed")
        self._gathered.append(body, parts)

    def freeze(self) -> dict[int, bytes]:
        """Take no more uploads; returns the names of their clients, for the other servers, whenever asked."""
        self._closed = True
        names = self._gathered.names()
        return {other: self._message(FROZEN, other, 0, names) for other in self._others}

    def agree(self, messages: Sequence[bytes]) -> None:
        """Form the set of the clients that all servers have."""
        if not self._closed or self._agreed:
            raise ParameterError("the set is formed once, after the uploads are frozen")
        received = self._read(messages, FROZEN, 0)
        common = self._gathered.common([read_names(names) for _, names in received])
        result = digest(HashDomain.SERVERS_SET, self.session, common.tobytes())
        if self.state is not None:
            if self.state.frozen and self.state.uploads != result:
                raise PeerError("the uploads are not those with which this server began")
            self.state = dataclasses.replace(self.state, uploads=result)
        self._gathered.keep(common)
        self._agreed = True
        if self.left_out:
            _log.warning("server %d leaves %d uploads out, which not all servers have", self._number, self.left_out)

    def prepare(self, query: ServedQuery) -> Preparation:
        """Count records in the blocks that a query tells apart, verifying the uploads where these are new."""
        self.going()
        return Preparation(self, query)

    def answer(self, query: LinearQuery, adjacency: Adjacency) -> bytes:
        """The server's share of the answer to a query that was prepared, with noise.

        Privacy: with the noise of as many servers as are taken to tell nobody, the added answers cost the query's
            price, once for a query, however often it is asked.
        """
        modulus = self.collected.modulus
        sums = self._prepared(query)
        exact = measure_modulo(query, sums, modulus)
        noise = query.noise(ShareNodes(self._nodes(query, adjacency), self.collected.uploads.honest))
        noisy = added(exact.ravel(), residues(noise.ravel(), modulus), modulus)
        totals = opened_totals(self.collected, query, sums, adjacency)
        self.state = dataclasses.replace(self.going(), answered=True)
        question = question_digest(query, adjacency)
        body = self._clients_digest() + question + noisy.astype("<u8").tobytes() + totals.astype("<u8").tobytes()
        return self._message(ANSWER, ANALYST, question_number(question), body)

    def label(self, query: LabelsQuery, adjacency: Adjacency) -> SemiHonestLabeling:
        """The server's part in computing labels with the other one; its state must be stored before anything is sent.

        Privacy: each server adds the whole noise. What the other one and the analyst learn together costs the query's
            price, once for a query, if both servers follow the protocol.
        """
        sums = self._prepared(query)
        self.state = dataclasses.replace(self.going(), answered=True)
        (other,) = self._others
        return SemiHonestLabeling(
            Comparison(query, self.clients),
            Votes(self._number, sums, self._nodes(query, adjacency)),
            session=self.session,
            question=question_digest(query, adjacency),
            random=self.random,
            channel=Channel(partial(self._message, LABELS, other), self._read_labels),
        )

    def answer_labels(self, query: LabelsQuery, adjacency: Adjacency, result: SemiHonestLabeling) -> bytes:
        if not result.done:
            raise ParameterError("the servers have not computed all labels yet")
        question = question_digest(query, adjacency)
        answer = result.statuses.astype("<i1").tobytes() + write_bits(result.half.ravel())
        return self._message(ANSWER, ANALYST, question_number(question), self._clients_digest() + question + answer)

    def _prepared(self, query: ServedQuery) -> UInt64:
        state = self.going()
        layout, modulus = self.collected.layout, self.collected.modulus
        ends = layout.ends(block_ends(query))
        if not np.isin(ends, state.ends).all():
            raise ParameterError("prepare the question first: records were not counted in its blocks")
        if self._confirmed != _counted(state):
            raise ParameterError("prepare the question first: the others did not say yet that they count the same")
        counted = self._sums(state)
        blocks, amounts = _coarser(counted[: state.ends.size], state.ends, ends, modulus), counted[state.ends.size :]
        return layout.sums(ends, blocks, amounts, modulus)

    def _nodes(self, query: ServedQuery, adjacency: Adjacency) -> DerivedNodes:
        public = query.digest(np.zeros(query.aggregate.shape, np.int64), adjacency)
        return DerivedNodes(self._secret, digest(HashDomain.SERVERS_NOISE, self.session, self.going().uploads, public))

    def _clients_digest(self) -> bytes:
        state = self.going()
        return digest(HashDomain.SERVERS_COUNTED, state.uploads, state.left_out.astype("<i8").tobytes())

    # what a `Preparation` does with its server

    def going(self) -> ServerState:
        """The state, of a server that can go on."""
        if self.state is None:
            raise ParameterError(
                "this server was given no state, so it does not know what it did; give it the stored one"
            )
        if not self._agreed:
            raise ParameterError("compare the sets first")
        if self.state.stopped is Stop.MANY:
            most = most_rejected(self._gathered.clients, tolerated=self.collected.uploads.tolerated)
            raise UnsupportedError(
                f"{self.dropped.size} of {self._gathered.clients} clients failed the verification of their uploads, "
                f"more than the {most} that may; find out why, nothing is answered any more"
            )
        if self.state.stopped is Stop.LATE:
            raise UnsupportedError(
                "an upload was found false after a question had been answered; without it another answer would show "
                "what it added, so nothing is answered any more"
            )
        return self.state

    def say(self, state: ServerState) -> dict[int, bytes]:
        return {other: self._message(STATE, other, state.sequence, state.to_bytes()) for other in self._others}

    def hear(self, messages: Sequence[bytes]) -> list[ServerState]:
        own, material = self.going(), self.collected.material
        verifications = 0 if material is None else material.verifications
        received = self._read(messages, STATE, None)
        states = [ServerState.from_bytes(body) for _, body in received]
        for other, (header, _), state in zip(self._others, received, states, strict=True):
            if header.sequence != state.sequence:
                raise PeerError(
                    f"the message of server {other} has the sequence number {header.sequence}, and {state.sequence} is "
                    "expected, the number of the state in it"
                )
            if (state.server, state.study, state.session) != (other, own.study, own.session):
                raise PeerError(f"the state of server {other} is that of another server, study or session")
            if state.uploads != own.uploads:
                raise PeerError(f"server {other} has other uploads than server {self._number}")
            known = (
                ("cells", state.ends, self.collected.layout.cells),
                ("clients", state.left_out, self._gathered.clients),
            )
            for name, places, stop in known:
                if places.size and places[-1] >= stop:
                    raise PeerError(f"the state of server {other} tells of {name} that there are not")
            if state.ends.size and state.ends[-1] != self.collected.layout.cells - 1:
                raise PeerError(f"the state of server {other} tells of blocks that leave out the last cell")
            if state.used > verifications:
                raise PeerError(f"the state of server {other} tells of more than {verifications} verifications")
            if state.sequence <= self._sequences.get(other, 0):
                raise PeerError(f"the state of server {other} is an old one, which came late or twice")
        self._sequences = {other: state.sequence for other, state in zip(self._others, states, strict=True)}
        return states

    def adopt(self, states: Sequence[ServerState]) -> None:
        """Merge the states of the other servers into this one's; nothing is forgotten."""
        own = self.going()
        states = [*states, own]
        left_out = np.unique(np.concatenate([each.left_out for each in states]))
        answered = any(each.answered for each in states)
        late = answered and any(each.left_out.size < left_out.size for each in states)
        stopped = max([each.stopped for each in states] + [Stop.LATE if late else Stop.NO])
        used = max(each.used for each in states)
        self.state = dataclasses.replace(own, used=used, left_out=left_out, answered=answered, stopped=Stop(stopped))
        self.going()

    def confirm(self) -> None:
        self._confirmed = _counted(self.going())

    def leave_out(self, failed: Int64) -> None:
        own = self.going()
        left_out = np.union1d(own.left_out, failed)
        late = own.answered and left_out.size > own.left_out.size
        many = left_out.size > most_rejected(self._gathered.clients, tolerated=self.collected.uploads.tolerated)
        stopped = Stop.MANY if many else Stop.LATE if late else Stop.NO
        self.state = dataclasses.replace(own, left_out=left_out, stopped=stopped)
        if failed.size:
            _log.warning("server %d found false uploads of clients %s", self._number, failed.tolist())
        self.going()

    def count(self, ends: Int64) -> None:
        self.state = dataclasses.replace(self.going(), ends=ends)
        self._everybody(ends)

    def material(self) -> GatheredMaterial:
        return GatheredMaterial(self.collected, self._number, self._gathered)

    def project(self, ends: Int64, weights: UInt64) -> UInt64:
        """Shares of linear forms of each vector of each client, shape (forms, n vectors); the sums are for `count`."""
        forms, total = self._evaluated(ends, weights)
        self._whole = ends.tobytes(), total
        return forms

    def _sums(self, state: ServerState) -> UInt64:
        total = self._everybody(state.ends)
        for client in state.left_out.tolist():
            total = subtracted(total, self._gathered.one(client).sums(state.ends), self.collected.modulus)
        return total

    def _everybody(self, ends: Int64) -> UInt64:
        if self._whole[0] != ends.tobytes():
            self._whole = ends.tobytes(), self._evaluated(ends, _NO_FORMS)[1]
        return self._whole[1]

    def _evaluated(self, ends: Int64, weights: UInt64) -> tuple[UInt64, UInt64]:
        """Shares of linear forms of each vector of each client of the set, and of the sums over all of them."""
        layout, modulus = self.collected.layout, self.collected.modulus
        forms = np.empty((len(weights), self._gathered.clients * layout.vectors), np.uint64)
        if self._evaluator is not None:
            numbers = self._gathered.numbers
            result = self._evaluator(ends, weights, [each >= 0 for each in numbers])
            if result is not None:
                arrived = np.concatenate([np.empty(0, np.int64), *numbers])
                forms[:, layout.rows(arrived[arrived >= 0])] = result[0]
                return forms, result[1]
        total = np.zeros(ends.size + layout.groups, np.uint64)
        for parts, clients in self._gathered:
            forms[:, layout.rows(clients)], sums = parts.evaluated(ends, weights)
            total = added(total, sums, modulus)
        return forms, total

    def _read(self, messages: Sequence[bytes], kind: int, sequence: int | None) -> list[tuple[Header, bytes]]:
        """Headers and bodies of one message of every other server, in their order."""
        results: dict[int, tuple[Header, bytes]] = {}
        for message in messages:
            header, body = self._peers.read(
                message, kind=kind, session=self.session, round=0, sequence=sequence, longest=self._longest
            )
            if header.sender in results:
                raise PeerError(f"server {header.sender} sent two messages of one round")
            results[header.sender] = header, body
        missing = [server for server in self._others if server not in results]
        if missing:
            raise PeerError(f"there is no message of server {missing[0]}")
        return [results[server] for server in self._others]

    def _read_labels(self, message: bytes, sequence: int) -> bytes:
        _, body = self._peers.read(
            message, kind=LABELS, session=self.session, round=0, sequence=sequence, longest=self._longest
        )
        return body

    def _message(self, kind: int, receiver: int, sequence: int, body: bytes) -> bytes:
        study = self.collected.study
        header = Header(Suite.SERVERS, kind, study, self.session, self._number, receiver, 0, sequence)
        return header.message(body)


# --- How servers come to count the same clients in the same blocks, as one of them sees it
#
#     states    every server says where it stands; if all have counted the same, that is enough, they are done
#     check     else four rounds, in which they verify the uploads for all blocks so far and the new ones
#     states    again, so that nobody answers before all found the same
#
# The number of a check is the largest that any server remembers: material that one of them used is never used again,
# even if the others were stopped before they knew. What a server remembers only grows, whatever it is told.

Messages = dict[int, bytes]


class Preparation:
    """One server's part in getting ready for a question; made by `Server.prepare`.

    Call `begin` once, and `take` with what the other servers sent in the round before, until `done`. Both return
    messages by the number of the server that they are for. Before any of them is sent, the server's `state` must be
    stored. If one server begins anew, all do, and of the preparations of one server only the one begun last goes on.

    Raises, in `take`:
        PeerError: a message is missing, malformed, old, or belongs elsewhere; nothing changed, so the call may be
            repeated. Or another preparation was begun after this one.
        UnsupportedError: too many clients failed, or one did after something was answered, or uploads hold material
            for no more verifications. In the first two cases the server has stopped, and its `state` says so.
    """

    def __init__(self, server: Server, query: Query) -> None:
        self._server = server
        self._wanted = server.collected.layout.ends(block_ends(query))
        self._turn: Callable[[Sequence[bytes]], Messages] | None = None
        self._sequence = 0

    @property
    def done(self) -> bool:
        return self._turn is None

    def begin(self) -> Messages:
        return self._stand()

    def take(self, messages: Sequence[bytes]) -> Messages:
        """Go on with what all the others sent; returns nothing when done."""
        assert self._turn is not None, "begin, and take until done"
        if self._server.going().sequence != self._sequence:
            raise PeerError("another preparation was begun after this one; go on with that")
        return self._turn(messages)

    def _stand(self) -> Messages:
        server, state = self._server, self._server.going()
        self._sequence = state.sequence + 1
        server.state = dataclasses.replace(state, sequence=self._sequence)
        self._turn = self._compare
        return server.say(server.state)

    def _compare(self, messages: Sequence[bytes]) -> Messages:
        """Compare the servers' states, and decide what is left to do."""
        server = self._server
        received = server.hear(messages)
        states = [*received, server.going()]
        server.adopt(received)
        counted = [each.ends for each in states]
        ends = np.unique(np.concatenate([self._wanted, *counted]))
        same = all(np.array_equal(each, ends) for each in counted)
        if same and len({each.left_out.tobytes() for each in states}) == 1:
            server.confirm()
            self._turn = None
            return {}
        if not same:
            if server.collected.checks(ends):
                return self._verify(ends)
            server.count(ends)
        return self._stand()

    def _verify(self, ends: Int64) -> Messages:
        server, state = self._server, self._server.going()
        shares = server.material()
        ends = server.collected.verified(ends, state.used)
        before = state.ends
        verifier = Verifier(
            shares,
            session=server.session,
            uploads=state.uploads,
            used=state.used,
            verified=server.collected.claim(before) if server.collected.checks(before) and before.size else None,
            random=server.random,
        )
        self._check = verifier.check(server.collected.claim(ends))
        self._ends = ends
        server.state = dataclasses.replace(state, used=verifier.used)
        self._turn = self._open
        return self._check.commit()

    def _open(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.open(messages)
        self._turn = self._mask
        return sent

    def _mask(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.masks(messages, lambda weights: self._server.project(self._ends, weights))
        self._turn = self._result
        return sent

    def _result(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.results(messages)
        self._turn = self._accept
        return sent

    def _accept(self, messages: Sequence[bytes]) -> Messages:
        vectors = self._server.collected.layout.vectors
        accepted = self._check.accepted(messages).reshape(-1, vectors).all(axis=1)  # one false vector is enough
        self._server.leave_out(np.flatnonzero(~accepted))
        self._server.count(self._ends)
        return self._stand()


def opened_totals(collected: AggregateUploads, query: LinearQuery, sums: UInt64, adjacency: Adjacency) -> UInt64:
    """Shares of the numbers of records that are opened with an answer, exactly.

    These are the totals that the adjacency makes public, where servers do not know them: how many records
    organizations have that upload sums, and how many there are of each public class. The number of all uploads that are
    a record each is known.
    """
    totals = query.totals(np.zeros(query.aggregate.shape, np.int64), adjacency)
    if totals is None or (collected.uploads.kind != SUMS and len(totals) == 1):
        return np.empty(0, np.uint64)
    return totals_modulo(query, sums, adjacency, collected.modulus)


def _counted(state: ServerState) -> tuple[bytes, bytes]:
    return state.ends.tobytes(), state.left_out.tobytes()


def _coarser(counted: UInt64, fine: Int64, ends: Int64, modulus: int) -> UInt64:
    """Shares of the records in blocks that are made of whole blocks which end at `fine`."""
    below = counted.astype(object).cumsum()[np.searchsorted(fine, ends)]
    return np.array(np.diff(below, prepend=0) % modulus, dtype=np.uint64)
