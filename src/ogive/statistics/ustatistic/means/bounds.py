"""Proved bounds of the error of means over pairs, whatever the records, and the number of bins that makes them least.

They hold for every distribution, so they are far above the errors that one should expect (10 to 50 times for randomized
response): `predicted` has those. Proofs: docs/proofs/pairwise.md.

Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorems 1 and 2 and Corollary 1, corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ogive.checks import among
from ogive.errors import ParameterError
from ogive.privacy import Rational, exact
from ogive.statistics.ustatistic.reports.base import LARGEST_PAIRWISE

CONSTANTS = ("proved", "paper")
MATRIX_KINDS = ("midpoint", "average")


def variance_bound(bins: int, epsilon: Rational, records: int, *, oracle: str = "krr", lipschitz: float = 1.0) -> float:
    """Bound of the variance of an estimated mean of a kernel with values in [0, 1], against the population.

    Multiply it by the squared range of any other kernel.

    Args:
        bins: Number of symbols, k, at least 2.
        epsilon: Privacy of a report.
        records: Number of reports, at least 2.
        oracle: "krr" (Theorem 1), "unary", or "haar" with geometric weights.
        lipschitz: Most that the kernel changes when an argument moves over the whole domain, which "haar" needs.

    Raises:
        ParameterError: an argument is out of range.
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
    """Bound of the mean squared error against the population, for values in [0, 1] in bins of equal width (Theorem 2).

    Args:
        bins: Number of bins, k, at least 2.
        epsilon: Privacy of a report.
        records: Number of reports, at least 2.
        oracle: "krr", "unary" or "haar".
        matrix: "midpoint" for a kernel with values in [0, 1] that is Lipschitz in each argument; "average" for any
            kernel with values in [0, 1] and records whose density is Lipschitz.
        lipschitz: Constant of the kernel, or of the density.
        constants: "proved", or "paper" for those that were printed, of which the one of "midpoint" is false.

    Raises:
        ParameterError: an argument is out of range.
    """
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
