"""Records in files that only grow: what was appended is there after any crash, once, and no half of it.

Files are called 00000001.segment and so on, in the form of `form`, and records follow each other from file to file. A
commit is written by one append and is durable when the append returns. Only the last commit of the last file can be cut
off by a crash; it was not acknowledged, and is removed when the store is opened. Any other damage is an error, since
acknowledged records are lost by it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from ogive.errors import RefusalError, plain
from ogive.files import write_whole
from ogive.segments.form import FRONT, NAME, Segment, commit, file_numbers, front, is_front

SEGMENT_BYTES = 1 << 27
"""How long a file becomes before the next one is begun."""


class Place(NamedTuple):
    """Between two commits: the number of the file, and the byte."""

    file: int
    byte: int


BEGINNING = Place(1, FRONT)


class Segments:
    """The records of a folder, for one process at a time.

    Args:
        folder: Made if it is not there.
        segment_bytes: How long a file becomes before the next one is begun.

    Raises:
        RefusalError: another process has it open, it cannot be used, or acknowledged records are damaged.
    """

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._usable = True
        self._file, self._front = -1, b""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise self._unusable(problem) from None
        try:
            self._hold()
            self._ends = self._recovered()
            if self._ends:
                self._go_on()
            else:
                self._begin()
        except OSError as problem:
            os.close(self._lock)
            raise self._unusable(problem) from None
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, records: Sequence[bytes]) -> None:
        """Store some records, all of them or none; they are durable when this returns.

        Raises:
            RefusalError: they could not be stored, and none of them is kept.
        """
        if not self._usable:
            raise RefusalError(f"the store {plain(self._folder)} failed before; start the process again")
        written = commit(self._front, self._ends[-1], records)
        try:
            if self._ends[-1] > FRONT and self._ends[-1] + len(written) > self._segment_bytes:
                self._begin()
                written = commit(self._front, self._ends[-1], records)
            write_whole(self._file, written, at=self._ends[-1])
        except OSError as problem:
            raise self._unwritable(problem) from None
        try:
            os.fdatasync(self._file)
        except OSError as problem:
            # what the disk holds now is unknown, and another attempt would be told that all is well
            self._usable = False
            raise self._unwritable(problem) from None
        self._ends[-1] += len(written)

    def __iter__(self) -> Iterator[bytes]:
        """All records that were stored when this began, in order, reading one commit at a time.

        Raises:
            RefusalError: a file is damaged or cannot be read.
        """
        for _, records in self.after(BEGINNING):
            yield from records

    def after(self, place: Place) -> Iterator[tuple[Place, list[bytes]]]:
        """The commits after a place that were stored when this began, each with the place after it.

        Args:
            place: `BEGINNING`, or one that this yielded.

        Raises:
            RefusalError: a file is damaged or cannot be read.
        """
        for number, end in enumerate(tuple(self._ends), 1):
            if number < place.file:
                continue
            with self._reading(number) as file:
                start = place.byte if number == place.file else FRONT
                for after, records in Segment(file, self._path(number), end).commits(start=start):
                    yield Place(number, after), records

    @property
    def usable(self) -> bool:
        """Whether it can still be appended to: not after a write of which nobody knows what the disk holds."""
        return self._usable

    @property
    def size(self) -> int:
        """How many bytes the files have together."""
        return sum(self._ends)

    def close(self) -> None:
        """Let other processes open it."""
        self._usable = False
        if self._file >= 0:
            os.close(self._file)
        os.close(self._lock)
        self._file = self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def _hold(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            if problem.errno in (errno.EAGAIN, errno.EACCES):
                raise RefusalError(f"the store {plain(self._folder)} is in use by another process") from None
            raise self._unusable(problem) from None

    def _recovered(self) -> list[int]:
        """Where the files end, without a commit that was cut off."""
        numbers = file_numbers(self._folder)
        ends = []
        for number in numbers:
            last = number == len(numbers)
            with self._reading(number) as file:
                length = os.fstat(file).st_size
                if is_front(os.pread(file, FRONT, 0)):
                    end = FRONT
                    for after, _ in Segment(file, self._path(number), length).commits(cut_off=last):
                        end = after
                elif last and length <= FRONT:
                    break  # cut off before anything was stored in it; it is begun again
                else:
                    raise RefusalError(f"{plain(self._path(number))} is no file of a store")
            if end < length:
                self._cut(number, end)
            ends.append(end)
        return ends

    def _cut(self, number: int, end: int) -> None:
        with self._reading(number) as file:
            try:
                os.ftruncate(file, end)
                os.fsync(file)
            except OSError as problem:
                raise self._unusable(problem) from None

    def _begin(self) -> None:
        """Begin the next file, which is there for good when this returns.

        Raises:
            OSError: it could not be made; appends go on in the one before.
        """
        path = self._path(len(self._ends) + 1)
        beginning = front()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            write_whole(file, beginning, at=0)
            os.fsync(file)
            self._sync_folder()
        except OSError:
            os.close(file)
            path.unlink(missing_ok=True)
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file, self._front = file, beginning
        self._ends.append(FRONT)

    def _go_on(self) -> None:
        """Open the last file for appending."""
        self._file = self._open(len(self._ends))
        self._front = os.pread(self._file, FRONT, 0)

    def _sync_folder(self) -> None:
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def _path(self, number: int) -> Path:
        return self._folder / NAME.format(number)

    def _open(self, number: int) -> int:
        try:
            return os.open(self._path(number), os.O_RDWR)
        except OSError as problem:
            raise self._unusable(problem) from None

    @contextlib.contextmanager
    def _reading(self, number: int) -> Iterator[int]:
        file = self._open(number)
        try:
            yield file
        finally:
            os.close(file)

    def _unusable(self, problem: OSError) -> RefusalError:
        return RefusalError(f"the store {plain(self._folder)} cannot be used: {problem.strerror}")

    def _unwritable(self, problem: OSError) -> RefusalError:
        return RefusalError(f"nothing can be stored in {plain(self._folder)}: {problem.strerror}")
