"""The two baselines of the paper as plain simulations: noise is a floating-point Gaussian, and nothing is released.

Each takes the standard deviation of the noise, so one text serves every accounting. With 0 there is no privacy.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.optimize import isotonic_regression

from ogive.accounting.losses import gaussian_mu
from ogive.core.arrays import Float64

GROUPS, ROUNDS = 30, 50


def scale(epsilon: float, delta: float, *, parts: int = 1) -> float:
    """Standard deviation of Gaussian noise at sensitivity 1, with an equal part of epsilon and delta for each of some
    queries: what is left when they are charged one by one.
    """
    return 1 / gaussian_mu(Fraction(epsilon) / parts, Fraction(delta) / parts)


def histogram_counts(records: Float64, low: float, high: float) -> Float64:
    """Records in each of the `GROUPS` equal bins between the bounds."""
    return np.histogram(records, GROUPS, (low, high))[0].astype(np.float64)


def histogram_curve(counts: Float64, axis: Float64, *, linear: bool) -> Float64:
    """The distribution function of noisy counts: negative ones become 0, shares are added up.

    Args:
        counts: Of equal bins over the axis.
        axis: Where the curve is wanted, from the lower to the upper bound.
        linear: Between the edges of bins straight lines, or the value at the last edge.
    """
    kept = np.maximum(counts, 0.0)
    if not kept.any():
        kept = np.ones_like(kept)
    edges = np.linspace(axis[0], axis[-1], counts.size + 1)
    heights = np.concatenate([[0.0], np.cumsum(kept) / kept.sum()])
    if linear:
        return np.asarray(np.interp(axis, edges, heights))
    # points of the axis that are edges must not miss them by a rounding error
    passed = np.searchsorted(edges, axis + 1e-9 * (axis[-1] - axis[0]), side="right") - 1
    return np.asarray(heights[passed])


Count = Callable[[float], float]


def adaptive_points(count: Count, records: int, low: float, high: float, noise: Float64) -> tuple[Float64, Float64]:
    """Adaptive quantiles: in every round halve the gap of quantiles that is largest so far.

    Args:
        count: How many records are at most some value.
        records: How many there are.
        low: Lower bound.
        high: Upper bound.
        noise: What is added to the count of each round, shape (rounds,).

    Returns:
        Places and shares, both ascending and matched by rank, the bounds included.
    """
    places, shares = [low, high], [0.0, 1.0]
    for added in noise:
        gaps = [
            above - below if right > left else -1.0
            for below, above, left, right in zip(shares, shares[1:], places, places[1:], strict=False)
        ]
        widest = gaps.index(max(gaps))
        middle = (places[widest] + places[widest + 1]) / 2
        share = (count(middle) + float(added)) / records
        bisect.insort(places, middle)
        bisect.insort(shares, min(1.0, max(0.0, share)))
    return np.array(places), np.array(shares)


def counter(records: Float64) -> Count:
    """A function that counts the records up to a value."""
    ordered = np.sort(records)
    return lambda value: float(np.searchsorted(ordered, value, side="right"))


def valid_curve(raw: Float64) -> Float64:
    """The nearest distribution function: isotonic regression, values within 0 and 1, and 1 at the upper bound."""
    curve = np.clip(isotonic_regression(raw).x, 0.0, 1.0)
    curve[-1] = 1.0
    return np.asarray(curve)
