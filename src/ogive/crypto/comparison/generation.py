"""Pairs of comparison keys for many clients at once.

A client makes its own pair; an organization makes those of all its records. The number compared and the payload are in
neither key alone.

Source:
    Boyle, Gilboa and Ishai 2015; Boyle et al. 2021.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.crypto.aes import BLOCK_BYTES, Block, Permutation, block_key
from ogive.crypto.comparison.batch import KeyBatch, UInt64
from ogive.crypto.comparison.chunks import in_chunks
from ogive.crypto.comparison.correcting import correct_leaf, correct_level
from ogive.crypto.comparison.passes import flip_high
from ogive.crypto.comparison.shape import KeyShape
from ogive.crypto.streams import SEED_BYTES, words
from ogive.crypto.wire import STUDY_BYTES
from ogive.errors import ParameterError

CHUNK = 2048
"""Pairs at a time: the blocks of one level fit a core's cache."""


def generate(
    alphas: ArrayLike,
    *,
    shape: KeyShape,
    study: bytes,
    payloads: ArrayLike | None = None,
    random: Callable[[int], bytes] = os.urandom,
    threads: int | None = None,
) -> tuple[KeyBatch, KeyBatch]:
    """Share the functions x -> payload * [x < alpha] between two servers.

    Args:
        alphas: Private numbers in [0, 2^bits), shape (n,).
        shape: Of the keys.
        study: Digest of the study, 32 bytes; keys are of use in no other.
        payloads: Private elements of the group, shape (n,), such as class bits or amounts in fixed point; None for 1.
        random: Makes secret random bytes, so many as it is asked for.
        threads: How many cores to use; None for all.

    Returns:
        The keys for server 0 and those for server 1, which share all arrays but the roots.

    Raises:
        ParameterError: an argument is out of its range.
    """
    numbers = _checked("alphas", alphas, shape.domain)
    amounts = np.ones(numbers.size, np.uint64) if payloads is None else _checked("payloads", payloads, shape.modulus)
    if amounts.size != numbers.size:
        raise ParameterError(f"payloads must be as many as alphas, {numbers.size}, got {amounts.size}")
    if not isinstance(study, bytes) or len(study) != STUDY_BYTES:
        raise ParameterError(f"study must be a digest of {STUDY_BYTES} bytes")
    n, dtype = numbers.size, shape.dtype
    roots = words(random(SEED_BYTES), 4 * n).reshape(2, n, 2)
    roots[:, :, 0] &= np.uint64(2**64 - 2)
    shared = {
        "seeds": np.empty((shape.levels, n, 2), np.uint64),
        "values": np.empty((shape.levels, n), dtype),
        "controls": np.empty((shape.levels, n), np.uint8),
        "leaves": np.empty((n, shape.leaf_values), dtype),
    }
    first = KeyBatch(shape, study, roots[0], **shared)
    second = KeyBatch(shape, study, roots[1], **shared)

    def work(maker: _Maker, part: slice) -> None:
        maker.run(first[part], second[part].roots, numbers[part], amounts[part])

    for _ in in_chunks(
        work, lambda keys: _Maker(shape, study, keys), keys=n, chunk=CHUNK, threads=threads, progress=None
    ):
        pass
    return first, second


def _checked(name: str, numbers: ArrayLike, stop: int) -> UInt64:
    """Whole numbers in [0, stop) as unsigned words."""
    found: NDArray[Any] = np.asarray(numbers)
    if found.ndim != 1 or (found.dtype.kind not in "iub" and found.size):
        raise ParameterError(f"{name} must be whole numbers, shape (n,); got {found.dtype} {found.shape}")
    if found.size and (found.min() < 0 or int(found.max()) >= stop):
        raise ParameterError(f"{name} must be in [0, {stop}), got {found.min()} to {found.max()}")
    return found.astype(np.uint64)


class _Maker:
    """Buffers and keyed permutations to make so many pairs of keys; one for each thread."""

    def __init__(self, shape: KeyShape, study: bytes, keys: int) -> None:
        self._shape = shape
        blocks = (Block.LEFT, Block.RIGHT, Block.VALUES)
        self._levels = [
            [Permutation(block_key(study, level, block)) for block in blocks] for level in range(shape.levels)
        ]
        self._leaf = Permutation(block_key(study, shape.levels, Block.LEAF))
        # the seeds of server 0's keys, then those of server 1's
        self._seeds, self._left, self._right, self._values = (np.empty(4 * keys + 2, np.uint64) for _ in range(4))
        self._keys = keys

    def run(self, batch: KeyBatch, other_roots: UInt64, alphas: UInt64, payloads: UInt64) -> None:
        """Fill a chunk of keys, whose roots are drawn."""
        shape, keys = self._shape, self._keys
        prime, where = shape.arithmetic.prime, shape.places
        seeds = self._seeds[: 4 * keys]
        seeds[: 2 * keys] = batch.roots.reshape(-1)
        seeds[2 * keys :] = other_roots.reshape(-1)
        t = np.zeros(keys, np.uint8)
        missing = np.zeros(keys, np.uint64)
        encrypted = (self._left, self._right, self._values)
        for level, permutations in enumerate(self._levels):
            for permutation, out in zip(permutations, encrypted, strict=True):
                self._encrypt(permutation, self._seeds, out)
            correct_level(
                seeds, t, missing, *encrypted, alphas, np.uint64(shape.bits - 1 - level), payloads, *where[1], prime,
                batch.seeds[level].reshape(-1), batch.values[level], batch.controls[level],
            )  # fmt: skip
        low = alphas & np.uint64(shape.leaf_values - 1)
        flipped = self._left
        for block in range(shape.leaf_blocks):
            flip_high(seeds, np.uint64(block), flipped)
            self._encrypt(self._leaf, flipped, self._values)
            for value in range(block * shape.per_block, min((block + 1) * shape.per_block, shape.leaf_values)):
                correct_leaf(
                    flipped, t, missing, self._values, low, np.uint64(value), payloads, *where[value % shape.per_block],
                    prime, batch.leaves[:, value],
                )  # fmt: skip

    def _encrypt(self, permutation: Permutation, blocks: UInt64, out: UInt64) -> None:
        size = 2 * self._keys * BLOCK_BYTES
        permutation.encrypt(blocks.data.cast("B")[:size], out.data.cast("B"))
