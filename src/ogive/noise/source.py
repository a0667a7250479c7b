"""Random bits: the operating system's, and replayable streams from a key; the noise of a release's nodes.

Both sources are AES-256 in counter mode, so that a sampler pays a fraction of a nanosecond for a
word; they differ in where the key comes from. Nodes have their noise from a key, or drawn at first use and stored.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.core.arrays import Int64, UInt32, UInt64
from ogive.core.checks import any_whole
from ogive.core.compiling import njit
from ogive.errors import DataError, ParameterError, ReleaseMismatchError, quoted
from ogive.noise.base import Law, RandomSource

if TYPE_CHECKING:
    from sqlite3 import Connection

KEY_BYTES = 32
_CHUNK_WORDS = 1 << 14
_ZEROS = bytes(4 * _CHUNK_WORDS)

# Counts the forks that lead to this process: a stream made before one must not go on after it.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def check_key(key: bytes) -> bytes:
    """Return the key if it has 32 bytes."""
    if not isinstance(key, bytes):
        raise ParameterError(f"`key` must be {KEY_BYTES} bytes, got {type(key).__name__}")
    if len(key) != KEY_BYTES:
        raise ParameterError(f"`key` must have {KEY_BYTES} bytes, got {len(key)}")
    return key


class _Keystream:
    """Words of AES-256-CTR from counter 0; how many are asked for at a time does not matter."""

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._rest = np.empty(0, np.uint32)

    def _fresh(self) -> UInt32:
        return np.frombuffer(self._encryptor.update(_ZEROS), "<u4")

    def words(self, count: int) -> UInt32:
        if count <= self._rest.size:
            ready, self._rest = self._rest[:count], self._rest[count:]
            return ready
        out = np.empty(count, np.uint32)
        filled = self._rest.size
        out[:filled] = self._rest
        while count - filled > _CHUNK_WORDS:
            out[filled : filled + _CHUNK_WORDS] = self._fresh()
            filled += _CHUNK_WORDS
        fresh = self._fresh()
        out[filled:] = fresh[: count - filled]
        self._rest = fresh[count - filled :]
        return out


def current_process() -> tuple[int, int]:
    """Number of this process, and of the forks that led to it: a forked child never has its parent's two."""
    return os.getpid(), _forks


class SystemSource:
    """Fresh randomness from the operating system, stretched by AES-256-CTR.

    Every thread has a stream of its own under its own key, so threads need no lock and
    never share words; a forked child starts a new stream.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def _stream(self) -> _Keystream:
        owner = current_process()
        if getattr(self._local, "owner", None) != owner:
            self._local.stream = _Keystream(os.urandom(KEY_BYTES))
            self._local.owner = owner
        stream: _Keystream = self._local.stream
        return stream

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, shape (count,)."""
        return self._stream().words(count)

    def key(self) -> bytes:
        """32 bytes straight from the operating system."""
        return os.urandom(KEY_BYTES)


