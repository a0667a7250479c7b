"""Shares of discrete Laplace noise, for parties that each add a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64, UInt32
from ogive.compiling import njit
from ogive.errors import ParameterError
from ogive.noise.base import RandomSource
from ogive.noise.discrete_laplace import DiscreteLaplace, draw_geometric
from ogive.noise.exact import MAX_BOUND, reciprocal, uniform, uniform_wide
from ogive.noise.rounding import split_scale
from ogive.noise.stream import draw_stream
from ogive.privacy import Rational, exact

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
def _fill(words: UInt32, out: Int64, unit: int, shift: int, divisor: int, part: int, parts: int) -> tuple[Int64, Int64]:
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
    found = start + log_ways + _log_integral(k, flat, log_gap)
    if sizes.size and sizes[0] == 0:
        one, two = np.exp(_log_probability(np.array([1.0, 2.0]), shape, inverse))
        q = math.exp(-inverse)
        found[0] = math.log(((1 + q * q) * one - q * (2 - shape) * two) / (q * shape))
    return np.asarray(found)


def _log_integral(k: Float64, flat: float, log_gap: float) -> Float64:
    """Log of the integral of u^(k+r-1) (1 - u)^-r (1 - q^2 u)^-r over [0, 1], for r up to 1/2 and k >= 1.

    By the trapezoidal rule in y, u = 1 / (1 + e^y): the integrand is analytic and bounded where |Im y| <= pi/2, so that
    steps of h leave an error of exp(-pi^2 / h), and it falls exponentially at both ends.
    """
    from scipy import special  # slow to import

    y = np.arange(log_gap - _TAIL / (1 - flat), _TAIL, _STEP)
    fixed = (1 - flat) * y - flat * np.logaddexp(log_gap, y)
    slope = np.logaddexp(0, y)
    found = np.empty(k.size)
    for first in range(0, k.size, _ROWS):
        some = slice(first, first + _ROWS)
        found[some] = special.logsumexp(fixed - (k[some, None] + 1 - flat) * slope, axis=1)
    return found + math.log(_STEP)


@dataclass(frozen=True, init=False)
class Polya:
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

    scale: Fraction
    shape: Fraction

    def __init__(self, scale: Rational, shape: Rational) -> None:
        width = exact(scale, "scale")
        portion = exact(shape, "shape")
        split_scale(width, "scale")
        if not 0 < portion <= 1:
            raise ParameterError(f"`shape` must be above 0 and at most 1, got {shape}")
        if portion.denominator > MAX_BOUND:
            raise ParameterError(f"`shape` must have a denominator of at most 2^31, got {portion}")
        object.__setattr__(self, "scale", width)
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
        """Natural log of the probability of each value, same shape."""
        sizes, places = np.unique(np.abs(values), return_inverse=True)
        found = _log_probability(sizes.astype(np.float64), float(self.shape), 1.0 / float(self.scale))
        return np.asarray(found[places].reshape(np.shape(values)))

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Fill rows of draws from rows of words; see `ogive.noise.stream.Fill`."""
        part, parts = self.shape.numerator, self.shape.denominator
        done, used = _fill(words, out, *split_scale(self.scale, "scale"), part, parts)
        return done, used

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent exact draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "polya", "scale": str(self.scale), "shape": str(self.shape)}
