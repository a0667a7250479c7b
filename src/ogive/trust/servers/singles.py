"""The messages of single clients as rows of bytes, and many of them as one message.

All honest clients of an aggregate send a server messages of one length, which differ in what is secret alone. So many
of them are a matrix, which is compared with what everybody sends and cut into columns at once, instead of being read
message by message.

    row = header | for each part its length u64, its front and its bytes, as one client sends them
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.arrays import Bool, UInt8
from ogive.crypto.commitments import HASH_BYTES
from ogive.crypto.comparison import wire
from ogive.crypto.comparison.shape import SEED_BYTES
from ogive.crypto.tables import ShareShape, batch
from ogive.crypto.wire import HEADER_BYTES, Header, Suite
from ogive.errors import PeerError
from ogive.trust.servers.clients import CLIENTS, UPLOAD
from ogive.trust.servers.parts import Parts
from ogive.trust.servers.settings import AggregateUploads

_LENGTH_BYTES = 8


@dataclass(frozen=True)
class _Part:
    """One part of a message.

    Fields:
        vectors: How many vectors each client has in it.
        front: Its first bytes, where it is of so many vectors.
        widths: Bytes of each column of one vector, which follow each other column by column.
    """

    vectors: int
    front: Callable[[int], bytes]
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Singles:
    """Messages of single clients to one server, in one session.

    Fields:
        collected: What they upload.
        server: To whom.
        session: 16 bytes.
    """

    collected: AggregateUploads
    server: int
    session: bytes

    @property
    def length(self) -> int:
        """Bytes of one message."""
        return len(self._template)

    def alike(self, rows: UInt8) -> Bool:
        """Which of some rows say of themselves what every honest client's does; shape (n,)."""
        fixed = self._fixed
        wanted: Bool = (rows[:, fixed] == self._template[fixed]).all(axis=1)
        return wanted

    def message(self, rows: UInt8) -> bytes:
        """One message of all these clients, whose rows are alike; what they hold otherwise is not looked at.

        Args:
            rows: Shape (n, length), n at least 1.
        """
        at = HEADER_BYTES
        fields: list[bytes] = []
        for part in self._parts:
            at += _LENGTH_BYTES + len(part.front(part.vectors))
            columns = [part.front(len(rows) * part.vectors)]
            for width in part.widths:
                columns.append(rows[:, at : at + width * part.vectors].tobytes())
                at += width * part.vectors
            data = b"".join(columns)
            fields += [len(data).to_bytes(_LENGTH_BYTES, "little"), data]
        return self._header.message(*fields)

    def rows(self, message: bytes, clients: int) -> UInt8:
        """The inverse of `message`, for what `clients.upload` made; shape (n, length)."""
        data = np.frombuffer(message, np.uint8)
        made = np.empty((clients, self.length), np.uint8)
        made[:] = self._template
        source = at = HEADER_BYTES
        for part in self._parts:
            source += _LENGTH_BYTES + len(part.front(clients * part.vectors))
            at += _LENGTH_BYTES + len(part.front(part.vectors))
            for width in part.widths:
                row = width * part.vectors
                made[:, at : at + row] = data[source : source + clients * row].reshape(clients, row)
                at, source = at + row, source + clients * row
        assert source == len(message), "the message is of so many clients"
        return made

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
        found = []
        if collected.keys is not None:
            shape, study = collected.keys, collected.binding("keys", self.session)
            level = (SEED_BYTES, shape.dtype.itemsize, 1)
            widths = (SEED_BYTES, *level * shape.levels, shape.dtype.itemsize * shape.leaf_values)
            found.append(_Part(vectors, lambda count: wire.front(shape, study, count), widths))

        def shares(shape: ShareShape, name: str) -> _Part:
            study = collected.binding(name, self.session)
            explicit = shape.explicit if server == servers - 1 else 0
            widths = (SEED_BYTES, *[8] * explicit)
            return _Part(vectors, lambda count: batch.front(shape, study, server, servers, count), widths)

        if collected.tables is not None:
            found.append(shares(collected.tables, "tables"))
        if collected.material is not None:
            found.append(shares(collected.material, "material"))
        found.append(_Part(1, lambda count: b"", (HASH_BYTES * (servers - 1),)))
        return tuple(found)

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
        fields: list[bytes] = []
        for part in self._parts:
            data = part.front(part.vectors) + bytes([secret]) * (sum(part.widths) * part.vectors)
            fields += [len(data).to_bytes(_LENGTH_BYTES, "little"), data]
        return np.frombuffer(self._header.message(*fields), np.uint8)
