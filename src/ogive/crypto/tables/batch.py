"""What one server holds of many clients' vectors, as bytes and as elements.

    batch  = "OGS1" | server u8 | servers u8 | verifications u16 | columns u32 | squares u16 | products u16
             | clients u32 | study 32 | seeds (clients, 2) u64 | explicit (elements, clients) u64, last server only

All little-endian. Every explicit element must be below p; any bytes that pass are shares of some vector, and only a
verification tells of which.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import UInt64
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.field import P, sums, total
from ogive.crypto.linear import project
from ogive.crypto.tables.expansion import expand
from ogive.crypto.tables.shape import ShareShape
from ogive.crypto.wire import Reader
from ogive.errors import PeerError

_LAYOUT = struct.Struct("<4sBBHIHHI32s")
_TILE_CLIENTS = 8000
_TILE_BLOCKS = 8


class Material(NamedTuple):
    """One server's shares of the material of one verification.

    Fields:
        a: Shape (squares, n), and c with the sum of its shares the square of that of a.
        c: Shape (squares, n).
        x: Shape (products, n); z is x y, likewise.
        y: Shape (products, n).
        z: Shape (products, n).
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
        shape: Of the study.
        study: Digest of the study, 32 bytes.
        server: Number of the server, from 0.
        servers: How many there are.
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
        """The batch as a message."""
        held = [self.seeds] if self.explicit is None else [self.seeds, self.explicit]
        return b"".join([self._head(self.server), *(np.ascontiguousarray(each, "<u8").data for each in held)])

    @classmethod
    def from_bytes(
        cls, data: bytes | memoryview, *, shape: ShareShape, study: bytes, server: int, servers: int
    ) -> ShareBatch:
        """Read what clients sent; the keywords say what is expected.

        Raises:
            PeerError: it is anything but a batch of that shape, study and server.
        """
        reader = Reader(data, "batch of shares")
        fields = _LAYOUT.unpack(reader.take(_LAYOUT.size))
        clients = fields[7]
        wanted = _fields(shape, study, server, servers, clients)
        for name, found, expected in zip(_NAMES, fields, wanted, strict=True):
            if found != expected:
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
        return digest(HashDomain.SHARE_BATCH, self._head(0))

    def project(self, weights: UInt64) -> UInt64:
        """Apply public linear forms to this server's shares of every client's columns.

        Args:
            weights: Elements, shape (forms, columns).

        Returns:
            Elements, shape (forms, n).
        """
        return self.weighed(weights)[0]

    def weighed(self, weights: UInt64, *, vectors: int = 1) -> tuple[UInt64, UInt64]:
        """Do `project` and `sums` at once: seeds are expanded once, not twice.

        Args:
            weights: Elements, shape (forms, columns).
            vectors: So many vectors that follow each other are one client's, and are added up each by itself.

        Returns:
            Elements of shapes (forms, n) and (vectors columns,), the columns of the first vector first.
        """
        assert len(self) % vectors == 0
        forms = np.zeros((len(weights), len(self)), dtype=np.uint64)
        added = np.zeros((self.shape.columns, vectors), dtype=np.uint64)
        for clients, rows, elements in self._tiles(vectors):
            forms[:, clients] = sums(forms[:, clients], project(elements, weights[:, rows]))
            each = elements.reshape(len(elements), -1, vectors).transpose(0, 2, 1).reshape(len(elements) * vectors, -1)
            added[rows] = sums(added[rows], total(each, axis=1).reshape(-1, vectors))
        return forms, added.T.ravel()

    def sums(self) -> UInt64:
        """Add up this server's shares over clients, shape (columns,)."""
        return self.weighed(np.empty((0, self.shape.columns), np.uint64))[1]

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

    def _head(self, server: int) -> bytes:
        return front(self.shape, self.study, server, self.servers, len(self))


def front(shape: ShareShape, study: bytes, server: int, servers: int, clients: int) -> bytes:
    """The beginning of the batch of so many clients, before their seeds."""
    return _LAYOUT.pack(*_fields(shape, study, server, servers, clients))


_NAMES = (
    "format", "server", "number of servers", "number of verifications", "number of columns", "number of squares",
    "number of products", "number of clients", "study",
)  # fmt: skip


def _fields(shape: ShareShape, study: bytes, server: int, servers: int, clients: int) -> tuple[object, ...]:
    return (
        b"OGS1", server, servers, shape.verifications, shape.columns, shape.squares, shape.products, clients, study,
    )  # fmt: skip
