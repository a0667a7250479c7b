"""How servers come to count the same clients in the same blocks, as one of them sees it.

    states    every server says where it stands; if all have counted the same, that is enough, they are done
    check     else four rounds, in which they verify the uploads for all blocks so far and the new ones
    states    again, so that nobody answers before all found the same

The number of a check is the largest that any server remembers: material that one of them used is never used again, even
if the others were stopped before they knew. What a server remembers only grows, whatever it is told.

A verification reads the shares of the material of all clients of the set from the uploads when it needs them.
"""

from __future__ import annotations

import dataclasses
import struct
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Int64, UInt64
from ogive.core.checks import Progress
from ogive.core.files import write_whole
from ogive.crypto.domains import HASH_BYTES, HashDomain, digest, number
from ogive.crypto.sketch import Verifier
from ogive.crypto.tables import Material, ShareShape
from ogive.crypto.wire import Reader
from ogive.errors import PeerError, RefusalError
from ogive.queries import Query
from ogive.trust.servers.clients import Parts, sortable
from ogive.trust.servers.modular import block_ends
from ogive.trust.servers.settings import AggregateUploads

# --- What one server was sent, and which of it is in the set
#
# The set is of the clients whose names all servers have. They are numbered by their names in increasing order, the same
# at every server, in whatever order and messages their uploads came. Uploads are kept in a file without a name, so that
# memory stays bounded.


class Shelf:
    """Messages in the order in which they came; gone when the server is."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = [0]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, message: bytes) -> None:
        """Keep one more message."""
        try:
            write_whole(self._file.fileno(), message, at=self._ends[-1])
        except OSError as problem:
            raise RefusalError(
                f"a server cannot keep an upload of {len(message)} bytes in {tempfile.gettempdir()}: "
                f"{problem.strerror}; make room there, or name another folder in TMPDIR"
            ) from None
        self._ends.append(self._ends[-1] + len(message))

    def __iter__(self) -> Iterator[bytes]:
        for place in range(len(self)):
            yield self[place]

    def __getitem__(self, number: int) -> bytes:
        start, end = self._ends[number : number + 2]
        self._file.seek(start)
        return self._file.read(end - start)

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._ends[-1]


Names = NDArray[np.bytes_]


class Gathered:
    """The uploads that a server was sent; `progress` is called with how many of them were read for one purpose."""

    def __init__(self, collected: AggregateUploads, server: int, *, session: bytes, progress: Progress) -> None:
        self._collected = collected
        self._server = server
        self._session = session
        self._progress = progress
        self._shelf = Shelf()
        self._starts = [0]
        self._names: list[Names] = []
        self._own: tuple[Names, Int64] | None = None
        self._places: Int64 = np.empty(0, np.int64)  # of the clients of the set, in the order of arrival
        self._numbers: Int64 = np.empty(0, np.int64)  # in the set, by the order of arrival; -1 for who is not in it

    @property
    def sent(self) -> int:
        """How many uploads came."""
        return self._starts[-1]

    @property
    def clients(self) -> int:
        """How many clients the set has."""
        return self._places.size

    def append(self, body: bytes, parts: Parts) -> None:
        """Keep the uploads of one more message."""
        self._shelf.append(body)
        self._starts.append(self.sent + parts.clients)
        self._names.append(sortable(parts.names(self._session)))

    def names(self) -> bytes:
        """Names of all clients that this server has, increasing; whoever came twice is named once."""
        return self._first()[0].tobytes()

    def common(self, lists: Sequence[Names]) -> Names:
        """Names of the clients that all others have too, increasing."""
        common = self._first()[0]
        for others in lists:
            if not np.array_equal(common, others):
                common = np.intersect1d(common, others, assume_unique=True)
        return common

    def keep(self, common: Names) -> None:
        """Form the set of the clients of these names."""
        own, first = self._first()
        self._places = first[np.searchsorted(own, common)]
        self._numbers = np.full(self.sent, -1)
        self._numbers[self._places] = np.arange(common.size)

    def __iter__(self) -> Iterator[tuple[Parts, Int64]]:
        """The uploads of the clients of the set, some at a time, and the clients' numbers."""
        for place, body in enumerate(self._shelf):
            start, stop = self._starts[place : place + 2]
            numbers = self._numbers[start:stop]
            held = np.flatnonzero(numbers >= 0)
            if held.size:
                parts = self._read(body)
                yield (parts, numbers) if held.size == numbers.size else (parts.only(held), numbers[held])
            self._progress(stop, self.sent)

    @property
    def numbers(self) -> list[Int64]:
        """Of each message the numbers of its clients in the set, in their order; -1 for who is not in it."""
        return [self._numbers[start:stop] for start, stop in pairwise(self._starts)]

    def one(self, client: int) -> Parts:
        """The upload of one client of the set."""
        place = int(self._places[client])
        message = int(np.searchsorted(self._starts, place, side="right")) - 1
        return self._read(self._shelf[message]).only(np.array([place - self._starts[message]]))

    def _read(self, body: bytes) -> Parts:
        return Parts.read(body, self._collected, self._server, self._session)

    def _first(self) -> tuple[Names, Int64]:
        """Different names, increasing, and where each came first; no more uploads are taken."""
        if self._own is None:
            names = np.concatenate([np.empty(0, f"S{HASH_BYTES}"), *self._names])
            self._own = np.unique(names, return_index=True)
            self._names = []  # who asks again is told the same
        return self._own


