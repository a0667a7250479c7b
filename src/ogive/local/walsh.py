"""The Walsh-Hadamard transform, in place and in its natural order."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.compiling import njit
from ogive.errors import ParameterError


def transform(values: Int64) -> Int64:
    """Multiply by the Hadamard matrix with entries (-1)^popcount(i AND j), in place.

    Args:
        values: Integers, shape (2^e,); their sizes must add up to less than 2^63.

    Returns:
        The same array.

    Raises:
        ParameterError: the length is not a power of two.
    """
    if values.ndim != 1 or values.dtype != np.int64 or values.size < 1 or values.size & (values.size - 1):
        raise ParameterError(f"a transform needs 64-bit integers, a power of two of them, got shape {values.shape}")
    _transform(values)
    return values


@njit(nogil=True)
def _pass(values: Int64, start: int, stop: int, half: int) -> None:
    # two stages at a time: every value is read and written half as often
    for block in range(start, stop, 4 * half):
        for place in range(block, block + half):
            first, second = values[place], values[place + half]
            third, fourth = values[place + 2 * half], values[place + 3 * half]
            one, two, three, four = first + second, first - second, third + fourth, third - fourth
            values[place], values[place + half] = one + three, two + four
            values[place + 2 * half], values[place + 3 * half] = one - three, two - four


@njit(nogil=True)
def _transform(values: Int64) -> None:
    size = values.size
    # blocks that fit into a cache are finished first
    block = min(size, 1 << 12)
    for start in range(0, size, block):
        half = 1
        while 4 * half <= block:
            _pass(values, start, start + block, half)
            half *= 4
        if half < block:
            for place in range(start, start + half):
                low, high = values[place], values[place + half]
                values[place], values[place + half] = low + high, low - high
    half = block
    while 4 * half <= size:
        _pass(values, 0, size, half)
        half *= 4
    if half < size:
        for place in range(half):
            low, high = values[place], values[place + half]
            values[place], values[place + half] = low + high, low - high
