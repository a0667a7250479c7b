"""Noise of the nodes of a release as a function of a secret key.

Every (level, node) owns a stream of words: AES-256 of the 16-byte blocks (node: 8 bytes, level: 4,
counter: 4) under a key derived from the release's key, its context and the law. No two blocks are
equal, so streams never overlap, however many words the rejections of a draw consume and in whatever
order nodes are asked for. Two laws never share a key: the difference of two noises scaled from
the same words would reveal the data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.arrays import Int64, UInt64
from ogive.checks import any_whole
from ogive.compiling import njit
from ogive.errors import ParameterError, ReleaseMismatchError
from ogive.noise.base import Law
from ogive.noise.source import KEY_BYTES, check_key

# a chunk of streams should stay in a core's cache
_CHUNK_BLOCKS = 1 << 15
_BLOCK_WORDS = 4
_MAX_LEVEL = 1 << 31
_FORMAT = b"ogive nodes 1\n"


def digest_context(context: bytes) -> bytes:
    """Return the digest that stored noise keeps of a context, 32 bytes."""
    return hashlib.sha256(b"ogive context\n" + context).digest()


def check_nodes(level: int, nodes: Int64) -> Int64:
    """Return the nodes as a flat array.

    Raises:
        ParameterError: level or a node is negative, or not an integer.
    """
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

    def _encryptor(self, law: Law) -> Any:
        """The block cipher of a law; AES in ECB mode encrypts blocks one by one, so it may be reused."""
        if law not in self._ciphers:
            label = json.dumps(law.to_dict(), sort_keys=True).encode()
            info = b"ogive node noise\n" + digest_context(self._context) + hashlib.sha256(label).digest()
            key = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(self._key)
            self._ciphers[law] = Cipher(algorithms.AES(key), modes.ECB())
        return self._ciphers[law].encryptor()

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`.

        Raises:
            ParameterError: level or a node is negative, or not an integer.
        """
        flat = check_nodes(level, nodes)
        encryptor = self._encryptor(law)
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
