"""Implications between guarantees of different types, rounded towards safety.

Pure epsilon implies zCDP with rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 3.3).
zCDP implies approximate DP; the conversion here is the one of Canonne, Kamath and Steinke
(2020, Proposition 12, at Renyi divergence alpha rho), tighter than rho + 2 sqrt(rho ln(1/delta)):

    delta <= inf over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha

Every alpha gives a valid bound, so an inexact minimum is still safe.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ogive.accounting.gaussian import delta_of_gaussian, epsilon_of_gaussian
from ogive.accounting.rounding import rounded_up
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP, Loss, Privacy, PureDP, ZeroConcentratedDP

# relative room for the rounding of floating-point results; far above their error
ROOM = 1e-9
# no delta is claimed below this: it is where floating point ends
TINIEST = 1e-300


def _log_delta(rho: float, epsilon: float) -> float:
    from scipy.optimize import minimize_scalar  # slow to import, and never needed for pure guarantees

    def bound(log_gap: float) -> float:
        gap = math.exp(log_gap)
        return gap * ((1 + gap) * rho - epsilon) - log_gap - (1 + gap) * math.log1p(1 / gap)

    # the bound falls and then rises in the order; bracket its minimum on a coarse scale, then refine
    coarse = range(-40, 41)
    start = min(coarse, key=bound)
    best = minimize_scalar(bound, bounds=(start - 1, start + 1), method="bounded", options={"xatol": 1e-10})
    return float(best.fun)


def delta_of(loss: ZeroConcentratedDP, epsilon: Fraction) -> float:
    """Bound delta such that rho-zCDP implies (epsilon, delta)-DP; rounded up, at most 1."""
    return max(TINIEST, min(1.0, math.exp(min(0.0, _log_delta(float(loss.rho), float(epsilon)))) * (1 + ROOM)))


@lru_cache(maxsize=256)
def epsilon_of(loss: ZeroConcentratedDP, delta: Fraction) -> Fraction:
    """Bound epsilon such that rho-zCDP implies (epsilon, delta)-DP; rounded up.

    Raises:
        ParameterError: delta is not strictly between 1e-300 and 1.
    """
    if not 0 < delta < 1:
        raise ParameterError(f"`delta` must be strictly between 0 and 1, got {delta}")
    if delta <= TINIEST:
        raise ParameterError(f"`delta` must be above {TINIEST:g}, got {float(delta):g}; for less use `PureDP`")
    rho = float(loss.rho)
    high = rho + 2 * math.sqrt(rho * math.log(1 / float(delta))) + 1e-12
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        if delta_of(loss, Fraction(middle)) <= delta:
            high = middle
        else:
            low = middle
    return Fraction(high * (1 + ROOM))


@lru_cache(maxsize=256)
def gaussian_rho(target: ApproxDP) -> ZeroConcentratedDP:
    """The largest rho whose zCDP implies the target; rounded down.

    Raises:
        ParameterError: epsilon and delta are too small for any rho.
    """
    epsilon, delta = target.epsilon, target.delta
    low, high = 0.0, float(epsilon) + 1.0
    while delta_of(ZeroConcentratedDP(high), epsilon) <= delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if middle > 0 and delta_of(ZeroConcentratedDP(middle), epsilon) <= delta:
            low = middle
        else:
            high = middle
    if low == 0.0:
        raise ParameterError(f"no zCDP guarantee implies {target}; use a larger epsilon or delta")
    return ZeroConcentratedDP(Fraction(low * (1 - ROOM)))


def pure_epsilon(target: ZeroConcentratedDP | ApproxDP) -> PureDP:
    """The largest pure epsilon that implies the target; rounded down."""
    if isinstance(target, ApproxDP):
        return PureDP(target.epsilon)
    # an integer square root keeps the result below sqrt(2 rho) exactly
    scale = 1 << 60
    return PureDP(Fraction(math.isqrt(math.floor(2 * target.rho * scale * scale)), scale))


def least_epsilon(loss: GaussianDP, delta: Fraction) -> Fraction:
    """Bound epsilon such that the loss implies (epsilon, delta)-DP, as a Gaussian or else in zCDP; rounded up.

    Raises:
        ParameterError: delta is out of range.
    """
    concentrated = epsilon_of(loss.concentrated, delta)
    if delta_of_gaussian(loss, concentrated) > delta:
        return concentrated
    return min(concentrated, epsilon_of_gaussian(loss, delta))


def in_terms_of(granted: Privacy, loss: Loss) -> str:
    """A loss in words; with its epsilon at the delta that is granted, where it has none itself."""
    if not isinstance(granted, ApproxDP) or not isinstance(loss, GaussianDP | ZeroConcentratedDP):
        return str(loss)
    delta = granted.delta
    epsilon = least_epsilon(loss, delta) if isinstance(loss, GaussianDP) else epsilon_of(loss, delta)
    return f"{loss}, which is {ApproxDP(rounded_up(epsilon), granted.delta)}"


def covers(granted: Privacy, loss: Loss) -> bool:
    """Whether a mechanism of the given loss satisfies the granted guarantee."""
    match granted, loss:
        case PureDP(), PureDP():
            return loss.epsilon <= granted.epsilon
        case PureDP(), _:
            return False
        case ZeroConcentratedDP(), ZeroConcentratedDP():
            return loss.rho <= granted.rho
        case ZeroConcentratedDP(), PureDP():
            return loss.epsilon**2 / 2 <= granted.rho
        case ZeroConcentratedDP(), GaussianDP():
            return loss.mu_squared / 2 <= granted.rho
        case ApproxDP(), ApproxDP():
            return loss.epsilon <= granted.epsilon and loss.delta <= granted.delta
        case ZeroConcentratedDP(), ApproxDP():
            return False
        case ApproxDP(), PureDP():
            return loss.epsilon <= granted.epsilon
        case ApproxDP(), ZeroConcentratedDP():
            return delta_of(loss, granted.epsilon) <= granted.delta
        case ApproxDP(), GaussianDP():
            if delta_of_gaussian(loss, granted.epsilon) <= granted.delta:
                return True
            # which the integers keep exactly, while their distance from Gaussian noise takes too much delta
            return delta_of(loss.concentrated, granted.epsilon) <= granted.delta
    raise AssertionError("unreachable: privacy types are closed")
