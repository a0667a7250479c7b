"""Means of kernels over triples of different records, from responses of k-ary randomized response.

Source: section 2 of the account of Bell, Bellet, Gascon and Kulkarni 2020: the subtraction of diagonals, one degree up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Int64
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
    given = np.asarray(tensor, dtype=np.float64)
    if given.shape != (k, k, k) or not np.isfinite(given).all():
        raise ParameterError(f"a tensor must hold finite numbers, of shape ({k}, {k}, {k}), got {given.shape}")
    n = int(sums.sum())
    if n < 3:
        raise DataError(f"a mean over triples needs at least 3 reports, got {n}")
    middle = (float(given.max()) + float(given.min())) / 2
    whole = sum(np.transpose(given - middle, axes) for axes in _ORDERS) / 6
    keep = float(oracle.keep)
    vectors = (np.eye(k) - (1 - keep) / k) / keep  # row y is the vector of response y
    total = sums @ vectors
    given_total = whole @ total  # (k, k)
    at_pairs = ((vectors @ given_total) * vectors).sum(axis=1)
    at_own = np.einsum("abc,ya,yb,yc->y", whole, vectors, vectors, vectors, optimize=True)
    triples = total @ given_total @ total - 3 * sums @ at_pairs + 2 * sums @ at_own
    return middle + float(triples) / (n * (n - 1) * (n - 2))


_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
