"""Means of kernels over triples of different records, from responses of k-ary randomized response.

A response y is a vector phi(y) whose mean is the unit vector of its owner's symbol, so the kernel h(y, y', y''), the
tensor at three such vectors, has the mean of the kernel of the records, and the estimate is the mean of h over all
triples of different responses.

Source: section 2 of the account of Bell, Bellet, Gascon and Kulkarni 2020: the subtraction of diagonals, one degree up.
Proofs: docs/proofs/central_pairs.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64, Int64
from ogive.checks import array_of
from ogive.errors import DataError, ParameterError, quoted

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
    return hoeffding(responded, responses, records), hoeffding(centered, distribution, records)


def hoeffding(tensor: Float64, distribution: Float64, records: int) -> float:
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
