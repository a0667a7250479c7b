"""Labels of votes that nobody sees, as each of two servers computes them with the other, in garbled circuits.

    check     the servers learn which queries pass, session by session, until as many did as may be answered
    label     of those alone: each server gets a half of every label

A session has four messages: server 0's transfers, server 1's extension, the garbled circuit, and server 1's answer,
which ends it. In a check the last two carry the halves, so that both learn who passed, which is part of what is
released. Halves of labels go to the analyst alone, who learns them and nothing else.

**Both servers must follow the protocol** (they are semi-honest), and they must not tell each other what they know. Each
adds the whole noise of the query: what the analyst and one server know together still has the other's.

Source:
    Papernot and others 2018, algorithms 1 and 2; `docs/proofs/secret_votes.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.crypto.circuits import Circuit
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.semi_honest import (
    SemiHonestEvaluator,
    SemiHonestGarbler,
    Task,
    instances_at_once,
    read_bits,
    write_bits,
)
from ogive.crypto.wire import Reader
from ogive.errors import PeerError
from ogive.noise.base import NodeNoise
from ogive.queries.labels import NOT_ASKED, REFUSED
from ogive.trust.servers.comparing import GARBLER, Comparison

ANSWERED = 0
"""What is said of a query that has a label, beside `REFUSED` and `NOT_ASKED`."""

_Work = Iterator[tuple[Circuit, Bool, str]]


@dataclass(frozen=True)
class Votes:
    """What one server enters: its shares of all votes, shape (queries, classes), and its noise."""

    server: int
    sums: UInt64
    nodes: NodeNoise


class Channel:
    """Messages about one question between two servers, which each of them numbers from 0."""

    def __init__(self, write: Callable[[int, bytes], bytes], read: Callable[[bytes, int], bytes]) -> None:
        self._write = write
        self._read = read
        self._said = self._heard = 0

    def write(self, body: bytes) -> bytes:
        self._said += 1
        return self._write(self._said - 1, body)

    def read(self, message: bytes) -> bytes:
        body = self._read(message, self._heard)
        self._heard += 1
        return body


class SemiHonestLabeling:
    """One server's part in the labels of one query; made by `Server.label`.

    Call `begin` once, and `take` with the other's message, until `done`; both return the message that follows, or None.
    The session is new in every session of these servers.
    """

    def __init__(
        self,
        comparison: Comparison,
        votes: Votes,
        *,
        session: bytes,
        question: bytes,
        random: Callable[[int], bytes],
        channel: Channel,
    ) -> None:
        queries = len(comparison.query.ballots.queries)
        self.statuses: Int64 = np.full(queries, NOT_ASKED, np.int64)
        """`ANSWERED`, `REFUSED` or `NOT_ASKED` for every query; known to both servers."""
        self.half: Bool = np.zeros((0, comparison.label.outputs[0].width), np.bool_)
        """This server's half of the labels of the queries that are answered, shape (answers, bits)."""
        self.done = False
        self._comparison = comparison
        self._votes = votes
        self._session = session
        self._question = question
        self._random = random
        self._channel = channel
        self._sessions = 0
        self._garbler: SemiHonestGarbler | None = None
        self._evaluator: SemiHonestEvaluator | None = None
        self._own: Bool = self.half
        self._work = self._steps()
        self._turn: Callable[[bytes], bytes | None]

    def begin(self) -> bytes | None:
        """Start; server 0 has something to say, and server 1 waits for it."""
        return self._next()

    def take(self, message: bytes) -> bytes | None:
        if self.done:
            raise PeerError("all labels are found, and nothing more is taken")
        reader = Reader(self._channel.read(message), "message about labels")
        reader.expect(self._question, "question")
        return self._turn(reader.take(reader.left))

    # what is computed, in the order of both servers

    def _steps(self) -> _Work:
        """Circuits with this server's inputs; `_opened` gets what a check opens."""
        comparison, votes = self._comparison, self._votes
        queries, most = len(self.statuses), comparison.query.max_answers
        if comparison.check is None:
            self.statuses[:most] = ANSWERED
        else:
            for some in _parts(np.arange(queries), comparison.check):
                self._asked = some
                yield comparison.check, comparison.check_bits(votes.server, votes.sums, votes.nodes, some), "check"
                if (self.statuses == ANSWERED).sum() == most:
                    break
        for some in _parts(np.flatnonzero(self.statuses == ANSWERED), comparison.label):
            yield comparison.label, comparison.label_bits(votes.server, votes.sums, votes.nodes, some), "label"

    def _opened(self, passed: Bool) -> None:
        """Note which of the queries that were checked pass, up to the last that may be answered."""
        result = np.where(passed, ANSWERED, REFUSED)
        left = self._comparison.query.max_answers - int((self.statuses == ANSWERED).sum())
        if passed.sum() >= left:
            result[np.flatnonzero(passed)[left - 1] + 1 :] = NOT_ASKED
        self.statuses[self._asked] = result

    # one session

    def _next(self) -> bytes | None:
        step = next(self._work, None)
        if step is None:
            self.done = True
            return None
        circuit, bits, self._purpose = step
        fields = (self._session, self._question, number(self._sessions))
        task = Task(circuit, len(bits), digest(HashDomain.SERVERS_LABELS, *fields, length=16))
        self._sessions += 1
        if self._votes.server == GARBLER:
            self._garbler = SemiHonestGarbler(task, bits, self._random)
            self._turn = self._garble
            return self._say(self._garbler.transfer)
        self._evaluator = SemiHonestEvaluator(task, bits, self._random)
        self._turn = self._extend
        return None

    def _extend(self, transfer: bytes) -> bytes:
        assert self._evaluator is not None
        self._turn = self._evaluate
        return self._say(self._evaluator.extension(transfer))

    def _garble(self, extension: bytes) -> bytes:
        assert self._garbler is not None
        garbled, self._own = self._garbler.garbled(extension)
        self._turn = self._finish
        return self._say(self._told(), garbled)

    def _evaluate(self, body: bytes) -> bytes:
        assert self._evaluator is not None
        reader = Reader(body, "garbled circuit")
        told = reader.take(-(-len(self._asked) // 8) if self._purpose == "check" else 0)
        self._own = self._evaluator.half(reader.take(reader.left))
        said = self._say(self._told())
        self._end(told)
        self._next()
        return said

    def _finish(self, told: bytes) -> bytes | None:
        self._end(told)
        return self._next()

    def _told(self) -> bytes:
        """The half that the other server is told, of a check, or nothing."""
        return write_bits(self._own[:, 0]) if self._purpose == "check" else b""

    def _end(self, told: bytes) -> None:
        """Note what this session found, from the own half and what the other told of its own."""
        if self._purpose == "label":
            Reader(told, "end of a session").finish()
            self.half = np.concatenate([self.half, self._own])
            return
        self._opened(self._own[:, 0] ^ read_bits(told, len(self._asked)))

    def _say(self, *bodies: bytes) -> bytes:
        return self._channel.write(b"".join([self._question, *bodies]))


def converse(garbler: SemiHonestLabeling, evaluator: SemiHonestLabeling) -> None:
    """Let two servers talk until both are done: each message is answered by one."""
    evaluator.begin()
    said, listener, speaker = garbler.begin(), evaluator, garbler
    while said is not None:
        said, listener, speaker = listener.take(said), speaker, listener
    if not (garbler.done and evaluator.done):
        raise PeerError("a server has nothing more to say while the other waits")


def _parts(queries: Int64, circuit: Circuit) -> Iterator[Int64]:
    size = instances_at_once(circuit)
    for start in range(0, len(queries), size):
        yield queries[start : start + size]
