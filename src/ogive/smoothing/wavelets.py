"""Orthonormal wavelet transform of one period of a signal, in linear time.

Every step splits a signal into averages and details of half its length, by the filter of Daubechies
with four vanishing moments: where the signal is a cubic polynomial, the details are zero. The
transform is orthonormal, so squared errors of coefficients are squared errors of the signal.

Source:
    Daubechies 1988.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit

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
    taps = LOW_PASS.size // 2
    places = np.arange(half)
    pairs = np.sort((places - np.arange(taps)[:, np.newaxis]) % half, axis=0)
    return pairs, 2 * ((places - pairs) % half)


def _recompose_plain(coefficients: Float64, levels: int) -> Float64:
    """What `recompose` does, all points of a step at once; each adds up in the same order."""
    out = coefficients.copy()
    for level in range(levels - 1, -1, -1):
        length = coefficients.size >> level
        half = length // 2
        assert half >= LOW_PASS.size // 2, "else a pair adds to a point more than once"
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
