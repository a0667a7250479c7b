"""The Skellam law: integer noise whose shares add up to the same law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.noise.base import MAX_BOUND, Law, uniform
from ogive.privacy import Rational, exact

MAX_VARIANCE = 1 << 20
MIN_VARIANCE = Fraction(1, 1 << 20)


@njit(error_model="numpy")
def draw_unit_poisson(words: UInt32, at: int) -> Any:
    """A Poisson draw of mean 1 in 3.2 small uniform integers on average.

    The number of fixed points of a random permutation that grows without end, followed only as far as it can
    still change. Of the `place` elements so far the first `settled` are known to lie in longer cycles: a new
    element is a fixed point with probability 1 / (place + 1), or else joins the cycle of a uniform older one.

    Source: Duchon and Duvignau, Preserving the number of cycles of length 1 in a growing uniform permutation, 2016.
    """
    count = 1
    place = 1
    settled = 0
    while at <= words.size:
        choice, at = uniform(words, at, place + 1)
        if choice == place:
            count += 1
        elif choice >= settled:
            count -= 1
            settled = place + 1
        else:
            break
        place += 1
    return count, at


@njit(error_model="numpy")
def draw_poisson(words: UInt32, at: int, whole: int, part: int, parts: int) -> Any:
    """A Poisson draw of mean whole + part / parts: `whole` of mean 1, and one whose units are kept by chance."""
    total = 0
    for _ in range(whole):
        count, at = draw_unit_poisson(words, at)
        total += count
        if at > words.size:
            return total, at
    if part > 0:
        count, at = draw_unit_poisson(words, at)
        for _ in range(count):
            coin, at = uniform(words, at, parts)
            total += coin < part
    return total, at


@njit(error_model="numpy", steps=lambda words, out, whole, *rest: 60 * (whole + 1) * out.size)
def _fill(words: UInt32, out: Int64, whole: int, part: int, parts: int) -> tuple[Int64, Int64]:
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws:
            up, at = draw_poisson(line, at, whole, part, parts)
            down, at = draw_poisson(line, at, whole, part, parts)
            if at > line.size:
                break
            out[row, done[row]] = up - down
            done[row] += 1
            used[row] = at
    return done, used


@dataclass(frozen=True, init=False)
class Skellam(Law):
    """The difference of two independent Poisson draws of mean variance / 2.

    Variances of independent shares add up and the sum is Skellam again, which neither the discrete Laplace nor the
    discrete Gaussian offers. A draw is exact and costs about 3.2 words per unit of variance, so this law is for
    shares of moderate variance.

    Args:
        variance: In [2^-20, 2^20], half of it with a denominator of at most 2^31 (see `round_up_scale`).

    Raises:
        ParameterError: the variance is out of range or has too many digits.

    Source: Agarwal, Kairouz and Liu, The Skellam mechanism for differentially private federated learning, 2021.
    """

    exact_variance: Fraction

    def __init__(self, variance: Rational) -> None:
        value = exact(variance, "variance")
        if not MIN_VARIANCE <= value <= MAX_VARIANCE:
            raise ParameterError(f"`variance` must be between 2^-20 and 2^20, got {float(value):.6g}")
        if (value / 2).denominator > MAX_BOUND:
            raise ParameterError(
                f"variance has too many digits for exact sampling: {value}; its half needs a "
                "denominator of at most 2^31"
            )
        object.__setattr__(self, "exact_variance", value)

    @property
    def variance(self) -> float:
        """The parameter as a float."""
        return float(self.exact_variance)

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        return 7.0 + 3.2 * self.variance

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape."""
        flat = np.abs(values).astype(np.float64).ravel()
        return np.asarray(_log_skellam(flat, self.variance)).reshape(np.shape(values))

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        half = self.exact_variance / 2
        whole = int(half)
        done, used = _fill(words, out, whole, half.numerator - whole * half.denominator, half.denominator)
        return done, used

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"law": "skellam", "variance": str(self.exact_variance)}


@njit()
def _log_skellam(orders: Float64, variance: float) -> Float64:
    """Log of exp(-v) I_k(v) = exp(-v) * sum over j of (v/2)^(2j+k) / (j! (j+k)!), summed from its largest term on."""
    half = 0.5 * variance
    out = np.empty_like(orders)
    for index in range(orders.size):
        k = orders[index]
        top = np.floor(0.5 * (math.hypot(k, variance) - k))
        total = 1.0
        for upward in (True, False):
            j = top
            term = 1.0
            while term > 1e-17 * total and (upward or j > 0):
                if upward:
                    j += 1
                    term *= half * half / (j * (j + k))
                else:
                    term *= j * (j + k) / (half * half)
                    j -= 1
                total += term
        scale = (2 * top + k) * math.log(half) - math.lgamma(top + 1) - math.lgamma(top + k + 1)
        out[index] = math.log(total) + scale - variance
    return out
