"""Running totals with noise on blocks of elements, drawn in order: path noise, and trees of completed blocks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.path import best_tree, candidate_trees, grid_squared_shift, path_noise_law, shift_cost
from ogive.streams.stored import Elements, Stateless, fields, numbers, whole_numbers

# --- Node noise in order, drawn a window at a time

WIDTH = 64


class NoiseWindow:
    """Consecutive nodes of one level, drawn at least 64 at a time so that single steps are cheap."""

    def __init__(self, nodes: DerivedNodes, law: Law, level: int, count: int) -> None:
        self._nodes, self._law, self._level, self._count = nodes, law, level, count
        self._first = 0
        self._drawn = np.empty(0, np.int64)

    def values(self, first: int, end: int) -> Int64:
        """Noise of the nodes first..end - 1, shape (end - first,)."""
        if first < self._first or end > self._first + len(self._drawn):
            wanted = np.arange(first, min(max(end, first + WIDTH), self._count))
            self._first, self._drawn = first, self._nodes.values(self._law, self._level, wanted)
        return self._drawn[first - self._first : end - self._first]


# --- Path noise: every total gets the noise of the blocks above its step
#
# At 0-based step t the noise of a block of size B is renewed when t is a multiple of B. The
# noise never depends on the stream, so under Laplace noise the bound on output probabilities
# holds pointwise and covers streams that react to what was published. For discrete Gaussian
# noise it is proved only for streams that do not.


class PathTotals(Stateless):
    """Path noise on the running totals of a stream."""

    name = "path"
    described = "path noise"
    law: DiscreteLaplace | DiscreteGaussian

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, largest: int) -> None:
        self.change = change
        # a changed element changes all later totals: suffixes, as when a record is added
        self.tree = best_tree(candidate_trees(steps), privacy, Adjacency.ADD_OR_REMOVE, gaussian="fine")
        self.law, self.bits = path_noise_law(self.tree, privacy, Adjacency.ADD_OR_REMOVE, change=change)
        if steps * largest >> (61 - self.bits):
            raise ParameterError("totals could overflow 64 bits; use fewer steps or a coarser resolution")

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(shift_cost(self.tree, Adjacency.ADD_OR_REMOVE) * self.change / self.law.scale)
        squared = grid_squared_shift(self.tree, Adjacency.ADD_OR_REMOVE, self.change << self.bits)
        return ZeroConcentratedDP(squared / (2 * self.law.sigma**2))

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        return np.full(np.shape(taken), self.tree.terms * self.law.variance / 4.0**self.bits)

    @property
    def mean_variance(self) -> float:
        """The variance, which is the same after every element."""
        return float(self.variance(np.array(1)))

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self.windows = [NoiseWindow(nodes, self.law, level, count) for level, count in enumerate(self.tree.nodes)]

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Noisy totals after each of the values."""
        steps = first + np.arange(len(values))
        noise = np.zeros(len(values), np.int64)
        for window, block in zip(self.windows, self.tree.sizes, strict=False):
            low = first // block
            noise += window.values(low, int(steps[-1]) // block + 1)[steps // block - low]
        # the sum of integers is rounded once, so what is published depends on it alone
        answer = ((total + np.cumsum(values)) << self.bits) + noise
        return np.ldexp(answer.astype(np.float64), -self.bits)


# --- Trees: totals from noisy sums of completed blocks (Honaker's online estimate)
#
# Level l adds up blocks of B_l = b^l elements and publishes each sum, with noise, when the block
# is complete; an element is in at most one block per level. Block sums are released one after
# another with noise of their own, so the privacy is that of adaptive composition: the stream may
# react to what was published. A block's sum is estimated from its own noisy sum and the
# estimates of its children, with V the variance of an estimate in units of the noise variance:
#
#     V_0 = 1,   V_l = 1 / (1 + 1 / (b V_{l-1})),   z = V_l (y + (sum of the children's z) / (b V_{l-1})),
#
# and the total at step t is the sum of z over the largest completed blocks that make up 1..t.

MAX_BASE = 64
# totals fit floats exactly; noise fits 64 bits, and an estimate is a mean of noisy sums of at most `steps` blocks
_MAX_TOTAL, _MAX_NOISE = 1 << 53, 2.0**63


class TreeTotals:
    """Noisy block sums, combined as soon as blocks are complete; memory O(log steps).

    `blocks` are the base and the number of levels; None takes those of least mean variance.
    """

    name = "tree"
    law: DiscreteLaplace | DiscreteGaussian

    def __init__(
        self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, *, blocks: tuple[int, int] | None = None
    ) -> None:
        self.steps, self.change = steps, change
        self.base, self.levels = blocks or _best_blocks(steps, pure=isinstance(privacy, PureDP))
        self.sizes = self.base ** np.arange(self.levels)
        self.relative = _relative_variances(self.base, self.levels)
        if isinstance(privacy, PureDP):
            self.law = DiscreteLaplace(round_up_scale(self.levels * change / privacy.epsilon))
        else:
            self.law = DiscreteGaussian(round_up_root(self.levels * change * change / (2 * privacy.rho)))

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs: one sum per level changes, by at most `change`."""
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(Fraction(self.levels * self.change) / self.law.scale)
        return ZeroConcentratedDP(Fraction(self.levels * self.change**2) / (2 * self.law.sigma**2))

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        blocks = np.asarray(taken)[..., None] // self.sizes
        blocks[..., :-1] %= self.base
        variance: Float64 = (blocks @ self.relative) * self.law.variance
        return variance

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over 1..steps."""
        return _mean_relative(self.steps, self.base, self.levels) * self.law.variance

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self.windows = [
            NoiseWindow(nodes, self.law, level, int(self.steps // size)) for level, size in enumerate(self.sizes)
        ]
        self.starts = np.zeros(self.levels, np.int64)
        self.estimates = np.zeros(self.levels)

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Estimated totals after each of the values."""
        end = first + len(values)
        ends = [(first // int(size), end // int(size)) for size in self.sizes]
        noise = [window.values(*span) for window, span in zip(self.windows, ends, strict=True)]
        offsets = np.cumsum([0] + [len(part) for part in noise[:-1]])
        out = np.empty(len(values))
        _advance(
            first,
            total,
            values,
            self.base,
            self.relative,
            np.concatenate(noise),
            offsets,
            self.starts,
            self.estimates,
            out,
        )
        return out

    def state(self) -> dict[str, Any]:
        """Sums before the open blocks, and the estimates of the blocks completed inside them, per level."""
        return {"starts": self.starts.tolist(), "estimates": self.estimates.tolist()}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements."""
        state = fields(state, frozenset(("starts", "estimates")), "the state of a tree")
        starts = whole_numbers(state["starts"], self.levels, -_MAX_TOTAL, _MAX_TOTAL, "starts")
        before, sum_before = elements.taken, elements.total
        for size, start in zip(self.sizes.tolist(), starts, strict=True):
            # what lies between the open block of this level and that of the level below
            first = elements.taken // size * size
            if not (elements.allow(start, first) and elements.allow(sum_before - start, before - first)):
                raise ParameterError(f"starts of a stored running total contradict the {elements.taken} elements")
            before, sum_before = first, start
        estimates = numbers(state["estimates"], self.levels, float(self.steps) * _MAX_NOISE, "estimates")
        self.starts, self.estimates = np.array(starts, np.int64), np.array(estimates)


def _relative_variances(base: int, levels: int) -> Float64:
    """V_l of every level, shape (levels,)."""
    variances = [1.0]
    for _ in range(levels - 1):
        variances.append(1 / (1 + 1 / (base * variances[-1])))
    return np.array(variances)


def _best_blocks(steps: int, *, pure: bool) -> tuple[int, int]:
    """(base, levels) of least mean variance; noise variance grows with levels^2 for pure privacy, else with levels."""
    choices = [
        (base, levels)
        for base in range(2, MAX_BASE + 1)
        for levels in range(1, steps.bit_length() + 1)
        if base ** (levels - 1) <= steps
    ]
    return min(choices, key=lambda c: _mean_relative(steps, *c) * c[1] ** (2 if pure else 1))


def _mean_relative(steps: int, base: int, levels: int) -> float:
    """Mean over t = 1..steps of the sum of V_l over the blocks that make up 1..t."""
    starts = [_sum_of_quotients(steps, base**level) for level in range(levels)]
    counts = [low - base * high for low, high in zip(starts, [*starts[1:], 0], strict=True)]
    return math.fsum(c * v for c, v in zip(counts, _relative_variances(base, levels), strict=True)) / steps


def _sum_of_quotients(steps: int, size: int) -> int:
    """Sum of floor(t / size) over t = 1..steps."""
    whole, rest = divmod(steps, size)
    return size * whole * (whole - 1) // 2 + whole * (rest + 1)


@njit()
def _advance(
    first: int,
    total: int,
    values: Int64,
    base: int,
    relative: Float64,
    noise: Int64,
    offsets: Int64,
    starts: Int64,
    estimates: Float64,
    out: Float64,
) -> None:
    """Take elements one by one; `starts`, `estimates`, and the positions in `offsets`, are updated in place."""
    for step in range(len(values)):
        total += values[step]
        count = first + step + 1
        for level in range(len(starts)):
            if level > 0:
                if count % base:
                    break
                count //= base
            # published: the sum of the block that ends here, plus its noise
            value = float(total - starts[level] + noise[offsets[level]])
            offsets[level] += 1
            starts[level] = total
            if level > 0:
                below = base * relative[level - 1]
                value = relative[level] * (value + estimates[level - 1] / below)
                estimates[level - 1] = 0.0
            estimates[level] += value
        running = 0.0
        for level in range(len(starts)):
            running += estimates[level]
        out[step] = running
