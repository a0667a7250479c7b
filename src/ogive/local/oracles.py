"""Randomized response, unary encoding and Haar coefficients, and every oracle by its name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64, UInt8
from ogive.core.checks import among, any_whole
from ogive.core.parameters import plain_fields
from ogive.errors import ParameterError, quoted
from ogive.local.base import (
    MAX_SEED,
    SCALE,
    WORD,
    Assignment,
    Oracle,
    RandomWords,
    bernoulli,
    check_epsilon,
    check_reports,
    check_size,
    check_sums,
    check_symbols,
    flip_threshold,
    keep_threshold,
    uniform,
    write_bytes,
)
from ogive.local.classes import PublicClasses
from ogive.local.levels import MAX_TALLY, Layout, write_unary
from ogive.local.tree import TreeOracle
from ogive.privacy import PureDP

# --- k-ary randomized response: the true symbol with some chance, else a uniform one

MAX_RESPONSES = 1 << 24


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
        object.__setattr__(self, "size", check_size(self.size, MAX_RESPONSES))
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


# --- Optimized unary encoding: one noisy bit for every symbol

MAX_UNARY_SIZE = 1 << 16


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
        object.__setattr__(self, "size", check_size(self.size, MAX_UNARY_SIZE))
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


# --- One bit about one Haar coefficient of a symbol

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
        from ogive.local.aggregation import transform

        found = check_sums(sums, self.shape)
        parts = [
            transform(self.layout.tally(found, level).copy()) * (self.scale / chance)
            for level, chance in enumerate(self.assignment.chances)
        ]
        return np.concatenate(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}


def assignment_of(oracle: Oracle) -> Assignment | None:
    """Who is asked which level; None where everybody is asked the same."""
    if isinstance(oracle, HaarOracle):
        return oracle.assignment
    return oracle.levels_of if isinstance(oracle, TreeOracle) else None


# --- Oracles from plain data, which anybody may have written

_FIELDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "krr": (RandomizedResponse, ("size", "epsilon")),
    "unary": (UnaryOracle, ("size", "epsilon")),
    "haar": (HaarOracle, ("size", "epsilon", "seed", "weights")),
    "tree": (
        TreeOracle,
        (
            "size",
            "epsilon",
            "delta",
            "seed",
            "branching",
            "split",
            "composition",
            "nodes",
            "assignment",
            "level_epsilon",
        ),
    ),
    "classes": (PublicClasses, ("inner", "classes")),
}
ORACLES = tuple(_FIELDS)


def oracle_from_dict(data: Any) -> Oracle:
    """Rebuild an oracle from `to_dict`.

    Raises:
        ParameterError: the data are not those of an oracle's `to_dict`.
    """
    return _rebuilt(data, outermost=True)


def _rebuilt(data: Any, *, outermost: bool) -> Oracle:
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in _FIELDS or (name == "classes" and not outermost):
        raise ParameterError(f"an oracle must be one of {', '.join(ORACLES)}, got {quoted(name)}")
    kind, fields = _FIELDS[name]
    if set(data) != {"name", *fields}:
        raise ParameterError(f"an oracle {quoted(name)} has the fields {', '.join(fields)}, and no others")
    values = {field: data[field] for field in fields}
    if name == "classes":
        values["inner"] = _rebuilt(data["inner"], outermost=False)
    oracle: Oracle = kind(**values)
    return oracle
