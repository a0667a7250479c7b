"""What every noise law and random source can do, and what the samplers of all laws share.

Noise is drawn in integers only: a law is a distribution on the whole numbers, given by
exact rational parameters, and a sampler follows it exactly (by integer rejection from a
cryptographic keystream), not up to floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.checks import KeptByType
from ogive.core.compiling import njit
from ogive.errors import ParameterError, ScaleError
from ogive.privacy import ApproxDP, Privacy, PureDP, Rational, ZeroConcentratedDP, exact


@runtime_checkable
class RandomSource(Protocol, metaclass=KeptByType):
    """Where random bits come from. Production code uses `SystemSource`; replayable ones live in tests."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, independent of all handed out before."""

    def key(self) -> bytes:
        """32 fresh uniform bytes, for a keyed stream of its own."""


class Law(Protocol):
    """An integer distribution with exact parameters, symmetric but for `Geometric`; frozen, comparable, plain data."""

    @property
    def variance(self) -> float:
        """Variance, exact to floating point."""

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape."""

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent exact draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

    @property
    def words_per_draw(self) -> float:
        """About how many 32-bit words of randomness a draw takes."""

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Draw into `out`, shape (rows, draws), each row from its own row of words.

        A row ends early at the first draw that does not fit its words.

        Returns:
            For each row the number of complete draws and the number of words they used.
        """

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.noise.law_from_dict` inverts it."""


class NodeNoise(Protocol):
    """The noise of one release: one integer for every (level, node), the same at every request."""

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`."""


# --- Arrays of draws of any length
#
# A kernel fills a block of results row by row from a block of words, each row from its own
# words; it stops a row at the first draw that does not fit and tells how many were complete and
# where the words of the unfinished draw begin.

_MAX_WORDS = 1 << 16


def draw_stream(
    fill: Callable[[UInt32, Int64], tuple[Int64, Int64]], words_per_draw: float, size: int, source: RandomSource
) -> Int64:
    """Draw `size` values from consecutive words of a source.

    Words that are left over at the end are not handed back.
    """
    if size < 0:
        raise ParameterError(f"`size` must be at least 0, got {size}")
    out = np.empty((1, size), np.int64)
    carried = np.empty(0, np.uint32)
    done = 0
    while done < size:
        count = min(int((size - done) * words_per_draw * 1.05) + 64, _MAX_WORDS)
        fresh = source.words(max(count, carried.size))
        words = np.concatenate([carried, fresh]) if carried.size else fresh
        complete, used = fill(words[np.newaxis], out[:, done:])
        done += int(complete[0])
        carried = words[int(used[0]) :]
    drawn: Int64 = out[0]
    return drawn


# --- Scales that the integer samplers accept
#
# A scale is numerator / denominator with denominator < 2^60 and a numerator of the form
# p1 * 2^shift, p1 <= 2^31, shift <= 16: that is what keeps every product in the samplers
# below 2^63. Rounding is always up, since more noise is never less private; a number below the
# smallest scale is rounded up to that, where noise is as good as always 0.

_MAX_NUMERATOR = 1 << 31
_MAX_SHIFT = 16
_MAX_DENOMINATOR = 1 << 60
MAX_SCALE = _MAX_NUMERATOR << _MAX_SHIFT
MIN_SCALE = Fraction(1, 1 << 20)
# Laws report no variance below this, so that it can be divided by. Noise of a variance this small differs
# from 0 with a probability no larger.
SMALLEST_VARIANCE = 2.0**-64
# results have at least this many significant bits: relative error below 2^-29
_BITS = 30
# a conversion between guarantees rounds down by less than this
_ROOM = Fraction(1001, 1000)


def split_scale(scale: Fraction, name: str) -> tuple[int, int, int]:
    """Write a scale as (p1, shift, denominator) with scale = p1 * 2^shift / denominator."""
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ParameterError(f"`{name}` must be between 2^-20 and 2^47, got {float(scale):.6g}")
    numerator, shift = scale.numerator, 0
    while numerator > _MAX_NUMERATOR and numerator % 2 == 0:
        numerator, shift = numerator // 2, shift + 1
    if numerator > _MAX_NUMERATOR or shift > _MAX_SHIFT or scale.denominator >= _MAX_DENOMINATOR:
        raise ParameterError(f"{name} has too many digits for exact sampling: {scale}; round it with round_up_scale")
    return numerator, shift, scale.denominator


def round_up_scale(value: Rational) -> Fraction:
    """Round a positive number up to a scale that the samplers accept.

    A number they accept already comes back unchanged.

    Args:
        value: Above 0 and at most 2^47; a float stands for the decimal it prints as.

    Returns:
        At least `value`, by a relative excess below 2^-29; 2^-20 for what is smaller.

    Raises:
        ScaleError: value is above 2^47.
        ParameterError: value is not above 0.
    """
    scale = value if isinstance(value, Fraction) else exact(value, "scale")
    if scale <= 0:
        raise ParameterError(f"`scale` must be above 0, got {value}")
    if scale > MAX_SCALE:
        raise ScaleError("noise of a scale above 2^47 cannot be drawn; allow a larger privacy loss", scale / MAX_SCALE)
    scale = max(scale, MIN_SCALE)
    try:
        split_scale(scale, "scale")
    except ParameterError:
        unit = _unit_below(scale)
        return -(-scale // unit) * unit
    return scale


def round_up_root(value: Rational) -> Fraction:
    """Round the square root of a positive number up to a scale that the samplers accept.

    Args:
        value: Above 0 and at most 2^94; for a Gaussian the wanted variance.

    Returns:
        At least the square root, by a relative excess below 2^-28; the root itself if that is rational with few
        digits; 2^-20 for what is smaller.

    Raises:
        ScaleError: value is above 2^94.
        ParameterError: value is not above 0.
    """
    square = value if isinstance(value, Fraction) else exact(value, "variance")
    if square <= 0:
        raise ParameterError(f"`variance` must be above 0, got {value}")
    if square > MAX_SCALE**2:
        raise ScaleError(
            "noise of a variance above 2^94 cannot be drawn; allow a larger privacy loss", square / MAX_SCALE**2
        )
    square = max(square, MIN_SCALE**2)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root == square:
        return round_up_scale(root)
    extra = 1 << 128
    return round_up_scale(Fraction(isqrt(square.numerator * extra * extra // square.denominator) + 1, extra))


def _unit_below(value: Fraction) -> Fraction:
    """The largest power of two that goes at least 2^30 times into the value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - _BITS
    unit = Fraction(2) ** exponent
    return unit if value >= unit * 2**_BITS else unit / 2


