"""The integer matrix of the symmetric root: reflected differences of one kernel, times a whole number for each bin.

Entry (i, j) is (t_{i-j} + t_{i+j+1}) w_j with an even kernel t that changes its sign after 2N steps, t_{2N-m} = -t_m.
Such matrices, without the w_j, are those that have the cosines cos(pi (2k+1)(2i+1) / (4N)) as eigenvectors, so they
commute, and their products are of the same form: the Gram matrix is s_{i-j} + s_{i+j+1} with s the convolution of t
with itself. All norms of columns follow from it in integers.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ogive.arrays import Int64
from ogive.strategies.square_root.integer import check_fits, convolved, transforms


def square_root_of_root(count: int, bits: int) -> Int64:
    """The first coefficients of (2 sin(x/2))^(-1/2) as a series of cosines, in integers, from c_0 = 2^bits on.

    The ratios c_{m+1} / c_m are (4m + 1) / (4m + 3). They are multiplied one after the other in floating point, an
    IEEE operation each, so every machine finds the same integers. What they are decides accuracy; privacy follows from
    the integers themselves.
    """
    m = np.arange(count - 1, dtype=np.float64)
    coefficients = np.multiply.accumulate(np.concatenate([[2.0**bits], (4 * m + 1) / (4 * m + 3)]))
    rounded: Int64 = np.rint(coefficients).astype(np.int64)
    return rounded


@lru_cache(maxsize=8)
def root_kernel(size: int, bits: int) -> Int64:
    """The kernel t_m = c_m - c_{2N-m} for m = 0 .. 2N-1 with the c of `square_root_of_root`; read-only."""
    infinite = square_root_of_root(2 * size + 1, bits)
    kernel = infinite[:-1] - infinite[:0:-1]
    kernel.flags.writeable = False
    return kernel


class ReflectedConvolver:
    """Exact products of integer vectors with the symmetric matrix of entries t_{i-j} + t_{i+j+1}.

    Args:
        kernel: The numbers t_0 .. t_{2N-1} of `root_kernel`.
    """

    def __init__(self, kernel: Int64) -> None:
        self.size = kernel.size // 2
        self._length = 1 << max(1, (2 * self.size - 2).bit_length())
        self._largest = int(kernel[0]) + abs(int(kernel[1]))
        # the reflected part is a convolution with the values in reverse order
        parts = (kernel[: self.size], kernel[self.size - 1 : 0 : -1]), (kernel[self.size :], kernel[1 : self.size])
        self._fixed = [transforms(self._cyclic(*part), self._length) for part in parts]

    def _cyclic(self, ahead: Int64, behind: Int64) -> Int64:
        """Numbers for the steps 0 .. N-1 and -(N-1) .. -1 at their places on a circle."""
        gap = np.zeros(self._length - ahead.size - behind.size, dtype=np.int64)
        return np.concatenate([ahead, gap, behind])

    def apply(self, values: Int64) -> Int64:
        """The product, exactly, shape (N,).

        Raises:
            ParameterError: entries of the result might not fit.
        """
        check_fits(values, self._largest)
        directions = (values, values[::-1])
        moving = [transforms(np.ascontiguousarray(each), self._length) for each in directions]
        return convolved(list(zip(self._fixed, moving, strict=True)), self.size)


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
    squares: Int64 = products[0] + products[1::2]
    return squares


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
