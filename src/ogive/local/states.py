"""Partial states as files: what an aggregator has so far, to go on later or to be merged elsewhere.

    magic          16 bytes, with the version
    header length  8 bytes, little-endian
    header         JSON: the description, what was counted, and which files were read, for who has the key
    sums           64-bit integers, little-endian, of the oracle's shape
    heard          one bit for each participant
    SHA-256        32 bytes, of all before

The digest tells damage, not forgery: a partial state is believed as its aggregator is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ogive.arrays import Int64, UInt8
from ogive.checks import is_whole
from ogive.errors import ParameterError, PeerError, plain
from ogive.local.description import Description
from ogive.local.journal import MAX_FILES, Sealed

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
        description: What was asked.
        counts: Reports that were accepted, duplicate, malformed and foreign.
        journal: Which files were read, for who has the key.
        sums: Of the oracle's shape.
        heard: Bitmap of participants.
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
    """Whether a file holds a partial state and not reports.

    Raises:
        ParameterError: the file cannot be read.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(FRONT)) == FRONT
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


def check_state(path: Path) -> None:
    """Refuse what is there and no partial state.

    Raises:
        PeerError: it is another file.
        ParameterError: it cannot be read, or is no file.
    """
    if path.exists() and not is_state(path):
        read_state(path)


def read_state(source: str | Path | bytes) -> State:
    """Read what `write_state` wrote; any bytes give a valid state or an error.

    Raises:
        PeerError: the state is damaged or inconsistent.
        ParameterError: the file cannot be read.
    """
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
    """All bytes of a file that may be a partial state.

    Raises:
        PeerError: it is larger than any partial state.
        ParameterError: it cannot be read, or is a device or a pipe, which may have no end.
    """
    try:
        if path.exists() and not path.is_file():
            raise ParameterError(f"cannot read {plain(path)}: a partial state must be an ordinary file")
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise PeerError(f"the partial state is too large: there is none of more than {MAX_BYTES} bytes")
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
        raise PeerError("the partial state must name the key of the files that it lists, and of none if there are none")
    return header


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value <= LARGEST_COUNT