def too_much_noise(
    privacy: Privacy, what: str, failed: Sequence[tuple[PureDP | ZeroConcentratedDP, ScaleError]]
) -> ScaleError:
    """Build the refusal that names the guarantee as its user wrote it, and one that would do.

    Args:
        privacy: What the user asked for.
        what: What it was asked for, for example "16 thresholds".
        failed: Guarantees that imply it, each with the refusal that it met.
    """
    if isinstance(privacy, ZeroConcentratedDP):
        name = "rho"
        enough_each = [
            (grant.epsilon * error.excess) ** 2 / 2 if isinstance(grant, PureDP) else grant.rho * error.excess
            for grant, error in failed
        ]
    else:
        # from rho back to epsilon and delta there is no formula; a larger epsilon will do
        name = "epsilon"
        enough_each = [grant.epsilon * error.excess for grant, error in failed if isinstance(grant, PureDP)]
    enough = f"use at least {name} = {_rounded_up(min(enough_each) * _ROOM)}" if enough_each else "use a larger epsilon"
    if isinstance(privacy, ApproxDP) and enough_each:
        enough += " at this delta"
    return ScaleError(f"{privacy} for {what} needs noise above 2^47, the largest scale that can be drawn; {enough}")


def _rounded_up(value: Fraction) -> str:
    """Two digits, not below the value."""
    digits = Context(prec=2, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(digits):g}"


# --- Exact trials and uniform integers from 32-bit words
#
# All arithmetic is in 64-bit integers. Every function takes the words and the position of the next one, and returns a
# result and the new position. Past the last word all bits read as ones. On such words every loop
# below ends at once, so a caller only has to see that the position passed the end and to
# throw that draw away.
#
# A number x in [0, 1) is passed as `digit`, the first 32 bits of its binary expansion, and
# the fraction `rest / unit` that follows them: x = (digit + rest / unit) / 2^32. A trial
# compares one word with the digit; only a tie (once in 2^32 words) needs the fraction, so the
# probabilities hold exactly, without rounding.
#
# Source: Canonne, Kamath and Steinke 2020, algorithms 1 and 2, for the alternating series.

ALL_ONES = 0xFFFFFFFF
# Integers below are chosen so that (bound * word) and (x * 2^32) stay below 2^63.
MAX_BOUND = 1 << 31


@njit(error_model="numpy")
def word(words: UInt32, at: int) -> Any:
    """The word at a position as a signed 64-bit integer; all ones past the end."""
    return np.int64(words[at]) if at < words.size else np.int64(ALL_ONES)


