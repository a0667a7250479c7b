"""Labels of votes that nobody sees, as each of two servers computes them with the other, in garbled circuits.

    check     the servers learn which queries pass, session by session, until as many did as may be answered
    label     of those alone: each server gets a half of every label

A session has four messages: server 0's transfers, server 1's extension, the garbled circuit, and server 1's answer,
which ends it. In a check the last two carry the halves, so that both learn who passed, which is part of what is
released. Halves of labels go to the analyst alone, who learns them and nothing else.

Server 0 garbles and enters the constants, server 1 evaluates. For each query there are two circuits at most:

    check     whether the largest count (or excess over what is expected) with the noise of both reaches the threshold
    label     for what passed: the number of the largest of all counts, each with the noise of both

Counts are held modulo 2^61 - 1. Those of the check are enlarged by public whole votes, so that none is negative; those
of a label get their noise first, and then a public number which the noise does not exceed but with probability 2^-64.
Where it does, a label or a check may be wrong, and tells no more than a right one.

**Both servers must follow the protocol** (they are semi-honest), and they must not tell each other what they know. Each
adds the whole noise of the query: what the analyst and one server know together still has the other's.

Source:
    Papernot and others 2018, algorithms 1 and 2; `docs/proofs/secret_votes.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.crypto import circuits, domains, field, semi_honest, wire
from ogive.crypto.circuits.arithmetic import MOST_BITS, first_largest, reaches, share_bits
from ogive.errors import PeerError, UnsupportedError
from ogive.noise.base import Law, NodeNoise
from ogive.noise.laws import noise_bound
from ogive.queries import LabelsQuery
from ogive.queries.labels import NOT_ASKED, REFUSED
from ogive.trust.modulus import added, residues

# --- Sizes of circuits and what each server enters, all sizes public

SERVERS = 2
_GATE_SECONDS, _BIT_SECONDS = 4e-7, 1e-6
"""Measured at the garbler, who does most."""
GARBLER, EVALUATOR = 0, 1
"""The servers, by number."""


@dataclass(frozen=True)
class Compared:
    """What labels take of two servers, without headers: bytes that each sends, AND gates, and bits of server 1."""

    garbler_bytes: int
    evaluator_bytes: int
    gates: int
    bits: int

    @property
    def seconds(self) -> float:
        """That the busier server computes on one core; a prediction."""
        return self.gates * _GATE_SECONDS + self.bits * _BIT_SECONDS


@dataclass(frozen=True)
class Comparison:
    """Circuits and inputs of one query, where a class has the votes of all teachers at most."""

    query: LabelsQuery
    teachers: int

    def __post_init__(self) -> None:
        widths = [self._label_width]
        if self.query.check is not None:
            widths += [self._check_width, self._offset_width - 2]
        if max(widths) > MOST_BITS:
            raise UnsupportedError(
                "this many votes with this much noise leave the range of the servers' numbers; ask for less noise, "
                "or use trust central"
            )

    @cached_property
    def check(self) -> circuits.Circuit | None:
        if self.query.check is None:
            return None
        return reaches(self._classes, self._check_width, offset_width=self._offset_width, shift=self.query.bits)

    @cached_property
    def label(self) -> circuits.Circuit:
        return first_largest(self._classes, self._label_width)

    def check_bits(self, server: int, sums: UInt64, nodes: NodeNoise, queries: Int64) -> Bool:
        """What a server enters for the checks of some queries, shape (queries, wires), from its shares of all votes."""
        check = self.query.check
        assert check is not None
        low, _ = self._raised
        bottom, top = self._reach
        shares, offsets = sums[queries], nodes.values(check.law, 0, queries)
        if server == GARBLER:
            shares = added(shares, residues(self._whole_votes[queries] - low, field.P), field.P)
            # a threshold that no noise reaches, or every noise, is as good as the nearest such
            offsets = offsets + (low << self.query.bits) - min(max(check.threshold, bottom), top + 1)
        width = self._offset_width
        shifted = offsets.astype(np.uint64) & np.uint64((1 << width) - 1)
        return share_bits(shares, self._check_width, offsets=shifted, offset_width=width)

    def label_bits(self, server: int, sums: UInt64, nodes: NodeNoise, queries: Int64) -> Bool:
        """What a server enters for the labels of some queries, shape (queries, wires); see `check_bits`."""
        query, classes = self.query, self._classes
        scaled = added(np.zeros((len(queries), classes), np.uint64), sums[queries], field.P)
        for _ in range(query.bits):
            scaled = added(scaled, scaled, field.P)
        places = queries[:, np.newaxis] * classes + np.arange(classes)
        noise = nodes.values(query.law, len(query.levels) - 1, places)
        if server == GARBLER:
            noise = noise + _bound(query.law)
        return share_bits(added(scaled, residues(noise, field.P), field.P), self._label_width)

    def traffic(self) -> Compared:
        """What the two servers send and compute, if every query is checked and as many are answered as may be."""
        sent, gates, bits = np.zeros(2, np.int64), 0, 0
        for circuit, queries in ((self.check, len(self.query.ballots.queries)), (self.label, self.query.max_answers)):
            if circuit is not None:
                size = semi_honest.instances_at_once(circuit)
                for start in range(0, queries, size):
                    transfer, extension, garbled = semi_honest.message_bytes(circuit, min(size, queries - start))
                    sent += (transfer + garbled, extension)
                gates += queries * circuit.ands
                bits += queries * circuit.evaluator_bits
        return Compared(int(sent[GARBLER]), int(sent[EVALUATOR]), gates, bits)

    @property
    def _classes(self) -> int:
        return self.query.ballots.classes

    @cached_property
    def _whole_votes(self) -> Int64:
        """Votes that the check adds to every count, so that an excess over what is expected is rounded half up."""
        check, bits = self.query.check, self.query.bits
        if check is None or check.expected is None:
            return np.zeros(self.query.ballots.shape, np.int64)
        # floor((count 2^bits - expected + half) / 2^bits) = count + floor((half - expected) / 2^bits)
        return np.asarray(((1 << bits) >> 1) - np.array(check.expected, np.int64) >> bits)

    @cached_property
    def _raised(self) -> tuple[int, int]:
        """The least and the most votes that the check adds."""
        votes = self._whole_votes
        return min(0, int(votes.min())), max(0, int(votes.max()))

    @cached_property
    def _reach(self) -> tuple[int, int]:
        """Between what the largest count with its noise is."""
        assert self.query.check is not None
        (low, high), bound = self._raised, _bound(self.query.check.law)
        return (low << self.query.bits) - bound, (self.teachers + high << self.query.bits) + bound

    @property
    def _check_width(self) -> int:
        low, high = self._raised
        return max(1, (self.teachers + high - low).bit_length())

    @property
    def _offset_width(self) -> int:
        bottom, top = self._reach
        return (top - bottom + 1).bit_length() + 1

    @property
    def _label_width(self) -> int:
        return ((self.teachers << self.query.bits) + 2 * _bound(self.query.law)).bit_length()


def _bound(law: Law) -> int:
    """What the noise of both servers together does not exceed."""
    return noise_bound([law], adding=SERVERS, honest=1)


# --- The conversation of two servers

ANSWERED = 0
"""What is said of a query that has a label, beside `REFUSED` and `NOT_ASKED`."""

_Work = Iterator[tuple[circuits.Circuit, Bool, str]]


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
        self._sent = self._received = 0

    def write(self, body: bytes) -> bytes:
        self._sent += 1
        return self._write(self._sent - 1, body)

    def read(self, message: bytes) -> bytes:
        body = self._read(message, self._received)
        self._received += 1
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
        self._garbler: semi_honest.SemiHonestGarbler | None = None
        self._evaluator: semi_honest.SemiHonestEvaluator | None = None
        self._own: Bool = self.half
        self._work = self._steps()
        self._turn: Callable[[bytes], bytes | None]

    def begin(self) -> bytes | None:
        """Start; server 0 has something to say, and server 1 waits for it."""
        return self._next()

    def take(self, message: bytes) -> bytes | None:
        if self.done:
            raise PeerError("all labels are found, and nothing more is taken")
        reader = wire.Reader(self._channel.read(message), "message about labels")
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
                self._queries = some
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
        self.statuses[self._queries] = result

    # one session

    def _next(self) -> bytes | None:
        step = next(self._work, None)
        if step is None:
            self.done = True
            return None
        circuit, bits, self._purpose = step
        fields = (self._session, self._question, domains.number(self._sessions))
        task = semi_honest.Task(
            circuit, len(bits), domains.digest(domains.HashDomain.SERVERS_LABELS, *fields, length=16)
        )
        self._sessions += 1
        if self._votes.server == GARBLER:
            self._garbler = semi_honest.SemiHonestGarbler(task, bits, self._random)
            self._turn = self._garble
            return self._say(self._garbler.transfer)
        self._evaluator = semi_honest.SemiHonestEvaluator(task, bits, self._random)
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
        return self._say(self._own_half(), garbled)

    def _evaluate(self, body: bytes) -> bytes:
        assert self._evaluator is not None
        reader = wire.Reader(body, "garbled circuit")
        other_half = reader.take(-(-len(self._queries) // 8) if self._purpose == "check" else 0)
        self._own = self._evaluator.half(reader.take(reader.left))
        message = self._say(self._own_half())
        self._end(other_half)
        self._next()
        return message

    def _finish(self, other_half: bytes) -> bytes | None:
        self._end(other_half)
        return self._next()

    def _own_half(self) -> bytes:
        """The half that the other server is told, of a check, or nothing."""
        return semi_honest.write_bits(self._own[:, 0]) if self._purpose == "check" else b""

    def _end(self, other_half: bytes) -> None:
        """Note what this session found, from the own half and what the other told of its own."""
        if self._purpose == "label":
            wire.Reader(other_half, "end of a session").finish()
            self.half = np.concatenate([self.half, self._own])
            return
        self._opened(self._own[:, 0] ^ semi_honest.read_bits(other_half, len(self._queries)))

    def _say(self, *bodies: bytes) -> bytes:
        return self._channel.write(b"".join([self._question, *bodies]))


def converse(garbler: SemiHonestLabeling, evaluator: SemiHonestLabeling) -> None:
    """Let two servers talk until both are done: each message is answered by one."""
    evaluator.begin()
    message, listener, speaker = garbler.begin(), evaluator, garbler
    while message is not None:
        message, listener, speaker = listener.take(message), speaker, listener
    if not (garbler.done and evaluator.done):
        raise PeerError("a server has nothing more to say while the other waits")


def _parts(queries: Int64, circuit: circuits.Circuit) -> Iterator[Int64]:
    size = semi_honest.instances_at_once(circuit)
    for start in range(0, len(queries), size):
        yield queries[start : start + size]
