"""Functions on [-1, 1] that curves are projected on, and what one record adds to the coefficients.

A basis e_0, ..., e_K is orthonormal in L2[-1, 1]. A record at u has the distribution function 1[u <= t], whose
coefficients are the `integrals` of e_k from u to 1; sums over records are the coefficients of the cumulative count.

All numbers come from additions, multiplications, divisions, square roots and roundings of single numbers in a
stated order, which IEEE 754 fixes to the last bit: parties on different machines compute the same features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.checks import among
from ogive.strategies.projection.splines import spline_integrals, spline_values


@dataclass(frozen=True)
class Basis:
    """One orthonormal system.

    Fields:
        name: As users write it.
        least: Smallest degree.
        integrals: From points in [-1, 1], shape (n,), and the degree K: the integral of each function from the
            point to 1, shape (K + 1, n); of pinned ones less that of the chord, see `pinned`.
        values: The functions at points, shape (K + 1, n).
        pinned: The functions vanish at both ends and are for F(t) - (1 + t) / 2, so F(-1) = 0 and F(1) = 1 always.
    """

    name: str
    least: int
    integrals: Callable[[Float64, int], Float64]
    values: Callable[[Float64, int], Float64]
    pinned: bool = False


def cos_pi(turns: Float64) -> Float64:
    """cos(pi turns), within 1e-15, from the Taylor series: the same on every machine, unlike a library's cosine."""
    folded = np.abs(turns - 2 * np.rint(turns / 2))
    beyond = folded > 0.5
    square = np.where(beyond, 1 - folded, folded) * math.pi
    square *= square
    series = np.ones_like(square)
    for k in range(24, 0, -2):
        series = 1 - series * square / (k * (k - 1))
    return np.asarray(np.where(beyond, -series, series))


def sin_pi(turns: Float64) -> Float64:
    """sin(pi turns), as `cos_pi`."""
    return cos_pi(turns - 0.5)


def legendre_polynomials(u: Float64, degree: int) -> Float64:
    """P_0, ..., P_degree at points, shape (degree + 1, n), by the three-term recurrence, stable on [-1, 1]."""
    table = np.ones((degree + 1, len(u)))
    if degree:
        table[1] = u
    for k in range(1, degree):
        table[k + 1] = ((2 * k + 1) * u * table[k] - k * table[k - 1]) / (k + 1)
    return table


def _legendre_values(u: Float64, degree: int) -> Float64:
    table = legendre_polynomials(u, degree)
    for k in range(degree + 1):
        table[k] *= math.sqrt((2 * k + 1) / 2)
    return table


def _legendre_integrals(u: Float64, degree: int) -> Float64:
    table = legendre_polynomials(u, degree + 1)
    found = np.empty((degree + 1, len(u)))
    found[0] = (1 - u) / math.sqrt(2)
    for k in range(1, degree + 1):
        found[k] = (table[k - 1] - table[k + 1]) / math.sqrt(2 * (2 * k + 1))
    return found


def _cosine_values(u: Float64, degree: int) -> Float64:
    found = np.empty((degree + 1, len(u)))
    found[0] = 1 / math.sqrt(2)
    for k in range(1, degree + 1):
        found[k] = cos_pi(k * (1 + u) / 2)
    return found


def _cosine_integrals(u: Float64, degree: int) -> Float64:
    found = np.empty((degree + 1, len(u)))
    found[0] = (1 - u) / math.sqrt(2)
    for k in range(1, degree + 1):
        found[k] = sin_pi(k * (1 + u) / 2) * (-2 / (k * math.pi))
    return found


def _sine_values(u: Float64, degree: int) -> Float64:
    return np.stack([sin_pi(k * (1 + u) / 2) for k in range(1, degree + 2)])


def _sine_integrals(u: Float64, degree: int) -> Float64:
    return np.stack([cos_pi(k * (1 + u) / 2) * (2 / (k * math.pi)) for k in range(1, degree + 2)])


BASES = {
    basis.name: basis
    for basis in (
        Basis("legendre", 0, _legendre_integrals, _legendre_values),
        Basis("sine", 0, _sine_integrals, _sine_values, pinned=True),
        Basis("cosine", 0, _cosine_integrals, _cosine_values),
        Basis("splines", 3, spline_integrals, spline_values),
    )
}


def basis_named(name: str) -> Basis:
    """The basis of a name.

    Raises:
        ParameterError: there is none.
    """
    return BASES[among(name, "basis", BASES)]
