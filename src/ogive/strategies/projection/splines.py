"""Cubic splines with uniform knots on [-1, 1], orthonormal in L2.

With p = K - 2 pieces the K + 1 splines B_i(s) = beta(s - i), i = -3..p-1, span all cubic splines; s = p (1 + u) / 2,
and beta is the cubic B-spline on [0, 4]. Their Gram matrix is G = R R' and e = R^-1 B is orthonormal.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Float64

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
