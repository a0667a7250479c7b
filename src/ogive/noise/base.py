"""What every noise law and random source can do.

Noise is drawn in integers only: a law is a distribution on the whole numbers, given by
exact rational parameters, and a sampler follows it exactly (by integer rejection from a
cryptographic keystream), not up to floating point.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from ogive.arrays import Float64, Int64, UInt32
from ogive.interfaces import KeptByType


@runtime_checkable
class RandomSource(Protocol, metaclass=KeptByType):
    """Where random bits come from. Production code uses `SystemSource`; replayable ones live in tests."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, independent of all handed out before."""
        ...

    def key(self) -> bytes:
        """32 fresh uniform bytes, for a keyed stream of its own."""
        ...


class Law(Protocol):
    """An integer distribution with exact parameters, symmetric but for `Geometric`; frozen, comparable, plain data."""

    @property
    def variance(self) -> float:
        """Variance, exact to floating point."""
        ...

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape."""
        ...

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent exact draws, shape (size,)."""
        ...

    @property
    def words_per_draw(self) -> float:
        """About how many 32-bit words of randomness a draw takes."""
        ...

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Draw into `out`, shape (rows, draws), each row from its own row of words.

        A row ends early at the first draw that does not fit its words.

        Returns:
            For each row the number of complete draws and the number of words they used.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.noise.law_from_dict` inverts it."""
        ...


class NodeNoise(Protocol):
    """The noise of one release: one integer for every (level, node), the same at every request."""

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`."""
        ...
