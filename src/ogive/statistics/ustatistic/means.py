"""Means of kernels over pairs of records from noisy vectors: exact variances, predicted errors, and proved bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, array_of
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Rational, exact
from ogive.statistics.ustatistic.laws import LARGEST_PAIRWISE, Prepared, ReportLaw, law_of

Matrices = Sequence[ArrayLike] | Float64


@dataclass(frozen=True)
class Means:
    """Estimated means of m kernels from one answer.

    Fields:
        values: Unbiased estimates, shape (m,); noise may take them out of the kernels' ranges.
        covariance: Of the noise, given the records, shape (m, m).
        sampling: Covariance of the exact means, shape (m, m), or what gives a bound of the value's variance for its
            derivatives in the means; None where nothing is known.
        quantization: How far rounding to bins may move each, shape (m,).
        classes: Records of each public class, the negative one first.
        null_variance: Of the first exact mean under the null hypothesis, with ties; None where noise hides it.
    """

    values: Float64
    covariance: Float64
    sampling: Float64 | Callable[[Float64], float | None] | None
    quantization: Float64
    records: int | None
    classes: tuple[int, ...] | None = None
    null_variance: float | None = None

    def sampling_variance(self, gradient: Float64) -> float | None:
        """Variance of the exact value around the population's, from its derivatives; at most that of a bound."""
        if self.sampling is None or callable(self.sampling):
            return None if self.sampling is None else self.sampling(gradient)
        return max(0.0, float(gradient @ self.sampling @ gradient))


# --- Exact covariances of estimated means
#
# With S the sum of the reports' vectors phi and Q the estimated diagonal, a mean is (S'AS - Q) / (n (n - 1)). Its error
# given the records is a sum over reports plus a sum over pairs of different reports, which is uncorrelated with it.
# Each is a sum over counts of symbols, in O(k^2). Proofs: docs/proofs/pairwise.md.


def estimated(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, plausible: Float64) -> Float64:
    """Covariance of the randomization, from the reports alone.

    Unbiased counts make the linear part too large by four times the sum over pairs, on average, which is subtracted.
    Plausible counts, with the same total, are spread more evenly than the records; they give what it is at least.
    """
    paired, own = _paired(law, prepared, plausible)
    least = _linear(law, prepared, plausible, plausible)
    alone = _linear(law, prepared, counts, plausible)
    return least + _excess(alone, 4 * paired + least) + 2 * (paired - own)


def _paired(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64) -> tuple[Float64, Float64]:
    """What all pairs of reports bring, and what pairs of a report with itself would, shape (m, m) each."""
    n = float(counts.sum())
    scale = (n * (n - 1)) ** 2
    paired = symmetric(prepared, lambda one, other: law.trace(one, other, counts, counts) / scale)
    own = symmetric(prepared, lambda one, other: float(counts @ law.symbol_traces(one, other)) / scale)
    return paired, own


def _linear(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64, weights: Float64) -> Float64:
    """Covariance of single reports, of which `weights` have each symbol, among others with `counts`."""
    n = float(weights.sum())
    reports = [(each, 2 * ((each.left @ counts)[:, None] - each.left)) for each in prepared]
    return symmetric(reports, lambda one, other: float(weights @ law.single(*one, *other)) / (n * (n - 1)) ** 2)


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
    law: ReportLaw, prepared: Sequence[Prepared], counts: tuple[Float64, Float64], plausible: tuple[Float64, Float64]
) -> Float64:
    """Covariance of the randomization of two-sample means, from the reports alone; see `estimated`."""
    both = _across(law, prepared, plausible)
    least = _sides(law, prepared, plausible, plausible)
    return least + _excess(_sides(law, prepared, counts, plausible), 2 * both + least) + both


def _sides(
    law: ReportLaw, prepared: Sequence[Prepared], counts: tuple[Float64, Float64], weights: tuple[Float64, Float64]
) -> Float64:
    """Covariance of single reports of either class, of which `weights` have each symbol, against the other's counts."""
    positive, negative = weights
    n_positive, n_negative = positive.sum(), negative.sum()

    def against(each: Prepared) -> tuple[Float64, Float64]:
        return (each.left @ counts[1] / n_negative)[:, None], (each.right @ counts[0] / n_positive)[:, None]

    def sides(one: tuple[Float64, Float64], other: tuple[Float64, Float64]) -> float:
        first = law.form(positive, one[0], other[0])[0] / n_positive**2
        return float(first + law.form(negative, one[1], other[1])[0] / n_negative**2)

    return symmetric(list(map(against, prepared)), sides)


