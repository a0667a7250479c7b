"""Smooth sensitivity of an order statistic, and what noise of its scale guarantees.

How far one replaced record can move the k-th smallest of n records depends on the records near it, and is itself
private. A bound that is smooth, so that one record changes it by a factor e^beta at most, may scale the noise.

Source:
    Nissim, Raskhodnikova and Smith, Smooth sensitivity and sampling in private data analysis, STOC 2007, for the
    median; `docs/proofs/order_statistics.md` has the proofs, and constants that are smaller than theirs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from ogive.core.arrays import Float64, Int64


def smooth_sensitivity(ordered: Float64, rank: int, low: float, high: float, smoothness: float) -> float:
    """Smooth sensitivity of an order statistic when one record is replaced, in O(n log n).

    The largest e^(-beta t) A(t), where A(t) is the largest distance that one record can move the statistic by after t
    other records were replaced: max over s of x[k + s] - x[k + s - t - 1], with the bounds beyond both ends.

    Args:
        ordered: Records within the bounds, ascending, shape (n,).
        rank: k, from 1 to n: which of them, from the smallest on.
        low: Lower bound of every record.
        high: Upper bound.
        smoothness: beta, above 0.
    """
    padded = np.concatenate([[low], ordered, [high]])
    # the best right end does not decrease from one left end to the next, so each level of halves looks at every right
    # end once, and twice at those where halves meet
    starts, ends = np.array([0]), np.array([rank])
    first, last = np.array([rank]), np.array([padded.size - 1])
    largest = 0.0
    while starts.size:
        middle = (starts + ends) // 2
        best, value = _best_ends(padded, middle, first, last, smoothness)
        largest = max(largest, float(value.max()))
        starts, ends = np.concatenate([starts, middle + 1]), np.concatenate([middle - 1, ends])
        first, last = np.concatenate([first, best]), np.concatenate([best, last])
        kept = starts <= ends
        starts, ends, first, last = starts[kept], ends[kept], first[kept], last[kept]
    return largest


def _best_ends(padded: Float64, left: Int64, first: Int64, last: Int64, smoothness: float) -> tuple[Int64, Float64]:
    """For each left end the right end, from `first` to `last`, with the largest weighted distance, and that."""
    sizes = last - first + 1
    offsets = np.cumsum(sizes) - sizes
    right = np.arange(sizes.sum()) - np.repeat(offsets - first, sizes)
    steps = right - np.repeat(left, sizes) - 1
    values = (padded[right] - np.repeat(padded[left], sizes)) * np.exp(-smoothness * np.maximum(steps, 0))
    largest = np.maximum.reduceat(values, offsets)
    places = np.where(values == np.repeat(largest, sizes), right, padded.size)
    return np.minimum.reduceat(places, offsets), largest


def cauchy_terms(epsilon: float) -> tuple[float, float]:
    """Smoothness, and scale in units of the smooth sensitivity, at which Cauchy noise is epsilon-private.

    Privacy:
        A shift costs at most 1 / scale, a change of scale at most the smoothness; each gets half of epsilon.
    """
    return epsilon / 2, 2 / epsilon


def laplace_terms(epsilon: float, delta: float) -> tuple[float, float]:
    """Smoothness, and scale in units of the smooth sensitivity, at which Laplace noise is (epsilon, delta)-private.

    Privacy:
        A shift costs at most 1 / scale, half of epsilon. The largest smoothness is taken at which a change of scale
        costs the other half with `scale_delta` of at most delta.
    """
    half = epsilon / 2
    if scale_delta(half, half) <= delta:
        return half, 1 / half
    return float(
        brentq(lambda smoothness: math.log(scale_delta(half, smoothness) / delta), half * 1e-6, half)
    ), 1 / half


def scale_delta(epsilon: float, smoothness: float) -> float:
    """Least delta at which Laplace noise of scales that differ by a factor e^smoothness is (epsilon, delta)-private.

    Args:
        epsilon: At least the smoothness.
        smoothness: Above 0.
    """
    tail = (epsilon + smoothness) / math.expm1(smoothness)
    return max(-math.expm1(-smoothness) * math.exp(-tail), math.ulp(0.0))
