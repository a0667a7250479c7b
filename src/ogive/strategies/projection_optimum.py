"""The Gaussian noise of least trace that hides one record: a multiplicative algorithm with a certified gap.

Among covariances S with v' S^-1 v <= 1 for all changes v, the trace is least at S = tr(M^{1/2}) M^{1/2} for the
weights xi on the changes that make tr(M^{1/2}) largest, M = sum of xi_j v_j v_j'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogive.privacy import Adjacency
from ogive.strategies.projection_bases import Basis
from ogive.strategies.projection_sensitivity import cosine_points, record_features

Float64 = NDArray[np.float64]

_TINY = 1e-18


def changes(basis: Basis, degree: int, adjacency: Adjacency, steps: int) -> Float64:
    """What one record can change, between points of a cosine grid, shape (changes, M)."""
    rows = record_features(basis, degree, adjacency, cosine_points(steps)).T
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return np.ascontiguousarray(rows)
    first, second = np.triu_indices(len(rows), 1)
    return rows[first] - rows[second]


def least_trace(vectors: Float64, *, gap: float = 1e-3) -> Float64:
    """Covariance S of nearly least trace with v' S^-1 v <= 1 + gap for the given vectors, shape (M, M).

    Args:
        vectors: Shape (n, M).
        gap: Relative distance of the trace from the least one.
    """
    weights = np.full(len(vectors), 1 / len(vectors))
    while True:
        moment = (vectors.T * weights) @ vectors + _TINY * np.eye(vectors.shape[1])
        values, axes = np.linalg.eigh(moment)
        roots = np.sqrt(values)
        trace = roots.sum()
        turned = vectors @ axes
        ratio = (turned**2 @ (1 / roots)) / trace
        if ratio.max() < 1 + gap:
            shape: Float64 = trace * (axes * roots) @ axes.T
            return (shape + shape.T) / 2
        weights *= ratio
        weights /= weights.sum()
        kept = weights >= 1e-12
        if not kept.all():
            # a dropped vector is still covered: `ratio` is checked over those kept, and all are certified afterwards
            vectors, weights = vectors[kept], weights[kept] / weights[kept].sum()
