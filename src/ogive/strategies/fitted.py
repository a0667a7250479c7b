"""Curves by a fitted density: for which strategies, when `auto` takes them, and from an answer to a curve.

An unbiased strategy measures sums of bins with independent noise. A smooth density with a few atoms is fitted to them
(`density.estimate`), and what the unbiased curve says against it beyond noise is added back (`density.residual`). So
smooth columns gain what a method for smooth columns gains, and others lose little against shrinkage. Nothing else is
measured, and the band is that of the unbiased curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian
from ogive.smoothing import isotonic
from ogive.strategies.base import Strategy
from ogive.strategies.hats.strategy import LeastSquaresHats
from ogive.strategies.reported.strategy import BITS, ReportedTree
from ogive.strategies.tree.strategy import LeastSquaresTree

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from ogive.strategies.density.likelihood import Likelihood

FEWEST_BINS = 16
"""Shorter curves have too few bins for a density to be smooth."""

LARGEST_BINS = 1 << 16
"""On more bins a fit takes seconds, and `auto` shrinks."""

LOUDEST, LOUDEST_REPORTS, QUIETEST = 0.65, 0.2, 0.004
"""Noise at a threshold, as a share of the records, between which `auto` fits a density.

With more noise a density cannot be told from an atom; with less, the unbiased curve is as good as any fit. Reports
have a limit of their own, up to which `benchmarks/local_curves.py` measures them.
"""

_FAR = 8.0  # times the largest deviation of a measured sum: estimates from them deviate by less
_SILENT = 1e-3  # variance below which noise of a whole number is as good as none


def _hat_weights(strategy: LeastSquaresHats) -> Any:
    from scipy import sparse  # slow to import

    bins = np.arange(strategy.size)
    rows: list[Any] = [sparse.eye_array(strategy.size)]
    for spacing, level in zip(strategy.spacings, strategy.levels[1:], strict=True):
        hat = bins // spacing
        right = (bins - hat * spacing + 0.5) / spacing
        weights, places = np.concatenate([1 - right, right]), (np.concatenate([hat, hat + 1]), np.tile(bins, 2))
        rows.append(sparse.csr_array((weights, places), shape=(level.nodes, strategy.size)))
    return sparse.vstack(rows, format="csr")


def _block_weights(strategy: LeastSquaresTree) -> Any:
    from scipy import sparse  # slow to import

    bins = np.arange(strategy.size)
    rows = [
        sparse.csr_array((np.ones(strategy.size), (bins // block, bins)), shape=(level.nodes, strategy.size))
        for block, level in zip(strategy.blocks, strategy.levels, strict=True)
    ]
    return sparse.vstack(rows, format="csr")


def _report_weights(strategy: ReportedTree) -> Any:
    return _block_weights(strategy.tree)


WEIGHTS: Mapping[type, Callable[[Any], Any]] = {
    LeastSquaresHats: _hat_weights,
    LeastSquaresTree: _block_weights,
    ReportedTree: _report_weights,
}
"""For each strategy that a density can be fitted to: weights of the bins in its sums, at most 1, shape (M, N)."""


def _scales(strategy: Strategy) -> list[float]:
    """What the numbers of each level are divided by, to be sums of bins with those weights."""
    if isinstance(strategy, LeastSquaresHats):
        return [1.0, *(2.0 * spacing for spacing in strategy.spacings)]
    return [2.0**BITS if isinstance(strategy, ReportedTree) else 1.0] * len(strategy.levels)


def fits(strategy: Strategy) -> bool:
    """Whether a density can be fitted to what a strategy measures."""
    return type(strategy) in WEIGHTS


def suits(strategy: Strategy, answer: Int64, total: int | None) -> bool:
    """Whether `auto` fits a density to a curve; decided by the strategy and the released numbers.

    Args:
        strategy: What was measured.
        answer: Noisy measurements, shape (M,).
        total: The number of records if public, else None.
    """
    if not fits(strategy) or not FEWEST_BINS <= strategy.size <= LARGEST_BINS:
        return False
    records = float(strategy.estimate(answer, total)[-1])
    hashable: Any = strategy
    if _FAR * _largest(hashable) < QUIETEST * records:
        return False  # without the exact variance, whose loops would be compiled for it
    loudest = LOUDEST_REPORTS if isinstance(strategy, ReportedTree) else LOUDEST
    return QUIETEST * records < deviation(hashable, total_known=total is not None) < loudest * records


@lru_cache(maxsize=64)
def _largest(strategy: Any) -> float:
    """Largest deviation of a measured sum, on the scale where a bin weighs at most 1."""
    levels = zip(strategy.levels, _scales(strategy), strict=True)
    return max(math.sqrt(level.law.variance) / scale for level, scale in levels)


@lru_cache(maxsize=64)
def deviation(strategy: Any, *, total_known: bool) -> float:
    """Root mean square of the noise over the thresholds, in records."""
    return math.sqrt(float(np.mean(strategy.variance(total_known=total_known))))


@lru_cache(maxsize=8)
def _likelihood(strategy: Any) -> tuple[Likelihood, Float64]:
    """The likelihood of a histogram, and what an answer is divided by."""
    from ogive.strategies.density.likelihood import Likelihood  # loaded with the first fit

    nodes = [level.nodes for level in strategy.levels]
    scales = np.repeat(_scales(strategy), nodes)
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
    from ogive.strategies.density.residual import haar_energies  # loaded with the first fit

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        found: Float64 = strategy.estimate(strategy.spread(noise), 0 if total_known else None)
        return found

    nodes = [level.nodes for level in strategy.levels]
    return haar_energies(estimate, nodes, [level.law.variance for level in strategy.levels])


def fitted_curve(strategy: Strategy, answer: Int64, total: int | None) -> Float64:
    """Cumulative counts by a fitted density and what it leaves, shape (N,); monotone.

    Args:
        strategy: What was measured, one of `WEIGHTS`.
        answer: Noisy measurements, shape (M,).
        total: The number of records if public, else None.

    Raises:
        ArithmeticError: the noise is so small against the records that the fit cannot be computed.

    Privacy:
        Post-processing; costs nothing.
    """
    from ogive.strategies.density.estimate import Fitting  # loaded with the first fit
    from ogive.strategies.density.residual import kept_residual

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
