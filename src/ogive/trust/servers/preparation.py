"""What one server was sent and remembers, with which it goes on after it was stopped: uploads, state and material."""

from __future__ import annotations

import struct
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Int64
from ogive.core.checks import Progress
from ogive.core.files import write_whole
from ogive.crypto.domains import HASH_BYTES, HashDomain, digest, number
from ogive.crypto.tables import Material, ShareShape
from ogive.crypto.wire import Reader
from ogive.errors import PeerError, RefusalError
from ogive.trust.servers.clients import Parts, sortable
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
        return self._starts[-1]

    @property
    def clients(self) -> int:
        return self._places.size

    def append(self, body: bytes, parts: Parts) -> None:
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

    The digest of the set of uploads is zeros until it is known. `used` verifications were begun; records were counted
    in blocks with last cells `ends`; clients `left_out` failed a verification. `said` is how often the server said
    where it
    stands: each state that another server reads has a number of its own.
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
        return self.uploads != _NO_SET

    def to_bytes(self) -> bytes:
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


# --- The material of a verification, read from the uploads when it is needed


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
