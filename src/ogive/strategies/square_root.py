"""The square-root factorization of prefix sums, in integers, and its measurements smoothed by least squares.

Products are exact convolutions, and what all square roots share is here, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64, UInt64
from ogive.core.checks import Range, whole
from ogive.core.compiling import njit
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, law_from_dict
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import (
    Level,
    MeasuredPrivacy,
    PlainStrategy,
    Readers,
    batch,
    check_design,
    given_total,
    histogram,
    measured_laws,
    measured_loss,
    variance_given_total,
)

# --- Exact integer convolution by number-theoretic transforms, and the integer square-root factor
#
# Convolutions are computed modulo two primes below 2^31 and put together by the Chinese remainder
# theorem, so a result below 2^60 in absolute value is exact: nothing is rounded on the way.

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


# --- What all square roots of prefix sums share


def gaussian(law: Any, what: str) -> DiscreteGaussian:
    """The law of a strategy that has Gaussian noise."""
    if not isinstance(law, DiscreteGaussian):
        raise ParameterError(f"{what} takes DiscreteGaussian noise, got {quoted(law)}")
    return law


def gaussian_law(privacy: MeasuredPrivacy, l2_squared: int, what: str) -> DiscreteGaussian:
    """The noise of one level that spends at most `privacy`, which must not be pure."""
    if isinstance(privacy, PureDP):
        raise ParameterError(
            f"{what} needs `ZeroConcentratedDP`: its L1 sensitivity grows like sqrt(size), "
            "so for `PureDP` use tree_ls or hat_ls"
        )
    (law,) = measured_laws(privacy, [Fraction(1)], l1=[0], l2_squared=[l2_squared])
    return gaussian(law, what)


Product = Callable[[Float64], Float64]
"""A linear map of vectors of length N."""


class GaussianRoot(PlainStrategy, ABC):
    """What the three square roots of prefix sums share: one integer matrix, and Gaussian noise of one law.

    Subclasses are frozen dataclasses; `what` names them in messages, and `bit_range` is where `bits` must lie.
    """

    size: int
    law: DiscreteGaussian
    bits: int
    what: ClassVar[str]
    bit_range: ClassVar[tuple[int, int]]
    readers: ClassVar[Readers] = {"law": law_from_dict}

    def __post_init__(self) -> None:
        gaussian(self.law, self.what)
        whole(self.size, "size", 1)
        whole(self.bits, "bits", *self.bit_range)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement."""
        return (Level(self.size, self.law),)

    @abstractmethod
    def squared_change(self, *, replace: bool) -> int:
        """Largest squared L2 norm of a column, or of a difference of two columns, or a bound on it."""

    def loss(self, adjacency: Adjacency) -> ZeroConcentratedDP:
        """Loss by the squared L2 sensitivity `squared_change`, which is found in integers."""
        loss = measured_loss(
            [self.law], l1=[0], l2_squared=[self.squared_change(replace=adjacency is Adjacency.REPLACE)]
        )
        assert isinstance(loss, ZeroConcentratedDP)
        return loss

    @property
    @abstractmethod
    def total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""

    @property
    def unit(self) -> float:
        """About what a record adds to the measurement of its bin."""
        return 2.0**self.bits

    @abstractmethod
    def normal_equations(self, answer: Float64) -> tuple[Float64, Product, Product]:
        """Least squares of an answer, with C the matrix over `unit`: the solution, products with C^T C, its inverse."""

    @abstractmethod
    def curves(self, rows: Float64) -> Float64:
        """Unbiased cumulative counts, shape (batch, N), from answers, shape (batch, M), in time O(N log N)."""

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts, shape (..., N), in time O(N log N)."""
        rows, shape = batch(answer, self.levels[0].nodes)
        values = self.curves(rows.astype(np.float64))
        if total is not None:
            values = given_total(values, self.total_covariance, total)
        return values.reshape(*shape, self.size)

    @property
    def unconditioned(self) -> Float64:
        """Variance of each cumulative count where the total is not known, shape (N,)."""
        raise NotImplementedError

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values = self.unconditioned
        return variance_given_total(values, self.total_covariance) if total_known else values

    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        data["law"] = data.pop("law")
        return data


# --- The strategy: Gaussian noise of nearly the least variance
#
# The matrix of prefix sums is A = C C with C lower-triangular Toeplitz, first column
# r_k = binom(2k, k) / 4^k. Measured is C' x with the integer matrix C' = round(2^bits C), plus discrete
# Gaussian noise; sensitivities are those of C' itself, so privacy is exact. The estimate A C'^{-1} is a
# Toeplitz matrix too, whatever the rounding, hence unbiased.

BITS = 20


@dataclass(frozen=True)
class SquareRoot(GaussianRoot):
    """Integer square-root measurements of a histogram with discrete Gaussian noise.

    Fields:
        law: Noise of every measurement, on the scale where a record adds 2^bits in its bin.
        bits: Fractional bits of the integer factor, from 1 to 24.

    Source:
        Henzinger, Upadhyay and Upadhyay (2023); Fichtenberger, Henzinger and Upadhyay (2023).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS

    name: ClassVar[str] = "sqrt"
    what: ClassVar[str] = "the square-root factorization"
    bit_range: ClassVar[tuple[int, int]] = (1, 24)

    @cached_property
    def _convolver(self) -> Convolver:
        return Convolver(factor_column(self.size, self.bits), self.size)

    @cached_property
    def _decoder(self) -> Float64:
        """First column of A C'^{-1}, shape (N,)."""
        return decoder(factor_column(self.size, self.bits), self.bits)

    @cached_property
    def total_covariance(self) -> Float64:
        g = self._decoder
        length = fast_length(2 * self.size)
        spectrum = np.fft.rfft(g, length)
        lagged: Float64 = np.fft.irfft(spectrum * np.conj(spectrum), length)[: self.size]
        return np.asarray(self.law.variance * lagged[::-1])

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix C' times the histogram, exactly, shape (N,)."""
        return self._convolver.apply(histogram(counts, self.size))

    def squared_change(self, *, replace: bool) -> int:
        """Exactly, max_s ||c_s||^2 for the columns c of C', or max_{s<t} ||c_s - c_t||^2."""
        return squared_sensitivity(self.size, self.bits, replace)

    def curves(self, rows: Float64) -> Float64:
        """Unbiased cumulative counts of answers, shape (batch, N) each, by one Toeplitz product."""
        return np.ascontiguousarray(_Toeplitz(self._decoder).times(rows))

    def normal_equations(self, answer: Float64) -> tuple[Float64, Product, Product]:
        column = factor_column(self.size, self.bits)
        factor = _Toeplitz(column / self.unit)
        solver = _Toeplitz(np.diff(decoder(column, self.bits), prepend=0.0) * self.unit)
        return solver.times(answer / self.unit), factor.normal, solver.outer

    def variance(self, *, total_known: bool) -> Float64:
        values: Float64 = self.law.variance * np.cumsum(self._decoder**2)
        if total_known:
            covariance = self.total_covariance
            values = np.maximum(values - covariance**2 / values[-1], 0.0)
            values[-1] = 0.0
        return values


