"""Noisy measurements turned into a valid cumulative curve: monotone, and within the number of records.

Five ways, all post-processing, which costs no privacy:

    shrinkage        isotonic, then the noise is taken out where the data show nothing but noise
    density          a smooth density with a few atoms, and of what it leaves the part that is more than noise
    least_squares    the valid curve nearest to the measurements in the norm of their own noise
    least_absolute   the same with weighted absolute distances: maximum likelihood under Laplace noise
    isotonic         the valid curve nearest to the estimate in plain squared distance

Every valid curve has increments x >= 0, so the third and fourth are nonnegative regression of the
measurements on the histogram x. Each strategy has its own exact algorithms, beside it (`NEAREST`), and each
checks its result against the optimality conditions.

Which is best depends on the data. Isotonic regression never increases the squared error, nor
the largest error, of the estimate it starts from. Shrinkage has a root mean squared error between
0.5 and 1.07 times that of isotonic regression on all of 18 shapes of data, and is the default of
methods that are named. Where the noise is neither small nor nearly as large as the number of records, a density
is nearer on most columns, and `auto` takes it.
Nonnegative regression gains more where the distribution sits on few points with the total known,
but where thousands of neighboring bins are empty the positive parts of their noise add up: squared
errors 2 to 7 times those of the unsmoothed estimate were measured in long empty tails, most with an
unknown total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.noise import DiscreteGaussian
from ogive.strategies.balanced_roots import RingRoot, SymmetricRoot
from ogive.strategies.base import FAR, Strategy, approximates, deviation
from ogive.strategies.composed import PERSON_UNITS, CountedPeople, units_of
from ogive.strategies.counts import OpenedThresholds
from ogive.strategies.hats import LeastSquaresHats
from ogive.strategies.hats_smoothed import hat_matrix, smooth_hats, smooth_hats_absolute
from ogive.strategies.path import PathNoise
from ogive.strategies.path_smoothed import ANCHORED, BOXED, UNKNOWN, nested_intervals, smooth_path, smooth_path_absolute
from ogive.strategies.reported import BITS, ReportedTree
from ogive.strategies.shrinkage import NoiseEnergy, noise_energy, shrink
from ogive.strategies.square_root import GaussianRoot, SquareRoot, nearest_bins
from ogive.strategies.tree import LeastSquaresTree, smooth_tree, smooth_tree_absolute

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from ogive.strategies.density import Likelihood

Smoothing = Literal["shrinkage", "density", "least_squares", "least_absolute", "isotonic"]
SMOOTHINGS: tuple[Smoothing, ...] = get_args(Smoothing)
Smooth = Literal["auto", Smoothing]
"""A smoothing, or "auto" for the one that suits what was measured."""
DEFAULT_SMOOTHING: Smoothing = "shrinkage"
DENSITY: Smoothing = "density"
RANK_MATCHING = "rank_matching"
LARGEST_SQUARE_ROOT = 1 << 16


def isotonic(estimate: Float64, total: int | None) -> Float64:
    """The nearest curve that never decreases; with a total it is at most that, and exactly that at its end."""
    curve = np.array(estimate, dtype=np.float64)
    pool(curve)
    if total is not None:
        curve = np.minimum(curve, total)
        curve[-1] = total
    return curve


@njit(steps=lambda values: 2 * values.size)
def pool(values: Float64) -> None:
    """Overwrite values by their isotonic regression, in linear time.

    Neighbors that decrease are pooled to their mean: forward as long as the mean is not below what follows, then
    backward as long as it is not above what precedes.

    Source: Busing, Monotone regression: a simple and fast O(n) PAVA implementation, 2022.
    """
    size = values.size
    means, weights, ends = np.empty(size), np.empty(size), np.empty(size, np.int64)
    blocks, at = 0, 0
    while at < size:
        mean, weight = values[at], 1.0
        at += 1
        if blocks > 0 and means[blocks - 1] >= mean:
            blocks -= 1
            total = weights[blocks] * means[blocks] + mean
            weight += weights[blocks]
            mean = total / weight
            while at < size and mean >= values[at]:
                total += values[at]
                weight += 1.0
                mean = total / weight
                at += 1
            while blocks > 0 and means[blocks - 1] >= mean:
                blocks -= 1
                total += weights[blocks] * means[blocks]
                weight += weights[blocks]
                mean = total / weight
        means[blocks], weights[blocks], ends[blocks] = mean, weight, at
        blocks += 1
    first = 0
    for block in range(blocks):
        values[first : ends[block]] = means[block]
        first = ends[block]


# --- The strategies that a density is fitted to, and the fitted curve
#
# An unbiased strategy measures sums of bins with independent noise. A smooth density with a few atoms is fitted to them
# (`density`), and what the unbiased curve says against it beyond noise is added back (`kept_residual`). So smooth
# columns gain what a method for smooth columns gains, and others lose little against shrinkage. Nothing else is
# measured, and the band is that of the unbiased curve.

FEWEST_BINS = 16
"""Shorter curves have too few bins for a density to be smooth."""

LARGEST_BINS = 1 << 16
"""On more bins a fit takes seconds, and `auto` shrinks."""

LOUDEST, LOUDEST_REPORTS, QUIETEST = 0.65, 0.2, 0.004
"""Noise at a threshold, as a share of the records, between which `auto` fits a density.

