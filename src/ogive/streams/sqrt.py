"""Running totals by the square-root factorization, in integers.

The lower-triangular matrix of ones is the square of the Toeplitz matrix C with coefficients
r_0 = 1, r_k = r_{k-1} (2k - 1) / (2k). With C' = round(2^20 C) the integers

    y_t = sum over k of C'_k x_{t-k} + discrete Gaussian noise, independent for every t,

are published one after another. An element x_p enters y_t with the fixed weight C'_{t-p}, so
this is adaptive composition with known sensitivities: a change by d costs
d^2 (sum of C'_k^2) / (2 sigma^2), also for streams that react to what was published. Totals are
post-processing: W y with W = A C'^{-1}, A the matrix of ones; W is close to 2^-20 C.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.signal import fftconvolve

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, round_up_root
from ogive.privacy import PureDP, ZeroConcentratedDP
from ogive.streams.blocks import NoiseWindow
from ogive.streams.stored import Elements, fields, whole_numbers

SHIFT = 20
MAX_STEPS = 1 << 17


class SqrtTotals:
    """Square-root factorization of the running totals; memory and time per step O(steps).

    For at most 2^17 steps and zero-concentrated privacy.
    """

    name = "sqrt"

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, largest: int) -> None:
        if isinstance(privacy, PureDP):
            raise ParameterError("the square-root factorization needs `ZeroConcentratedDP` or `ApproxDP`, not `PureDP`")
        if steps > MAX_STEPS:
            raise ParameterError(f"the square-root factorization takes at most {MAX_STEPS} steps, got {steps}")
        self.steps, self.change = steps, change
        self.weights = np.rint(np.ldexp(root_coefficients(steps), SHIFT)).astype(np.int64)
        self.squared = sum(weight * weight for weight in self.weights.tolist())
        if largest * int(self.weights.sum()) >= 1 << 60:
            raise ParameterError("bounds are too many times the resolution for exact sums of 64 bits")
        self.law = DiscreteGaussian(round_up_root(self.squared * change * change / (2 * privacy.rho)))
        self.inverse = estimator_coefficients(self.weights)

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""
        return ZeroConcentratedDP(Fraction(self.squared * self.change**2) / (2 * self.law.sigma**2))

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        sums = np.concatenate(([0.0], np.cumsum(self.inverse**2)))
        variance: Float64 = sums[np.asarray(taken)] * self.law.variance
        return variance

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over 1..steps."""
        return float(self.variance(np.arange(1, self.steps + 1)).mean())

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self.window = NoiseWindow(nodes, self.law, 0, self.steps)
        self.elements = np.zeros(self.steps, np.int64)
        self.published = np.zeros(self.steps, np.int64)
        self.taken = 0

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Estimated totals after each of the values."""
        end = first + len(values)
        self.elements[first:end] = values
        noise = self.window.values(first, end)
        out = np.empty(len(values))
        _advance(first, self.elements, self.published, noise, self.weights, self.inverse, out)
        self.taken = end
        return out

    def state(self) -> dict[str, Any]:
        """All elements so far, and what was published of them."""
        return {"elements": self.elements[: self.taken].tolist(), "published": self.published[: self.taken].tolist()}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements."""
        state = fields(state, frozenset(("elements", "published")), "the state of a square-root factorization")
        taken, limit = elements.taken, (1 << 63) - 1
        values = whole_numbers(state["elements"], taken, elements.low, elements.high, "elements")
        published = whole_numbers(state["published"], taken, -limit - 1, limit, "published")
        if sum(values) != elements.total:
            raise ParameterError(f"elements of a stored running total must add up to its total, {elements.total}")
        self.taken = taken
        self.elements[:taken], self.published[:taken] = values, published


def root_coefficients(count: int) -> Float64:
    """r_0..r_{count-1}, the coefficients of (1 - z)^(-1/2)."""
    k = np.arange(1, count)
    return np.concatenate(([1.0], np.cumprod((2 * k - 1) / (2 * k))))


def estimator_coefficients(weights: Int64) -> Float64:
    """Coefficients of 1 / ((1 - z) C'(z)), by Newton's iteration on power series."""
    series = weights.astype(np.float64)
    inverse = np.array([1.0 / series[0]])
    while len(inverse) < len(series):
        length = min(2 * len(inverse), len(series))
        rest = -fftconvolve(series[:length], inverse)[:length]
        rest[0] += 2.0
        inverse = fftconvolve(rest, inverse)[:length]
    estimator: Float64 = np.cumsum(inverse)
    return estimator


@njit()
def _advance(
    first: int, elements: Int64, published: Int64, noise: Int64, weights: Int64, inverse: Float64, out: Float64
) -> None:
    """Publish exact integer sums plus noise, then estimate from what was published alone."""
    for step in range(len(out)):
        at = first + step
        exact = noise[step]
        for k in range(at + 1):
            exact += weights[k] * elements[at - k]
        published[at] = exact
        estimate = 0.0
        for k in range(at + 1):
            estimate += inverse[k] * published[at - k]
        out[step] = estimate
