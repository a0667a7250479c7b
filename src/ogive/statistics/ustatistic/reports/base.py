"""What reports of one oracle look like to a pairwise statistic.

Every report is turned into a vector phi of the length of the domain whose mean is e_a, the unit vector of the symbol a
that was randomized. What differs from one oracle to the next is the covariance Sigma_a of phi. It is simple in
the right coordinates: phi = e_a + L zeta, with L public and zeta noise of mean 0 that is nearly independent from
one coordinate to the next. A kernel's matrix A enters every variance as L'A and L'AL only.

All operations below take O(k^2) time. Proofs: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.local.levels import MAX_TALLY

LARGEST_PAIRWISE = 4096
"""Most symbols for which a matrix over pairs is held."""


@dataclass(frozen=True)
class Prepared:
    """A kernel's matrix in the coordinates of an oracle.

    Fields:
        matrix: A, shape (k, k).
        left: L'A, shape (coordinates, k).
        right: L'A', shape (coordinates, k); the same array where A is symmetric.
        both: L'AL, shape (coordinates, coordinates).
        levels: Of the Haar oracle, sums of `both` over pairs of nodes of one level by their exclusive or.
    """

    matrix: Float64
    left: Float64
    right: Float64
    both: Float64
    levels: tuple[Float64, ...] = ()


class ReportLaw(Protocol):
    """Interface; frozen plain data with no subclass.

    Vectors in coordinates have shape (coordinates, columns); where a column belongs to each symbol there are k of
    them, or one that stands for all.
    """

    @property
    def size(self) -> int:
        """Number of symbols, k, with those that only fill the domain up."""
        ...

    def records(self, sums: Int64) -> int:
        """How many reports were added up."""
        ...

    def counts(self, sums: Int64) -> Float64:
        """S: unbiased counts of symbols, shape (k,); they sum to the number of reports."""
        ...

    def diagonal(self, sums: Int64, prepared: Prepared) -> float:
        """Q: sum of phi'A phi over reports, or an unbiased estimate of its mean."""
        ...

    def prepare(self, matrix: Float64) -> Prepared:
        """The matrix in this oracle's coordinates."""
        ...

    def form(self, weights: Float64, left: Float64, right: Float64) -> Float64:
        """The form x' Sigma[h] y of each column, with Sigma[h] the sum of h_a Sigma_a; shape (columns,)."""
        ...

    def covariance(self, weights: Float64) -> Float64:
        """Sigma[h], the sum of h_a Sigma_a over symbols, shape (k, k)."""
        ...

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        """tr(A Sigma[inner] A2' Sigma[outer])."""
        ...

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        """tr(A Sigma_a A2 Sigma_a) of each symbol, for symmetric matrices; shape (k,)."""
        ...

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        """Covariance that one report of each symbol brings, for symmetric matrices; shape (k,).

        It is that of x'zeta + D with y'zeta + D2, where D is what phi'A phi differs from its part of `diagonal` by.
        """
        ...


def check_pairwise(size: int) -> None:
    """Refuse domains whose matrices over pairs of symbols are too large.

    Raises:
        ParameterError: there are more than `LARGEST_PAIRWISE` symbols.
    """
    if size > LARGEST_PAIRWISE:
        raise ParameterError(
            f"a matrix over pairs of {size} symbols is too large; use at most {LARGEST_PAIRWISE} bins in all, "
            f"or `method='hierarchy'` for the area under a curve, of at most {MAX_TALLY} bins"
        )


def is_symmetric(matrix: Float64) -> bool:
    """Whether a square matrix is its transpose; one row and one column tell most that are not."""
    return np.array_equal(matrix[0], matrix[:, 0]) and np.array_equal(matrix, matrix.T)


def centered_diagonal(values: Float64) -> Float64:
    """Pi diag(values) Pi, with Pi = I - 11'/k, shape (k, k)."""
    mean = values / len(values)
    found: Float64 = np.diag(values) - mean[:, None] - mean + mean.mean()
    return found
