"""Means of kernels over pairs of records from noisy vectors, with exact variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of
from ogive.errors import DataError, ParameterError, quoted
from ogive.statistics.ustatistic.reports.laws import Prepared, ReportLaw, law_of

# --- Estimated means with their errors


@dataclass(frozen=True)
class Means:
    """Estimated U-statistics of m kernels from the same reports.

    Fields:
        values: Unbiased estimates, shape (m,); noise may take them out of the kernels' ranges.
        covariance: Of the randomization given the records, shape (m, m).
        sampling: Of the records given their distribution, shape (m, m), so that `covariance + sampling` is the error
            against the population; None where it is not estimated.
        quantization: Estimated bound of the error that binning makes, shape (m,): root of the mean of
            the squared half-ranges of each kernel over pairs of bins; 0 where no spreads were given.
        records: Number of reports.
    """

    values: Float64
    covariance: Float64
    sampling: Float64 | None
    quantization: Float64
    records: int


# --- Exact covariances of estimated means
#
# With S the sum of the reports' vectors phi and Q the estimated diagonal, a mean is (S'AS - Q) / (n (n - 1)). Its error
# given the records is a sum over reports (linear, and quadratic in one report) plus a sum over pairs of different
# reports, which is uncorrelated with it. Each part is a sum over counts of symbols, so time is O(k^2).
# Proofs: docs/proofs/pairwise.md.


def estimated(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, plausible: Float64) -> Float64:
    """Covariance of the randomization, from the reports alone.

    The linear part is of second order in the counts. Unbiased counts make it too large by four times the
    sum over pairs, on average, which is taken off. Plausible counts are spread more evenly than the records where noise
    is large, and the errors of smooth kernels look too small then; they give what the linear part is at least.

    Args:
        law: Of the reports.
        prepared: Symmetric matrices in the law's coordinates.
        counts: Unbiased counts of symbols, shape (k,).
        plausible: Counts that are at least 0, with the same total.

    Returns:
        Covariances, shape (m, m), a positive semidefinite matrix.
    """
    paired, own = _paired(law, prepared, plausible)
    least = _linear(law, prepared, plausible, plausible)
    alone = _linear(law, prepared, counts, plausible)
    return least + _excess(alone, 4 * paired + least) + 2 * (paired - own)


def _paired(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64) -> tuple[Float64, Float64]:
    """What all pairs of reports bring, and what pairs of a report with itself would, shape (m, m) each."""
    n = float(counts.sum())
    scale = (n * (n - 1)) ** 2

    def paired(i: int, j: int) -> float:
        return law.trace(prepared[i], prepared[j], counts, counts) / scale

    def own(i: int, j: int) -> float:
        return float(counts @ law.symbol_traces(prepared[i], prepared[j])) / scale

    return symmetric(len(prepared), paired), symmetric(len(prepared), own)


def _linear(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, weights: Float64) -> Float64:
    """Covariance of single reports, of which `weights` have each symbol, among others with `counts`."""
    n = float(weights.sum())
    others = [2 * ((each.left @ counts)[:, None] - each.left) for each in prepared]

    def alone(i: int, j: int) -> float:
        return float(weights @ law.single(prepared[i], others[i], prepared[j], others[j])) / (n * (n - 1)) ** 2

    return symmetric(len(prepared), alone)


def _excess(found: Float64, expected: Float64) -> Float64:
    """The covariance nearest to the difference of two, in scales that both give: its own may vanish in one place."""
    scale = np.sqrt(np.diagonal(found) + np.diagonal(expected))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh((found - expected) / np.outer(scale, scale))
    nearest: Float64 = (vectors * np.maximum(values, 0)) @ vectors.T * np.outer(scale, scale)
    return (nearest + nearest.T) / 2


def two_sample_estimated(
    law: ReportLaw,
    prepared: Sequence[Prepared],
    counts: tuple[Float64, Float64],
    plausible: tuple[Float64, Float64],
) -> Float64:
    """Covariance of the randomization of two-sample means, from the reports alone; see `estimated`.

    Returns:
        Covariances, shape (m, m), a positive semidefinite matrix.
    """
    both = _across(law, prepared, plausible)
    least = _sides(law, prepared, plausible, plausible)
    return least + _excess(_sides(law, prepared, counts, plausible), 2 * both + least) + both


def _sides(
    law: ReportLaw,
    prepared: Sequence[Prepared],
    counts: tuple[Float64, Float64],
    weights: tuple[Float64, Float64],
) -> Float64:
    """Covariance of single reports of either class, of which `weights` have each symbol, against the other's counts."""
    positive, negative = weights
    n_positive, n_negative = positive.sum(), negative.sum()
    rows = [(each.left @ counts[1] / n_negative)[:, None] for each in prepared]
    columns = [(each.right @ counts[0] / n_positive)[:, None] for each in prepared]

    def sides(i: int, j: int) -> float:
        first = law.form(positive, rows[i], rows[j])[0] / n_positive**2
        return float(first + law.form(negative, columns[i], columns[j])[0] / n_negative**2)

    return symmetric(len(prepared), sides)


