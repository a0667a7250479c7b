"""How far off means over pairs will be, before any report is collected: predicted errors, and proved bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.core.arrays import Float64
from ogive.core.checks import among, array_of
from ogive.errors import ParameterError
from ogive.privacy import Rational, exact
from ogive.statistics.ustatistic.means import checked_matrices, hoeffding, symmetric, two_sample_hoeffding
from ogive.statistics.ustatistic.reports.laws import LARGEST_PAIRWISE, ReportLaw, law_of

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
    """Variance of one estimated mean, of randomization and sampling together.

    Args:
        oracle: "krr", "unary" or "haar".
        matrix: Symmetric kernel between symbols, shape (k, k).
        distribution: Shares of symbols, shape (k,).
        records: Number of reports, at least 2.
    """
    return float(covariance(oracle, [matrix], distribution, records).total[0, 0])


def covariance(oracle: Any, matrices: Sequence[ArrayLike], distribution: ArrayLike, records: int) -> Predicted:
    """Covariances of estimated means of symmetric kernels.

    Args:
        oracle: "krr", "unary" or "haar".
        matrices: Kernels between symbols, each of shape (k, k) and symmetric.
        distribution: Shares of symbols, shape (k,).
        records: Number of reports, at least 2.
    """
    law = law_of(oracle)
    kernels = [_middled(each) for each in checked_matrices(law, oracle, matrices, symmetric=True)]
    shares = _checked_shares(law, oracle, distribution)
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")
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
    """Covariances of estimated two-sample means, of given numbers of records in each class.

    Args:
        oracle: "krr", "unary" or "haar", of the reports within a class.
        matrices: Kernels between symbols, each of shape (k, k); rows are of the positive class.
        positive: Shares of symbols in the positive class, shape (k,).
        negative: Shares of symbols in the negative class, shape (k,).
        records: Numbers of positive and of negative records, each at least 1.
    """
    law = law_of(oracle)
    kernels = [_middled(each) for each in checked_matrices(law, oracle, matrices, symmetric=False)]
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


def _middled(matrix: Float64) -> Float64:
    return matrix - (float(matrix.max()) + float(matrix.min())) / 2


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

CONSTANTS = ("proved", "paper")
MATRIX_KINDS = ("midpoint", "average")


def variance_bound(bins: int, epsilon: Rational, records: int, *, oracle: str = "krr", lipschitz: float = 1.0) -> float:
    """Bound of the variance of an estimated mean of a kernel with values in [0, 1], against the population.

    Multiply it by the squared range of any other kernel.
    """
    if bins < 2:
        raise ParameterError(f"`bins` must be at least 2, got {bins}")
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")
    return _bound(oracle)(int(bins), _ratio(epsilon), float(records), lipschitz)


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
    _check_lipschitz(lipschitz)
    kernel = lipschitz if matrix == "midpoint" else math.inf
    spread = variance_bound(bins, epsilon, records, oracle=oracle, lipschitz=kernel)
    return spread + _rounding(matrix, constants)(lipschitz) / bins**2 + _rest(matrix, constants, lipschitz, bins)


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
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least 2 records, got {records}")
    if most < 2:
        raise ParameterError(f"`most` must be at least 2, got {most}")
    last = min(records, most)
    tried = [1 << power for power in range(1, last.bit_length())] if oracle == "haar" else range(2, last + 1)

    def bound(bins: int) -> float:
        return error_bound(
            bins, epsilon, records, oracle=oracle, matrix=matrix, lipschitz=lipschitz, constants=constants
        )

    return min(tried, key=bound)


def _ratio(epsilon: Rational) -> float:
    """The number e^epsilon - 1."""
    value = float(exact(epsilon, "epsilon"))
    if not 0 < value <= 500:
        raise ParameterError(f"`epsilon` must be above 0 and at most 500, got {value:g}")
    return math.expm1(value)


def _check_lipschitz(lipschitz: float) -> None:
    if not 0 < lipschitz < math.inf:
        raise ParameterError(f"`lipschitz` must be a finite number above 0, got {lipschitz}")


def _bound(oracle: str) -> Callable[[int, float, float, float], float]:
    bounds = {"krr": _krr_bound, "unary": _unary_bound, "haar": _haar_bound}
    among(oracle, "oracle", bounds)
    return bounds[oracle]


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


def _rounding(matrix: str, constants: str) -> Callable[[float], float]:
    factors = {
        ("midpoint", "proved"): 1.0,
        ("midpoint", "paper"): 0.5,
        ("average", "proved"): 1 / 9,
        ("average", "paper"): 4.0,
    }
    among(matrix, "matrix", MATRIX_KINDS)
    among(constants, "constants", CONSTANTS)
    return lambda lipschitz: factors[matrix, constants] * lipschitz**2


def _rest(matrix: str, constants: str, lipschitz: float, bins: int) -> float:
    return 4 * lipschitz**4 / bins**4 if (matrix, constants) == ("average", "paper") else 0.0
