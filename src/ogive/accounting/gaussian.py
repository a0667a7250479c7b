"""The exact privacy of Gaussian noise, and how much of it a guarantee takes.

A mechanism whose sensitivity is mu standard deviations of its Gaussian noise is (epsilon, delta)-DP if and only if

    delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

(Balle and Wang 2018, Theorem 8), for every epsilon >= 0. A mechanism that adds integer noise is not that one, but
its output lies within a small total variation distance t of it, rounded; then t (1 + e^epsilon) more delta will do:

    P(M in Y) <= P(G in Y) + t <= e^epsilon P(G' in Y) + delta + t <= e^epsilon P(M' in Y) + delta + t (1 + e^epsilon).

Per integer drawn from a discrete Gaussian of parameter sigma the distance from a rounded Gaussian is at most
`DISTANCE` / sigma^2; `docs/proofs/gaussian.md` has the proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from scipy.special import log_ndtr

from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP

DISTANCE = Fraction(202, 10_000)
"""Times the number of integers drawn, over sigma squared: total variation distance from rounded Gaussians."""

LEAST_SIGMA = 1000
"""From here on `DISTANCE` is proved; integers that are to stand for continuous noise are scaled beyond it."""

# relative room for the rounding of floating point, far above its error
_ROOM = 1e-9
_TINIEST = 1e-300


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The least delta of Gaussian noise at mu = sensitivity / sigma; rounded up, at most 1."""
    if mu <= 0:
        return 0.0
    here = float(log_ndtr(mu / 2 - epsilon / mu))
    there = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    gap = there - here
    if gap >= 0:  # only where floating point cannot tell the two apart
        return min(1.0, math.exp(here) * 1e-12 + _TINIEST)
    return min(1.0, math.exp(here) * -math.expm1(gap) * (1 + _ROOM) + _TINIEST)


@lru_cache(maxsize=512)
def gaussian_mu(epsilon: Fraction, delta: Fraction) -> float:
    """The largest mu whose Gaussian noise is (epsilon, delta)-DP; rounded down. 1 / mu is the g of the papers.

    Args:
        epsilon: At least 0.
        delta: Strictly between 1e-300 and 1.

    Raises:
        ParameterError: delta is out of range.
    """
    if not _TINIEST < delta < 1:
        raise ParameterError(f"delta must be strictly between {_TINIEST:g} and 1, got {float(delta):g}")
    loss, slack = float(epsilon), float(delta) * (1 - 1e-15)
    high = 1.0
    while gaussian_delta(high, loss) <= slack:
        high *= 2
    low = high / 2
    while gaussian_delta(low, loss) > slack:
        low, high = low / 2, low
        if low < _TINIEST:
            raise ParameterError(f"no Gaussian noise is small enough for delta = {float(delta):g}")
    for _ in range(100):
        middle = math.sqrt(low * high)
        if gaussian_delta(middle, loss) <= slack:
            low = middle
        else:
            high = middle
    return low


def delta_of_gaussian(loss: GaussianDP, epsilon: Fraction) -> float:
    """Bound delta such that the loss implies (epsilon, delta)-DP; rounded up, at most 1."""
    mu = math.sqrt(float(loss.mu_squared)) * (1 + 1e-15)
    slack = float(loss.distance) * (1 + math.exp(min(700.0, float(epsilon))))
    return min(1.0, gaussian_delta(mu, float(epsilon)) + slack * (1 + _ROOM))


def epsilon_of_gaussian(loss: GaussianDP, delta: Fraction) -> Fraction:
    """Bound epsilon such that the loss implies (epsilon, delta)-DP; rounded up.

    Raises:
        ParameterError: delta is out of range, or the distance alone uses it up.
    """
    if not _TINIEST < delta < 1:
        raise ParameterError(f"delta must be strictly between {_TINIEST:g} and 1, got {float(delta):g}")
    if 2 * loss.distance >= delta:
        raise ParameterError(f"the distance from Gaussian noise uses up delta = {float(delta):g}")
    high = 1e-6
    while delta_of_gaussian(loss, Fraction(high)) > delta:
        high *= 2
        if high > 500:
            raise ParameterError(f"no epsilon goes with delta = {float(delta):g}; use a larger delta")
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        if delta_of_gaussian(loss, Fraction(middle)) <= delta:
            high = middle
        else:
            low = middle
    return Fraction(high * (1 + _ROOM))


def gaussian_grant(target: ApproxDP, *, integers: int, per_unit: float) -> float:
    """The largest mu that leaves room in the target's delta for drawing integers instead of real numbers.

    Args:
        target: What is to be kept.
        integers: How many integers are drawn.
        per_unit: Sensitivity of the scaled integers, so that sigma = per_unit / mu.

    Raises:
        ParameterError: the integers are scaled too little: their distance uses up delta.
    """
    first = gaussian_mu(target.epsilon, target.delta)
    # at the larger mu sigma is smaller and the distance larger, so what is kept aside suffices
    distance = _distance(integers, per_unit / first)
    kept = distance * Fraction(1 + math.exp(min(700.0, float(target.epsilon)))) * Fraction(1 + 1e-6)
    if kept * 2 >= target.delta:
        raise ParameterError("the integers are scaled too little for this delta; use more fractional bits")
    return gaussian_mu(target.epsilon, target.delta - kept)


def discrete_loss(sensitivity_squared: Fraction, sigma: Fraction, integers: int) -> GaussianDP:
    """Loss of integers that each get discrete Gaussian noise of one sigma, at least `LEAST_SIGMA`.

    Args:
        sensitivity_squared: Largest sum of squared changes of the integers, or a bound.
        sigma: Of the discrete Gaussian.
        integers: How many are drawn.

    Raises:
        ParameterError: sigma is below `LEAST_SIGMA`.
    """
    if sigma < LEAST_SIGMA:
        raise ParameterError(f"sigma must be at least {LEAST_SIGMA} for continuous noise, got {float(sigma):g}")
    return GaussianDP(sensitivity_squared / sigma**2, integers * DISTANCE / sigma**2)


def _distance(integers: int, sigma: float) -> Fraction:
    return Fraction(integers) * DISTANCE / Fraction(sigma) ** 2
