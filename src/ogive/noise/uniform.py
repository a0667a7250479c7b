"""Uniform random bits of a node, for choices whose chances are ratios of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64, UInt32
from ogive.checks import whole
from ogive.noise.base import RandomSource
from ogive.noise.stream import draw_stream

MOST_BITS = 62
_WORD = 32


@dataclass(frozen=True)
class UniformBits:
    """Each whole number from 0 to 2^bits - 1 with the same chance.

    It is no noise for a number that is published: it is what a choice among public candidates is made with.

    Args:
        bits: 1 to 62.

    Raises:
        ParameterError: the number of bits is out of range.
    """

    bits: int

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 1, MOST_BITS)

    @property
    def variance(self) -> float:
        """Exactly (4^bits - 1) / 12, to floating point."""
        return (4.0**self.bits - 1) / 12

    @property
    def words_per_draw(self) -> float:
        """Words that a draw takes."""
        return float(-(-self.bits // _WORD))

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape; minus infinity outside 0 to 2^bits - 1."""
        inside = (values >= 0) & (values < 1 << self.bits)
        return np.where(inside, -self.bits * np.log(2.0), -np.inf)

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Fill rows of draws from rows of words; see `ogive.noise.stream.Fill`."""
        rows, draws = out.shape
        each = int(self.words_per_draw)
        done = min(draws, words.shape[1] // each)
        parts = words[:, : done * each].reshape(rows, done, each).astype(np.uint64)
        drawn = parts[:, :, 0]
        if each > 1:
            drawn = drawn | parts[:, :, 1] << np.uint64(_WORD)
        out[:, :done] = (drawn & np.uint64((1 << self.bits) - 1)).astype(np.int64)
        return np.full(rows, done, np.int64), np.full(rows, done * each, np.int64)

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "uniform_bits", "bits": str(self.bits)}
