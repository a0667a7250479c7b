"""Curves by a fitted density: for which strategies, when `auto` takes them, and from an answer to a curve.

An unbiased strategy measures sums of bins with independent noise. A smooth density with a few atoms is fitted to them
(`strategies.density`), and what the unbiased curve says against it beyond noise is added back (`kept_residual`). So
smooth columns gain what a method for smooth columns gains, and others lose little against shrinkage. Nothing else is
measured, and the band is that of the unbiased curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.noise import DiscreteGaussian
from ogive.strategies.base import FAR, Strategy
from ogive.strategies.hats import LeastSquaresHats
from ogive.strategies.isotonic import isotonic
from ogive.strategies.reported import BITS, ReportedTree
from ogive.strategies.tree import LeastSquaresTree

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from ogive.strategies.density import Likelihood

# --- What a fitted curve leaves of an unbiased one, kept where it is more than noise
#
# The difference of the two curves is split by the Haar wavelets, whose noise is known for every coefficient without a
# look at the data. Blocks of neighboring coefficients are multiplied by
#
#     max(0, 1 - factor * noise energy / observed energy)
#
# with a factor above that of James and Stein, since most of a good fit's residual is noise: what is kept by mistake
# costs more than what is lost. A scale that has far more energy than noise is shrunk less, and a single coefficient
# that stands out is kept on its own. So a fit that is wrong costs little where the measurements say so.
#
# Source:
#     James and Stein 1961; Cai 1999 (blocks of wavelet coefficients).

BLOCK = 8
_FACTOR, _SHORT = 2.0, 2.5  # the factor of a block of b coefficients is 2 + 2.5 / sqrt(b)
_BUSY, _BUSY_FACTOR = 3.0, 1.2  # deviations of a scale's energy above the noise's from which it is shrunk less, by 1.2
_ALONE = 20.0  # a coefficient's energy, times its noise's, from which a part of it is kept whatever its block holds
_SEED = 0x68616172  # public and fixed
_SIMULATED_VALUES, _FEWEST, _MOST = 1 << 22, 32, 400


def haar(curves: Float64) -> list[Float64]:
    """Haar coefficients of curves filled up by zeros to a power of two: their mean, then from coarse to fine."""
    length = 1 << (curves.shape[-1] - 1).bit_length()
    means = np.concatenate([curves, np.zeros((*curves.shape[:-1], length - curves.shape[-1]))], axis=-1)
    details = []
    while means.shape[-1] > 1:
        even, odd = means[..., ::2], means[..., 1::2]
        details.append((even - odd) / np.sqrt(2))
        means = (even + odd) / np.sqrt(2)
    return [means, *reversed(details)]


def inverse_haar(coefficients: Sequence[Float64]) -> Float64:
    """The curve with those coefficients, filled up as it was."""
    means = coefficients[0]
    for details in coefficients[1:]:
        joined = np.empty(2 * len(details))
        joined[::2], joined[1::2] = (means + details) / np.sqrt(2), (means - details) / np.sqrt(2)
        means = joined
    return means


def haar_energies(
    estimate: Callable[[tuple[Int64, ...]], Float64], nodes: Sequence[int], variances: Sequence[float]
) -> list[Float64]:
    """Mean square of the noise of every Haar coefficient of an unbiased curve, by simulation.

    The arguments are those of `isotonic.noise_energy`, but for several runs at a time, shape (runs, N).
    """
    random = np.random.Generator(np.random.PCG64(_SEED))
    runs = min(_MOST, max(_FEWEST, _SIMULATED_VALUES // sum(nodes)))
    # the estimate is linear, so noise of another scale tells the same, without rounding of small noise
    unit = 2.0**30 / np.sqrt(max(variances))
    energies: list[Float64] = []
    for _ in range(0, runs, _FEWEST):
        drawn = tuple(
            np.rint(unit * np.sqrt(variance) * random.standard_normal((_FEWEST, count))).astype(np.int64)
            for count, variance in zip(nodes, variances, strict=True)
        )
        squares = [np.square(part).mean(axis=0) for part in haar(estimate(drawn) / unit)]
        energies = [old + new for old, new in zip(energies, squares, strict=True)] if energies else squares
    return [each / len(range(0, runs, _FEWEST)) for each in energies]


def kept_residual(residual: Float64, energies: Sequence[Float64]) -> Float64:
    """The part of a residual, an unbiased curve made monotone less a fitted one, that is more than noise, shape (N,).

    `energies` is the noise of its Haar coefficients, from `haar_energies`.
    """
    kept = []
    for details, noise in zip(haar(residual), energies, strict=True):
        count = len(details)
        block = min(count, BLOCK)
        result, expected = np.square(details).reshape(-1, block).sum(axis=1), noise.reshape(-1, block).sum(axis=1)
        busy = count >= BLOCK and result.sum() > (1 + _BUSY * np.sqrt(2 / count)) * expected.sum()
        factor = _BUSY_FACTOR if busy else _FACTOR + _SHORT / np.sqrt(block)
        together = np.repeat(_left(factor * expected, result), block)
        kept.append(details * np.maximum(together, _left(_ALONE * noise, np.square(details))))
    return inverse_haar(kept)[: len(residual)]


def _left(noise: Float64, energy: Float64) -> Float64:
    """What is left of each energy: max(0, 1 - noise / energy), 0 where there is no energy."""
    return np.asarray(np.divide(energy - noise, energy, out=np.zeros(len(energy)), where=energy > noise))


# --- The strategies that a density is fitted to, and the fitted curve

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


def fits(strategy: Strategy) -> bool:
    """Whether a density can be fitted to what a strategy measures."""
    return type(strategy) in WEIGHTS


def suits(strategy: Strategy, answer: Int64, total: int | None) -> bool:
    """Whether `auto` fits a density to a curve; decided by the strategy and the released numbers."""
    if not fits(strategy) or not FEWEST_BINS <= strategy.size <= LARGEST_BINS:
        return False
    records = float(strategy.estimate(answer, total)[-1])
    hashable: Any = strategy
    if FAR * _largest(hashable) < QUIETEST * records:
        return False  # without the exact variance, whose loops would be compiled for it
    loudest = LOUDEST_REPORTS if isinstance(strategy, ReportedTree) else LOUDEST
    return QUIETEST * records < deviation(hashable, total_known=total is not None) < loudest * records


@lru_cache(maxsize=64)
def _largest(strategy: Any) -> float:
    """Largest deviation of a measured sum, on the scale where a bin weighs at most 1."""
    levels = zip(strategy.levels, scales_of(strategy), strict=True)
    return max(math.sqrt(level.law.variance) / scale for level, scale in levels)


@lru_cache(maxsize=64)
def deviation(strategy: Any, *, total_known: bool) -> float:
    """Root mean square of the noise over the thresholds, in records."""
    return math.sqrt(float(np.mean(strategy.variance(total_known=total_known))))


@lru_cache(maxsize=8)
def _likelihood(strategy: Any) -> tuple[Likelihood, Float64]:
    """The likelihood of a histogram, and what an answer is divided by."""
    from ogive.strategies.density import Likelihood  # loaded with the first fit

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

    def estimate(noise: tuple[Int64, ...]) -> Float64:
        return np.asarray(strategy.estimate(strategy.spread(noise), 0 if total_known else None))

    nodes = [level.nodes for level in strategy.levels]
    return haar_energies(estimate, nodes, [level.law.variance for level in strategy.levels])


def fitted_curve(strategy: Strategy, answer: Int64, total: int | None) -> Float64:
    """Cumulative counts by a fitted density and what it leaves, shape (N,); monotone. Post-processing.

    For a strategy of one of the types in `WEIGHTS`; `answer` are its noisy measurements, shape (M,), and `total` is the
    number of records if public, else None.
    """
    from ogive.strategies.density import Fitting  # loaded with the first fit

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