def _across(law: ReportLaw, prepared: Sequence[Prepared], counts: tuple[Float64, Float64]) -> Float64:
    """What pairs of a report of each class bring, shape (m, m)."""
    positive, negative = counts
    pairs = positive.sum() * negative.sum()

    def both(i: int, j: int) -> float:
        return float(law.trace(prepared[i], prepared[j], negative, positive) / pairs**2)

    return symmetric(len(prepared), both)


def hoeffding(matrices: Sequence[Float64], distribution: Float64, records: float) -> Float64:
    """Covariance of U-statistics of records that are drawn from a distribution over symbols.

    Source: Hoeffding 1948: 2 (2 (n - 2) zeta_1 + zeta_2) / (n (n - 1)).

    Args:
        matrices: Symmetric, each of shape (k, k).
        distribution: Shares of symbols, shape (k,), which sum to 1.
        records: How many, at least 2.

    Returns:
        Covariances, shape (m, m).
    """
    given = [matrix @ distribution for matrix in matrices]
    means = [distribution @ each for each in given]

    def pair(i: int, j: int) -> float:
        first = distribution @ (given[i] * given[j]) - means[i] * means[j]
        second = distribution @ (matrices[i] * matrices[j]) @ distribution - means[i] * means[j]
        return float(2 * (2 * (records - 2) * first + second) / (records * (records - 1)))

    return symmetric(len(matrices), pair)


def two_sample_hoeffding(
    matrices: Sequence[Float64], positive: Float64, negative: Float64, n_positive: float, n_negative: float
) -> Float64:
    """Covariance of two-sample U-statistics of records that are drawn from one distribution for each class.

    Args:
        matrices: Rows are of the positive class, each of shape (k, k).
        positive: Shares of symbols in the positive class, shape (k,).
        negative: Shares of symbols in the negative class, shape (k,).
        n_positive: Records of the positive class.
        n_negative: Records of the negative class.

    Returns:
        Covariances, shape (m, m).
    """
    rows = [matrix @ negative for matrix in matrices]
    columns = [positive @ matrix for matrix in matrices]
    means = [positive @ each for each in rows]

    def pair(i: int, j: int) -> float:
        product = means[i] * means[j]
        first = positive @ (rows[i] * rows[j]) - product
        second = negative @ (columns[i] * columns[j]) - product
        both = positive @ (matrices[i] * matrices[j]) @ negative - product
        return float(((n_negative - 1) * first + (n_positive - 1) * second + both) / (n_positive * n_negative))

    return symmetric(len(matrices), pair)


def symmetric(size: int, pair: Callable[[int, int], float]) -> Float64:
    """A symmetric matrix from its entries on and above the diagonal, shape (size, size)."""
    found = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            found[i, j] = found[j, i] = pair(i, j)
    return found


# --- Means over all pairs of records
#
# Every report gives a vector phi with the unit vector of its symbol as mean, so the mean of phi_i'A phi_j over pairs of
# different reports is unbiased for the U-statistic of the binned records. It needs the sums of the reports alone: with
# S the sum of all phi, pairs of different reports add up to S'AS less the diagonal.
#
# Source: Bell, Bellet, Gascon and Kulkarni 2020, Algorithm 1; Wang, Blocki, Li and Jha 2017.