def decoder(column: Int64, bits: int) -> Float64:
    """First column of A C'^{-1} for the first column of C': cumulative sums of the inverse power series.

    The series 1 / c' is built by Newton's iteration g <- g (2 - c' g), doubling the known terms.
    """
    size = len(column)
    scaled = column.astype(np.float64) / 2.0**bits
    inverse = np.ones(1)
    while len(inverse) < size:
        count = min(2 * len(inverse), size)
        length = fast_length(2 * count + len(inverse))
        spectrum = np.fft.rfft(inverse, length)
        residual = np.fft.irfft(spectrum * np.fft.rfft(scaled[:count], length), length)[:count]
        residual = -residual
        residual[0] += 2.0
        inverse = np.fft.irfft(spectrum * np.fft.rfft(residual, length), length)[:count]
    return np.asarray(np.cumsum(inverse) / 2.0**bits)


def design_square_root(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> SquareRoot:
    """Choose the noise of the square-root factorization at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_design(size, privacy, adjacency)
    change = squared_sensitivity(size, BITS, adjacency is Adjacency.REPLACE)
    law = gaussian_law(privacy, change, SquareRoot.what)
    return SquareRoot(size, law)


# --- Measurements smoothed by nonnegative least squares
#
#     min  |C x - t|^2   subject to   x >= 0   (and sum x = total),    C lower-triangular Toeplitz.
#
# The inverse of C^T C is G G^T with G = C^{-1}; as G has ones on its diagonal and nothing positive
# beside it, and its coefficients those of sqrt(1 - z), it is an M-matrix, and the method of
# `path` applies: hold negative bins at zero, solve for the others, repeat. Here the
# solve is by conjugate gradients on the free bins, with G G^T (restricted to them) as the
# preconditioner; every product is an FFT. Rounding may hold a bin wrongly, so a held bin with a
# negative multiplier is freed again, and the gradient certifies the result. Expect 0.1 s of one core at
# N = 2^12 and 2 to 8 s at 2^15; isotonic smoothing is the quick alternative.

MAX_ROUNDS = 200
MAX_STEPS = 400
ROUGH, FINE = 1e-2, 1e-5
"""Accepted violation of the optimality conditions while bins still change, and in the end, in units of the noise."""
REDUCTION = 0.02
"""How far a residual is reduced while many bins change."""


def nearest_bins(plain: Float64, normal: Product, inverse: Product, sigma: float, *, total: float | None) -> Float64:
    """The nonnegative histogram nearest to `plain` in the norm x -> x^T C^T C x; with a total it adds up to that.

    Takes products with C^T C and with its inverse, and the deviation of the noise of one measurement; time O(N log N)
    per conjugate-gradient step.
    """
    if total == 0:
        return np.zeros(plain.size)
    # both unconstrained solutions; differences from them keep the numbers as small as the noise
    level = inverse(np.ones(plain.size))
    free = np.ones(plain.size, dtype=np.bool_)
    base, even, theta = plain, level, 0.0
    slack, settled = ROUGH * sigma, False
    for _ in range(MAX_ROUNDS):
        reduction = 0.0 if settled else REDUCTION
        base = _solve(normal, inverse, free, plain, base, slack / 10, reduction)
        bins = base
        gradient = normal(bins - plain)
        if total is not None:
            even = _solve(normal, inverse, free, level, even, slack / (10 * max(abs(theta), sigma)), reduction)
            theta = (total - float(base.sum())) / float(even.sum())
            bins = base + theta * even
            gradient = normal(bins - plain) - theta
        unsolved = float(np.abs(gradient[free]).max(initial=0.0))
        next_free = np.where(free, bins >= -slack, gradient < -max(slack, 10 * unsolved))
        same = np.array_equal(next_free, free)
        settled = int((next_free != free).sum()) <= plain.size // 1000
        if same and reduction == 0.0:
            if slack <= FINE * sigma and unsolved <= slack:
                return np.maximum(bins, 0.0)
            slack = max(slack / 100, FINE * sigma)
        free = next_free
    raise ArithmeticError("least-squares smoothing of square-root measurements did not converge")


class _Toeplitz:
    """Products with a lower-triangular Toeplitz matrix T: T x, T^T x, T^T T x and T T^T x."""

    def __init__(self, column: Float64) -> None:
        self.size = column.size
        self.length = fast_length(2 * column.size)
        self.spectrum = np.fft.rfft(column, self.length)

    def times(self, values: Float64) -> Float64:
        """T times each row of values, shape (..., N)."""
        return np.asarray(np.fft.irfft(np.fft.rfft(values, self.length) * self.spectrum, self.length)[..., : self.size])

    def transposed(self, values: Float64) -> Float64:
        return self.times(values[::-1])[::-1]

    def normal(self, values: Float64) -> Float64:
        return self.transposed(self.times(values))

    def outer(self, values: Float64) -> Float64:
        return self.times(self.transposed(values))


def _solve(
    normal: Product, inverse: Product, free: Bool, plain: Float64, start: Float64, tolerance: float, reduction: float
) -> Float64:
    """Minimize |C (x - plain)| over x that vanish outside the free bins."""
    values = np.where(free, start, 0.0)
    residual = np.where(free, normal(plain - values), 0.0)
    tolerance = max(tolerance, reduction * float(np.abs(residual).max()))
    direction, last = np.zeros(values.size), 0.0
    for _ in range(MAX_STEPS):
        if float(np.abs(residual).max()) <= tolerance:
            break
        scaled = np.where(free, inverse(residual), 0.0)
        weight = float((residual * scaled).sum())
        direction = scaled + (weight / last if last else 0.0) * direction
        pushed = np.where(free, normal(direction), 0.0)
        length = weight / float((direction * pushed).sum())
        values = values + length * direction
        residual = residual - length * pushed
        last = weight
    return values
