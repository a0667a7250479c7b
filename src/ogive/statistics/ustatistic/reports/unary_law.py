"""Reports of optimized unary encoding, projected on total 1: phi = e_a + Pi eta, Pi = I - 11'/k.

Coordinates of eta are independent with two values each, of variance v0, and v0 + 1 at the symbol itself. Unprojected
vectors would not reproduce constants, and a kernel with a mean would bring noise of its own.

Source: Wang, Blocki, Li and Jha 2017; the projection, its diagonal and all covariances: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.statistics.ustatistic.reports.base import Prepared, centered_diagonal, is_symmetric


@dataclass(frozen=True)
class UnaryLaw:
    """Law of the reports of `UnaryOracle`."""

    size: int
    rare: float
    """How often a bit is one that is not the symbol's, q; the symbol's own is a fair coin."""

    @staticmethod
    def of(oracle: Any) -> UnaryLaw:
        """The law of an oracle's reports."""
        return UnaryLaw(oracle.size, float(oracle.chance))

    @property
    def variance(self) -> float:
        """v0: of a coordinate that is not the symbol's."""
        return self.rare * (1 - self.rare) / (0.5 - self.rare) ** 2

    def records(self, sums: Int64) -> int:
        """How many reports were added up."""
        return int(sums[-1])

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of symbols, shape (k,)."""
        n = int(sums[-1])
        plain = (sums[:-1] - n * self.rare) / (0.5 - self.rare)
        found: Float64 = plain + (n - plain.sum()) / self.size
        return found

    def diagonal(self, sums: Int64, prepared: Prepared) -> float:
        """Unbiased for the mean of the sum of phi'A phi: it is linear in the true counts."""
        both = np.diagonal(prepared.both)
        return float(
            self.counts(sums) @ (np.diagonal(prepared.matrix) + both) + int(sums[-1]) * self.variance * both.sum()
        )

    def prepare(self, matrix: Float64) -> Prepared:
        """Coordinates are bits; L is Pi."""
        left = matrix - matrix.mean(axis=0)
        both = left - left.mean(axis=1)[:, None]
        right = left if is_symmetric(matrix) else matrix.T - matrix.mean(axis=1)
        return Prepared(matrix, left, right, both)

    def form(self, weights: Float64, left: Float64, right: Float64) -> Float64:
        """The form x' Sigma[h] y of each column."""
        found: Float64 = self._variances(weights) @ (left * right)
        return found

    def covariance(self, weights: Float64) -> Float64:
        """The whole of Sigma[h]."""
        return centered_diagonal(self._variances(weights))

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        """tr(A Sigma[inner] A2' Sigma[outer])."""
        return float(self._variances(outer) @ np.einsum("ij,ij,j->i", one.both, other.both, self._variances(inner)))

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        """tr(A Sigma_a A2 Sigma_a) of each symbol."""
        v, rows = self.variance, np.einsum("ij,ij->i", one.both, other.both)
        found: Float64 = v**2 * rows.sum() + 2 * v * rows + np.diagonal(one.both) * np.diagonal(other.both)
        return found

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        """Linear and quadratic noise of one report of each symbol.

        A bit has two values, so eta_j^2 - Var(eta_j) is 2 eta_j where it is not the symbol's, and 0 where it is.
        """
        v, rows = self.variance, np.einsum("ij,ij->i", one.both, other.both)
        diagonal = np.diagonal(one.both) * np.diagonal(other.both)
        x, y = left + self._linear(one), right + self._linear(other)
        linear = v * np.einsum("ij,ij->j", x, y) + np.diagonal(x) * np.diagonal(y)
        quadratic = v**2 * (rows.sum() - diagonal.sum()) + 2 * v * (rows - diagonal)
        found: Float64 = linear + 2 * quadratic
        return found

    def _variances(self, weights: Float64) -> Float64:
        found: Float64 = weights.sum() * self.variance + weights
        return found

    def _linear(self, prepared: Prepared) -> Float64:
        """Coefficients of eta in phi'A phi less its part of the diagonal, a column for each symbol."""
        own, both = np.diagonal(prepared.matrix), np.diagonal(prepared.both)
        drift = own + both
        found: Float64 = 2 * prepared.left + (2 * both - (drift - drift.mean()))[:, None]
        found[np.diag_indices(self.size)] -= 2 * both
        return found
