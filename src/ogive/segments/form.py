"""The form of a file of records.

    segment  = "OGSEG001" | salt 8 | commits
    commit   = "OGCM" | length of the records u32 | number of records u32 | checksum u32 | records
    checksum = CRC-32 of the salt, the place in the file u64, length, number and records
    record   = length u32 | bytes

All numbers are little-endian. A commit that cannot be read was cut off if no good one follows, and is damaged else. The
salt is random and secret, so that no record can pass for a commit.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ogive.errors import RefusalError, plain

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
    """The numbers of the files of a store, 1 to as many as there are.

    Raises:
        RefusalError: one lacks, or there is another file.
    """
    names = {path.name for path in folder.glob(_FILES)}
    for name in names:
        if not _IS_NAME.fullmatch(name):
            raise RefusalError(f"{plain(folder / name)} is no file of a store; move it elsewhere")
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
    """Records as a commit at a place of a file that begins so.

    Raises:
        RefusalError: they are too long.
    """
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
        """Where each commit ends, and its records.

        Args:
            start: Where a commit begins, or the end.
            cut_off: Whether the last commit may be incomplete; then it is left out.

        Raises:
            RefusalError: there is damage.
        """
        at = start
        while at < self._end:
            found = self._at(at)
            if found is None:
                if cut_off and not self._follows(at + 1):
                    return
                raise RefusalError(f"{plain(self._path)} is damaged at byte {at}; put it back as it was last")
            at = found[0]
            yield found

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
            found = piece.find(_COMMIT)
            while found >= 0:
                if self._at(at + found) is not None:
                    return True
                found = piece.find(_COMMIT, found + 1)
            if len(piece) < _PIECE:
                return False
            at += len(piece) - len(_COMMIT) + 1
        return False


def _records(written: bytes, count: int) -> list[bytes] | None:
    found, at = [], 0
    for _ in range(count):
        if at + _LENGTH.size > len(written):
            return None
        (length,) = _LENGTH.unpack_from(written, at)
        found.append(written[at + _LENGTH.size : at + _LENGTH.size + length])
        at += _LENGTH.size + length
    return found if at == len(written) else None
