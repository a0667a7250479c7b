"""Least-squares hats smoothed in the norm of their own noise."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.hats.least_squares import smooth_hats
from ogive.strategies.hats.strategy import LeastSquaresHats


def nearest_hats(strategy: LeastSquaresHats, answer: Int64, total: int | None, kind: str) -> Float64:
    """The histogram of bins at least 0 that is nearest to an answer, by "least_squares" or "least_absolute"."""
    known = None if total is None else float(total)
    variances = np.array([level.law.variance for level in strategy.levels])
    sizes = np.array([level.nodes for level in strategy.levels])
    scales = np.array([1.0, *(2.0 * spacing for spacing in strategy.spacings)])
    values = answer.astype(np.float64) / np.repeat(scales, sizes)
    fit = smooth_hats
    if kind == "least_absolute":
        from ogive.strategies.hats.least_absolute import (
            smooth_hats_absolute as fit,  # sparse solvers are slow to import
        )

    return fit(values[: sizes[0]], values[sizes[0] :], strategy.spacings, variances / scales**2, total=known)
