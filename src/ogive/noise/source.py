"""Random bits: the operating system's, and replayable streams from a key.

Both are AES-256 in counter mode, so that a sampler pays a fraction of a nanosecond for a
word; they differ in where the key comes from.
"""

from __future__ import annotations

import os
import threading

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.arrays import UInt32
from ogive.errors import ParameterError

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
    """Return the key if it has 32 bytes.

    Raises:
        ParameterError: it has not, or is not bytes.
    """
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
            taken, self._rest = self._rest[:count], self._rest[count:]
            return taken
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
