"""An append-only store of many small records, each durable before it is acknowledged."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from ogive.core.files import write_whole
from ogive.errors import RefusalError, plain

# --- The form of a file of records
#
#     segment  = "OGSEG001" | salt 8 | commits
#     commit   = "OGCM" | length of the records u32 | number of records u32 | checksum u32 | records
#     checksum = CRC-32 of the salt, the place in the file u64, length, number and records
#     record   = length u32 | bytes
#
# All numbers are little-endian. A commit that cannot be read was cut off if no good one follows, and is damaged else.
# The salt is random and secret, so that no record can pass for a commit.

NAME = "{:08d}.segment"
"""Of a file, by its number from 1 on."""
_FILES = "*.segment"
_IS_NAME = re.compile(r"[0-9]{8}\.segment", re.ASCII)

LONGEST = 1 << 30
"""Bytes that one commit may hold."""

_MAGIC = b"OGSEG001"
_SALT_BYTES = 8
FRONT = len(_MAGIC) + _SALT_BYTES
"""Where the first commit begins."""

_COMMIT = b"OGCM"
_HEAD = struct.Struct("<4sIII")
_CHECKED = struct.Struct("<QII")
_LENGTH = struct.Struct("<I")
_PIECE = 1 << 24


def file_numbers(folder: Path) -> list[int]:
    """The numbers of the files of a store, 1 to as many as there are."""
    names = {path.name for path in folder.glob(_FILES)}
    for name in names:
        if not _IS_NAME.fullmatch(name):
            raise RefusalError(f"{plain(folder / name)} is not a file of a store; move it elsewhere")
    numbers = sorted(int(Path(name).stem) for name in names)
    if numbers != list(range(1, len(numbers) + 1)):
        raise RefusalError(f"the store {plain(folder)} lacks a file; put it back as it was last")
    return numbers


def front() -> bytes:
    """The beginning of a new file."""
    return _MAGIC + os.urandom(_SALT_BYTES)


def is_front(data: bytes) -> bool:
    """Whether a file begins as a segment does."""
    return len(data) == FRONT and data.startswith(_MAGIC)


def _checksum(front: bytes, at: int, count: int, written: bytes | bytearray) -> int:
    return zlib.crc32(written, zlib.crc32(_CHECKED.pack(at, len(written), count), zlib.crc32(front[len(_MAGIC) :])))


def commit(front: bytes, at: int, records: Sequence[bytes]) -> bytes:
    """Records as a commit at a place of a file that begins so."""
    written = bytearray()
    for record in records:
        written += _LENGTH.pack(len(record)) + record
    if len(written) > LONGEST:
        raise RefusalError(f"one append stores at most {LONGEST} bytes, got {len(written)}")
    head = _HEAD.pack(_COMMIT, len(written), len(records), _checksum(front, at, len(records), written))
    return head + bytes(written)


class Segment:
    """An open segment that is read up to an end."""

    def __init__(self, file: int, path: Path, end: int) -> None:
        self._file = file
        self._path = path
        self._end = end
        self._front = os.pread(file, FRONT, 0)

    def commits(self, *, start: int = FRONT, cut_off: bool = False) -> Iterator[tuple[int, list[bytes]]]:
        """Where each commit ends, and its records."""
        at = start
        while at < self._end:
            result = self._at(at)
            if result is None:
                if cut_off and not self._follows(at + 1):
                    return
                raise RefusalError(f"{plain(self._path)} is damaged at byte {at}; put it back as it was last")
            at = result[0]
            yield result

    def _at(self, at: int) -> tuple[int, list[bytes]] | None:
        """The commit at a place and where it ends; None if there is no good one."""
        head = os.pread(self._file, _HEAD.size, at)
        if len(head) < _HEAD.size or not head.startswith(_COMMIT):
            return None
        _, length, count, checksum = _HEAD.unpack(head)
        after = at + _HEAD.size + length
        written = os.pread(self._file, length, at + _HEAD.size) if after <= self._end else b""
        if len(written) < length or _checksum(self._front, at, count, written) != checksum:
            return None
        records = _records(written, count)
        return None if records is None else (after, records)

    def _follows(self, at: int) -> bool:
        """Whether a good commit begins at this place or later."""
        while at < self._end:
            piece = os.pread(self._file, min(_PIECE, self._end - at), at)
            result = piece.find(_COMMIT)
            while result >= 0:
                if self._at(at + result) is not None:
                    return True
                result = piece.find(_COMMIT, result + 1)
            if len(piece) < _PIECE:
                return False
            at += len(piece) - len(_COMMIT) + 1
        return False


def _records(written: bytes, count: int) -> list[bytes] | None:
    """So many records that fill a commit to its end; None if they do not."""
    result, at = [], 0
    for _ in range(count):
        if at + _LENGTH.size > len(written):
            return None
        (length,) = _LENGTH.unpack_from(written, at)
        result.append(written[at + _LENGTH.size : at + _LENGTH.size + length])
        at += _LENGTH.size + length
    return result if at == len(written) else None


# --- The files of a store
#
# What was appended is there after any crash, once, and no half of it. Files are called 00000001.segment and so on, in
# the form above, and records follow each other from file to file. A commit is written by one append and is durable when
# the append returns. Only the last commit of the last file can be cut off by a crash; it was not acknowledged, and is
# removed when the store is opened. Any other damage is an error, since acknowledged records are lost by it.

SEGMENT_BYTES = 1 << 27
"""How long a file becomes before the next one is begun."""


class Place(NamedTuple):
    """Between two commits: the number of the file, and the byte."""

    file: int
    byte: int


BEGINNING = Place(1, FRONT)


class Segments:
    """The records of a folder, for one process at a time."""

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
                self._file = self._open(len(self._ends))
                self._front = os.pread(self._file, FRONT, 0)
            else:
                self._begin()
        except OSError as problem:
            os.close(self._lock)
            raise self._unusable(problem) from None
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, records: Sequence[bytes]) -> None:
        """Store some records, all of them or none; they are durable when this returns."""
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
        """All records that were stored when this began, in order, reading one commit at a time."""
        for _, records in self.after(BEGINNING):
            yield from records

    def after(self, place: Place) -> Iterator[tuple[Place, list[bytes]]]:
        """The commits after a place that were stored when this began, each with the place after it."""
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
        import fcntl  # Windows has none, and reads stores

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
                    raise RefusalError(f"{plain(self._path(number))} is not a file of a store")
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
        """Begin the next file, which is there for good when this returns."""
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


# --- Appends that share one write to the disk, so that waiting for it costs each of them little

MOST_WAITING = 1 << 26
"""Bytes that may wait to be written."""


class Committer:
    """A thread that appends what waits, all of it in one commit."""

    def __init__(self, segments: Segments, *, most_waiting: int = MOST_WAITING) -> None:
        self._segments = segments
        self._most = most_waiting
        self._waiting: list[tuple[bytes, Future[None]]] = []
        self._bytes = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="ogive-committer", daemon=True)
        self._thread.start()

    def submit(self, record: bytes) -> Future[None]:
        """Store a record; the future is done when it is durable, and has a `RefusalError` if it is not kept."""
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()  # who stops waiting does not take back what is being written
        with self._changed:
            if self._closed:
                raise RefusalError("the store is closed")
            if self._bytes + len(record) > self._most:
                raise RefusalError("the store is busy; try again")
            self._waiting.append((record, future))
            self._bytes += len(record)
            self._changed.notify()
        return future

    def close(self) -> None:
        """Take no more, and wait until all is written."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                some, self._waiting, self._bytes = self._waiting, [], 0
            if not some:
                return
            try:
                self._segments.append([record for record, _ in some])
            except BaseException as problem:
                for _, future in some:
                    future.set_exception(problem)
            else:
                for _, future in some:
                    future.set_result(None)


# --- Reading a store while another process appends to it


def is_store(folder: Path) -> bool:
    """Whether a folder holds a store."""
    return (folder / NAME.format(1)).is_file()


def stored(folder: Path) -> Iterator[bytes]:
    """The records of a store, in order; those that are being appended may be among the last ones.

    Whatever is read later begins with the same records.
    """
    numbers = file_numbers(folder)
    for number in numbers:
        path, last = folder / NAME.format(number), number == len(numbers)
        try:
            with path.open("rb") as file:
                handle = file.fileno()
                length = os.fstat(handle).st_size
                if is_front(os.pread(handle, FRONT, 0)):
                    for _, records in Segment(handle, path, length).commits(cut_off=last):
                        yield from records
                elif not last or length > FRONT:
                    raise RefusalError(f"{plain(path)} is not a file of a store")
        except OSError as problem:
            raise RefusalError(f"{plain(path)} cannot be read: {problem.strerror}") from None
