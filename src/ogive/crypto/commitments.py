"""Hashes of many rows of bytes at once, by which clients bind themselves to all that they send.

A row hides as long as there are bytes in it that are random to whoever sees the hash, such as a fresh seed. SHA-256 is
the fastest hash there is for rows of some hundred bytes; what a hash is for is said by a key before every row, which
`digest` makes of a label and its fields.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 32
KEY_BYTES = 32

UInt8 = NDArray[np.uint8]


def hash_rows(key: bytes, *columns: UInt8) -> UInt8:
    """Hash every row of some columns of bytes that stand beside each other.

    Args:
        key: 32 bytes, for one purpose, a digest of all that the rows belong to.
        *columns: Of shapes (n, any).

    Returns:
        Shape (n, 32).
    """
    assert len(key) == KEY_BYTES
    rows = len(columns[0])
    repeated = np.broadcast_to(np.frombuffer(key, np.uint8), (rows, KEY_BYTES))
    table = np.concatenate([repeated, *columns], axis=1)
    width, data = table.shape[1], memoryview(table.tobytes())
    hashes = [hashlib.sha256(data[start : start + width]).digest() for start in range(0, len(data), width)]
    return np.frombuffer(b"".join(hashes), np.uint8).reshape(rows, HASH_BYTES)


def octets(numbers: NDArray[Any], dtype: str) -> UInt8:
    """The bytes of every row of an array, its numbers written as that dtype; shape (n, bytes)."""
    written = np.ascontiguousarray(numbers, dtype=dtype)
    return written.reshape(len(written), -1).view(np.uint8) if written.size else np.empty((len(written), 0), np.uint8)