class KeyedSource:
    """The AES-256-CTR stream of a key: the same words at every run.

    For public randomness (simulated confidence bands, tests) and for keys that are secret
    and fresh. Do not draw the noise of a release from a key that others know or that was
    used before: whoever has the key can subtract the noise. Two sources with the same key,
    also in a forked child, give the same words.

    Args:
        key: 32 bytes.

    Raises:
        ParameterError: the key has another length.
    """

    def __init__(self, key: bytes) -> None:
        self._stream = _Keystream(check_key(key))
        self._lock = threading.Lock()

    @classmethod
    def from_seed(cls, seed: int) -> KeyedSource:
        """Make a public stream from a number in [0, 2^256): simulation only, never noise."""
        if not 0 <= seed < 1 << 8 * KEY_BYTES:
            raise ParameterError(f"`seed` must be between 0 and 2^256 - 1, got {seed}")
        return cls(seed.to_bytes(KEY_BYTES, "little"))

    def words(self, count: int) -> UInt32:
        """The next `count` words of the stream, shape (count,)."""
        with self._lock:
            return self._stream.words(count)

    def key(self) -> bytes:
        """The next 32 bytes of the stream."""
        return self.words(KEY_BYTES // 4).astype("<u4").tobytes()


# --- Noise of the nodes of a release, from a secret key
#
# Every (level, node) owns a stream of words: AES-256 of the 16-byte blocks (node: 8 bytes, level: 4,
# counter: 4) under a key derived from the release's key, its context and the law. No two blocks are
# equal, so streams never overlap, however many words the rejections of a draw consume and in whatever
# order nodes are asked for. Two laws never share a key: the difference of two noises scaled from
# the same words would reveal the data.

# a chunk of streams should stay in a core's cache
_CHUNK_BLOCKS = 1 << 15
_BLOCK_WORDS = 4
_MAX_LEVEL = 1 << 31
_FORMAT = b"ogive nodes 1\n"


def digest_context(context: bytes) -> bytes:
    """Return the digest that stored noise keeps of a context, 32 bytes."""
    return hashlib.sha256(b"ogive context\n" + context).digest()


def check_nodes(level: int, nodes: Int64) -> Int64:
    """Return the nodes as a flat array."""
    any_whole(level, "level", 0, _MAX_LEVEL - 1)
    flat = np.asarray(nodes)
    if flat.size and not np.issubdtype(flat.dtype, np.integer):
        raise ParameterError(f"`nodes` must be integers, got {flat.dtype}")
    flat = flat.astype(np.int64).ravel()
    if flat.size and flat.min() < 0:
        raise ParameterError(f"nodes are numbered from 0, got {flat.min()}")
    return flat


def _encode_blocks_plain(nodes: Int64, level: int, blocks: int) -> UInt64:
    plain = np.empty((nodes.size, blocks, 2), np.uint64)
    plain[:, :, 0] = nodes[:, np.newaxis]
    plain[:, :, 1] = np.arange(level << 32, (level << 32) + blocks)
    return plain


@njit(steps=lambda nodes, level, blocks: nodes.size * blocks // 100, twin=_encode_blocks_plain)
def _encode_blocks(nodes: Int64, level: int, blocks: int) -> UInt64:
    """Plain blocks of each node's stream, shape (nodes, blocks, 2): the node, then level << 32 | counter."""
    plain = np.empty((nodes.size, blocks, 2), np.uint64)
    for row in range(nodes.size):
        for counter in range(blocks):
            plain[row, counter, 0] = np.uint64(nodes[row])
            plain[row, counter, 1] = np.uint64(level << 32 | counter)
    return plain


class DerivedNodes:
    """Node noise computed from a key whenever it is asked for; nothing needs to be stored but the key.

    The same node gives the same value at every request, alone or among others, in any order.
    The key is as secret as the data, and must be fresh for every release.

    Args:
        key: 32 secret bytes, from `SystemSource().key()`.
        context: Describes the release (data snapshot, grid, strategy, adjacency); another context gives independent
            noise.

    Raises:
        ParameterError: the key has another length or the context is not bytes.
    """

    def __init__(self, key: bytes, context: bytes) -> None:
        if not isinstance(context, bytes):
            raise ParameterError(f"`context` must be bytes, got {type(context).__name__}")
        self._key = check_key(key)
        self._context = context
        self._ciphers: dict[Law, Any] = {}

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`.

        Raises:
            ParameterError: level or a node is negative, or not an integer.
        """
        flat = check_nodes(level, nodes)
        # AES in ECB mode encrypts blocks one by one, so the cipher of a law may be reused
        if law not in self._ciphers:
            label = json.dumps(law.to_dict(), sort_keys=True).encode()
            info = b"ogive node noise\n" + digest_context(self._context) + hashlib.sha256(label).digest()
            key = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(self._key)
            self._ciphers[law] = Cipher(algorithms.AES(key), modes.ECB())
        encryptor = self._ciphers[law].encryptor()
        out = np.empty(flat.size, np.int64)
        # enough that all but a few nodes per hundred are done at the first try
        blocks = int(law.words_per_draw * 1.75) // _BLOCK_WORDS + 1
        chunk = max(1, _CHUNK_BLOCKS // blocks)
        for start in range(0, flat.size, chunk):
            part = flat[start : start + chunk]
            out[start : start + part.size] = _draw_nodes(law, encryptor, level, part, blocks)
        return out.reshape(np.shape(nodes))

    def to_bytes(self) -> bytes:
        """The key and a digest of the context, to resume the release elsewhere; keep as secret as the data."""
        body = _FORMAT + digest_context(self._context) + self._key
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: bytes, context: bytes) -> DerivedNodes:
        """Resume the noise of a release.

        Args:
            data: From `to_bytes`.
            context: The release's, again.

        Raises:
            ParameterError: the bytes are damaged or something else.
            ReleaseMismatchError: they belong to another context.
        """
        body, check = data[:-32], data[-32:]
        if not body.startswith(_FORMAT) or not hmac.compare_digest(hashlib.sha256(body).digest(), check):
            raise ParameterError("these bytes are not the node noise of a release, or are damaged")
        stored = body[len(_FORMAT) : len(_FORMAT) + 32]
        if stored != digest_context(context):
            raise ReleaseMismatchError("this noise belongs to a release of other data, grid, strategy or adjacency")
        return cls(body[len(_FORMAT) + 32 :], context)


def _draw_nodes(law: Law, encryptor: Any, level: int, nodes: Int64, blocks: int) -> Int64:
    """Draw one value per node; nodes whose draw did not fit are drawn again from a longer piece of the same stream."""
    out = np.empty((nodes.size, 1), np.int64)
    waiting = np.arange(nodes.size)
    while waiting.size:
        plain = _encode_blocks(nodes[waiting], level, blocks)
        words = np.frombuffer(encryptor.update(plain.ravel().view(np.uint8)), "<u4").reshape(
            waiting.size, _BLOCK_WORDS * blocks
        )
        drawn = np.empty((waiting.size, 1), np.int64)
        complete, _ = law.fill(words, drawn)
        fits = complete == 1
        out[waiting[fits]] = drawn[fits]
        waiting = waiting[~fits]
        blocks *= 4
    return out[:, 0]


_SCHEMA = """
CREATE TABLE release (format TEXT NOT NULL, context BLOB NOT NULL);
CREATE TABLE node (level INTEGER NOT NULL, node INTEGER NOT NULL, law TEXT NOT NULL, value INTEGER NOT NULL,
                   PRIMARY KEY (level, node)) WITHOUT ROWID;
"""
_FILE_FORMAT = "ogive nodes 1"


class StoredNodes:
    """Node noise drawn at first use and kept, in memory or in a file.

    With a file, values are committed to it before they are handed out, so that a release resumed after a
    crash gives the same ones, and several processes may share it. The file is as secret as the data.

    Args:
        source: Where new values come from.
        context: Describes the release: data snapshot, grid, strategy, adjacency.
        path: An SQLite file, made if it does not exist; None keeps the values in memory.

    Raises:
        ParameterError: the context is not bytes.
        ReleaseMismatchError: the file belongs to another context.
        DataError: the file is not one of these.
    """

    def __init__(self, source: RandomSource, context: bytes, path: str | Path | None = None) -> None:
        if not isinstance(context, bytes):
            raise ParameterError(f"`context` must be bytes, got {type(context).__name__}")
        import sqlite3  # others do without it

        self._source = source
        self._lock = threading.RLock()
        name = ":memory:" if path is None else str(path)
        self._name = name
        self._errors = (sqlite3.DatabaseError, UnicodeDecodeError)
        self._database = sqlite3.connect(name, isolation_level=None, check_same_thread=False, timeout=60.0)
        try:
            self._open(digest_context(context), name)
        except self._errors as error:
            self._database.close()
            raise DataError(f"{name} is not a file of node noise: {quoted(str(error))}") from None
        except (ReleaseMismatchError, DataError):
            self._database.close()
            raise

    def _open(self, digest: bytes, name: str) -> None:
        self._database.execute("PRAGMA synchronous = FULL")
        with _transaction(self._database):
            tables = {row[0] for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._database.execute(statement)
                self._database.execute("INSERT INTO release VALUES (?, ?)", (_FILE_FORMAT, digest))
            elif tables != {"release", "node"}:
                raise DataError(f"{name} is a database of something else, not a file of node noise")
            if self._database.execute("SELECT format, context FROM release").fetchall() != [(_FILE_FORMAT, digest)]:
                raise ReleaseMismatchError(
                    f"the noise in {name} belongs to a release of other data, grid, strategy or adjacency"
                )

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`.

        Raises:
            ParameterError: level or a node is negative, or not an integer.
            ReleaseMismatchError: a node was drawn from another law before; nothing is drawn then.
            DataError: the file is damaged, or cannot be written.
        """
        flat = check_nodes(level, nodes)
        distinct, place = np.unique(flat, return_inverse=True)
        label = json.dumps(law.to_dict(), sort_keys=True)
        try:
            with self._lock, _transaction(self._database):
                stored = self._read(int(level), distinct, label)
                missing = [node for node in distinct.tolist() if node not in stored]
                fresh = law.sample(len(missing), source=self._source).tolist()
                rows = [(int(level), node, label, value) for node, value in zip(missing, fresh, strict=True)]
                self._database.executemany("INSERT INTO node VALUES (?, ?, ?, ?)", rows)
                stored.update(zip(missing, fresh, strict=True))
        except self._errors as error:
            raise DataError(
                f"the noise in {self._name} is damaged or cannot be written: {quoted(str(error))}"
            ) from None
        drawn = np.array([stored[node] for node in distinct.tolist()], np.int64)
        return drawn[place].reshape(np.shape(nodes))

    def _read(self, level: int, distinct: Int64, label: str) -> dict[int, int]:
        """Stored values of a sorted list of nodes, which must all have the law `label`."""
        stored = {}
        query = "SELECT node, law, value FROM node WHERE level = ? AND node IN ({})"
        for start in range(0, distinct.size, 500):
            part = distinct[start : start + 500].tolist()
            with closing(self._database.execute(query.format(",".join("?" * len(part))), (level, *part))) as rows:
                for node, law, value in rows:
                    if law != label:
                        raise ReleaseMismatchError(
                            f"node {node} of level {level} was drawn from {quoted(law)}, now {label} was asked for"
                        )
                    if not isinstance(value, int):
                        raise DataError(
                            f"the noise of node {node} of level {level} is damaged: it is not a whole number"
                        )
                    stored[node] = value
        return stored

    def close(self) -> None:
        """Close the file; values in memory are gone."""
        self._database.close()


@contextmanager
def _transaction(database: Connection) -> Iterator[None]:
    """A write transaction: others wait at its start, and an error undoes it."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
