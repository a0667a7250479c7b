"""Shares of discrete Laplace noise, for parties that each add a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import special

from ogive.errors import ParameterError
from ogive.noise.base import Float64, Int64, RandomSource
from ogive.noise.discrete_laplace import DiscreteLaplace, draw_geometric
from ogive.noise.exact import MAX_BOUND, Words, reciprocal, uniform, uniform_wide
from ogive.noise.rounding import split_scale
from ogive.noise.stream import draw_stream
from ogive.privacy import Rational, exact


@njit(cache=True, error_model="numpy")
def draw_share(words: Words, at: int, total: int, part: int, parts: int) -> Any:
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


@njit(cache=True, error_model="numpy")
def _fill(words: Words, out: Int64, unit: int, shift: int, divisor: int, part: int, parts: int) -> tuple[Int64, Int64]:
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
            raise ParameterError(f"shape must be above 0 and at most 1, got {shape}")
        if portion.denominator > MAX_BOUND:
            raise ParameterError(f"shape must have a denominator of at most 2^31, got {portion}")
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
        r = float(self.shape)
        k = np.abs(values.astype(np.float64))
        inverse = 1.0 / float(self.scale)
        start = 2 * r * np.log(-np.expm1(-inverse)) - k * inverse
        ways = special.gammaln(k + r) - special.gammaln(r) - special.gammaln(k + 1)
        return np.asarray(start + ways + np.log(special.hyp2f1(r, r + k, k + 1, np.exp(-2 * inverse))))

    def fill(self, words: NDArray[np.uint32], out: Int64) -> tuple[Int64, Int64]:
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
