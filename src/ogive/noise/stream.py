"""From a kernel that turns words into draws to arrays of any length.

A kernel fills a block of results row by row from a block of words, each row from its own
words; it stops a row at the first draw that does not fit and tells how many were complete and
where the words of the unfinished draw begin.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ogive.arrays import Int64, UInt32
from ogive.errors import ParameterError
from ogive.noise.base import RandomSource

_MAX_WORDS = 1 << 16


class Fill(Protocol):
    """A law's kernel.

    Args:
        words: Shape (rows, words).
        out: Shape (rows, draws); filled from the left.

    Returns:
        For each row the number of complete draws and the number of words they used.
    """

    def __call__(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Draw until a row of `out` is full or its words run out."""
        ...


def draw_stream(fill: Fill, words_per_draw: float, size: int, source: RandomSource) -> Int64:
    """Draw `size` values from consecutive words of a source.

    Words that are left over at the end are not handed back.

    Raises:
        ParameterError: size is negative.
    """
    if size < 0:
        raise ParameterError(f"`size` must be at least 0, got {size}")
    out = np.empty((1, size), np.int64)
    carried = np.empty(0, np.uint32)
    done = 0
    while done < size:
        wanted = min(int((size - done) * words_per_draw * 1.05) + 64, _MAX_WORDS)
        fresh = source.words(max(wanted, carried.size))
        words = np.concatenate([carried, fresh]) if carried.size else fresh
        complete, used = fill(words[np.newaxis], out[:, done:])
        done += int(complete[0])
        carried = words[int(used[0]) :]
    drawn: Int64 = out[0]
    return drawn
