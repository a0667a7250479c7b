"""Additive sharing of clients' vectors among two or more servers, and the material that lets servers check them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import Int64, UInt8, UInt64
from ogive.core.checks import whole
from ogive.core.compiling import njit
from ogive.crypto.comparison import KeyShape
from ogive.crypto.domains import HASH_BYTES, SEED_BYTES, Blocks, HashDomain, Permutation, Random, digest, number
from ogive.crypto.field import P, accumulate, add, differences, encode, fold, products, reduce, sums, total
from ogive.crypto.wire import Reader, check_study
from ogive.errors import DataError, ParameterError, PeerError

# --- Which elements a client shares
#
# A seed of 16 bytes expands to one block of two elements after another. The columns come first, two a block; then for
# each verification a block (a, c) for every square and two blocks (x, y), (z, unused) for every product, where c = a^2
# and z = x y once the shares of all servers are added up. What may be anything (a, x, y) follows from the seeds of all
# servers. What is determined (columns, c, z) follows from the seeds of all servers but the last, which is sent the
# difference: 8 bytes an element.

MOST_COLUMNS = 1 << 21
"""Columns of one client: each is within 2^-61 of uniform, so all together are within 2^-40."""


@dataclass(frozen=True)
class ShareShape:
    """How many elements every client of a study shares; public.

    Fields:
        columns: Numbers of a client's own vector; 0 where it uploads comparison keys.
        squares: Pairs (a, a^2) that one verification uses.
    """

    columns: int
    squares: int = 0
    products: int = 0
    verifications: int = 0

    def __post_init__(self) -> None:
        for name, most in (("columns", MOST_COLUMNS), ("squares", 256), ("products", 256), ("verifications", 1 << 10)):
            whole(getattr(self, name), name, 0, most)

    @cached_property
    def column_blocks(self) -> int:
        return -(-self.columns // 2)

    def material_block(self, verification: int) -> int:
        return self.column_blocks + verification * (self.squares + 2 * self.products)

    def material_row(self, verification: int) -> int:
        """The row of a verification's first c among the explicit elements; those of z follow the squares."""
        return self.columns + verification * (self.squares + self.products)

    @property
    def explicit(self) -> int:
        """Elements that are sent to the last server as they are."""
        return self.material_row(self.verifications)


# --- Expansion of secret seeds into elements of the field
#
# Block b of a seed s is AES_k(s) xor s, where the key k is public and belongs to the study and to b; its two words,
# modulo p, are two elements, each within 2^-61 of uniform. Whoever gives every kind of upload and every session a
# digest of its own as the study lets a key see one seed of each client and server, or of each vector of a client that
# shares several, so that an attacker who makes T calls of AES has an advantage of about n T / 2^128 against n seeds
# that it does not hold (AES under fixed keys as random permutations).
#
# Source:
#     `crypto.md`, section 2.


def expand(seeds: UInt64, *, study: bytes, first: int, count: int) -> UInt64:
    """Some blocks of every seed, as elements, shape (2 count, n): rows 2 j and 2 j + 1 are block first + j."""
    clients = len(seeds)
    elements = np.empty((2 * count, clients), dtype=np.uint64)
    plain, encrypted = Blocks(clients), Blocks(clients)
    plain.words[:] = seeds.reshape(-1)
    for block in range(count):
        Permutation(_key(study, first + block)).encrypt(plain, encrypted)
        _absorb(encrypted.words, plain.words, elements[2 * block], elements[2 * block + 1])
    return elements


@lru_cache(maxsize=1 << 16)
def _key(study: bytes, block: int) -> bytes:
    return digest(HashDomain.SHARE_BLOCK, study, number(block), length=SEED_BYTES)


@njit(nogil=True, steps=lambda encrypted, *rest: 5 * encrypted.size)
def _absorb(encrypted: UInt64, seeds: UInt64, even: UInt64, odd: UInt64) -> None:
    """Add flat seeds to what they were encrypted to, reduce, and part the two words."""
    for client in range(even.size):
        even[client] = reduce(encrypted[2 * client] ^ seeds[2 * client])
        odd[client] = reduce(encrypted[2 * client + 1] ^ seeds[2 * client + 1])


# --- Public linear forms of columns, which a server applies to its shares

_RUN = 64
"""Products of elements that fit 128 bits when added up."""

_TILE = 512


