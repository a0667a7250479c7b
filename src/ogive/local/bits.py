"""Coins whose chances are whole numbers over 2^64, chosen so that a report never costs more than was asked.

A coin compares 64 random bits with a threshold T, so that it comes up with chance T / 2^64 exactly. The thresholds
below are computed in exact arithmetic from a certified lower bound of e^epsilon and rounded towards privacy;
whoever removes the bias of reports uses T / 2^64, not the ideal chance.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Bool, Int64
from ogive.errors import ParameterError
from ogive.local.base import RandomWords

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

    Raises:
        ParameterError: epsilon is so small that nothing would ever be kept.
    """
    excess = exp_below(epsilon) - 1
    kept = int(WORD * excess / (size + excess))
    if kept < 1:
        raise ParameterError(f"epsilon is too small for {size} symbols; use a larger one, or fewer symbols")
    return kept


def bernoulli(source: RandomWords, count: int, threshold: int) -> Bool:
    """Coins that come up with chance threshold / 2^64 exactly, shape (count,).

    The second half of the 64 bits is drawn only where the first half ties with the threshold's.
    """
    high, low = divmod(threshold, _HALF_WORD)
    words = source.words(count)
    found = words < high
    ties = np.flatnonzero(words == high)
    if ties.size:
        found[ties] = source.words(ties.size) < low
    return found


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