@njit(error_model="numpy")
def uniform(words: UInt32, at: int, bound: int) -> Any:
    """A uniform integer in [0, bound), 1 <= bound <= 2^31.

    Source: Lemire 2019: the high half of word * bound, without the few words that would
    favor some results.
    """
    while True:
        product = word(words, at) * bound
        at += 1
        low = product & ALL_ONES
        if low >= bound or low >= ((1 << 32) - bound) % bound:
            return product >> 32, at


@njit(error_model="numpy")
def uniform_wide(words: UInt32, at: int, bound: int) -> Any:
    """A uniform integer in [0, bound), 1 <= bound <= 2^62; two words a try above 2^31, under two tries."""
    if bound <= MAX_BOUND:
        return uniform(words, at, bound)
    bits = 32
    while bound - 1 >> bits:
        bits += 1
    while True:
        value = word(words, at) >> (64 - bits) << 32 | word(words, at + 1)
        at += 2
        if value < bound or at > words.size:
            return value, at


@njit(error_model="numpy")
def expand(scaled: int, unit: int, inverse: int) -> Any:
    """Digit and rest of scaled / (unit * 2^32), for scaled < unit * 2^32 and inverse = `reciprocal(unit)`.

    Either scaled is a multiple of 2^32 or unit is above 2^30: then the product with the reciprocal is at most a few
    units below the quotient. A division would take longer than the rest of a trial.
    """
    digit = (scaled >> 32) * inverse >> 31
    rest = scaled - digit * unit
    while rest >= unit:
        digit += 1
        rest -= unit
    return digit, rest


@njit(error_model="numpy")
def reciprocal(unit: int) -> Any:
    """The largest integer of which `unit` fit below 2^63."""
    return np.int64((1 << 63) - 1) // unit


@njit(error_model="numpy")
def bernoulli(words: UInt32, at: int, digit: int, rest: int, unit: int) -> Any:
    """True with probability x = (digit + rest / unit) / 2^32; unit <= 2^31."""
    first = word(words, at)
    at += 1
    if first != digit:
        return first < digit, at
    tie, at = uniform(words, at, unit)
    return tie < rest, at


@njit(error_model="numpy")
def bernoulli_exp(words: UInt32, at: int, digit: int, rest: int, unit: int) -> Any:
    """True with probability exp(-x), x = (digit + rest / unit) / 2^32 in [0, 1).

    Uniform numbers are drawn as long as each is below the one before, the first below x. At least n come down with
    probability x^n / n!, so the number that did is even with probability exp(-x). Of a number only its word is
    drawn. Where words tie, the fractions behind them are still uniform below a bound (rest / unit if the word is
    x's, else 1), and if `tied` of them are in falling order already, another is below them all with
    probability bound / (tied + 1).
    """
    last = digit
    tied = 0
    even = True
    while True:
        first = word(words, at)
        at += 1
        if first > last:
            return even, at
        if first < last:
            last = first
            tied = 1
        else:
            tie, at = uniform(words, at, tied + 1)
            if tie != 0:
                return even, at
            if last == digit:
                tie, at = uniform(words, at, unit)
                if tie >= rest:
                    return even, at
            tied += 1
        even = not even


@njit(error_model="numpy")
def _bernoulli_series(words: UInt32, at: int, base: int, terms: int, total: int, bar: int) -> Any:
    """True with probability exp(-1/base), by one word nearly always.

    total = base^terms * terms! for an odd number of terms, and bar is the partial sum of the series times total.
    total * exp(-1/base) exceeds bar by y/(terms+1) - y^2/((terms+1)(terms+2)) + ..., y = 1/base, which is the
    probability that an odd number of trials 1/(base * (terms+1)), 1/(base * (terms+2)), ... succeed before one fails.
    """
    value, at = uniform(words, at, total)
    if value != bar:
        return value < bar, at
    count = 0
    while True:
        tie, at = uniform(words, at, base * (terms + 1 + count))
        if tie != 0:
            return count & 1 == 1, at
        count += 1


@njit(error_model="numpy")
def bernoulli_inverse_e(words: UInt32, at: int) -> Any:
    """True with probability exp(-1)."""
    # 11! = 39916800 permutations, of which 14684570 leave nothing in place
    return _bernoulli_series(words, at, 1, 11, 39916800, 14684570)


@njit(error_model="numpy")
def bernoulli_inverse_root_e(words: UInt32, at: int) -> Any:
    """True with probability exp(-1/2)."""
    return _bernoulli_series(words, at, 2, 9, 185794560, 112690097)
