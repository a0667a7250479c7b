"""The two laws of noise: discrete Laplace, with its half, the geometric law, and its shares; discrete Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.noise.base import (
    MAX_BOUND,
    SMALLEST_VARIANCE,
    Law,
    bernoulli,
    bernoulli_exp,
    bernoulli_inverse_e,
    bernoulli_inverse_root_e,
    expand,
    reciprocal,
    round_up_root,
    round_up_scale,
    split_scale,
    uniform,
    uniform_wide,
    word,
)
from ogive.privacy import Rational, exact


@njit(error_model="numpy")
def draw_geometric(words: UInt32, at: int, unit: int, shift: int, divisor: int, inverse: int) -> Any:
    """A draw with P(k) proportional to exp(-k * divisor / (unit * 2^shift)) on k >= 0; inverse is `reciprocal(unit)`.

    Source: Canonne, Kamath and Steinke 2020, algorithm 2: a uniform remainder u below the numerator, accepted with
    probability exp(-u / numerator), plus a geometric number of whole numerators, divided by `divisor`.
    """
    while True:
        high, at = uniform(words, at, unit)
        low = np.int64(0)
        if shift > 0:
            low = word(words, at) >> (32 - shift)
            at += 1
        scaled = (high << 32) + (low << (32 - shift))
        digit, rest = expand(scaled, unit, inverse)
        accepted, at = bernoulli_exp(words, at, digit, rest, unit)
        if accepted:
            break
    whole = 0
    while True:
        more, at = bernoulli_inverse_e(words, at)
        if not more:
            break
        whole += 1
    value = ((high + unit * whole) << shift) + low
    return (value if divisor == 1 else value // divisor), at


@njit(error_model="numpy", steps=lambda words, out, *law: 60 * out.size)
def _fill_laplace(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    inverse = reciprocal(unit)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws:
            size, at = draw_geometric(line, at, unit, shift, divisor, inverse)
            negative = word(line, at) & 1
            at += 1
            if at > line.size:
                break
            if negative and size == 0:  # zero would count twice
                continue
            out[row, done[row]] = -size if negative else size
            done[row] += 1
            used[row] = at
    return done, used


@dataclass(frozen=True, init=False)
class _Scaled(Law):
    """What the laws of a scale have in common."""

    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        value = exact(scale, "scale")
        split_scale(value, "scale")
        object.__setattr__(self, "scale", value)

    @cached_property
    def _parts(self) -> tuple[int, int, int]:
        return split_scale(self.scale, "scale")


@dataclass(frozen=True, init=False)
class DiscreteLaplace(_Scaled):
    """`P(k)` proportional to `exp(-|k| / scale)` on the integers.

    Adding it to integer counts whose l1_sensitivity is d gives pure differential privacy with
    epsilon = d / scale, exactly: the sampler rounds nothing. A draw takes about seven words whatever the
    scale. (A value of 2^16 scales would overflow; its probability is exp(-2^16).)

    Args:
        scale: In [2^-20, 2^47], with few digits (see `round_up_scale`).

    Raises:
        ParameterError: the scale is out of range or has too many digits.

    Source: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy, 2020, section 5.
    """

    @cached_property
    def variance(self) -> float:
        """2 q / (1 - q)^2 with q = exp(-1/scale), near 2 scale^2 - 1/6; 2^-64 where it is smaller."""
        inverse = 1.0 / float(self.scale)
        return max(2.0 * math.exp(-inverse) / math.expm1(-inverse) ** 2, SMALLEST_VARIANCE)

    @cached_property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        zero = float(np.exp(self.log_probability(np.zeros(1, np.int64)))[0])
        return 6.9 * (1.0 + zero)

    def log_probability(self, values: Int64) -> Float64:
        inverse = 1.0 / float(self.scale)
        top = np.log1p(-2.0 / (np.exp(min(inverse, 700.0)) + 1.0))
        return np.asarray(top - np.abs(values.astype(np.float64)) * inverse)

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        return _fill_laplace(words, out, *self._parts)

    def to_dict(self) -> dict[str, Any]:
        return {"law": "discrete_laplace", "scale": str(self.scale)}


def scale_of(variance: float) -> Fraction:
    """The scale, rounded up, whose law has this variance: 1 / (2 sinh(1 / (2 scale))^2)."""
    return round_up_scale(0.5 / math.asinh(math.sqrt(0.5 / variance)))


# --- The geometric law: one-sided noise, where only the place of the largest of several noisy numbers is released


@njit(error_model="numpy", steps=lambda words, out, *law: 60 * out.size)
def _fill_geometric(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    inverse = reciprocal(unit)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws:
            value, at = draw_geometric(line, at, unit, shift, divisor, inverse)
            if at > line.size:
                break
            out[row, done[row]] = value
            done[row] += 1
            used[row] = at
    return done, used


@dataclass(frozen=True, init=False)
class Geometric(_Scaled):
    """P(k) proportional to exp(-k / scale) on k = 0, 1, 2, ...

    It is not symmetric and its mean is near `scale`, so it is no noise for a number that is published: it is for
    comparing numbers that all have some, as in `NoisyMaxQuery`, where it does better than two-sided noise.
    A draw takes about six words whatever the scale, and rounds nothing.

    Args:
        scale: In [2^-20, 2^47], with few digits (see `round_up_scale`).

    Raises:
        ParameterError: the scale is out of range or has too many digits.

    Source: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy, 2020, algorithm 2.
    """

    @property
    def variance(self) -> float:
        """Exactly q / (1 - q)^2 with q = exp(-1/scale), near scale^2; 2^-64 where it is smaller."""
        inverse = 1.0 / float(self.scale)
        return max(math.exp(-inverse) / math.expm1(-inverse) ** 2, SMALLEST_VARIANCE)

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        return 6.0

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape; minus infinity for negative ones."""
        inverse = 1.0 / float(self.scale)
        top = math.log(-math.expm1(-inverse))
        return np.where(values < 0, -np.inf, top - values.astype(np.float64) * inverse)

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        return _fill_geometric(words, out, *self._parts)

    def to_dict(self) -> dict[str, Any]:
        return {"law": "geometric", "scale": str(self.scale)}


