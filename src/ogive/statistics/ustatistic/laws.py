"""Laws of the reports of every oracle, as a pairwise statistic needs them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, quoted
from ogive.local.aggregation import transform
from ogive.local.tree import MAX_TALLY

# --- What every law has
#
# A report becomes a vector phi over the domain whose mean is e_a, the unit vector of the symbol a that was randomized:
# phi = e_a + L zeta, with L public and zeta noise of mean 0 that is nearly independent from one coordinate to the next.
# A kernel's matrix A enters every variance as L'A and L'AL only, and all operations take O(k^2) time. Each law has
#
#     size           number of symbols k, with those that only fill the domain up
#     records        how many reports were added up
#     counts         S: unbiased counts of symbols, which sum to the number of reports
#     diagonal       Q: sum of phi'A phi over reports, or an unbiased estimate of its mean
#     prepare        the matrix in the oracle's coordinates
#     form           x' Sigma[h] y of each column, with Sigma[h] the sum of h_a Sigma_a, the covariances of phi
#     covariance     Sigma[h]
#     trace          tr(A Sigma[inner] A2' Sigma[outer])
#     symbol_traces  tr(A Sigma_a A2 Sigma_a) of each symbol, for symmetric matrices
#     single         covariance that one report of each symbol brings, for symmetric matrices: of x'zeta + D with
#                    y'zeta + D2, where D is what phi'A phi differs from its part of `diagonal` by
#
# Vectors in coordinates have shape (coordinates, columns): a column for each symbol, or one that stands for all.
# Proofs: docs/proofs/pairwise.md.

LARGEST_PAIRWISE = 4096  # most symbols for which a matrix over pairs is held


@dataclass(frozen=True)
class Prepared:
    """A kernel's matrix A in the coordinates of an oracle: L'A, L'A' (the same array if A is symmetric) and L'AL.

    `levels` has, of the Haar oracle, sums of `both` over pairs of nodes of one level by their exclusive or.
    """

    matrix: Float64
    left: Float64
    right: Float64
    both: Float64
    levels: tuple[Float64, ...] = ()


def check_pairwise(size: int) -> None:
    """Refuse domains whose matrices over pairs of symbols are too large."""
    if size > LARGEST_PAIRWISE:
        raise ParameterError(
            f"a matrix over pairs of {size} symbols is too large; use at most {LARGEST_PAIRWISE} bins in all, "
            f"or `method='hierarchy'` for the area under a curve, of at most {MAX_TALLY} bins"
        )


def is_symmetric(matrix: Float64) -> bool:
    """Whether a square matrix is its transpose; one row and one column show most that are not."""
    return np.array_equal(matrix[0], matrix[:, 0]) and np.array_equal(matrix, matrix.T)


def centered_diagonal(values: Float64) -> Float64:
    """Pi diag(values) Pi, with Pi = I - 11'/k, shape (k, k)."""
    mean = values / len(values)
    return np.asarray(np.diag(values) - mean[:, None] - mean + mean.mean())


# --- Reports of randomized response: phi = (e_y - b) / (1 - beta)
#
# A response is the truth with probability 1 - beta and otherwise uniform, so its law is p_a = (1 - beta) e_a + b, where
# b has all entries beta / k = 1 / (k + e^epsilon - 1).
# Source: Bell, Bellet, Gascon and Kulkarni 2020, section 3, with the covariance between matrices.


