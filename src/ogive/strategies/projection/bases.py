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
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Float64
from ogive.core.checks import among

# --- Cubic splines with uniform knots on [-1, 1], orthonormal in L2
#
# With p = K - 2 pieces the K + 1 splines B_i(s) = beta(s - i), i = -3..p-1, span all cubic splines; s = p (1 + u) / 2,
# and beta is the cubic B-spline on [0, 4]. Their Gram matrix is G = R R' and e = R^-1 B is orthonormal.

# beta on [0, 1], [1, 2], [2, 3], [3, 4]: coefficients of 1, r, r^2, r^3 with r from the left end, times 6
_PIECES = ((0, 0, 0, 1), (1, 3, 3, -3), (4, 0, -6, 3), (1, -3, 3, -1))


def _product(one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
    """Integral of two pieces' product over [0, 1]."""
    terms = (Fraction(a * b, 36 * (i + j + 1)) for i, a in enumerate(one) for j, b in enumerate(other))
    return sum(terms, Fraction(0))


@lru_cache(maxsize=32)
def _factor(degree: int) -> list[list[float]]:
    """R, lower triangular, in single IEEE operations of a fixed order."""
    pieces = degree - 2
    table = [[_product(one, other) for other in _PIECES] for one in _PIECES]
    gram = [[Fraction(0)] * (degree + 1) for _ in range(degree + 1)]
    for cell in range(pieces):
        for one in range(4):
            for other in range(4):
                gram[cell + 3 - one][cell + 3 - other] += table[one][other] * 2 / pieces
    factor = [[0.0] * (degree + 1) for _ in range(degree + 1)]
    for row in range(degree + 1):
        for column in range(row + 1):
            rest = float(gram[row][column])
            for k in range(column):
                rest -= factor[row][k] * factor[column][k]
            factor[row][column] = math.sqrt(rest) if row == column else rest / factor[column][column]
    return factor


def _orthonormal(splines: Float64, degree: int) -> Float64:
    """R^-1 times the rows, by forward substitution; R is banded."""
    factor = _factor(degree)
    found = np.empty_like(splines)
    for row in range(degree + 1):
        rest = splines[row].copy()
        for k in range(max(0, row - 3), row):
            rest -= factor[row][k] * found[k]
        found[row] = rest / factor[row][row]
    return found


def _offsets(u: Float64, degree: int) -> Float64:
    """S - i, clipped to the support [0, 4], shape (K + 1, n)."""
    pieces = degree - 2
    places = (1 + u) * pieces / 2
    return np.asarray(np.clip(places - np.arange(-3, pieces)[:, None], 0, 4))


def spline_values(u: Float64, degree: int) -> Float64:
    """The orthonormal splines at points, shape (degree + 1, n)."""
    r = _offsets(u, degree)
    r = np.minimum(r, 4 - r)
    inner = np.maximum(r - 1, 0)
    return _orthonormal((r * r * r - 4 * inner * inner * inner) / 6, degree)


def _below(r: Float64) -> Float64:
    """Integral of beta from 0 to r in [0, 4]."""
    near = np.minimum(r, 4 - r)
    outer, inner = near * near, np.maximum(near - 1, 0)
    inner = inner * inner
    part = (outer * outer - 4 * inner * inner) / 24
    return np.asarray(np.where(r > 2, 1 - part, part))


def spline_integrals(u: Float64, degree: int) -> Float64:
    """Integrals of the orthonormal splines from points to 1, shape (degree + 1, n)."""
    ends = _below(_offsets(np.ones(1), degree))
    return _orthonormal((ends - _below(_offsets(u, degree))) * (2 / (degree - 2)), degree)


# --- The bases


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
    """The basis of a name."""
    return BASES[among(name, "basis", BASES)]
