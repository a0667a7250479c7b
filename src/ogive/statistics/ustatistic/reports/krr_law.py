"""Reports of randomized response: phi = (e_y - b) / (1 - beta).

A response is the truth with probability 1 - beta and otherwise uniform, so its law is p_a = (1 - beta) e_a + b, where
b has all entries beta / k = 1 / (k + e^epsilon - 1).

Source: Bell, Bellet, Gascon and Kulkarni 2020, section 3, with the covariance between matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.statistics.ustatistic.reports.base import Prepared, is_symmetric


@dataclass(frozen=True)
class KrrLaw:
    """Law of the reports of `RandomizedResponse`."""

    size: int
    kept: float
    """1 - beta: how often a response is the truth for certain."""

    @staticmethod
    def of(oracle: Any) -> KrrLaw:
        """The law of an oracle's reports."""
        return KrrLaw(oracle.size, float(oracle.keep))

    @property
    def other(self) -> float:
        """The share beta / k: how often a response is any symbol that is not the truth."""
        return (1 - self.kept) / self.size

    def records(self, sums: Int64) -> int:
        """How many reports were added up."""
        return int(sums.sum())

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of symbols, shape (k,)."""
        found: Float64 = (sums - sums.sum() * self.other) / self.kept
        return found

    def diagonal(self, sums: Int64, prepared: Prepared) -> float:
        """Sum of phi'A phi over the responses, exactly."""
        matrix, other = prepared.matrix, self.other
        linear = np.diagonal(matrix) - 2 * other * matrix.sum(axis=1)
        return float(sums @ linear + sums.sum() * other**2 * matrix.sum()) / self.kept**2

    def prepare(self, matrix: Float64) -> Prepared:
        """Coordinates are the symbols themselves."""
        right = matrix if is_symmetric(matrix) else matrix.T
        return Prepared(matrix, matrix, right, matrix)

    def form(self, weights: Float64, left: Float64, right: Float64) -> Float64:
        """The form x' Sigma[h] y of each column."""
        kept, other, n = self.kept, self.other, weights.sum()
        at_left, at_right = weights @ left, weights @ right
        all_left, all_right = left.sum(axis=0), right.sum(axis=0)
        same = weights @ (left * right)
        found: Float64 = (
            kept * (1 - kept) * same
            + n * other * (left * right).sum(axis=0)
            - kept * other * (at_left * all_right + at_right * all_left)
            - n * other**2 * all_left * all_right
        ) / kept**2
        return found

    def covariance(self, weights: Float64) -> Float64:
        """The whole of Sigma[h]."""
        d, u = self._parts(weights)
        crossed = u * self.other / self.kept**2
        return np.diag(d) - crossed[:, None] - crossed

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        """tr(A Sigma[inner] A2' Sigma[outer]), as Sigma is diagonal less v u' + u v'."""
        first, second, kept, rare = one.both, other.both, self.kept, self.other
        inner_d, inner_u = self._parts(inner)
        outer_d, outer_u = self._parts(outer)
        v = np.full(self.size, rare / kept**2)
        spread = outer_d @ np.einsum("ij,ij,j->i", first, second, inner_d)
        left = outer_d @ ((first @ inner_u) * (second @ v) + (first @ v) * (second @ inner_u))
        right = inner_d @ ((v @ first) * (outer_u @ second) + (outer_u @ first) * (v @ second))
        low = (outer_u @ second @ v) * (v @ first @ inner_u) + (v @ second @ v) * (outer_u @ first @ inner_u)
        low += (outer_u @ second @ inner_u) * (v @ first @ v) + (v @ second @ inner_u) * (outer_u @ first @ v)
        return float(spread - left - right + low)

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        """tr(A Sigma_a A2 Sigma_a) of each symbol."""
        first, second, kept, rare = one.both, other.both, self.kept, self.other
        rows, sums = np.einsum("ij,ij->i", first, second), (first.sum(axis=1), second.sum(axis=1))
        own = np.diagonal(first), np.diagonal(second)
        # A p_a = (1 - beta) A e_a + (beta / k) A 1, its entry a, and p_a'A p_a
        at_own = [kept * diagonal + rare * each for diagonal, each in zip(own, sums, strict=True)]
        whole = [
            kept * mine + rare * (kept * each + rare * each.sum()) for mine, each in zip(at_own, sums, strict=True)
        ]
        squares = kept**2 * rows + kept * rare * (first @ sums[1] + second @ sums[0]) + rare**2 * (sums[0] @ sums[1])
        crossed = rare * squares + kept * at_own[0] * at_own[1]
        plain = rare**2 * rows.sum() + 2 * rare * kept * rows + kept**2 * own[0] * own[1]
        found: Float64 = (plain - 2 * crossed + whole[0] * whole[1]) / kept**4
        return found

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        """The form x' Sigma_a y of each symbol: the diagonal is subtracted exactly, so nothing else is left."""
        kept, rare = self.kept, self.other
        own_left, own_right = _own(left), _own(right)
        law_left = kept * own_left + rare * left.sum(axis=0)
        law_right = kept * own_right + rare * right.sum(axis=0)
        second_moment = kept * own_left * own_right + rare * (left * right).sum(axis=0)
        found: Float64 = (second_moment - law_left * law_right) / kept**2
        return found

    def _parts(self, weights: Float64) -> tuple[Float64, Float64]:
        """The parts d and u of Sigma[h] = diag(d) - v u' - u v', where v has all entries (beta / k) / (1 - beta)^2."""
        kept, rare, n = self.kept, self.other, weights.sum()
        return (kept * (1 - kept) * weights + n * rare) / kept**2, kept * weights + n * rare / 2


def _own(vectors: Float64) -> Float64:
    """Entry a of the column of symbol a."""
    return vectors[:, 0] if vectors.shape[1] == 1 else np.diagonal(vectors)
