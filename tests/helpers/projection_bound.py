"""A bound on the whole error of a projection, which no release states."""

from __future__ import annotations

import math

import numpy as np

from ogive.strategies.projection.strategy import OrthogonalProjection


def l2_error_bound(
    strategy: OrthogonalProjection,
    records: int,
    *,
    alpha: float = 0.0,
    sampling_failure: float = 0.05,
    noise_failure: float = 0.05,
) -> float:
    """Bound the L2 distance on [-1, 1] of the noisy projection from the distribution the records come from.

    It holds with probability 1 - sampling_failure - noise_failure for values at their bins' middles, with Gaussian
    noise under REPLACE; smoothing keeps it. `alpha` is the L2 distance of the distribution from its own projection.

    Source:
        Theorem 1 of Tao and Sarwate 2025, repaired and sharpened; `docs/proofs/projection.md`.
    """
    form = strategy._form
    assert not form.absolute
    assert not form.counted
    loading = form.coefficients()[1] @ strategy._unwhitened * math.sqrt(strategy.law.variance)
    singular = np.linalg.svd(loading, compute_uv=False) / records
    sampling = math.sqrt(math.log(2 / sampling_failure) / records)
    noise = float(np.linalg.norm(singular)) + float(singular.max()) * math.sqrt(2 * math.log(1 / noise_failure))
    return math.sqrt(alpha**2 + (sampling + noise) ** 2)
