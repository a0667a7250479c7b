"""Path noise smoothed by generalized least squares (Eq. 3 with p = 2), exactly and in near-linear time.

With K the covariance of the noise, the problem is

    min (f - y)^T K^{-1} (f - y)   subject to   x_i = f_i - f_{i-1} >= 0   for every gap i = 0..M,

where f_{-1} = 0 and f_M = total. Let lambda_i be the multiplier of gap i. Stationarity is
f = y + K mu with mu_i = lambda_i - lambda_{i+1}, and K = Z^T Z turns it into

    x = increments(y) + G lambda,   x >= 0,   lambda >= 0,   x lambda = 0,

with G the Laplacian of the graph of `Intervals`, every noise node an edge of conductance 1.
G is a (weakly diagonally dominant) M-matrix. From lambda = 0 (but the last, where the total is
imposed), hold at zero every increment that is negative, solve, and repeat: multipliers only
grow, so an increment once held stays held, and the first iterate with x >= 0 is the optimum
(Hintermueller, Ito and Kunisch 2003). In practice that takes 3 to 15 rounds, each a
subtraction-free elimination along the nested order, O(M).
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.compiling import njit
from ogive.strategies.path.intervals import Intervals

UNKNOWN, BOXED, ANCHORED = 0, 1, 2
"""What is demanded of the last increment, total - f_{M-1}: nothing, not negative, zero."""

TOLERANCE = 1e-7
"""Largest accepted violation of the optimality conditions, relative to the largest increment."""


def smooth_path(noisy: Float64, intervals: Intervals, *, total: float, ending: int) -> Float64:
    """Project noisy cumulative counts onto the monotone curves, in the norm of the noise's precision.

    Args:
        noisy: Cumulative counts with path noise, shape (M,).
        intervals: The noise nodes that touch the points.
        total: The number of records; ignored if `ending` is `UNKNOWN`.
        ending: `UNKNOWN`, `BOXED` (the last value is at most the total) or `ANCHORED` (it is the total).

    Returns:
        Non-decreasing cumulative counts from 0 up, shape (M,).

    Raises:
        ArithmeticError: the result does not satisfy the optimality conditions (not known to happen).
    """
    if ending != UNKNOWN and total == 0:
        return np.zeros(noisy.size)
    steps = np.diff(noisy, prepend=0.0, append=total if ending != UNKNOWN else noisy[-1])
    joined = intervals.joined.astype(np.float64)
    neighbors = intervals.neighbors.astype(np.float64)
    increments, multipliers, rounds = _complementary(steps, neighbors, intervals.order, joined, ending)
    wrong = _residual(steps, neighbors, intervals.order, joined, increments, multipliers)
    if rounds < 0 or wrong > TOLERANCE * (1.0 + float(np.abs(steps).max())):
        raise ArithmeticError(f"least-squares smoothing left a residual of {wrong:g} records")
    return np.cumsum(increments[:-1])


@njit()
def _complementary(
    steps: Float64, neighbors: Float64, order: Int64, joined: Float64, ending: int
) -> tuple[Float64, Float64, int]:
    """Increments and multipliers of the optimum, and the rounds it took (-1: not reached)."""
    last = neighbors.size
    held = np.zeros(last + 1, np.bool_)
    held[last] = ending == 2
    multipliers = np.zeros(last + 1)
    increments = np.empty(last + 1)
    for rounds in range(1, last + 3):
        _solve(steps, neighbors, order, joined, held, multipliers, increments)
        grown = False
        for gap in range(last if ending != 1 else last + 1):
            if not held[gap] and increments[gap] < 0.0:
                held[gap] = True
                grown = True
        if not grown:
            for gap in range(last if ending == 2 else last + 1):
                # rounding may leave a multiplier just below zero; the residual is checked with it at zero
                multipliers[gap] = max(multipliers[gap], 0.0)
            return increments, multipliers, rounds
    return increments, multipliers, -1


@njit()
def _solve(
    steps: Float64,
    neighbors: Float64,
    order: Int64,
    joined: Float64,
    held: Bool,
    multipliers: Float64,
    increments: Float64,
) -> None:
    """Multipliers that keep the held increments at zero, others zero; and all increments (in place)."""
    last = neighbors.size
    edge = neighbors.copy()
    ground = np.zeros(last + 1)
    load = -steps
    toward_left = np.empty(last)
    toward_right = np.empty(last)
    for step in range(last - 1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        before, after = edge[left], edge[gap]
        edge[left] = joined[step]
        if held[gap]:
            diagonal = before + after + ground[gap]
            p, q = before / diagonal, after / diagonal
            edge[left] += before * q
            ground[left] += p * ground[gap]
            ground[right] += q * ground[gap]
            load[left] += p * load[gap]
            load[right] += q * load[gap]
            load[gap] /= diagonal
            toward_left[step], toward_right[step] = p, q
        else:
            ground[left] += before
            ground[right] += after
            toward_left[step], toward_right[step] = before, after
    between = edge[0]
    multipliers[0] = multipliers[last] = 0.0
    if held[0] and held[last]:
        first, final = ground[0], ground[last]
        # (between + first)(between + final) - between^2, without the cancellation
        determinant = between * (first + final) + first * final
        multipliers[0] = (load[0] * (between + final) + between * load[last]) / determinant
        multipliers[last] = (load[last] * (between + first) + between * load[0]) / determinant
    elif held[0]:
        multipliers[0] = load[0] / (between + ground[0])
    elif held[last]:
        multipliers[last] = load[last] / (between + ground[last])
    increments[0] = 0.0 if held[0] else -load[0] - between * multipliers[last]
    increments[last] = 0.0 if held[last] else -load[last] - between * multipliers[0]
    for step in range(last - 2, -1, -1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        push = toward_left[step] * multipliers[left] + toward_right[step] * multipliers[right]
        if held[gap]:
            multipliers[gap] = load[gap] + push
            increments[gap] = 0.0
        else:
            multipliers[gap] = 0.0
            increments[gap] = -load[gap] - push


@njit()
def _residual(
    steps: Float64, neighbors: Float64, order: Int64, joined: Float64, increments: Float64, multipliers: Float64
) -> float:
    """Largest entry of |increments - steps - G multipliers|, with G applied edge by edge."""
    wrong = increments - steps
    for gap in range(neighbors.size):
        flow = neighbors[gap] * (multipliers[gap] - multipliers[gap + 1])
        wrong[gap] -= flow
        wrong[gap + 1] += flow
    for step in range(joined.size):
        left, right = order[1, step], order[2, step]
        flow = joined[step] * (multipliers[left] - multipliers[right])
        wrong[left] -= flow
        wrong[right] += flow
    return float(np.abs(wrong).max())