# --- Shares of discrete Laplace noise, for parties that each add a part of it

_STEP = 0.25
_TAIL = 42.0
"""The integral for probabilities is cut where its terms are below exp(-42)."""
_ROWS = 4096


@njit(error_model="numpy")
def draw_share(words: UInt32, at: int, total: int, part: int, parts: int) -> Any:
    """A Polya urn's share of `total`: beta-binomial with parameters r = part / parts and 1 - r.

    That is the number of elements of a random permutation in the cycles that a coin of chance r picks, since
    the sum of r^cycles over the permutations of k elements is r (r + 1) ... (r + k - 1). The cycle of the first
    element left has a uniform size, so a share costs a logarithmic number of steps.
    """
    share = 0
    while total > 0:
        cycle, at = uniform_wide(words, at, total)
        coin, at = uniform(words, at, parts)
        if coin < part:
            share += cycle + 1
        total -= cycle + 1
    return share, at


@njit(error_model="numpy", steps=lambda words, out, *law: 200 * out.size)
def _fill_shares(
    words: UInt32, out: Int64, unit: int, shift: int, divisor: int, part: int, parts: int
) -> tuple[Int64, Int64]:
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    inverse = reciprocal(unit)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws:
            up, at = draw_geometric(line, at, unit, shift, divisor, inverse)
            up, at = draw_share(line, at, up, part, parts)
            down, at = draw_geometric(line, at, unit, shift, divisor, inverse)
            down, at = draw_share(line, at, down, part, parts)
            if at > line.size:
                break
            out[row, done[row]] = up - down
            done[row] += 1
            used[row] = at
    return done, used


def _log_probability(sizes: Float64, shape: float, inverse: float) -> Float64:
    """Log-probabilities of a Polya variable of shape r at k = |value|, where its ratio is q = exp(-inverse).

    The generating function (1 - q)^2r (1 - qz)^-r (1 - q/z)^-r gives P(k), k >= 1, as a positive integral over [0, 1],

        (1 - q)^2r q^k / (Gamma(r) Gamma(1 - r)) * integral of u^(k+r-1) (1 - u)^-r (1 - q^2 u)^-r du,

    and, as it solves a differential equation, (1 + q^2) P(1) = q r P(0) + q (2 - r) P(2). Above r = 1/2 Euler's
    transformation changes r for 1 - r under the integral, at a factor of
    (1 - q^2)^(1-2r) Gamma(k + r) / Gamma(k + 1 - r).
    """
    from scipy import special  # slow to import

    k = np.maximum(sizes, 1.0)
    flat = min(shape, 1 - shape)
    log_ways = np.full(k.size, -special.gammaln(shape) - special.gammaln(1 - flat))
    log_gap = math.log(-math.expm1(-2 * inverse))  # of 1 - q^2
    if shape > flat:
        log_ways += (1 - 2 * shape) * log_gap + np.log(special.poch(k + 1 - shape, 2 * shape - 1))
    start = 2 * shape * math.log(-math.expm1(-inverse)) - k * inverse
    result = start + log_ways + _log_integral(k, flat, log_gap)
    if sizes.size and sizes[0] == 0:
        one, two = np.exp(_log_probability(np.array([1.0, 2.0]), shape, inverse))
        q = math.exp(-inverse)
        result[0] = math.log(((1 + q * q) * one - q * (2 - shape) * two) / (q * shape))
    return np.asarray(result)