def project(columns: UInt64, weights: UInt64) -> UInt64:
    """Weights @ columns modulo p, shape (forms, n), of elements of shapes (forms, columns) and (columns, n).

    Fastest where one client's columns, or one column's clients, lie side by side in memory; in the latter case weights
    of zero cost nothing.
    """
    result = np.zeros((len(weights), columns.shape[1]), dtype=np.uint64)
    if columns.T.flags.c_contiguous and not columns.flags.c_contiguous:
        _by_client(columns.T, np.ascontiguousarray(weights), result)
    else:
        _by_column(columns, np.ascontiguousarray(weights), result)
    return result


@njit(nogil=True)
def _by_client(rows: UInt64, weights: UInt64, result: UInt64) -> None:
    """Each client's columns in turn."""
    for client in range(len(rows)):
        for form in range(len(weights)):
            held = np.uint64(0)
            for start in range(0, rows.shape[1], _RUN):
                row, weight = rows[client, start : start + _RUN], weights[form, start : start + _RUN]
                low = high = np.uint64(0)
                for column in range(row.size):
                    low, high = accumulate(low, high, weight[column], row[column])
                held = add(held, fold(low, high))
            result[form, client] = held


@njit(nogil=True)
def _by_column(columns: UInt64, weights: UInt64, result: UInt64) -> None:
    """Each column in turn, of as many clients as stay in the cache."""
    lows, highs = np.zeros(_TILE, np.uint64), np.zeros(_TILE, np.uint64)
    for first in range(0, columns.shape[1], _TILE):
        for form in range(len(weights)):
            held, pending = result[form, first : first + _TILE], 0
            for column in np.flatnonzero(weights[form]):
                weight, values = weights[form, column], columns[column, first : first + _TILE]
                for client in range(values.size):
                    lows[client], highs[client] = accumulate(lows[client], highs[client], weight, values[client])
                pending += 1
                if pending == _RUN:
                    _flush(lows, highs, held)
                    pending = 0
            _flush(lows, highs, held)


@njit(nogil=True)
def _flush(lows: UInt64, highs: UInt64, held: UInt64) -> None:
    """Add sums of 128 bits to elements, and begin again."""
    for client in range(held.size):
        held[client] = add(held[client], fold(lows[client], highs[client]))
        lows[client] = highs[client] = 0


# --- What one server holds of many clients' vectors, as bytes and as elements
#
#     batch  = "OGS1" | server u8 | servers u8 | verifications u16 | columns u32 | squares u16 | products u16
#              | clients u32 | study 32 | seeds (clients, 2) u64 | explicit (elements, clients) u64, last server only
#
# All little-endian. Every explicit element must be below p; any bytes that pass are shares of some vector, and only a
# verification tells of which.

_LAYOUT = struct.Struct("<4sBBHIHHI32s")
_TILE_CLIENTS = 8000
_TILE_BLOCKS = 8


class Material(NamedTuple):
    """One server's shares of the material of one verification.

    With the sums of shares c is the square of a, both of shape (squares, n), and z is x y, of shape (products, n).
    """

    a: UInt64
    c: UInt64
    x: UInt64
    y: UInt64
    z: UInt64


