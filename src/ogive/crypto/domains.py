"""Hashes for keys, seeds, commitments and digests: SHAKE-256 of labeled fields, HKDF, and SHA-256 of rows of bytes.

One label, one purpose: what is derived for one is never used for another. Fields are prefixed by their length (8 bytes,
little-endian), so that no two lists of fields are hashed alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import StrEnum, unique
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from ogive.core.arrays import UInt8

KEY_BYTES = 32

Random = Callable[[int], bytes]
"""Gives so many random bytes."""


@unique
class HashDomain(StrEnum):
    """Every purpose that anything is hashed for: "ogive/1/<part>/<purpose>"."""

    AGGREGATION_SETTINGS = "ogive/1/aggregation/settings"
    AGGREGATION_OPENING = "ogive/1/aggregation/opening"
    AGGREGATION_KEYS = "ogive/1/aggregation/keys"
    AGGREGATION_SESSION = "ogive/1/aggregation/session"
    AGGREGATION_GRAPH = "ogive/1/aggregation/graph"
    AGGREGATION_CHANNEL = "ogive/1/aggregation/channel"
    AGGREGATION_PAIR = "ogive/1/aggregation/pair"
    AGGREGATION_SELF = "ogive/1/aggregation/self"
    AGGREGATION_COMMITMENT = "ogive/1/aggregation/commitment"
    AGGREGATION_TOTALS = "ogive/1/aggregation/totals"
    AGGREGATION_INCLUDED = "ogive/1/aggregation/included"
    CIRCUIT_DESCRIPTION = "ogive/1/circuit/description"
    COMPARISON_BLOCK = "ogive/1/comparison/block"
    GARBLING_GATE = "ogive/1/garbling/gate"
    LOCAL_ENROLLED = "ogive/1/local/enrolled"
    PAIRS_CONNECTION = "ogive/1/pairs/connection"
    PAIRS_DESIGN = "ogive/1/pairs/design"
    PAIRS_STUDY = "ogive/1/pairs/study"
    SERVERS_STUDY = "ogive/1/servers/study"
    SERVERS_SESSION = "ogive/1/servers/session"
    SERVERS_BINDING = "ogive/1/servers/binding"
    SERVERS_PART = "ogive/1/servers/part"
    SERVERS_NAME = "ogive/1/servers/name"
    SERVERS_SET = "ogive/1/servers/set"
    SERVERS_COUNTED = "ogive/1/servers/counted"
    SERVERS_QUESTION = "ogive/1/servers/question"
    SERVERS_LABELS = "ogive/1/servers/labels"
    SERVERS_NOISE = "ogive/1/servers/noise"
    SHARE_BATCH = "ogive/1/share/batch"
    SHARE_BLOCK = "ogive/1/share/block"
    SKETCH_COMMITMENT = "ogive/1/sketch/commitment"
    SKETCH_CONTEXT = "ogive/1/sketch/context"
    SKETCH_SEED = "ogive/1/sketch/seed"
    STUDY_MEASUREMENT = "ogive/1/study/measurement"
    STUDY_RELEASE = "ogive/1/study/release"
    STUDY_NOISE = "ogive/1/study/noise"
    TRANSFER_POINT = "ogive/1/transfer/point"
    TRANSFER_KEY = "ogive/1/transfer/key"
    TWOPARTY_SETTINGS = "ogive/1/twoparty/settings"
    TWOPARTY_OPENING = "ogive/1/twoparty/opening"
    TWOPARTY_SESSION = "ogive/1/twoparty/session"
    TWOPARTY_CHANNEL = "ogive/1/twoparty/channel"
    UPLOAD_CREDENTIAL = "ogive/1/upload/credential"
    UPLOAD_ENROLLED = "ogive/1/upload/enrolled"
    UPLOAD_PART = "ogive/1/upload/part"
    UPLOAD_MESSAGE = "ogive/1/upload/message"
    UPLOAD_SIGNED = "ogive/1/upload/signed"
    UPLOAD_SEALING = "ogive/1/upload/sealing"
    UPLOAD_NOISE = "ogive/1/upload/noise"
    UPLOAD_CONTEXT = "ogive/1/upload/context"


def digest(label: HashDomain, *fields: bytes, length: int = 32) -> bytes:
    """Hash fields for one purpose."""
    shake = hashlib.shake_256()
    for field in (label.encode("ascii"), *fields):
        shake.update(len(field).to_bytes(8, "little"))
        shake.update(field)
    return shake.digest(length)


def derived_key(secret: bytes, info: bytes) -> bytes:
    """A key of 32 bytes for one purpose, by HKDF-SHA256; keys of other purposes tell nothing of it."""
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(secret)


def number(value: int) -> bytes:
    """A whole number in [0, 2^64) as a field: 8 bytes, little-endian."""
    return value.to_bytes(8, "little")


# --- Hashes of many rows of bytes at once
#
# Clients bind themselves by them to all that they send. A row hides as long as there are bytes in it that are random to
# whoever sees the hash, such as a fresh seed. SHA-256 is the fastest hash there is for rows of some hundred bytes; what
# a hash is for is said by a key before every row, which `digest` makes of a label and its fields.

HASH_BYTES = 32
_TILE_BYTES = 1 << 19


def hash_rows(key: bytes, *columns: NDArray[Any]) -> UInt8:
    """Hash every row of some columns that stand beside each other, numbers as little-endian bytes.

    `key` is 32 bytes for one purpose, a digest of all that the rows belong to. Columns are whole numbers of shapes
    (n, ...), which may lie anywhere in memory: they are brought together a few at a time, which stay in the cache.
    """
    assert len(key) == KEY_BYTES
    fields = [(str(place), each.dtype.newbyteorder("<"), each.shape[1:]) for place, each in enumerate(columns)]
    row = np.dtype([("key", np.uint8, (KEY_BYTES,)), *fields])
    rows, width = len(columns[0]), row.itemsize
    together = np.empty(max(1, min(rows, _TILE_BYTES // width)), row)
    together["key"] = np.frombuffer(key, np.uint8)
    data = together.view(np.uint8).data
    results = []
    for first in range(0, rows, together.size):
        some = min(together.size, rows - first)
        for place, column in enumerate(columns):
            # a column whose rows run across memory is first brought close together, which spares the cache
            together[str(place)][:some] = column[first : first + some].copy(order="K")
        results += [hashlib.sha256(data[start : start + width]).digest() for start in range(0, some * width, width)]
    return np.frombuffer(b"".join(results), np.uint8).reshape(rows, HASH_BYTES)
