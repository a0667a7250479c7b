"""Least-squares hats: noisy bin counts and overlapping triangles in place of blocks.

The best known strategies for prefix sums under pure differential privacy look like the identity
plus rows of overlapping triangles that add up to a constant. Here level l has spacing B_l: the
record in bin i, at x = 2i + 1, adds 2 B_l - r to hat j and r to hat j + 1, where j = floor(x / 2 B_l)
and r = x - 2 B_l j. Everything is an integer and every record adds exactly 2 B_l per level.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
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
    given_total,
    histogram,
    measured_laws,
    measured_loss,
    moved_counts,
    variance_given_total,
)
from ogive.strategies.tree import whole_shares

# --- Compiled sweeps over overlapping hats: measurements, factorization, solution, exact variance
#
# Level l has hats 0..ceil(N / B_l). In the sweeps weights are divided by 2 B_l: each bin has weight 1 per level.
#
# At any place only two hats per level have begun and not ended. A sweep from the left keeps the
# covariance of their partial sums (slot 2 l + j mod 2 for hat j) in a small dense matrix: a bin adds
# an outer product, an ending hat is observed and eliminated. That is the Cholesky factorization
# of diag(v) + v0 H H^T with hats ordered by their right ends, in time O(N / B_1) for fixed levels.

CHUNK = 1024


def hat_sizes(size: int, spacings: tuple[int, ...]) -> Int64:
    """Number of hats of each level, shape (levels,)."""
    return np.array([-(-size // spacing) + 1 for spacing in spacings], dtype=np.int64)


def _hat_sums_plain(counts: Int64, spacings: Int64, sizes: Int64) -> Int64:
    """What `hat_sums` does, all hats of a level at once."""
    out = np.zeros(sizes.sum(), dtype=np.int64)
    start = 0
    for spacing, hats in zip(spacings.tolist(), sizes.tolist(), strict=True):
        filled = np.zeros((hats - 1) * spacing, dtype=np.int64)
        filled[: counts.size] = counts
        rows, rise = filled.reshape(hats - 1, spacing), np.arange(1, 2 * spacing, 2)
        out[start : start + hats - 1] += (rows * (2 * spacing - rise)).sum(axis=1)
        out[start + 1 : start + hats] += (rows * rise).sum(axis=1)
        start += hats
    return out


def _hat_spread_plain(values: Float64, spacings: Int64, sizes: Int64, out: Float64) -> None:
    """What `hat_spread` does, all bins of a level at once."""
    out[:] = 0.0
    start, bins = 0, np.arange(out.size)
    for spacing, hats in zip(spacings.tolist(), sizes.tolist(), strict=True):
        level = values[start : start + hats]
        slope = (level[1:] - level[:-1]) / spacing
        base = level[:-1] + 0.5 * slope
        hat = bins // spacing
        out += base[hat] + slope[hat] * (bins - hat * spacing)
        start += hats


@njit(steps=lambda counts, spacings, sizes: spacings.size * (100 + counts.size // 20), twin=_hat_sums_plain)
def hat_sums(counts: Int64, spacings: Int64, sizes: Int64) -> Int64:
    """Integer hat sums of bin counts, level by level, shape (hats,)."""
    out = np.zeros(sizes.sum(), dtype=np.int64)
    start = 0
    for level in range(spacings.size):
        spacing = spacings[level]
        hat, first = start, 0
        while first < counts.size:
            stop = min(first + spacing, counts.size)
            left, right, rise = 0, 0, 1
            for i in range(first, stop):
                left += (2 * spacing - rise) * counts[i]
                right += rise * counts[i]
                rise += 2
            out[hat] += left
            out[hat + 1] += right
            hat, first = hat + 1, stop
        start += sizes[level]
    return out


@njit(steps=lambda values, spacings, sizes, out: spacings.size * (100 + out.size // 10), twin=_hat_spread_plain)
def hat_spread(values: Float64, spacings: Int64, sizes: Int64, out: Float64) -> None:
    """Overwrite `out`, shape (N,), with the transpose of the scaled hat sums: linear interpolation per level."""
    out[:] = 0.0
    start = 0
    for level in range(spacings.size):
        spacing = spacings[level]
        hat, first = start, 0
        while first < out.size:
            stop = min(first + spacing, out.size)
            slope = (values[hat + 1] - values[hat]) / spacing
            base = values[hat] + 0.5 * slope
            for i in range(first, stop):
                out[i] += base + slope * (i - first)
            hat, first = hat + 1, stop
        start += sizes[level]


@lru_cache(maxsize=16)
def _above(size: int) -> Bool:
    """Where a square matrix has the entries above its diagonal."""
    return ~np.tri(size, dtype=np.bool_)


def _add_run_plain(
    state: Float64, first: int, count: int, spacings: Int64, noise: float, rise: Float64, level0: Float64
) -> None:
    """What `_add_run` does, the whole matrix at once."""
    for level, spacing in enumerate(spacings.tolist()):
        hat = first // spacing
        weight = (2.0 * (first - hat * spacing) + 1.0) / (2.0 * spacing)
        near, far = 2 * level + hat % 2, 2 * level + (hat + 1) % 2
        level0[near], rise[near] = 1.0 - weight, -1.0 / spacing
        level0[far], rise[far] = weight, 1.0 / spacing
    slots = 2 * spacings.size
    level0[slots:], rise[slots:] = 1.0, 0.0
    zeroth = noise * count
    first_moment = noise * count * (count - 1) / 2.0
    second_moment = noise * (count - 1) * count * (2 * count - 1) / 6.0
    start, slope = level0[: len(state)], rise[: len(state)]
    mixed = np.outer(start, slope)
    state += np.outer(start, start) * zeroth + (mixed + mixed.T) * first_moment + np.outer(slope, slope) * second_moment
    np.copyto(state, state.T.copy(), where=_above(len(state)))


@njit(twin=_add_run_plain)
def _add_run(
    state: Float64, first: int, count: int, spacings: Int64, noise: float, rise: Float64, level0: Float64
) -> None:
    # bins first .. first + count - 1, no knot among them, are added to the covariance of the partial sums; slot weights
    # are `level0 + rise k` at the k-th bin, and an extra last slot, if any, has weight 1
    slots = 2 * spacings.size
    for level in range(spacings.size):
        spacing = spacings[level]
        hat = first // spacing
        weight = (2.0 * (first - hat * spacing) + 1.0) / (2.0 * spacing)
        near, far = 2 * level + hat % 2, 2 * level + (hat + 1) % 2
        level0[near], rise[near] = 1.0 - weight, -1.0 / spacing
        level0[far], rise[far] = weight, 1.0 / spacing
    for slot in range(slots, state.shape[0]):
        level0[slot], rise[slot] = 1.0, 0.0
    zeroth = noise * count
    first_moment = noise * count * (count - 1) / 2.0
    second_moment = noise * (count - 1) * count * (2 * count - 1) / 6.0
    for a in range(state.shape[0]):
        for b in range(a + 1):
            state[a, b] += (
                level0[a] * level0[b] * zeroth
                + (level0[a] * rise[b] + rise[a] * level0[b]) * first_moment
                + rise[a] * rise[b] * second_moment
            )
            state[b, a] = state[a, b]


def _observe_plain(state: Float64, slot: int, noise: float) -> float:
    """What `observe` does, the whole matrix at once."""
    pivot = float(state[slot, slot] + noise)
    state -= np.outer(state[:, slot] / pivot, state[slot])
    state[:, slot] = 0.0
    state[slot, :] = 0.0
    return pivot


@njit(twin=_observe_plain)
def observe(state: Float64, slot: int, noise: float) -> float:
    """Condition on the noisy sum in `slot` and empty the slot; returns the variance of what was observed."""
    pivot = float(state[slot, slot] + noise)
    width = state.shape[0]
    for a in range(width):
        ratio = state[a, slot] / pivot
        if a != slot and ratio != 0.0:
            for b in range(width):
                if b != slot:
                    state[a, b] -= ratio * state[slot, b]
    for a in range(width):
        state[a, slot] = 0.0
        state[slot, a] = 0.0
    return pivot


@njit()
def next_knot(first: int, stop: int, spacings: Int64) -> int:
    """First bin after `first` that begins a new interval of some level, at most `stop`."""
    for spacing in spacings:
        stop = min(stop, (first // spacing + 1) * spacing)
    return stop


@njit(steps=lambda size, spacings, sizes, *noise: (150 + 12 * spacings.size**2) * int(sizes.sum()))
def factorize(
    size: int, spacings: Int64, sizes: Int64, bin_noise: float, hat_noise: Float64
) -> tuple[Int64, Int64, Float64, Float64]:
    """Factor diag(v) + v0 H H^T by one sweep from the left."""
    slots, hats = 2 * spacings.size, sizes.sum()
    order, slot_of = np.empty(hats, dtype=np.int64), np.empty(hats, dtype=np.int64)
    pivots, ratios = np.empty(hats), np.zeros((hats, slots))
    state = np.zeros((slots, slots))
    rise, level0 = np.empty(slots), np.empty(slots)
    done, first = 0, 0
    while first < size:
        stop = next_knot(first, size, spacings)
        _add_run(state, first, stop - first, spacings, bin_noise, rise, level0)
        start = 0
        for level in range(spacings.size):
            hat = first // spacings[level]
            ending = 2 if stop == size else int(stop // spacings[level] != hat)
            for extra in range(ending):
                slot = 2 * level + (hat + extra) % 2
                order[done], slot_of[done] = start + hat + extra, slot
                ratios[done] = state[slot]
                ratios[done, slot] = 0.0
                pivots[done] = observe(state, slot, hat_noise[level])
                ratios[done] /= pivots[done]
                done += 1
            start += sizes[level]
        first = stop
    return order, slot_of, pivots, ratios


@njit(steps=lambda order, slots, pivots, ratios, *sides: 2 * ratios.size)
def solve(order: Int64, slot_of: Int64, pivots: Float64, ratios: Float64, right: Float64, out: Float64) -> None:
    """Overwrite `out` with the solution of (diag(v) + v0 H H^T) z = right."""
    pending = np.zeros(ratios.shape[1])
    for k in range(order.size):
        slot = slot_of[k]
        value = right[order[k]] + pending[slot]
        pending[slot] = 0.0
        out[order[k]] = value
        for a in range(pending.size):
            pending[a] -= ratios[k, a] * value
    pending[:] = 0.0
    for k in range(order.size - 1, -1, -1):
        value = out[order[k]] / pivots[k]
        for a in range(pending.size):
            value -= ratios[k, a] * pending[a]
        out[order[k]] = value
        pending[slot_of[k]] = value


@njit()
def _forward(
    state: Float64,
    first: int,
    stop: int,
    size: int,
    spacings: Int64,
    bin_noise: float,
    hat_noise: Float64,
    rise: Float64,
    level0: Float64,
) -> None:
    """Advance the left covariance from before bin `first` to before bin `stop`."""
    while first < stop:
        after = next_knot(first, stop, spacings)
        _add_run(state, first, after - first, spacings, bin_noise, rise, level0)
        for level in range(spacings.size):
            hat = first // spacings[level]
            if after < size and after // spacings[level] != hat:
                observe(state, 2 * level + hat % 2, hat_noise[level])
        first = after


@njit()
def _backward(
    state: Float64,
    first: int,
    stop: int,
    size: int,
    spacings: Int64,
    bin_noise: float,
    hat_noise: Float64,
    rise: Float64,
    level0: Float64,
) -> None:
    """Extend the right covariance from the bins `stop` and after to the bins `first` and after."""
    while stop > first:
        before = first
        for spacing in spacings:
            before = max(before, (stop - 1) // spacing * spacing)
        for level in range(spacings.size):
            if stop < size and stop // spacings[level] != (stop - 1) // spacings[level]:
                observe(state, 2 * level + (stop // spacings[level] + 1) % 2, hat_noise[level])
        _add_run(state, before, stop - before, spacings, bin_noise, rise, level0)
        stop = before


@njit()
def _explained(left: Float64, right: Float64, hat_noise: Float64, work: Float64, column: Float64) -> float:
    """Variance of the prefix (last slot of `left`) that the hats begun and not ended take away."""
    slots = right.shape[0]
    gain = 0.0
    for a in range(slots):
        value = left[slots, a]
        for b in range(a + 1):
            work[a, b] = left[a, b] + right[a, b]
            if a == b:
                work[a, b] += hat_noise[a // 2]
            for c in range(b):
                work[a, b] -= work[a, c] * work[b, c]
            if a == b:
                work[a, a] = np.sqrt(work[a, a])
            else:
                work[a, b] /= work[b, b]
        for b in range(a):
            value -= work[a, b] * column[b]
        column[a] = value / work[a, a]
        gain += column[a] * column[a]
    return gain


@njit(
    # there are at most so many runs of bins
    steps=lambda points, size, spacings, *noise: (
        (150 + 15 * spacings.size**2) * 2 * (points.size + int((size // spacings).sum()))
    )
)
def prefix_variance_at(points: Int64, size: int, spacings: Int64, bin_noise: float, hat_noise: Float64) -> Float64:
    """Exact variance of the estimated cumulative counts at increasing 0-based points, total unknown.

    At each point the hats begun on its left are split there: the left part correlates with the
    prefix, the right part is independent of it. Right covariances are kept for one chunk of
    points at a time, from checkpoints of a first sweep.
    """
    slots = 2 * spacings.size
    chunks = -(-points.size // CHUNK)
    checkpoints = np.zeros((chunks, slots, slots))
    rise, level0 = np.empty(slots + 1), np.empty(slots + 1)
    right = np.zeros((slots, slots))
    stop = size
    for chunk in range(chunks - 1, -1, -1):
        last = points[min((chunk + 1) * CHUNK, points.size) - 1] + 1
        _backward(right, last, stop, size, spacings, bin_noise, hat_noise, rise, level0)
        checkpoints[chunk] = right
        stop = last
    out = np.empty(points.size)
    rights = np.empty((CHUNK, slots, slots))
    left = np.zeros((slots + 1, slots + 1))
    work, column = np.empty((slots, slots)), np.empty(slots)
    first = 0
    for chunk in range(chunks):
        begin, end = chunk * CHUNK, min((chunk + 1) * CHUNK, points.size)
        right[:] = checkpoints[chunk]
        rights[end - 1 - begin] = right
        for k in range(end - 2, begin - 1, -1):
            _backward(right, points[k] + 1, points[k + 1] + 1, size, spacings, bin_noise, hat_noise, rise, level0)
            rights[k - begin] = right
        for k in range(begin, end):
            _forward(left, first, points[k] + 1, size, spacings, bin_noise, hat_noise, rise, level0)
            first = points[k] + 1
            out[k] = left[slots, slots] - _explained(left, rights[k - begin], hat_noise, work, column)
    return out


# --- Least squares over bins and hats, through the small system of the hats alone
#
# With y0 the noisy bins (variance v0) and t the noisy hat sums (variances v, weights H), the best
# estimate corrects the bins by what the hats disagree with:
#
#     x = y0 + v0 H^T K^{-1} (t - H y0),   K = diag(v) + v0 H H^T.
#
# A public total n is one more exact observation: with c = v0 (1 - v0 H^T K^{-1} H 1), the covariance of
# each bin with the sum, x moves by c (n - sum x) / sum c.


@njit(steps=lambda rows, spacings, sizes, *system: len(rows) * (1000 + 25 * int(sizes.sum())) + rows.size // 4)
def _correct(
    rows: Int64,
    spacings: Int64,
    sizes: Int64,
    bin_noise: float,
    order: Int64,
    slot_of: Int64,
    pivots: Float64,
    ratios: Float64,
) -> Float64:
    """Estimated bins, shape (batch, N); integers are compared before anything is rounded."""
    size = rows.shape[1] - sizes.sum()
    out = np.empty((rows.shape[0], size))
    gap, solution = np.empty(sizes.sum()), np.empty(sizes.sum())
    for row in range(rows.shape[0]):
        difference = rows[row, size:] - hat_sums(rows[row, :size], spacings, sizes)
        at = 0
        for level in range(spacings.size):
            stop = at + sizes[level]
            gap[at:stop] = difference[at:stop] / (2.0 * spacings[level])
            at = stop
        solve(order, slot_of, pivots, ratios, gap, solution)
        hat_spread(solution, spacings, sizes, out[row])
        out[row] = rows[row, :size] + bin_noise * out[row]
    return out


@njit(steps=lambda size, spacings: 20 * int((size // spacings).sum()) + 20)
def _pieces(size: int, spacings: Int64) -> tuple[Int64, Int64]:
    """First bins of runs between knots, closed by N, and five prefix lengths of each, at its quarters."""
    starts = np.empty(size + 1, dtype=np.int64)
    count, first = 0, 0
    while first < size:
        starts[count] = first
        count += 1
        first = next_knot(first, size, spacings)
    starts[count] = size
    places = np.empty(4 * count + 1, dtype=np.int64)
    places[0] = 0
    for run in range(count):
        length = starts[run + 1] - starts[run]
        for quarter in range(1, 5):
            places[4 * run + quarter] = starts[run] + (quarter * length + 2) // 4
    return starts[: count + 1], places


@njit(steps=lambda starts, places, known, out: 30 * out.size)
def _fill_quartics(starts: Int64, places: Int64, known: Float64, out: Float64) -> None:
    """Overwrite `out`: entry i - 1 is the quartic through each run's five known values, at prefix length i."""
    for run in range(starts.size - 1):
        nodes, values = places[4 * run : 4 * run + 5], known[4 * run : 4 * run + 5]
        if starts[run + 1] - starts[run] <= 4:
            for j in range(1, 5):
                if nodes[j] > 0:
                    out[nodes[j] - 1] = values[j]
            continue
        for i in range(starts[run] + 1, starts[run + 1] + 1):
            total = 0.0
            for j in range(5):
                weight = 1.0
                for k in range(5):
                    if k != j:
                        weight *= (i - nodes[k]) / (nodes[j] - nodes[k])
                total += weight * values[j]
            out[i - 1] = total


