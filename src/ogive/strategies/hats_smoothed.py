"""Hats smoothed by nonnegative regression: the histogram nearest to their measurements, squared or absolute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.compiling import njit
from ogive.strategies.hats import hat_sizes, hat_spread, next_knot, observe, solve

# --- Nonnegative least squares, exactly
#
#     min  |x - y|^2 / (2 v0) + sum over hats  (t - H x)^2 / (2 v)    subject to  x >= 0  (and sum x = n)
#
# has the dual, in one force w per hat and one theta for the total,
#
#     min  w^T V w / 2 - t^T w - n theta + |max(u, 0)|^2 / (2 v0),    u = y + v0 (H^T w + theta),
#
# convex with a continuous, piecewise linear gradient, and x = max(u, 0). Newton's method on it
# solves K_A = V + v0 H_A H_A^T each round, A being the bins with u > 0, by one sweep over the
# bins in O(N). With a line search it ends after finitely many rounds; 4 to 15 are usual, and a
# shortened step is rare. The gradient of the dual certifies the result.

MAX_ROUNDS = 500
TOLERANCE = 1e-8
"""Largest accepted gradient of the dual, in records, relative to the largest measurement."""


def smooth_hats(
    bins: Float64, hats: Float64, spacings: tuple[int, ...], variances: Float64, *, total: float | None
) -> Float64:
    """The nonnegative histogram nearest to noisy bins and noisy hat sums, shape (N,); with a total it adds up to that.

    A record adds 1 per level to the hats; `variances` are those of a bin, then of the hats of each level.
    """
    if total == 0:
        return np.zeros(bins.size)
    widths = np.array(spacings, dtype=np.int64)
    sizes = hat_sizes(bins.size, spacings)
    noise = np.repeat(variances[1:], sizes)
    slack = TOLERANCE * (1.0 + float(np.abs(bins).max()) + float(np.abs(hats).max(initial=0.0)))
    force, theta = np.zeros(hats.size), 0.0
    state = _Dual(bins, hats, widths, sizes, float(variances[0]), noise, total)
    value, fitted, gradient, excess = state.at(force, theta)
    free = np.ones(bins.size, dtype=np.bool_)
    for _ in range(MAX_ROUNDS):
        direction, turn = state.newton(free, gradient, excess)
        slope = _inner(gradient, direction) + excess * turn
        length = 1.0
        while True:
            moved = state.at(force + length * direction, theta + length * turn)
            if moved[0] <= value + 1e-4 * length * slope + 1e-12 * abs(value) or length < 1e-9:
                break
            length /= 2
        force, theta = force + length * direction, theta + length * turn
        value, fitted, gradient, excess = moved
        if max(float(np.abs(gradient).max(initial=0.0)), abs(excess)) <= slack:
            return fitted
        free = fitted > 0.0
    raise ArithmeticError(f"least-squares smoothing did not converge in {MAX_ROUNDS} rounds")


@dataclass(frozen=True, eq=False)
class _Dual:
    """The dual problem: its value, its gradient and its Newton step."""

    bins: Float64
    hats: Float64
    spacings: Int64
    sizes: Int64
    bin_noise: float
    noise: Float64
    total: float | None

    def at(self, force: Float64, theta: float) -> tuple[float, Float64, Float64, float]:
        """Value, fitted bins, gradient by the forces, gradient by theta."""
        fitted = np.empty(self.bins.size)
        hat_spread(force, self.spacings, self.sizes, fitted)
        fitted = np.maximum(self.bins + self.bin_noise * (fitted + theta), 0.0)
        weighted = self.noise * force
        value = _inner(force, weighted / 2 - self.hats) + _inner(fitted, fitted) / (2 * self.bin_noise)
        gradient = weighted - self.hats + scaled_sums(fitted, self.spacings, self.sizes)
        if self.total is None:
            return value, fitted, gradient, 0.0
        return value - self.total * theta, fitted, gradient, float(fitted.sum()) - self.total

    def newton(self, free: Bool, gradient: Float64, excess: float) -> tuple[Float64, float]:
        """Step of the forces and of theta to the minimum of the quadratic that holds while `free` does."""
        factor = _factorize_free(free, self.spacings, self.sizes, self.bin_noise, self.noise)
        step = np.empty(gradient.size)
        solve(*factor, -gradient, step)
        if self.total is None:
            return step, 0.0
        coupling = self.bin_noise * scaled_sums(free.astype(np.float64), self.spacings, self.sizes)
        pulled = np.empty(gradient.size)
        solve(*factor, coupling, pulled)
        curvature = self.bin_noise * int(free.sum()) - _inner(coupling, pulled)
        if curvature <= 0.0:  # no bin is free: only theta can lift one
            return np.zeros(gradient.size), self.total / self.bin_noise
        turn = -(excess + _inner(coupling, step)) / curvature
        return step - turn * pulled, turn


def _inner(left: Float64, right: Float64) -> float:
    """Inner product on one thread: waking others costs more than these vectors do."""
    return float((left * right).sum())


@njit()
def scaled_sums(bins: Float64, spacings: Int64, sizes: Int64) -> Float64:
    """Hat sums of real bins, a bin having weight 1 per level, shape (hats,)."""
    out = np.zeros(sizes.sum())
    start = 0
    for level in range(spacings.size):
        spacing = spacings[level]
        hat, first = start, 0
        while first < bins.size:
            stop = min(first + spacing, bins.size)
            mass, moment = 0.0, 0.0
            for i in range(first, stop):
                mass += bins[i]
                moment += (i - first + 0.5) * bins[i]
            moment /= spacing
            out[hat] += mass - moment
            out[hat + 1] += moment
            hat, first = hat + 1, stop
        start += sizes[level]
    return out


@njit()
def _factorize_free(
    free: Bool, spacings: Int64, sizes: Int64, bin_noise: float, noise: Float64
) -> tuple[Int64, Int64, Float64, Float64]:
    """As `factorize`, diag(noise) + v0 H_A H_A^T: with the moments of the free bins in place of those of all bins."""
    slots, hats = 2 * spacings.size, sizes.sum()
    order, slot_of = np.empty(hats, dtype=np.int64), np.empty(hats, dtype=np.int64)
    pivots, ratios = np.empty(hats), np.zeros((hats, slots))
    state = np.zeros((slots, slots))
    rise, base = np.empty(slots), np.empty(slots)
    done, first = 0, 0
    while first < free.size:
        stop = next_knot(first, free.size, spacings)
        zeroth, first_moment, second_moment = 0.0, 0.0, 0.0
        for k in range(stop - first):
            if free[first + k]:
                zeroth += bin_noise
                first_moment += bin_noise * k
                second_moment += bin_noise * k * k
        for level in range(spacings.size):
            spacing = spacings[level]
            hat = first // spacing
            weight = (first - hat * spacing + 0.5) / spacing
            near, far = 2 * level + hat % 2, 2 * level + (hat + 1) % 2
            base[near], rise[near] = 1.0 - weight, -1.0 / spacing
            base[far], rise[far] = weight, 1.0 / spacing
        if zeroth > 0.0:
            for a in range(slots):
                for b in range(slots):
                    state[a, b] += (
                        base[a] * base[b] * zeroth
                        + (base[a] * rise[b] + rise[a] * base[b]) * first_moment
                        + rise[a] * rise[b] * second_moment
                    )
        start = 0
        for level in range(spacings.size):
            hat = first // spacings[level]
            ending = 2 if stop == free.size else int(stop // spacings[level] != hat)
            for extra in range(ending):
                slot = 2 * level + (hat + extra) % 2
                order[done], slot_of[done] = start + hat + extra, slot
                ratios[done] = state[:, slot]
                ratios[done, slot] = 0.0
                pivots[done] = observe(state, slot, noise[start + hat + extra])
                ratios[done] /= pivots[done]
                done += 1
            start += sizes[level]
        first = stop
    return order, slot_of, pivots, ratios


# --- Least absolute residuals: a sparse linear program
#
#     min  sum of weighted |residuals| of bins and hats   subject to   x >= 0   (and sum x = total)
#
# Hats overlap, so the block-by-block method for trees does not apply; a sparse interior-point
# solver takes it as it stands. The objective of the result, made feasible, is compared with the
# solver's lower bound.

LINEAR_TOLERANCE = 1e-6
"""Largest accepted duality gap, relative to the objective."""


def hat_matrix(size: int, spacings: tuple[int, ...]) -> Any:
    """Hat sums as a sparse matrix on the scale where a bin has weight 1 per level, shape (hats, N)."""
    from scipy import sparse

    sizes = hat_sizes(size, spacings)
    bins = np.arange(size)
    rows, weights, start = [], [], 0
    for spacing, hats in zip(spacings, sizes, strict=True):
        hat = bins // spacing
        right = (bins - hat * spacing + 0.5) / spacing
        rows += [start + hat, start + hat + 1]
        weights += [1.0 - right, right]
        start += int(hats)
    if not rows:
        return sparse.csr_array((0, size))
    columns = np.tile(bins, len(rows))
    return sparse.csr_array((np.concatenate(weights), (np.concatenate(rows), columns)), shape=(start, size))


def smooth_hats_absolute(
    bins: Float64, hats: Float64, spacings: tuple[int, ...], variances: Float64, *, total: float | None
) -> Float64:
    """As `smooth_hats`, in absolute distance weighted by 1 / standard deviation; a central optimum of several."""
    import piqp  # slow, and only this way of smoothing needs it
    from scipy import sparse

    size = bins.size
    if total == 0:
        return np.zeros(size)
    measured = np.concatenate([bins, hats])
    deviations = np.sqrt(np.repeat(variances, [size, *hat_sizes(size, spacings)]))
    # residuals in units of the noise, as a difference of two nonnegative parts
    scale = float(deviations.min())
    weights = scale / deviations
    rows = sparse.vstack([sparse.eye_array(size), hat_matrix(size, spacings)])
    rows = sparse.hstack([rows, sparse.eye_array(measured.size), -sparse.eye_array(measured.size)])
    right = measured / scale
    if total is not None:
        sums = sparse.coo_array((np.ones(size), (np.zeros(size, np.int64), np.arange(size))), shape=(1, rows.shape[1]))
        rows = sparse.vstack([rows, sums])
        right = np.append(right, total / scale)
    cost = np.concatenate([np.zeros(size), weights, weights])
    solver = piqp.SparseSolver()
    solver.settings.verbose = False
    empty = sparse.csc_matrix((cost.size, cost.size))
    solver.setup(empty, cost, sparse.csc_matrix(rows), right, x_l=np.zeros(cost.size))
    solved = solver.solve() == piqp.PIQP_SOLVED
    fitted: Float64 = np.maximum(np.asarray(solver.result.x)[:size], 0.0) * scale
    if total is not None:
        fitted *= total / max(float(fitted.sum()), 1e-300)
    residuals = measured - np.concatenate([fitted, hat_matrix(size, spacings) @ fitted])
    attained = float((np.abs(residuals) / deviations).sum())
    bound = float(solver.result.info.dual_obj)
    if not solved or attained - bound > LINEAR_TOLERANCE * (attained + np.sqrt(size)):
        raise ArithmeticError(f"least-absolute smoothing left a duality gap of {attained - bound:g}")
    return fitted