@dataclass(frozen=True)
class KrrLaw:
    """Law of the reports of `RandomizedResponse`, with `keep` = 1 - beta and `other` = beta / k."""

    size: int
    keep: float

    @property
    def other(self) -> float:
        return (1 - self.keep) / self.size

    def records(self, sums: Int64) -> int:
        return int(sums.sum())

    def counts(self, sums: Int64) -> Float64:
        return np.asarray((sums - sums.sum() * self.other) / self.keep)

    def diagonal(self, sums: Int64, prepared: Prepared) -> float:
        matrix, other = prepared.matrix, self.other
        linear = np.diagonal(matrix) - 2 * other * matrix.sum(axis=1)
        return float(sums @ linear + sums.sum() * other**2 * matrix.sum()) / self.keep**2

    def prepare(self, matrix: Float64) -> Prepared:
        right = matrix if is_symmetric(matrix) else matrix.T
        return Prepared(matrix, matrix, right, matrix)

    def form(self, weights: Float64, left: Float64, right: Float64) -> Float64:
        keep, other, n = self.keep, self.other, weights.sum()
        at_left, at_right = weights @ left, weights @ right
        all_left, all_right = left.sum(axis=0), right.sum(axis=0)
        same = weights @ (left * right)
        result: Float64 = (
            keep * (1 - keep) * same
            + n * other * (left * right).sum(axis=0)
            - keep * other * (at_left * all_right + at_right * all_left)
            - n * other**2 * all_left * all_right
        ) / keep**2
        return result

    def covariance(self, weights: Float64) -> Float64:
        d, u = self._parts(weights)
        crossed = u * self.other / self.keep**2
        return np.diag(d) - crossed[:, None] - crossed

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        first, second, keep, rare = one.both, other.both, self.keep, self.other
        inner_d, inner_u = self._parts(inner)
        outer_d, outer_u = self._parts(outer)
        v = np.full(self.size, rare / keep**2)
        spread = outer_d @ np.einsum("ij,ij,j->i", first, second, inner_d)
        left = outer_d @ ((first @ inner_u) * (second @ v) + (first @ v) * (second @ inner_u))
        right = inner_d @ ((v @ first) * (outer_u @ second) + (outer_u @ first) * (v @ second))
        low = (outer_u @ second @ v) * (v @ first @ inner_u) + (v @ second @ v) * (outer_u @ first @ inner_u)
        low += (outer_u @ second @ inner_u) * (v @ first @ v) + (v @ second @ inner_u) * (outer_u @ first @ v)
        return float(spread - left - right + low)

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        first, second, keep, rare = one.both, other.both, self.keep, self.other
        rows, sums = np.einsum("ij,ij->i", first, second), (first.sum(axis=1), second.sum(axis=1))
        own = np.diagonal(first), np.diagonal(second)
        # A p_a = (1 - beta) A e_a + (beta / k) A 1, its entry a, and p_a'A p_a
        at_own = [keep * diagonal + rare * each for diagonal, each in zip(own, sums, strict=True)]
        whole = [
            keep * mine + rare * (keep * each + rare * each.sum()) for mine, each in zip(at_own, sums, strict=True)
        ]
        squares = keep**2 * rows + keep * rare * (first @ sums[1] + second @ sums[0]) + rare**2 * (sums[0] @ sums[1])
        crossed = rare * squares + keep * at_own[0] * at_own[1]
        plain = rare**2 * rows.sum() + 2 * rare * keep * rows + keep**2 * own[0] * own[1]
        return np.asarray((plain - 2 * crossed + whole[0] * whole[1]) / keep**4)

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        # x' Sigma_a y of each symbol: the diagonal is subtracted exactly, so nothing else is left
        keep, rare = self.keep, self.other
        own_left, own_right = _own(left), _own(right)
        law_left = keep * own_left + rare * left.sum(axis=0)
        law_right = keep * own_right + rare * right.sum(axis=0)
        second_moment = keep * own_left * own_right + rare * (left * right).sum(axis=0)
        return np.asarray((second_moment - law_left * law_right) / keep**2)

    def _parts(self, weights: Float64) -> tuple[Float64, Float64]:
        """The parts d and u of Sigma[h] = diag(d) - v u' - u v', where v has all entries (beta / k) / (1 - beta)^2."""
        keep, rare, n = self.keep, self.other, weights.sum()
        return (keep * (1 - keep) * weights + n * rare) / keep**2, keep * weights + n * rare / 2


