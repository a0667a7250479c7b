"""Legendre coefficients from moments and back: c = A (1 - mu), mu_i the mean of u^i, i = 1..K+1.

A[k, i] = alpha_k beta_{k,i} is computed from exact rationals. Its entries alternate in sign and grow like 2.4^K, and
so does noise on the moments; `LARGEST_DEGREE` is where the digits end even without noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Float64

LARGEST_DEGREE = 15


def falling(r: Fraction, k: int) -> Fraction:
    """The binomial coefficient r over k for a rational r."""
    value = Fraction(1)
    for j in range(k):
        value *= (r - j) / Fraction(j + 1)
    return value


def alpha(k: int) -> float:
    """2^k sqrt((2 k + 1) / 2)."""
    return 2.0**k * math.sqrt((2 * k + 1) / 2)


def beta(k: int, i: int) -> Fraction:
    """Coefficient of t^i in P_k, over 2^k (i + 1)."""
    return Fraction(math.comb(k, i), i + 1) * falling(Fraction(k + i - 1, 2), k)


@lru_cache(maxsize=32)
def from_moments(degree: int) -> Float64:
    """A, lower triangular, shape (K + 1, K + 1); read only."""
    matrix = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        for i in range(k + 1):
            matrix[k, i] = alpha(k) * float(beta(k, i))
    matrix.flags.writeable = False
    return matrix


@lru_cache(maxsize=32)
def to_moments(degree: int) -> Float64:
    """The inverse of A from integrals: row i - 1 holds i (t^{i-1} | e_k), shape (K + 1, K + 1); read only."""
    nodes, weights = np.polynomial.legendre.leggauss(degree + 2)
    values = np.polynomial.legendre.legvander(nodes, degree) * np.sqrt((2 * np.arange(degree + 1) + 1) / 2)
    powers = nodes[:, None] ** np.arange(degree + 1)
    matrix = np.tril((powers * weights[:, None]).T @ values) * np.arange(1, degree + 2)[:, None]
    matrix.flags.writeable = False
    return np.asarray(matrix)


def powers(u: Float64, degree: int) -> Float64:
    """u, u^2, ..., u^(degree + 1), shape (degree + 1, n)."""
    found = np.empty((degree + 1, len(u)))
    found[0] = u
    for k in range(degree):
        found[k + 1] = found[k] * u
    return found
