"""Public randomness: what everybody who has the seed draws again, on any machine.

The seed must be settled after people have entered, or be drawn by nobody alone, or else somebody could choose whom
they meet; it needs no secrecy.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.streams import SEED_BYTES, WordStream
from ogive.errors import ParameterError, quoted


class PublicDraws:
    """Draws for one purpose, from the beginning of its stream.

    Args:
        seed: Public bytes, at least one.
        purpose: What is drawn; other purposes have unrelated streams.

    Raises:
        ParameterError: the seed is not such bytes.
    """

    def __init__(self, seed: bytes, purpose: str) -> None:
        if not isinstance(seed, bytes) or not seed:
            raise ParameterError(f"`seed` must be bytes, at least one, got {quoted(seed)}")
        self._stream = WordStream(digest(HashDomain.PAIRS_DESIGN, purpose.encode(), seed, length=SEED_BYTES))

    def permutation(self, size: int) -> Int64:
        """The numbers 0 to size - 1 in random order; no order's chance is off by more than that of two equal words."""
        return np.argsort(self._stream.words(size), kind="stable").astype(np.int64)

    def below(self, bound: int, count: int) -> Int64:
        """Random numbers from 0 to bound - 1, shape (count,); chances are equal but for bound / 2^64."""
        return (self._stream.words(count) % np.uint64(bound)).astype(np.int64)
