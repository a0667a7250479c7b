"""How far from a value an interval reaches: the error is normal, or a normal part with a Laplace part on top of it.

Let S be normal with mean 0 and deviation s, and E Laplace of scale b, independent of S. Then, for t >= 0,

    P(S + E > t) = Q(t / s) + (exp(a - t / b) Phi(t / s - s / b) - exp(a + t / b) Q(t / s + s / b)) / 2,

with a = s^2 / 2b^2, Phi the distribution function of a standard normal variable and Q = 1 - Phi.
"""

from __future__ import annotations

import math

from scipy.special import log_ndtr, ndtr, ndtri

_NEGLIGIBLE = 1e-3
"""Below this part of the normal deviation a Laplace scale changes the quantile by less than 1e-11 of itself."""


def normal_reach(level: float, deviation: float) -> float:
    """The distance that a normal error exceeds with probability 1 - level."""
    return float(ndtri((1 + level) / 2)) * deviation


def laplace_reach(level: float, normal: float, laplace: float) -> float:
    """The distance that a normal and a Laplace error together exceed with probability 1 - level, or a normal one.

    The larger of the two: where several Laplace variables make the noise, as in ratios, its law is between them.

    Args:
        level: Confidence level, below 1.
        normal: Standard deviation of the normal part.
        laplace: Standard deviation of the Laplace part.
    """
    least, scale = normal_reach(level, math.hypot(normal, laplace)), laplace / math.sqrt(2)
    half = (1 - level) / 2
    if scale <= _NEGLIGIBLE * normal or _beyond(least, normal, scale) <= half:
        return least
    # where either part is beyond its own bound with half of the probability, the sum is with at most all of it
    low, high = least, max(least, normal_reach(1 - half, normal) - scale * math.log(half))
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _beyond(middle, normal, scale) > half else (low, middle)
    return high


def _beyond(t: float, normal: float, scale: float) -> float:
    """P(S + E > t)."""
    if normal <= 0:
        return math.exp(-t / scale) / 2
    z, ratio = t / normal, normal / scale
    tilt = ratio * ratio / 2
    near = math.exp(tilt - t / scale + float(log_ndtr(z - ratio)))
    far = math.exp(tilt + t / scale + float(log_ndtr(-z - ratio)))
    return float(ndtr(-z)) + (near - far) / 2
