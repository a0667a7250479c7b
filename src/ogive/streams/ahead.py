"""Totals with integer noise that was computed before the elements are known.

A method that draws its noise ahead publishes, at every step, the integer D S + w: S is the exact total, w an integer
that depends on the noise key alone, and D = 2^bits the number of parts of a unit.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64


def split(noise: Int64, bits: int) -> tuple[Int64, Int64]:
    """The whole units of integers in units of 2^-bits, rounded down, and what is left of them; same shape each."""
    return noise >> bits, noise & ((1 << bits) - 1)


def published(total: int, values: Int64, whole: Int64, rest: Int64, bits: int) -> Float64:
    """(D S + w) / D after each of the values, rounded once, so it depends on the integer D S + w alone.

    The whole units and the rest of D S + w are taken apart, since their product could exceed 64 bits.

    Args:
        total: Sum of the elements before.
        values: Elements, in whole units, shape (m,).
        whole: The whole units of w at each of these steps, rounded down, shape (m,).
        rest: What is left of w, from 0 to D - 1, shape (m,).
        bits: Base-2 logarithm of D.
    """
    units = total + np.cumsum(values) + whole
    out: Float64 = units.astype(np.float64) + np.ldexp(rest.astype(np.float64), -bits)
    return out
