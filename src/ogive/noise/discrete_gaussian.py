"""The discrete Gaussian law: the noise of zero-concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.compiling import njit
from ogive.noise.base import (
    SMALLEST_VARIANCE,
    Law,
    bernoulli,
    bernoulli_inverse_root_e,
    expand,
    reciprocal,
    round_up_root,
    split_scale,
    uniform,
    uniform_wide,
    word,
)
from ogive.privacy import Rational, exact

_SIGMA_STEPS = 1 << 20


@njit(error_model="numpy")
def _draw_block(words: UInt32, at: int) -> Any:
    """A draw with P(k) proportional to exp(-k^2 / 2) on k >= 0."""
    while True:
        block = 0
        while True:
            more, at = bernoulli_inverse_root_e(words, at)
            if not more:
                break
            block += 1
        kept = True
        for _ in range(block * (block - 1)):
            kept, at = bernoulli_inverse_root_e(words, at)
            if not kept:
                break
        if kept or at > words.size:
            return block, at


@njit(error_model="numpy")
def _keep_offset(words: UInt32, at: int, block: int, digit: int, rest: int, unit: int) -> Any:
    """True with probability exp(-x (2 block + x) / 2), x = (digit + rest / unit) / 2^32 in [0, 1).

    As block + 1 trials of exp(-x y), y = (2 block + x) / (2 block + 2), each by the alternating series: the n-th
    trial in a row, of probability x y / n, is one of x and one of y / n.
    """
    width = 2 * block + 2
    for _ in range(block + 1):
        count = 1
        while True:
            go, at = bernoulli(words, at, digit, rest, unit)
            if go:
                choice, at = uniform(words, at, width * count)
                if choice == width - 2:
                    go, at = bernoulli(words, at, digit, rest, unit)
                else:
                    go = choice < width - 2
            if not go:
                break
            count += 1
        if count & 1 == 0:
            return False, at
    return True, at


@njit(error_model="numpy", steps=lambda words, out, *law: 120 * out.size)
def _fill(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
    """Karney's algorithm D with sigma = numerator / divisor, numerator = unit * 2^shift.

    A value v >= 0 lies in block k when v = (k + x) sigma with 0 <= x < 1, and
    exp(-v^2 / (2 sigma^2)) = exp(-k^2 / 2) exp(-x (2 k + x) / 2).
    """
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    numerator = unit << shift
    choices = -(-numerator // divisor)
    inverse = reciprocal(unit)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws and at <= line.size:
            block, at = _draw_block(line, at)
            value, at = uniform_wide(line, at, choices)
            start = block * numerator
            value += start if divisor == 1 else -(-start // divisor)
            offset = value * divisor - start
            if offset >= numerator:
                continue
            negative = word(line, at) & 1
            at += 1
            if negative and value == 0:  # zero would count twice
                continue
            # offset * 2^32 / numerator without passing 2^63
            digit, rest = expand(offset << (32 - shift), unit, inverse)
            kept, at = _keep_offset(line, at, block, digit, rest, unit)
            if kept and at <= line.size:
                out[row, done[row]] = -value if negative else value
                done[row] += 1
                used[row] = at
    return done, used


@lru_cache(maxsize=256)
def _moments(sigma: Fraction) -> tuple[float, float]:
    """Log of the sum of exp(-k^2 / (2 sigma^2)) over the integers, and the variance.

    From sigma = 3 on the sum differs from sigma sqrt(2 pi), and the variance from sigma^2, by less than exp(-170).
    """
    width = float(sigma)
    if width >= 3:
        return float(np.log(width * np.sqrt(2 * np.pi))), width * width
    k = np.arange(-150, 151, dtype=np.float64)
    weight = np.exp(-0.5 * (k / width) ** 2)
    return float(np.log(weight.sum())), float((k * k * weight).sum() / weight.sum())


@dataclass(frozen=True, init=False)
class DiscreteGaussian(Law):
    """P(k) proportional to exp(-k^2 / (2 sigma^2)) on the integers.

    Adding it to integer counts whose l2_sensitivity is d gives rho-zCDP with rho = d^2 / (2 sigma^2). A draw takes
    about fourteen words whatever sigma is. (A block number of 2^13 would overflow; its probability is below
    exp(-2^25).)

    Args:
        sigma: In [2^-20, 2^47], with few digits (see `round_up_scale` and `round_up_root`).

    Raises:
        ParameterError: sigma is out of range or has too many digits.

    Source: Canonne, Kamath and Steinke 2020 for the law; Karney, Sampling exactly from the normal distribution, 2016,
    algorithm D, for the sampler.
    """

    sigma: Fraction

    def __init__(self, sigma: Rational) -> None:
        value = exact(sigma, "sigma")
        split_scale(value, "sigma")
        object.__setattr__(self, "sigma", value)

    @property
    def variance(self) -> float:
        """At most sigma^2, and equal to it to floating point from sigma = 3 on; 2^-64 where it is smaller."""
        return max(_moments(self.sigma)[1], SMALLEST_VARIANCE)

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        return 14.0 if self.sigma >= 1 else 24.0

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape."""
        return np.asarray(-0.5 * (values / float(self.sigma)) ** 2 - _moments(self.sigma)[0])

    @cached_property
    def _parts(self) -> tuple[int, int, int]:
        return split_scale(self.sigma, "sigma")

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        done, used = _fill(words, out, *self._parts)
        return done, used

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "discrete_gaussian", "sigma": str(self.sigma)}


def sigma_of(variance: float) -> Fraction:
    """The smallest sigma, up to rounding, whose law has at least this variance."""
    if variance >= 9:
        return round_up_root(Fraction(variance))
    low = int(np.sqrt(variance) * _SIGMA_STEPS)
    high = low + _SIGMA_STEPS  # the law of this sigma is wider
    while high - low > 1:
        middle = (low + high) // 2
        enough = DiscreteGaussian(Fraction(middle, _SIGMA_STEPS)).variance >= variance
        low, high = (low, middle) if enough else (middle, high)
    return Fraction(high, _SIGMA_STEPS)
