"""How good each public candidate is for some records, in integers, and how far one record moves that."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ogive.arrays import Int64
from ogive.checks import whole
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, Rational, exact

MAX_DENOMINATOR = 1000
"""Largest denominator of a quantile's probability: products of it with numbers of records must stay integers."""

MAX_SHIFT = 1 << 40
"""Most records by which a wanted rank is shifted."""

_ROOM_BITS = 62


class Score(Hashable, Protocol):
    """Interface; frozen plain data with no subclass."""

    @property
    def candidates(self) -> int:
        """How many candidates there are, numbered from 0; public."""
        ...

    def scores(self, sums: Int64) -> Int64:
        """The score of each candidate for a histogram, int64 of shape (candidates,); higher is better."""
        ...

    def sensitivity(self, adjacency: Adjacency) -> int:
        """Most that any score changes between adjacent data sets, at least 1."""
        ...

    def monotone(self, adjacency: Adjacency) -> bool:
        """Whether between any two adjacent data sets all scores that change do so in one direction."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data that says all that fixes the scores."""
        ...


@dataclass(frozen=True, init=False)
class QuantileScore:
    """How near each bin's upper end is to a quantile: minus the number of records that it is off.

    With c(t) records at or below t, an end t is exactly right where c(before t) <= q n <= c(t), before t being the
    end of the bin below. Else it is off by the number of records between q n and the nearer of the two. Looking at both
    sides matters where many records have one value: only that value is then right, while `|c(t) - q n|` would call
    a threshold far below it as good. Ranks are multiplied by the denominator of q, which makes them integers.

    Records outside the candidates count as clipped to them.

    Args:
        probability: Which quantile, in [0, 1], with a denominator of at most 1000.
        first, last: Numbers of the first and last bin that are candidates.
        shift: A public number of records by which the wanted rank lies above q n, or below it. The outermost bins are
            exactly right for ranks outside 0 to n.

    Raises:
        ParameterError: the probability is out of range or not so short, or there is no candidate.
    """

    probability: Fraction
    first: int
    last: int
    shift: int

    def __init__(self, probability: Rational, *, first: int, last: int, shift: int = 0) -> None:
        share = exact(probability, "probability")
        if not 0 <= share <= 1:
            raise ParameterError(f"`probability` must be in [0, 1], got {probability}")
        if share.denominator > MAX_DENOMINATOR:
            raise ParameterError(
                f"`probability` must be a fraction with a denominator of at most {MAX_DENOMINATOR}, got {probability}"
            )
        if not 0 <= first <= last:
            raise ParameterError(f"`candidates` must be bins from first to last, got {first} to {last}")
        object.__setattr__(self, "probability", share)
        object.__setattr__(self, "first", int(first))
        object.__setattr__(self, "last", int(last))
        object.__setattr__(self, "shift", whole(shift, "shift", -MAX_SHIFT, MAX_SHIFT))

    @property
    def candidates(self) -> int:
        """Bins from first to last."""
        return self.last - self.first + 1

    def scores(self, sums: Int64) -> Int64:
        """Minus the ranks by which each bin is off, times the denominator of the probability.

        Raises:
            DataError: ranks, times the denominator of the probability, may not fit into 64 bits.
        """
        wanted, unit = self.probability.numerator, self.probability.denominator
        if unit * (int(sums.sum()) + abs(self.shift)) >> _ROOM_BITS:
            raise DataError("ranks of so many records do not fit; select a quantile of a smaller denominator")
        at_or_below = np.cumsum(sums)[self.first : self.last + 1]
        below = np.concatenate(([0], at_or_below[:-1]))
        at_or_below[-1] = sums.sum()
        rank = wanted * int(at_or_below[-1]) + unit * self.shift
        too_high, too_low = unit * below - rank, rank - unit * at_or_below
        # a rank below all records, or above them, is that of the outermost bin
        too_high[0] = too_low[-1] = 0
        off = np.maximum(np.maximum(too_high, too_low), 0)
        return np.asarray(-off, dtype=np.int64)

    def sensitivity(self, adjacency: Adjacency) -> int:
        """A replaced record moves c(t) - q n by at most 1, an added one by 1 - q or by -q; a shift moves nothing."""
        wanted, unit = self.probability.numerator, self.probability.denominator
        return unit if adjacency is Adjacency.REPLACE else max(wanted, unit - wanted)

    def monotone(self, adjacency: Adjacency) -> bool:
        """Always false: scores on the two sides of the quantile may move in opposite directions."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        told = {"score": "quantile", "probability": str(self.probability), "first": self.first, "last": self.last}
        return told | ({"shift": self.shift} if self.shift else {})
