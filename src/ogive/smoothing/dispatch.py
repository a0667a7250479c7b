"""Noisy measurements turned into a valid cumulative curve: monotone, and within the number of records.

Four ways, all post-processing, which costs no privacy:

    shrinkage        isotonic, then the noise is taken out where the data show nothing but noise
    least_squares    the valid curve nearest to the measurements in the norm of their own noise
    least_absolute   the same with weighted absolute distances: maximum likelihood under Laplace noise
    isotonic         the valid curve nearest to the estimate in plain squared distance

Every valid curve has increments x >= 0, so the second and third are nonnegative regression of the
measurements on the histogram x. Each strategy has its own exact algorithm (see the modules
of this package), and each algorithm checks its result against the optimality conditions.

Which is best depends on the data. Isotonic regression never increases the squared error, nor
the largest error, of the estimate it starts from. Shrinkage has a root mean squared error between
0.5 and 1.07 times that of isotonic regression on all of 18 shapes of data, and is the default.
Nonnegative regression gains more where the distribution sits on few points with the total known,
but where thousands of neighboring bins are empty the positive parts of their noise add up: squared
errors 2 to 7 times those of the unsmoothed estimate were measured in long empty tails, most with an
unknown total.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.smoothing.shrinkage import NoiseEnergy, noise_energy, shrink
from ogive.strategies.base import Strategy, approximates
from ogive.strategies.hats.smoothing import smooth_hats
from ogive.strategies.hats.smoothing_absolute import smooth_hats_absolute
from ogive.strategies.hats.strategy import LeastSquaresHats
from ogive.strategies.path.intervals import nested_intervals
from ogive.strategies.path.smoothing import ANCHORED, BOXED, UNKNOWN, smooth_path
from ogive.strategies.path.smoothing_absolute import smooth_path_absolute
from ogive.strategies.path.strategy import PathNoise
from ogive.strategies.reported.strategy import BITS, ReportedTree
from ogive.strategies.square_root.integer import factor_column
from ogive.strategies.square_root.smoothing import smooth_square_root
from ogive.strategies.square_root.strategy import SquareRoot, decoder
from ogive.strategies.thresholds import OpenedThresholds
from ogive.strategies.tree.smoothing import smooth_tree
from ogive.strategies.tree.smoothing_absolute import smooth_tree_absolute
from ogive.strategies.tree.strategy import LeastSquaresTree

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

SMOOTHINGS = ("shrinkage", "least_squares", "least_absolute", "isotonic")
DEFAULT_SMOOTHING = "shrinkage"
RANK_MATCHING = "rank_matching"
LARGEST_SQUARE_ROOT = 1 << 16

_KEPT = 64
_energies: OrderedDict[tuple[Strategy, bool, bytes | None], NoiseEnergy] = OrderedDict()


def unsmoothable(strategy: Strategy, kind: str) -> str | None:
    """Why a kind of smoothing is not offered for a strategy, or None if it is."""
    if approximates(strategy):
        if kind in ("auto", "isotonic") or (kind == RANK_MATCHING and isinstance(strategy, OpenedThresholds)):
            return None
        return f"{kind} smoothing is not offered for {strategy.name}, which is smooth already; use smooth='isotonic'"
    if not isinstance(strategy, SquareRoot):
        return None
    if kind == "least_absolute":
        return (
            "least_absolute smoothing is not offered for sqrt, whose noise is Gaussian; use another smoothing or method"
        )
    if kind == "least_squares" and strategy.size > LARGEST_SQUARE_ROOT:
        return f"least_squares smoothing of sqrt takes minutes above {LARGEST_SQUARE_ROOT} bins; use another smoothing"
    return None


def default_smoothing(strategy: Strategy) -> str:
    """What "auto" means for a strategy.

    Shrinkage takes noise out of many thresholds that each have their own. Strategies that approximate have little
    of it left to take, so isotonic regression does; counts at a few thresholds are matched with them by rank.
    """
    if isinstance(strategy, OpenedThresholds):
        return RANK_MATCHING
    return "isotonic" if approximates(strategy) else DEFAULT_SMOOTHING


def smooth(
    strategy: Strategy,
    answer: Int64,
    *,
    total: int | None,
    kind: str,
    points: Int64 | None = None,
    anchor: bool = True,
) -> Float64:
    """Estimate cumulative counts that never decrease, from at least 0 to at most the total.

    Args:
        strategy: What was measured.
        answer: Noisy measurements, shape (M,); for path noise at some points, their answers, shape (points,).
        total: The number of records where it is public, else None.
        kind: One of `SMOOTHINGS`, or "rank_matching" for thresholds that were opened one after the other.
        points: Increasing 0-based points. With path noise only these points were opened, and only they are
            made monotone; other strategies smooth the whole curve and return these points of it.
        anchor: Whether the last threshold is given the total exactly; False, only for path noise, uses the
            total as an upper bound alone, as the paper does.

    Returns:
        Cumulative counts, shape (N,) or (points,); not whole numbers.

    Raises:
        ParameterError: an argument is out of range or does not fit the strategy.
        UnsupportedError: this kind of smoothing is not offered for the strategy.

    Privacy:
        Post-processing; costs nothing.

    Source:
        Barczewski, Mawass and Ramon, Eq. 3 (path noise); Hay et al. 2010 (isotonic); Cai 1999 (shrinkage).
    """
    if kind not in SMOOTHINGS and not (kind == RANK_MATCHING and isinstance(strategy, OpenedThresholds)):
        raise ParameterError(f"kind must be one of {', '.join(SMOOTHINGS)}, got {quoted(kind)}")
    if total is not None and total < 0:
        raise ParameterError(f"total must be at least 0, got {total}")
    if not anchor and not isinstance(strategy, PathNoise):
        raise ParameterError("anchor=False is for path noise; other strategies use a public total exactly")
    reason = unsmoothable(strategy, kind)
    if reason is not None:
        raise UnsupportedError(reason)
    wanted = _checked_points(points, strategy.size)
    measurements = np.asarray(answer, dtype=np.int64)
    expected = wanted.size if isinstance(strategy, PathNoise) else sum(level.nodes for level in strategy.levels)
    if measurements.shape != (expected,):
        raise ParameterError(f"the answer must have shape ({expected},), got {measurements.shape}")
    if isinstance(strategy, PathNoise):
        curve = _smooth_path(strategy, measurements, wanted, total, kind, anchor)
    else:
        curve = _smooth_whole(strategy, measurements, total, kind)[wanted]
    return np.clip(curve, 0.0, total)


def _smooth_path(
    strategy: PathNoise, answer: Int64, points: Int64, total: int | None, kind: str, anchor: bool
) -> Float64:
    ending = UNKNOWN
    if total is not None:
        ending = ANCHORED if anchor and points[-1] == strategy.size - 1 else BOXED
    if kind in ("shrinkage", "isotonic"):
        known = total if ending == ANCHORED else None
        raw = strategy.estimate_at(answer, points, known)
        curve = np.clip(_isotonic(raw, known), 0.0, total)
        if kind == "isotonic":
            return curve
        return _isotonic(shrink(raw, curve, _noise_energy(strategy, known is not None, points)), known)
    intervals = nested_intervals(points, np.array(strategy.tree.sizes[: strategy.tree.terms]))
    if kind == "least_absolute":
        return smooth_path_absolute(answer, intervals, total=total or 0, bits=strategy.bits, ending=ending)
    noisy = np.ldexp(answer.astype(np.float64), -strategy.bits)
    curve = smooth_path(noisy, intervals, total=float(total or 0), ending=ending)
    if total is not None and ending == ANCHORED:
        curve[-1] = total
    return curve


def _smooth_whole(strategy: Strategy, answer: Int64, total: int | None, kind: str) -> Float64:
    if isinstance(strategy, OpenedThresholds) and kind == RANK_MATCHING:
        return strategy.matched(answer, total)
    if kind in ("shrinkage", "isotonic"):
        raw = strategy.estimate(answer, total)
        curve = np.clip(_isotonic(raw, total), 0.0, total)
        if kind == "isotonic":
            return curve
        return _isotonic(shrink(raw, curve, _noise_energy(strategy, total is not None)), total)
    known = None if total is None else float(total)
    variances = np.array([level.law.variance for level in strategy.levels])
    sizes = np.array([level.nodes for level in strategy.levels])
    values = answer.astype(np.float64)
    if isinstance(strategy, ReportedTree):
        values, variances, strategy = np.ldexp(values, -BITS), np.ldexp(variances, -2 * BITS), strategy.tree
    if isinstance(strategy, LeastSquaresTree):
        blocks = np.array(strategy.blocks)
        if kind == "least_squares":
            bins = smooth_tree(values, blocks, sizes, variances, total=known)
        else:
            bins = smooth_tree_absolute(values, blocks, sizes, 1.0 / np.sqrt(variances), total=known)
    elif isinstance(strategy, LeastSquaresHats):
        scales = np.array([1.0, *(2.0 * spacing for spacing in strategy.spacings)])
        values /= np.repeat(scales, sizes)
        fit = smooth_hats if kind == "least_squares" else smooth_hats_absolute
        bins = fit(values[: sizes[0]], values[sizes[0] :], strategy.spacings, variances / scales**2, total=known)
    elif isinstance(strategy, SquareRoot) and kind == "least_squares":
        column = factor_column(strategy.size, strategy.bits)
        unit = 2.0**strategy.bits
        inverse = np.diff(decoder(column, strategy.bits), prepend=0.0) * unit
        sigma = float(np.sqrt(variances[0])) / unit
        bins = smooth_square_root(values / unit, column / unit, inverse, sigma, total=known)
    else:
        raise UnsupportedError(f"{kind} smoothing is not offered for {strategy.name}")
    curve = np.cumsum(bins)
    if total is not None:
        curve[-1] = total
    return curve


def _noise_energy(strategy: Strategy, total_known: bool, points: Int64 | None = None) -> NoiseEnergy:
    """Energy of the noise of raw estimates, at all points or, for path noise, at some; kept for the ones used last."""
    key = (strategy, total_known, None if points is None else points.tobytes())
    if key in _energies:
        _energies.move_to_end(key)
        return _energies[key]
    known = 0 if total_known else None

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        answer = strategy.spread(noise)
        if points is None:
            return strategy.estimate(answer, known)
        assert isinstance(strategy, PathNoise)
        return strategy.estimate_at(answer[points], points, known)

    _energies[key] = noise_energy(estimate, strategy.levels, strategy.size if points is None else points.size)
    while len(_energies) > _KEPT:
        _energies.popitem(last=False)
    return _energies[key]


def _isotonic(estimate: Float64, total: int | None) -> Float64:
    curve: Float64 = isotonic_regression(estimate).x
    if total is not None:
        curve = np.minimum(curve, total)
        curve[-1] = total
    return curve


def _checked_points(points: Int64 | None, size: int) -> Int64:
    if points is None:
        return np.arange(size)
    wanted = np.asarray(points, dtype=np.int64)
    if wanted.ndim != 1 or not wanted.size or wanted[0] < 0 or wanted[-1] >= size or (np.diff(wanted) <= 0).any():
        raise ParameterError(f"points must be increasing whole numbers from 0 to {size - 1}, got {quoted(points)}")
    return wanted
