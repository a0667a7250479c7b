"""Hashes for keys, seeds, commitments and digests, and what AES makes of seeds.

SHAKE-256 is of labeled fields, HKDF of secrets, and SHA-256 of rows of bytes.

One label, one purpose: what is derived for one is never used for another. Fields are prefixed by their length (8 bytes,
little-endian), so that no two lists of fields are hashed alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import IntEnum, StrEnum, unique
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from ogive.core.arrays import UInt8, UInt64

KEY_BYTES = 32

Random = Callable[[int], bytes]
"""Gives random bytes, as many as it is called with."""


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
# whoever sees the hash, such as a fresh seed. SHA-256 is the fastest hash there is for rows of some hundred bytes; a
# key before every row states what a hash is for, which `digest` makes of a label and its fields.

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


# --- AES-128 of secret, uniform 16-byte seeds: their expansion under fixed public keys, and long streams of words
#
# Block b of the expansion of a seed s is the Matyas-Meyer-Oseas hash AES_b(s) xor s, one key a block: a pseudorandom
# generator where AES under a fixed key is modelled as a random permutation. AES_b(s) alone could be inverted, so
# `encrypt` is only ever used with the xor, which compiled loops do in the pass that reads its results.
#
# Keys are derived for every study, level and block, so that work spent on one does not help against another: what is
# given as the study ought to be a digest of the session too, which has fresh nonces in it. With C seeds hashed under
# one key the security level is 128 - log2(C) bits. Nothing here hides anything from other programs on the same machine.
#
# Source:
#     Guo, Katz, Wang and Yu 2020; `crypto.md`, section 2.

BLOCK_BYTES = SEED_BYTES = 16


class Block(IntEnum):
    """What a block of an expanded seed is for."""

    LEFT = 0
    RIGHT = 1
    VALUES = 2
    LEAF = 3


def block_key(study: bytes, level: int, block: Block) -> bytes:
    """The public key of one block of one level, 16 bytes."""
    return digest(HashDomain.COMPARISON_BLOCK, study, number(level), number(block), length=SEED_BYTES)


class Blocks:
    """An array of blocks that AES can read and write."""

    def __init__(self, count: int) -> None:
        padded = np.empty(2 * count + 2, np.uint64)
        self.words = padded[: 2 * count]
        """Two words a block."""
        self.room = padded.data.cast("B")
        """All bytes, with those of a block more."""
        self.bytes = self.room[: count * BLOCK_BYTES]
        """The bytes of the blocks."""


class Permutation:
    """AES-128 under one fixed key of 16 bytes. Not for two threads at once."""

    def __init__(self, key: bytes) -> None:
        # every block of the array on its own, which is what a permutation of seeds is
        self._encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def encrypt(self, blocks: Blocks, out: Blocks) -> None:
        self._encryptor.update_into(blocks.bytes, out.room)

    def encrypt_part(self, blocks: Blocks, out: Blocks, *, first: int, count: int) -> None:
        """Encrypt `count` blocks from number `first` on, each on its own, into those at the same places of `out`."""
        start, stop = first * BLOCK_BYTES, (first + count) * BLOCK_BYTES
        # room for a block more is given and never written
        self._encryptor.update_into(blocks.bytes[start:stop], out.room[start : stop + BLOCK_BYTES])


# --- Streams of words: AES-128 in counter mode, one stream a seed
#
# A seed must be secret, uniform and used for one purpose; of its stream at most 2^36 bytes may be used.
#
# Source:
#     `crypto.md`, section 2.

CHUNK_BYTES = 1 << 16
"""How much of a stream is made at a time; a multiple of 8, and small enough to stay in the cache."""
_ZEROS = bytes(CHUNK_BYTES)


class WordStream:
    """The words of one seed's stream, from its beginning; how many are read at a time does not matter."""

    def __init__(self, seed: bytes) -> None:
        assert len(seed) == SEED_BYTES
        self._encryptor = Cipher(algorithms.AES(seed), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> UInt64:
        """The next `count` words, little-endian, uniform in [0, 2^64); shape (count,)."""
        out = np.empty(count, "<u8")
        self.fill(out)
        return out

    def fill(self, out: UInt64) -> None:
        """Write the next words over all of an array, which must lie in memory without gaps."""
        assert out.flags.c_contiguous
        # AES encrypts zeros into the array itself: block by block, so that zeros need not be as long as the stream
        memory = out.reshape(-1).view(np.uint8).data
        for start in range(0, len(memory), CHUNK_BYTES):
            part = memory[start : start + CHUNK_BYTES]
            self._encryptor.update_into(_ZEROS[: len(part)], part)


def words(seed: bytes, count: int) -> UInt64:
    """The first `count` words of a seed's stream, shape (count,)."""
    return WordStream(seed).words(count)
