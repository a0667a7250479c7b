"""Running totals by a factorization of their matrix with noise computed ahead, in integers.

The lower-triangular matrix of ones is the product of the Toeplitz matrices of the coefficients of (1 - z)^-a and of
(1 - z)^-(1 - a); with a = 1/2 both are its square root. With D = 4^bits, integers v and w near 2^bits times those
coefficients, and n the integers that are left over,

    D (1 + z + z^2 + ...) = v(z) w(z) + n(z),    |n_k| of about 2^bits,

the stream publishes D S + V g + e: S are the totals, V the Toeplitz matrix of v, and g and e independent discrete
Gaussians. As D S = V (W x) + N x, this follows step by step from the noisy integers W x + g and N x + e, in which
an element at p enters step t with the fixed weights w_{t-p} and n_{t-p}. So it is adaptive composition
with known sensitivities, also for streams that react to what was published (`docs/proofs/streams.md`).

The noise V g + e contains no element. It is computed by exact transforms in blocks that end at 2^12, 2^16, 2^20, ...
It may take more than 64 bits, so its whole units and its 2^-(2 bits)-th parts are added up apart. A draw of g or e is
below 2^60 (`DiscreteGaussian`), the entries of v add up to less than 2^(bits + 13), and bits is at least 12, so that
there are fewer than 2^62 whole units.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError, ScaleError
from ogive.noise import DerivedNodes, DiscreteGaussian, round_up_root
from ogive.privacy import PureDP, ZeroConcentratedDP
from ogive.strategies.square_root.integer import Convolver
from ogive.streams.ahead import published, split
from ogive.streams.stored import Elements, fields

MAX_STEPS = 1 << 22
_FIRST_BLOCK, _GROWTH = 1 << 12, 16
_PRODUCT_BITS = 58
"""Sums of the exact transforms stay below 2^58."""
_SHARES = 1 << 20


class SqrtAheadTotals:
    """Square-root factorization with noise computed ahead of the elements; other powers in subclasses.

    A block of m steps takes time O(m log m) where it begins; then a step takes O(1).

    Args:
        steps: Largest number of elements, at most 2^22.
        privacy: What the whole stream may cost; zero-concentrated.
        change: Largest change of one element, in whole units.

    Raises:
        ParameterError: there are too many steps, or the privacy is pure.
        ScaleError: the noise is larger than can be drawn.
    """

    name = "sqrt_ahead"
    digits: tuple[int, ...] = (15, 12)
    """Binary digits of the factors: fine, and less fine where the rest would need more noise than can be drawn."""
    power = Fraction(1, 2)
    """a, of the factor that multiplies the noise."""
    weighed: int | None = None
    """Steps over which the mean variance is made least; None for all."""

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int) -> None:
        if isinstance(privacy, PureDP):
            raise ParameterError("the square-root factorization needs `ZeroConcentratedDP` or `ApproxDP`, not `PureDP`")
        if steps > MAX_STEPS:
            raise ParameterError(f"the square-root factorization takes at most {MAX_STEPS} steps, got {steps}")
        self.steps, self.change = steps, change
        for bits in self.digits:
            self.bits = bits
            self.weights, self.measured, self.rest = factor(steps, bits, self.power)
            self.squared = [_squared_norm(column) for column in (self.measured, self.rest)]
            try:
                self.laws = self._laws(privacy)
                break
            except ScaleError:
                if bits == self.digits[-1]:
                    raise

    def _laws(self, privacy: ZeroConcentratedDP) -> tuple[DiscreteGaussian, DiscreteGaussian]:
        """Of g and e; the loss is divided so that the mean variance is least."""
        # in integers, so that every machine finds the same noise of a stored stream
        steps = self.steps if self.weighed is None else min(self.weighed, self.steps)
        mean = int(np.arange(steps, 0, -1) @ (self.weights * self.weights)[:steps]) / steps
        parts = math.sqrt(mean * self.squared[0]), math.sqrt(self.squared[1])
        share = Fraction(max(round(_SHARES * parts[1] / sum(parts)), 1), _SHARES)
        norms = self.squared[0] / (1 - share), max(self.squared[1], 1) / share
        one, other = (DiscreteGaussian(round_up_root(norm * self.change**2 / (2 * privacy.rho))) for norm in norms)
        return one, other

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""
        parts = zip(self.squared, self.laws, strict=True)
        return ZeroConcentratedDP(
            sum((Fraction(squared * self.change**2) / (2 * law.sigma**2) for squared, law in parts), Fraction(0))
        )

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        sums = np.concatenate(([0.0], np.cumsum(self.weights.astype(np.float64) ** 2)))
        variance: Float64 = sums[np.asarray(taken)] * self.laws[0].variance + self.laws[1].variance
        return np.ldexp(variance, -4 * self.bits)

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over 1..steps."""
        return float(self.variance(np.arange(1, self.steps + 1)).mean())

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self._nodes = nodes
        self._first, self._whole, self._rest = 0, np.empty(0, np.int64), np.empty(0, np.int64)

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Noisy totals after each of the values, which are elements `first`, `first` + 1, ... (0-based).

        Args:
            first: Number of elements before.
            total: Their sum.
            values: Whole units, shape (m,), m from 1 up.
        """
        end = first + len(values)
        if first < self._first or end > self._first + len(self._whole):
            self._first, (self._whole, self._rest) = first, self._drawn(first, end)
        here = slice(first - self._first, end - self._first)
        return published(total, values, self._whole[here], self._rest[here], 2 * self.bits)

    def _drawn(self, first: int, end: int) -> tuple[Int64, Int64]:
        """The noise from step `first` to the end of the block that holds step `end` - 1: whole units, and D-th parts.

        The parts are from 0 to D - 1.
        """
        block = _FIRST_BLOCK
        while block < end:
            block *= _GROWTH
        block = min(block, self.steps)
        convolver = Convolver(self.weights[:block], block)
        left = self._nodes.values(self.laws[0], 0, np.arange(block))
        direct = self._nodes.values(self.laws[1], 1, np.arange(first, block))
        parts = 2 * self.bits
        whole, rest = split(direct, parts)
        # digits so small that no sum of their products is too large for the transforms
        digit, place = _PRODUCT_BITS + 1 - self.bits - block.bit_length(), 0
        half = 1 << (digit - 1)
        while left.any():
            low = ((left + half) & (2 * half - 1)) - half
            sums = convolver.apply(low)[first:]
            over = parts - place  # bits of these sums that are parts of a unit
            if over > 0:
                units, part = split(sums, over)
                whole += units
                rest += part << place
            else:
                whole += sums << -over
            left, place = (left - low) >> digit, place + digit
        carried, rest = split(rest, parts)
        return whole + carried, rest

    def state(self) -> dict[str, Any]:
        """Nothing beyond the noise key is needed to go on."""
        return {}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements.

        Raises:
            ParameterError: it is no state of this method.
        """
        fields(state, frozenset(), "the state of a square-root factorization with noise computed ahead")


