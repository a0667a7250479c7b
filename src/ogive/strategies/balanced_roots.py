"""Square roots of prefix sums, in integers, with columns of equal norm: a symmetric one, and one on a ring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import WIDE, Range, whole
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import base, square_root

# --- The symmetric matrix: reflected differences of one kernel, times a whole number for each bin
#
# Entry (i, j) is (t_{i-j} + t_{i+j+1}) w_j with an even kernel t that changes its sign after 2N steps, t_{2N-m} = -t_m.
# Such matrices, without the w_j, are those that have the cosines cos(pi (2k+1)(2i+1) / (4N)) as eigenvectors, so they
# commute, and their products are of the same form: the Gram matrix is s_{i-j} + s_{i+j+1} with s the convolution of t
# with itself. All norms of columns follow from it in integers.


def square_root_of_root(count: int, bits: int) -> Int64:
    """The first coefficients of (2 sin(x/2))^(-1/2) as a series of cosines, in integers, from c_0 = 2^bits on.

    The ratios c_{m+1} / c_m = (4m + 1) / (4m + 3) are multiplied one after the other in floating point, an IEEE
    operation each, so every machine finds the same integers.
    """
    m = np.arange(count - 1, dtype=np.float64)
    coefficients = np.multiply.accumulate(np.concatenate([[2.0**bits], (4 * m + 1) / (4 * m + 3)]))
    return np.asarray(np.rint(coefficients).astype(np.int64))


@lru_cache(maxsize=8)
def root_kernel(size: int, bits: int) -> Int64:
    """The kernel t_m = c_m - c_{2N-m} for m = 0 .. 2N-1 with the c of `square_root_of_root`; read-only."""
    infinite = square_root_of_root(2 * size + 1, bits)
    kernel = infinite[:-1] - infinite[:0:-1]
    kernel.flags.writeable = False
    return kernel


class ReflectedConvolver:
    """Exact products of integer vectors with the symmetric matrix of entries t_{i-j} + t_{i+j+1}."""

    def __init__(self, kernel: Int64) -> None:
        self.size = kernel.size // 2
        self._length = 1 << max(1, (2 * self.size - 2).bit_length())
        self._largest = int(kernel[0]) + abs(int(kernel[1]))
        # the reflected part is a convolution with the values in reverse order
        parts = (kernel[: self.size], kernel[self.size - 1 : 0 : -1]), (kernel[self.size :], kernel[1 : self.size])
        self._fixed = [square_root.transforms(self._cyclic(*part), self._length) for part in parts]

    def _cyclic(self, ahead: Int64, behind: Int64) -> Int64:
        """Numbers for the steps 0 .. N-1 and -(N-1) .. -1 at their places on a circle."""
        gap = np.zeros(self._length - ahead.size - behind.size, dtype=np.int64)
        return np.concatenate([ahead, gap, behind])

    def apply(self, values: Int64) -> Int64:
        """The product, exactly, shape (N,)."""
        square_root.check_fits(values, self._largest)
        directions = (values, values[::-1])
        moving = [square_root.transforms(np.ascontiguousarray(each), self._length) for each in directions]
        return square_root.convolved(list(zip(self._fixed, moving, strict=True)), self.size)


@lru_cache(maxsize=4)
def reflected_convolver(size: int, bits: int) -> ReflectedConvolver:
    """The matrix of a size without its weights; kept for the sizes used last."""
    return ReflectedConvolver(root_kernel(size, bits))


@lru_cache(maxsize=4)
def gram_kernel(size: int, bits: int) -> Int64:
    """The numbers s_0 .. s_{2N-1} whose sums s_{i-j} + s_{i+j+1} are the inner products of columns; exact, read-only.

    Column 0 of the Gram matrix is the product of the matrix with its own column 0, and has the entries s_i + s_{i+1};
    s_0 is the sum of squares of the kernel. So every s follows from the one before.
    """
    kernel = root_kernel(size, bits)
    sums = reflected_convolver(size, bits).apply(kernel[:size] + kernel[1 : size + 1])
    signs = np.where(np.arange(size) % 2, -1, 1)
    half = int((kernel * kernel).sum()) - np.cumsum(np.append(0, signs * sums))
    half[1::2] *= -1
    whole: Int64 = np.concatenate([half[:size], -half[size:0:-1]])
    whole.flags.writeable = False
    return whole


@lru_cache(maxsize=4)
def bin_weights(size: int, bits: int, weight_bits: int) -> Int64:
    """The whole numbers w_0 .. w_{N-1}, up to 2^weight_bits, that give all columns nearly the same norm; read-only."""
    squares = squared_columns(size, bits)
    weights: Int64 = np.floor(2.0**weight_bits * np.sqrt(squares.min() / squares)).astype(np.int64)
    weights.flags.writeable = False
    return weights


def squared_columns(size: int, bits: int) -> Int64:
    """Squared norms of the columns without their weights, shape (N,), exactly."""
    products = gram_kernel(size, bits)
    return np.asarray(products[0] + products[1::2])


@lru_cache(maxsize=64)
def squared_sensitivity(size: int, bits: int, weight_bits: int, replace: bool) -> int:
    """A bound on the squared L2 norm of a column, or of a difference of two columns.

    Of columns it is the largest norm itself. Of differences it is 2 (S + e w^2) with S the largest squared norm, w the
    largest weight and e the most by which s rises from one index to a later one: no inner product is below -e, without
    the weights.
    """
    weights = bin_weights(size, bits, weight_bits)
    largest = int((weights * weights * squared_columns(size, bits)).max())
    if not replace or size == 1:
        return largest
    products = gram_kernel(size, bits)
    rise = int((products - np.minimum.accumulate(products)).max())
    return 2 * (largest + rise * int(weights.max()) ** 2)


# --- Floating-point algebra of matrices with entries q_{i-j} + q_{i+j+1}: products, eigenvalues, and sums over corners
#
# Corners: for the matrix of entries (q_{i-j} + q_{i+j+1}) v_i v_j with an even kernel q, the sum over i, j <= t is
# wanted for every t, in time O(N log^2 N). From one t to the next it grows by M_tt and twice the entries of row t
# before the diagonal. In these the part of q_{i-j} is one convolution. The part of q_{i+j+1} is cut into squares below
# the diagonal whose sides are powers of two. Each is a product with a Hankel matrix, by FFT, and all squares of one
# size go together.

_DIRECT = 32
"""Rows of the blocks that are small enough to be summed entry by entry."""


class Reflected:
    """Products with the symmetric matrix of entries q_{i-j} + q_{i+j+1}, each in time O(N log N)."""

    def __init__(self, kernel: Float64) -> None:
        self.size = kernel.size // 2
        self._length = square_root.fast_length(2 * self.size)
        level = np.zeros(self._length)
        level[: self.size] = kernel[: self.size]
        level[self._length - self.size + 1 :] = kernel[self.size - 1 : 0 : -1]
        self._level = np.fft.rfft(level)
        self._mirrored = np.fft.rfft(kernel[1:], self._length)

    def times(self, values: Float64) -> Float64:
        """The product with each row of values, shape (..., N)."""
        spectrum = np.fft.rfft(values, self._length)
        spectrum = spectrum * self._level + np.conj(spectrum) * self._mirrored
        return np.asarray(np.fft.irfft(spectrum, self._length)[..., : self.size])


def eigenvalues(kernel: Int64) -> Float64:
    """Eigenvalues of the matrix of a kernel, shape (N,); eigenvector k is cos(pi (2k+1)(2i+1) / (4N))."""
    size = kernel.size // 2
    values: Float64 = np.fft.rfft(np.concatenate([kernel, -kernel]).astype(np.float64)).real[1::2] / 2.0
    return values[:size]


def kernel_of(values: Float64) -> Float64:
    """The kernel of the matrix with these eigenvalues, which `eigenvalues` inverts, shape (2N,)."""
    spectrum = np.zeros(2 * values.size + 1)
    spectrum[1::2] = 2.0 * values
    return np.asarray(np.fft.irfft(spectrum, 4 * values.size)[: 2 * values.size])


def corner_sums(kernel: Float64, weights: Float64) -> Float64:
    """Sums over i, j <= t of (q_{i-j} + q_{i+j+1}) v_i v_j for every t, shape (N,).

    Args:
        kernel: The numbers q_0 .. q_{2N-1}.
        weights: The numbers v, shape (N,).
    """
    size = weights.size
    length = square_root.fast_length(2 * size)
    level = np.fft.irfft(np.fft.rfft(kernel[:size], length) * np.fft.rfft(weights, length), length)[:size]
    before = level - kernel[0] * weights + reflected_before(kernel, weights)
    diagonal = kernel[0] + kernel[1 : 2 * size : 2]
    return np.asarray(np.cumsum(weights * (2.0 * before + weights * diagonal)))


def reflected_before(kernel: Float64, weights: Float64) -> Float64:
    """Sums over j < t of q_{t+j+1} v_j for every t, shape (N,)."""
    size = weights.size
    padded = _DIRECT << max(0, -(-size // _DIRECT) - 1).bit_length()
    values, numbers = np.zeros(padded), np.zeros(2 * padded)
    values[:size], numbers[: kernel.size] = weights, kernel
    sums = np.zeros(padded)
    blocks, results = values.reshape(-1, _DIRECT), sums.reshape(-1, _DIRECT)
    for row in range(1, _DIRECT):
        for column in range(row):
            results[:, row] += numbers[row + column + 1 :: 2 * _DIRECT] * blocks[:, column]
    half = _DIRECT
    while half < padded:
        # block b: columns 2hb + k, rows 2hb + h + i, and the numbers at 4hb + h + 1 + i + k
        pieces = numbers.reshape(-1, 4 * half)[:, half + 1 : 3 * half]
        lower = values.reshape(-1, 2, half)[:, 0]
        spectrum = np.fft.rfft(pieces, 2 * half) * np.conj(np.fft.rfft(lower, 2 * half))
        sums.reshape(-1, 2, half)[:, 1] += np.fft.irfft(spectrum, 2 * half)[:, :half]
        half *= 2
    return sums[:size]


# --- The symmetric strategy: Gaussian noise within 0.3 % of the least
#
# With A the matrix of prefix sums, A^T A has nearly cosines as eigenvectors. Measured is R D x: R is about the fourth
# root of A^T A, a matrix of integers with these eigenvectors, and D a diagonal matrix of whole numbers that give all
# columns nearly the same norm. So a record costs the same in every bin, and no noise is drawn for the sake of a few
# bins alone. Norms are found exactly, in integers. The estimate A D^{-1} R^{-1} y is unbiased, whatever the rounding.

BITS, MORE_BITS = 14, 16
"""Fractional bits of the entries up to `_LARGE` bins, and above, where entries far from the diagonal are small."""
WEIGHT_BITS = 12
_LARGE = 1 << 18


@dataclass(frozen=True)
class SymmetricRoot(square_root.GaussianRoot):
    """Integer measurements by a weighted symmetric root, with discrete Gaussian noise.

    Fields:
        law: Noise of every measurement, on the scale of the integer matrix.
        bits: Fractional bits of the entries without weights, from 12 to 16.
        weight_bits: Bits of the largest weight, from 6 to 12.

    Source:
        The matrix mechanism: Li et al. (2015). Columns of equal norm at its optimum: Denisov et al. (2022).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS
    weight_bits: int = WEIGHT_BITS

    name: ClassVar[str] = "symmetric"
    what: ClassVar[str] = "the symmetric root"
    bit_range: ClassVar[tuple[int, int]] = (12, 16)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.weight_bits, "weight_bits", 6, 12)

    @property
    def weights(self) -> Int64:
        """Whole numbers by which the counts of the bins are multiplied, shape (N,)."""
        return bin_weights(self.size, self.bits, self.weight_bits)

    @property
    def unit(self) -> float:
        return 2.0 ** (self.bits + self.weight_bits)

    @property
    def _inverse(self) -> Reflected:
        return inverse_root(self.size, self.bits)

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix times the histogram, exactly, shape (N,)."""
        counted = base.histogram(counts, self.size)
        largest, most = int(np.abs(counted).max()), 62 - self.weight_bits
        refusal = f"`counts` must be below 2^{most} for exact measurement, got {largest}"
        Range(0, largest << self.weight_bits).check(WIDE - 1, refusal, ParameterError)
        return reflected_convolver(self.size, self.bits).apply(counted * self.weights)

    def squared_change(self, *, replace: bool) -> int:
        """Exactly where a record is added or removed; where one is replaced a bound, a few percent above it."""
        return squared_sensitivity(self.size, self.bits, self.weight_bits, replace)

    def bins(self, rows: Float64) -> Float64:
        """The histogram whose measurements are the answers, shape (..., N), in time O(N log N)."""
        return np.asarray(self._inverse.times(rows) / self.weights)

    def normal(self, values: Float64) -> Float64:
        """D R R D x, in units of `unit`."""
        root = Reflected(root_kernel(self.size, self.bits) / self.unit)
        return np.asarray(self.weights * root.times(root.times(self.weights * values)))

    def outer(self, values: Float64) -> Float64:
        """The inverse of `normal`."""
        return np.asarray(self.unit**2 * self._inverse.times(self._inverse.times(values / self.weights)) / self.weights)

    def normal_equations(self, answer: Float64) -> tuple[Float64, square_root.Product, square_root.Product]:
        return self.bins(answer), self.normal, self.outer

    def curves(self, rows: Float64) -> Float64:
        return np.asarray(np.cumsum(self.bins(rows), axis=1))

    @cached_property
    def total_covariance(self) -> Float64:
        return np.asarray(self.law.variance / self.unit**2 * np.cumsum(self.outer(np.ones(self.size))))

    @property
    def unconditioned(self) -> Float64:
        return np.asarray(self.law.variance * unit_variances(self.size, self.bits, self.weight_bits))


@lru_cache(maxsize=4)
def root_eigenvalues(size: int, bits: int) -> Float64:
    """Eigenvalues of R, in floating point."""
    values = eigenvalues(root_kernel(size, bits))
    if not values.min() > 0.0:
        raise ParameterError(f"the symmetric root of {size} bins needs more than {bits} bits")
    return values


@lru_cache(maxsize=4)
def inverse_root(size: int, bits: int) -> Reflected:
    """Products with the inverse of R; kept for the sizes used last."""
    return Reflected(kernel_of(1.0 / root_eigenvalues(size, bits)))


@lru_cache(maxsize=4)
def unit_variances(size: int, bits: int, weight_bits: int) -> Float64:
    """Variance of each cumulative count for noise of variance 1, shape (N,); kept for the sizes used last."""
    return corner_sums(kernel_of(root_eigenvalues(size, bits) ** -2.0), 1.0 / bin_weights(size, bits, weight_bits))


def design_symmetric_root(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> SymmetricRoot:
    """Choose the noise of the symmetric root at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it; `design_square_root` is
            more accurate there.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    base.check_design(size, privacy, adjacency)
    bits = BITS if size <= _LARGE else MORE_BITS
    change = squared_sensitivity(size, bits, WEIGHT_BITS, adjacency is Adjacency.REPLACE)
    law = square_root.gaussian_law(privacy, change, SymmetricRoot.what)
    return SymmetricRoot(size, law, bits)