def _across(law: ReportLaw, prepared: Sequence[Prepared], counts: tuple[Float64, Float64]) -> Float64:
    """What pairs of a report of each class bring, shape (m, m)."""
    positive, negative = counts
    pairs = positive.sum() * negative.sum()
    return symmetric(prepared, lambda one, other: float(law.trace(one, other, negative, positive) / pairs**2))


def hoeffding(matrices: Sequence[Float64], distribution: Float64, records: float) -> Float64:
    """Covariance of U-statistics of records that are drawn from a distribution over symbols (Hoeffding 1948)."""
    given = [matrix @ distribution for matrix in matrices]

    def pair(one: tuple[Float64, Float64], other: tuple[Float64, Float64]) -> float:
        product = (distribution @ one[1]) * (distribution @ other[1])
        first = distribution @ (one[1] * other[1]) - product
        second = distribution @ (one[0] * other[0]) @ distribution - product
        return float(2 * (2 * (records - 2) * first + second) / (records * (records - 1)))

    return symmetric(list(zip(matrices, given, strict=True)), pair)


def two_sample_hoeffding(
    matrices: Sequence[Float64], positive: Float64, negative: Float64, n_positive: float, n_negative: float
) -> Float64:
    """The same of two samples; rows of the matrices are of the positive class."""
    given = [(matrix, matrix @ negative, positive @ matrix) for matrix in matrices]

    def pair(one: Sequence[Float64], other: Sequence[Float64]) -> float:
        product = (positive @ one[1]) * (positive @ other[1])
        first = positive @ (one[1] * other[1]) - product
        second = negative @ (one[2] * other[2]) - product
        both = positive @ (one[0] * other[0]) @ negative - product
        return float(((n_negative - 1) * first + (n_positive - 1) * second + both) / (n_positive * n_negative))

    return symmetric(given, pair)


def symmetric(items: Sequence[Any], pair: Callable[[Any, Any], float]) -> Float64:
    """A symmetric matrix from its entries on and above the diagonal, of pairs of items."""
    result = np.empty((len(items), len(items)))
    for i, j in itertools.combinations_with_replacement(range(len(items)), 2):
        result[i, j] = result[j, i] = pair(items[i], items[j])
    return result


# --- Means over all pairs of records, and over pairs of one record of each class
#
# The mean of phi_i'A phi_j over pairs of different reports is unbiased for the U-statistic of the binned records, and
# needs the sums of the reports alone: with S the sum of all phi it is S'AS less the diagonal. Reports of different
# classes come from different people, so there is no diagonal: a mean is h+'A h-, with rows of A for the positive class.
# Source: Bell, Bellet, Gascon and Kulkarni 2020, Algorithm 1; Wang, Blocki, Li and Jha 2017.


def means(oracle: Any, sums: Int64, matrices: Matrices, spreads: Matrices | None = None) -> Means:
    """Estimate U-statistics of some kernels from sums of reports, with exact covariances at estimated counts.

    Matrices are kernels between symbols, symmetric, and spreads their squared half-ranges, of shape (k, k) each.
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
    return Means(
        np.array(values), covariance, sampling, roots([mean(law.prepare(each)) for each in wide], len(kernels)), n
    )


def roots(squares: Sequence[float], kernels: int) -> Float64:
    """Roots of estimated squares, which noise may take below 0; 0 where none were estimated."""
    return np.sqrt(np.maximum(squares, 0.0)) if squares else np.zeros(kernels)


def middle_of(kernel: Float64) -> float:
    """What is subtracted from a kernel: constants cost nothing and need not be rounded."""
    return float(kernel.max() + kernel.min()) / 2


def checked_matrices(size: int, matrices: Matrices | None, *, symmetric: bool, padded: int = 0) -> list[Float64]:
    """Matrices, if any, over `size` symbols, or over those that fill the domain up to `padded` and repeat the last."""
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
    """The nearest distribution to estimated shares (Held, Wolfe and Crowder 1974), with zeros up to `size` symbols."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    result = np.zeros(size)
    result[: len(shares)] = np.maximum(shares - shift, 0)
    result /= result.sum()
    return result


