"""What strategies share to make estimates valid curves: isotonic regression and shrinkage; post-processing.

Isotonic regression gives the curve that never decreases and is nearest to an estimate in squared distance. Shrinkage
adapts to the data: noise is taken out where nothing but noise is seen.

A curve with few records per bin is nearly a polynomial over many bins, so in a wavelet basis its
fine details are small, while the noise has the same energy in details everywhere. Per scale the
noise energy is known without looking at the data; blocks of neighboring details are multiplied by

    max(0, 1 - noise energy / observed energy)

which keeps the details of steps and steep parts and drops those of plain noise. Two more steps are
what makes this safe for every shape of curve. Isotonic regression comes first, and the noise that
it took out of a block is no longer counted there, so that long flat parts, where little noise is
left, do not have their steps blurred. Bins that stand out from all their neighbors are taken out of
the curve before, and put back after. The result depends on the raw estimate and public numbers only.

The wavelet transform takes one period of a signal and linear time. Every step splits a signal into averages and
details of half its length, by the filter of Daubechies with four vanishing moments: where the signal is a cubic
polynomial, the details are zero. The transform is orthonormal, so squared errors of coefficients are squared errors
of the signal.

Source:
    James and Stein 1961; Daubechies 1988; Cai 1999 (blocks of wavelet coefficients); Coifman and Donoho 1995
    (averaging over shifts).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit

LOW_PASS = np.array(
    [
        0.23037781330889615,
        0.7148465705529148,
        0.6308807679298586,
        -0.02798376941685873,
        -0.18703481171909234,
        0.0308413818355607,
        0.03288301166688511,
        -0.010597401785069,
    ]
)
HIGH_PASS = LOW_PASS[::-1] * np.array([1, -1] * 4)

COARSEST = 8  # fewest details of a scale that is shrunk
BLOCK = 16  # details that are shrunk by one factor
GONE = 1.5  # noise no longer expected, per noise taken out by isotonic regression; 1 blurs steps between flat parts
SHIFTS = 4
NEIGHBORS = 4  # on each side, of which the median bin says what a bin would hold if it did not stand out
FALSE_SPIKES = 0.01  # expected number in a curve without any, under Laplace noise

_SEED = 0x6F67697665  # public and fixed
_SIMULATED_VALUES, _MOST_ROUNDS = 1 << 19, 64
_LARGEST_NOISE = 2.0**40


def _decompose_plain(signal: Float64, levels: int) -> Float64:
    """What `decompose` does, all averages of a step at once; each adds up in the same order."""
    out = signal.copy()
    length = signal.size
    for _ in range(levels):
        half = length // 2
        around = np.resize(out[:length], length + LOW_PASS.size)
        means, details = np.zeros(half), np.zeros(half)
        for k in range(LOW_PASS.size):
            part = around[k : k + length : 2]
            means += LOW_PASS[k] * part
            details += HIGH_PASS[k] * part
        out[:half], out[half:length] = means, details
        length = half
    return out


@lru_cache(maxsize=64)
def _joining(half: int) -> tuple[Int64, Int64]:
    """Pairs of an average and a detail that each point of an even place is joined from, and its tap of each."""
    shifts = np.arange(LOW_PASS.size // 2)[:, np.newaxis]
    pairs = (np.arange(half) - shifts) % half
    order = np.argsort(pairs, axis=0, kind="stable")
    return np.take_along_axis(pairs, order, axis=0), 2 * order


def _recompose_plain(coefficients: Float64, levels: int) -> Float64:
    """What `recompose` does, all points of a step at once; each adds up in the same order."""
    out = coefficients.copy()
    for level in range(levels - 1, -1, -1):
        length = coefficients.size >> level
        half = length // 2
        joined = np.zeros(length)
        for pair, tap in zip(*_joining(half), strict=True):
            means, details = out[:half][pair], out[half:length][pair]
            joined[::2] += LOW_PASS[tap] * means + HIGH_PASS[tap] * details
            joined[1::2] += LOW_PASS[tap + 1] * means + HIGH_PASS[tap + 1] * details
        out[:length] = joined
    return out


@njit(steps=lambda signal, levels: 150 * levels + signal.size // 4, twin=_decompose_plain)
def decompose(signal: Float64, levels: int) -> Float64:
    """Transform a periodic signal whose length is a multiple of 2^levels.

    Returns:
        Averages of the last step, then details from the coarsest to the finest, shape (length,): with a
        length of M, the details of step j = 1, 2, ... are at M / 2^j up to M / 2^(j - 1).
    """
    out = signal.copy()
    averages = np.empty(signal.size // 2)
    length = signal.size
    for _ in range(levels):
        half = length // 2
        rest = out[:length].copy()
        for i in range(half):
            mean, detail = 0.0, 0.0
            first = 2 * i
            for k in range(LOW_PASS.size):
                at = first + k
                while at >= length:
                    at -= length
                mean += LOW_PASS[k] * rest[at]
                detail += HIGH_PASS[k] * rest[at]
            averages[i] = mean
            out[half + i] = detail
        out[:half] = averages[:half]
        length = half
    return out


@njit(steps=lambda coefficients, levels: 150 * levels + coefficients.size // 2, twin=_recompose_plain)
def recompose(coefficients: Float64, levels: int) -> Float64:
    """Invert `decompose`."""
    out = coefficients.copy()
    for level in range(levels - 1, -1, -1):
        length = coefficients.size >> level
        half = length // 2
        joined = np.zeros(length)
        for i in range(half):
            mean, detail = out[i], out[half + i]
            first = 2 * i
            for k in range(LOW_PASS.size):
                at = first + k
                while at >= length:
                    at -= length
                joined[at] += LOW_PASS[k] * mean + HIGH_PASS[k] * detail
        out[:length] = joined
    return out


@dataclass(frozen=True, eq=False)
class NoiseEnergy:
    """Mean squares of the noise of an unsmoothed estimate.

    They are of the wavelet details of each scale, finest first, and of differences between neighboring points.
    """

    details: Float64
    increments: float


def depth(size: int) -> int:
    """Number of scales that are shrunk for a curve of that many points; 0 for short curves."""
    return max(0, int(math.log2(size / COARSEST)))


def shrink(raw: Float64, monotone: Float64, noise: NoiseEnergy) -> Float64:
    """Take noise out of a monotone curve, shape (N,); the result need not be monotone any more.

    `raw` are the unbiased counts whose isotonic regression it is: what that changed was noise, and is noise that is
    gone.
    """
    levels = noise.details.size
    if not levels:
        return monotone
    # what single bins hold above the median around them, where it is more than noise explains, else 0
    increments = np.diff(raw, prepend=0.0)
    limit = math.log(increments.size / (2 * FALSE_SPIKES)) / math.sqrt(2)
    spikes = _outstanding(increments, noise.increments, limit)
    spikes = np.cumsum(np.minimum(spikes, np.diff(monotone, prepend=0.0)))
    signal, gone = _period(monotone - spikes, levels), _period(raw - monotone, levels)
    smoothed = np.zeros(signal.size)
    for number in range(SHIFTS):
        # shifts of all parities at all of the finer scales
        shift = number * 37 % signal.size
        coefficients = decompose(_rolled(signal, shift), levels)
        _shrink_blocks(coefficients, decompose(_rolled(gone, shift), levels), noise.details)
        smoothed += _rolled(recompose(coefficients, levels), -shift)
    return smoothed[: raw.size] / SHIFTS + _ramp(monotone - spikes) + spikes


def noise_energy(
    estimate: Callable[[tuple[Int64, ...]], Float64], nodes: Sequence[int], variances: Sequence[float], size: int
) -> NoiseEnergy:
    """Find how strong the noise is on every scale, by simulation.

    The estimate, shape (N,), of noise alone is linear in it, so only the variances of the levels' nodes matter: noise
    of random signs and the right size has the energy of the noise itself.
    """
    scales = depth(size)
    deviations = np.sqrt(np.asarray(variances))
    unit = _LARGEST_NOISE / deviations.max()
    amounts = np.rint(unit * deviations).astype(np.int64)
    variables = sum(nodes)
    random = np.random.PCG64(_SEED)
    rounds = min(_MOST_ROUNDS, max(2, _SIMULATED_VALUES // variables))
    details, increments = np.zeros(scales), 0.0
    for _ in range(rounds):
        bits = np.unpackbits(random.random_raw(-(-variables // 64)).view(np.uint8))[:variables]
        parts = np.split(bits, np.cumsum(nodes)[:-1])
        signed = tuple(np.where(part, amount, -amount) for part, amount in zip(parts, amounts, strict=True))
        errors = estimate(signed) / unit
        increments += float(np.square(np.diff(errors, prepend=0.0)).mean()) / rounds
        coefficients = decompose(_period(errors, scales), scales)
        for scale in range(scales):
            part = coefficients[coefficients.size >> (scale + 1) : coefficients.size >> scale]
            # where the period is filled up there is no noise
            details[scale] += float(np.square(part).mean()) * (coefficients.size / size) / rounds
    return NoiseEnergy(details, increments)


def _rolled(values: Float64, shift: int) -> Float64:
    """What `np.roll` gives, without its fixed cost; `shift` is less than the length."""
    return np.concatenate((values[-shift:], values[:-shift])) if shift else values


def _ramp(curve: Float64) -> Float64:
    """The straight line from 0 before the first point to the last point."""
    return np.asarray(curve[-1] * (np.arange(curve.size) + 1) / curve.size)


def _period(curve: Float64, levels: int) -> Float64:
    """What a curve has above a straight line, filled up by zeros to a multiple of 2^levels."""
    length = -(-curve.size >> levels) << levels
    signal = np.zeros(length)
    signal[: curve.size] = curve - _ramp(curve)
    return signal


@njit(steps=lambda increments, noise, limit: 2 * increments.size)
def _outstanding(increments: Float64, noise: float, limit: float) -> Float64:
    """Excess over the median of the neighborhood, where it is above `limit` standard deviations."""
    size = increments.size
    out = np.zeros(size)
    least = limit * np.sqrt(noise)
    for i in range(size):
        if increments[i] <= least:
            continue
        first = max(0, i - NEIGHBORS)
        around = np.median(increments[first : min(size, i + NEIGHBORS + 1)])
        excess = increments[i] - around
        if excess > limit * np.sqrt(noise + max(around, 0.0)):
            out[i] = excess
    return out


@njit(steps=lambda coefficients, gone, noise: 2 * coefficients.size)
def _shrink_blocks(coefficients: Float64, gone: Float64, noise: Float64) -> None:
    """Shrink the details of every scale in place, block by block; `gone` are details of the noise taken out before."""
    for scale in range(noise.size):
        start = coefficients.size >> (scale + 1)
        blocks = max(1, start // BLOCK)
        for block in range(blocks):
            first, stop = start + block * start // blocks, start + (block + 1) * start // blocks
            energy, left = 0.0, noise[scale] * (stop - first)
            for i in range(first, stop):
                energy += coefficients[i] * coefficients[i]
                left -= GONE * (gone[i] * gone[i])
            factor = 1.0
            if left > 0.0:
                factor = max(0.0, 1.0 - left / energy) if energy > 0.0 else 0.0
            for i in range(first, stop):
                coefficients[i] *= factor
