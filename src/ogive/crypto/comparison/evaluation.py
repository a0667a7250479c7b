"""A server's shares of payload * [point < alpha], for many keys at public points.

Whoever has one server's keys learns how many there are, and nothing of the numbers compared or of the payloads. The
shares of the two servers add up to the result modulo the group's modulus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.arrays import Int64, UInt64
from ogive.crypto import field
from ogive.crypto.comparison.batch import KeyBatch, Values
from ogive.crypto.comparison.chunks import in_chunks
from ogive.crypto.comparison.tallies import Reading, Summing
from ogive.crypto.comparison.walking import Walk
from ogive.errors import ParameterError, quoted

CHUNK = 16384
"""Keys at a time: so many that calls cost little, so few that what is passed again and again stays in a cache."""


def evaluate(batch: KeyBatch, points: ArrayLike, *, server: int, threads: int | None = None) -> Values:
    """Each key's share at every point.

    Args:
        batch: The keys of one server.
        points: Public numbers in [0, 2^bits), shape (B,), in any order; work that prefixes share is done once.
        server: Which of the two, 0 or 1.
        threads: How many cores to use; None for all.

    Returns:
        Elements of the group, shape (n, B), of which each column is contiguous; with the other server's they
        add up to payload * [point < alpha].

    Raises:
        ParameterError: an argument is out of its range.
    """
    distinct, back = _distinct(points, batch, server)
    found = np.empty((len(distinct), len(batch)), batch.shape.dtype)
    listed = distinct.tolist()

    def work(walk: Walk, part: slice) -> None:
        keys = batch[part]
        walk.run(keys, listed, server, Reading(keys, server, found[:, part]))

    for _ in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=None):
        pass
    in_order = np.array_equal(back, np.arange(len(distinct)))
    shares: Values = (found if in_order else found[back]).T
    return shares


def evaluate_sums(
    batch: KeyBatch,
    points: ArrayLike,
    *,
    server: int,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Values:
    """The sum over all keys of their shares at every point, in memory that does not grow with the number of keys.

    Args:
        batch: The keys of one server.
        points: As for `evaluate`; all of them, np.arange(2^bits), cost less than an AES block a point and key.
        server: Which of the two, 0 or 1.
        threads: How many cores to use; None for all.
        progress: Called now and then with the number of keys done.

    Returns:
        Elements of the group, shape (B,).

    Raises:
        ParameterError: an argument is out of its range.
    """
    distinct, back = _distinct(points, batch, server)
    listed = distinct.tolist()
    group = batch.shape.arithmetic
    total = np.zeros(len(distinct), np.uint64)

    def work(walk: Walk, part: slice) -> UInt64:
        keys = batch[part]
        tally = Summing(keys, len(listed))
        walk.run(keys, listed, server, tally)
        return tally.found

    for found in in_chunks(work, _walks(batch), keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        total = total + found if group.prime is None else field.sums(total, found)
    if server:
        total = _ZERO - total if group.prime is None else field.differences(_ZERO, total)
    sums: Values = total.astype(group.dtype)[back]
    return sums


_ZERO = np.zeros((), np.uint64)


def _walks(batch: KeyBatch) -> Callable[[int], Walk]:
    return lambda keys: Walk(batch.shape, batch.study, keys)


def _distinct(points: ArrayLike, batch: KeyBatch, server: int) -> tuple[Int64, Int64]:
    """Points in increasing order without repetition, and where each of those asked for is among them."""
    if isinstance(server, bool) or server not in (0, 1):
        raise ParameterError(f"`server` must be 0 or 1, got {quoted(server)}")
    asked: NDArray[Any] = np.asarray(points)
    if asked.ndim != 1 or asked.size == 0 or asked.dtype.kind not in "iu":
        raise ParameterError(
            f"`points` must be whole numbers, at least one, shape (B,); got {asked.dtype} {asked.shape}"
        )
    if asked.min() < 0 or asked.max() >= batch.shape.domain:
        raise ParameterError(f"`points` must be in [0, {batch.shape.domain}), got {asked.min()} to {asked.max()}")
    distinct, back = np.unique(asked.astype(np.int64), return_inverse=True)
    return distinct, back