def means(
    oracle: Any,
    sums: Int64,
    matrices: Sequence[ArrayLike] | Float64,
    spreads: Sequence[ArrayLike] | Float64 | None = None,
) -> Means:
    """Estimate U-statistics of some kernels from one set of reports, in O(k^2) after the reports are added up.

    Estimates are unbiased for the binned records, whatever their distribution, and constants come out exactly. Errors
    are exact covariances at estimated counts.

    Args:
        oracle: "krr", "unary" or "haar".
        sums: Of reports, of the oracle's shape.
        matrices: Kernels between symbols, each of shape (k, k) and symmetric.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Privacy: post-processing of randomized reports.
    """
    law = law_of(oracle)
    kernels = checked_matrices(law, oracle, matrices, symmetric=True)
    n = law.records(sums)
    if n < 2:
        raise DataError(f"a mean over pairs needs at least 2 reports, got {n}")
    counts = law.counts(sums)
    distribution = on_simplex(counts[: oracle.size] / n, law.size)
    values, prepared = [], []
    for kernel in kernels:
        middle = (kernel.max() + kernel.min()) / 2  # constants cost nothing and need not be rounded
        ready = law.prepare(kernel - middle)
        whole = counts @ ready.matrix @ counts - law.diagonal(sums, ready)
        values.append(middle + whole / (n * (n - 1)))
        prepared.append(ready)
    covariance = estimated(law, prepared, counts, n * distribution)
    sampling = hoeffding([each.matrix for each in prepared], distribution, n)
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        for place, spread in enumerate(checked_matrices(law, oracle, spreads, symmetric=True)):
            whole = counts @ spread @ counts - law.diagonal(sums, law.prepare(spread))
            quantization[place] = math.sqrt(max(float(whole), 0.0) / (n * (n - 1)))
    return Means(np.array(values), covariance, sampling, quantization, n)


def checked_matrices(
    law: ReportLaw, oracle: Any, matrices: Sequence[ArrayLike] | Float64, *, symmetric: bool
) -> list[Float64]:
    """Matrices over the law's symbols.

    Symbols that only fill the domain up to a power of two never occur. They repeat the last one, so that constants stay
    constant.
    """
    found = []
    for each in matrices:
        matrix = array_of(each, np.float64)
        if matrix.shape not in ((oracle.size, oracle.size), (law.size, law.size)):
            raise ParameterError(f"a matrix must be of shape ({oracle.size}, {oracle.size}), got {matrix.shape}")
        if not math.isfinite(matrix.max() - matrix.min()):
            raise ParameterError("a matrix must hold finite numbers")
        uneven = matrix - matrix.T if symmetric else np.zeros((1, 1))
        most = max(float(uneven.max()), 0.0)  # of the difference and of its transpose
        if most > 1e-9 * max(float(matrix.max()), -float(matrix.min())):
            raise ParameterError("a kernel must be symmetric: replace f(x, y) by (f(x, y) + f(y, x)) / 2")
        if most:
            matrix = matrix - uneven / 2
        missing = law.size - len(matrix)
        found.append(np.pad(matrix, ((0, missing), (0, missing)), mode="edge") if missing else matrix)
    return found


