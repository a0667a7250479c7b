"""Running totals with integer noise that is computed before the elements are known.

A method that draws its noise ahead publishes, at every step, the integer D S + w: S is the exact total, w an integer
that depends on the noise key alone, and D = 2^bits the number of parts of a unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, ScaleError
from ogive.noise import DerivedNodes, DiscreteGaussian, round_up_root
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import measured_loss
from ogive.strategies.hats import LeastSquaresHats, design_hats, shared_hats
from ogive.strategies.square_root import Convolver
from ogive.streams.engines import Engine, concentrated


def split(noise: Int64, bits: int) -> tuple[Int64, Int64]:
    """The whole units of integers in units of 2^-bits, rounded down, and what is left of them; same shape each."""
    return noise >> bits, noise & ((1 << bits) - 1)


def published(total: int, values: Int64, whole: Int64, rest: Int64, bits: int) -> Float64:
    """(D S + w) / D after each of the values, rounded once, so it depends on the integer D S + w alone.

    `total` is the sum of the elements before; w is given by its whole units, rounded down, and what is left of it,
    since D S + w could exceed 64 bits.
    """
    units = total + np.cumsum(values) + whole
    return np.asarray(units.astype(np.float64) + np.ldexp(rest.astype(np.float64), -bits))


# --- A factorization of the matrix of totals, in integers
#
# The lower-triangular matrix of ones is the product of the Toeplitz matrices of the coefficients of (1 - z)^-a and of
# (1 - z)^-(1 - a); with a = 1/2 both are its square root. With D = 4^bits, integers v and w near 2^bits times those
# coefficients, and n the integers that are left over,
#
#     D (1 + z + z^2 + ...) = v(z) w(z) + n(z),    |n_k| of about 2^bits,
#
# the stream publishes D S + V g + e: S are the totals, V the Toeplitz matrix of v, and g and e independent discrete
# Gaussians. As D S = V (W x) + N x, this follows step by step from the noisy integers W x + g and N x + e, in which
# an element at p enters step t with the fixed weights w_{t-p} and n_{t-p}. So it is adaptive composition
# with known sensitivities, also for streams that react to what was published (`docs/proofs/streams.md`).
#
# The noise V g + e contains no element. It is computed by exact transforms in blocks that end at 2^12, 2^16, 2^20, ...
# It may take more than 64 bits, so its whole units and its 2^-(2 bits)-th parts are added up apart. A draw of g or e is
# below 2^60 (`DiscreteGaussian`), the entries of v add up to less than 2^(bits + 13), and bits is at least 12, so that
# there are fewer than 2^62 whole units.

MAX_STEPS = 1 << 22
_FIRST_BLOCK, _GROWTH = 1 << 12, 16
_PRODUCT_BITS = 58
"""Sums of the exact transforms stay below 2^58."""
_SHARES = 1 << 20


@dataclass(frozen=True)
class Powers:
    """The factors of one method.

    Fields:
        power: a, of the factor that multiplies the noise.
        digits: Binary digits of the factors: fine, and less fine where the rest would need more noise than can be
            drawn.
        weighed: Steps over which the mean variance is made least; None for all.
    """

    power: Fraction
    digits: tuple[int, ...]
    weighed: int | None


POWERS = {
    "sqrt_ahead": Powers(Fraction(1, 2), (15, 12), None),
    "open_powers": Powers(Fraction(4, 7), (17, 14, 12), 64),
}


class PowerTotals(Engine):
    """A factorization with noise computed ahead of the elements.

    A block of m steps takes time O(m log m) where it begins; then a step takes O(1). For at most 2^22 steps and
    zero-concentrated privacy.
    """

    described = "a square-root factorization with noise computed ahead"

    def __init__(
        self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, *, name: str = "sqrt_ahead"
    ) -> None:
        rho = concentrated(steps, privacy, MAX_STEPS)
        self.name, self.steps, self.change = name, steps, change
        powers = POWERS[name]
        for bits in powers.digits:
            self.bits = bits
            self.weights, self.measured, self.rest = factor(steps, bits, powers.power)
            # 2^22 entries of at most 19 digits: below 2^61
            self.squared = [int(column @ column) for column in (self.measured, self.rest)]
            try:
                self.laws = self._laws(rho, powers.weighed or steps)
                break
            except ScaleError:
                if bits == powers.digits[-1]:
                    raise

    def _laws(self, rho: Fraction, weighed: int) -> tuple[DiscreteGaussian, DiscreteGaussian]:
        """Of g and e; the loss is divided so that the mean variance is least."""
        # in integers, so that every machine finds the same noise of a stored stream
        steps = min(weighed, self.steps)
        mean = int(np.arange(steps, 0, -1) @ (self.weights * self.weights)[:steps]) / steps
        parts = math.sqrt(mean * self.squared[0]), math.sqrt(self.squared[1])
        share = Fraction(max(round(_SHARES * parts[1] / sum(parts)), 1), _SHARES)
        norms = self.squared[0] / (1 - share), max(self.squared[1], 1) / share
        one, other = (DiscreteGaussian(round_up_root(norm * self.change**2 / (2 * rho))) for norm in norms)
        return one, other

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        moved = [squared * self.change**2 for squared in self.squared]
        return measured_loss(self.laws, l1=moved, l2_squared=moved)

    def variance(self, counts: Int64) -> Float64:
        sums = np.concatenate(([0.0], np.cumsum(self.weights.astype(np.float64) ** 2)))
        variance: Float64 = sums[np.asarray(counts)] * self.laws[0].variance + self.laws[1].variance
        return np.ldexp(variance, -4 * self.bits)

    def start(self, nodes: DerivedNodes) -> None:
        self._nodes = nodes
        self._first, self._whole, self._rest = 0, np.empty(0, np.int64), np.empty(0, np.int64)

    def advance(self, first: int, total: int, values: Int64) -> Float64:
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


@lru_cache(maxsize=2)
def factor(steps: int, bits: int, power: Fraction) -> tuple[Int64, Int64, Int64]:
    """Integers v and w near 2^bits times the coefficients of (1 - z)^-a and (1 - z)^-(1 - a), and n = D - v w.

    Sums of the coefficients are rounded: errors that change their sign from step to step leave a small n.

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
    return np.asarray(np.diff(sums, prepend=0))


