"""Isotonic regression: the curve that never decreases and is nearest to an estimate in squared distance."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64
from ogive.compiling import njit


def isotonic(estimate: Float64, total: int | None) -> Float64:
    """The nearest curve that never decreases; with a total it is at most that, and exactly that at its end."""
    curve = np.array(estimate, dtype=np.float64)
    pool(curve)
    if total is not None:
        curve = np.minimum(curve, total)
        curve[-1] = total
    return curve


@njit(steps=lambda values: 2 * values.size)
def pool(values: Float64) -> None:
    """Overwrite values by their isotonic regression, in linear time.

    Neighbors that decrease are pooled to their mean: forward as long as the mean is not below what follows, then
    backward as long as it is not above what precedes.

    Source: Busing, Monotone regression: a simple and fast O(n) PAVA implementation, 2022.
    """
    size = values.size
    means, weights, ends = np.empty(size), np.empty(size), np.empty(size, np.int64)
    blocks, at = 0, 0
    while at < size:
        mean, weight = values[at], 1.0
        at += 1
        if blocks > 0 and means[blocks - 1] >= mean:
            blocks -= 1
            total = weights[blocks] * means[blocks] + mean
            weight += weights[blocks]
            mean = total / weight
            while at < size and mean >= values[at]:
                total += values[at]
                weight += 1.0
                mean = total / weight
                at += 1
            while blocks > 0 and means[blocks - 1] >= mean:
                blocks -= 1
                total += weights[blocks] * means[blocks]
                weight += weights[blocks]
                mean = total / weight
        means[blocks], weights[blocks], ends[blocks] = mean, weight, at
        blocks += 1
    first = 0
    for block in range(blocks):
        values[first : ends[block]] = means[block]
        first = ends[block]