With more noise a density cannot be told from an atom; with less, the unbiased curve is as good as any fit. Reports
have a limit of their own, up to which `benchmarks/local_curves.py` measures them.
"""

_SILENT = 1e-3  # variance below which noise of a whole number is as good as none


def _hat_weights(strategy: LeastSquaresHats) -> Any:
    from scipy import sparse  # slow to import

    return sparse.vstack([sparse.eye_array(strategy.size), hat_matrix(strategy.size, strategy.spacings)], format="csr")


def _block_weights(strategy: LeastSquaresTree) -> Any:
    from scipy import sparse  # slow to import

    bins = np.arange(strategy.size)
    rows = [
        sparse.csr_array((np.ones(strategy.size), (bins // block, bins)), shape=(level.nodes, strategy.size))
        for block, level in zip(strategy.blocks, strategy.levels, strict=True)
    ]
    return sparse.vstack(rows, format="csr")


WEIGHTS: Mapping[type, Callable[[Any], Any]] = {
    LeastSquaresHats: _hat_weights,
    LeastSquaresTree: _block_weights,
    ReportedTree: lambda strategy: _block_weights(strategy.inner),
}
"""For each strategy that a density can be fitted to: weights of the bins in its sums, at most 1, shape (M, N)."""


def scales_of(strategy: Strategy) -> list[float]:
    """What the numbers of each level are divided by, to be sums of bins with those weights."""
    if isinstance(strategy, LeastSquaresHats):
        return [1.0, *(2.0 * spacing for spacing in strategy.spacings)]
    return [2.0**BITS if isinstance(strategy, ReportedTree) else 1.0] * len(strategy.levels)


@lru_cache(maxsize=64)
def _largest(strategy: Any) -> float:
    """Largest deviation of a measured sum, on the scale where a bin weighs at most 1."""
    levels = zip(strategy.levels, scales_of(strategy), strict=True)
    return max(math.sqrt(level.law.variance) / scale for level, scale in levels)


@lru_cache(maxsize=8)
def _likelihood(strategy: Any) -> tuple[Likelihood, Float64]:
    """The likelihood of a histogram, and what an answer is divided by."""
    from ogive.strategies.density import Likelihood  # with the first fit

    nodes = [level.nodes for level in strategy.levels]
    scales = np.repeat(scales_of(strategy), nodes)
    variances = np.repeat([max(level.law.variance, _SILENT) for level in strategy.levels], nodes)
    heavy = not isinstance(strategy.levels[0].law, DiscreteGaussian)
    return Likelihood(WEIGHTS[type(strategy)](strategy), variances / scales**2, heavy), scales


@lru_cache(maxsize=1)
def _linear_algebra() -> ThreadpoolController:
    """Controls the threads of the libraries that NumPy and SciPy have loaded; the latter's come with a first fit."""
    from threadpoolctl import ThreadpoolController  # slow to import

    return ThreadpoolController()


@lru_cache(maxsize=8)
def _energies(strategy: Any, total_known: bool) -> list[Float64]:
    """Noise of the Haar coefficients of the unbiased curve."""
    from ogive.strategies.density import haar_energies  # with the first fit

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        return np.asarray(strategy.estimate(strategy.spread(noise), 0 if total_known else None))

    nodes = [level.nodes for level in strategy.levels]
    return haar_energies(estimate, nodes, [level.law.variance for level in strategy.levels])


