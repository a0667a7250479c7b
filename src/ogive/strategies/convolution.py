"""Exact integer convolution by number-theoretic transforms, and the integer square-root factor.

Convolutions are computed modulo two primes below 2^31 and put together by the Chinese remainder
theorem, so a result below 2^60 in absolute value is exact: nothing is rounded on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Int64, UInt64
from ogive.core.checks import Range
from ogive.core.compiling import njit
from ogive.errors import ParameterError

# prime, a generator of its multiplicative group; both primes are 1 modulo 2^26
PRIMES = ((2013265921, 31), (469762049, 3))
LIMIT = PRIMES[0][0] * PRIMES[1][0] // 2
"""Convolutions must stay strictly below this in absolute value; about 2^58.7."""


@lru_cache(maxsize=16)
def _tables(length: int, which: int) -> tuple[UInt64, UInt64]:
    """Twiddle factors: entries h .. 2h - 1 are the powers of a root of unity of order 2h.

    The second array holds floor(factor 2^32 / prime), which turns a modular product into two plain ones.
    """
    prime, generator = PRIMES[which]
    factors = np.ones(length, dtype=np.uint64)
    half = 1
    while half < length // 2:
        root = np.uint64(pow(generator, (prime - 1) // (4 * half), prime))
        factors[2 * half : 4 * half : 2] = factors[half : 2 * half]
        factors[2 * half + 1 : 4 * half : 2] = factors[half : 2 * half] * root % np.uint64(prime)
        half *= 2
    return factors, (factors << np.uint64(32)) // np.uint64(prime)


def _blocks(values: UInt64, half: int) -> tuple[UInt64, UInt64]:
    """The lower and the upper halves of all blocks of an array, as views."""
    halves = values.reshape(-1, 2, half)
    return halves[:, 0], halves[:, 1]


def _forward_plain(values: UInt64, factors: UInt64, scaled: UInt64, prime: int) -> None:
    """What `_forward` does, all blocks at once."""
    p, shift = np.uint64(prime), np.uint64(32)
    half = values.size // 2
    while half > 0:
        factor, ratio = factors[half : 2 * half], scaled[half : 2 * half]
        low, high = _blocks(values, half)
        total, gap = low + high, low + p - high
        low[:] = np.minimum(total, total - p)
        product = gap * factor - ((gap * ratio) >> shift) * p
        high[:] = np.minimum(product, product - p)
        half //= 2


def _backward_plain(values: UInt64, factors: UInt64, scaled: UInt64, prime: int) -> None:
    """What `_backward` does, all blocks at once."""
    p, shift = np.uint64(prime), np.uint64(32)
    half = 1
    while half < values.size:
        factor, ratio = factors[half : 2 * half], scaled[half : 2 * half]
        low, high = _blocks(values, half)
        product = high * factor - ((high * ratio) >> shift) * p
        b = np.minimum(product, product - p)
        total, gap = low + b, low - b
        low[:] = np.minimum(total, total - p)
        high[:] = np.minimum(gap, gap + p)
        half *= 2


def _multiply_plain(a: UInt64, b: UInt64, prime: int) -> None:
    a[:] = a * b % np.uint64(prime)


def _combine_plain(first: UInt64, second: UInt64, prime: int, other: int, inverses: UInt64, out: Int64) -> None:
    """What `_combine` does, all entries at once."""
    p, q = np.uint64(prime), np.uint64(other)
    whole = prime * other
    at = -np.arange(out.size) % first.size
    a = first[at] * inverses[0] % p
    b = second[at] * inverses[1] % q
    step = (b + q - a % q) % q * inverses[2] % q
    value = (a + p * step).astype(np.int64)
    out[:] = np.where(value > whole // 2, value - whole, value)


def _passes(values: UInt64, factors: UInt64, scaled: UInt64, prime: int) -> int:
    """How many steps a transform by numpy takes: ten operations of a nanosecond for each entry and doubling."""
    return int(values.size.bit_length()) * (100 + values.size // 20)


@njit(steps=_passes, twin=_forward_plain)
def _forward(values: UInt64, factors: UInt64, scaled: UInt64, prime: int) -> None:
    """Transform in place, decimation in frequency; the result is in bit-reversed order."""
    p, shift = np.uint64(prime), np.uint64(32)
    half = values.size // 2
    while half > 0:
        factor, ratio = factors[half : 2 * half], scaled[half : 2 * half]
        for start in range(0, values.size, 2 * half):
            low, high = values[start : start + half], values[start + half : start + 2 * half]
            for k in range(half):
                a, b = low[k], high[k]
                low[k] = min(a + b, a + b - p)
                gap = a + p - b
                product = gap * factor[k] - ((gap * ratio[k]) >> shift) * p
                high[k] = min(product, product - p)
        half //= 2


@njit(steps=_passes, twin=_backward_plain)
def _backward(values: UInt64, factors: UInt64, scaled: UInt64, prime: int) -> None:
    """Undo `_forward` up to the factor `values.size` and the order: entry k comes out at -k."""
    p, shift = np.uint64(prime), np.uint64(32)
    half = 1
    while half < values.size:
        factor, ratio = factors[half : 2 * half], scaled[half : 2 * half]
        for start in range(0, values.size, 2 * half):
            low, high = values[start : start + half], values[start + half : start + 2 * half]
            for k in range(half):
                product = high[k] * factor[k] - ((high[k] * ratio[k]) >> shift) * p
                b = min(product, product - p)
                a = low[k]
                low[k] = min(a + b, a + b - p)
                high[k] = min(a - b, a - b + p)
        half *= 2


@njit(steps=lambda a, b, prime: 20 + a.size // 20, twin=_multiply_plain)
def _multiply(a: UInt64, b: UInt64, prime: int) -> None:
    p = np.uint64(prime)
    for k in range(a.size):
        a[k] = a[k] * b[k] % p


def _transform(values: Int64, length: int, which: int) -> UInt64:
    prime = PRIMES[which][0]
    padded = np.zeros(length, dtype=np.uint64)
    padded[: len(values)] = (values % prime).astype(np.uint64)
    _forward(padded, *_tables(length, which), prime)
    return padded


@njit(steps=lambda first, second, prime, other, inverses, out: 100 + out.size // 5, twin=_combine_plain)
def _combine(first: UInt64, second: UInt64, prime: int, other: int, inverses: UInt64, out: Int64) -> None:
    """Signed integers from residues, after dividing by the length and reading entry k at -k."""
    p, q = np.uint64(prime), np.uint64(other)
    half = np.int64(prime) * np.int64(other) // 2
    for k in range(out.size):
        at = (first.size - k) % first.size
        a = first[at] * inverses[0] % p
        b = second[at] * inverses[1] % q
        step = (b + q - a % q) % q * inverses[2] % q
        value = np.int64(a) + np.int64(p) * np.int64(step)
        out[k] = value - np.int64(p) * np.int64(q) if value > half else value


def fast_length(least: int) -> int:
    """The smallest product of powers of 2, 3 and 5 that is not below a length: so long transforms are quick."""
    result = 1 << (least - 1).bit_length()
    five = 1
    while five < result:
        odd = five
        while odd < result:
            result = min(result, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        five *= 5
    return result


class Convolver:
    """Exact products of integer vectors with one fixed vector, whose transforms are kept."""

    def __init__(self, fixed: Int64, size: int) -> None:
        self.size = size
        self._length = 1 << max(1, (len(fixed) + size - 2).bit_length())
        self._largest = max(1, int(np.abs(fixed).max()))
        self._fixed = transforms(fixed, self._length)

    def apply(self, values: Int64) -> Int64:
        """First `size` entries of the convolution, exactly."""
        check_fits(values, self._largest)
        return convolved([(self._fixed, transforms(values, self._length))], self.size)


def transforms(values: Int64, length: int) -> list[UInt64]:
    """The transforms of integers, padded to a length that is a power of two, modulo both primes."""
    return [_transform(values, length, which) for which in range(2)]


def convolved(pairs: Sequence[tuple[list[UInt64], list[UInt64]]], size: int) -> Int64:
    """The first entries of a sum of cyclic convolutions, from the transforms of both sides, exactly.

    The second transforms are overwritten.
    """
    sums = []
    for which, (prime, _) in enumerate(PRIMES):
        total = np.zeros(0, dtype=np.uint64)
        for fixed, moving in pairs:
            _multiply(moving[which], fixed[which], prime)
            total = (total + moving[which]) % np.uint64(prime) if total.size else moving[which]
        _backward(total, *_tables(total.size, which), prime)
        sums.append(total)
    p, q = PRIMES[0][0], PRIMES[1][0]
    length = sums[0].size
    inverses = np.array([pow(length, -1, p), pow(length, -1, q), pow(p, -1, q)], dtype=np.uint64)
    out = np.empty(size, dtype=np.int64)
    _combine(sums[0], sums[1], p, q, inverses, out)
    return out


def check_fits(values: Int64, largest: int) -> None:
    """Refuse counts whose products with numbers up to `largest` might not be exact."""
    most = len(values) * max(abs(int(values.min())), abs(int(values.max())))
    if most * largest >= LIMIT:
        counted = Range.sums(np.abs(values))
        refusal = f"`counts` must add up to less than {LIMIT // largest} for exact measurement, got {counted.high}"
        (counted * largest).check(LIMIT - 1, refusal, ParameterError)


@lru_cache(maxsize=8)
def factor_column(size: int, bits: int) -> Int64:
    """First column of C', round(2^bits binom(2k, k) / 4^k) for k = 0..N-1, read-only.

    Computed with 32 guard bits, so each entry is within 2^-10 of a correct rounding; any
    nearby integers would do, since privacy and estimates follow from the integers themselves.
    """
    column = np.empty(size, dtype=np.int64)
    guard = 32
    value, half = 1 << (bits + guard), 1 << (guard - 1)
    for k in range(size):
        column[k] = (value + half) >> guard
        value = value * (2 * k + 1) // (2 * k + 2)
    column.flags.writeable = False
    return column


@lru_cache(maxsize=64)
def squared_sensitivity(size: int, bits: int, replace: bool) -> int:
    """Largest squared L2 norm of a column of C', or of a difference of two columns, exactly.

    Columns s < t = s + d differ by the sum over k < N - s of (c_k - c_{k-d})^2, which is largest at s = 0;
    so N - 1 pairs decide, and all their inner products are one autocorrelation.
    """
    column = factor_column(size, bits)
    norms = np.cumsum(column * column)
    if not replace or size == 1:
        return int(norms[-1])
    # entry N - 1 - d of column * reversed column is the sum of c_k c_{k+d}
    inner = Convolver(column[::-1], size).apply(column)[::-1]
    return int((norms[-1] + norms[::-1] - 2 * inner)[1:].max())