# --- The ring's matrix: its columns are the first N shifts of one vector around a ring of P > N places
#
# All columns have the same norm, and the inner product of two depends on their distance alone, so both sensitivities
# are maxima over N numbers, found exactly.


def places(size: int) -> int:
    """How many places the ring of a size has, P: about 3 N / 2, with small factors."""
    return square_root.fast_length(-(-3 * size // 2))


@lru_cache(maxsize=8)
def ring_vector(size: int, bits: int) -> Int64:
    """The vector t_m = c_m + c_{P-m} for m = 0..P-1, with t_0 = c_0 and the c of `square_root_of_root`; read-only."""
    around = square_root_of_root(places(size) + 1, bits)
    vector = around[:-1] + around[:0:-1]
    vector[0] = around[0]
    vector.flags.writeable = False
    return vector


class RingConvolver:
    """Exact cyclic convolutions of integer vectors of a length N <= P with an even vector of P numbers."""

    def __init__(self, vector: Int64, size: int) -> None:
        self.size = vector.size
        self._length = 1 << max(1, (self.size + size - 2).bit_length())
        self._largest = int(np.abs(vector).max())
        self._fixed = square_root.transforms(vector, self._length)
        self._moving = size

    def apply(self, values: Int64) -> Int64:
        """The convolution, exactly, shape (P,)."""
        square_root.check_fits(values, self._largest)
        straight = square_root.convolved(
            [(self._fixed, square_root.transforms(values, self._length))], self.size + self._moving - 1
        )
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


def ring_sensitivity(size: int, bits: int, replace: bool) -> int:
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
    """Products with T, by its first column, and its inverse; and the sums of its entries that variances need."""

    def __init__(self, column: Float64) -> None:
        self.size = column.size
        self._length = square_root.fast_length(2 * self.size)
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
        return np.asarray(np.fft.irfft(result, self._length)[..., : self.size] / self.first[0])

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
        return np.asarray(np.cumsum(2.0 * rows - diagonal))


# --- The strategy on a ring: Gaussian noise close to the least where one record is replaced
#
# Measured are P = 3 N / 2 sums y = R x. Column j of the integer matrix R is one vector shifted by j places around a
# ring of P places, so all columns have the same norm and two columns differ by what their distance alone decides. On
# the ring the eigenvalues of R are near those of the square root of the square root of A^T A, for A the matrix of
# prefix sums. The estimate is that of least squares, hence unbiased, whatever the rounding.

RING_BITS = 20


@dataclass(frozen=True)
class RingRoot(square_root.GaussianRoot):
    """Integer measurements of a histogram on a ring with discrete Gaussian noise.

    Fields:
        law: Noise of every measurement, on the scale where a record adds 2^bits in its bin.
        bits: Fractional bits of the integer matrix, from 12 to 22.

    Source:
        The matrix mechanism: Li et al. (2015). The inverse of the Gram matrix: Gohberg and Semencul (1972).
    """

    size: int
    law: DiscreteGaussian
    bits: int = RING_BITS

    name: ClassVar[str] = "ring"
    what: ClassVar[str] = "the ring"
    bit_range: ClassVar[tuple[int, int]] = (12, 22)

    @property
    def levels(self) -> tuple[base.Level, ...]:
        """One level: a noise variable per measurement, P of them."""
        return (base.Level(places(self.size), self.law),)

    @property
    def inverse(self) -> ToeplitzInverse:
        """The inverse of the Gram matrix R^T R / 4^bits."""
        return inverse_gram(self.size, self.bits)

    @cached_property
    def total_covariance(self) -> Float64:
        return np.asarray(self._unit_variance * np.cumsum(self.inverse.times(np.ones(self.size))))

    @property
    def _unit_variance(self) -> float:
        return float(self.law.variance) / 4.0**self.bits

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix R times the histogram, exactly, shape (P,)."""
        return ring_convolver(self.size, self.bits).apply(base.histogram(counts, self.size))

    def squared_change(self, *, replace: bool) -> int:
        """Exactly, ||c||^2 of each column c of R, or max_d ||c_0 - c_d||^2."""
        return ring_sensitivity(self.size, self.bits, replace)

    def bins(self, rows: Float64) -> Float64:
        """The histogram of least squares for answers, shape (..., P), to shape (..., N), in time O(N log N)."""
        width = places(self.size)
        spectrum = np.fft.rfft(ring_vector(self.size, self.bits) / 2.0**self.bits)
        sums = np.fft.irfft(np.fft.rfft(rows / 2.0**self.bits) * spectrum, width)[..., : self.size]
        return self.inverse.times(sums)

    def normal_equations(self, answer: Float64) -> tuple[Float64, square_root.Product, square_root.Product]:
        return self.bins(answer), self.inverse.product, self.inverse.times

    def curves(self, rows: Float64) -> Float64:
        return np.asarray(np.cumsum(self.bins(rows), axis=1))

    @property
    def unconditioned(self) -> Float64:
        return np.asarray(self._unit_variance * self.inverse.corner_sums())


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
    base.check_design(size, privacy, adjacency)
    change = ring_sensitivity(size, RING_BITS, adjacency is Adjacency.REPLACE)
    law = square_root.gaussian_law(privacy, change, RingRoot.what)
    inverse_gram(size, RING_BITS)  # a failure comes before anything is paid; estimates use it again
    return RingRoot(size, law)