def on_simplex(shares: Float64, size: int) -> Float64:
    """The nearest distribution to estimated shares, filled up with zeros to `size` symbols.

    Source: Held, Wolfe and Crowder 1974.
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    found = np.zeros(size)
    found[: len(shares)] = np.maximum(shares - shift, 0)
    found /= found.sum()
    return found


# --- Means over pairs of one record of each class
#
# Reports of different classes come from different people, so products of their estimated shares are unbiased and there
# is no diagonal: a mean is h+'A h-, with rows of A for the positive class.
#
# Source: Bell, Bellet, Gascon and Kulkarni 2020, sections 3.3, 3.4 and 11.2 of this project's account of it.


def two_sample_means(
    oracle: Any,
    sums: Int64,
    matrices: Sequence[ArrayLike] | Float64,
    spreads: Sequence[ArrayLike] | Float64 | None = None,
) -> Means:
    """Estimate two-sample U-statistics of some kernels from one set of reports.

    Args:
        oracle: `PublicClasses` of two classes over "krr", "unary" or "haar"; class 1 is the positive one.
        sums: Of reports, of the oracle's shape, (2, ...).
        matrices: Kernels between symbols, each of shape (k, k); rows are of the positive class.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Privacy: post-processing of randomized reports; classes are public.
    """
    classes = getattr(oracle, "classes", None)
    if classes != 2:
        raise ParameterError(f"a mean over two samples needs reports of two public classes, got {quoted(classes)}")
    law = law_of(oracle.inner)
    kernels = checked_matrices(law, oracle.inner, matrices, symmetric=False)
    sizes = [law.records(each) for each in sums]
    for name, size in zip(("negative", "positive"), sizes, strict=True):
        if size < 1:
            raise DataError(f"there is no report of the {name} class; a mean over two samples needs one of each")
    shares = [law.counts(each) / size for each, size in zip(sums, sizes, strict=True)]
    negative, positive = (on_simplex(each[: oracle.inner.size], law.size) for each in shares)
    n_negative, n_positive = sizes
    values, prepared = [], []
    for kernel in kernels:
        middle = (kernel.max() + kernel.min()) / 2  # constants cost nothing and need not be rounded
        prepared.append(law.prepare(kernel - middle))
        values.append(middle + shares[1] @ prepared[-1].matrix @ shares[0])
    covariance = two_sample_estimated(
        law,
        prepared,
        (n_positive * shares[1], n_negative * shares[0]),
        (n_positive * positive, n_negative * negative),
    )
    sampling = two_sample_hoeffding([each.matrix for each in prepared], positive, negative, n_positive, n_negative)
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        for place, spread in enumerate(checked_matrices(law, oracle.inner, spreads, symmetric=False)):
            quantization[place] = math.sqrt(max(float(shares[1] @ spread @ shares[0]), 0.0))
    return Means(np.array(values), covariance, sampling, quantization, n_negative + n_positive)


# --- Means over triples, from randomized response
#
# A response y is a vector phi(y) whose mean is the unit vector of its owner's symbol, so the kernel h(y, y', y''), the
# tensor at three such vectors, has the mean of the kernel of the records, and the estimate is the mean of h over all
# triples of different responses.
#
# Source: section 2 of the account of Bell, Bellet, Gascon and Kulkarni 2020: the subtraction of diagonals, one degree
# up. Proofs: docs/proofs/central_pairs.md.

LARGEST_TRIPLE = 128
"""Most symbols for which a tensor over triples is held."""


def mean(oracle: Any, sums: Int64, tensor: ArrayLike) -> float:
    """Estimate the mean of a kernel over triples of different records, without bias, in O(k^3).

    Args:
        oracle: `RandomizedResponse`.
        sums: Responses of each symbol, shape (k,).
        tensor: Kernel between three symbols, shape (k, k, k); made symmetric, which no mean over triples notices.

    Raises:
        ParameterError: the oracle is another one, or the tensor of another size or too large.
        DataError: there are fewer than three reports.

    Privacy: post-processing of randomized reports.
    """
    if getattr(oracle, "name", None) != "krr":
        raise ParameterError(f"means over triples need reports of krr, got {quoted(getattr(oracle, 'name', None))}")
    k = oracle.size
    if k > LARGEST_TRIPLE:
        raise ParameterError(f"a tensor over triples of {k} symbols is too large; use at most {LARGEST_TRIPLE} bins")
    given = array_of(tensor, np.float64)
    if given.shape != (k, k, k) or not np.isfinite(given).all():
        raise ParameterError(f"a tensor must hold finite numbers, of shape ({k}, {k}, {k}), got {given.shape}")
    n = int(sums.sum())
    if n < 3:
        raise DataError(f"a mean over triples needs at least 3 reports, got {n}")
    middle = (float(given.max()) + float(given.min())) / 2
    whole = sum(np.transpose(given - middle, axes) for axes in _ORDERS) / 6
    vectors = _vectors(oracle)
    total = sums @ vectors
    given_total = whole @ total  # (k, k)
    at_pairs = ((vectors @ given_total) * vectors).sum(axis=1)
    at_own = np.einsum("abc,ya,yb,yc->y", whole, vectors, vectors, vectors, optimize=True)
    triples = total @ given_total @ total - 3 * sums @ at_pairs + 2 * sums @ at_own
    return middle + float(triples) / (n * (n - 1) * (n - 2))


def variances(oracle: Any, tensor: Float64, distribution: Float64, records: int) -> tuple[float, float]:
    """Variances of the estimate and of the exact mean, if records are drawn from a distribution over symbols.

    The responses are then independent draws too, so both are variances of U-statistics of degree three, in O(k^4). The
    first is the second plus the mean over records of the variance that the randomization brings.

    Args:
        oracle: `RandomizedResponse`.
        tensor: Symmetric kernel between three symbols, shape (k, k, k).
        distribution: Shares of symbols, shape (k,), which sum to 1.
        records: How many, at least 3.
    """
    keep, vectors = float(oracle.keep), _vectors(oracle)
    centered = tensor - (float(tensor.max()) + float(tensor.min())) / 2
    responded = np.einsum("abc,xa,yb,zc->xyz", centered, vectors, vectors, vectors, optimize=True)
    responses = keep * distribution + (1 - keep) / oracle.size
    return triple_hoeffding(responded, responses, records), triple_hoeffding(centered, distribution, records)


def triple_hoeffding(tensor: Float64, distribution: Float64, records: int) -> float:
    """Variance of the mean of a symmetric kernel over triples of records that are drawn from a distribution.

    Source: Hoeffding 1948: the sum over c of C(3, c) C(n - 3, 3 - c) zeta_c / C(n, 3).
    """
    pairs = tensor @ distribution
    singles = pairs @ distribution
    middle = float(singles @ distribution)
    squares = (
        float(distribution @ singles**2),
        float(distribution @ pairs**2 @ distribution),
        float(np.einsum("abc,a,b,c->", tensor**2, distribution, distribution, distribution, optimize=True)),
    )
    shared = (math.comb(3, c) * math.comb(records - 3, 3 - c) for c in (1, 2, 3))
    zetas = (max(square - middle**2, 0.0) for square in squares)
    return sum(times * zeta for times, zeta in zip(shared, zetas, strict=True)) / math.comb(records, 3)


def _vectors(oracle: Any) -> Float64:
    """The vector of each response, shape (k, k); row y is that of response y."""
    keep, k = float(oracle.keep), oracle.size
    found: Float64 = (np.eye(k) - (1 - keep) / k) / keep
    return found


_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


# --- Correction of the bias that randomized rounding leaves in Gini's mean difference
#
# A value between the nodes g and g + h goes to one of them at random, so that its mean stays. The distance of two
# values of different cells is then right on average; of two values of the same cell, g + u h and g + v h, it is too
# large by 2 h min(u, v) (1 - max(u, v)), at most h / 2, and h / 6 on average where values are spread evenly within
# cells. So the bias is between 0 and h / 2 times the chance that two records are in one cell, and about a third of the
# most.
#
# Source: docs/proofs/pairwise.md.


def same_cell(nodes: Float64) -> Float64:
    """Matrix over nodes whose mean over pairs tells the spacing times the chance that two records share a cell.

    The mass of a cell is taken as the mean of the masses of its two nodes, where the first and the last node,
    which get values from one side alone, count twice: exact for an even distribution, and near it for smooth ones.

    Args:
        nodes: Increasing, at least two, shape (k,).

    Returns:
        Symmetric, shape (k, k): sum over cells of h_l times the product of what both nodes say of the mass of cell l.
    """
    cells, shares = np.diff(nodes), np.zeros((len(nodes) - 1, len(nodes)))
    places = np.arange(len(cells))
    shares[places, places] = shares[places, places + 1] = 0.5
    shares[0, 0] = shares[-1, -1] = 1.0
    found: Float64 = shares.T @ (cells[:, None] * shares)
    return found


def corrected(matrix: Float64, nodes: Float64) -> Float64:
    """Gini's matrix at the nodes without the bias of randomized rounding for smooth data.

    Subtracts a sixth of `same_cell`. Do not use it where records sit on a few values: rounding values on nodes has no
    bias then.

    Args:
        matrix: |g_i - g_j|, shape (k, k).
        nodes: g, shape (k,).
    """
    return matrix - same_cell(nodes) / 6