def _own(vectors: Float64) -> Float64:
    return vectors[:, 0] if vectors.shape[1] == 1 else np.diagonal(vectors)


# --- Reports of optimized unary encoding, projected on total 1: phi = e_a + Pi eta, Pi = I - 11'/k
#
# Coordinates of eta are independent with two values each, of variance v0, and v0 + 1 at the symbol itself. Unprojected
# vectors would not reproduce constants, and a kernel with a mean would bring noise of its own.
# Source: Wang, Blocki, Li and Jha 2017; the projection, its diagonal and all covariances: docs/proofs/pairwise.md.


@dataclass(frozen=True)
class UnaryLaw:
    """Law of the reports of `UnaryOracle`; `rare` is how often a bit is one that is not the symbol's."""

    size: int
    rare: float

    @property
    def variance(self) -> float:
        return self.rare * (1 - self.rare) / (0.5 - self.rare) ** 2

    def records(self, sums: Int64) -> int:
        return int(sums[-1])

    def counts(self, sums: Int64) -> Float64:
        n = int(sums[-1])
        plain = (sums[:-1] - n * self.rare) / (0.5 - self.rare)
        return np.asarray(plain + (n - plain.sum()) / self.size)

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
        return np.asarray(self._variances(weights) @ (left * right))

    def covariance(self, weights: Float64) -> Float64:
        return centered_diagonal(self._variances(weights))

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        return float(self._variances(outer) @ np.einsum("ij,ij,j->i", one.both, other.both, self._variances(inner)))

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        v, rows = self.variance, np.einsum("ij,ij->i", one.both, other.both)
        return np.asarray(v**2 * rows.sum() + 2 * v * rows + np.diagonal(one.both) * np.diagonal(other.both))

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        # a bit has two values, so eta_j^2 - Var(eta_j) is 2 eta_j where it is not the symbol's, and 0 where it is
        v, rows = self.variance, np.einsum("ij,ij->i", one.both, other.both)
        diagonal = np.diagonal(one.both) * np.diagonal(other.both)
        x, y = left + self._linear(one), right + self._linear(other)
        linear = v * np.einsum("ij,ij->j", x, y) + np.diagonal(x) * np.diagonal(y)
        quadratic = v**2 * (rows.sum() - diagonal.sum()) + 2 * v * (rows - diagonal)
        return np.asarray(linear + 2 * quadratic)

    def _variances(self, weights: Float64) -> Float64:
        return np.asarray(weights.sum() * self.variance + weights)

    def _linear(self, prepared: Prepared) -> Float64:
        own, both = np.diagonal(prepared.matrix), np.diagonal(prepared.both)
        drift = own + both
        result: Float64 = 2 * prepared.left + (2 * both - (drift - drift.mean()))[:, None]
        result[np.diag_indices(self.size)] -= 2 * both
        return result


# --- Reports of one Haar coefficient each: zeta has a coordinate for every node of a binary tree over the symbols
#
# Node p of level l has H_p = +1 on the left half of its block and -1 on the right half, |H_p|^2 = k / 2^l, and
# e_a = 1/k + sum_p H_p(a) H_p / |H_p|^2. A report of level l, which is chosen with probability pi_l, is an index j and
# a bit w; it stands for Theta_p = (c / pi_l) (-1)^<j,p> w at the nodes p of its level. Given the symbol a its mean is
# H_p(a) and its covariance diag(c^2 / pi_l) less the product of the means.
# Source: Ghazi, Kamath, Kumar, Manurangsi and Sealfon 2023 for factorizations; this form and its
# covariances: docs/proofs/pairwise.md.


