"""Uploads: how clients turn their records into one message for every server, and how a server reads and keeps them.

message = header | for each part its length u64 and the part: keys or tables, then material for verifications
| hashes of the other servers' parts, 32 bytes a client and server, with their length
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Bool, Int64, UInt8, UInt64
from ogive.core.checks import Progress
from ogive.core.files import write_whole
from ogive.crypto import comparison, field, tables
from ogive.crypto.comparison import KeyBatch, evaluate_sums
from ogive.crypto.comparison.evaluation import evaluate_weighed
from ogive.crypto.comparison.keys import front
from ogive.crypto.domains import HASH_BYTES, SEED_BYTES, HashDomain, Random, digest, hash_rows, number
from ogive.crypto.tables import Material, ShareBatch, ShareShape
from ogive.crypto.wire import HEADER_BYTES, Header, Reader, Suite
from ogive.errors import PeerError, RefusalError
from ogive.records.contributions import Contributions
from ogive.trust.modulus import subtracted
from ogive.trust.servers.settings import AggregateUploads
from ogive.trust.servers.uploads import SUMS

Piece = KeyBatch | ShareBatch
"""What one server is sent of some clients: keys, tables or material."""

# --- Names of clients: hashes that bind them to all that they send, to every server
#
# The part of a server is the keys or tables and the material that it is sent, and its hash is as secret as the part is
# random: every part begins with a seed of its own. A client tells every server the hashes of the others' parts. The
# hash of all of them is its name, which every server computes for itself: who tells servers different things, or whose
# upload was damaged on the way, has another name at each, and is in no set.


def part_hashes(collected: AggregateUploads, pieces: Sequence[Piece], *, server: int, session: bytes) -> UInt8:
    key = digest(HashDomain.SERVERS_PART, collected.study, session, number(server))
    vectors = collected.layout.vectors
    rows = (each for piece in pieces for each in piece.pieces())
    return hash_rows(key, *(each.reshape(len(each) // vectors, vectors, *each.shape[1:]) for each in rows))


def client_names(collected: AggregateUploads, hashes: Sequence[UInt8], *, session: bytes) -> UInt8:
    """Names of clients from the hashes of the parts of all servers in their order, each of shape (n, 32)."""
    return hash_rows(digest(HashDomain.SERVERS_NAME, collected.study, session), *hashes)


def sortable(names: UInt8) -> NDArray[np.bytes_]:
    return np.ascontiguousarray(names).reshape(-1).view(f"S{HASH_BYTES}")


# --- One message for every server

UPLOAD = 1
"""Kind of the message."""

_LENGTH_BYTES = 8

CLIENTS = 0xFFFFFFFF
"""Sender of uploads: clients have no numbers, servers know them by their place in the set."""


def upload(
    collected: AggregateUploads, records: Contributions, *, batch: int, session: bytes, random: Random
) -> list[bytes]:
    """Share some records, each its own client's, between the servers: a message for each server.

    The messages have the number `batch` in the session of 16 bytes, and the random bytes are secret.
    """
    layout = collected.layout
    symbols = layout.symbols(records.cells)
    parts: list[Sequence[Piece]] = []
    if collected.keys is not None:
        binding = collected.binding("keys", session)
        parts.append(comparison.generate(symbols, shape=collected.keys, study=binding, random=random))
    if collected.tables is not None:
        if records.amounts is None:
            columns: NDArray[Any] = tables.one_hot_columns(symbols, cells=layout.width)
        else:
            assert layout.amount_bits is not None
            columns = tables.amount_columns(symbols, records.amounts, groups=layout.groups, bits=layout.amount_bits)
        parts.append(_shared(columns, collected, collected.tables, "tables", session, random))
    if collected.material is not None:
        nothing = np.empty((0, symbols.size), np.int64)
        parts.append(_shared(nothing, collected, collected.material, "material", session, random))
    return upload_messages(collected, parts, batch=batch, session=session)


def upload_sums(collected: AggregateUploads, sums: Int64, *, batch: int, session: bytes, random: Random) -> list[bytes]:
    assert collected.uploads.kind == SUMS
    assert collected.tables is not None
    columns = sums.reshape(collected.layout.vectors, -1).T
    shared = _shared(columns, collected, collected.tables, "tables", session, random)
    return upload_messages(collected, [shared], batch=batch, session=session)


def upload_messages(
    collected: AggregateUploads, parts: Sequence[Sequence[Piece]], *, batch: int, session: bytes
) -> list[bytes]:
    """Messages of some clients to every server; for each part of an upload `parts` has what every server is sent."""
    pieces = list(zip(*parts, strict=True))
    hashes = [part_hashes(collected, own, server=server, session=session) for server, own in enumerate(pieces)]
    messages = []
    for server, own in enumerate(pieces):
        header = Header(Suite.SERVERS, UPLOAD, collected.study, session, CLIENTS, server, 0, batch)
        others = np.concatenate([each for number, each in enumerate(hashes) if number != server], axis=1)
        fields = [*(piece.to_bytes() for piece in own), others.tobytes()]
        messages.append(header.message(*_with_lengths(fields)))
    return messages


def _with_lengths(fields: Iterable[bytes]) -> Iterator[bytes]:
    for each in fields:
        yield len(each).to_bytes(_LENGTH_BYTES, "little")
        yield each


def _shared(
    columns: NDArray[Any], collected: AggregateUploads, shape: ShareShape, part: str, session: bytes, random: Random
) -> tuple[ShareBatch, ...]:
    servers, binding = collected.uploads.servers, collected.binding(part, session)
    return tables.share(columns, shape=shape, servers=servers, study=binding, random=random)


# --- The uploads of some clients, as one server reads them


@dataclass(frozen=True, eq=False)
class Parts:
    """The uploads of some clients, as one server reads them: keys, or tables or sums, and material for verifications.

    The hashes of the other servers' parts are in their order, shape (n, 32 (servers - 1)).
    """

    collected: AggregateUploads
    server: int
    keys: KeyBatch | None
    tables: ShareBatch | None
    material: ShareBatch | None
    others: UInt8

    @classmethod
    def read(cls, body: bytes, collected: AggregateUploads, server: int, session: bytes) -> Parts:
        reader = Reader(body, "upload")
        servers = collected.uploads.servers

        def part() -> memoryview:
            return reader.view(reader.number(_LENGTH_BYTES))

        def shares(shape: ShareShape | None, name: str) -> ShareBatch | None:
            if shape is None:
                return None
            study = collected.binding(name, session)
            return ShareBatch.from_bytes(part(), shape=shape, study=study, server=server, servers=servers)

        keys = None
        if collected.keys is not None:
            keys = KeyBatch.from_bytes(part(), shape=collected.keys, study=collected.binding("keys", session))
        tables, material = shares(collected.tables, "tables"), shares(collected.material, "material")
        hashes, width = np.frombuffer(part(), np.uint8), (servers - 1) * HASH_BYTES
        reader.finish()
        vectors = collected.layout.vectors
        sizes = {divmod(len(each), vectors) for each in (keys, tables, material) if each is not None}
        if sizes != {(hashes.size // width, 0)} or not hashes.size or hashes.size % width:
            raise PeerError("the parts of the upload are of different numbers of clients, or of none")
        return cls(collected, server, keys, tables, material, hashes.reshape(-1, width))

    @property
    def clients(self) -> int:
        held = self.tables if self.keys is None else self.keys
        assert held is not None
        return len(held) // self.collected.layout.vectors

    def names(self, session: bytes) -> UInt8:
        pieces = [each for each in (self.keys, self.tables, self.material) if each is not None]
        own = part_hashes(self.collected, pieces, server=self.server, session=session)
        hashes = np.split(self.others, self.collected.uploads.servers - 1, axis=1)
        return client_names(self.collected, [*hashes[: self.server], own, *hashes[self.server :]], session=session)

    def evaluated(self, ends: Int64, weights: UInt64, *, threads: int | None = None) -> tuple[UInt64, UInt64]:
        """What `weighed` finds, where no form is asked for in the time that `sums` takes."""
        if len(weights):
            return self.weighed(ends, weights, threads=threads)
        vectors = self.clients * self.collected.layout.vectors
        return np.empty((0, vectors), np.uint64), self.sums(ends, threads=threads)

    def sums(self, ends: Int64, *, threads: int | None = None) -> UInt64:
        """Shares of the records in every block and then of the sums of amounts, over all these clients."""
        if self.keys is not None:
            points = self.collected.points(ends)
            if not points.size:
                return self._blocks(np.empty(0, np.uint64))
            return self._blocks(evaluate_sums(self.keys, points, server=self.server, threads=threads).astype(np.uint64))
        assert self.tables is not None
        return self.weighed(ends, np.empty((0, self.tables.shape.columns), np.uint64))[1]

    def weighed(self, ends: Int64, weights: UInt64, *, threads: int | None = None) -> tuple[UInt64, UInt64]:
        """Shares of public linear forms of each client's columns, and `sums`.

        Returns:
            Elements, shape (forms, n) or, where a client has several vectors, a form of each: (forms, n vectors); and
            of shape (blocks + groups,).
        """
        if self.keys is not None:
            result = evaluate_weighed(
                self.keys, self.collected.points(ends), weights, server=self.server, threads=threads
            )
            return result.forms, self._blocks(result.sums)
        assert self.tables is not None
        forms, columns = self.tables.weighed(weights, vectors=self.collected.layout.vectors)
        return forms, self._folded(columns, ends)

    def only(self, chosen: NDArray[np.intp]) -> Parts:
        rows = self.collected.layout.rows(chosen)
        keys = None if self.keys is None else self.keys[rows]
        tables = None if self.tables is None else self.tables[rows]
        material = None if self.material is None else self.material[rows]
        return Parts(self.collected, self.server, keys, tables, material, self.others[chosen])

    def _blocks(self, values: UInt64) -> UInt64:
        """Records in blocks, from how many have a cell beyond each point: the differences, all clients at first."""
        modulus = self.collected.modulus
        everyone = np.array([self.clients if self.server == 0 else 0], np.uint64)
        beyond = np.concatenate([everyone, values, np.zeros(1, np.uint64)])
        return subtracted(beyond[:-1], beyond[1:], modulus)

    def _folded(self, columns: UInt64, ends: Int64) -> UInt64:
        layout = self.collected.layout
        starts = np.concatenate([[0], ends[:-1] + 1])
        cells, amounts = columns[: layout.cells], columns[layout.cells : layout.cells + layout.groups]
        low = np.add.reduceat(cells & np.uint64(0xFFFFFFFF), starts)
        high = np.add.reduceat(cells >> np.uint64(32), starts)
        wide = field.products(field.residues(high), np.uint64(1 << 32))
        return np.concatenate([field.sums(field.residues(low), wide), amounts])


# --- Messages of single clients as rows of bytes, and many of them as one message
#
# All honest clients of an aggregate send a server messages of one length, which differ in what is secret alone. So many
# of them are a matrix, which is compared with what everybody sends and cut into columns at once, instead of being read
# message by message.
#
#     row = header | for each part its length u64, its front and its bytes, as one client sends them


@dataclass(frozen=True)
class _Part:
    """One part of a message: its first bytes for a number of vectors, and bytes of one vector, column by column."""

    vectors: int
    front: Callable[[int], bytes]
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Singles:
    """Messages of single clients to one server, in one session."""

    collected: AggregateUploads
    server: int
    session: bytes

    @property
    def length(self) -> int:
        return len(self._template)

    def alike(self, rows: UInt8) -> Bool:
        """Which of some rows say of themselves what every honest client's does; shape (n,)."""
        fixed = self._fixed
        return np.asarray((rows[:, fixed] == self._template[fixed]).all(axis=1))

    def message(self, rows: UInt8) -> bytes:
        """One message of all these clients, whose rows are alike; what they hold otherwise is not looked at."""
        at = HEADER_BYTES
        fields: list[bytes] = []
        for part in self._parts:
            at += _LENGTH_BYTES + len(part.front(part.vectors))
            columns = [part.front(len(rows) * part.vectors)]
            for width in part.widths:
                columns.append(rows[:, at : at + width * part.vectors].tobytes())
                at += width * part.vectors
            fields.append(b"".join(columns))
        return self._header.message(*_with_lengths(fields))

    def rows(self, message: bytes, clients: int) -> UInt8:
        """The inverse of `message`, for what `upload` made; shape (n, length)."""
        data = np.frombuffer(message, np.uint8)
        result = np.empty((clients, self.length), np.uint8)
        result[:] = self._template
        source = at = HEADER_BYTES
        for part in self._parts:
            source += _LENGTH_BYTES + len(part.front(clients * part.vectors))
            at += _LENGTH_BYTES + len(part.front(part.vectors))
            for width in part.widths:
                row = width * part.vectors
                result[:, at : at + row] = data[source : source + clients * row].reshape(clients, row)
                at, source = at + row, source + clients * row
        assert source == len(message), "the message is of these clients"
        return result

    def good(self, rows: UInt8) -> UInt8:
        """Those rows that can be read; who sent another one is left out alone."""
        rows = rows[self.alike(rows)]
        if not len(rows):
            return rows
        try:
            Parts.read(self.message(rows)[HEADER_BYTES:], self.collected, self.server, self.session)
        except PeerError:
            if len(rows) == 1:
                return rows[:0]
            middle = len(rows) // 2
            return np.concatenate([self.good(rows[:middle]), self.good(rows[middle:])])
        return rows

    @property
    def _header(self) -> Header:
        return Header(Suite.SERVERS, UPLOAD, self.collected.study, self.session, CLIENTS, self.server, 0, 0)

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        collected, server = self.collected, self.server
        servers, vectors = collected.uploads.servers, collected.layout.vectors
        results = []
        if collected.keys is not None:
            shape, study = collected.keys, collected.binding("keys", self.session)
            level = (SEED_BYTES, shape.dtype.itemsize, 1)
            widths = (SEED_BYTES, *level * shape.levels, shape.dtype.itemsize * shape.leaf_values)
            results.append(_Part(vectors, lambda count: front(shape, study, count), widths))

        def shares(shape: ShareShape, name: str) -> _Part:
            study = collected.binding(name, self.session)
            explicit = shape.explicit if server == servers - 1 else 0
            widths = (SEED_BYTES, *[8] * explicit)
            return _Part(vectors, lambda count: tables.front(shape, study, server, servers, count), widths)

        if collected.tables is not None:
            results.append(shares(collected.tables, "tables"))
        if collected.material is not None:
            results.append(shares(collected.material, "material"))
        results.append(_Part(1, lambda count: b"", (HASH_BYTES * (servers - 1),)))
        return tuple(results)

    @cached_property
    def _template(self) -> UInt8:
        """A message of one client, zero where it is secret."""
        return self._filled(0)

    @cached_property
    def _fixed(self) -> Bool:
        """Which bytes every honest client sends; shape (length,)."""
        fixed: Bool = self._template == self._filled(255)
        return fixed

    def _filled(self, secret: int) -> UInt8:
        fields = [
            part.front(part.vectors) + bytes([secret]) * (sum(part.widths) * part.vectors) for part in self._parts
        ]
        return np.frombuffer(self._header.message(*_with_lengths(fields)), np.uint8)


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
        raise PeerError("a list of clients is not a whole number of names")
    names = np.frombuffer(data, f"S{HASH_BYTES}")
    if names.size and not (names[:-1] < names[1:]).all():
        raise PeerError("a list of clients is not in increasing order")
    return names


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
