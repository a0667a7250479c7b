"""Least-squares trees: noisy counts of nested blocks, combined into cumulative counts, and smoothed.

Level l counts the records in each of the consecutive blocks of B_l bins (1 = B_0 | B_1 | ...). A
record is in one block per level, so the loss is a sum over levels, and blocks beyond the last
bin are not measured because their counts are known to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import (
    Level,
    PlainStrategy,
    Readers,
    batch,
    check_design,
    check_levels,
    histogram,
    measured_laws,
    measured_loss,
    moved_counts,
)

# --- Compiled passes: least squares and its exact variance
#
# Level l holds the blocks `[j B_l, (j+1) B_l)` that begin below N; a measurement vector is all
# counts of level 0 (bins), then of level 1, and so on. Every block of a level is alike except
# perhaps the last, which may be cut short at N, so all coefficients are two numbers per level.
# An unmeasured root joins the blocks of the top level.


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
    """Variance of the upward estimates, and of the sums of their children, shape (levels + 1, 2) each.

    Column 0 is for a full block, column 1 for the last; row `levels` is the root (in column 1, own equal to children).
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
    """Block sizes, and how many blocks of each level hold at least one bin, shape (levels,) each."""
    return np.array(blocks, dtype=np.int64), np.array([-(-size // block) for block in blocks], dtype=np.int64)


# --- Which block sizes to measure, and how to divide the budget between their levels
#
# On the full tree with block sizes 1 = B_0 | B_1 | ... | B_k = N and precisions p_l (inverse noise
# variances), the mean variance of a cumulative count over its N points is
#
#     sum_l e_l / (sum_{j<l} p_j B_j)  +  [total unknown] (N + 1)(2N + 1) / (6 N) / (sum_{j<k} p_j B_j),
#     e_l = (B_l - 1/B_l - B_{l-1} + 1/B_{l-1}) / 6.
#
# Level l receives the share w_l of the loss, and its precision is proportional to w_l^2 (Laplace,
# pure differential privacy) or to w_l (Gaussian, zero-concentrated). Designs depend on N, on the
# exponent and on whether the total is known, not on the privacy level, and are cached.

PARTS = 4096
"""Shares of the loss are whole multiples of one over this, so that losses add up exactly."""

MAX_LAPLACE_LEVELS = 6
CANDIDATES = 4


@njit(steps=lambda blocks, size, exponent, known, rounds, shares: 10 * (rounds + 1) * blocks.size)
def _optimize(blocks: Float64, size: float, exponent: int, total_known: bool, rounds: int, shares: Float64) -> float:
    """Shares that minimize the mean variance on the full tree, by multiplicative descent.

    A share grows where its part of the gradient exceeds it; at a minimum both are equal. The
    step 1 / (exponent + 1) is Newton's for independent levels.
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
    result = np.full((room, MAX_LAPLACE_LEVELS), -1, dtype=np.int64)
    result[0, 0] = 0
    count, position = 1, 0
    while position < count:
        levels = np.sum(result[position] >= 0)
        if levels < MAX_LAPLACE_LEVELS:
            for exponent in range(result[position, levels - 1] + smallest, top + 1):
                if exponent - result[position, levels - 1] <= 8 and count < room:
                    result[count] = result[position]
                    result[count, levels] = exponent
                    count += 1
        position += 1
    return result[:count]


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
        used = weights >= 2.0 / PARTS
        chain = tuple(int(block) for block in blocks[used])
        shares = whole_shares(weights[used]) if optimize else (Fraction(1, len(chain)),) * len(chain)
        variances = np.array([float(share) for share in shares]) ** -exponent
        mean = float(prefix_variance(*as_arrays(size, chain), variances, total_known).mean())
        if best is None or mean < best[0]:
            best = mean, chain, shares
    assert best is not None
    return best[1:]


# --- The strategy


@dataclass(frozen=True)
class LeastSquaresTree(PlainStrategy):
    """Noisy block counts, estimated by generalized least squares in two passes.

    Fields:
        blocks: Block sizes, from 1 upward, each a multiple of the one before, the last below N.
        laws: Noise law of each level's counts, all discrete Laplace or all discrete Gaussian.

    Source:
        Hay, Rastogi, Miklau and Suciu (2010), for any radices, any variances and truncated trees.
    """

    size: int
    blocks: tuple[int, ...]
    laws: tuple[Law, ...]

    name: ClassVar[str] = "tree_ls"
    readers: ClassVar[Readers] = {"blocks": tuple}

    def __post_init__(self) -> None:
        check_levels(self.size, self.blocks, self.laws, what="blocks")
        if len(self.laws) != len(self.blocks):
            raise ParameterError(f"a tree needs one law per level, got {len(self.laws)} for {len(self.blocks)} levels")
        if not self.blocks or self.blocks[0] != 1:
            raise ParameterError(f"the lowest blocks must be single bins (1), got blocks {self.blocks}")
        for small, large in zip(self.blocks, self.blocks[1:], strict=False):
            if large <= small or large % small or large >= self.size:
                raise ParameterError(
                    f"each block size must be a multiple of the one before and below {self.size}, got {self.blocks}"
                )

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level per block size, lowest first."""
        sizes = self._arrays[1]
        return tuple(Level(int(nodes), law) for nodes, law in zip(sizes, self.laws, strict=True))

    @cached_property
    def _arrays(self) -> tuple[Int64, Int64, Float64]:
        blocks, sizes = as_arrays(self.size, self.blocks)
        return blocks, sizes, np.array([law.variance for law in self.laws])

    def measure(self, counts: Int64) -> Int64:
        """Count every block, shape (M,): single bins first, then level by level."""
        blocks, sizes, _ = self._arrays
        counted = histogram(counts, self.size, terms=self.blocks[-1])
        return np.asarray(block_counts(counted, blocks, sizes))

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels, exactly.

        Privacy:
            Per level two counts change by 1 (REPLACE) or one does (ADD_OR_REMOVE); this is attained.
        """
        changes = [moved_counts(adjacency)] * len(self.blocks)
        return measured_loss(self.laws, l1=changes, l2_squared=changes)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N)."""
        blocks, sizes, variances = self._arrays
        rows, shape = batch(answer, int(sizes.sum()))
        totals = np.full(len(rows), 0.0 if total is None else float(total))
        values: Float64 = least_squares(rows, blocks, sizes, variances, totals, total is not None)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        return np.asarray(prefix_variance(*self._arrays, total_known))


def design_tree(
    size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency, optimize: bool = True
) -> LeastSquaresTree:
    """Choose block sizes and noise with the smallest mean variance at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.
        optimize: Divide the loss unequally between levels; False gives each an equal part.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`, and equal to it unless scales were rounded up.
    """
    check_design(size, privacy, adjacency)
    exponent = 2 if isinstance(privacy, PureDP) else 1
    blocks, shares = tree_design(size, exponent, adjacency is Adjacency.REPLACE, optimize)
    changes = [moved_counts(adjacency)] * len(blocks)
    return LeastSquaresTree(size, blocks, measured_laws(privacy, shares, l1=changes, l2_squared=changes))


# --- Counts smoothed by nonnegative least squares, exactly
#
#     min  sum over blocks b of  (t_b - sum of x in b)^2 / v_b   subject to   x >= 0   (and sum x = total).
#
# The covariance of the unconstrained estimate is an M-matrix, so the same argument as for path
# noise applies: hold every negative bin at zero, re-estimate by the two passes of `estimate`
# with a held bin known exactly, and repeat. No bin ever has to be freed again, and the first
# estimate without a negative bin is the optimum. Each round is O(N); 5 to 15 are usual.

TOLERANCE = 1e-7
"""Largest accepted violation of the optimality conditions, relative to the largest residual."""


def smooth_tree(measured: Float64, blocks: Int64, sizes: Int64, variances: Float64, *, total: float | None) -> Float64:
    """The nonnegative histogram nearest to noisy counts of blocks, bins first; with a total it adds up to that.

    `blocks`, `sizes` and `variances` are the block size, number of blocks and noise variance of each level.
    """
    if total == 0:
        return np.zeros(int(sizes[0]))
    fitted, excess, rounds = _nonnegative(measured, blocks, sizes, variances, -1.0 if total is None else float(total))
    residuals = (measured - fitted) / np.repeat(variances, sizes)
    gradient = -excess * np.ones(int(sizes[0]))
    start = 0
    for block, size in zip(blocks, sizes, strict=True):
        gradient -= np.repeat(residuals[start : start + size], block)[: sizes[0]]
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


# --- Counts smoothed by least absolute residuals, exactly
#
#     min  sum over blocks b of  w_b |t_b - sum of x in b|   subject to   x >= 0   (and sum x = total).
#
# The least cost of giving a block the sum h is convex and piecewise linear in h >= 0. Splitting h
# between the children at least cost strings their linear pieces together by slope; the block's
# own term then lowers the slopes below t_b by w_b and raises those above. Level by level the
# possible slopes are few, so a cost is a row of piece lengths, adding up children is adding
# rows, and everything is O(N) per level. Pieces of equal slope are shared in proportion.

LINEAR_TOLERANCE = 1e-9
"""Largest accepted difference between predicted and attained objective, relative to the objective at 0."""


def smooth_tree_absolute(
    measured: Float64, blocks: Int64, sizes: Int64, weights: Float64, *, total: float | None
) -> Float64:
    """As `smooth_tree`, in absolute distance with a weight of each level, shape (levels,); one optimum of several."""
    levels = np.split(measured, np.cumsum(sizes)[:-1])
    slopes = np.array([-weights[0], weights[0]])
    pieces = np.column_stack([np.maximum(levels[0], 0.0), np.full(levels[0].size, np.inf)])
    rows, sums = [pieces], []
    for level in range(1, len(levels)):
        ratio = int(blocks[level] // blocks[level - 1])
        # sums of `ratio` consecutive rows, the last group possibly of fewer
        joined = np.add.reduceat(pieces, np.arange(0, len(pieces), ratio), axis=0)
        both = np.concatenate([slopes - weights[level], slopes + weights[level]])
        rank = np.argsort(both, kind="stable")
        pieces = _bend(joined, levels[level])[:, rank]
        slopes = both[rank]
        rows.append(pieces)
        sums.append(joined)
    top = pieces.sum(axis=0, keepdims=True)
    amount = float(top[0, slopes < 0].sum()) if total is None else float(total)
    at_zero = float(sum(weight * np.abs(level).sum() for weight, level in zip(weights, levels, strict=True)))
    lengths = np.minimum(np.maximum(amount - np.concatenate(([0.0], np.cumsum(top[0, :-1]))), 0.0), top[0])
    predicted = at_zero + float((slopes * lengths).sum())
    share = _divide(np.array([amount]), top, rows[-1], len(rows[-1]))
    attained = float(weights[-1] * np.abs(share - levels[-1]).sum())
    for level in range(len(levels) - 2, -1, -1):
        share = _divide(share, sums[level], rows[level], int(blocks[level + 1] // blocks[level]))
        attained += float(weights[level] * np.abs(share - levels[level]).sum())
    if not abs(attained - predicted) <= LINEAR_TOLERANCE * (at_zero + weights.sum() * amount + 1.0):
        raise ArithmeticError(f"least-absolute smoothing missed its objective by {attained - predicted:g}")
    return share


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
            part = min(left, length)
            left -= part
            if part == 0.0:
                continue
            for child in range(first, stop):
                if part == length:
                    out[child] += rows[child, piece]
                elif length < np.inf:
                    out[child] += part * (rows[child, piece] / length)
                else:
                    out[child] += part / (stop - first)
    return out
