"""Counts of consecutive blocks smoothed by least absolute residuals, exactly.

    min  sum over blocks b of  w_b |t_b - sum of x in b|   subject to   x >= 0   (and sum x = total).

The least cost of giving a block the sum h is convex and piecewise linear in h >= 0. Splitting h
between the children at least cost strings their linear pieces together by slope; the block's
own term then lowers the slopes below t_b by w_b and raises those above. Level by level the
possible slopes are few, so a cost is a row of piece lengths, adding up children is adding
rows, and everything is O(N) per level. Pieces of equal slope are shared in proportion.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit

TOLERANCE = 1e-9
"""Largest accepted difference between predicted and attained objective, relative to the objective at 0."""


def smooth_tree_absolute(
    measured: Float64, blocks: Int64, sizes: Int64, weights: Float64, *, total: float | None
) -> Float64:
    """Find a nonnegative histogram that is closest to noisy block counts in weighted absolute distance.

    Args:
        measured: Block counts, level by level, bins first, shape (sum of sizes,).
        blocks: Block size of each level, 1 first, each dividing the next, shape (levels,).
        sizes: Number of blocks of each level, shape (levels,).
        weights: Weight of the residuals of each level, shape (levels,).
        total: Sum that the histogram must have, or None.

    Returns:
        Histogram, at least 0, shape (N,); one optimum where there are several.

    Raises:
        ArithmeticError: the histogram does not attain the predicted objective (not known to happen).
    """
    levels = np.split(measured, np.cumsum(sizes)[:-1])
    slopes = np.array([-weights[0], weights[0]])
    pieces = np.column_stack([np.maximum(levels[0], 0.0), np.full(levels[0].size, np.inf)])
    rows, sums = [pieces], []
    for level in range(1, len(levels)):
        ratio = int(blocks[level] // blocks[level - 1])
        joined = _group_sums(pieces, ratio)
        both = np.concatenate([slopes - weights[level], slopes + weights[level]])
        rank = np.argsort(both, kind="stable")
        pieces = _bend(joined, levels[level])[:, rank]
        slopes = both[rank]
        rows.append(pieces)
        sums.append(joined)
    top = pieces.sum(axis=0, keepdims=True)
    amount = float(top[0, slopes < 0].sum()) if total is None else float(total)
    at_zero = float(sum(weight * np.abs(level).sum() for weight, level in zip(weights, levels, strict=True)))
    taken = np.minimum(np.maximum(amount - np.concatenate(([0.0], np.cumsum(top[0, :-1]))), 0.0), top[0])
    predicted = at_zero + float((slopes * taken).sum())
    share = _divide(np.array([amount]), top, rows[-1], len(rows[-1]))
    attained = float(weights[-1] * np.abs(share - levels[-1]).sum())
    for level in range(len(levels) - 2, -1, -1):
        share = _divide(share, sums[level], rows[level], int(blocks[level + 1] // blocks[level]))
        attained += float(weights[level] * np.abs(share - levels[level]).sum())
    if not abs(attained - predicted) <= TOLERANCE * (at_zero + weights.sum() * amount + 1.0):
        raise ArithmeticError(f"least-absolute smoothing missed its objective by {attained - predicted:g}")
    return share


def _group_sums(rows: Float64, ratio: int) -> Float64:
    """Sums of `ratio` consecutive rows, the last group possibly of fewer."""
    return np.add.reduceat(rows, np.arange(0, len(rows), ratio), axis=0)


@njit()
def _bend(joined: Float64, centers: Float64) -> Float64:
    """Cut every row of pieces at its center: lengths before it, then lengths after it."""
    nodes, pieces = joined.shape
    out = np.empty((nodes, 2 * pieces))
    for node in range(nodes):
        left = max(centers[node], 0.0)
        for piece in range(pieces):
            before = min(joined[node, piece], left)
            left -= before
            out[node, piece] = before
            out[node, pieces + piece] = joined[node, piece] - before
    return out


@njit()
def _divide(amounts: Float64, joined: Float64, rows: Float64, ratio: int) -> Float64:
    """Give each parent's amount to its children, cheapest pieces first, shape (children,)."""
    children, pieces = rows.shape
    out = np.zeros(children)
    for parent in range(amounts.size):
        first, stop = parent * ratio, min((parent + 1) * ratio, children)
        left = amounts[parent]
        for piece in range(pieces):
            length = joined[parent, piece]
            if left <= 0.0:
                break
            taken = min(left, length)
            left -= taken
            if taken == 0.0:
                continue
            for child in range(first, stop):
                if taken == length:
                    out[child] += rows[child, piece]
                elif length < np.inf:
                    out[child] += taken * (rows[child, piece] / length)
                else:
                    out[child] += taken / (stop - first)
    return out