@lru_cache(maxsize=2)
def factor(steps: int, bits: int, power: Fraction) -> tuple[Int64, Int64, Int64]:
    """Integers v and w near 2^bits times the coefficients of (1 - z)^-a and (1 - z)^-(1 - a), and n = D - v w.

    Sums of the coefficients are rounded: errors that change their sign from step to step leave a small n.

    Args:
        steps: Number of coefficients.
        bits: Base-2 logarithm of what they are multiplied by.
        power: a, above 0 and below 1.

    Returns:
        v, w and n, shape (steps,) each, read-only.
    """
    left = _rounded(steps, bits, power)
    right = left if power == Fraction(1, 2) else _rounded(steps, bits, 1 - power)
    rest = (1 << 2 * bits) - Convolver(left, steps).apply(right)
    for each in (left, right, rest):
        each.flags.writeable = False
    return left, right, rest


def _rounded(steps: int, bits: int, power: Fraction) -> Int64:
    """Integers whose sums are the rounded sums of 2^bits times the coefficients of (1 - z)^-power."""
    # quotients of whole numbers and their products in order, which every machine rounds alike
    k = np.arange(1, steps)
    whole = power.denominator * k
    ratios = (whole - (power.denominator - power.numerator)) / whole
    coefficients = np.concatenate(([1.0], np.cumprod(ratios)))
    sums = np.rint(np.ldexp(np.cumsum(coefficients), bits)).astype(np.int64)
    integers: Int64 = np.diff(sums, prepend=0)
    return integers


def _squared_norm(column: Int64) -> int:
    # 2^22 entries of at most 19 digits: below 2^61
    return int(column @ column)
