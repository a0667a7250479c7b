"""What every frequency oracle can do, and what oracles are made of: checks, coins, and levels of participants.

Roles, in the order of the messages:

    owner       turns its own value into a symbol and the symbol into a report (`randomize`); nobody else sees the value
    aggregator  adds reports up, in any order and in any pieces (`add`); sums of disjoint reports add up too

A report says nothing alone: whatever two symbols an owner may have, no report is more than e^epsilon times as
likely under one as under the other. The number that every participant has is public. It may decide by a public rule
what the participant is asked (which level of a hierarchy, say), so that no report can choose that for itself.

Owners need nothing but numpy here; aggregators have compiled kernels, in modules that owners never import.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt8, UInt32, UInt64
from ogive.core.checks import KeptByType, any_whole, array_of, plain_fields
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, PureDP, exact


class RandomWords(Protocol):
    """Where random bits come from; `ogive.noise.SystemSource` is one, and so is `local.OwnerSource`."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words."""


@runtime_checkable
class Oracle(Protocol, metaclass=KeptByType):
    """Interface; frozen plain data with no subclass."""

    name: ClassVar[str]
    """Short name, as in descriptions and on the command line."""

    @property
    def size(self) -> int:
        """Number of symbols, k; an owner has one of 0..k-1."""

    @property
    def epsilon(self) -> Fraction:
        """Epsilon of the oracle."""

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Cost of one report: the exact loss of the drawn integers, at most `epsilon`."""

    @property
    def payload_bytes(self) -> int:
        """Length of a report, without its header."""

    @property
    def reach(self) -> float:
        """Largest number of people that one report counts for in an unbiased count, even if forged.

        It is the largest change of a count when a report is replaced by another well-formed one. Without noise, a
        person's value would change the count by 1. Honest owners send the most extreme report, too.
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the integer sums of reports."""

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants.

        Args:
            symbols: Symbol of each participant, shape (n,), in 0..size-1.
            numbers: Public number of each participant, shape (n,).
            source: Source of secret random bits.

        Returns:
            Payloads, shape (n, payload_bytes).

        Privacy: `loss` for every participant, whatever the others do.
        """

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports to sums of `shape`, in place.

        Returns:
            Whether each report was well-formed, shape (n,); the others are not added.
        """

    def reports(self, sums: Int64) -> int:
        """Number of reports added to the sums."""

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports, even forged ones, can have these sums of `shape`."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.local.oracle_from_dict` inverts it."""