class HatSolver:
    """One factored least-squares problem; `hat_noise` has a variance per level, on the scale where a record adds 1."""

    def __init__(self, size: int, spacings: tuple[int, ...], bin_noise: float, hat_noise: Float64) -> None:
        self.size = size
        self.bin_noise = bin_noise
        self.hat_noise = hat_noise
        self.spacings, self.sizes = np.array(spacings, dtype=np.int64), hat_sizes(size, spacings)

    @cached_property
    def factor(self) -> tuple[Int64, Int64, Float64, Float64]:
        """What `factorize` returns: the order of the hats, their slots, pivots and ratios."""
        return factorize(self.size, self.spacings, self.sizes, self.bin_noise, self.hat_noise)

    @cached_property
    def total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        ones = np.ones(self.size, dtype=np.int64)
        sums = hat_sums(ones, self.spacings, self.sizes) / np.repeat(2.0 * self.spacings, self.sizes)
        return np.asarray(self.bin_noise * np.cumsum(1.0 - self.bin_noise * self._covered(sums)))

    def _covered(self, right: Float64) -> Float64:
        """H^T K^{-1} times scaled hat sums, shape (N,)."""
        solution, covered = np.empty(len(right)), np.empty(self.size)
        solve(*self.factor, right, solution)
        hat_spread(solution, self.spacings, self.sizes, covered)
        return covered

    def correction(self, bins: Int64, hats: Int64) -> Float64:
        """What the estimate adds to noisy bins, shape (N,); it depends on integers alone, hats - (hat sums of bins)."""
        gap = (hats - hat_sums(bins, self.spacings, self.sizes)) / np.repeat(2.0 * self.spacings, self.sizes)
        return self.bin_noise * self._covered(gap)

    def variance_at(self, points: Int64, *, total_known: bool) -> Float64:
        """Exact variance of the cumulative counts at increasing 0-based points."""
        values: Float64 = prefix_variance_at(points, self.size, self.spacings, self.bin_noise, self.hat_noise)
        if total_known:
            covariance = self.total_covariance
            values = np.maximum(values - covariance[points] ** 2 / covariance[-1], 0.0)
            values[points == self.size - 1] = 0.0
        return values

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of every cumulative count, shape (N,)."""
        # between two knots the hat sums of a prefix are quadratic in its length, so its variance is a quartic
        starts, places = _pieces(self.size, self.spacings)
        lengths, where = np.unique(places, return_inverse=True)
        known = np.zeros(len(lengths))
        known[1:] = self.variance_at(lengths[1:] - 1, total_known=False)
        values = np.empty(self.size)
        _fill_quartics(starts, places, known[where], values)
        return variance_given_total(values, self.total_covariance) if total_known else values


# --- Spacings and shares of the loss for hats, tabulated for powers of two and carried over to other sizes
#
# The tables hold the best that searches like `benchmarks/hat_designs.py` found: it minimizes the exact
# mean variance under Laplace noise over the shares and descends over the spacings. They do not
# depend on the privacy level. Below the smallest tabulated size, noisy bins alone are best.

Design = tuple[tuple[int, ...], tuple[float, ...]]

# log2 N: spacings, shares of the bins and of each level of hats
TOTAL_KNOWN: dict[int, Design] = {
    6: ((9,), (0.4974, 0.5026)),
    7: ((14,), (0.504, 0.496)),
    8: ((18,), (0.4863, 0.5137)),
    9: ((30,), (0.5091, 0.4909)),
    10: ((11, 112), (0.3392, 0.3075, 0.3533)),
    11: ((14, 224), (0.3351, 0.3348, 0.3301)),
    12: ((14, 256), (0.3094, 0.3225, 0.3681)),
    13: ((24, 512), (0.3402, 0.3178, 0.342)),
    14: ((28, 768), (0.3304, 0.3224, 0.3472)),
    15: ((16, 224, 3584), (0.2616, 0.2409, 0.2505, 0.247)),
    16: ((16, 256, 4096), (0.2463, 0.2379, 0.2355, 0.2803)),
    17: ((20, 384, 8192), (0.2491, 0.2393, 0.2459, 0.2657)),
    18: ((24, 640, 16384), (0.2488, 0.2523, 0.2477, 0.2512)),
    19: ((16, 224, 3584, 57344), (0.2088, 0.1926, 0.2013, 0.2005, 0.1968)),
    20: ((20, 320, 5120, 73728), (0.2137, 0.1929, 0.1924, 0.1846, 0.2164)),
}
TOTAL_UNKNOWN: dict[int, Design] = {
    4: ((9,), (0.4771, 0.5229)),
    5: ((11,), (0.4657, 0.5343)),
    6: ((17,), (0.4795, 0.5205)),
    7: ((27,), (0.5, 0.5)),
    8: ((33,), (0.4827, 0.5173)),
    9: ((12, 192), (0.3291, 0.3261, 0.3448)),
    10: ((14, 224), (0.3197, 0.3091, 0.3712)),
    11: ((20, 448), (0.3307, 0.3233, 0.346)),
    12: ((24, 640), (0.3243, 0.3217, 0.354)),
    13: ((28, 1024), (0.3151, 0.3336, 0.3513)),
    14: ((40, 1536), (0.3278, 0.3152, 0.357)),
    15: ((24, 384, 7168), (0.2688, 0.2317, 0.2334, 0.2661)),
    16: ((20, 448, 10240), (0.2402, 0.243, 0.2395, 0.2773)),
    17: ((14, 192, 2560, 32768), (0.2041, 0.1944, 0.1929, 0.1832, 0.2254)),
    18: ((16, 256, 3584, 57344), (0.2027, 0.1961, 0.1871, 0.1881, 0.226)),
    19: ((20, 384, 6144, 114688), (0.2074, 0.1997, 0.1872, 0.1897, 0.216)),
    20: ((24, 512, 10240, 229376), (0.2098, 0.1974, 0.1928, 0.1931, 0.2069)),
}
SAMPLES = 256


@lru_cache(maxsize=256)
def hats_design(size: int, exponent: int, total_known: bool) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Take the best of the designs tabulated just below and just above N, and of the bins alone."""
    table = TOTAL_KNOWN if total_known else TOTAL_UNKNOWN
    lower = size.bit_length() - 1
    near = {min(power, max(table)) for power in (lower, lower + (size != 1 << lower))}
    candidates: list[tuple[tuple[int, ...], tuple[Fraction, ...]]] = [((), (Fraction(1),))]
    for power in sorted(near):
        if power in table and table[power][0][-1] < size:
            spacings, weights = table[power]
            candidates.append((spacings, whole_shares(np.array(weights) ** (2 / exponent))))
    return min(candidates, key=lambda design: _sampled_mean(size, design, exponent, total_known))


