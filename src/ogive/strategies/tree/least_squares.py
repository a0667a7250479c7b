"""Counts of consecutive blocks smoothed by nonnegative least squares, exactly.

    min  sum over blocks b of  (t_b - sum of x in b)^2 / v_b   subject to   x >= 0   (and sum x = total).

The covariance of the unconstrained estimate is an M-matrix, so the same argument as for path
noise applies: hold every negative bin at zero, re-estimate by the two passes of `estimate`
with a held bin known exactly, and repeat. No bin ever has to be freed again, and the first
estimate without a negative bin is the optimum. Each round is O(N); 5 to 15 are usual.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit

TOLERANCE = 1e-7
"""Largest accepted violation of the optimality conditions, relative to the largest residual."""


def smooth_tree(measured: Float64, blocks: Int64, sizes: Int64, variances: Float64, *, total: float | None) -> Float64:
    """Fit a nonnegative histogram to noisy block counts.

    Args:
        measured: Block counts, level by level, bins first, shape (sum of sizes,).
        blocks: Block size of each level, 1 first, each dividing the next, shape (levels,).
        sizes: Number of blocks of each level, shape (levels,).
        variances: Noise variance of each level, shape (levels,).
        total: Sum that the histogram must have, or None.

    Returns:
        Histogram, at least 0, shape (N,).

    Raises:
        ArithmeticError: the result does not satisfy the optimality conditions (not known to happen).
    """
    if total == 0:
        return np.zeros(int(sizes[0]))
    fitted, excess, rounds = _nonnegative(measured, blocks, sizes, variances, -1.0 if total is None else float(total))
    residuals = (measured - fitted) / np.repeat(variances, sizes)
    gradient = -excess * np.ones(int(sizes[0]))
    start = 0
    for block, size in zip(blocks, sizes, strict=True):
        level = np.repeat(residuals[start : start + size], block)[: sizes[0]]
        gradient -= level
        start += int(size)
    bins = fitted[: sizes[0]]
    # at the optimum the gradient is 0 where a bin is positive and at least 0 where it is held
    wrong = float(np.maximum(-gradient, np.where(bins > 0, gradient, 0.0)).max())
    if rounds < 0 or wrong > TOLERANCE * (1.0 / variances.min() + float(np.abs(residuals).max())):
        raise ArithmeticError(f"least-squares smoothing left a gradient of {wrong:g}")
    return bins


@njit()
def _nonnegative(
    measured: Float64, blocks: Int64, sizes: Int64, variances: Float64, total: float
) -> tuple[Float64, float, int]:
    """Fitted blocks of all levels, the multiplier of the total (0 if none), and the rounds (-1: not reached)."""
    levels, bins = blocks.size, sizes[0]
    starts = np.zeros(levels + 1, np.int64)
    for level in range(levels):
        starts[level + 1] = starts[level] + sizes[level]
    held = np.zeros(bins, np.bool_)
    fitted = np.empty(starts[levels])
    spread = np.empty(starts[levels])
    child_sum = np.empty(starts[levels])
    child_spread = np.empty(starts[levels])
    excess = 0.0
    for rounds in range(1, bins + 2):
        for bin_ in range(bins):
            fitted[bin_] = 0.0 if held[bin_] else measured[bin_]
            spread[bin_] = 0.0 if held[bin_] else variances[0]
        for level in range(1, levels):
            ratio = blocks[level] // blocks[level - 1]
            child, stop, variance = starts[level - 1], starts[level], variances[level]
            for block in range(starts[level], starts[level + 1]):
                sum_, width = 0.0, 0.0
                for _ in range(min(ratio, stop - child)):
                    sum_ += fitted[child]
                    width += spread[child]
                    child += 1
                weight = width / (width + variance)
                fitted[block] = sum_ + weight * (measured[block] - sum_)
                spread[block] = weight * variance
                child_sum[block], child_spread[block] = sum_, width
        if total >= 0:
            first = starts[levels - 1]
            width = spread[first:].sum()
            if width <= 0.0:
                return fitted, excess, -1
            excess = (total - fitted[first:].sum()) / width
            for block in range(first, starts[levels]):
                fitted[block] += spread[block] * excess
        for level in range(levels - 1, 0, -1):
            ratio = blocks[level] // blocks[level - 1]
            child, stop = starts[level - 1], starts[level]
            for block in range(starts[level], starts[level + 1]):
                width = child_spread[block]
                push = (fitted[block] - child_sum[block]) / width if width > 0.0 else 0.0
                for _ in range(min(ratio, stop - child)):
                    fitted[child] += spread[child] * push
                    child += 1
        grown = False
        for bin_ in range(bins):
            if not held[bin_] and fitted[bin_] < 0.0:
                held[bin_] = True
                grown = True
        if not grown:
            return fitted, excess, rounds
    return fitted, excess, -1