class BuiltIn:
    """What the oracles of this package have in common, but for public classes."""

    name: ClassVar[str]
    epsilon: Fraction

    @property
    def loss(self) -> PureDP | ApproxDP:
        """The epsilon of the oracle."""
        return PureDP(self.epsilon)

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        return bool((sums >= 0).all() and (sums <= reports).all()) and self.reports(sums) == reports

    def reports(self, sums: Int64) -> int:
        """Number of reports added."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}


class Flipping(BuiltIn):
    """An oracle whose bits are flipped, or come up without a reason, with a chance over 2^64."""

    @cached_property
    def _threshold(self) -> int:
        return flip_threshold(self.epsilon)

    @property
    def chance(self) -> Fraction:
        """Probability q of a flip; of unary answers, of a one for another symbol or node."""
        return Fraction(self._threshold, WORD)


# --- Checks of fields and arguments; hostile descriptions stop here

MIN_EPSILON = Fraction(1, 10**9)
MAX_SEED = (1 << 63) - 1


def check_size(value: Any, most: int) -> int:
    """How many symbols an oracle has, 2 to most."""
    return any_whole(value, "the number of symbols (combinations of bins and categories)", 2, most)


def check_epsilon(value: Any, name: str = "epsilon") -> Fraction:
    """An epsilon that thresholds over 2^64 can follow."""
    number = exact(value, name)
    if number < MIN_EPSILON:
        raise ParameterError(f"`{name}` must be at least 1e-9, got {float(number):.3g}")
    return number


def check_symbols(symbols: Any, numbers: Any, size: int) -> tuple[Int64, Int64]:
    """Symbols and participant numbers as arrays of one length."""
    values, places = array_of(symbols), array_of(numbers)
    for result, name in ((values, "symbols"), (places, "numbers")):
        if result.ndim != 1 or result.dtype.kind not in "iu":
            raise ParameterError(f"`{name}` must be a one-dimensional array of whole numbers")
    if values.shape != places.shape:
        raise ParameterError(f"every symbol needs a number, got {values.size} symbols and {places.size} numbers")
    if values.size and (int(values.min()) < 0 or int(values.max()) >= size):
        raise ParameterError(f"`symbols` must be from 0 to {size - 1}")
    if places.size and int(places.min()) < 0:
        raise ParameterError("`numbers` must not be negative")
    return values.astype(np.int64, copy=False), places.astype(np.int64, copy=False)


def check_reports(
    sums: Int64, shape: tuple[int, ...], numbers: Any, payloads: Any, payload_bytes: int
) -> tuple[Int64, UInt8]:
    """Numbers and payloads as the kernels want them."""
    if sums.shape != shape or sums.dtype != np.int64 or not sums.flags.c_contiguous:
        raise ParameterError(f"`sums` must be an array of 64-bit integers of shape {shape}")
    places, rows = array_of(numbers), array_of(payloads)
    if rows.dtype != np.uint8 or rows.shape != (places.size, payload_bytes) or places.ndim != 1:
        raise ParameterError(f"`payloads` must be bytes, {payload_bytes} for each report")
    return np.ascontiguousarray(places, dtype=np.int64), np.ascontiguousarray(rows)


def write_bytes(payloads: UInt8, values: Int64) -> None:
    """Write each value little-endian into its row."""
    for place in range(payloads.shape[1]):
        payloads[:, place] = (values >> (8 * place)) & 0xFF


def read_bytes(payloads: UInt8) -> Int64:
    """What `write_bytes` wrote, of at most 7 bytes."""
    result = np.zeros(len(payloads), dtype=np.int64)
    for place in range(payloads.shape[1]):
        result |= payloads[:, place].astype(np.int64) << (8 * place)
    return result


def check_sums(sums: Int64, shape: tuple[int, ...]) -> Int64:
    """Sums of an oracle's shape, as 64-bit integers."""
    result = array_of(sums)
    if result.shape != shape or result.dtype.kind not in "iu":
        raise ParameterError(f"`sums` must be whole numbers of shape {shape}, got shape {result.shape}")
    return np.ascontiguousarray(result, dtype=np.int64)


# --- Coins whose chances are whole numbers over 2^64, chosen so that a report never costs more than was asked
#
# A coin compares 64 random bits with a threshold T, so that it comes up with chance T / 2^64 exactly. The thresholds
# below are computed in exact arithmetic from a certified lower bound of e^epsilon and rounded towards privacy;
# whoever removes the bias of reports uses T / 2^64, not the ideal chance.

WORD = 1 << 64
HALF = WORD // 2
_HALF_WORD = 1 << 32
_DOWN = Context(prec=60, rounding=ROUND_FLOOR)
# e^64 is above 2^64: from here on every threshold is the last one
_LARGEST = Fraction(64)


@lru_cache(maxsize=256)
def exp_below(epsilon: Fraction) -> Fraction:
    """A number at most e^min(epsilon, 64), and not below it by more than one part in 10^50.

    `Decimal.exp` is correctly rounded, so the next decimal below it is below the truth.
    """
    capped = min(epsilon, _LARGEST)
    power = _DOWN.divide(Decimal(capped.numerator), Decimal(capped.denominator))
    return Fraction(_DOWN.next_minus(_DOWN.exp(power)))


