"""The form of a projection: what is measured of each record, whatever the noise and however many bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.core.arrays import Float64
from ogive.core.checks import among, is_whole
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.strategies.projection.bases import Basis, basis_named

# --- Legendre coefficients from moments and back: c = A (1 - mu), mu_i the mean of u^i, i = 1..K+1
#
# A[k, i] = alpha_k beta_{k,i} is computed from exact rationals. Its entries alternate in sign and grow like 2.4^K, and
# so does noise on the moments; `LARGEST_DEGREE` is where the digits end even without noise.

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


# --- The form of a projection

MAX_DEGREE = 30
NOISES = ("shaped", "isotropic", "moments")
CONSTANTS = ("exact", "paper")


@dataclass(frozen=True)
class Form:
    """Frozen plain data, and the key of what is computed once.

    Fields:
        basis: "legendre", "sine", "cosine" or "splines".
        degree: K; there are K + 1 functions.
        noise: "shaped" to what one record changes, "isotropic", or on the "moments" (Legendre only).
        constants: "exact", or the "paper"'s larger sensitivity of moments.
        adjacency: Under ADD_OR_REMOVE the number of records is measured before all others.
        absolute: Whether changes are measured by absolute values (for Laplace noise), not by squares.
    """

    basis: str
    degree: int
    noise: str
    constants: str
    adjacency: Adjacency
    absolute: bool = False

    def __post_init__(self) -> None:
        basis_named(self.basis)
        among(self.noise, "noise", NOISES)
        among(self.constants, "constants", CONSTANTS)
        if not isinstance(self.adjacency, Adjacency):
            raise ParameterError(
                f"`adjacency` must be Adjacency.REPLACE or Adjacency.ADD_OR_REMOVE, got {quoted(self.adjacency)}"
            )
        check_degree(self.degree, self.basis, self.noise)
        if self.absolute and self.basis == "splines":
            raise ParameterError(
                "splines are for Gaussian noise: one record moves many of them, which costs Laplace noise dearly; "
                "use another basis, or `ApproxDP` or `ZeroConcentratedDP`"
            )
        if self.constants == "paper" and (self.noise != "moments" or self.counted or self.absolute):
            raise ParameterError(
                "`constants='paper'` is for Gaussian noise on moments with `adjacency REPLACE`; use `constants='exact'`"
            )

    @property
    def system(self) -> Basis:
        """The basis itself."""
        return basis_named(self.basis)

    @property
    def counted(self) -> bool:
        """Whether the number of records is the first of the measurements."""
        return self.adjacency is Adjacency.ADD_OR_REMOVE

    @property
    def rows(self) -> int:
        """Number of measurements, M."""
        return self.degree + 1 + self.counted

    def record(self, u: Float64) -> Float64:
        """What a record at each point in [-1, 1] adds to the measurements before whitening, shape (M, n)."""
        rows = powers(u, self.degree) if self.noise == "moments" else self.system.integrals(u, self.degree)
        if not self.counted:
            return rows
        return np.concatenate((np.ones((1, len(u))), rows))

    def coefficients(self) -> tuple[Float64, Float64]:
        """Coefficients of a cumulative count, as a vector times the records plus a matrix times the feature sums."""
        if self.noise == "moments":
            matrix = from_moments(self.degree)
            return matrix.sum(axis=1), -matrix
        return np.zeros(self.degree + 1), np.eye(self.degree + 1)

    def curve(self, t: Float64) -> tuple[Float64, Float64]:
        """A cumulative count at points, as a vector times the records, shape (n,), plus a matrix times the sums."""
        fixed, matrix = self.coefficients()
        functions = self.system.values(t, self.degree).T
        chord = (1 + t) / 2 if self.system.pinned else np.zeros(len(t))
        return chord + functions @ fixed, functions @ matrix


def check_degree(degree: Any, basis: str, noise: str) -> None:
    """Refuse a degree that a basis, or this kind of noise on it, does not have."""
    least = basis_named(basis).least
    largest = LARGEST_DEGREE if noise == "moments" else MAX_DEGREE
    if noise == "moments" and basis != "legendre":
        raise ParameterError(f"moments give Legendre coefficients only, not basis {quoted(basis)}")
    if is_whole(degree) and least <= degree <= largest:
        return
    lost = is_whole(degree) and largest < degree <= MAX_DEGREE
    reason = ": beyond, coefficients computed from moments lose their digits; use `noise='shaped'`" if lost else ""
    raise ParameterError(
        f"`degree` must be a whole number from {least} to {largest} for {basis} with {noise} noise, "
        f"got {quoted(degree)}{reason}"
    )
