"""What is in the uploads of some clients, as one server reads it: keys or tables, and material for verifications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Int64, UInt8, UInt64
from ogive.crypto import field
from ogive.crypto.commitments import HASH_BYTES
from ogive.crypto.comparison import KeyBatch, evaluate_sums
from ogive.crypto.comparison.weighing import evaluate_weighed
from ogive.crypto.tables import ShareBatch, ShareShape
from ogive.crypto.wire import Reader
from ogive.errors import PeerError
from ogive.trust.servers.names import client_names, part_hashes
from ogive.trust.servers.settings import AggregateUploads


@dataclass(frozen=True, eq=False)
class Parts:
    """The uploads of some clients.

    Fields:
        collected: What was to be uploaded.
        server: Who reads.
        keys: Comparison keys; None where tables or sums were uploaded.
        tables: Those; None where keys were.
        material: For verifications; None where there are none.
        others: Hashes of the other servers' parts in their order, shape (n, 32 (servers - 1)).
    """

    collected: AggregateUploads
    server: int
    keys: KeyBatch | None
    tables: ShareBatch | None
    material: ShareBatch | None
    others: UInt8

    @classmethod
    def read(cls, body: bytes, collected: AggregateUploads, server: int, session: bytes) -> Parts:
        """Take the body of an upload apart.

        Raises:
            PeerError: it holds anything but what was to be uploaded in this session, for one number of clients.
        """
        reader = Reader(body, "upload")
        servers = collected.uploads.servers

        def part() -> memoryview:
            return reader.view(reader.number(8))

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
        """Names of the clients, shape (n, 32)."""
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
        """Shares of the records in every block and then of the sums of amounts, over all these clients.

        Args:
            ends: Last cells of the blocks.
            threads: How many cores keys are evaluated by; None for all.
        """
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
            found = evaluate_weighed(
                self.keys, self.collected.points(ends), weights, server=self.server, threads=threads
            )
            return found.forms, self._blocks(found.sums)
        assert self.tables is not None
        forms, columns = self.tables.weighed(weights, vectors=self.collected.layout.vectors)
        return forms, self._folded(columns, ends)

    def only(self, chosen: NDArray[np.intp]) -> Parts:
        """The uploads of some of the clients."""
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
        """Cells added up in blocks, and the amounts."""
        layout = self.collected.layout
        starts = np.concatenate([[0], ends[:-1] + 1])
        cells, amounts = columns[: layout.cells], columns[layout.cells : layout.cells + layout.groups]
        low = np.add.reduceat(cells & np.uint64(0xFFFFFFFF), starts)
        high = np.add.reduceat(cells >> np.uint64(32), starts)
        wide = field.products(field.residues(high), np.uint64(1 << 32))
        return np.concatenate([field.sums(field.residues(low), wide), amounts])


def added(x: UInt64, y: UInt64, modulus: int) -> UInt64:
    """Sums modulo 2^64 or the prime."""
    return field.sums(x, y) if modulus == field.P else x + y


def subtracted(x: UInt64, y: UInt64, modulus: int) -> UInt64:
    """Differences modulo 2^64 or the prime."""
    return field.differences(x, y) if modulus == field.P else x - y


def residues(numbers: Int64, modulus: int) -> UInt64:
    """Signed whole numbers modulo 2^64 or the prime."""
    return field.encode(numbers) if modulus == field.P else np.ascontiguousarray(numbers).view(np.uint64)


def signed(shares: UInt64, modulus: int) -> Int64:
    """The whole numbers of least magnitude that have these residues."""
    return field.decode(shares) if modulus == field.P else np.ascontiguousarray(shares).view(np.int64)