def flip_threshold(epsilon: Fraction) -> int:
    """Least T with odds (2^64 - T) / T at most e^epsilon: of a bit that is flipped with chance T / 2^64."""
    below = exp_below(epsilon)
    return -((-WORD * below.denominator) // (below.denominator + below.numerator))


def keep_threshold(epsilon: Fraction, size: int) -> int:
    """Largest K so that keeping a symbol with chance K / 2^64, else sending a uniform one, is epsilon-private.

    With chance c of keeping, one symbol is 1 + size * c / (1 - c) times as likely as another.
    """
    excess = exp_below(epsilon) - 1
    chance = int(WORD * excess / (size + excess))
    if chance < 1:
        raise ParameterError(f"epsilon is too small for {size} symbols; use a larger one, or fewer symbols")
    return chance


def bernoulli(source: RandomWords, count: int, threshold: int) -> Bool:
    """Coins that come up with chance threshold / 2^64 exactly, shape (count,).

    The second half of the 64 bits is drawn only where the first half ties with the threshold's.
    """
    high, low = divmod(threshold, _HALF_WORD)
    words = source.words(count)
    result = words < high
    ties = np.flatnonzero(words == high)
    if ties.size:
        result[ties] = source.words(ties.size) < low
    return result


def uniform(source: RandomWords, count: int, bound: int) -> Int64:
    """Uniform integers in 0..bound-1, 1 <= bound <= 2^32, exactly: words past the last multiple are drawn again."""
    whole = _HALF_WORD // bound * bound
    words = source.words(count).astype(np.int64)
    again = np.flatnonzero(words >= whole)
    while again.size:
        words[again] = source.words(again.size)
        again = again[words[again] >= whole]
    return words % bound


def uniform_bits(source: RandomWords, exponents: Int64) -> Int64:
    """A uniform integer below two to each exponent (0..62), shape of the exponents."""
    words = source.words(exponents.size).astype(np.uint64)
    if exponents.size and int(exponents.max()) > 32:
        words |= source.words(exponents.size).astype(np.uint64) << np.uint64(32)
    mask = (np.uint64(1) << exponents.astype(np.uint64)) - np.uint64(1)
    return (words & mask).astype(np.int64)


# --- Who is asked which level: a public function of a public seed and the participant's number
#
# Nobody chooses their level, and the level says nothing of a value, so it costs no privacy. Aggregators compute it
# again for every report; `aggregation.py` has the same function compiled.

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
    result = mixed(np.uint64(key) + (places.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))
    return (result >> np.uint64(32)).astype(np.int64)


@dataclass(frozen=True)
class Assignment:
    """A level for every participant.

    Fields:
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

    @property
    def compiled(self) -> tuple[Int64, Any, bool]:
        """Bounds, key and `even`, as the loops of `local.aggregation` take them."""
        return np.array(self.bounds, dtype=np.int64), np.uint64(self.key), self.even

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
            result: Int64 = (place + (hashed(self.key, block) * self.levels >> 32)) % self.levels
            return result
        inner = np.array(self.bounds[1:-1], dtype=np.int64)
        return np.searchsorted(inner, hashed(self.key, numbers), side="right").astype(np.int64)


# --- Reports as bytes: a header that says what they belong to, and what the owner's oracle drew
#
#     version        1 byte, 1
#     tag            4 bytes, of the description that was answered
#     number         4 bytes, little-endian: the participant's, public
#     payload        as many bytes as the oracle needs, the same for every report of a description
#
# A file of reports is their plain concatenation, in any order.

VERSION = 1
TAG_BYTES = 4
HEADER_BYTES = 1 + TAG_BYTES + 4


def encode(tag: bytes, numbers: Int64, payloads: UInt8) -> UInt8:
    """Reports, shape (n, HEADER_BYTES + payload bytes).

    `numbers`: Of the participants, shape (n,), each below 2^32. `payloads`: What the oracle drew, shape (n, payload
    bytes).
    """
    assert len(tag) == TAG_BYTES
    result = np.empty((len(numbers), HEADER_BYTES + payloads.shape[1]), dtype=np.uint8)
    result[:, 0] = VERSION
    result[:, 1 : 1 + TAG_BYTES] = np.frombuffer(tag, np.uint8)
    result[:, 1 + TAG_BYTES : HEADER_BYTES] = numbers.astype("<u4")[:, np.newaxis].view(np.uint8)
    result[:, HEADER_BYTES:] = payloads
    return result


def read_numbers(reports: UInt8) -> Int64:
    """The participants of reports, shape (n,) from (n, report bytes)."""
    field = np.ascontiguousarray(reports[:, 1 + TAG_BYTES : HEADER_BYTES])
    return field.view("<u4")[:, 0].astype(np.int64)
