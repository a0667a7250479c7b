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

import numpy as np

from ogive.accounting.rounding import rounded_down
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP

DISTANCE = Fraction(202, 10_000)
"""Times the number of integers drawn, over sigma squared: total variation distance from rounded Gaussians."""

LEAST_SIGMA = 1000
"""From here on `DISTANCE` is proved; integers that are to stand for continuous noise are scaled beyond it."""

# relative room for the rounding of floating point, far above its error
_ROOM = 1e-9
_TINIEST = 1e-300
_ROOT_HALF = math.sqrt(0.5)
_LARGEST_EXPONENT = 700.0
# Gauss and Legendre's points, exact to rounding for the smooth function below on an interval of length 1
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_SHORT = 1.0
_LARGEST_EPSILON = 1e9


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The least delta of Gaussian noise at mu = sensitivity / sigma; rounded up, at most 1.

    With a = epsilon/mu - mu/2 and b = a + mu both terms have the factor exp(-a^2/2), since b^2 - a^2 = 2 epsilon:

        delta = exp(-a^2/2) / 2 (erfcx(a / sqrt 2) - erfcx(b / sqrt 2)),

    so nothing large is subtracted from anything large; where mu is small, the difference is integrated.
    """
    from scipy.special import erfcx, ndtr  # slow to import

    if mu <= 0:
        return 0.0
    middle, half = epsilon / mu, mu / 2
    low, high = middle - half, middle + half
    # what the rounding of low and of the arguments does to the exponent
    room = _ROOM + 4e-16 * (abs(low) + middle + 1) * high
    if low * low > 2 * _LARGEST_EXPONENT:
        return _TINIEST if low > 0 else 1.0
    weight = math.exp(-low * low / 2) / 2
    if low < -5:
        found = float(ndtr(-low)) - weight * float(erfcx(high * _ROOT_HALF))
    elif mu < _SHORT:
        points = (low + (_POINTS + 1) * half) * _ROOT_HALF
        falls = 2 / math.sqrt(math.pi) - 2 * points * erfcx(points)
        found = weight * float(_WEIGHTS @ falls) * _ROOT_HALF * half
    else:
        found = weight * float(erfcx(low * _ROOT_HALF) - erfcx(high * _ROOT_HALF))
    return min(1.0, found * (1 + room) + _TINIEST)


def distance_delta(distance: Fraction, epsilon: Fraction) -> Fraction:
    """What a distance from Gaussian noise adds to delta; rounded up."""
    if distance == 0:
        return Fraction(0)
    if epsilon > _LARGEST_EXPONENT:
        return Fraction(1)
    return distance * Fraction((1 + math.exp(float(epsilon))) * (1 + _ROOM))


@lru_cache(maxsize=512)
def pure_mu_squared(epsilon: Fraction) -> Fraction:
    """The squared mu of Gaussian noise from which any release of a pure epsilon can be made; rounded up.

    Randomized response with chance e^epsilon / (1 + e^epsilon) of the truth is one Gaussian of this mu, compared
    with mu / 2, and any other release of this epsilon is made from randomized response.

    Source:
        Kairouz, Oh and Viswanath 2015, Theorem 2; Dong, Roth and Su 2022, Theorem 2.10.
    """
    from scipy.special import erfinv, ndtri_exp  # slow to import

    size = float(epsilon)
    if size < 1:
        root = 2 * math.sqrt(2) * float(erfinv(math.tanh(size / 2)))
    else:
        root = -2 * float(ndtri_exp(-size - math.log1p(math.exp(-size))))
    # 8 epsilon always suffices: the chance of a tail beyond sqrt(2 epsilon) is at most e^-epsilon / 2
    return min(8 * epsilon, Fraction(root**2) * (1 + Fraction(1, 10**9)))


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
        raise ParameterError(f"`delta` must be strictly between {_TINIEST:g} and 1, got {float(delta):g}")
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
        middle = math.sqrt(low) * math.sqrt(high)
        if gaussian_delta(middle, loss) <= slack:
            low = middle
        else:
            high = middle
    return low * (1 - 1e-14)  # so that its square, and the root of that, still fit


def delta_of_gaussian(loss: GaussianDP, epsilon: Fraction) -> float:
    """Bound delta such that the loss implies (epsilon, delta)-DP; rounded up, at most 1."""
    mu = math.sqrt(float(loss.mu_squared)) * (1 + 1e-15)
    best = best_epsilon(loss, epsilon)
    total = Fraction(gaussian_delta(mu, float(best))) + distance_delta(loss.distance, best)
    return 1.0 if total >= 1 else _up(total)


def best_epsilon(loss: GaussianDP, epsilon: Fraction) -> Fraction:
    """The epsilon up to a given one at which a loss takes least delta, which serves the larger one as well.

    A distance costs more delta the larger epsilon is. Both terms together are convex in e^epsilon, with the slope
    t - Phi(-mu/2 - epsilon/mu). Any epsilon would do, so that nothing depends on how this one is rounded.
    """
    from scipy.special import ndtri  # slow to import

    mu = math.sqrt(float(loss.mu_squared))
    if mu == 0 or not 0 < loss.distance < 1:
        return epsilon
    return min(epsilon, Fraction(max(mu * (-float(ndtri(float(loss.distance))) - mu / 2), 0.0)))


def filled(target: ApproxDP, loss: GaussianDP) -> GaussianDP:
    """The largest multiple of a loss that the target covers, rounded down to six digits; at least the loss itself.

    It is the total of several measurements of one kind.
    """

    def kept(times: Fraction) -> bool:
        return times * loss.distance < 1 and delta_of_gaussian(_times(loss, times), target.epsilon) <= target.delta

    low, high = Fraction(1), Fraction(2)
    while kept(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if kept(middle):
            low = middle
        else:
            high = middle
    # a whole number of measurements is not to be missed by a rounding error
    rounded = [rounded_down(low * (1 + Fraction(1, 10**12))), rounded_down(low)]
    return _times(loss, next((times for times in rounded if times >= 1 and kept(times)), Fraction(1)))


def _times(loss: GaussianDP, times: Fraction) -> GaussianDP:
    return GaussianDP(loss.mu_squared * times, loss.distance * times)


def _up(value: Fraction) -> float:
    """The least float that is not below a number."""
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


def epsilon_of_gaussian(loss: GaussianDP, delta: Fraction) -> Fraction:
    """Bound epsilon such that the loss implies (epsilon, delta)-DP; rounded up.

    Raises:
        ParameterError: delta is out of range, or the distance alone uses it up.
    """
    if not _TINIEST < delta < 1:
        raise ParameterError(f"`delta` must be strictly between {_TINIEST:g} and 1, got {float(delta):g}")
    if 2 * loss.distance >= delta:
        raise ParameterError(f"the distance from Gaussian noise uses up delta = {float(delta):g}")
    high = 1e-6
    while delta_of_gaussian(loss, Fraction(high)) > delta:
        high *= 2
        if high > _LARGEST_EPSILON:
            raise ParameterError(f"no epsilon goes with delta = {float(delta):g}; use a larger delta")
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        if delta_of_gaussian(loss, Fraction(middle)) <= delta:
            high = middle
        else:
            low = middle
    return Fraction(high)


def gaussian_grant(target: ApproxDP, *, integers: int, per_unit: float) -> float:
    """The largest mu that leaves room in the target's delta for drawing integers instead of real numbers.

    Args:
        target: The guarantee to satisfy.
        integers: How many integers are drawn.
        per_unit: Sensitivity of the scaled integers, so that sigma = per_unit / mu.

    Raises:
        ParameterError: the integers are scaled too little: their distance uses up delta.
    """
    first = gaussian_mu(target.epsilon, target.delta)
    # at the larger mu sigma is smaller and the distance larger, so what is kept aside suffices
    distance = integers * DISTANCE / Fraction(per_unit / first) ** 2
    kept = distance_delta(distance, target.epsilon) * Fraction(1 + 1e-6)
    if kept * 2 < target.delta:
        return gaussian_mu(target.epsilon, target.delta - kept)
    found = largest_mu(target, integers * DISTANCE / Fraction(per_unit) ** 2)
    if 2 * found < gaussian_mu(min(target.epsilon, Fraction(1)), target.delta):
        raise ParameterError("the integers are scaled too little for this delta; use more fractional bits")
    return found


def largest_mu(target: ApproxDP, distance: Fraction) -> float:
    """The largest mu that the target covers, where mu squared brings so much distance each; rounded down, 0 if none."""

    def kept(mu: float) -> bool:
        squared = Fraction(mu) ** 2
        loss = GaussianDP(squared, squared * distance) if squared * distance < 1 else None
        return loss is not None and delta_of_gaussian(loss, target.epsilon) <= target.delta

    low, high = 0.0, gaussian_mu(target.epsilon, target.delta)
    if kept(high):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low * (1 - 1e-9)  # so that noise that is rounded up still fits


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
        raise ParameterError(f"`sigma` must be at least {LEAST_SIGMA} for continuous noise, got {float(sigma):g}")
    return GaussianDP(sensitivity_squared / sigma**2, integers * DISTANCE / sigma**2)
