"""Reports of one Haar coefficient each: zeta has a coordinate for every node of a binary tree over the symbols.

Node p of level l has H_p = +1 on the left half of its block and -1 on the right half, |H_p|^2 = k / 2^l, and
e_a = 1/k + sum_p H_p(a) H_p / |H_p|^2. A report of level l, which is asked with probability pi_l, is an index j and
a bit w; it stands for Theta_p = (c / pi_l) (-1)^<j,p> w at the nodes p of its level. Given the symbol a its mean is
H_p(a) and its covariance diag(c^2 / pi_l) less the product of the means.

Source: Ghazi, Kamath, Kumar, Manurangsi and Sealfon 2023 for factorizations; this form and its
covariances: docs/proofs/pairwise.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.statistics.ustatistic.reports.base import Prepared, centered_diagonal, is_symmetric


@dataclass(frozen=True)
class HaarLaw:
    """Law of the reports of `HaarOracle`, of which `size` is filled up to a power of two."""

    size: int
    scale: float
    """What a bit is multiplied with, c = (e^epsilon + 1) / (e^epsilon - 1)."""
    chances: tuple[float, ...]
    """How often each level is asked, pi."""

    @staticmethod
    def of(oracle: Any) -> HaarLaw:
        """The law of an oracle's reports."""
        return HaarLaw(oracle.padded, oracle.scale, tuple(oracle.level_chances.tolist()))

    @property
    def depth(self) -> int:
        """Number of levels."""
        return self.size.bit_length() - 1

    @cached_property
    def shares(self) -> Float64:
        """How often each level is asked, shape (depth,)."""
        return np.array(self.chances)

    @cached_property
    def variances(self) -> Float64:
        """c^2 / pi of each node, shape (size - 1,)."""
        scale = self.scale**2 / self.shares
        return np.repeat(scale, [1 << level for level in range(self.depth)])

    def records(self, sums: Int64) -> int:
        """How many reports were added up."""
        return int(sums[self.size - 1 :].sum())

    def theta(self, sums: Int64) -> Float64:
        """Unbiased for the sum of H_p over records, of each node, shape (size - 1,)."""
        found = np.empty(self.size - 1)
        for level, share in enumerate(self.shares):
            part = slice((1 << level) - 1, (2 << level) - 1)
            found[part] = _walsh_hadamard(sums[part]) * (self.scale / share)
        return found

    def counts(self, sums: Int64) -> Float64:
        """Unbiased counts of symbols, shape (size,)."""
        theta, found = self.theta(sums), np.array([self.records(sums)], dtype=np.float64)
        for level in range(self.depth):
            half = theta[(1 << level) - 1 : (2 << level) - 1]
            found = np.stack([(found + half) / 2, (found - half) / 2], axis=1).ravel()
        return found

    def diagonal(self, sums: Int64, prepared: Prepared) -> float:
        """Unbiased for the mean of the sum of phi'A phi: with the constant coordinate it is linear in Theta."""
        n = self.records(sums)
        mean = float(prepared.matrix.mean())
        linear = prepared.left.mean(axis=1) @ self.theta(sums)
        return float(n * mean + 2 * linear + n * (self.variances @ np.diagonal(prepared.both)))

    def prepare(self, matrix: Float64) -> Prepared:
        """Coordinates are nodes; column p of L is H_p / |H_p|^2."""
        left = _analysis(matrix)
        right = left if is_symmetric(matrix) else _analysis(matrix.T)
        both = _analysis(left.T).T
        return Prepared(matrix, left, right, both, tuple(_correlations(both, level) for level in range(self.depth)))

    def form(self, weights: Float64, left: Float64, right: Float64) -> Float64:
        """The form x' Sigma[h] y of each column."""
        found: Float64 = weights.sum() * (self.variances @ (left * right))
        return found - weights @ (_synthesis(left) * _synthesis(right))

    def covariance(self, weights: Float64) -> Float64:
        """The whole of Sigma[h]: nodes of a level are alike, so a block is built of two of half its size."""
        found = np.zeros((1, 1))
        for share in self.shares[::-1]:
            each = self.scale**2 / share / (2 * len(found)) ** 2
            apart = np.full_like(found, -each)
            found = np.block([[found + each, apart], [apart, found + each]])
        whole: Float64 = weights.sum() * found - centered_diagonal(weights)
        return whole

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        """tr(A Sigma[inner] A2' Sigma[outer])."""
        v = self.variances
        apart = inner.sum() * outer.sum() * (v @ np.einsum("ij,ij,j->i", one.both, other.both, v))
        across = inner.sum() * (outer @ _centered_product(v, one.right, other.right))
        along = outer.sum() * (inner @ _centered_product(v, one.left, other.left))
        return float(apart - across - along + _doubly_centered_product(one.matrix, other.matrix, outer, inner))

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        """tr(A Sigma_a A2 Sigma_a) of each symbol."""
        v = self.variances
        means = [np.diagonal(each) - sum(_margins(each)) for each in (one.matrix, other.matrix)]
        crossed = _centered_product(v, one.left, other.left)
        found: Float64 = v @ np.einsum("ij,ij,j->i", one.both, other.both, v) - 2 * crossed + means[0] * means[1]
        return found

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        """Linear and quadratic noise of one report of each symbol."""
        linear = np.einsum("i,ij,ij->j", self.variances, left, right) - _at_own(left, self.size) * _at_own(
            right, self.size
        )
        found = linear + self._crossed(left, other) + self._crossed(right, one)
        scale = self.scale**4 / self.shares**3
        both = sum(each * (a @ b) for each, a, b in zip(scale, one.levels, other.levels, strict=True))
        both = both - self._level_mean(one) * self._level_mean(other)
        total: Float64 = found + both
        return total

    def _level_mean(self, prepared: Prepared) -> float:
        """Mean of Theta' K Theta of one report, with K the matrix in coordinates: no symbol changes it."""
        return float(self.variances @ np.diagonal(prepared.both))

    def _crossed(self, vectors: Float64, prepared: Prepared) -> Float64:
        """Covariance of x'zeta with Theta' K Theta of the same report, of each symbol."""
        found = -self._level_mean(prepared) * _at_own(vectors, self.size)
        symbols = np.arange(self.size)
        for level, sums in enumerate(prepared.levels):
            nodes = np.arange(1 << level)
            kernel = sums[nodes[:, None] ^ nodes[None, :]]
            part = vectors[(1 << level) - 1 : (2 << level) - 1]
            if part.shape[1] == 1:
                at_node = np.repeat(kernel @ part[:, 0], self.size >> level)
            else:
                blocks = part.reshape(len(nodes), len(nodes), -1)
                at_node = np.einsum("pqs,pq->qs", blocks, kernel).ravel()
            sign = 1 - 2 * (symbols >> (self.depth - level - 1) & 1)
            found = found + (self.scale / self.shares[level]) ** 2 * sign * at_node
        return found