def _log_integral(k: Float64, flat: float, log_gap: float) -> Float64:
    """Log of the integral of u^(k+r-1) (1 - u)^-r (1 - q^2 u)^-r over [0, 1], for r up to 1/2 and k >= 1.

    By the trapezoidal rule in y, u = 1 / (1 + e^y): the integrand is analytic and bounded where |Im y| <= pi/2, so that
    steps of h leave an error of exp(-pi^2 / h), and it falls exponentially at both ends.
    """
    from scipy import special  # slow to import

    y = np.arange(log_gap - _TAIL / (1 - flat), _TAIL, _STEP)
    fixed = (1 - flat) * y - flat * np.logaddexp(log_gap, y)
    slope = np.logaddexp(0, y)
    result = np.empty(k.size)
    for first in range(0, k.size, _ROWS):
        some = slice(first, first + _ROWS)
        result[some] = special.logsumexp(fixed - (k[some, None] + 1 - flat) * slope, axis=1)
    return result + math.log(_STEP)


@dataclass(frozen=True, init=False)
class Polya(_Scaled):
    """The difference of two negative binomials of a shape in (0, 1] and ratio exp(-1/scale).

    Shares with the same scale add their shapes: n of shape 1/n sum to `DiscreteLaplace(scale)` exactly, and so
    do the honest ones alone if at least h of n parties are honest and each draws with shape 1/h.
    A draw is exact and takes about 10 + 4 ln(1 + scale) words.

    Args:
        scale: Of the sum, as for `DiscreteLaplace`.
        shape: In (0, 1], with a denominator of at most 2^31.

    Raises:
        ParameterError: a parameter is out of range or has too many digits.

    Source: Goryczka and Xiong, A comprehensive comparison of multiparty secure additions with differential privacy,
    2017, for the shares.
    """

    shape: Fraction

    def __init__(self, scale: Rational, shape: Rational) -> None:
        super().__init__(scale)
        portion = exact(shape, "shape")
        if not 0 < portion <= 1:
            raise ParameterError(f"`shape` must be above 0 and at most 1, got {shape}")
        if portion.denominator > MAX_BOUND:
            raise ParameterError(f"`shape` must have a denominator of at most 2^31, got {portion}")
        object.__setattr__(self, "shape", portion)

    @property
    def variance(self) -> float:
        """The shape times the variance of `DiscreteLaplace(scale)`."""
        return float(self.shape) * DiscreteLaplace(self.scale).variance

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        return 10.0 + 4.0 * float(np.log1p(float(self.scale)))

    def log_probability(self, values: Int64) -> Float64:
        sizes, places = np.unique(np.abs(values), return_inverse=True)
        result = _log_probability(sizes.astype(np.float64), float(self.shape), 1.0 / float(self.scale))
        return np.asarray(result[places].reshape(np.shape(values)))

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        return _fill_shares(words, out, *self._parts, self.shape.numerator, self.shape.denominator)

    def to_dict(self) -> dict[str, Any]:
        return {"law": "polya", "scale": str(self.scale), "shape": str(self.shape)}


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
        accepted = True
        for _ in range(block * (block - 1)):
            accepted, at = bernoulli_inverse_root_e(words, at)
            if not accepted:
                break
        if accepted or at > words.size:
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
def _fill_gaussian(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
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
            accepted, at = _keep_offset(line, at, block, digit, rest, unit)
            if accepted and at <= line.size:
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
        return np.asarray(-0.5 * (values / float(self.sigma)) ** 2 - _moments(self.sigma)[0])

    @cached_property
    def _parts(self) -> tuple[int, int, int]:
        return split_scale(self.sigma, "sigma")

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        return _fill_gaussian(words, out, *self._parts)

    def to_dict(self) -> dict[str, Any]:
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
