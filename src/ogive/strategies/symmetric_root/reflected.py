"""Floating-point algebra of matrices with entries q_{i-j} + q_{i+j+1}: products, eigenvalues, and sums over corners.

Corners: for the matrix of entries (q_{i-j} + q_{i+j+1}) v_i v_j with an even kernel q, the sum over i, j <= t is wanted
for every t, in time O(N log^2 N). From one t to the next it grows by M_tt and twice the entries of row t before the
diagonal. In these the part of q_{i-j} is one convolution. The part of q_{i+j+1} is cut into squares below the diagonal
whose sides are powers of two. Each is a product with a Hankel matrix, by FFT, and all squares of one size go together.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.square_root.integer import fast_length

_DIRECT = 32
"""Rows of the blocks that are small enough to be summed entry by entry."""


class Reflected:
    """Products with the symmetric matrix of entries q_{i-j} + q_{i+j+1}, each in time O(N log N).

    Args:
        kernel: The numbers q_0 .. q_{2N-1}, with q_{2N-m} = -q_m.
    """

    def __init__(self, kernel: Float64) -> None:
        self.size = kernel.size // 2
        self._length = fast_length(2 * self.size)
        level = np.zeros(self._length)
        level[: self.size] = kernel[: self.size]
        level[self._length - self.size + 1 :] = kernel[self.size - 1 : 0 : -1]
        self._level = np.fft.rfft(level)
        self._mirrored = np.fft.rfft(kernel[1:], self._length)

    def times(self, values: Float64) -> Float64:
        """The product with each row of values, shape (..., N)."""
        spectrum = np.fft.rfft(values, self._length)
        spectrum = spectrum * self._level + np.conj(spectrum) * self._mirrored
        product: Float64 = np.fft.irfft(spectrum, self._length)[..., : self.size]
        return product


def eigenvalues(kernel: Int64) -> Float64:
    """Eigenvalues of the matrix of a kernel, shape (N,); eigenvector k is cos(pi (2k+1)(2i+1) / (4N))."""
    size = kernel.size // 2
    values: Float64 = np.fft.rfft(np.concatenate([kernel, -kernel]).astype(np.float64)).real[1::2] / 2.0
    return values[:size]


def kernel_of(values: Float64) -> Float64:
    """The kernel of the matrix with these eigenvalues, which `eigenvalues` inverts, shape (2N,)."""
    spectrum = np.zeros(2 * values.size + 1)
    spectrum[1::2] = 2.0 * values
    kernel: Float64 = np.fft.irfft(spectrum, 4 * values.size)[: 2 * values.size]
    return kernel


def corner_sums(kernel: Float64, weights: Float64) -> Float64:
    """Sums over i, j <= t of (q_{i-j} + q_{i+j+1}) v_i v_j for every t, shape (N,).

    Args:
        kernel: The numbers q_0 .. q_{2N-1}.
        weights: The numbers v, shape (N,).
    """
    size = weights.size
    length = fast_length(2 * size)
    level = np.fft.irfft(np.fft.rfft(kernel[:size], length) * np.fft.rfft(weights, length), length)[:size]
    before = level - kernel[0] * weights + reflected_before(kernel, weights)
    diagonal = kernel[0] + kernel[1 : 2 * size : 2]
    sums: Float64 = np.cumsum(weights * (2.0 * before + weights * diagonal))
    return sums


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