def two_sample_means(oracle: Any, sums: Int64, matrices: Matrices, spreads: Matrices | None = None) -> Means:
    """The same of two samples: `oracle` is `PublicClasses` of two, class 1 the positive one, of rows of matrices."""
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
    values = [middle_of(a) + shares[1] @ each.matrix @ shares[0] for a, each in zip(kernels, prepared, strict=True)]
    counts = n_positive * shares[1], n_negative * shares[0]
    covariance = two_sample_estimated(law, prepared, counts, (n_positive * positive, n_negative * negative))
    sampling = two_sample_hoeffding([each.matrix for each in prepared], positive, negative, n_positive, n_negative)
    wide = checked_matrices(size, spreads, symmetric=False, padded=law.size)
    moved = roots([float(shares[1] @ each @ shares[0]) for each in wide], len(kernels))
    return Means(np.array(values), covariance, sampling, moved, sum(sizes), tuple(sizes))


# --- Means over triples, from randomized response
#
# A response is a vector whose mean is the unit vector of its owner's symbol, so the mean of the tensor over all triples
# of different responses is unbiased.
# Source: section 2 of the account of Bell, Bellet, Gascon and Kulkarni 2020. Proofs: docs/proofs/central_pairs.md.

LARGEST_TRIPLE = 128  # most symbols for which a tensor over triples is held


