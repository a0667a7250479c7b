"""k-ary randomized response: the true symbol with some chance, else a uniform one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Bool, Float64, Int64, UInt8
from ogive.local.base import RandomWords
from ogive.local.bits import WORD, bernoulli, keep_threshold, uniform
from ogive.local.fields import check_epsilon, check_reports, check_size, check_sums, check_symbols, write_bytes
from ogive.privacy import PureDP

MAX_SIZE = 1 << 24


@dataclass(frozen=True)
class RandomizedResponse:
    """Send the symbol with probability c, else a uniform symbol, possibly the true one.

    Fields:
        size: Number of symbols, 2 to 2^24.
        epsilon: Privacy of a report, at least 1e-9.

    Raises:
        ParameterError: a field is out of range, or epsilon too small for so many symbols.

    Privacy: the true symbol is 1 + size * c / (1 - c) times as likely as any other, at most e^epsilon.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, algorithm 1, with the chances of its appendix.

    Example:
        >>> import numpy as np
        >>> from ogive.local import OwnerSource, RandomizedResponse
        >>> oracle = RandomizedResponse(5, 1)
        >>> report = oracle.randomize(np.array([3]), np.array([0]), source=OwnerSource())
    """

    size: int
    epsilon: Fraction

    name: ClassVar[str] = "krr"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_size(self.size, MAX_SIZE))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        assert self._threshold < WORD

    @cached_property
    def _threshold(self) -> int:
        return keep_threshold(self.epsilon, self.size)

    @property
    def keep(self) -> Fraction:
        """Probability of keeping the symbol, 1 - beta."""
        return Fraction(self._threshold, WORD)

    @property
    def ratio(self) -> Fraction:
        """Exact largest ratio of a report's probabilities under two symbols: exp(epsilon spent)."""
        return 1 + self.size * self.keep / (1 - self.keep)

    @property
    def loss(self) -> PureDP:
        """The epsilon of the oracle."""
        return PureDP(self.epsilon)

    @property
    def payload_bytes(self) -> int:
        """1 to 3."""
        return ((self.size - 1).bit_length() + 7) // 8

    @property
    def reach(self) -> float:
        """People that one report counts for at most: 1 / c, of the symbol that it names."""
        return float(1 / self.keep)

    @property
    def shape(self) -> tuple[int, ...]:
        """Reports of each symbol."""
        return (self.size,)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants, little-endian symbols, shape (n, payload_bytes)."""
        symbols, _ = check_symbols(symbols, numbers, self.size)
        sent = symbols.copy()
        lost = np.flatnonzero(~bernoulli(source, symbols.size, self._threshold))
        sent[lost] = uniform(source, lost.size, self.size)
        payloads = np.empty((symbols.size, self.payload_bytes), dtype=np.uint8)
        write_bytes(payloads, sent)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Count symbols in place; an unknown symbol makes a report malformed."""
        from ogive.local.aggregation import add_symbols

        _, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        good = np.ones(len(payloads), dtype=np.bool_)
        add_symbols(sums, payloads, good)
        return good

    def reports(self, sums: Int64) -> int:
        """Number of reports added."""
        return int(sums.sum())

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        return bool((sums >= 0).all() and (sums <= reports).all()) and self.reports(sums) == reports

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of the true symbols, shape (size,); they add up to the reports."""
        received = check_sums(sums, self.shape).astype(np.float64)
        keep = float(self.keep)
        unbiased: Float64 = (received - received.sum() * float((1 - self.keep) / self.size)) / keep
        return unbiased

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "size": self.size, "epsilon": str(self.epsilon)}
