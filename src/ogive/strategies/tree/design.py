"""Which block sizes to measure, and how to divide the budget between their levels.

On the full tree with block sizes 1 = B_0 | B_1 | ... | B_k = N and precisions p_l (inverse noise
variances), the mean variance of a cumulative count over its N points is

    sum_l e_l / (sum_{j<l} p_j B_j)  +  [total unknown] (N + 1)(2N + 1) / (6 N) / (sum_{j<k} p_j B_j),
    e_l = (B_l - 1/B_l - B_{l-1} + 1/B_{l-1}) / 6.

Level l receives the share w_l of the loss, and its precision is proportional to w_l^2 (Laplace,
pure differential privacy) or to w_l (Gaussian, zero-concentrated). Designs depend on N, on the
exponent and on whether the total is known, not on the privacy level, and are cached.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.strategies.tree.passes import as_arrays, prefix_variance

PARTS = 4096
"""Shares of the loss are whole multiples of one over this, so that losses add up exactly."""

MAX_LAPLACE_LEVELS = 6
CANDIDATES = 4


@njit(steps=lambda blocks, size, exponent, known, rounds, shares: 10 * (rounds + 1) * blocks.size)
def _optimize(blocks: Float64, size: float, exponent: int, total_known: bool, rounds: int, shares: Float64) -> float:
    """Shares that minimize the mean variance on the full tree, by multiplicative descent.

    A share grows where its part of the gradient exceeds it; at a minimum both are equal. The
    step 1 / (exponent + 1) is Newton's for independent levels.

    Returns:
        Mean variance for precisions `share ** exponent`; `shares` is overwritten.
    """
    levels = blocks.size
    weights = np.empty(levels)
    for level in range(levels):
        low = blocks[level]
        high = size if level == levels - 1 else blocks[level + 1]
        weights[level] = (high - 1.0 / high - low + 1.0 / low) / 6.0
    if not total_known:
        weights[levels - 1] += (size + 1.0) * (2.0 * size + 1.0) / (6.0 * size)
    shares[:] = 1.0 / levels
    mean = 0.0
    slopes = np.empty(levels)
    for step in range(rounds + 1):
        mean = 0.0
        precision = 0.0
        for level in range(levels):
            # products instead of powers, which the system's library rounds otherwise than compiled code
            share = shares[level] if exponent == 1 else shares[level] * shares[level]
            precision += share * blocks[level]
            mean += weights[level] / precision
            slopes[level] = weights[level] / (precision * precision)
        if step == rounds:
            break
        slope, total = 0.0, 0.0
        for level in range(levels - 1, -1, -1):
            slope += slopes[level]
            gain = (1.0 if exponent == 1 else shares[level]) * blocks[level] * slope / mean
            shares[level] *= gain ** (1.0 / (exponent + 1.0))
            total += shares[level]
        for level in range(levels):
            shares[level] = max(shares[level] / total, 1e-12)
    return mean


@njit(steps=lambda top, smallest, room: 4 * min(room, 2**top))
def _chains(top: int, smallest: int, room: int) -> Int64:
    """Chains of exponents 0 < a_1 < ... <= top with steps of `smallest` to 8, one per row, padded with -1."""
    found = np.full((room, MAX_LAPLACE_LEVELS), -1, dtype=np.int64)
    found[0, 0] = 0
    count, position = 1, 0
    while position < count:
        levels = np.sum(found[position] >= 0)
        if levels < MAX_LAPLACE_LEVELS:
            for exponent in range(found[position, levels - 1] + smallest, top + 1):
                if exponent - found[position, levels - 1] <= 8 and count < room:
                    found[count] = found[position]
                    found[count, levels] = exponent
                    count += 1
        position += 1
    return found[:count]


@njit(steps=lambda size, chains, exponent, known, rounds: 10 * (rounds + 1) * chains.size)
def _chain_means(size: int, chains: Int64, exponent: int, total_known: bool, rounds: int) -> Float64:
    """Mean variance of every chain on the full tree; equal shares if `rounds` is 0."""
    means = np.empty(chains.shape[0])
    shares = np.empty(chains.shape[1])
    for row in range(chains.shape[0]):
        levels = np.sum(chains[row] >= 0)
        blocks = 2.0 ** chains[row, :levels].astype(np.float64)
        means[row] = _optimize(blocks, float(size), exponent, total_known, rounds, shares[:levels])
    return means


def whole_shares(shares: Float64) -> tuple[Fraction, ...]:
    """Round shares to multiples of one over `PARTS`, each above 0, that add up to 1 exactly."""
    parts = np.maximum(np.floor(shares / shares.sum() * PARTS).astype(np.int64), 1)
    parts[np.argmax(parts)] += PARTS - int(parts.sum())
    return tuple(Fraction(int(part), PARTS) for part in parts)


@lru_cache(maxsize=256)
def tree_design(
    size: int, exponent: int, total_known: bool, optimize: bool
) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Choose block sizes (powers of two) and the share of the loss for each level.

    All chains of at most six levels are ranked by the mean variance on the full tree, and the best
    few by the exact variance of the tree cut at N. With optimized shares the Gaussian problem is
    convex, so there all powers of two are measured and the shares decide.

    Args:
        size: Number of bins, N.
        exponent: 2 for Laplace noise, 1 for Gaussian.
        total_known: Whether the number of records is public.
        optimize: Whether levels may take unequal shares.

    Returns:
        Block sizes and as many shares, which add up to 1.
    """
    top = (size - 1).bit_length() - 1
    if top < 1:
        return (1,), (Fraction(1),)
    every_power = exponent == 1 and optimize
    chains = np.arange(top + 1)[None, :] if every_power else _chains(top, 1 if top < 6 else 2, 8192)
    means = _chain_means(size, chains, exponent, total_known, 30 if optimize else 0)
    best: tuple[float, tuple[int, ...], tuple[Fraction, ...]] | None = None
    for row in np.argsort(means, kind="stable")[:CANDIDATES]:
        blocks = 2 ** chains[row][chains[row] >= 0]
        weights = np.empty(len(blocks))
        _optimize(blocks.astype(np.float64), float(size), exponent, total_known, 300 if optimize else 0, weights)
        kept = weights >= 2.0 / PARTS
        chain = tuple(int(block) for block in blocks[kept])
        shares = whole_shares(weights[kept]) if optimize else (Fraction(1, len(chain)),) * len(chain)
        variances = np.array([float(share) for share in shares]) ** -exponent
        mean = float(prefix_variance(*as_arrays(size, chain), variances, total_known).mean())
        if best is None or mean < best[0]:
            best = mean, chain, shares
    assert best is not None
    return best[1:]
