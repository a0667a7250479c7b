"""Compiled sweeps over overlapping hats: measurements, factorization, solution, exact variance.

Level l has spacing B_l and hats 0..ceil(N / B_l) with knots at the multiples of B_l. Bin i sits at
x = 2i + 1; with j = floor(x / 2 B_l) and r = x - 2 B_l j it adds 2 B_l - r to hat j and r to hat
j + 1. In the sweeps weights are divided by 2 B_l, so that each bin has weight 1 per level.

At any place only two hats per level have begun and not ended. A sweep from the left keeps the
covariance of their partial sums (slot 2 l + j mod 2 for hat j) in a small dense matrix: a bin adds
an outer product, an ending hat is observed and eliminated. That is the Cholesky factorization
of diag(v) + v0 H H^T with hats ordered by their right ends, in time O(N / B_1) for fixed levels.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.compiling import njit
from ogive.strategies.base import given_total

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
    """Add the bins first .. first + count - 1, no knot among them, to the covariance of the partial sums.

    Slot weights are `level0 + rise k` at the k-th bin; an extra last slot, if any, has weight 1.
    """
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


def _runs(points: Int64, size: int, spacings: Int64) -> int:
    """At most how many runs of bins the sweeps of `prefix_variance_at` add."""
    return 2 * (points.size + int((size // spacings).sum()))


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


@njit(steps=lambda points, size, spacings, *noise: (150 + 15 * spacings.size**2) * _runs(points, size, spacings))
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


def as_arrays(size: int, spacings: tuple[int, ...]) -> tuple[Any, Any]:
    """Spacings and level sizes as the kernels take them."""
    return np.array(spacings, dtype=np.int64), hat_sizes(size, spacings)


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
    """First bins of the runs between knots (of any level), closed by N, and the points to evaluate in each.

    The second array has five prefix lengths per run, at its quarters; runs of fewer than five bins repeat places.
    """
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
        self.spacings, self.sizes = as_arrays(size, spacings)

    @cached_property
    def _factor(self) -> tuple[Int64, Int64, Float64, Float64]:
        factor: tuple[Int64, Int64, Float64, Float64] = factorize(
            self.size, self.spacings, self.sizes, self.bin_noise, self.hat_noise
        )
        return factor

    @cached_property
    def total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        ones = np.ones(self.size, dtype=np.int64)
        sums = hat_sums(ones, self.spacings, self.sizes) / np.repeat(2.0 * self.spacings, self.sizes)
        return np.asarray(self.bin_noise * np.cumsum(1.0 - self.bin_noise * self._covered(sums)))

    def _covered(self, right: Float64) -> Float64:
        """H^T K^{-1} times scaled hat sums, shape (N,)."""
        solution, covered = np.empty(len(right)), np.empty(self.size)
        solve(*self._factor, right, solution)
        hat_spread(solution, self.spacings, self.sizes, covered)
        return covered

    def estimate(self, rows: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (batch, N), from answers, shape (batch, N + hats)."""
        values: Float64 = _correct(rows, self.spacings, self.sizes, self.bin_noise, *self._factor)
        np.cumsum(values, axis=1, out=values)
        if total is not None:
            values = given_total(values, self.total_covariance, total)
        return values

    def correction(self, bins: Int64, hats: Int64) -> Float64:
        """What the estimate adds to noisy bins, shape (N,); it depends on integers alone, hats - (hat sums of bins)."""
        gap = (hats - hat_sums(bins, self.spacings, self.sizes)) / np.repeat(2.0 * self.spacings, self.sizes)
        return self.bin_noise * self._covered(gap)

    def variance_at(self, points: Int64, *, total_known: bool) -> Float64:
        """Exact variance of the cumulative counts at increasing 0-based points."""
        values: Float64 = prefix_variance_at(points, self.size, self.spacings, self.bin_noise, self.hat_noise)
        return self._given_total(values, points) if total_known else values

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of every cumulative count, shape (N,).

        Between two knots the hat sums of a prefix are quadratic in its length, so its variance is
        a quartic: five values give all the others.
        """
        starts, places = _pieces(self.size, self.spacings)
        lengths, where = np.unique(places, return_inverse=True)
        known = np.zeros(len(lengths))
        known[1:] = self.variance_at(lengths[1:] - 1, total_known=False)
        values = np.empty(self.size)
        _fill_quartics(starts, places, known[where], values)
        return self._given_total(values, np.arange(self.size)) if total_known else values

    def _given_total(self, values: Float64, points: Int64) -> Float64:
        covariance = self.total_covariance
        conditioned: Float64 = np.maximum(values - covariance[points] ** 2 / covariance[-1], 0.0)
        conditioned[points == self.size - 1] = 0.0
        return conditioned
