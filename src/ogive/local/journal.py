"""Which files of reports were read, and how far: recognized by their content, whatever they are called.

An aggregator that was stopped reads the same files again. Its journal holds the length and the SHA-256 of what was
added up of each, so that it goes on where it was and does not take what it counted itself for duplicates.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ogive.errors import ParameterError

MAX_FILES = 100_000
GZIP = b"\x1f\x8b"
_PIECE = 1 << 20


@dataclass
class Journal:
    """What was read.

    Fields:
        read: Bytes that were read of each file, by the SHA-256 of these bytes in hexadecimal digits.
    """

    read: dict[str, int] = field(default_factory=dict)

    def merge(self, other: Journal) -> None:
        """Add what another journal holds; beyond `MAX_FILES`, files that are read again count as duplicates."""
        both = self.read | other.read
        self.read = dict(sorted(both.items())[:MAX_FILES])

    def replace(self, old: str | None, digest: str, size: int) -> None:
        """Go on from what was read of a file to more of it."""
        if old is not None:
            self.read.pop(old, None)
        if len(self.read) < MAX_FILES:
            self.read[digest] = size


class Reading:
    """One file being read, whole reports at a time."""

    def __init__(self, path: Path, file: io.BufferedReader[Any], journal: Journal, known: int) -> None:
        self._path = path
        self._file = file
        self._journal = journal
        self._hash: Any = hashlib.sha256()
        self._known: str | None = None
        self._size = 0
        self.resumed = known > 0
        self.damaged = False
        while self._size < known and (piece := file.read1(min(_PIECE, known - self._size))):
            self._advance(piece)
        if known:
            self._known = self._hash.hexdigest()

    def read(self, size: int) -> bytes:
        """The next bytes, fewer than asked for only at the end or before damage, which `damaged` then tells.

        Raises:
            ParameterError: the file could be opened, but not read on.
        """
        pieces: list[bytes] = []
        while size:
            try:
                # what was unpacked before damage is given before the damage is told
                piece = self._file.read1(min(_PIECE, size))
            except (EOFError, gzip.BadGzipFile, zlib.error):  # a compressed file that was cut off or changed
                self.damaged = True
                break
            except OSError as problem:  # of the disk, not of the file: what is left of it may still be read later
                raise ParameterError(f"cannot read on in {self._path}: {problem.strerror}") from None
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def done(self, data: bytes | memoryview) -> None:
        """These bytes, which follow those before, were added up."""
        self._advance(data)
        digest = self._hash.hexdigest()
        self._journal.replace(self._known, digest, self._size)
        self._known = digest

    def _advance(self, data: bytes | memoryview) -> None:
        self._hash.update(data)
        self._size += len(data)


@contextlib.contextmanager
def opened(path: Path, journal: Journal) -> Iterator[Reading]:
    """Open a file of reports behind what the journal says was added up of it.

    Raises:
        ParameterError: the file cannot be read.
    """
    with contextlib.ExitStack() as stack:
        try:
            regular = path.is_file()  # a pipe can be read once only
            known = _known(path, journal) if regular else 0
            file = stack.enter_context(_open(path))
            reading = Reading(path, file, journal if regular else Journal(), known)
        except OSError as problem:
            raise ParameterError(f"cannot read {path}: {problem.strerror or 'it is damaged'}") from None
        yield reading


def _known(path: Path, journal: Journal) -> int:
    """How many bytes at the front of the file were added up before."""
    found = position = 0
    seen = hashlib.sha256()
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), _open(path) as file:
        for size in sorted(set(journal.read.values())):
            while position < size and (piece := file.read1(min(_PIECE, size - position))):
                seen.update(piece)
                position += len(piece)
            if position < size:
                break
            if journal.read.get(seen.hexdigest()) == size:
                found = size
    return found


@contextlib.contextmanager
def _open(path: Path) -> Iterator[io.BufferedReader[Any]]:
    with io.BufferedReader(path.open("rb", buffering=0), _PIECE) as file:
        # a report begins with its version, which is not how a compressed file begins
        if path.is_file() and file.peek(2)[:2] == GZIP:
            with gzip.open(file) as unpacked:
                yield cast("io.BufferedReader[Any]", unpacked)
        else:
            yield file
