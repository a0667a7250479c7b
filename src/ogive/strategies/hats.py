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
from typing import TYPE_CHECKING, ClassVar

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
    check_levels,
    check_privacy,
    histogram,
    measured_laws,
    measured_loss,
    moved_counts,
)
from ogive.strategies.hat_passes import HatSolver, as_arrays, hat_sizes, hat_spread, hat_sums, next_knot, observe, solve
from ogive.strategies.tree import whole_shares

if TYPE_CHECKING:
    from scipy import sparse

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


# --- The strategy


def hat_changes(size: int, spacing: int, adjacency: Adjacency) -> tuple[int, int]:
    """How far one change of a record moves the hats of one level: largest L1 change, bound on the squared L2.

    One record adds (2B - r, r) with r odd. Two records in the same interval between knots move two
    hats by |r - r'| each; in adjacent intervals the L1 change is max(2 r', 4B - 2r) <= 4B - 2;
    farther apart it is 4B. Bins 0 and N - 1 attain the L1 change on all levels at once.
    """
    intervals = -(-size // spacing)
    one = (2 * spacing - 1) ** 2 + 1
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return 2 * spacing, one
    if intervals == 1:
        return 4 * (size - 1), 8 * (size - 1) ** 2
    return 4 * spacing - 2 * (intervals == 2), 2 * one


@dataclass(frozen=True)
class LeastSquaresHats(PlainStrategy):
    """Noisy bin counts and integer hat sums, combined by least squares.

    Fields:
        size: Number of bins, N.
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

    @property
    def levels(self) -> tuple[Level, ...]:
        """The bins, then the hats of each spacing."""
        nodes = (self.size, *(int(size) for size in self._arrays[1]))
        return tuple(Level(count, law) for count, law in zip(nodes, self.laws, strict=True))

    @cached_property
    def _arrays(self) -> tuple[Int64, Int64]:
        return as_arrays(self.size, self.spacings)

    @cached_property
    def solver(self) -> HatSolver:
        """The least-squares problem, on the scale where a record adds 1 per level."""
        scaled = [law.variance / (2 * spacing) ** 2 for law, spacing in zip(self.laws[1:], self.spacings, strict=True)]
        return HatSolver(self.size, self.spacings, self.laws[0].variance, np.array(scaled))

    def measure(self, counts: Int64) -> Int64:
        """Bin counts followed by the integer hat sums of each level, shape (M,)."""
        widest = 2 * max(self.spacings, default=1)
        bins = histogram(counts, self.size, terms=widest, weight=widest)
        return np.concatenate([bins, hat_sums(bins, *self._arrays)])

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels: exactly for Laplace noise, safely from above for Gaussian.

        Privacy:
            A level's sums change by at most 2B in absolute value for a record added or removed, 4B for one replaced.
        """
        l1, l2_squared = _all_changes(self.size, self.spacings, adjacency)
        return measured_loss(self.laws, l1=l1, l2_squared=l2_squared)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N levels)."""
        rows, shape = batch(answer, self.size + int(self._arrays[1].sum()))
        return self.solver.estimate(rows, total).reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        return self.solver.variance(total_known=total_known)


def _all_changes(size: int, spacings: tuple[int, ...], adjacency: Adjacency) -> tuple[list[int], list[int]]:
    """L1 and squared L2 changes of the bins and of every level of hats."""
    bins = moved_counts(adjacency)
    changes = [(bins, bins), *(hat_changes(size, spacing, adjacency) for spacing in spacings)]
    return [change[0] for change in changes], [change[1] for change in changes]


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
    check_levels(size, (), (), what="spacings")
    check_privacy(privacy, adjacency)
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
    """Hats of given spacings and shares of the loss.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    l1, l2_squared = _all_changes(size, spacings, adjacency)
    return LeastSquaresHats(size, spacings, measured_laws(privacy, shares, l1=l1, l2_squared=l2_squared))


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


def hat_matrix(size: int, spacings: tuple[int, ...]) -> sparse.csr_array:
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
