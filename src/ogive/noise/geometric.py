"""The geometric law: one-sided noise, for which only the largest of several noisy numbers is told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64, UInt32
from ogive.compiling import njit
from ogive.noise.base import RandomSource
from ogive.noise.discrete_laplace import draw_geometric
from ogive.noise.exact import reciprocal
from ogive.noise.rounding import SMALLEST_VARIANCE, split_scale
from ogive.noise.stream import draw_stream
from ogive.privacy import Rational, exact


@njit(error_model="numpy", steps=lambda words, out, *law: 60 * out.size)
def _fill(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
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
class Geometric:
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

    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        value = exact(scale, "scale")
        split_scale(value, "scale")
        object.__setattr__(self, "scale", value)

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
        """Fill rows of draws from rows of words; see `ogive.noise.stream.Fill`."""
        done, used = _fill(words, out, *split_scale(self.scale, "scale"))
        return done, used

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent exact draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "geometric", "scale": str(self.scale)}