def fitted_curve(strategy: Strategy, answer: Int64, total: int | None) -> Float64:
    """Cumulative counts by a fitted density and what it leaves, shape (N,); monotone. Post-processing.

    For a strategy of one of the types in `WEIGHTS`; `answer` are its noisy measurements, shape (M,), and `total` is the
    number of records if public, else None.
    """
    from ogive.strategies.density import Fitting, kept_residual  # with the first fit

    raw = strategy.estimate(answer, total)
    monotone = np.clip(isotonic(raw, total), 0.0, total)
    records = float(monotone[-1])
    if records <= 0:
        return monotone
    hashable: Any = strategy
    likelihood, scales = _likelihood(hashable)
    try:
        with _linear_algebra().limit(limits=1, user_api="blas"):  # threads wait longer for each other than they work
            histogram = Fitting(likelihood, answer / scales, records).histogram()
    except (np.linalg.LinAlgError, ValueError) as error:  # the latter from SciPy, for numbers that are not finite
        raise ArithmeticError(f"a density was not fitted: {error}") from None
    if not np.isfinite(histogram).all():
        raise ArithmeticError("a density was not fitted: it is not finite")
    curve = np.cumsum(histogram)
    curve += kept_residual(monotone - curve, _energies(hashable, total is not None))
    return isotonic(curve, total)


# --- All ways of smoothing


def ending(strategy: PathNoise, points: Int64, total: int | None, *, anchor: bool) -> int:
    """What is demanded of the last point: nothing, at most the total, or, as `ANCHORED`, the total exactly."""
    if total is None:
        return UNKNOWN
    return ANCHORED if anchor and points[-1] == strategy.size - 1 else BOXED


def nearest_points(
    strategy: PathNoise, answer: Int64, points: Int64, total: int | None, kind: str, *, anchor: bool
) -> Float64:
    """The valid values nearest to the answers at some points, by "least_squares" or "least_absolute"."""
    last = ending(strategy, points, total, anchor=anchor)
    intervals = nested_intervals(points, np.array(strategy.tree.sizes[: strategy.tree.terms]))
    if kind == "least_absolute":
        return smooth_path_absolute(answer, intervals, total=total or 0, bits=strategy.bits, ending=last)
    noisy = np.ldexp(answer.astype(np.float64), -strategy.bits)
    curve = smooth_path(noisy, intervals, total=float(total or 0), ending=last)
    if total is not None and last == ANCHORED:
        curve[-1] = total
    return curve


# Each of these finds the histogram of bins at least 0 that is nearest to an answer, by "least_squares" or, where the
# noise may be Laplace, "least_absolute"; `total` is the number of records if public, else None.


def _nearest_root(strategy: GaussianRoot, answer: Int64, total: float | None, kind: str) -> Float64:
    assert kind == "least_squares"
    plain, normal, inverse = strategy.normal_equations(answer.astype(np.float64))
    return nearest_bins(plain, normal, inverse, float(np.sqrt(strategy.law.variance)) / strategy.unit, total=total)


def _nearest_sums(
    strategy: LeastSquaresHats | LeastSquaresTree | ReportedTree, answer: Int64, total: float | None, kind: str
) -> Float64:
    sizes, scales = np.array([level.nodes for level in strategy.levels]), np.array(scales_of(strategy))
    values = answer.astype(np.float64) / np.repeat(scales, sizes)
    variances = np.array([level.law.variance for level in strategy.levels]) / scales**2
    if isinstance(strategy, LeastSquaresHats):
        fit = smooth_hats_absolute if kind == "least_absolute" else smooth_hats
        return fit(values[: sizes[0]], values[sizes[0] :], strategy.spacings, variances, total=total)
    blocks = np.array((strategy.inner if isinstance(strategy, ReportedTree) else strategy).blocks)
    if kind == "least_squares":
        return smooth_tree(values, blocks, sizes, variances, total=total)
    return smooth_tree_absolute(values, blocks, sizes, 1.0 / np.sqrt(variances), total=total)


NEAREST: Mapping[type, Callable[[Any, Int64, float | None, str], Float64]] = {
    LeastSquaresHats: _nearest_sums,
    LeastSquaresTree: _nearest_sums,
    ReportedTree: _nearest_sums,
    RingRoot: _nearest_root,
    SquareRoot: _nearest_root,
    SymmetricRoot: _nearest_root,
}
"""The histogram nearest to an answer in the norm of its noise: a function for each strategy that has one.

Path noise, of which some points alone may be opened, has `nearest_points` instead.
"""