def read_names(data: bytes) -> Names:
    """A list of names that another server sent."""
    if len(data) % HASH_BYTES:
        raise PeerError("a list of clients is no whole number of names")
    names = np.frombuffer(data, f"S{HASH_BYTES}")
    if names.size and not (names[:-1] < names[1:]).all():
        raise PeerError("a list of clients is not in increasing order")
    return names


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

    Fields:
        study: Digest of the study, 32 bytes.
        session: 16 bytes.
        server: Its number.
        uploads: Digest of the set of uploads, 32 bytes; zeros until it is known.
        used: How many verifications were begun.
        ends: Last cells of the blocks in which records were counted; none at first.
        left_out: Numbers of the clients of the set that failed a verification, increasing.
        answered: Whether anything was answered.
        stopped: Whether, and why, nothing is answered any more.
        said: How often it said where it stands; each state that another server reads has a number of its own.
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
    said: int = 0

    @property
    def frozen(self) -> bool:
        """Whether the set is known."""
        return self.uploads != _NO_SET

    def to_bytes(self) -> bytes:
        """The state, to be stored."""
        head = _LAYOUT.pack(
            _MAGIC, _VERSION, self.answered, self.stopped, 0,
            self.server, self.study, self.session, self.uploads, self.used, self.said,
        )  # fmt: skip
        lists = [each.astype("<i8").tobytes() for each in (self.ends, self.left_out)]
        return head + b"".join((len(each) // 8).to_bytes(8, "little") + each for each in lists)

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerState:
        """Read a state, believing nothing."""
        reader = Reader(data, "state of a server")
        fields = _LAYOUT.unpack(reader.take(_LAYOUT.size))
        magic, version, answered, stopped, reserved, server, study, session, uploads, used, said = fields
        known = magic == _MAGIC and version == _VERSION and answered < 2 and stopped in tuple(Stop) and not reserved
        ends, left_out = (reader.array(reader.number(8), "<i8").astype(np.int64) for _ in range(2))
        reader.finish()
        ordered = all((each >= 0).all() and (each[1:] > each[:-1]).all() for each in (ends, left_out))
        if not known or not ordered:
            raise PeerError("the state of a server is not in the form of this version")
        return cls(study, session, server, uploads, used, ends, left_out, bool(answered), Stop(stopped), said)


# --- The rounds of a preparation


class GatheredMaterial:
    """The material that a server was sent, as a verification needs it."""

    def __init__(self, collected: AggregateUploads, server: int, gathered: Gathered) -> None:
        shape = collected.material
        assert shape is not None, "only what is verified has material"
        self.shape: ShareShape = shape
        self.study = collected.study
        self.server = server
        self.servers = collected.uploads.servers
        self._layout = collected.layout
        self._gathered = gathered

    def __len__(self) -> int:
        return self._gathered.clients * self._layout.vectors

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the uploads besides their names: the number of vectors."""
        return digest(HashDomain.SHARE_BATCH, number(len(self)))

    def material(self, verification: int) -> Material:
        """Shares of the material of all vectors of all clients, in the order of the clients' numbers."""
        squares, products = (self.shape.squares, len(self)), (self.shape.products, len(self))
        shapes = (squares, squares, products, products, products)
        whole = Material(*(np.empty(each, np.uint64) for each in shapes))
        for parts, numbers in self._gathered:
            assert parts.material is not None
            for into, some in zip(whole, parts.material.material(verification), strict=True):
                into[:, self._layout.rows(numbers)] = some
        return whole


Messages = dict[int, bytes]


class Preparing(Protocol):
    """What a preparation needs of its server; `Server` has it."""

    collected: AggregateUploads
    session: bytes
    random: Callable[[int], bytes]
    state: ServerState | None

    def going(self) -> ServerState:
        """The state, of a server that can go on."""

    def say(self, state: ServerState) -> Messages:
        """A state, for the other servers."""

    def hear(self, messages: Sequence[bytes]) -> list[ServerState]:
        """The states of all other servers, each of them once."""

    def adopt(self, states: Sequence[ServerState]) -> None:
        """Merge the states of the other servers into this one's."""

    def confirm(self) -> None:
        """Remember that all servers count what this one does."""

    def leave_out(self, failed: Int64) -> None:
        """Remember who failed a verification."""

    def count(self, ends: Int64) -> None:
        """Count records in blocks."""

    def material(self) -> GatheredMaterial:
        """Shares of the material of all clients of the set."""

    def project(self, ends: Int64, weights: UInt64) -> UInt64:
        """Shares of linear forms of each vector of each client."""


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

    def __init__(self, server: Preparing, query: Query) -> None:
        self._server = server
        self._wanted = server.collected.layout.ends(block_ends(query))
        self._turn: Callable[[Sequence[bytes]], Messages] | None = None
        self._said = 0

    @property
    def done(self) -> bool:
        """Whether the question can be answered."""
        return self._turn is None

    def begin(self) -> Messages:
        """Say where this server stands."""
        return self._stand()

    def take(self, messages: Sequence[bytes]) -> Messages:
        """Go on with what all the others sent; returns nothing when done."""
        assert self._turn is not None, "begin, and take until done"
        if self._server.going().said != self._said:
            raise PeerError("another preparation was begun after this one; go on with that")
        return self._turn(messages)

    def _stand(self) -> Messages:
        server, state = self._server, self._server.going()
        self._said = state.said + 1
        server.state = dataclasses.replace(state, said=self._said)
        self._turn = self._compare
        return server.say(server.state)

    def _compare(self, messages: Sequence[bytes]) -> Messages:
        """Compare the servers' states, and decide what is left to do."""
        server = self._server
        heard = server.hear(messages)
        states = [*heard, server.going()]
        server.adopt(heard)
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
