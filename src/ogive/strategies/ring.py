"""A square root of prefix sums on a ring, in integers: columns that are shifts of one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, law_from_dict
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import (
    GaussianRoot,
    Level,
    check_levels,
    check_privacy,
    gaussian,
    gaussian_law,
    histogram,
    variance_given_total,
)
from ogive.strategies.convolution import check_fits, convolved, fast_length, transforms
from ogive.strategies.symmetric_root import square_root_of_root

# --- The integer matrix: its columns are the first N shifts of one vector around a ring of P > N places
#
# All columns have the same norm, and the inner product of two depends on their distance alone, so both sensitivities
# are maxima over N numbers, found exactly.


def places(size: int) -> int:
    """How many places the ring of a size has, P: about 3 N / 2, with small factors."""
    return fast_length(-(-3 * size // 2))


@lru_cache(maxsize=8)
def ring_vector(size: int, bits: int) -> Int64:
    """The vector t_m = c_m + c_{P-m} for m = 0..P-1, with t_0 = c_0 and the c of `square_root_of_root`; read-only."""
    around = square_root_of_root(places(size) + 1, bits)
    vector = around[:-1] + around[:0:-1]
    vector[0] = around[0]
    vector.flags.writeable = False
    return vector


class RingConvolver:
    """Exact cyclic convolutions of short integer vectors with an even vector on the ring.

    Args:
        vector: Numbers on the ring, shape (P,), largest at 0.
        size: Length of the vectors it will be convolved with, N <= P.
    """

    def __init__(self, vector: Int64, size: int) -> None:
        self.size = vector.size
        self._length = 1 << max(1, (self.size + size - 2).bit_length())
        self._largest = int(np.abs(vector).max())
        self._fixed = transforms(vector, self._length)
        self._moving = size

    def apply(self, values: Int64) -> Int64:
        """The convolution, exactly, shape (P,)."""
        check_fits(values, self._largest)
        straight = convolved([(self._fixed, transforms(values, self._length))], self.size + self._moving - 1)
        around = straight[: self.size]
        around[: self._moving - 1] += straight[self.size :]
        return around


@lru_cache(maxsize=4)
def ring_convolver(size: int, bits: int) -> RingConvolver:
    """The matrix of a size; kept for the sizes used last."""
    return RingConvolver(ring_vector(size, bits), size)


@lru_cache(maxsize=8)
def inner_products(size: int, bits: int) -> Int64:
    """Inner products of two columns at distance 0 .. N-1, exactly, read-only."""
    vector = ring_vector(size, bits)
    products = RingConvolver(vector, vector.size).apply(vector)[:size]
    products.flags.writeable = False
    return products


def squared_sensitivity(size: int, bits: int, replace: bool) -> int:
    """Largest squared L2 norm of a column, or of a difference of two columns, exactly."""
    products = inner_products(size, bits)
    if not replace or size == 1:
        return int(products[0])
    return int(2 * (products[0] - products[1:].min()))


# --- The inverse of a symmetric positive definite Toeplitz matrix, from its first column alone
#
# With u the first column of T^{-1}, Gohberg and Semencul's formula is
#
#     u_0 T^{-1} = L L^T - K K^T,
#
# L and K lower-triangular Toeplitz with first columns (u_0 .. u_{N-1}) and (0, u_{N-1} .. u_1). The column u is found
# by conjugate gradients with a circulant preconditioner, in a number of steps that grows with log N.

MAX_STEPS = 200
_ENOUGH, _MOST = 1e-14, 1e-9
"""Largest entry of the residual at which the search stops, and beyond which the result would be biased."""


class ToeplitzInverse:
    """Products with T and its inverse, and the sums of entries of the inverse that variances need.

    Args:
        column: First column of T, shape (N,).
    """

    def __init__(self, column: Float64) -> None:
        self.size = column.size
        self._length = fast_length(2 * self.size)
        around = np.zeros(self._length)
        around[: self.size] = column
        around[self._length - self.size + 1 :] = column[:0:-1]
        self._spectrum = np.fft.rfft(around)
        self._column = column
        self.first = self._first_column()
        mirrored = np.append(0.0, self.first[:0:-1])
        self._parts = [(np.fft.rfft(each, self._length), sign) for each, sign in ((self.first, 1.0), (mirrored, -1.0))]

    def product(self, values: Float64) -> Float64:
        """T times each row of values, shape (..., N)."""
        result: Float64 = np.fft.irfft(np.fft.rfft(values, self._length) * self._spectrum, self._length)
        return result[..., : self.size]

    def times(self, values: Float64) -> Float64:
        """The inverse times each row of values, shape (..., N)."""
        backward = np.fft.rfft(values[..., ::-1], self._length)
        result = np.zeros(backward.shape, dtype=np.complex128)
        for spectrum, sign in self._parts:
            inner = np.fft.irfft(backward * spectrum, self._length)[..., self.size - 1 :: -1]
            result += sign * spectrum * np.fft.rfft(inner, self._length)
        product: Float64 = np.fft.irfft(result, self._length)[..., : self.size] / self.first[0]
        return product

    def _first_column(self) -> Float64:
        """First column of the inverse, by conjugate gradients with the circulant matrix nearest to T."""
        n, steps = self.size, np.arange(self.size)
        circulant = ((n - steps) * self._column + steps * np.append(0.0, self._column[:0:-1])) / n
        spectrum = np.fft.rfft(circulant).real
        solution, residual = np.zeros(n), np.zeros(n)
        residual[0] = 1.0
        direction, last = np.zeros(n), 0.0
        least, best = np.inf, solution
        for _ in range(MAX_STEPS):
            size = float(np.abs(residual).max())
            if size < least:
                least, best = size, solution
            if size <= _ENOUGH or (least < 1e-9 and size > 10 * least):
                break
            scaled = np.fft.irfft(np.fft.rfft(residual) / spectrum, n)
            weight = float(residual @ scaled)
            direction = scaled + (weight / last if last else 0.0) * direction
            pushed = self.product(direction)
            length = weight / float(direction @ pushed)
            solution = solution + length * direction
            residual = residual - length * pushed
            last = weight
        if not least <= _MOST:
            raise ParameterError(f"a Toeplitz matrix of {n} rows was not inverted; use `method='sqrt'`")
        return best

    def corner_sums(self) -> Float64:
        """Sums of the entries of the inverse over i, j <= t for every t, shape (N,), in time O(N).

        Entry (i, j) exceeds entry (i-1, j-1) by (u_i u_j - u_{N-i} u_{N-j}) / u_0, so sums over rows up to the diagonal
        and the diagonal itself are running sums.
        """
        u = self.first
        mirrored = np.append(0.0, u[:0:-1])
        rows = np.cumsum(u * np.cumsum(u) - mirrored * np.cumsum(mirrored)) / u[0]
        diagonal = np.cumsum(u * u - mirrored * mirrored) / u[0]
        sums: Float64 = np.cumsum(2.0 * rows - diagonal)
        return sums


# --- The strategy: Gaussian noise close to the least where one record is replaced
#
# Measured are P = 3 N / 2 sums y = R x. Column j of the integer matrix R is one vector shifted by j places around a
# ring of P places, so all columns have the same norm and two columns differ by what their distance alone decides. On
# the ring the eigenvalues of R are near those of the square root of the square root of A^T A, for A the matrix of
# prefix sums. The estimate is that of least squares, hence unbiased, whatever the rounding.

BITS = 20


@dataclass(frozen=True)
class RingRoot(GaussianRoot):
    """Integer measurements of a histogram on a ring with discrete Gaussian noise.

    Fields:
        size: Number of bins, N.
        law: Noise of every measurement, on the scale where a record adds 2^bits in its bin.
        bits: Fractional bits of the integer matrix, from 12 to 22.

    Source:
        The matrix mechanism: Li et al. (2015). The inverse of the Gram matrix: Gohberg and Semencul (1972).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS

    name: ClassVar[str] = "ring"
    what: ClassVar[str] = "the ring"
    bit_range: ClassVar[tuple[int, int]] = (12, 22)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement, P of them."""
        return (Level(places(self.size), self.law),)

    @property
    def inverse(self) -> ToeplitzInverse:
        """The inverse of the Gram matrix R^T R / 4^bits."""
        return inverse_gram(self.size, self.bits)

    @cached_property
    def total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        values: Float64 = self._unit_variance * np.cumsum(self.inverse.times(np.ones(self.size)))
        return values

    @property
    def _unit_variance(self) -> float:
        return float(self.law.variance) / 4.0**self.bits

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix R times the histogram, exactly, shape (P,)."""
        return ring_convolver(self.size, self.bits).apply(histogram(counts, self.size))

    def squared_change(self, *, replace: bool) -> int:
        """Exactly, ||c||^2 of each column c of R, or max_d ||c_0 - c_d||^2."""
        return squared_sensitivity(self.size, self.bits, replace)

    def bins(self, rows: Float64) -> Float64:
        """The histogram of least squares for answers, shape (..., P), to shape (..., N), in time O(N log N)."""
        width = places(self.size)
        spectrum = np.fft.rfft(ring_vector(self.size, self.bits) / 2.0**self.bits)
        sums = np.fft.irfft(np.fft.rfft(rows / 2.0**self.bits) * spectrum, width)[..., : self.size]
        return self.inverse.times(sums)

    def curves(self, rows: Float64) -> Float64:
        """Unbiased cumulative counts by least squares, shape (batch, N), from answers, shape (batch, P)."""
        values: Float64 = np.cumsum(self.bins(rows), axis=1)
        return values

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values: Float64 = self._unit_variance * self.inverse.corner_sums()
        if total_known:
            values = variance_given_total(values, self.total_covariance)
        return values

    @staticmethod
    def from_dict(data: dict[str, Any]) -> RingRoot:
        """Rebuild from `to_dict`."""
        law = gaussian(law_from_dict(data["law"]), RingRoot.what)
        return RingRoot(data["size"], law, data["bits"])


@lru_cache(maxsize=4)
def inverse_gram(size: int, bits: int) -> ToeplitzInverse:
    """The inverse of R^T R / 4^bits; kept for the sizes used last."""
    return ToeplitzInverse(inner_products(size, bits) / 4.0**bits)


def design_ring(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> RingRoot:
    """Choose the noise of the ring at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it; under ADD_OR_REMOVE
            `design_symmetric_root` is more accurate.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="sizes")
    check_privacy(privacy, adjacency)
    change = squared_sensitivity(size, BITS, adjacency is Adjacency.REPLACE)
    law = gaussian_law(privacy, change, RingRoot.what)
    inverse_gram(size, BITS)  # a failure comes before anything is paid; estimates use it again
    return RingRoot(size, law)