@dataclass(frozen=True)
class HaarLaw:
    """Law of the reports of `HaarOracle`, of which `size` is filled up to a power of two.

    A bit is multiplied by `scale`, c = (e^epsilon + 1) / (e^epsilon - 1), and `chances` are pi of the levels.
    """

    size: int
    scale: float
    chances: tuple[float, ...]

    @property
    def depth(self) -> int:
        return self.size.bit_length() - 1

    @cached_property
    def shares(self) -> Float64:
        return np.array(self.chances)

    @cached_property
    def variances(self) -> Float64:
        scale = self.scale**2 / self.shares
        return np.repeat(scale, [1 << level for level in range(self.depth)])

    def records(self, sums: Int64) -> int:
        return int(sums[self.size - 1 :].sum())

    def theta(self, sums: Int64) -> Float64:
        """Unbiased for the sum of H_p over records, of each node, shape (size - 1,)."""
        result = np.empty(self.size - 1)
        for level, share in enumerate(self.shares):
            part = slice((1 << level) - 1, (2 << level) - 1)
            result[part] = transform(sums[part].astype(np.int64)) * (self.scale / share)
        return result

    def counts(self, sums: Int64) -> Float64:
        theta, result = self.theta(sums), np.array([self.records(sums)], dtype=np.float64)
        for level in range(self.depth):
            half = theta[(1 << level) - 1 : (2 << level) - 1]
            result = np.stack([(result + half) / 2, (result - half) / 2], axis=1).ravel()
        return result

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
        result: Float64 = weights.sum() * (self.variances @ (left * right))
        return result - weights @ (_synthesis(left) * _synthesis(right))

    def covariance(self, weights: Float64) -> Float64:
        # nodes of a level are alike, so a block is built of two of half its size
        result = np.zeros((1, 1))
        for share in self.shares[::-1]:
            each = self.scale**2 / share / (2 * len(result)) ** 2
            apart = np.full_like(result, -each)
            result = np.block([[result + each, apart], [apart, result + each]])
        return np.asarray(weights.sum() * result - centered_diagonal(weights))

    def trace(self, one: Prepared, other: Prepared, inner: Float64, outer: Float64) -> float:
        v = self.variances
        apart = inner.sum() * outer.sum() * (v @ np.einsum("ij,ij,j->i", one.both, other.both, v))
        across = inner.sum() * (outer @ _centered_product(v, one.right, other.right))
        along = outer.sum() * (inner @ _centered_product(v, one.left, other.left))
        return float(apart - across - along + _doubly_centered_product(one.matrix, other.matrix, outer, inner))

    def symbol_traces(self, one: Prepared, other: Prepared) -> Float64:
        v = self.variances
        means = [np.diagonal(each) - sum(_margins(each)) for each in (one.matrix, other.matrix)]
        crossed = _centered_product(v, one.left, other.left)
        return np.asarray(v @ np.einsum("ij,ij,j->i", one.both, other.both, v) - 2 * crossed + means[0] * means[1])

    def single(self, one: Prepared, left: Float64, other: Prepared, right: Float64) -> Float64:
        linear = np.einsum("i,ij,ij->j", self.variances, left, right)
        result = linear - _at_own(left, self.size) * _at_own(right, self.size)
        result = result + self._crossed(left, other) + self._crossed(right, one)
        scale = self.scale**4 / self.shares**3
        both = sum(each * (a @ b) for each, a, b in zip(scale, one.levels, other.levels, strict=True))
        both = both - self._level_mean(one) * self._level_mean(other)
        return np.asarray(result + both)

    def _level_mean(self, prepared: Prepared) -> float:
        """Mean of Theta' K Theta of one report, with K the matrix in coordinates: no symbol changes it."""
        return float(self.variances @ np.diagonal(prepared.both))

    def _crossed(self, vectors: Float64, prepared: Prepared) -> Float64:
        """Covariance of x'zeta with Theta' K Theta of the same report, of each symbol."""
        result = -self._level_mean(prepared) * _at_own(vectors, self.size)
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
            result = result + (self.scale / self.shares[level]) ** 2 * sign * at_node
        return result


