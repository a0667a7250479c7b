"""Compiled passes over a tree of consecutive blocks: least squares and its exact variance.

Level l holds the blocks `[j B_l, (j+1) B_l)` that begin below N; a measurement vector is all
counts of level 0 (bins), then of level 1, and so on. Every block of a level is alike except
perhaps the last, which may be cut short at N, so all coefficients are two numbers per level.
An unmeasured root joins the blocks of the top level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit


def level_sizes(size: int, blocks: tuple[int, ...]) -> Int64:
    """Number of blocks of each level that hold at least one bin, shape (levels,)."""
    return np.array([-(-size // block) for block in blocks], dtype=np.int64)


@njit(steps=lambda counts, blocks, sizes: 2 * int(sizes.sum()))
def block_counts(counts: Int64, blocks: Int64, sizes: Int64) -> Int64:
    """Sum of every block of every level, level by level, from the counts of the bins."""
    out = np.zeros(sizes.sum(), dtype=np.int64)
    out[: sizes[0]] = counts
    start = 0
    for level in range(1, blocks.size):
        ratio = blocks[level] // blocks[level - 1]
        below, start = start, start + sizes[level - 1]
        block, inside = start, 0
        for child in range(below, below + sizes[level - 1]):
            out[block] += out[child]
            inside += 1
            if inside == ratio:
                block += 1
                inside = 0
    return out


@njit()
def coefficients(blocks: Int64, sizes: Int64, variances: Float64) -> tuple[Float64, Float64]:
    """Variance of the upward estimates, and of the sums of their children.

    Returns:
        `own` and `children`, each of shape (levels + 1, 2): column 0 for a full block, column 1
        for the last block; row `levels` is the root (in column 1, own equal to children).
    """
    levels = blocks.size
    own = np.zeros((levels + 1, 2))
    children = np.zeros((levels + 1, 2))
    own[0, :] = variances[0]
    for level in range(1, levels + 1):
        count = 1 if level == levels else sizes[level]
        ratio = sizes[level - 1] if level == levels else blocks[level] // blocks[level - 1]
        last = sizes[level - 1] - (count - 1) * ratio
        children[level, 0] = ratio * own[level - 1, 0]
        children[level, 1] = (last - 1) * own[level - 1, 0] + own[level - 1, 1]
        for kind in range(2):
            total = children[level, kind]
            own[level, kind] = total if level == levels else 1.0 / (1.0 / variances[level] + 1.0 / total)
    return own, children


@njit(steps=lambda answers, *rest: 6 * answers.size)
def least_squares(
    answers: Int64, blocks: Int64, sizes: Int64, variances: Float64, totals: Float64, total_known: bool
) -> Float64:
    """Cumulative generalized-least-squares counts, shape (batch, N), in time O(N) per row.

    Differences of integers come first (`sum + weight (y - sum)`), so noiseless measurements
    return exactly the counts they came from.
    """
    levels = blocks.size
    own, children = coefficients(blocks, sizes, variances)
    starts = np.zeros(levels + 1, dtype=np.int64)
    for level in range(levels):
        starts[level + 1] = starts[level] + sizes[level]
    bins = sizes[0]
    out = np.empty((answers.shape[0], bins))
    estimate = np.empty(starts[levels])
    sums = np.empty(starts[levels])
    for row in range(answers.shape[0]):
        for node in range(bins):
            estimate[node] = answers[row, node]
        for level in range(1, levels):
            ratio = blocks[level] // blocks[level - 1]
            weight = own[level, 0] / variances[level]
            child, stop = starts[level - 1], starts[level]
            for node in range(starts[level], starts[level + 1]):
                if node == starts[level + 1] - 1:
                    weight = own[level, 1] / variances[level]
                total = 0.0
                for _ in range(min(ratio, stop - child)):
                    total += estimate[child]
                    child += 1
                sums[node] = total
                estimate[node] = total + weight * (answers[row, node] - total)
        if total_known:
            total = 0.0
            for node in range(starts[levels - 1], starts[levels]):
                total += estimate[node]
            excess = (totals[row] - total) / children[levels, 1]
            for node in range(starts[levels - 1], starts[levels]):
                estimate[node] += own[levels - 1, int(node == starts[levels] - 1)] * excess
        for level in range(levels - 1, 0, -1):
            ratio = blocks[level] // blocks[level - 1]
            child, stop = starts[level - 1], starts[level]
            for node in range(starts[level], starts[level + 1]):
                kind = int(node == starts[level + 1] - 1)
                excess = (estimate[node] - sums[node]) / children[level, kind]
                step = own[level - 1, 0] * excess
                for _ in range(min(ratio, stop - child)):
                    if child == stop - 1:
                        step = own[level - 1, 1] * excess
                    estimate[child] += step
                    child += 1
        total = 0.0
        for node in range(bins):
            total += estimate[node]
            out[row, node] = total
        if total_known:
            out[row, bins - 1] = totals[row]
    return out


@njit(steps=lambda blocks, sizes, *rest: 15 * blocks.size * int(sizes[0]))
def prefix_variance(blocks: Int64, sizes: Int64, variances: Float64, total_known: bool) -> Float64:
    """Exact variance of every cumulative estimate, shape (N,), in time O(N levels)."""
    levels = blocks.size
    own, children = coefficients(blocks, sizes, variances)
    out = np.empty(sizes[0])
    for leaf in range(sizes[0]):
        share, spread, node = 1.0, 0.0, leaf
        for level in range(1, levels + 1):
            if level == levels:
                parent, first, last_parent = 0, 0, True
            else:
                ratio = blocks[level] // blocks[level - 1]
                parent = node // ratio
                first = parent * ratio
                last_parent = parent == sizes[level] - 1
            below = own[level - 1, int(node == sizes[level - 1] - 1)]
            before = (node - first) * own[level - 1, 0]
            total = children[level, int(last_parent)]
            mixed = before + share * below
            spread += before + share * share * below - mixed * mixed / total
            share = mixed / total
            node = parent
        if not total_known:
            spread += share * share * own[levels, 1]
        out[leaf] = max(spread, 0.0)
    if total_known:
        out[sizes[0] - 1] = 0.0
    return out


def as_arrays(size: int, blocks: tuple[int, ...]) -> tuple[Any, Any]:
    """Block sizes and level sizes as the kernels take them."""
    return np.array(blocks, dtype=np.int64), level_sizes(size, blocks)