def mean(oracle: Any, sums: Int64, tensor: ArrayLike) -> float:
    """Estimate the mean of a kernel, shape (k, k, k), over triples of different records, from sums of responses."""
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

    Responses are then independent draws too, so both are variances of U-statistics of degree three, in O(k^4).
    """
    keep, vectors = float(oracle.keep), _vectors(oracle)
    centered = tensor - (float(tensor.max()) + float(tensor.min())) / 2
    responded = np.einsum("abc,xa,yb,zc->xyz", centered, vectors, vectors, vectors, optimize=True)
    responses = keep * distribution + (1 - keep) / oracle.size
    return triple_hoeffding(responded, responses, records), triple_hoeffding(centered, distribution, records)


def triple_hoeffding(tensor: Float64, distribution: Float64, records: int) -> float:
    """The second of these, by Hoeffding 1948: the sum over c of C(3, c) C(n - 3, 3 - c) zeta_c / C(n, 3)."""
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


# --- Predicted errors, for an assumed distribution of the records
# Source: Lemma 1 of Bell, Bellet, Gascon and Kulkarni 2020 for randomized response; the same for unary encoding and
# Haar coefficients, whose diagonal is estimated: docs/proofs/pairwise.md.


class Predicted(NamedTuple):
    """Covariances of means when records are drawn: of the randomization on average, and of the exact means."""

    randomization: Float64
    sampling: Float64

    @property
    def total(self) -> Float64:
        return self.randomization + self.sampling


def variance(oracle: Any, matrix: ArrayLike, distribution: ArrayLike, records: int) -> float:
    """Variance of one estimated mean, of randomization and sampling together; see `covariance`."""
    return float(covariance(oracle, [matrix], distribution, records).total[0, 0])


def covariance(oracle: Any, matrices: Sequence[ArrayLike], distribution: ArrayLike, records: int) -> Predicted:
    """Covariances of estimated means of symmetric kernels, for shares of symbols and a number of reports."""
    law, prepared = _prepared(oracle, matrices, even=True)
    shares = _checked_shares(law, oracle, distribution)
    _check_records(records)
    pairs = records * (records - 1)

    def pair(one: tuple[Prepared, Float64], other: tuple[Prepared, Float64]) -> float:
        drifts = [2 * (records - 1) * drift for _, drift in (one, other)]
        alone = records * (shares @ law.single(one[0], drifts[0], other[0], drifts[1]))
        varied = shares @ law.form(shares, one[0].left, other[0].left)
        varied -= law.form(shares, one[1], other[1])[0]
        paired = law.trace(one[0], other[0], shares, shares)
        return float(alone / pairs + 4 * varied + 2 * paired) / pairs

    drifting = [(each, (each.left @ shares)[:, None]) for each in prepared]
    return Predicted(symmetric(drifting, pair), hoeffding([each.matrix for each in prepared], shares, records))


def two_sample_covariance(
    oracle: Any, matrices: Sequence[ArrayLike], positive: ArrayLike, negative: ArrayLike, records: tuple[int, int]
) -> Predicted:
    """The same of two samples of positive and of negative records; rows of the matrices are of the positive class."""
    law, prepared = _prepared(oracle, matrices, even=False)
    up, down = (_checked_shares(law, oracle, each) for each in (positive, negative))
    n_up, n_down = records
    if min(records) < 1:
        raise ParameterError(f"a mean over two samples needs a record of each class, got {n_up} and {n_down}")

    def side(one: Float64, other: Float64, own: Float64, across: Float64, n_across: int) -> float:
        at_mean = law.form(own, (one @ across)[:, None], (other @ across)[:, None])[0]
        varied = across @ law.form(own, one, other) - at_mean
        return float(at_mean + varied / n_across)

    def pair(one: Prepared, other: Prepared) -> float:
        rows = side(one.left, other.left, up, down, n_down) / n_up
        columns = side(one.right, other.right, down, up, n_up) / n_down
        return rows + columns + law.trace(one, other, down, up) / (n_up * n_down)

    sampling = two_sample_hoeffding([each.matrix for each in prepared], up, down, n_up, n_down)
    return Predicted(symmetric(prepared, pair), sampling)


def _prepared(oracle: Any, matrices: Sequence[ArrayLike], *, even: bool) -> tuple[ReportLaw, list[Prepared]]:
    law = law_of(oracle)
    kernels = checked_matrices(oracle.size, matrices, symmetric=even, padded=law.size)
    return law, [law.prepare(each - middle_of(each)) for each in kernels]


def _checked_shares(law: ReportLaw, oracle: Any, distribution: ArrayLike) -> Float64:
    shares = array_of(distribution, np.float64)
    if shares.shape != (oracle.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"a distribution must be {oracle.size} shares that sum to 1, got shape {shares.shape}")
    return np.pad(shares, (0, law.size - len(shares)))


# --- Proved bounds, whatever the records, and the best number of bins
#
# They are far above the errors that one should expect, which are predicted above. Proofs: docs/proofs/pairwise.md.
# Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorems 1 and 2 and Corollary 1, corrected.

# variance of rounding to bins, in squares of the Lipschitz constant and of the width of a bin
_ROUNDING = {
    ("midpoint", "proved"): 1.0,
    ("midpoint", "paper"): 0.5,
    ("average", "proved"): 1 / 9,
    ("average", "paper"): 4.0,
}


def variance_bound(bins: int, epsilon: Rational, records: int, *, oracle: str = "krr", lipschitz: float = 1.0) -> float:
    """Bound of the variance of an estimated mean of a kernel with values in [0, 1], against the population."""
    if bins < 2:
        raise ParameterError(f"`bins` must be at least 2, got {bins}")
    _check_records(records)
    among(oracle, "oracle", ("krr", "unary", "haar"))
    value = float(exact(epsilon, "epsilon"))
    if not 0 < value <= 500:
        raise ParameterError(f"`epsilon` must be above 0 and at most 500, got {value:g}")
    k, ratio, n = int(bins), math.expm1(value), float(records)
    if oracle == "krr":
        scale, lost = 1 + k / ratio, k / (k + ratio)
        return scale**2 / n + (1 + lost) ** 2 * scale**4 / (2 * n * (n - 1))
    # bounds of one report's linear part, of its own diagonal, and of pairs of reports
    if oracle == "unary":
        v = 4 * (1 + ratio) / ratio**2
        linear = v * k / 4 + 1.25
        own = 57 * v * k + 49 + 2 * (v * v * k * k / 4 + 2 * v * k)
        paired = 2 * (v * v * k * k / 4 + 4 * v * k + 16)
    else:
        depth = (k - 1).bit_length()
        c_squared = (1 + 2 / ratio) ** 2
        nodes = np.exp2(np.arange(depth))
        chances = nodes**-0.5 / (nodes**-0.5).sum()
        # half the difference between the means of two half-blocks, of a function with values in an interval of length 1
        step = np.minimum(lipschitz * 2**depth / k / (4 * nodes), 0.5)
        noise = c_squared / chances
        linear = float(noise @ (nodes * step**2))
        own = float((c_squared**2 / chances**3) @ (nodes**3 * step**2))
        paired = 2 * float((noise * nodes) @ np.minimum(step[:, None], step[None, :]) ** 2 @ (noise * nodes))
    return (2 * math.sqrt(linear) + math.sqrt(own) / (n - 1)) ** 2 / n + paired / (n * (n - 1))


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
    form: Any = {"oracle": oracle, "matrix": matrix, "lipschitz": lipschitz, "constants": constants}
    return min(tried, key=lambda bins: error_bound(bins, epsilon, records, **form))


def _check_records(records: int) -> None:
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")
