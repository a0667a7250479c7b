"""Partial states as files, which an aggregator goes on from or merges elsewhere, and the journal of files it read.

    magic          16 bytes, with the version
    header length  8 bytes, little-endian
    header         JSON: the description, what was counted, and which files were read, for who has the key
    sums           64-bit integers, little-endian, of the oracle's shape
    heard          one bit for each participant
    SHA-256        32 bytes, of all before

The digest tells damage, not forgery: a partial state is believed as its aggregator is.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import hmac
import io
import itertools
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from ogive.core.arrays import Int64, UInt8
from ogive.core.checks import is_whole
from ogive.errors import ParameterError, PeerError, plain
from ogive.local.description import Description
from ogive.segments import is_store, stored

# --- Which files of reports were read, and how far: known by their content, whatever their names
#
# An aggregator that was stopped reads the same files again. Its journal holds the length and the SHA-256 of what was
# added up of each, so that it goes on where it was and does not take what it counted itself for duplicates.
#
# A file may hold one short report, and whoever sees its SHA-256 finds the report by trying them all. So a journal
# leaves memory only as HMAC-SHA256 of these digests, under a key that stays with the aggregator.

MAX_FILES = 100_000
KEY_BYTES = 32
GZIP = b"\x1f\x8b"
_PIECE = 1 << 20
_STORED = 1 << 12
"""Records of a store that are put together at a time."""


@dataclass(frozen=True)
class Sealed:
    """What a partial state tells of a journal: nothing to who lacks the key, but for how many files and how long.

    Fields:
        key: What the key is recognized by, in hexadecimal digits; empty where no file is listed.
        read: Bytes that were read of each file, by the HMAC-SHA256 of their SHA-256, in hexadecimal digits.
    """

    key: str = ""
    read: dict[str, int] = field(default_factory=dict)


class Journal:
    """What was read."""

    def __init__(self, sealed: Sealed | None = None, key: bytes | None = None) -> None:
        check_key(key)
        known = sealed is not None and key is not None and sealed.key == _name(key)
        self._read: dict[str, int] = {}
        self._key = key if known else None
        self._sealed = dict(sealed.read) if sealed is not None and known else {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Digests stay in the process that read the files: a copy recognizes none."""
        return Journal, ()

    @property
    def sizes(self) -> list[int]:
        """How far files were read, ascending."""
        return sorted({*self._read.values(), *self._sealed.values()})

    def size(self, digest: str) -> int | None:
        """Bytes of this SHA-256 that were read, or None."""
        if digest in self._read or self._key is None:
            return self._read.get(digest)
        return self._sealed.get(_seal(self._key, digest))

    def sealed(self, key: bytes | None) -> Sealed:
        """What a partial state may tell: nothing without a key, and under another one what this process read."""
        check_key(key)
        if key is None:
            return Sealed()
        listed = {_seal(key, digest): size for digest, size in self._read.items()}
        if key == self._key:
            listed |= self._sealed
        return Sealed(_name(key), dict(sorted(listed.items())[:MAX_FILES])) if listed else Sealed()

    def merge(self, other: Journal) -> None:
        """Add what another journal holds and this one can use; beyond `MAX_FILES`, files count as duplicates."""
        if other._key is not None and self._key in (None, other._key):
            self._key, self._sealed = other._key, self._sealed | other._sealed
        self._read = dict(sorted((self._read | other._read).items())[:MAX_FILES])

    def replace(self, old: str | None, digest: str, size: int) -> None:
        """Go on from what was read of a file to more of it."""
        if old is not None:
            self._read.pop(old, None)
            if self._key is not None:
                self._sealed.pop(_seal(self._key, old), None)
        if len(self._read) + len(self._sealed) < MAX_FILES:
            self._read[digest] = size


def check_key(key: Any) -> None:
    """Refuse what is neither a key nor None."""
    if key is not None and not (isinstance(key, bytes) and len(key) == KEY_BYTES):
        raise ParameterError(f"the key of a partial state must be {KEY_BYTES} bytes, as Collection.new_key() makes it")


def _seal(key: bytes, digest: str) -> str:
    return hmac.new(key, b"ogive file " + bytes.fromhex(digest), hashlib.sha256).hexdigest()


def _name(key: bytes) -> str:
    """What tells keys apart and nothing else of them."""
    return hmac.new(key, b"ogive key", hashlib.sha256).hexdigest()


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
        """The next bytes, fewer than asked for only at the end or before damage, which `damaged` then tells."""
        pieces: list[bytes] = []
        while size:
            try:
                # what was unpacked before damage is given before the damage is told
                piece = self._file.read1(min(_PIECE, size))
            except (EOFError, gzip.BadGzipFile, zlib.error):  # a compressed file that was cut off or changed
                self.damaged = True
                break
            except OSError as problem:  # of the disk, not of the file: what is left of it may still be read later
                raise ParameterError(f"cannot read on in {plain(self._path)}: {problem.strerror}") from None
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
    """Open a file of reports behind what the journal says was added up of it."""
    with contextlib.ExitStack() as stack:
        try:
            regular = path.is_file() or path.is_dir()  # a pipe can be read once only
            known = _known(path, journal) if regular else 0
            file = stack.enter_context(_open(path))
            reading = Reading(path, file, journal if regular else Journal(), known)
        except OSError as problem:
            raise ParameterError(f"cannot read {plain(path)}: {problem.strerror or 'it is damaged'}") from None
        yield reading


def _known(path: Path, journal: Journal) -> int:
    """How many bytes at the front of the file were added up before."""
    result = position = 0
    seen = hashlib.sha256()
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), _open(path) as file:
        for size in journal.sizes:
            while position < size and (piece := file.read1(min(_PIECE, size - position))):
                seen.update(piece)
                position += len(piece)
            if position < size:
                break
            if journal.size(seen.hexdigest()) == size:
                result = size
    return result


