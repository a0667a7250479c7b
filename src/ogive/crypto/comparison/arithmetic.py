"""Sums and differences in a group, for compiled loops: `prime` is the modulus of the field, or None for a ring.

Rings wrap by themselves, modulo 2^64 here and modulo 2^32 once they are stored; given None, compilers drop the rest.
"""

from __future__ import annotations

from typing import Any

from ogive.compiling import njit
from ogive.crypto.field import add, reduce, subtract


@njit(nogil=True)
def plus(x: Any, y: Any, prime: Any) -> Any:
    """The sum of two elements."""
    if prime is None:
        return x + y
    return add(x, y)


@njit(nogil=True)
def minus(x: Any, y: Any, prime: Any) -> Any:
    """The difference x - y of two elements."""
    if prime is None:
        return x - y
    return subtract(x, y)


@njit(nogil=True)
def reduced(word: Any, prime: Any) -> Any:
    """A word of a block as an element."""
    if prime is None:
        return word
    return reduce(word)
