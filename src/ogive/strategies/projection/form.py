"""The form of a projection: what is measured of each record, whatever the noise and however many bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64
from ogive.checks import among, is_whole
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.strategies.projection.bases import Basis, basis_named
from ogive.strategies.projection.moments import LARGEST_DEGREE, from_moments, powers

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

    Raises:
        ParameterError: naming the field and what is allowed.
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
    """Refuse a degree that a basis, or this kind of noise on it, does not have.

    Raises:
        ParameterError: it is no whole number in the range of both, or the noise is not for that basis.
    """
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
