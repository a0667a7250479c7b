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

from ogive.core.arrays import UInt64
from ogive.crypto.aes import SEED_BYTES, Block, Blocks, Permutation, block_key, words
from ogive.crypto.comparison.keys import KeyBatch, KeyShape, in_chunks
from ogive.crypto.comparison.passes import correct_leaf, correct_level, flip_high
from ogive.crypto.wire import check_study
from ogive.errors import ParameterError

CHUNK = 8192
"""Pairs at a time: so many that calls cost little, so few that the blocks of a level stay in a cache."""


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
    amounts = None if payloads is None else _checked("payloads", payloads, shape.modulus)
    if amounts is not None and amounts.size != numbers.size:
        raise ParameterError(f"`payloads` must be as many as alphas, {numbers.size}, got {amounts.size}")
    check_study(study)
    n, dtype = numbers.size, shape.dtype
    roots = words(random(SEED_BYTES), 4 * n).reshape(2, n, 2)
    shared = {
        "seeds": np.empty((shape.levels, n, 2), np.uint64),
        "values": np.empty((shape.levels, n), dtype),
        "controls": np.empty((shape.levels, n), np.uint8),
        "leaves": np.empty((n, shape.leaf_values), dtype),
    }
    first = KeyBatch(shape, study, roots[0], **shared)
    second = KeyBatch(shape, study, roots[1], **shared)

    def work(maker: _Maker, part: slice) -> None:
        worth = np.ones(part.stop - part.start, np.uint64) if amounts is None else amounts[part]
        maker.run(first[part], second.roots[part], numbers[part], worth)

    for _ in in_chunks(
        work, lambda keys: _Maker(shape, study, keys), keys=n, chunk=CHUNK, threads=threads, progress=None
    ):
        pass
    return first, second


def _checked(name: str, numbers: ArrayLike, stop: int) -> UInt64:
    """Whole numbers in [0, stop) as unsigned words."""
    found: NDArray[Any] = np.asarray(numbers)
    if found.ndim != 1 or (found.dtype.kind not in "iub" and found.size):
        raise ParameterError(f"`{name}` must be whole numbers, shape (n,); got {found.dtype} {found.shape}")
    if found.size and (found.min() < 0 or int(found.max()) >= stop):
        raise ParameterError(f"`{name}` must be in [0, {stop}), got {found.min()} to {found.max()}")
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
        # the seeds of server 0's keys, then those of server 1's; then what they are encrypted to, with room for AES
        self._seeds, self._left, self._right, self._values = (Blocks(2 * keys) for _ in range(4))
        self._t = np.empty(keys, np.uint8)
        self._missing = np.empty(keys, np.uint64)

    def run(self, batch: KeyBatch, other_roots: UInt64, alphas: UInt64, payloads: UInt64) -> None:
        """Fill a chunk of keys, whose roots are drawn, but for the bit that seeds have clear."""
        shape, keys = self._shape, len(batch)
        prime, (word, shift) = shape.arithmetic.prime, shape.places[1]
        seeds, left, right, values = self._seeds, self._left, self._right, self._values
        for server, roots in enumerate((batch.roots, other_roots)):
            roots[:, 0] &= np.uint64(2**64 - 2)
            seeds.words[2 * keys * server : 2 * keys * (server + 1)] = roots.reshape(-1)
        t, missing = self._t, self._missing
        t[:] = 0
        missing[:] = 0
        for level, permutations in enumerate(self._levels):
            for permutation, out in zip(permutations, (left, right, values), strict=True):
                permutation.encrypt(seeds, out)
            correct_level(
                seeds.words, t, missing, left.words, right.words, values.words,
                alphas, np.uint64(shape.bits - 1 - level), payloads, word, shift, prime,
                batch.seeds[level].reshape(-1), batch.values[level], batch.controls[level],
            )  # fmt: skip
        low = alphas & np.uint64(shape.leaf_values - 1)
        for block in range(shape.leaf_blocks):
            flip_high(seeds.words, np.uint64(block), left.words)
            self._leaf.encrypt(left, values)
            first = block * shape.per_block
            correct_leaf(left.words, t, missing, values.words, low, first, payloads, prime, batch.leaves)