def _sampled_mean(
    size: int, design: tuple[tuple[int, ...], tuple[Fraction, ...]], exponent: int, total_known: bool
) -> float:
    """Mean of the exact variance over at most `SAMPLES` points, up to a factor."""
    points = np.unique(np.linspace(0, size - 1, SAMPLES).astype(np.int64))
    variances = np.array([float(share) for share in design[1]]) ** -exponent
    solver = HatSolver(size, design[0], float(variances[0]), variances[1:])
    return float(solver.variance_at(points, total_known=total_known).mean())


def _changes(size: int, spacings: tuple[int, ...], adjacency: Adjacency) -> tuple[list[int], list[int]]:
    """How far one change of a record moves the bins and each level of hats: largest L1 change, bound on the squared L2.

    One record adds (2B - r, r) with r odd. Two records in the same interval between knots move two
    hats by |r - r'| each; in adjacent intervals the L1 change is max(2 r', 4B - 2r) <= 4B - 2;
    farther apart it is 4B. Bins 0 and N - 1 attain the L1 change on all levels at once.
    """
    changes = [(moved_counts(adjacency), moved_counts(adjacency))]
    for spacing in spacings:
        intervals, one = -(-size // spacing), (2 * spacing - 1) ** 2 + 1
        if adjacency is Adjacency.ADD_OR_REMOVE:
            changes.append((2 * spacing, one))
        elif intervals == 1:
            changes.append((4 * (size - 1), 8 * (size - 1) ** 2))
        else:
            changes.append((4 * spacing - 2 * (intervals == 2), 2 * one))
    return [l1 for l1, _ in changes], [squared for _, squared in changes]


@dataclass(frozen=True)
class LeastSquaresHats(PlainStrategy):
    """Noisy bin counts and integer hat sums, combined by least squares.

    Fields:
        spacings: Distances between knots, increasing, in bins, each below N; may be empty.
        laws: Noise law of the bins, then of each level of hats on its integer scale (2 spacing per record).
    """

    size: int
    spacings: tuple[int, ...]
    laws: tuple[Law, ...]

    name: ClassVar[str] = "hat_ls"
    readers: ClassVar[Readers] = {"spacings": tuple}

    def __post_init__(self) -> None:
        check_levels(self.size, self.spacings, self.laws, what="spacings")
        if len(self.laws) != len(self.spacings) + 1:
            raise ParameterError(
                f"hats need a law for the bins and one per spacing, got {len(self.laws)} laws for {self.spacings}"
            )
        if any(b <= a for a, b in zip(self.spacings, self.spacings[1:], strict=False)) or any(
            spacing >= self.size for spacing in self.spacings
        ):
            raise ParameterError(f"`spacings` must increase and stay below {self.size}, got {self.spacings}")

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The bins, then the hats of each spacing."""
        nodes = (self.size, *self.solver.sizes.tolist())
        return tuple(Level(count, law) for count, law in zip(nodes, self.laws, strict=True))

    @cached_property
    def solver(self) -> HatSolver:
        """The least-squares problem, on the scale where a record adds 1 per level."""
        scaled = [law.variance / (2 * spacing) ** 2 for law, spacing in zip(self.laws[1:], self.spacings, strict=True)]
        return HatSolver(self.size, self.spacings, self.laws[0].variance, np.array(scaled))

    def measure(self, counts: Int64) -> Int64:
        """Bin counts followed by the integer hat sums of each level, shape (M,)."""
        widest = 2 * max(self.spacings, default=1)
        bins = histogram(counts, self.size, terms=widest, weight=widest)
        return np.concatenate([bins, hat_sums(bins, self.solver.spacings, self.solver.sizes)])

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels: exactly for Laplace noise, safely from above for Gaussian."""
        l1, l2_squared = _changes(self.size, self.spacings, adjacency)
        return measured_loss(self.laws, l1=l1, l2_squared=l2_squared)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N levels)."""
        solver = self.solver
        rows, shape = batch(answer, self.size + int(solver.sizes.sum()))
        values = _correct(rows, solver.spacings, solver.sizes, solver.bin_noise, *solver.factor)
        np.cumsum(values, axis=1, out=values)
        if total is not None:
            values = given_total(values, solver.total_covariance, total)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        return self.solver.variance(total_known=total_known)


def design_hats(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> LeastSquaresHats:
    """Choose spacings and noise with a small mean variance at the cost of `privacy`.

    Designs were optimized for Laplace noise at powers of two and are scaled to other sizes.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_design(size, privacy, adjacency)
    exponent = 2 if isinstance(privacy, PureDP) else 1
    spacings, shares = hats_design(size, exponent, adjacency is Adjacency.REPLACE)
    return shared_hats(size, spacings, shares, privacy=privacy, adjacency=adjacency)


def shared_hats(
    size: int,
    spacings: tuple[int, ...],
    shares: tuple[Fraction, ...],
    *,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
) -> LeastSquaresHats:
    """Hats of given spacings and shares of the loss; `loss(adjacency)` of the result is at most `privacy`."""
    l1, l2_squared = _changes(size, spacings, adjacency)
    return LeastSquaresHats(size, spacings, measured_laws(privacy, shares, l1=l1, l2_squared=l2_squared))
