"""Least squares over bins and hats, through the small system of the hats alone.

With y0 the noisy bins (variance v0) and t the noisy hat sums (variances v, weights H), the best
estimate corrects the bins by what the hats disagree with:

    x = y0 + v0 H^T K^{-1} (t - H y0),   K = diag(v) + v0 H H^T.

A public total n is one more exact observation: with c = v0 (1 - v0 H^T K^{-1} H 1), the covariance of
each bin with the sum, x moves by c (n - sum x) / sum c.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.strategies.base import given_total
from ogive.strategies.hats.passes import (
    as_arrays,
    factorize,
    hat_spread,
    hat_sums,
    next_knot,
    prefix_variance_at,
    solve,
)


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
    """First bins of the runs between knots (of any level), closed by N, and the last points to evaluate in each.

    The second array has five places per run, at 0, 1/4, 1/2, 3/4 and 1 of its length, as the number
    of the run's bins in the prefix; runs of fewer than five bins repeat places.
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
    """One factored least-squares problem.

    Args:
        size: Number of bins, N.
        spacings: Distances between knots, in bins.
        bin_noise: Noise variance of a bin count.
        hat_noise: Noise variances of the hat sums of each level, on the scale where a record adds 1.
    """

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
        solution, covered = np.empty(len(sums)), np.empty(self.size)
        solve(*self._factor, sums, solution)
        hat_spread(solution, self.spacings, self.sizes, covered)
        values: Float64 = self.bin_noise * np.cumsum(1.0 - self.bin_noise * covered)
        return values

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
        solution, covered = np.empty(len(gap)), np.empty(self.size)
        solve(*self._factor, gap, solution)
        hat_spread(solution, self.spacings, self.sizes, covered)
        return self.bin_noise * covered

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
