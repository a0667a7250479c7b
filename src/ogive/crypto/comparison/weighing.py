"""Public linear forms of every key's values at many points, and the sums over keys, without holding the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import UInt8, UInt64
from ogive.compiling import njit
from ogive.crypto import field
from ogive.crypto.comparison.batch import KeyBatch
from ogive.crypto.comparison.chunks import in_chunks
from ogive.crypto.comparison.evaluation import CHUNK
from ogive.crypto.comparison.tallies import Reading
from ogive.crypto.comparison.walking import Walk
from ogive.crypto.field import add, multiply
from ogive.errors import ParameterError


class Weighed(NamedTuple):
    """What one server has of many keys.

    Fields:
        forms: Shares of the linear forms of each key, elements, shape (forms, n).
        sums: Shares of the sums over keys at each point, elements, shape (B,).
    """

    forms: UInt64
    sums: UInt64


def evaluate_weighed(
    batch: KeyBatch,
    points: NDArray[np.integer[Any]],
    weights: UInt64,
    *,
    server: int,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Weighed:
    """Walk to all points once, for a verification and the sums that it is about.

    Args:
        batch: The keys of one server, of the group "field".
        points: Public numbers in [0, 2^bits), strictly increasing, shape (B,).
        weights: Elements, shape (forms, B).
        server: 0 or 1.
        threads: How many cores to use; None for all.
        progress: Called now and then with the number of keys done.

    Raises:
        ParameterError: the points are not increasing, the weights have another shape, or the group is another.
    """
    where = np.asarray(points, dtype=np.int64)
    if where.ndim != 1 or not where.size or np.any(np.diff(where) <= 0) or where[0] < 0:
        raise ParameterError("`points` must be one or more increasing whole numbers from 0")
    if where[-1] >= batch.shape.domain or weights.ndim != 2 or weights.shape[1] != where.size:
        raise ParameterError("`points` must be in the domain of the keys, with a weight of every form for each")
    if batch.shape.group != "field":
        raise ParameterError("only keys of the group 'field' have linear forms")
    forms = np.zeros((len(weights), len(batch)), np.uint64)
    sums = np.zeros(where.size, np.uint64)
    listed = where.tolist()

    def work(walk: Walk, part: slice) -> UInt64:
        tally = _Weighing(batch[part], server, weights, forms[:, part])
        walk.run(batch[part], listed, server, tally)
        return tally.sums

    def tool(keys: int) -> Walk:
        return Walk(batch.shape, batch.study, keys)

    for found in in_chunks(work, tool, keys=len(batch), chunk=CHUNK, threads=threads, progress=progress):
        sums = field.sums(sums, found)
    return Weighed(forms, sums)


class _Weighing:
    """Forms and sums of a chunk of keys."""

    def __init__(self, batch: KeyBatch, server: int, weights: UInt64, forms: UInt64) -> None:
        self._row = np.empty((1, len(batch)), np.uint64)
        self._reading = Reading(batch, server, self._row)
        self._weights = np.ascontiguousarray(weights.T)
        self._forms = forms
        self.sums = np.zeros(weights.shape[1], np.uint64)

    def start(self) -> Any:
        return self._reading.start()

    def descend(self, level: int, sides: Sequence[int], total: Any, s: UInt64, t: UInt8, v: UInt64) -> list[Any]:
        return self._reading.descend(level, sides, total, s, t, v)

    def arrive(self, block: int, wanted: Sequence[tuple[int, int]], total: Any, s: UInt64, t: UInt8, v: UInt64) -> None:
        for point, place in wanted:
            self._reading.arrive(block, [(0, place)], total, s, t, v)
            self.sums[point] = _weigh(self._row[0], self._weights[point], self._forms)


@njit(nogil=True)
def _weigh(row: UInt64, weights: UInt64, forms: UInt64) -> np.uint64:
    """Add a point's values, each times the point's weight, to the forms; return their sum."""
    low = np.uint64(0)
    high = np.uint64(0)
    for key in range(row.size):
        low += row[key] & np.uint64(0xFFFFFFFF)
        high += row[key] >> np.uint64(32)
        for form in range(weights.size):
            forms[form, key] = add(forms[form, key], multiply(row[key], weights[form]))
    wide = multiply(field.reduce(high), np.uint64(1 << 32))
    return add(field.reduce(low), wide)