def _walsh_hadamard(values: Int64) -> Int64:
    """Sum of (-1)^<j,p> x_j of each p."""
    found = values.astype(np.int64)
    step = 1
    while step < len(found):
        pairs = found.reshape(-1, 2, step)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        step *= 2
    return found


def _analysis(values: Float64) -> Float64:
    """H_p'x / |H_p|^2 of each node and column, shape (k - 1, columns), in the order of memory that x has."""
    order: Literal["C", "F"] = "F" if values.flags.f_contiguous else "C"
    found = np.empty((len(values) - 1, values.shape[1]), order=order)
    sums, block = values, 2
    while len(sums) > 1:
        half = len(sums) // 2
        found[half - 1 : 2 * half - 1] = (sums[0::2] - sums[1::2]) / block
        sums, block = sums[0::2] + sums[1::2], 2 * block
    return found


def _synthesis(values: Float64) -> Float64:
    """Sum of H_p(a) x_p of each symbol and column, shape (k, columns)."""
    found = np.zeros((1, values.shape[1]))
    level = 1
    while level <= len(values):
        half = values[level - 1 : 2 * level - 1]
        found = np.stack([found + half, found - half], axis=1).reshape(2 * level, -1)
        level *= 2
    return found


def _at_own(values: Float64, size: int) -> Float64:
    """Sum of H_p(a) x_p over nodes, of each symbol's own column; shape (k,)."""
    if values.shape[1] == 1:
        return _synthesis(values)[:, 0]
    symbols, depth = np.arange(size), size.bit_length() - 1
    found = np.zeros(size)
    for level in range(depth):
        node = (1 << level) - 1 + (symbols >> (depth - level))
        found += (1 - 2 * (symbols >> (depth - level - 1) & 1)) * values[node, symbols]
    return found


def _correlations(both: Float64, level: int) -> Float64:
    """N(r): sum of K_pp' over nodes of one level with p xor p' = r, shape (2^level,)."""
    part = slice((1 << level) - 1, (2 << level) - 1)
    nodes = np.arange(1 << level)
    found: Float64 = np.take_along_axis(both[part, part], nodes[:, None] ^ nodes[None, :], axis=1).sum(axis=0)
    return found


def _centered_product(weights: Float64, one: Float64, other: Float64) -> Float64:
    """Sum over nodes of w_p X_pa Y_pa of each symbol, with X = L'A L H the rows of L'A less their means."""
    first, second = one.mean(axis=1), other.mean(axis=1)
    whole = np.einsum("i,ij,ij->j", weights, one, other)
    found: Float64 = whole - (weights * second) @ one - (weights * first) @ other + weights @ (first * second)
    return found


def _margins(matrix: Float64) -> tuple[Float64, Float64]:
    """What a row and a column share of a matrix, so that it is doubly centered without both; shape (k,) each."""
    half = matrix.mean() / 2
    return matrix.mean(axis=1) - half, matrix.mean(axis=0) - half


def _doubly_centered_product(one: Float64, other: Float64, rows: Float64, columns: Float64) -> float:
    """Weighted sum of the products of two doubly centered matrices."""
    (first_row, first_column), (second_row, second_column) = _margins(one), _margins(other)
    found = rows @ np.einsum("ij,ij,j->i", one, other, columns)
    for matrix, row, column in ((one, second_row, second_column), (other, first_row, first_column)):
        found -= (rows * row) @ (matrix @ columns) + rows @ (matrix @ (column * columns))
    found += columns.sum() * (rows @ (first_row * second_row)) + rows.sum() * (columns @ (first_column * second_column))
    found += (rows @ first_row) * (columns @ second_column) + (columns @ first_column) * (rows @ second_row)
    return float(found)