def _analysis(values: Float64) -> Float64:
    """H_p'x / |H_p|^2 of each node and column, shape (k - 1, columns), in the order of memory that x has."""
    order: Literal["C", "F"] = "F" if values.flags.f_contiguous else "C"
    result = np.empty((len(values) - 1, values.shape[1]), order=order)
    sums, block = values, 2
    while len(sums) > 1:
        half = len(sums) // 2
        result[half - 1 : 2 * half - 1] = (sums[0::2] - sums[1::2]) / block
        sums, block = sums[0::2] + sums[1::2], 2 * block
    return result


def _synthesis(values: Float64) -> Float64:
    """Sum of H_p(a) x_p of each symbol and column, shape (k, columns)."""
    result = np.zeros((1, values.shape[1]))
    level = 1
    while level <= len(values):
        half = values[level - 1 : 2 * level - 1]
        result = np.stack([result + half, result - half], axis=1).reshape(2 * level, -1)
        level *= 2
    return result


def _at_own(values: Float64, size: int) -> Float64:
    """Sum of H_p(a) x_p over nodes, of each symbol's own column; shape (k,)."""
    if values.shape[1] == 1:
        return _synthesis(values)[:, 0]
    symbols, depth = np.arange(size), size.bit_length() - 1
    result = np.zeros(size)
    for level in range(depth):
        node = (1 << level) - 1 + (symbols >> (depth - level))
        result += (1 - 2 * (symbols >> (depth - level - 1) & 1)) * values[node, symbols]
    return result


def _correlations(both: Float64, level: int) -> Float64:
    """N(r): sum of K_pp' over nodes of one level with p xor p' = r, shape (2^level,)."""
    part = slice((1 << level) - 1, (2 << level) - 1)
    nodes = np.arange(1 << level)
    return np.asarray(np.take_along_axis(both[part, part], nodes[:, None] ^ nodes[None, :], axis=1).sum(axis=0))


def _centered_product(weights: Float64, one: Float64, other: Float64) -> Float64:
    """Sum over nodes of w_p X_pa Y_pa of each symbol, with X = L'A L H the rows of L'A less their means."""
    first, second = one.mean(axis=1), other.mean(axis=1)
    whole = np.einsum("i,ij,ij->j", weights, one, other)
    return np.asarray(whole - (weights * second) @ one - (weights * first) @ other + weights @ (first * second))


def _margins(matrix: Float64) -> tuple[Float64, Float64]:
    """What a row and a column share of a matrix, so that it is doubly centered without both; shape (k,) each."""
    half = matrix.mean() / 2
    return matrix.mean(axis=1) - half, matrix.mean(axis=0) - half


def _doubly_centered_product(one: Float64, other: Float64, rows: Float64, columns: Float64) -> float:
    """Weighted sum of the products of two doubly centered matrices."""
    (first_row, first_column), (second_row, second_column) = _margins(one), _margins(other)
    result = rows @ np.einsum("ij,ij,j->i", one, other, columns)
    for matrix, row, column in ((one, second_row, second_column), (other, first_row, first_column)):
        result -= (rows * row) @ (matrix @ columns) + rows @ (matrix @ (column * columns))
    alone = rows.sum() * (columns @ (first_column * second_column))
    result += columns.sum() * (rows @ (first_row * second_row)) + alone
    result += (rows @ first_row) * (columns @ second_column) + (columns @ first_column) * (rows @ second_row)
    return float(result)


ReportLaw = KrrLaw | UnaryLaw | HaarLaw


def law_of(oracle: Any) -> ReportLaw:
    """The law of an oracle's reports, by the oracle's name."""
    name: Any = getattr(oracle, "name", None)
    if name not in ("krr", "unary", "haar"):
        raise ParameterError(f"means over pairs need reports of krr, unary, haar, got {quoted(name)}")
    check_pairwise(oracle.size)
    if name == "krr":
        return KrrLaw(oracle.size, float(oracle.keep))
    if name == "unary":
        return UnaryLaw(oracle.size, float(oracle.chance))
    return HaarLaw(oracle.padded, oracle.scale, tuple(oracle.level_chances.tolist()))
