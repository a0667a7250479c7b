"""Means of kernels over pairs of records from noisy vectors: exact variances, predicted errors, and proved bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, array_of
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Rational, exact
from ogive.statistics.ustatistic.laws import LARGEST_PAIRWISE, Prepared, ReportLaw, law_of

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
    sum over pairs, on average, which is taken off. Plausible counts, with the same total, are spread more evenly than
    the records where noise is large, and the errors of smooth kernels look too small then; they give what the linear
    part is at least.
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


def _excess(result: Float64, expected: Float64) -> Float64:
    """The covariance nearest to the difference of two, in scales that both give: its own may vanish in one place."""
    scale = np.sqrt(np.diagonal(result) + np.diagonal(expected))
    scale = np.where(scale > 0, scale, 1.0)
    nearest: Float64 = nearest_covariance((result - expected) / np.outer(scale, scale)) * np.outer(scale, scale)
    return (nearest + nearest.T) / 2


def nearest_covariance(matrix: Float64) -> Float64:
    """The nearest matrix that is a covariance: an unbiased estimate of one may not be."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def two_sample_estimated(
    law: ReportLaw,
    prepared: Sequence[Prepared],
    counts: tuple[Float64, Float64],
    plausible: tuple[Float64, Float64],
) -> Float64:
    """Covariance of the randomization of two-sample means, from the reports alone; see `estimated`."""
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

    Rows of the matrices are of the positive class.
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
    result = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            result[i, j] = result[j, i] = pair(i, j)
    return result


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
    kernels = checked_matrices(oracle.size, matrices, symmetric=True, padded=law.size)
    n = law.records(sums)
    if n < 2:
        raise DataError(f"a mean over pairs needs at least 2 reports, got {n}")
    counts = law.counts(sums)
    distribution = on_simplex(counts[: oracle.size] / n, law.size)

    def mean(ready: Prepared) -> float:
        return float(counts @ ready.matrix @ counts - law.diagonal(sums, ready)) / (n * (n - 1))

    prepared = [law.prepare(kernel - middle_of(kernel)) for kernel in kernels]
    values = [middle_of(kernel) + mean(ready) for kernel, ready in zip(kernels, prepared, strict=True)]
    covariance = estimated(law, prepared, counts, n * distribution)
    sampling = hoeffding([each.matrix for each in prepared], distribution, n)
    wide = checked_matrices(oracle.size, spreads, symmetric=True, padded=law.size)
    quantization = [math.sqrt(max(mean(law.prepare(each)), 0.0)) for each in wide] or [0.0] * len(kernels)
    return Means(np.array(values), covariance, sampling, np.array(quantization), n)


def middle_of(kernel: Float64) -> float:
    """What is taken off a kernel: constants cost nothing and need not be rounded."""
    return float(kernel.max() + kernel.min()) / 2


def checked_matrices(
    size: int, matrices: Sequence[ArrayLike] | Float64 | None, *, symmetric: bool, padded: int = 0
) -> list[Float64]:
    """Matrices, if any, over so many symbols, or over those that fill the domain up to `padded`.

    These never occur. They repeat the last one, so that constants stay constant.
    """
    padded = padded or size
    results = []
    for each in () if matrices is None else matrices:
        matrix = array_of(each, np.float64)
        if matrix.shape not in ((size, size), (padded, padded)):
            raise ParameterError(f"a matrix must be of shape ({size}, {size}), got {matrix.shape}")
        if not math.isfinite(matrix.max() - matrix.min()):
            raise ParameterError("a matrix must hold finite numbers")
        uneven = matrix - matrix.T if symmetric else np.zeros((1, 1))
        most = max(float(uneven.max()), 0.0)  # of the difference and of its transpose
        if most > 1e-9 * max(float(matrix.max()), -float(matrix.min())):
            raise ParameterError("a kernel must be symmetric: replace f(x, y) by (f(x, y) + f(y, x)) / 2")
        if most:
            matrix = matrix - uneven / 2
        missing = padded - len(matrix)
        results.append(np.pad(matrix, ((0, missing), (0, missing)), mode="edge") if missing > 0 else matrix)
    return results


