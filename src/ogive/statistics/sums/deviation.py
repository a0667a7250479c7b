"""How far a number may be off: the law of a sum of a normal error and of weighted noise.

Noise is discrete Laplace or discrete Gaussian. A sum X of a normal variable of variance v and of independent Laplace
variables of scales b_1, b_2, ... has the characteristic function

    e^(-v t^2 / 2)  prod_j 1 / (1 + b_j^2 t^2),

and partial fractions make of the product a combination of single Laplace variables, with coefficients
prod_k b_j^2 / (b_j^2 - b_k^2), so that P(|X| > q) is one of the tails of a normal and a Laplace variable. The absolute
value of discrete Laplace noise is stochastically at most that of continuous noise of the same scale, rounded to a whole
number; so a quantile of the continuous law is widened by half of each weight.

Source:
    `docs/proofs/sums.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ogive.noise import DiscreteGaussian, DiscreteLaplace

NoiseLaw = DiscreteLaplace | DiscreteGaussian

_SAME = 1e-4
_NORMAL = 8.0  # beside a normal error so many scales wide Laplace noise counts by its variance alone
_FARTHEST = 200  # scales or deviations beyond which no level that is served has its quantile
_STEPS = 80


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
        total = 0.0
        for scale in apart:
            share = math.prod(scale**2 / (scale**2 - other**2) for other in apart if other != scale)
            total += share * _normal_and_laplace(distance, deviation, scale)
        return total

    def reach(self, confidence_level: float) -> float:
        """A distance from 0 that the error exceeds with probability at most 1 - `confidence_level`."""
        chance = 1 - confidence_level
        deviation, apart = self._separated
        if not apart:
            return NormalDist().inv_cdf(1 - chance / 2) * deviation + self.step
        low, high = 0.0, _FARTHEST * self.standard_error
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.exceeds(middle) > chance else (low, middle)
        return high + self.step

    @property
    def _separated(self) -> tuple[float, tuple[float, ...]]:
        """The deviation of the normal part, with Laplace parts that count by their variance alone, and other scales."""
        variance = self.variance
        apart: list[float] = []
        for scale in sorted(self.scales):
            if math.sqrt(variance) > _NORMAL * scale:
                variance += 2 * scale * scale
            else:  # partial fractions need different scales, so each is at least a little above the last
                apart.append(max(scale, apart[-1] * (1 + _SAME)) if apart else scale)
        return math.sqrt(variance), tuple(apart)


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
