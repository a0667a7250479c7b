"""What a fitted curve leaves of an unbiased one, kept where it is more than noise.

The difference of the two curves is split by the Haar wavelets, whose noise is known for every coefficient without a
look at the data. Blocks of neighboring coefficients are multiplied by

    max(0, 1 - factor * noise energy / observed energy)

with a factor above that of James and Stein, since most of a good fit's residual is noise: what is kept by mistake costs
more than what is lost. A scale that has far more energy than noise is shrunk less, and a single coefficient that stands
out is kept on its own. So a fit that is wrong costs little where the measurements say so.

Source:
    James and Stein 1961; Cai 1999 (blocks of wavelet coefficients).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ogive.arrays import Float64, Int64

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

    Args:
        estimate: Cumulative counts, shape (runs, N), that answers of noise alone are taken for.
        nodes: Number of independent noise variables of each level.
        variances: Variance of each variable of a level, one for each level.
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
    """The part of a residual that is more than noise, shape (N,).

    Args:
        residual: An unbiased curve made monotone less a fitted one, shape (N,).
        energies: Noise of its Haar coefficients, as `haar_energies` finds it.
    """
    kept = []
    for details, noise in zip(haar(residual), energies, strict=True):
        count = len(details)
        block = min(count, BLOCK)
        found, expected = np.square(details).reshape(-1, block).sum(axis=1), noise.reshape(-1, block).sum(axis=1)
        busy = count >= BLOCK and found.sum() > (1 + _BUSY * np.sqrt(2 / count)) * expected.sum()
        factor = _BUSY_FACTOR if busy else _FACTOR + _SHORT / np.sqrt(block)
        together = np.repeat(_left(factor * expected, found), block)
        kept.append(details * np.maximum(together, _left(_ALONE * noise, np.square(details))))
    return inverse_haar(kept)[: len(residual)]


def _left(noise: Float64, energy: Float64) -> Float64:
    """What is left of each energy: max(0, 1 - noise / energy), 0 where there is no energy."""
    whole: Float64 = np.divide(energy - noise, energy, out=np.zeros(len(energy)), where=energy > noise)
    return whole
