"""Optimized unary encoding: one noisy bit for every symbol."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Bool, Float64, Int64, UInt8
from ogive.local.base import RandomWords
from ogive.local.bits import WORD, flip_threshold
from ogive.local.fields import check_epsilon, check_reports, check_size, check_sums, check_symbols
from ogive.local.levels import write_unary
from ogive.privacy import PureDP

MAX_SIZE = 1 << 16


@dataclass(frozen=True)
class UnaryOracle:
    """Send a bit for every symbol: fair for the own symbol, one with probability q for the others.

    Fields:
        size: Number of symbols, 2 to 2^16, and of the bits of a report.
        epsilon: Privacy of a report, at least 1e-9.

    Raises:
        ParameterError: a field is out of range.

    Privacy: another symbol makes one bit at most 1 / (2 q) and one at most 2 (1 - q) times as likely, together
        (1 - q) / q, at most e^epsilon.

    Source: Wang, Blocki, Li and Jha 2017.
    """

    size: int
    epsilon: Fraction

    name: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_size(self.size, MAX_SIZE))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))

    @cached_property
    def _threshold(self) -> int:
        return flip_threshold(self.epsilon)

    @property
    def chance(self) -> Fraction:
        """Probability q of a one for another symbol."""
        return Fraction(self._threshold, WORD)

    @property
    def ratio(self) -> Fraction:
        """Exact largest ratio of a report's probabilities under two symbols: exp(epsilon spent)."""
        return (1 - self.chance) / self.chance

    @property
    def noise_variance(self) -> float:
        """Variance v0 of one bit of another symbol, unbiased; that of the own bit is v0 + 1."""
        half = Fraction(1, 2) - self.chance
        return float(self.chance * (1 - self.chance) / half**2)

    @property
    def loss(self) -> PureDP:
        """The epsilon of the oracle."""
        return PureDP(self.epsilon)

    @property
    def payload_bytes(self) -> int:
        """An eighth of the size, rounded up."""
        return (self.size + 7) // 8

    @property
    def reach(self) -> float:
        """People that one report counts for at most, at all symbols at once if its bits are ones: 1 / (1/2 - q)."""
        return float(1 / (Fraction(1, 2) - self.chance))

    @property
    def shape(self) -> tuple[int, ...]:
        """Ones of each bit, then the number of reports."""
        return (self.size + 1,)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants, bits in little order, shape (n, payload_bytes)."""
        symbols, _ = check_symbols(symbols, numbers, self.size)
        payloads = np.empty((symbols.size, self.payload_bytes), dtype=np.uint8)
        write_unary(payloads, symbols, self.size, self._threshold, source=source)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Count ones in place; a bit past the last symbol makes a report malformed."""
        from ogive.local.aggregation import add_bits

        _, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        good = np.ones(len(payloads), dtype=np.bool_)
        add_bits(sums, payloads, good)
        return good

    def reports(self, sums: Int64) -> int:
        """Number of reports added."""
        return int(sums[-1])

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        return bool((sums >= 0).all() and (sums <= reports).all()) and self.reports(sums) == reports

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of the true symbols, shape (size,); they need not add up to the reports."""
        found = check_sums(sums, self.shape).astype(np.float64)
        unbiased: Float64 = (found[:-1] - found[-1] * float(self.chance)) / float(Fraction(1, 2) - self.chance)
        return unbiased

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "size": self.size, "epsilon": str(self.epsilon)}
