"""Who is asked which level: a public function of a public seed and the participant's number.

Nobody chooses their level, and the level says nothing of a value, so it costs no privacy. Aggregators compute it
again for every report; `aggregation.py` has the same function compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.arrays import Int64, UInt64

# SplitMix64 (Steele, Lea and Flood 2014): its stream from a key, at any place
GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
SCALE = 1 << 32


def mixed(values: UInt64) -> UInt64:
    """The finalizer of SplitMix64: every bit of a value decides every bit of the result."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(FIRST)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(SECOND)
    return values ^ (values >> np.uint64(31))


def hashed(key: int, places: Int64) -> Int64:
    """32 public bits for each place, shape of the places."""
    found = mixed(np.uint64(key) + (places.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))
    return (found >> np.uint64(32)).astype(np.int64)


@dataclass(frozen=True)
class Assignment:
    """A level for every participant.

    Fields:
        seed: Public.
        bounds: Cumulative chances of the levels, from 0 to 2^32, shape (levels + 1,).
        even: Whether every block of as many consecutive numbers as there are levels asks each level once, starting
            at a hashed one, so that levels have equal numbers of reports but for one; then all chances are equal.
            Otherwise every participant's level is hashed on its own.
    """

    seed: int
    bounds: tuple[int, ...]
    even: bool = False

    @staticmethod
    def equal(seed: int, levels: int, even: bool) -> Assignment:
        """Levels of equal chances."""
        return Assignment(seed, tuple(SCALE * level // levels for level in range(levels + 1)), even)

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.bounds) - 1

    @cached_property
    def key(self) -> int:
        """The seed, hashed, so that near seeds have unrelated streams."""
        return int(mixed(np.array([self.seed], dtype=np.uint64) + np.uint64(GOLDEN))[0])

    @cached_property
    def chances(self) -> tuple[float, ...]:
        """Chance of each level."""
        if self.even:
            return (1 / self.levels,) * self.levels
        return tuple((high - low) / SCALE for low, high in zip(self.bounds, self.bounds[1:], strict=False))

    def of(self, numbers: Int64) -> Int64:
        """Level of each participant, 0-based, shape of the numbers."""
        if self.even:
            block, place = np.divmod(numbers, self.levels)
            found: Int64 = (place + (hashed(self.key, block) * self.levels >> 32)) % self.levels
            return found
        inner = np.array(self.bounds[1:-1], dtype=np.int64)
        return np.searchsorted(inner, hashed(self.key, numbers), side="right").astype(np.int64)
