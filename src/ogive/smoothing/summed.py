"""Sums of curves made valid: batches are added up as they were measured, and smoothed once, together."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ogive.smoothing.shrinkage import NoiseEnergy, noise_energy, shrink
from ogive.strategies.base import Strategy, approximates

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


def smooth_sum(strategy: Strategy, raw: Float64, *, total: int | None) -> tuple[Float64, str]:
    """The valid curve near a sum of unbiased estimates, and the name of what was done.

    Shrinkage as for a single curve, with the noise of the sum; isotonic regression for approximations, which have
    little noise to be taken out.

    Args:
        strategy: Says what noise the sum has.
        raw: Cumulative counts before smoothing, shape (N,).
        total: The number of records where it is public, else None.

    Privacy:
        Post-processing; costs nothing.
    """
    curve = np.clip(_isotonic(raw, total), 0.0, total)
    if approximates(strategy):
        return curve, "isotonic"
    hashable: Any = strategy
    energy = _energy(hashable, None if total is None else 0)
    return np.clip(_isotonic(shrink(raw, curve, energy), total), 0.0, total), "shrinkage"


@lru_cache(maxsize=16)
def _energy(strategy: Any, total: int | None) -> NoiseEnergy:
    """How strong the noise of the sum is on every scale; kept for the sums made last."""

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        return np.asarray(strategy.estimate(strategy.spread(noise), total))

    return noise_energy(estimate, strategy.levels, strategy.size)


def _isotonic(estimate: Float64, total: int | None) -> Float64:
    curve: Float64 = isotonic_regression(estimate).x
    if total is not None:
        curve = np.minimum(curve, total)
        curve[-1] = total
    return curve
