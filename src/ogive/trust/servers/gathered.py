"""What one server was sent, and which of it is in the set: the clients whose names all servers have.

The clients of the set are numbered by their names in increasing order, the same at every server, in whatever order and
messages their uploads came. Uploads are kept in a file without a name, so that memory stays bounded.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Int64
from ogive.crypto.commitments import HASH_BYTES
from ogive.errors import PeerError, RefusalError
from ogive.files import write_whole
from ogive.progress import Progress
from ogive.trust.servers.names import sortable
from ogive.trust.servers.parts import Parts
from ogive.trust.servers.settings import AggregateUploads


class Shelf:
    """Messages in the order in which they came; gone when the server is."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = [0]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, message: bytes) -> None:
        """Keep one more message.

        Raises:
            RefusalError: there is no room for it; the messages before are kept.
        """
        try:
            write_whole(self._file.fileno(), message, at=self._ends[-1])
        except OSError as problem:
            raise RefusalError(
                f"a server cannot keep an upload of {len(message)} bytes in {tempfile.gettempdir()}: "
                f"{problem.strerror}; make room there, or name another folder in TMPDIR"
            ) from None
        self._ends.append(self._ends[-1] + len(message))

    def __iter__(self) -> Iterator[bytes]:
        """All messages, one at a time."""
        for number in range(len(self)):
            yield self[number]

    def __getitem__(self, number: int) -> bytes:
        """One message."""
        start, end = self._ends[number : number + 2]
        self._file.seek(start)
        return self._file.read(end - start)

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._ends[-1]


Names = NDArray[np.bytes_]


class Gathered:
    """The uploads that a server was sent.

    Args:
        collected: What is uploaded.
        server: Who was sent them.
        session: 16 bytes.
        progress: Called with how many uploads were read for one purpose, and how many there are.
    """

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
        """Names of the clients that all others have too, increasing.

        Args:
            lists: Of the other servers, as `read_names` reads them.
        """
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
    """A list of names that another server sent.

    Raises:
        PeerError: it is no list of different names in increasing order.
    """
    if len(data) % HASH_BYTES:
        raise PeerError("a list of clients is no whole number of names")
    names = np.frombuffer(data, f"S{HASH_BYTES}")
    if names.size and not (names[:-1] < names[1:]).all():
        raise PeerError("a list of clients is not in increasing order")
    return names
