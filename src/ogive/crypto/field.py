"""Arithmetic modulo the Mersenne prime p = 2^61 - 1, exact, on uint64.

Elements are uint64 below p. `add`, `subtract`, `multiply`, `reduce`, `accumulate` and `fold` are functions of scalars,
to be called from loops that may be compiled; the other functions take arrays. Since 2^61 = 1 modulo p, a product of two
elements is folded by adding its high bits to its low 61: no division. Nor is there a branch: of a number and the same
number plus or less p, modulo 2^64, the smaller one is the element.

A shared number is recovered whole if its magnitude stays below p / 2: see `decode`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Int64, UInt64
from ogive.core.compiling import instruction, njit, vectorize

Elements = UInt64 | np.uint64

P = (1 << 61) - 1
"""The modulus."""

_P = np.uint64(P)
_BITS = np.uint64(61)
_TOP = np.uint64(3)
_EIGHT = np.uint64(8)
_HALF, _SHIFT, _LOW = np.uint64(32), np.uint64(1 << 32), np.uint64(0xFFFFFFFF)


def _type_high_word(typing: Any, x: Any, y: Any) -> Any:
    """`_high_word` for numba: one multiplication of 128 bits."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@instruction(_type_high_word)
def _high_word(x: np.uint64, y: np.uint64) -> np.uint64:
    """The upper 64 bits of the product of two uint64."""
    low, high, other_low, other_high = x & _LOW, x >> _HALF, y & _LOW, y >> _HALF
    upper = high * other_low + ((low * other_low) >> _HALF)
    lower = low * other_high + (upper & _LOW)
    return high * other_high + (upper >> _HALF) + (lower >> _HALF)


@njit(nogil=True)
def reduce(word: np.uint64) -> np.uint64:
    """Any uint64 modulo p. A uniform word becomes an element within 2^-61 of uniform (2^64 = 8 p + 8)."""
    folded = (word & _P) + (word >> _BITS)
    element: np.uint64 = np.minimum(folded, folded - _P)
    return element


@njit(nogil=True)
def add(x: np.uint64, y: np.uint64) -> np.uint64:
    """The sum of two elements."""
    result = x + y
    element: np.uint64 = np.minimum(result, result - _P)
    return element


@njit(nogil=True)
def subtract(x: np.uint64, y: np.uint64) -> np.uint64:
    """The difference x - y of two elements."""
    result = x - y
    element: np.uint64 = np.minimum(result, result + _P)
    return element


@njit(nogil=True)
def multiply(x: np.uint64, y: np.uint64) -> np.uint64:
    """The product of two elements."""
    low = x * y
    folded = (low & _P) + ((_high_word(x, y) << _TOP) | (low >> _BITS))
    element: np.uint64 = np.minimum(folded, folded - _P)
    return element


@njit(nogil=True)
def accumulate(low: np.uint64, high: np.uint64, x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
    """A sum of 128 bits, in two words, with the product of two elements added; up to 64 products fit: see `fold`."""
    added = x * y
    result = low + added
    return result, high + _high_word(x, y) + np.uint64(result < added)


@njit(nogil=True)
def fold(low: np.uint64, high: np.uint64) -> np.uint64:
    """A number of 128 bits, in two words, modulo p: 2^64 = 8."""
    return add(reduce(low), multiply(reduce(high), _EIGHT))


@vectorize
def sums(x: Elements, y: Elements) -> UInt64:
    """Sums of arrays of elements, broadcast."""
    return add(x, y)  # type: ignore[arg-type,return-value]


@vectorize
def differences(x: Elements, y: Elements) -> UInt64:
    """Differences x - y of arrays of elements, broadcast."""
    return subtract(x, y)  # type: ignore[arg-type,return-value]


@vectorize
def products(x: Elements, y: Elements) -> UInt64:
    """Products of arrays of elements, broadcast."""
    return multiply(x, y)  # type: ignore[arg-type,return-value]


@vectorize
def residues(words: Elements) -> UInt64:
    """Any uint64 modulo p, in arrays: elements within 2^-61 of uniform if the words are uniform."""
    return reduce(words)  # type: ignore[arg-type,return-value]


@vectorize
def _encoded(number: Int64) -> UInt64:
    # a negative number is held as 2^64 more, which is 8 modulo p
    return subtract(reduce(np.uint64(number)), _EIGHT * np.uint64(number < 0))  # type: ignore[return-value]


def total(elements: UInt64, *, axis: int) -> UInt64:
    """The sums of elements along an axis, 0 or 1, of an array of two; exact for up to 2^32 of them."""
    result: UInt64 = _row_totals(elements.T if axis == 0 else elements)
    return result


@njit(nogil=True)
def _row_totals(elements: UInt64) -> UInt64:
    result = np.empty(len(elements), dtype=np.uint64)
    for row in range(len(elements)):
        low = high = np.uint64(0)
        for element in elements[row]:
            low += element & _LOW
            high += element >> _HALF
        result[row] = add(reduce(low), multiply(reduce(high), _SHIFT))
    return result


def accept(words: UInt64) -> UInt64:
    """The exactly uniform elements in a stream of uniform words: the upper 61 bits, those equal to p left out."""
    candidates: UInt64 = words >> _TOP
    below: UInt64 = candidates[candidates != _P]
    return below


def encode(numbers: ArrayLike) -> UInt64:
    """Signed whole numbers modulo p, from int64 of any magnitude."""
    return _encoded(np.asarray(numbers, dtype=np.int64))


def decode(elements: UInt64) -> Int64:
    """The whole numbers of least magnitude: elements above p / 2 stand for negative ones."""
    signed = elements.astype(np.int64)
    return np.where(elements > np.uint64(P // 2), signed - P, signed)