# --- The noise of overlapping hats: as accurate as one release after the last element
#
# The offline strategy measures noisy elements y0 = x + z0 and noisy hat sums y1 = H x + z1, and adds to the elements a
# correction c(y1 - H y0) by least squares, which depends on integers that contain no element: y1 - H y0 = z1 - H z0.
# So the correction is known before the stream begins, and the total after step t,
#
#     D (x_1 + ... + x_t) + D (z0_1 + ... + z0_t) + round(D c_1) + ... + round(D c_t),
#
# is at once computable at step t and a function of y0 and y1. Probabilities of Laplace noise are bounded for each
# transcript, so the price of the offline release holds for streams that react to what was published, too
# (`docs/proofs/streams.md`).
#
# Noise of the largest scale, 2^47, adds up to less than 2^62 in 2^22 steps, but with a chance of 2^-64: the sum of n
# Laplace variables of scale t exceeds 13.5 t sqrt(n) with a smaller one, and the correction leaves less of it.
#
# A stream that is made for many elements, since their number is not known, has more noise at its beginning than a short
# one. Two methods give up some accuracy at the end for the beginning, by other numbers in mechanisms that are proved
# for any, so that errors are near those of a known length at every step:
#
#     open_powers  the matrix of totals is the product of those of (1 - z)^-4/7, which multiplies the noise, and of
#                  (1 - z)^-3/7, which measures elements and has a norm that many elements hardly enlarge; zCDP
#     open_hats    hats whose wide levels get a smaller part of the loss than narrow ones; PureDP
#
# Source:
#     Jacobsen and Fawaz 2025 for uneven factors (theirs have logarithms); the powers and the shares were searched for.

SPACINGS = (24, 640, 16384, 400_000)
SHARES = tuple(Fraction(share, 1000) for share in (282, 280, 216, 107, 115))
"""Of the loss, for elements and each level: they keep the largest ratio to a known length small, from 2^12 on."""

SAMPLES = 1024
_FINE, _MOST_BITS = 30, 40


class HatTotals(Engine):
    """Hats on the running totals of a stream whose number of elements is known, or at most 2^22.

    Everything that is random is drawn at the first element: time O(steps) there, then O(1) per step; 8 bytes per step.
    For at most 2^22 steps and pure privacy. `strategy` has spacings and laws; None takes those of an offline release at
    this price, or for "open_hats" those that favor the first elements.
    """

    described = "hats"

    def __init__(
        self,
        steps: int,
        privacy: PureDP | ZeroConcentratedDP,
        change: int,
        *,
        name: str = "hats",
        strategy: LeastSquaresHats | None = None,
    ) -> None:
        if not isinstance(privacy, PureDP):
            raise ParameterError("hats of a stream need `PureDP`; under zCDP use method 'sqrt' or 'sqrt_ahead'")
        if steps > MAX_STEPS:
            raise ParameterError(f"hats of a stream take at most {MAX_STEPS} steps, got {steps}")
        self.name, self.steps, self.change = name, steps, change
        # an element that changes by d moves every sum by d times what one record more moves it by
        price, adjacency = PureDP(privacy.epsilon / change), Adjacency.ADD_OR_REMOVE
        if strategy is None and name == "open_hats":
            strategy = shared_hats(steps, SPACINGS, SHARES, privacy=price, adjacency=adjacency)
        self.strategy = strategy or design_hats(steps, privacy=price, adjacency=adjacency)
        # corrections are rounded to about a billionth of the noise of an element
        coarse = math.frexp(math.sqrt(self.strategy.laws[0].variance))[1]
        self.bits = min(max(_FINE - coarse, 0), _MOST_BITS)

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """`change` times the price of one record in an offline release."""
        one = self.strategy.loss(Adjacency.ADD_OR_REMOVE)
        assert isinstance(one, PureDP)
        return PureDP(one.epsilon * self.change)

    def variance(self, counts: Int64) -> Float64:
        points, where = np.unique(np.asarray(counts), return_inverse=True)
        variance: Float64 = self.strategy.solver.variance_at(points - 1, total_known=False)[where]
        return variance.reshape(np.shape(counts))

    @cached_property
    def mean_variance(self) -> float:
        """Mean of `variance` over all steps, or over 1,024 evenly spaced ones of more."""
        return float(self.variance(np.unique(np.linspace(1, self.steps, SAMPLES).astype(np.int64))).mean())

    def start(self, nodes: DerivedNodes) -> None:
        self._nodes = nodes
        self.__dict__.pop("noise", None)

    @cached_property
    def noise(self) -> Int64:
        """What is added to the total at every step, in units of 2^-bits, shape (steps,)."""
        levels = self.strategy.levels
        drawn = [self._nodes.values(law.law, level, np.arange(law.nodes)) for level, law in enumerate(levels)]
        correction = self.strategy.solver.correction(drawn[0], np.concatenate([np.empty(0, np.int64), *drawn[1:]]))
        each = np.rint(np.ldexp(correction, self.bits)).astype(np.int64)
        each += drawn[0] << self.bits
        return np.asarray(np.cumsum(each, out=each))

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        noise = self.noise[first : first + len(values)]
        return published(total, values, *split(noise, self.bits), self.bits)