def unsmoothable(strategy: Strategy, kind: str) -> str | None:
    """Why a kind of smoothing is not offered for a strategy, or None if it is."""
    if isinstance(strategy, CountedPeople):
        return unsmoothable(strategy.strategy, kind)
    if approximates(strategy):
        if kind in ("auto", "isotonic") or (kind == RANK_MATCHING and isinstance(strategy, OpenedThresholds)):
            return None
        return f"{kind} smoothing is not offered for {strategy.name}, which is smooth already; use `smooth='isotonic'`"
    if kind == DENSITY and type(strategy) not in WEIGHTS:
        offered = "hat_ls, tree_ls and reports"
        return f"density smoothing is offered for {offered}, not for {strategy.name}; use `smooth='shrinkage'`"
    if isinstance(strategy, GaussianRoot) and kind == "least_absolute":
        return (
            f"least_absolute smoothing is not offered for {strategy.name}, whose noise is Gaussian; "
            "use another smoothing or method"
        )
    if isinstance(strategy, GaussianRoot) and kind == "least_squares" and strategy.size > LARGEST_SQUARE_ROOT:
        return (
            f"least_squares smoothing of {strategy.name} takes minutes above {LARGEST_SQUARE_ROOT} bins; "
            "use another smoothing"
        )
    return None


def default_smoothing(strategy: Strategy) -> str:
    """What "auto" means for a strategy.

    Shrinkage takes noise out of many thresholds that each have their own. Strategies that approximate have little
    of it left to take, so isotonic regression does; counts at a few thresholds are matched with them by rank.
    """
    if isinstance(strategy, OpenedThresholds):
        return RANK_MATCHING
    return "isotonic" if approximates(strategy) else DEFAULT_SMOOTHING


def automatic_smoothing(strategy: Strategy, answer: Int64, total: int | None) -> str:
    """What `auto` does with a curve: a density where that suits its noise, else the default of the strategy.

    Decided by the strategy and by numbers that are released; the arguments are those of `smooth`.
    """
    if isinstance(strategy, CountedPeople):
        return automatic_smoothing(strategy.strategy, answer, units_of(total))
    if type(strategy) not in WEIGHTS or not FEWEST_BINS <= strategy.size <= LARGEST_BINS:
        return default_smoothing(strategy)
    records = float(strategy.estimate(answer, total)[-1])
    hashable: Any = strategy
    if FAR * _largest(hashable) < QUIETEST * records:
        return default_smoothing(strategy)  # without the exact variance, whose loops would be compiled for it
    loudest = LOUDEST_REPORTS if isinstance(strategy, ReportedTree) else LOUDEST
    suited = QUIETEST * records < deviation(hashable, total_known=total is not None) < loudest * records
    return DENSITY if suited else default_smoothing(strategy)