class _Stored(io.RawIOBase):
    """The reports of a store one after the other, as if they were a file, which grows while a service takes reports."""

    def __init__(self, folder: Path) -> None:
        if not is_store(folder):
            raise ParameterError(f"cannot read {plain(folder)}: it is a folder, and no store of a service")
        self._records = stored(folder)
        self._piece = b""

    def readable(self) -> bool:
        """It is, and nothing else."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill some of a buffer; 0 at the end."""
        if not self._piece:
            self._piece = b"".join(itertools.islice(self._records, _STORED))
        ready = self._piece[: len(buffer)]
        buffer[: len(ready)] = ready
        self._piece = self._piece[len(ready) :]
        return len(ready)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[io.BufferedReader[Any]]:
    if path.is_dir():
        with io.BufferedReader(_Stored(path), _PIECE) as records:
            yield records
        return
    with io.BufferedReader(path.open("rb", buffering=0), _PIECE) as file:
        # a report begins with its version, which is not how a compressed file begins
        if path.is_file() and file.peek(2)[:2] == GZIP:
            with gzip.open(file) as unpacked:
                yield cast("io.BufferedReader[Any]", unpacked)
        else:
            yield file


# --- Partial states as files

FRONT = b"ogive partial "
MAGIC = FRONT + b"2\n"
_LENGTH_BYTES, _DIGEST_BYTES = 8, 32
_HEX = re.compile(r"[0-9a-f]{64}")
LARGEST_COUNT = (1 << 62) - 1
"""Where counting ends, so that every count that is written can be read."""
MAX_BYTES = 1 << 31
_NAMES = ("accepted", "duplicate", "malformed", "foreign")


@dataclass(frozen=True)
class State:
    """What a collection holds.

    Fields:
        counts: Reports that were accepted, duplicate, malformed and foreign.
        sums: Of the oracle's shape.
    """

    description: Description
    counts: tuple[int, ...]
    journal: Sealed
    sums: Int64
    heard: UInt8


def write_state(state: State) -> bytes:
    """The partial state as bytes."""
    header = json.dumps(
        {
            "description": state.description.to_dict(),
            "counts": dict(zip(_NAMES, state.counts, strict=True)),
            "key": state.journal.key,
            "read": dict(sorted(state.journal.read.items())),  # in whatever order it came: equal states, equal bytes
        }
    ).encode()
    parts = (
        MAGIC,
        len(header).to_bytes(_LENGTH_BYTES, "little"),
        header,
        state.sums.astype("<i8").tobytes(),
        state.heard.tobytes(),
    )
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def is_state(path: Path) -> bool:
    """Whether a file holds a partial state and not reports."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(FRONT)) == FRONT
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


def check_state(path: Path) -> None:
    """Refuse what is there and no partial state."""
    if path.exists() and not is_state(path):
        read_state(path)


def read_state(source: str | Path | bytes) -> State:
    """Read what `write_state` wrote; any bytes give a valid state or an error."""
    data = source if isinstance(source, bytes) else read_file(Path(source))
    if not data.startswith(MAGIC):
        raise PeerError("this is not a partial state of this version of ogive")
    body, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if len(data) < len(MAGIC) + _LENGTH_BYTES + _DIGEST_BYTES or hashlib.sha256(body).digest() != digest:
        raise PeerError("the partial state is damaged or was cut off")
    start = len(MAGIC) + _LENGTH_BYTES
    stop = start + int.from_bytes(body[len(MAGIC) : start], "little")
    header = _header(body[start:stop])
    description = Description.from_dict(header["description"])
    shape = description.oracle.shape
    sums_bytes, heard_bytes = 8 * int(np.prod(shape)), -(-description.participants // 8)
    if len(body) != stop + sums_bytes + heard_bytes:
        raise PeerError("the partial state is inconsistent: its length does not fit its description")
    sums = np.frombuffer(body, "<i8", sums_bytes // 8, stop).astype(np.int64).reshape(shape)
    heard = np.frombuffer(body, np.uint8, heard_bytes, stop + sums_bytes).copy()
    if description.participants % 8 and heard[-1] >> (description.participants % 8):
        raise PeerError("the partial state is inconsistent: it lists more participants than there are")
    counts = tuple(header["counts"][name] for name in _NAMES)
    return State(description, counts, Sealed(header["key"], header["read"]), sums, heard)


def read_file(path: Path) -> bytes:
    """All bytes of a file that may be a partial state."""
    try:
        if path.exists() and not path.is_file():
            raise ParameterError(f"cannot read {plain(path)}: a partial state must be an ordinary file")
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise PeerError(f"the partial state is too large: it may have at most {MAX_BYTES} bytes")
            return file.read()
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise PeerError("the partial state has no readable header") from None
    if not isinstance(header, dict) or set(header) != {"description", "counts", "key", "read"}:
        raise PeerError("the header of the partial state must have description, counts, key and read")
    counts, read = header["counts"], header["read"]
    if not isinstance(counts, dict) or set(counts) != set(_NAMES) or not all(map(_is_count, counts.values())):
        raise PeerError(f"the counts of the partial state must be whole numbers {', '.join(_NAMES)}")
    files = isinstance(read, dict) and len(read) <= MAX_FILES
    if not files or not all(_HEX.fullmatch(digest) and _is_count(size) for digest, size in read.items()):
        raise PeerError("the partial state must list the files that were read by digest and size")
    key = header["key"]
    if not isinstance(key, str) or not (_HEX.fullmatch(key) if read else key == ""):
        raise PeerError("the partial state must name the key of the files that it lists, and no key without files")
    return header


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value <= LARGEST_COUNT
