"""Noisy bins and overlapping hats smoothed by least absolute residuals: a sparse linear program.

    min  sum of weighted |residuals| of bins and hats   subject to   x >= 0   (and sum x = total)

Hats overlap, so the block-by-block method for trees does not apply; a sparse interior-point
solver takes it as it stands. The objective of the result, made feasible, is compared with the
solver's lower bound.
"""

from __future__ import annotations

import numpy as np
import piqp
from scipy import sparse

from ogive.arrays import Float64
from ogive.strategies.hats.passes import hat_sizes

TOLERANCE = 1e-6
"""Largest accepted duality gap, relative to the objective."""


def hat_matrix(size: int, spacings: tuple[int, ...]) -> sparse.csr_array:
    """Hat sums as a sparse matrix on the scale where a bin has weight 1 per level, shape (hats, N)."""
    sizes = hat_sizes(size, spacings)
    bins = np.arange(size)
    rows, weights, start = [], [], 0
    for spacing, hats in zip(spacings, sizes, strict=True):
        hat = bins // spacing
        right = (bins - hat * spacing + 0.5) / spacing
        rows += [start + hat, start + hat + 1]
        weights += [1.0 - right, right]
        start += int(hats)
    if not rows:
        return sparse.csr_array((0, size))
    columns = np.tile(bins, len(rows))
    return sparse.csr_array((np.concatenate(weights), (np.concatenate(rows), columns)), shape=(start, size))


def smooth_hats_absolute(
    bins: Float64, hats: Float64, spacings: tuple[int, ...], variances: Float64, *, total: float | None
) -> Float64:
    """Find a nonnegative histogram closest to noisy bins and hats in weighted absolute distance.

    Args:
        bins: Noisy bin counts, shape (N,).
        hats: Noisy hat sums on the scale where a record adds 1 per level, shape (hats,).
        spacings: Distances between knots, in bins, increasing.
        variances: Noise variance of a bin, then of the hats of each level; weights are 1 / standard deviation.
        total: Sum that the histogram must have, or None.

    Returns:
        Histogram, at least 0, shape (N,); a central optimum where there are several.

    Raises:
        ArithmeticError: the solver did not reach the tolerance.
    """
    size = bins.size
    if total == 0:
        return np.zeros(size)
    measured = np.concatenate([bins, hats])
    deviations = np.sqrt(np.repeat(variances, [size, *hat_sizes(size, spacings)]))
    # residuals in units of the noise, as a difference of two nonnegative parts
    scale = float(deviations.min())
    weights = scale / deviations
    rows = sparse.vstack([sparse.eye_array(size), hat_matrix(size, spacings)])
    rows = sparse.hstack([rows, sparse.eye_array(measured.size), -sparse.eye_array(measured.size)])
    right = measured / scale
    if total is not None:
        sums = sparse.coo_array((np.ones(size), (np.zeros(size, np.int64), np.arange(size))), shape=(1, rows.shape[1]))
        rows = sparse.vstack([rows, sums])
        right = np.append(right, total / scale)
    cost = np.concatenate([np.zeros(size), weights, weights])
    solver = piqp.SparseSolver()
    solver.settings.verbose = False
    empty = sparse.csc_matrix((cost.size, cost.size))
    solver.setup(empty, cost, sparse.csc_matrix(rows), right, x_l=np.zeros(cost.size))
    solved = solver.solve() == piqp.PIQP_SOLVED
    fitted: Float64 = np.maximum(np.asarray(solver.result.x)[:size], 0.0) * scale
    if total is not None:
        fitted *= total / max(float(fitted.sum()), 1e-300)
    residuals = measured - np.concatenate([fitted, hat_matrix(size, spacings) @ fitted])
    attained = float((np.abs(residuals) / deviations).sum())
    bound = float(solver.result.info.dual_obj)
    if not solved or attained - bound > TOLERANCE * (attained + np.sqrt(size)):
        raise ArithmeticError(f"least-absolute smoothing left a duality gap of {attained - bound:g}")
    return fitted
