"""Exact trials and uniform integers from 32-bit words, in 64-bit integers only.

Every function takes the words and the position of the next one, and returns a result
and the new position. Past the last word all bits read as ones. On such words every loop
below ends at once, so a caller only has to see that the position passed the end and to
throw that draw away.

A number x in [0, 1) is passed as `digit`, the first 32 bits of its binary expansion, and
the fraction `rest / unit` that follows them: x = (digit + rest / unit) / 2^32. A trial
compares one word with the digit; only a tie (once in 2^32 words) needs the fraction, so the
probabilities hold exactly, without rounding.

Source: Canonne, Kamath and Steinke 2020, algorithms 1 and 2, for the alternating series.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import UInt32
from ogive.compiling import njit

ALL_ONES = 0xFFFFFFFF
# Integers below are chosen so that (bound * word) and (x * 2^32) stay below 2^63.
MAX_BOUND = 1 << 31
MAX_WIDE_BOUND = 1 << 62


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