def smooth(
    strategy: Strategy, answer: Int64, *, total: int | None, kind: str, points: Int64 | None = None, anchor: bool = True
) -> Float64:
    """Estimate cumulative counts that never decrease, from at least 0 to at most the total.

    `answer`: Noisy measurements, shape (M,); for path noise at some points, their answers, shape (points,). `total`:
    The number of records if public, else None. `kind`: One of `SMOOTHINGS`, or "rank_matching" for thresholds that were
    opened one after the other. `points`: Increasing 0-based points. With path noise only these points were opened, and
    only they are made monotone; other strategies smooth the whole curve and return these points of it. `anchor`:
    Whether the last threshold is given the total exactly; False, only for path noise, uses the total as an upper bound
    alone, as the paper does.

    Returns:
        Cumulative counts, shape (N,) or (points,); not whole numbers.

    Privacy:
        Post-processing; costs nothing.

    Source:
        Barczewski, Mawass and Ramon, Eq. 3 (path noise); Hay et al. 2010 (isotonic); Cai 1999 (shrinkage).
    """
    if isinstance(strategy, CountedPeople):
        known = units_of(total)
        units = smooth(strategy.strategy, answer, total=known, kind=kind, points=points, anchor=anchor)
        return units / PERSON_UNITS
    if kind not in SMOOTHINGS and not (kind == RANK_MATCHING and isinstance(strategy, OpenedThresholds)):
        raise ParameterError(f"`kind` must be one of {', '.join(SMOOTHINGS)}, got {quoted(kind)}")
    if total is not None and total < 0:
        raise ParameterError(f"`total` must be at least 0, got {total}")
    if not anchor and not isinstance(strategy, PathNoise):
        raise ParameterError("`anchor=False` is for path noise; other strategies use a public total exactly")
    reason = unsmoothable(strategy, kind)
    if reason is not None:
        raise UnsupportedError(reason)
    size = strategy.size
    chosen = np.arange(size) if points is None else np.asarray(points, dtype=np.int64)
    if chosen.ndim != 1 or not chosen.size or chosen[0] < 0 or chosen[-1] >= size or (np.diff(chosen) <= 0).any():
        raise ParameterError(f"`points` must be increasing whole numbers from 0 to {size - 1}, got {quoted(points)}")
    measurements = np.asarray(answer, dtype=np.int64)
    expected = chosen.size if isinstance(strategy, PathNoise) else sum(level.nodes for level in strategy.levels)
    if measurements.shape != (expected,):
        raise ParameterError(f"the answer must have shape ({expected},), got {measurements.shape}")
    if isinstance(strategy, PathNoise):
        return np.clip(_smooth_path(strategy, measurements, chosen, total, kind, anchor), 0.0, total)
    if kind == RANK_MATCHING and isinstance(strategy, OpenedThresholds):
        curve = strategy.matched(measurements, total)
    elif kind in ("shrinkage", "isotonic"):
        curve = _near_estimate(strategy, strategy.estimate(measurements, total), total, kind, known=total)
    elif kind == DENSITY:
        curve = fitted_curve(strategy, measurements, total)
    elif type(strategy) in NEAREST:
        curve = np.cumsum(
            NEAREST[type(strategy)](strategy, measurements, None if total is None else float(total), kind)
        )
        if total is not None:
            curve[-1] = total
    else:
        raise UnsupportedError(f"{kind} smoothing is not offered for {strategy.name}")
    return np.clip(curve[chosen], 0.0, total)


def smooth_sum(strategy: Strategy, raw: Float64, *, total: int | None) -> tuple[Float64, str]:
    """The valid curve near a sum of estimates of disjoint batches, and the name of what was done.

    Batches are added up as they were measured, and smoothed once, together: by shrinkage as a single curve, with the
    noise of the sum; by isotonic regression for approximations, which have little noise to be taken out.

    The strategy says what noise the sum has; `raw` are cumulative counts before smoothing, shape (N,). All of it is
    post-processing.
    """
    kind = "isotonic" if approximates(strategy) else "shrinkage"
    return np.clip(_near_estimate(strategy, raw, total, kind, known=total), 0.0, total), kind


def _smooth_path(
    strategy: PathNoise, answer: Int64, points: Int64, total: int | None, kind: str, anchor: bool
) -> Float64:
    if kind not in ("shrinkage", "isotonic"):
        return nearest_points(strategy, answer, points, total, kind, anchor=anchor)
    known = total if ending(strategy, points, total, anchor=anchor) == ANCHORED else None
    return _near_estimate(strategy, strategy.estimate_at(answer, points, known), total, kind, known=known, at=points)


def _near_estimate(
    strategy: Strategy, raw: Float64, total: int | None, kind: str, *, known: int | None, at: Int64 | None = None
) -> Float64:
    """Isotonic regression of a raw estimate, then, for "shrinkage", less of its noise.

    `known` is the total where the last value is it, and `at` the points of path noise that were opened.
    """
    curve = np.clip(isotonic(raw, known), 0.0, total)
    if kind == "isotonic":
        return curve
    hashable: Any = strategy
    energy = _noise_energy(hashable, known is not None, None if at is None else at.tobytes())
    return isotonic(shrink(raw, curve, energy), known)


@lru_cache(maxsize=64)
def _noise_energy(strategy: Any, total_known: bool, opened: bytes | None) -> NoiseEnergy:
    """Energy of the noise of raw estimates, at all points or, for path noise, at some; kept for the ones used last."""
    known = 0 if total_known else None
    points = None if opened is None else np.frombuffer(opened, dtype=np.int64)

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        answer = strategy.spread(noise)
        if points is None:
            return np.asarray(strategy.estimate(answer, known))
        return np.asarray(strategy.estimate_at(answer[points], points, known))

    nodes = [level.nodes for level in strategy.levels]
    variances = [level.law.variance for level in strategy.levels]
    return noise_energy(estimate, nodes, variances, strategy.size if points is None else points.size)
