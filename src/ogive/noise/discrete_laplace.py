"""The discrete Laplace law: two-sided geometric, the noise of pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64, UInt32
from ogive.compiling import njit
from ogive.noise.base import RandomSource
from ogive.noise.exact import bernoulli_exp, bernoulli_inverse_e, expand, reciprocal, uniform, word
from ogive.noise.rounding import SMALLEST_VARIANCE, round_up_scale, split_scale
from ogive.noise.stream import draw_stream
from ogive.privacy import Rational, exact


@njit(error_model="numpy")
def draw_geometric(words: UInt32, at: int, unit: int, shift: int, divisor: int, inverse: int) -> Any:
    """A draw with P(k) proportional to exp(-k * divisor / (unit * 2^shift)) on k >= 0; inverse is `reciprocal(unit)`.

    Source: Canonne, Kamath and Steinke 2020, algorithm 2: a uniform remainder u below the numerator, kept with
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
        kept, at = bernoulli_exp(words, at, digit, rest, unit)
        if kept:
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
def _fill(words: UInt32, out: Int64, unit: int, shift: int, divisor: int) -> tuple[Int64, Int64]:
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
class DiscreteLaplace:
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

    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        value = exact(scale, "scale")
        split_scale(value, "scale")
        object.__setattr__(self, "scale", value)

    @property
    def variance(self) -> float:
        """2 q / (1 - q)^2 with q = exp(-1/scale), near 2 scale^2 - 1/6; 2^-64 where it is smaller."""
        inverse = 1.0 / float(self.scale)
        return max(2.0 * math.exp(-inverse) / math.expm1(-inverse) ** 2, SMALLEST_VARIANCE)

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        zero = float(np.exp(self.log_probability(np.zeros(1, np.int64)))[0])
        return 6.9 * (1.0 + zero)

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape."""
        inverse = 1.0 / float(self.scale)
        top = np.log1p(-2.0 / (np.exp(min(inverse, 700.0)) + 1.0))
        return np.asarray(top - np.abs(values.astype(np.float64)) * inverse)

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        """Fill rows of draws from rows of words; see `ogive.noise.stream.Fill`."""
        done, used = _fill(words, out, *split_scale(self.scale, "scale"))
        return done, used

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent exact draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "discrete_laplace", "scale": str(self.scale)}


def scale_of(variance: float) -> Fraction:
    """The scale, rounded up, whose law has this variance: 1 / (2 sinh(1 / (2 scale))^2)."""
    return round_up_scale(0.5 / math.asinh(math.sqrt(0.5 / variance)))
