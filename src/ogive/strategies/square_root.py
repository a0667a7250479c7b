"""The square-root factorization of prefix sums, in integers, and its measurements smoothed by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.noise import DiscreteGaussian
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import GaussianRoot, Product, check_levels, check_privacy, gaussian_law, histogram
from ogive.strategies.convolution import Convolver, factor_column, fast_length, squared_sensitivity

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
        size: Number of bins, N.
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
    check_levels(size, (), (), what="sizes")
    check_privacy(privacy, adjacency)
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
        wanted = np.where(free, bins >= -slack, gradient < -max(slack, 10 * unsolved))
        same = np.array_equal(wanted, free)
        settled = int((wanted != free).sum()) <= plain.size // 1000
        if same and reduction == 0.0:
            if slack <= FINE * sigma and unsolved <= slack:
                return np.maximum(bins, 0.0)
            slack = max(slack / 100, FINE * sigma)
        free = wanted
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
