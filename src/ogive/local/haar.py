"""One bit about one Haar coefficient of a symbol."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Bool, Float64, Int64, UInt8
from ogive.checks import among, any_whole
from ogive.local.assignment import SCALE, Assignment
from ogive.local.base import RandomWords
from ogive.local.bits import WORD, flip_threshold
from ogive.local.fields import (
    MAX_SEED,
    check_epsilon,
    check_reports,
    check_size,
    check_sums,
    check_symbols,
)
from ogive.local.levels import MAX_TALLY, Layout
from ogive.parameters import plain_fields
from ogive.privacy import PureDP

WEIGHTS = ("geometric", "uniform")


@dataclass(frozen=True)
class HaarOracle:
    """Report, with noise, the half of a dyadic block that contains the symbol, at a level set by the number.

    Symbols are padded to a power of two, k = 2^a. Level l = 0..a-1 has 2^l blocks; the owner's block is q, and its
    sign is + in the left half and - in the right one. It draws j uniform below 2^l and sends j and the bit
    sign * (-1)^popcount(j AND q), flipped with a small chance.

    Fields:
        size: Number of symbols, 2 to 2^20.
        epsilon: Privacy of a report, at least 1e-9.
        seed: Public, 0 to 2^63 - 1; with the participant's number it determines the level.
        weights: Chances of the levels: "geometric" (falling as 2^(-l/2), for Lipschitz kernels such as gini) or
            "uniform" (for kernels with a jump, such as the AUC's).

    Raises:
        ParameterError: a field is out of range.

    Privacy: the level and j are independent of the symbol. One symbol makes a value of the bit at most (1 - q) / q
        times as likely as another, at most e^epsilon, with q the chance of a flip.

    Source: after Ghazi, Kamath, Kumar, Manurangsi and Sealfon 2023, with the Haar basis.
    """

    size: int
    epsilon: Fraction
    seed: int = 0
    weights: str = "geometric"

    name: ClassVar[str] = "haar"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_size(self.size, MAX_TALLY))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "seed", any_whole(self.seed, "seed", 0, MAX_SEED))
        among(self.weights, "weights", WEIGHTS)

    @property
    def levels(self) -> int:
        """Levels, a."""
        return (self.size - 1).bit_length()

    @property
    def padded(self) -> int:
        """Symbols with padding, 2^levels."""
        return 1 << self.levels

    @cached_property
    def layout(self) -> Layout:
        """Where bits lie and sums go."""
        return Layout(tuple(1 << level for level in range(self.levels)), (False,) * self.levels)

    @cached_property
    def assignment(self) -> Assignment:
        """Who is asked which level."""
        # 2^(-l/2) in integers, so that every device has the same bounds
        parts = [isqrt(1 << 80 - level) if self.weights == "geometric" else 1 for level in range(self.levels)]
        ends = np.cumsum(np.array(parts, dtype=object)).tolist()
        return Assignment(self.seed, (0, *(int(SCALE * end // ends[-1]) for end in ends)))

    @property
    def level_chances(self) -> Float64:
        """Probability of each level, shape (levels,)."""
        return np.array(self.assignment.chances)

    @cached_property
    def _threshold(self) -> int:
        return flip_threshold(self.epsilon)

    @property
    def chance(self) -> Fraction:
        """Probability of a flip."""
        return Fraction(self._threshold, WORD)

    @property
    def ratio(self) -> Fraction:
        """Exact largest ratio of a report's probabilities under two symbols: exp(epsilon spent)."""
        return (1 - self.chance) / self.chance

    @property
    def scale(self) -> float:
        """Factor of an unbiased sign, 1 / (1 - 2 q)."""
        return float(1 / (1 - 2 * self.chance))

    @property
    def loss(self) -> PureDP:
        """The epsilon of the oracle."""
        return PureDP(self.epsilon)

    @property
    def payload_bytes(self) -> int:
        """Length of an index and a bit."""
        return self.layout.payload_bytes

    @property
    def reach(self) -> float:
        """People that one report counts for at most, at the least likely level: 1 / (1 - 2 q), over its chance."""
        return self.scale / min(self.assignment.chances)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sums of signs per index, level after level, then reports per level."""
        return (self.layout.length,)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants, shape (n, payload_bytes)."""
        symbols, numbers = check_symbols(symbols, numbers, self.size)
        levels = self.assignment.of(numbers)
        halves = symbols >> (self.levels - 1 - levels)
        negative = (halves & 1).astype(np.bool_)
        return self.layout.answer_one(levels, halves >> 1, self._threshold, source=source, negative=negative)

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports in place; an index outside its level makes a report malformed."""
        numbers, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        return self.layout.add(sums, numbers, payloads, self.assignment)

    def reports(self, sums: Int64) -> int:
        """Number of reports added."""
        return int(self.layout.reports(sums).sum())

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        return self.layout.possible(sums, reports)

    def level_reports(self, sums: Int64) -> Int64:
        """Reports at each level, shape (levels,)."""
        return self.layout.reports(check_sums(sums, self.shape)).copy()

    def theta(self, sums: Int64) -> Float64:
        """Unbiased sums over all owners of their Haar coefficients.

        Block p of level l, at place 2^l - 1 + p, estimates how many symbols are in its left half less those in its
        right half.

        Returns:
            Shape (padded - 1,).
        """
        from ogive.local.walsh import transform

        found = check_sums(sums, self.shape)
        parts = [
            transform(self.layout.tally(found, level).copy()) * (self.scale / chance)
            for level, chance in enumerate(self.assignment.chances)
        ]
        return np.concatenate(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}
