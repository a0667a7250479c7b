"""The noise of least variance that hides one record: multiplicative algorithms with certified gaps.

Gaussian: among covariances S with v' S^-1 v <= 1 for all changes v, the trace is least at
S = tr(M^{1/2}) M^{1/2} for the weights xi on the changes that make tr(M^{1/2}) largest, M = sum of xi_j v_j v_j'.

Laplace: among weights w with sum_k w_k |v_k| <= 1 for all changes v, the sum of w_k^-2 is least at w_k = s a_k^{-1/3},
a = sum of xi_j |v_j|, s so that sum_k a_k w_k = 1, for the weights xi that make that sum largest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ogive.arrays import Float64
from ogive.strategies.projection.form import Form
from ogive.strategies.projection.sensitivity import cosine_points

_TINY, _FORGOTTEN = 1e-18, 1e-12


def changes(form: Form) -> Float64:
    """What one record can change, between points of a coarse grid of the kind of the certificate's, shape (n, M)."""
    steps = 80 if form.degree <= 14 else 120
    points = cosine_points(steps) if form.basis == "legendre" else 2 * np.arange(steps + 1) / steps - 1
    rows = form.record(points).T
    if form.counted:
        return np.ascontiguousarray(rows)
    first, second = np.triu_indices(len(rows), 1)
    return rows[first] - rows[second]


def least_trace(vectors: Float64, *, gap: float = 1e-3) -> Float64:
    """Covariance S of nearly least trace with v' S^-1 v <= 1 + gap for the given vectors, shape (M, M).

    Args:
        vectors: Shape (n, M).
        gap: Largest relative excess of the trace over the least one.
    """

    def best(weights: Float64, chosen: Float64) -> Float64:
        moment = (chosen.T * weights) @ chosen + _TINY * np.eye(chosen.shape[1])
        values, axes = np.linalg.eigh(moment)
        roots = np.sqrt(values)
        return np.asarray(roots.sum() * (axes * roots) @ axes.T)

    def reached(shape: Float64, chosen: Float64) -> Float64:
        return np.asarray(np.einsum("ij,ij->i", chosen @ np.linalg.inv(shape), chosen))

    return _balanced(vectors, best, reached, gap)


def least_spread(vectors: Float64, *, gap: float = 1e-3) -> Float64:
    """Weights w of nearly least sum of w^-2 with sum_k w_k |v_k| <= 1 + gap for the given vectors, shape (M,)."""

    def best(weights: Float64, chosen: Float64) -> Float64:
        means = weights @ chosen
        found = np.cbrt(1 / means)
        return np.asarray(found / (means @ found))

    def reached(found: Float64, chosen: Float64) -> Float64:
        return np.asarray(chosen @ found)

    return _balanced(np.abs(vectors), best, reached, gap)


def _balanced(
    vectors: Float64,
    best: Callable[[Float64, Float64], Float64],
    reached: Callable[[Float64, Float64], Float64],
    gap: float,
) -> Float64:
    """Raise the weight of vectors that reach more than 1 and lower that of others, until none reaches 1 + gap.

    Most weights tend to 0; their vectors are forgotten, since what is found is certified later anyway.
    """
    weights = np.full(len(vectors), 1 / len(vectors))
    while True:
        found = best(weights, vectors)
        ratio = reached(found, vectors)
        if ratio.max() < 1 + gap:
            return found
        weights = weights * ratio
        kept = weights >= _FORGOTTEN
        vectors, weights = vectors[kept], weights[kept] / weights[kept].sum()
