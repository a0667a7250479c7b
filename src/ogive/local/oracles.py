"""Randomized response, unary encoding, Haar coefficients and public classes, and every oracle by its name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64, UInt8
from ogive.core.checks import among, any_whole
from ogive.errors import ParameterError, quoted
from ogive.local.base import (
    MAX_SEED,
    SCALE,
    WORD,
    Assignment,
    BuiltIn,
    Flipping,
    Oracle,
    RandomWords,
    bernoulli,
    check_epsilon,
    check_reports,
    check_size,
    check_sums,
    check_symbols,
    keep_threshold,
    uniform,
    write_bytes,
)
from ogive.local.tree import MAX_TALLY, Layout, LevelOracle, TreeOracle, write_unary
from ogive.privacy import ApproxDP, PureDP

# --- k-ary randomized response: the true symbol with some chance, else a uniform one

MAX_RESPONSES = 1 << 24


@dataclass(frozen=True)
class RandomizedResponse(BuiltIn):
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

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of the true symbols, shape (size,); they add up to the reports."""
        received = check_sums(sums, self.shape).astype(np.float64)
        keep = float(self.keep)
        unbiased: Float64 = (received - received.sum() * float((1 - self.keep) / self.size)) / keep
        return unbiased


# --- Optimized unary encoding: one noisy bit for every symbol

MAX_UNARY_SIZE = 1 << 16


@dataclass(frozen=True)
class UnaryOracle(Flipping):
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

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of the true symbols, shape (size,); they need not add up to the reports."""
        result = check_sums(sums, self.shape).astype(np.float64)
        unbiased: Float64 = (result[:-1] - result[-1] * float(self.chance)) / float(Fraction(1, 2) - self.chance)
        return unbiased


# --- One bit about one Haar coefficient of a symbol

WEIGHTS = ("geometric", "uniform")


@dataclass(frozen=True)
class HaarOracle(LevelOracle):
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
    def levels_of(self) -> Assignment:
        """Who is asked which level."""
        return self.assignment

    @property
    def level_chances(self) -> Float64:
        """Probability of each level, shape (levels,)."""
        return np.array(self.assignment.chances)

    @property
    def ratio(self) -> Fraction:
        """Exact largest ratio of a report's probabilities under two symbols: exp(epsilon spent)."""
        return (1 - self.chance) / self.chance

    @property
    def reach(self) -> float:
        """People that one report counts for at most, at the least likely level: 1 / (1 - 2 q), over its chance."""
        return self.scale / min(self.assignment.chances)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants, shape (n, payload_bytes)."""
        symbols, numbers = check_symbols(symbols, numbers, self.size)
        levels = self.assignment.of(numbers)
        halves = symbols >> (self.levels - 1 - levels)
        negative = (halves & 1).astype(np.bool_)
        return self.layout.answer_one(levels, halves >> 1, self._threshold, source=source, negative=negative)

    def theta(self, sums: Int64) -> Float64:
        """Unbiased sums over all owners of their Haar coefficients.

        Block p of level l, at place 2^l - 1 + p, estimates how many symbols are in its left half less those in its
        right half.

        Returns:
            Shape (padded - 1,).
        """
        from ogive.local.aggregation import transform

        result = check_sums(sums, self.shape)
        parts = [
            transform(self.layout.tally(result, level).copy()) * (self.scale / chance)
            for level, chance in enumerate(self.assignment.chances)
        ]
        return np.concatenate(parts)


# --- Reports of owners whose class is public

MAX_CLASSES = 256
MAX_LENGTH = 1 << 26


@dataclass(frozen=True)
class PublicClasses:
    """Send the class unprotected and a randomized report on the other columns; the class is the last column.

    Fields:
        inner: Oracle of the other columns.
        classes: Number of classes, 1 to 256. Symbols are `inner symbol * classes + class`.

    Raises:
        ParameterError: a field is out of range, or sums would need more than 2^26 integers.

    Privacy: `loss` for the inner symbol; the class is not protected.
    """

    inner: Oracle
    classes: int

    name: ClassVar[str] = "classes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", any_whole(self.classes, "classes", 1, MAX_CLASSES))
        if isinstance(self.inner, PublicClasses) or not isinstance(self.inner, Oracle):
            raise ParameterError("the reports inside of classes must be of an oracle without classes")
        if self.classes * int(np.prod(self.inner.shape)) > MAX_LENGTH:
            raise ParameterError(f"{self.classes} classes of so large an oracle need more than {MAX_LENGTH} integers")

    @property
    def size(self) -> int:
        """Inner symbols times classes."""
        return self.inner.size * self.classes

    @property
    def epsilon(self) -> Fraction:
        """Of the inner reports."""
        return self.inner.epsilon

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Of the inner reports."""
        return self.inner.loss

    @property
    def payload_bytes(self) -> int:
        """One byte more than the inner reports."""
        return 1 + self.inner.payload_bytes

    @property
    def reach(self) -> float:
        """As of the inner reports, in the class that the report names."""
        return self.inner.reach

    @property
    def shape(self) -> tuple[int, ...]:
        """Sums of each class."""
        return (self.classes, *self.inner.shape)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants: a byte for the class, then the inner payload."""
        symbols, numbers = check_symbols(symbols, numbers, self.size)
        values, classes = np.divmod(symbols, self.classes)
        payloads = np.empty((symbols.size, self.payload_bytes), dtype=np.uint8)
        payloads[:, 0] = classes
        payloads[:, 1:] = self.inner.randomize(values, numbers, source=source)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports to their class's sums in place; an unknown class makes a report malformed."""
        numbers, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        good = np.zeros(len(payloads), dtype=np.bool_)
        for place in range(self.classes):
            rows = np.flatnonzero(payloads[:, 0] == place)
            if rows.size:
                good[rows] = self.inner.add(sums[place], numbers[rows], payloads[rows, 1:])
        return good

    def reports(self, sums: Int64) -> int:
        """Number of reports added, over all classes."""
        return sum(self.inner.reports(each) for each in sums)

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports, of any classes, can have these sums."""
        each = [self.inner.reports(of_class) for of_class in sums]
        fits = all(self.inner.possible(of_class, count) for of_class, count in zip(sums, each, strict=True))
        return fits and sum(each) == reports

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "inner": self.inner.to_dict(), "classes": self.classes}


# --- Oracles from plain data, which anybody may have written

_KINDS = {kind.name: kind for kind in (RandomizedResponse, UnaryOracle, HaarOracle, TreeOracle, PublicClasses)}
ORACLES = tuple(_KINDS)


def oracle_from_dict(data: Any) -> Oracle:
    """Rebuild an oracle from `to_dict`.

    Raises:
        ParameterError: the data are not those of an oracle's `to_dict`.
    """
    return _rebuilt(data, outermost=True)


def _rebuilt(data: Any, *, outermost: bool) -> Oracle:
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in _KINDS or (name == "classes" and not outermost):
        raise ParameterError(f"an oracle must be one of {', '.join(ORACLES)}, got {quoted(name)}")
    kind: Any = _KINDS[name]
    names = [field.name for field in fields(kind)]
    if set(data) != {"name", *names}:
        raise ParameterError(f"an oracle {quoted(name)} has the fields {', '.join(names)}, and no others")
    values = {field: data[field] for field in names}
    if name == "classes":
        values["inner"] = _rebuilt(data["inner"], outermost=False)
    oracle: Oracle = kind(**values)
    return oracle
