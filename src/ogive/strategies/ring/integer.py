"""The integer matrix of the ring: its columns are the first N shifts of one vector around a ring of P > N places.

All columns have the same norm, and the inner product of two depends on their distance alone, so both sensitivities are
maxima over N numbers, found exactly.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ogive.arrays import Int64
from ogive.strategies.square_root.integer import check_fits, convolved, fast_length, transforms
from ogive.strategies.symmetric_root.integer import square_root_of_root


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
        """The convolution, exactly, shape (P,).

        Raises:
            ParameterError: entries of the result might not fit.
        """
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
