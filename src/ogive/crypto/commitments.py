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

from ogive.arrays import UInt8

HASH_BYTES = 32
KEY_BYTES = 32
_TILE_BYTES = 1 << 19


def hash_rows(key: bytes, *columns: NDArray[Any]) -> UInt8:
    """Hash every row of some columns that stand beside each other, numbers as little-endian bytes.

    Args:
        key: 32 bytes, for one purpose, a digest of all that the rows belong to.
        *columns: Of shapes (n, ...), of whole numbers. Rows may lie anywhere in memory: they are brought together a few
            at a time, which stay in the cache.

    Returns:
        Shape (n, 32).
    """
    assert len(key) == KEY_BYTES
    fields = [(str(place), each.dtype.newbyteorder("<"), each.shape[1:]) for place, each in enumerate(columns)]
    row = np.dtype([("key", np.uint8, (KEY_BYTES,)), *fields])
    rows, width = len(columns[0]), row.itemsize
    together = np.empty(max(1, min(rows, _TILE_BYTES // width)), row)
    together["key"] = np.frombuffer(key, np.uint8)
    data = together.view(np.uint8).data
    hashes = []
    for first in range(0, rows, together.size):
        some = min(together.size, rows - first)
        for place, column in enumerate(columns):
            # a column whose rows run across memory is first brought close together, which spares the cache
            together[str(place)][:some] = column[first : first + some].copy(order="K")
        hashes += [hashlib.sha256(data[start : start + width]).digest() for start in range(0, some * width, width)]
    return np.frombuffer(b"".join(hashes), np.uint8).reshape(rows, HASH_BYTES)
