"""Where a server keeps what clients uploaded: a file without a name, so that memory stays bounded."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator

from ogive.errors import RefusalError
from ogive.files import write_whole


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
