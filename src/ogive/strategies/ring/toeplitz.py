"""The inverse of a symmetric positive definite Toeplitz matrix, from its first column alone.

With u the first column of T^{-1}, Gohberg and Semencul's formula is

    u_0 T^{-1} = L L^T - K K^T,

L and K lower-triangular Toeplitz with first columns (u_0 .. u_{N-1}) and (0, u_{N-1} .. u_1). The column u is found by
conjugate gradients with a circulant preconditioner, in a number of steps that grows with log N.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.strategies.square_root.integer import fast_length

MAX_STEPS = 200
_ENOUGH, _MOST = 1e-14, 1e-9
"""Largest entry of the residual at which the search stops, and beyond which the result would be biased."""


class ToeplitzInverse:
    """Products with T and its inverse, and the sums of entries of the inverse that variances need.

    Args:
        column: First column of T, shape (N,).

    Raises:
        ParameterError: the first column of the inverse is not found (not known to happen).
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