def on_simplex(shares: Float64, size: int) -> Float64:
    """The nearest distribution to estimated shares, filled up with zeros to `size` symbols.

    Source: Held, Wolfe and Crowder 1974.
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    result = np.zeros(size)
    result[: len(shares)] = np.maximum(shares - shift, 0)
    result /= result.sum()
    return result


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
    """Estimate two-sample U-statistics of some kernels from one set of reports; see `means`.

    Args:
        oracle: `PublicClasses` of two classes over "krr", "unary" or "haar"; class 1 is the positive one.
        sums: Of reports, of the oracle's shape, (2, ...).
        matrices: As of `means`, but not symmetric; rows are of the positive class.
        spreads: As of `means`.

    Privacy: post-processing of randomized reports; classes are public.
    """
    classes = getattr(oracle, "classes", None)
    if classes != 2:
        raise ParameterError(f"a mean over two samples needs reports of two public classes, got {quoted(classes)}")
    law, size = law_of(oracle.inner), oracle.inner.size
    kernels = checked_matrices(size, matrices, symmetric=False, padded=law.size)
    sizes = [law.records(each) for each in sums]
    for name, count in zip(("negative", "positive"), sizes, strict=True):
        if count < 1:
            raise DataError(f"there is no report of the {name} class; a mean over two samples needs one of each")
    shares = [law.counts(each) / count for each, count in zip(sums, sizes, strict=True)]
    negative, positive = (on_simplex(each[:size], law.size) for each in shares)
    n_negative, n_positive = sizes
    prepared = [law.prepare(kernel - middle_of(kernel)) for kernel in kernels]
    values = [
        middle_of(kernel) + shares[1] @ ready.matrix @ shares[0]
        for kernel, ready in zip(kernels, prepared, strict=True)
    ]
    covariance = two_sample_estimated(
        law,
        prepared,
        (n_positive * shares[1], n_negative * shares[0]),
        (n_positive * positive, n_negative * negative),
    )
    sampling = two_sample_hoeffding([each.matrix for each in prepared], positive, negative, n_positive, n_negative)
    wide = checked_matrices(size, spreads, symmetric=False, padded=law.size)
    result = [math.sqrt(max(float(shares[1] @ each @ shares[0]), 0.0)) for each in wide] or [0.0] * len(kernels)
    return Means(np.array(values), covariance, sampling, np.array(result), n_negative + n_positive)


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
    whole = sum(np.transpose(given - middle, axes) for axes in itertools.permutations(range(3))) / 6
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
    return np.asarray((np.eye(k) - (1 - keep) / k) / keep)


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
    """Symmetric matrix over nodes: its mean over pairs is the spacing times the chance that two records share a cell.

    The mass of a cell is taken as the mean of the masses of its two nodes, where the first and the last node,
    which get values from one side alone, count twice: exact for an even distribution, and near it for smooth ones.
    """
    cells, shares = np.diff(nodes), np.zeros((len(nodes) - 1, len(nodes)))
    places = np.arange(len(cells))
    shares[places, places] = shares[places, places + 1] = 0.5
    shares[0, 0] = shares[-1, -1] = 1.0
    return np.asarray(shares.T @ (cells[:, None] * shares))


def corrected(matrix: Float64, nodes: Float64) -> Float64:
    """Gini's matrix |g_i - g_j| at the nodes without the bias of randomized rounding for smooth data.

    Do not use it where records sit on a few values: rounding values on nodes has no bias then.
    """
    return matrix - same_cell(nodes) / 6


# --- Predicted errors, for an assumed distribution of the records
#
# Source: Lemma 1 of Bell, Bellet, Gascon and Kulkarni 2020 for randomized response; the same for unary encoding and
# Haar coefficients, whose diagonal is estimated: docs/proofs/pairwise.md.


@dataclass(frozen=True)
class Predicted:
    """Covariances of m estimated means when records are drawn from a known distribution.

    Fields:
        randomization: Mean over records of the covariance given the records, shape (m, m).
        sampling: Covariance of the exact means of the records, shape (m, m).
    """

    randomization: Float64
    sampling: Float64

    @property
    def total(self) -> Float64:
        """Covariance against the population, shape (m, m)."""
        return self.randomization + self.sampling


def variance(oracle: Any, matrix: ArrayLike, distribution: ArrayLike, records: int) -> float:
    """Variance of one estimated mean, of randomization and sampling together; see `covariance`."""
    return float(covariance(oracle, [matrix], distribution, records).total[0, 0])


def covariance(oracle: Any, matrices: Sequence[ArrayLike], distribution: ArrayLike, records: int) -> Predicted:
    """Covariances of estimated means of symmetric kernels.

    Args:
        oracle: "krr", "unary" or "haar".
        matrices: Kernels between symbols, each of shape (k, k).
        distribution: Shares of symbols, shape (k,).
        records: Number of reports, at least 2.
    """
    law = law_of(oracle)
    kernels = [
        each - middle_of(each) for each in checked_matrices(oracle.size, matrices, symmetric=True, padded=law.size)
    ]
    shares = _checked_shares(law, oracle, distribution)
    _check_records(records)
    prepared = [law.prepare(kernel) for kernel in kernels]
    drifts = [2 * (records - 1) * (each.left @ shares)[:, None] for each in prepared]
    pairs = records * (records - 1)

    def pair(i: int, j: int) -> float:
        one, other = prepared[i], prepared[j]
        alone = records * (shares @ law.single(one, drifts[i], other, drifts[j]))
        varied = shares @ law.form(shares, one.left, other.left)
        varied -= law.form(shares, (one.left @ shares)[:, None], (other.left @ shares)[:, None])[0]
        paired = law.trace(one, other, shares, shares)
        return float(alone / pairs + 4 * varied + 2 * paired) / pairs

    return Predicted(symmetric(len(kernels), pair), hoeffding(kernels, shares, records))


def two_sample_covariance(
    oracle: Any,
    matrices: Sequence[ArrayLike],
    positive: ArrayLike,
    negative: ArrayLike,
    records: tuple[int, int],
) -> Predicted:
    """The same of two samples of positive and of negative records; rows of the matrices are of the positive class."""
    law = law_of(oracle)
    kernels = [
        each - middle_of(each) for each in checked_matrices(oracle.size, matrices, symmetric=False, padded=law.size)
    ]
    up, down = (_checked_shares(law, oracle, each) for each in (positive, negative))
    n_up, n_down = records
    if min(records) < 1:
        raise ParameterError(f"a mean over two samples needs a record of each class, got {n_up} and {n_down}")
    prepared = [law.prepare(kernel) for kernel in kernels]

    def side(one: Float64, other: Float64, own: Float64, across: Float64, n_across: int) -> float:
        at_mean = law.form(own, (one @ across)[:, None], (other @ across)[:, None])[0]
        varied = across @ law.form(own, one, other) - at_mean
        return float(at_mean + varied / n_across)

    def pair(i: int, j: int) -> float:
        one, other = prepared[i], prepared[j]
        rows = side(one.left, other.left, up, down, n_down) / n_up
        columns = side(one.right, other.right, down, up, n_up) / n_down
        return rows + columns + law.trace(one, other, down, up) / (n_up * n_down)

    sampling = two_sample_hoeffding(kernels, up, down, n_up, n_down)
    return Predicted(symmetric(len(kernels), pair), sampling)


def _checked_shares(law: ReportLaw, oracle: Any, distribution: ArrayLike) -> Float64:
    shares = array_of(distribution, np.float64)
    if shares.shape != (oracle.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"a distribution must be {oracle.size} shares that sum to 1, got shape {shares.shape}")
    return np.pad(shares, (0, law.size - len(shares)))


# --- Proved bounds, whatever the records, and the best number of bins
#
# They hold for every distribution, so they are far above the errors that one should expect (10 to 50 times for
# randomized response): those are predicted above. Proofs: docs/proofs/pairwise.md.
#
# Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorems 1 and 2 and Corollary 1, corrected.

# variance of rounding to bins, in squares of the Lipschitz constant and of the width of a bin
_ROUNDING = {
    ("midpoint", "proved"): 1.0,
    ("midpoint", "paper"): 0.5,
    ("average", "proved"): 1 / 9,
    ("average", "paper"): 4.0,
}


def variance_bound(bins: int, epsilon: Rational, records: int, *, oracle: str = "krr", lipschitz: float = 1.0) -> float:
    """Bound of the variance of an estimated mean of a kernel with values in [0, 1], against the population.

    Multiply it by the squared range of any other kernel.
    """
    if bins < 2:
        raise ParameterError(f"`bins` must be at least 2, got {bins}")
    _check_records(records)
    among(oracle, "oracle", _BOUNDS)
    value = float(exact(epsilon, "epsilon"))
    if not 0 < value <= 500:
        raise ParameterError(f"`epsilon` must be above 0 and at most 500, got {value:g}")
    return _BOUNDS[oracle](int(bins), math.expm1(value), float(records), lipschitz)


def error_bound(
    bins: int,
    epsilon: Rational,
    records: int,
    *,
    oracle: str = "krr",
    matrix: str = "midpoint",
    lipschitz: float = 1.0,
    constants: str = "proved",
) -> float:
    """Bound of the mean squared error against the population, for values in [0, 1] in equal bins (Theorem 2)."""
    if not 0 < lipschitz < math.inf:
        raise ParameterError(f"`lipschitz` must be a finite number above 0, got {lipschitz}")
    kernel = lipschitz if matrix == "midpoint" else math.inf
    spread = variance_bound(bins, epsilon, records, oracle=oracle, lipschitz=kernel)
    among(matrix, "matrix", ("midpoint", "average"))
    among(constants, "constants", ("proved", "paper"))
    rest = 4 * lipschitz**4 / bins**4 if (matrix, constants) == ("average", "paper") else 0.0
    return spread + _ROUNDING[matrix, constants] * lipschitz**2 / bins**2 + rest


def optimal_bins(
    records: int,
    epsilon: Rational,
    lipschitz: float = 1.0,
    *,
    oracle: str = "krr",
    matrix: str = "midpoint",
    constants: str = "proved",
    most: int = LARGEST_PAIRWISE,
) -> int:
    """Number of bins with the smallest proved bound of the mean squared error (Corollary 1).

    Args:
        records: Number of reports, at least 2.
        epsilon: Privacy of a report.
        lipschitz: Constant of the kernel over the whole domain, or of the density; above 0.
        oracle: "krr", "unary" or "haar", for which only powers of two are tried.
        matrix: "midpoint" or "average".
        constants: "proved" or "paper".
        most: Largest number to try.

    Returns:
        From 2 to the smaller of `records` and `most`.

    Raises:
        ParameterError: an argument is out of range.

    Example:
        >>> import ogive
        >>> ogive.optimal_bins(10_000, epsilon=1)
        13
    """
    _check_records(records)
    if most < 2:
        raise ParameterError(f"`most` must be at least 2, got {most}")
    last = min(records, most)
    tried = [1 << power for power in range(1, last.bit_length())] if oracle == "haar" else range(2, last + 1)

    def bound(bins: int) -> float:
        return error_bound(
            bins, epsilon, records, oracle=oracle, matrix=matrix, lipschitz=lipschitz, constants=constants
        )

    return min(tried, key=bound)


def _check_records(records: int) -> None:
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")


def _krr_bound(k: int, ratio: float, n: float, lipschitz: float) -> float:
    scale, lost = 1 + k / ratio, k / (k + ratio)
    return scale**2 / n + (1 + lost) ** 2 * scale**4 / (2 * n * (n - 1))


def _unary_bound(k: int, ratio: float, n: float, lipschitz: float) -> float:
    v = 4 * (1 + ratio) / ratio**2
    linear = v * k / 4 + 1.25
    own = 57 * v * k + 49 + 2 * (v * v * k * k / 4 + 2 * v * k)
    paired = 2 * (v * v * k * k / 4 + 4 * v * k + 16)
    return _joined(linear, own, paired, n)


def _haar_bound(k: int, ratio: float, n: float, lipschitz: float) -> float:
    depth = (k - 1).bit_length()
    c_squared = (1 + 2 / ratio) ** 2
    nodes = np.exp2(np.arange(depth))
    chances = nodes**-0.5 / (nodes**-0.5).sum()
    # half the difference between the means of two half-blocks, of a function with values in an interval of length 1
    step = np.minimum(lipschitz * 2**depth / k / (4 * nodes), 0.5)
    pair = np.minimum(step[:, None], step[None, :])
    noise = c_squared / chances
    linear = float(noise @ (nodes * step**2))
    own = float((c_squared**2 / chances**3) @ (nodes**3 * step**2))
    paired = 2 * float((noise * nodes) @ pair**2 @ (noise * nodes))
    return _joined(linear, own, paired, n)


def _joined(linear: float, own: float, paired: float, n: float) -> float:
    """Variance from bounds of one report's linear part, of its own diagonal, and of pairs of reports."""
    return (2 * math.sqrt(linear) + math.sqrt(own) / (n - 1)) ** 2 / n + paired / (n * (n - 1))


_BOUNDS: dict[str, Callable[[int, float, float, float], float]] = {
    "krr": _krr_bound,
    "unary": _unary_bound,
    "haar": _haar_bound,
}
