"""Products in floating point with matrices of entries q_{i-j} + q_{i+j+1}, and their eigenvalues."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.square_root.integer import fast_length


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