@dataclass(frozen=True, eq=False)
class ShareBatch:
    """One server's shares of many clients' vectors.

    Fields:
        study: Digest of the study, 32 bytes.
        server: Number of the server, from 0.
        seeds: Shape (n, 2).
        explicit: Elements, shape (shape.explicit, n), at the last server; None at the others.
    """

    shape: ShareShape
    study: bytes
    server: int
    servers: int
    seeds: UInt64
    explicit: UInt64 | None

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, chosen: slice | NDArray[np.intp]) -> ShareBatch:
        """Some of the clients: a slice (without a copy), or their numbers."""
        explicit = None
        if self.explicit is not None:
            some = self.explicit[:, chosen]
            explicit = some if isinstance(chosen, slice) else np.ascontiguousarray(some)
        return ShareBatch(self.shape, self.study, self.server, self.servers, self.seeds[chosen], explicit)

    def pieces(self) -> tuple[UInt64, ...]:
        """All that this server was sent, a row for every client, seed first; as bytes, numbers are little-endian."""
        return (self.seeds,) if self.explicit is None else (self.seeds, self.explicit.T)

    def to_bytes(self) -> bytes:
        head = front(self.shape, self.study, self.server, self.servers, len(self))
        held = [self.seeds] if self.explicit is None else [self.seeds, self.explicit]
        return b"".join([head, *(np.ascontiguousarray(each, "<u8").data for each in held)])

    @classmethod
    def from_bytes(
        cls, data: bytes | memoryview, *, shape: ShareShape, study: bytes, server: int, servers: int
    ) -> ShareBatch:
        """Read what clients sent; the keywords say what is expected."""
        reader = Reader(data, "batch of shares")
        fields = _LAYOUT.unpack(reader.take(_LAYOUT.size))
        clients = fields[7]
        wanted = _fields(shape, study, server, servers, clients)
        for name, result, expected in zip(_NAMES, fields, wanted, strict=True):
            if result != expected:
                raise PeerError(f"the batch of shares has another {name} than expected")
        seeds = reader.array(2 * clients, "<u8").reshape(clients, 2).astype(np.uint64)
        explicit = None
        if server == servers - 1:
            explicit = reader.array(shape.explicit * clients, "<u8").reshape(shape.explicit, clients).astype(np.uint64)
            if explicit.size and explicit.max() >= P:
                raise PeerError("the batch of shares holds a number that is not below 2^61 - 1")
        reader.finish()
        return cls(shape, study, server, servers, seeds, explicit)

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the batch: its shape, its study and how many clients there are."""
        return digest(HashDomain.SHARE_BATCH, front(self.shape, self.study, 0, self.servers, len(self)))

    def project(self, weights: UInt64) -> UInt64:
        return self.weighed(weights)[0]

    def weighed(self, weights: UInt64, *, vectors: int = 1) -> tuple[UInt64, UInt64]:
        """Public linear forms of this server's shares of every client, shape (forms, n), and their sums over clients.

        Args:
            weights: Elements, shape (forms, columns).
            vectors: This many vectors that follow each other are one client's, and are added up each by itself.
        """
        assert len(self) % vectors == 0
        forms = np.zeros((len(weights), len(self)), dtype=np.uint64)
        added = np.zeros((self.shape.columns, vectors), dtype=np.uint64)
        for clients, rows, elements in self._tiles(vectors):
            forms[:, clients] = sums(forms[:, clients], project(elements, weights[:, rows]))
            each = elements.reshape(len(elements), -1, vectors).transpose(0, 2, 1).reshape(len(elements) * vectors, -1)
            added[rows] = sums(added[rows], total(each, axis=1).reshape(-1, vectors))
        return forms, added.T.ravel()

    def material(self, verification: int) -> Material:
        """Find this server's shares of the material of one verification, numbered from 0."""
        shape = self.shape
        assert 0 <= verification < shape.verifications
        blocks = shape.squares + 2 * shape.products
        halves = expand(self.seeds, study=self.study, first=shape.material_block(verification), count=blocks)
        pairs = halves.reshape(blocks, 2, len(self))
        squares, factors, results = pairs[: shape.squares], pairs[shape.squares :: 2], pairs[shape.squares + 1 :: 2]
        c, z = squares[:, 1], results[:, 0]
        if self.explicit is not None:
            row = shape.material_row(verification)
            c = self.explicit[row : row + shape.squares]
            z = self.explicit[row + shape.squares : row + shape.squares + shape.products]
        return Material(squares[:, 0], c, factors[:, 0], factors[:, 1], z)

    def _tiles(self, vectors: int) -> Iterator[tuple[slice, slice, UInt64]]:
        """The columns in pieces that fit the cache, of whole clients: clients, rows, elements (rows, clients)."""
        step = max(1, _TILE_CLIENTS // vectors) * vectors
        for start in range(0, len(self), step):
            clients = slice(start, min(start + step, len(self)))
            if self.explicit is not None:
                for row in range(0, self.shape.columns, 2 * _TILE_BLOCKS):
                    rows = slice(row, min(row + 2 * _TILE_BLOCKS, self.shape.columns))
                    yield clients, rows, self.explicit[rows, clients]
                continue
            seeds = self.seeds[clients]
            for block in range(0, self.shape.column_blocks, _TILE_BLOCKS):
                count = min(_TILE_BLOCKS, self.shape.column_blocks - block)
                rows = slice(2 * block, min(2 * (block + count), self.shape.columns))
                elements = expand(seeds, study=self.study, first=block, count=count)
                yield clients, rows, elements[: rows.stop - rows.start]


def front(shape: ShareShape, study: bytes, server: int, servers: int, clients: int) -> bytes:
    """The beginning of a batch, before the seeds of its clients."""
    return _LAYOUT.pack(*_fields(shape, study, server, servers, clients))


_NAMES = (
    "format", "server", "number of servers", "number of verifications", "number of columns", "number of squares",
    "number of products", "number of clients", "study",
)  # fmt: skip


def _fields(shape: ShareShape, study: bytes, server: int, servers: int, clients: int) -> tuple[object, ...]:
    return (
        b"OGS1", server, servers, shape.verifications, shape.columns, shape.squares, shape.products, clients, study,
    )  # fmt: skip


# --- A client shares a vector of whole numbers, of which all servers but one learn nothing
#
# Every server gets a seed, and the last one also the elements that the seeds do not determine. Nothing here
# is secret from the client, which is free to upload anything else: see `ogive.crypto.sketch`.

MOST_SERVERS = 255
_BLOCKS = 16


def share(
    columns: ArrayLike, *, shape: ShareShape, servers: int, study: bytes, random: Random = os.urandom
) -> tuple[ShareBatch, ...]:
    """Share the vectors of clients, with fresh material for verifications.

    `columns` are whole numbers, shape (columns, n): one client a column of the array; (0, n) where clients share
    material alone, for comparison keys.
    """
    whole(servers, "servers", 2, MOST_SERVERS)
    check_study(study)
    values = np.asarray(columns)
    if values.ndim != 2 or len(values) != shape.columns:
        raise ParameterError(f"`columns` must have the shape ({shape.columns}, clients), got {values.shape}")
    clients = values.shape[1]
    seeds = np.frombuffer(random(16 * servers * clients), "<u8").reshape(servers, clients, 2).astype(np.uint64)
    explicit = np.empty((shape.explicit, clients), dtype=np.uint64)
    for block in range(0, shape.column_blocks, _BLOCKS):
        rows = slice(2 * block, min(2 * (block + _BLOCKS), shape.columns))
        held = _added(seeds[:-1], study, block, min(_BLOCKS, shape.column_blocks - block))
        explicit[rows] = differences(encode(values[rows]), held[: rows.stop - rows.start])
    for verification in range(shape.verifications):
        _add_material(explicit, seeds, shape, study, verification)
    return tuple(
        ShareBatch(shape, study, server, servers, seeds[server], explicit if server == servers - 1 else None)
        for server in range(servers)
    )


def one_hot_columns(symbols: Int64, *, cells: int) -> UInt8:
    """Vectors with a one in the cell of each client and zeros elsewhere, shape (cells, n)."""
    symbols = np.asarray(symbols)
    if symbols.size and (symbols.min() < 0 or symbols.max() >= cells):
        raise DataError(f"symbols must be from 0 to {cells - 1}, got {symbols.min()} to {symbols.max()}")
    result = np.zeros((cells, symbols.size), dtype=np.uint8)
    result[symbols, np.arange(symbols.size)] = 1
    return result


def amount_columns(symbols: Int64, amounts: Int64, *, groups: int, bits: int) -> Int64:
    """Vectors of clients that have an amount beside their cell, shape (3 groups + bits + 1, n).

    First one-hot over the 2 groups cells, by symbol label groups + group; then the amount, from 0 to 2^bits, in the row
    of its group; then the amount in digits 0 or 1 of weights 1, 2, 4, ..., 2^(bits - 1), 1.
    """
    symbols, amounts = np.asarray(symbols), np.asarray(amounts)
    if amounts.size and (amounts.min() < 0 or amounts.max() > 1 << bits):
        raise DataError(f"amounts must be from 0 to {1 << bits}, got {amounts.min()} to {amounts.max()}")
    clients = np.arange(symbols.size)
    result = np.zeros((3 * groups + bits + 1, symbols.size), dtype=np.int64)
    result[: 2 * groups] = one_hot_columns(symbols, cells=2 * groups)
    result[2 * groups + symbols % groups, clients] = amounts
    full = amounts == 1 << bits  # the digits add up to 2^bits - 1, and the last one adds 1
    digits = amounts - full
    result[3 * groups : -1] = digits >> np.arange(bits)[:, np.newaxis] & 1
    result[-1] = full
    return result


def _added(seeds: UInt64, study: bytes, block: int, count: int = 1) -> UInt64:
    """Blocks of elements, added up over the seeds of some servers; shape (2 count, n) from (servers, n, 2)."""
    result = expand(seeds[0], study=study, first=block, count=count)
    for others in seeds[1:]:
        result = sums(result, expand(others, study=study, first=block, count=count))
    return result


def _add_material(explicit: UInt64, seeds: UInt64, shape: ShareShape, study: bytes, verification: int) -> None:
    """Write what completes the squares and products of one verification."""
    row, block = shape.material_row(verification), shape.material_block(verification)
    for _ in range(shape.squares):
        others = _added(seeds[:-1], study, block)
        a = sums(others[0], expand(seeds[-1], study=study, first=block, count=1)[0])
        explicit[row] = differences(products(a, a), others[1])
        row, block = row + 1, block + 1
    for _ in range(shape.products):
        x, y = _added(seeds, study, block)
        explicit[row] = differences(products(x, y), _added(seeds[:-1], study, block + 1)[0])
        row, block = row + 1, block + 2


# --- What clients upload to servers, and what answering costs the servers: comparison keys, or shared tables
#
# Two servers can be given a pair of comparison keys: short, but every threshold costs a walk down a tree. Any number of
# servers can be given additive shares of a table with one number a cell: long, but thresholds are then sums. Which is
# cheaper follows from public numbers alone, so every party finds the same.
#
# Bytes are those of the uploads and of what servers send each other of them, without headers. Seconds are predicted for
# one core at the rates below, which `benchmarks/uploads.py` measures, beside whole servers.

ELEMENT_BYTES = 8
BLOCKS_PER_SECOND = 2.6e8
"""AES blocks of keys, with all that is done with them."""

CELLS_PER_SECOND = 3.5e8
"""Cells of a table: expanded from a seed and added up."""

PRODUCTS_PER_SECOND = 1e9
"""Multiplications modulo 2^61 - 1, of tables, many added up before they are reduced."""

WEIGHED_PER_SECOND = 3.5e8
"""The same of values of keys, one at a time as they are walked to."""

HANDLED_BYTES_PER_SECOND = 4.3e8
"""Bytes that a server is sent: read, hashed and put on a disk, and read from there for a check and to be added up."""

NAMED_PER_SECOND = 1.4e6
"""Clients that are named, and found in the lists of all servers."""

BYTES_PER_SECOND = 125e6
"""What a line of 1 Gbit/s brings in."""


@dataclass(frozen=True)
class UploadCost:
    """What one way of uploading costs.

    Fields:
        bytes_per_server: What the busiest server receives, from all clients and from the other servers.
        seconds: That one core of the busiest server computes for one answer.
        once: How many of these go by for the uploads as they are, and not again for another answer.
    """

    bytes_per_client: int
    bytes_per_server: int
    seconds: float
    once: float

    @property
    def elapsed(self) -> float:
        """Seconds until a server has received everything over a line of 1 Gbit/s, and computed."""
        return self.seconds + self.bytes_per_server / BYTES_PER_SECOND


def upload_cost(
    *,
    keys: KeyShape | None = None,
    points: int = 0,
    tables: ShareShape | None = None,
    material: ShareShape | None = None,
    vectors: int = 1,
    clients: int,
    servers: int,
) -> UploadCost:
    """What uploads of known shapes cost, and one answer from them."""
    # the client sends every server the hashes of the others' parts, and the others send it the name of the client
    uploaded, received, seconds = servers * (servers - 1) * HASH_BYTES, 2 * (servers - 1) * HASH_BYTES, 0.0
    for shape in (tables, material):
        if shape is not None:
            uploaded += vectors * (servers * SEED_BYTES + ELEMENT_BYTES * shape.explicit)
            received += vectors * (SEED_BYTES + ELEMENT_BYTES * shape.explicit)
    if keys is not None:
        uploaded += servers * keys.key_bytes
        received += keys.key_bytes
        seconds += blocks_at(keys, points) / BLOCKS_PER_SECOND
    if tables is not None:
        seconds += vectors * tables.columns / CELLS_PER_SECOND
    if material is not None:
        received += vectors * exchanged_bytes(material, servers)
        if tables is None:
            seconds += 2 * (points + 1) / WEIGHED_PER_SECOND
        else:
            seconds += 2 * vectors * tables.columns / PRODUCTS_PER_SECOND
    once = received / HANDLED_BYTES_PER_SECOND + 1 / NAMED_PER_SECOND
    return UploadCost(uploaded, clients * received, clients * (once + seconds), clients * once)


def exchanged_bytes(material: ShareShape | None, servers: int) -> int:
    """What a server gets from the others to verify one upload once."""
    if material is None:
        return 0
    opened = material.squares + 2 * material.products
    return ELEMENT_BYTES * (opened + 1) * (servers - 1)


def blocks_at(shape: KeyShape, points: int) -> int:
    """AES blocks that evaluate one key at a number of evenly spread points."""
    prefixes = [min(1 << level, points) for level in range(shape.levels + 1)]
    leaves = min(points, shape.domain // min(shape.per_block, shape.leaf_values))
    return sum(prefixes[1:]) + sum(prefixes[:-1]) + leaves
