"""How far a number may be off: the law of a sum of a normal error and of weighted noise.

Noise is discrete Laplace or discrete Gaussian. A sum X of a normal variable of variance v and of independent Laplace
variables of scales b_1, b_2, ... has the characteristic function

    e^(-v t^2 / 2)  prod_j 1 / (1 + b_j^2 t^2),

and partial fractions make of the product a combination of single Laplace variables, with coefficients
prod_k b_j^2 / (b_j^2 - b_k^2), so that P(|X| > q) is one of the tails of a normal and a Laplace variable. Of more than
three variables these coefficients are too large for floating point, and the characteristic function is inverted as
Davies does. The absolute
value of discrete Laplace noise is stochastically at most that of continuous noise of the same scale, rounded to a whole
number; so a quantile of the continuous law is widened by half of each weight.

Source:
    `docs/proofs/sums.md`; Davies 1973, Numerical inversion of a characteristic function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from ogive.arrays import Float64
from ogive.noise import DiscreteGaussian, DiscreteLaplace

NoiseLaw = DiscreteLaplace | DiscreteGaussian

_SAME = 1e-4
_NORMAL = 8.0  # beside a normal error so many scales wide Laplace noise counts by its variance alone
_FARTHEST = 200  # scales or deviations beyond which no level that is served has its quantile
_MOST_FRACTIONS = 3  # equal scales that are moved apart by _SAME keep 9 digits; of more variables they would not
_WIDTHS = (1e-11, 1e-8, 1e-5)  # standard errors from a distance that is nearly a quantile
_PERIOD = 80.0  # standard deviations after which an inverted law repeats itself
_FREQUENCIES = 4096  # at the last one the characteristic function of Laplace parts is below 10^-5, and terms alternate


@dataclass(frozen=True)
class Deviation:
    """The law of an error, which is symmetric around 0.

    Fields:
        variance: Of its normal part: sampling, randomized reports and Gaussian noise.
        scales: Of its independent Laplace parts.
        step: How far discrete Laplace noise may exceed continuous noise.
    """

    variance: float = 0.0
    scales: tuple[float, ...] = ()
    step: float = 0.0

    @staticmethod
    def of(law: NoiseLaw | None, weights: Sequence[float], *, variance: float = 0.0) -> Deviation:
        """The error of a weighted sum of independent draws of a law, with a normal error besides."""
        sizes = [abs(weight) for weight in weights if weight]
        if law is None or not sizes:
            return Deviation(variance)
        if isinstance(law, DiscreteGaussian):
            return Deviation(variance + law.variance * sum(size * size for size in sizes))
        scale = float(law.scale)
        return Deviation(variance, tuple(size * scale for size in sizes), sum(sizes) / 2)

    @property
    def standard_error(self) -> float:
        """Root of the whole variance."""
        return math.sqrt(self.variance + 2 * sum(scale * scale for scale in self.scales))

    def scaled(self, factor: float) -> Deviation:
        """The error times a number."""
        size = abs(factor)
        return Deviation(self.variance * size * size, tuple(scale * size for scale in self.scales), self.step * size)

    def exceeds(self, distance: float) -> float:
        """The probability that the error is farther from 0 than a distance of at least 0, in the continuous law."""
        deviation, apart = self._separated
        if not apart:
            return math.erfc(distance / (math.sqrt(2) * deviation)) if deviation else 0.0
        if len(apart) > _MOST_FRACTIONS:
            return self._inverted(distance)
        total = 0.0
        for scale, share in zip(apart, self._shares, strict=True):
            total += share * _normal_and_laplace(distance, deviation, scale)
        return total

    def reach(self, confidence_level: float) -> float:
        """A distance from 0 that the error exceeds with probability at most 1 - `confidence_level`."""
        return self._reached(confidence_level, 0.0, math.inf)

    def contradicts(self, distance: float, confidence_level: float) -> bool:
        """Whether the error is so far from 0 with probability at most 1 - `confidence_level`."""
        place, chance = distance - self.step, 1 - confidence_level
        parts = len(self._separated[1])
        if parts > _MOST_FRACTIONS:
            return place > 0 and self.exceeds(place) < chance
        if not parts or place <= 0 or chance > 0.5:
            return distance > self._reached(confidence_level, distance, distance)
        if place > _FARTHEST * self.standard_error:
            return True
        excess = self.exceeds(place) - chance
        # the sum of `step` and a distance is rounded, too
        if abs(excess) > self._rounding + 4 * math.ulp(distance) / min(self._separated[1]):
            return excess < 0
        return distance > self._reached(confidence_level, distance, distance, *self._around(place, chance))

    def _reached(
        self, confidence_level: float, least: float, most: float, below: float = 0.0, above: float = math.inf
    ) -> float:
        """The reach by bisection; where it is below `least` or at least `most`, any number of which that is true.

        It is known to lie from `below` to `above`, before `step` is added; the same number is returned without this.
        """
        chance = 1 - confidence_level
        deviation, apart = self._separated
        if not apart:
            return NormalDist().inv_cdf(1 - chance / 2) * deviation + self.step
        low, high = 0.0, _FARTHEST * self.standard_error
        while least <= high + self.step and low + self.step < most:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            is_within = middle < below or (middle <= above and self.exceeds(middle) > chance)
            low, high = (middle, high) if is_within else (low, middle)
        return high + self.step

    def _around(self, place: float, chance: float) -> tuple[float, float]:
        """Distances close to one, between which the chance to exceed them passes `chance` whatever is rounded."""
        for width in _WIDTHS:
            below, above = place - width * self.standard_error, place + width * self.standard_error
            if below > 0 and self.exceeds(below) - chance > self._rounding < chance - self.exceeds(above):
                return below, above
        return 0.0, math.inf

    @cached_property
    def _rounding(self) -> float:
        """More than floating point adds to or takes from the chance to exceed a distance."""
        return 1e-13 * sum(map(abs, self._shares))

    def _inverted(self, distance: float) -> float:
        """The probability that an error of many parts is farther from 0, off by less than 10^-7."""
        if distance > _PERIOD / 2 * self.standard_error:
            return 0.0  # below e^-40 for any law of these
        angles, weights = self._characteristic
        return min(max(1 - 2 * float(weights @ np.sin(angles * distance)), 0.0), 1.0)

    @cached_property
    def _characteristic(self) -> tuple[Float64, Float64]:
        """Frequencies, and the characteristic function at them over pi (k + 1/2)."""
        variance, (scales, times) = self._separated[0] ** 2, np.unique(self._separated[1], return_counts=True)
        places = np.arange(_FREQUENCIES) + 0.5
        angles: Float64 = np.asarray(places * (2 * math.pi / (_PERIOD * self.standard_error)), dtype=np.float64)
        powers = np.log1p(np.multiply.outer(scales**2, angles**2))
        weights: Float64 = np.exp(-variance * angles**2 / 2 - times @ powers) / (math.pi * places)
        return angles, weights

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        """The coefficients of the partial fractions, in the order of the scales that are kept apart."""
        apart = self._separated[1]
        return tuple(
            math.prod(scale**2 / (scale**2 - other**2) for other in apart if other != scale) for scale in apart
        )

    @cached_property
    def _separated(self) -> tuple[float, tuple[float, ...]]:
        """The deviation of the normal part, with Laplace parts that count by their variance alone, and other scales."""
        variance = self.variance
        kept: list[float] = []
        for scale in sorted(self.scales):
            if math.sqrt(variance) > _NORMAL * scale:
                variance += 2 * scale * scale
            else:
                kept.append(scale)
        if len(kept) <= _MOST_FRACTIONS:  # partial fractions need different scales, so each is a little above the last
            for place in range(1, len(kept)):
                kept[place] = max(kept[place], kept[place - 1] * (1 + _SAME))
        return math.sqrt(variance), tuple(kept)


def _normal_and_laplace(distance: float, deviation: float, scale: float) -> float:
    """P(|N + L| > q) of a normal variable of that deviation and a Laplace variable of that scale.

    With s the deviation and b the scale it is 2 Phi(-q/s) + e^(s^2/2b^2 - q/b) Phi(q/s - s/b)
    - e^(s^2/2b^2 + q/b) Phi(-q/s - s/b).
    """
    if deviation == 0:
        return math.exp(-distance / scale)
    ratio, place = deviation / scale, distance / deviation
    first = math.exp(ratio * ratio / 2 - distance / scale) * _below(place - ratio)
    return 2 * _below(-place) + first - _scaled_tail(place, ratio)


def _scaled_tail(place: float, ratio: float) -> float:
    """e^(r^2/2 + r x) Phi(-x - r), which is e^(-x^2/2) times a factor that stays small."""
    far = place + ratio
    if far < 25:
        return math.exp(ratio * ratio / 2 + ratio * place) * _below(-far)
    # Phi(-y) = e^(-y^2/2) / (y sqrt(2 pi)) (1 - 1 / y^2 + ...), to one part in 10^5 from 25 on
    return math.exp(-place * place / 2) / (far * math.sqrt(2 * math.pi)) * (1 - 1 / far**2)


def _below(value: float) -> float:
    """The distribution function of the standard normal law."""
    return math.erfc(-value / math.sqrt(2)) / 2
