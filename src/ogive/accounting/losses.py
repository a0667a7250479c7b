"""Losses: which guarantee implies which other one, and what several measurements of the same records lose together.

Implications between guarantees of different types are rounded towards safety. Pure epsilon implies zCDP with
rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 3.3). zCDP implies approximate DP; the conversion here is the one
of Canonne, Kamath and Steinke (2020, Proposition 12, at Renyi divergence alpha rho), tighter than
rho + 2 sqrt(rho ln(1/delta)):

    delta <= inf over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha

Every alpha gives a valid bound, so an inexact minimum is still safe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import overload

from ogive.accounting.gaussian import delta_of_gaussian, epsilon_of_gaussian
from ogive.accounting.rounding import rounded_up
from ogive.errors import ParameterError, UnsupportedError
from ogive.privacy import ApproxDP, GaussianDP, Loss, Privacy, PureDP, ZeroConcentratedDP

# relative room for the rounding of floating-point results; far above their error
ROOM = 1e-9
_ROOM = Fraction(1, 10**9)  # the same in exact arithmetic
# no delta is claimed below this: it is where floating point ends
TINIEST = 1e-300

_LARGEST_EXPONENT = 700.0


@lru_cache(maxsize=1 << 12)
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
    """A loss as text, with its epsilon at the delta of the guarantee if it has no delta itself."""
    if not isinstance(granted, ApproxDP) or not isinstance(loss, GaussianDP | ZeroConcentratedDP):
        return str(loss)
    delta = granted.delta
    epsilon = least_epsilon(loss, delta) if isinstance(loss, GaussianDP) else epsilon_of(loss, delta)
    return f"{loss}, which is {ApproxDP(rounded_up(epsilon), granted.delta)}"


def covers(granted: Privacy, loss: Loss) -> bool:
    """Whether a mechanism with the given loss satisfies a privacy guarantee."""
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


@overload
def total_loss(losses: Sequence[GaussianDP]) -> GaussianDP: ...
@overload
def total_loss(losses: Sequence[PureDP | ZeroConcentratedDP]) -> PureDP | ZeroConcentratedDP: ...
@overload
def total_loss(losses: Sequence[Loss]) -> Loss: ...
def total_loss(losses: Sequence[Loss]) -> Loss:
    """Add up losses: of one type in that type, of several in zCDP, with deltas of their own by basic composition.

    Args:
        losses: At least one loss; the measurements may be chosen adaptively.

    Raises:
        UnsupportedError: one has a delta of its own and another is concentrated or Gaussian.
        ParameterError: the deltas add up to 1 or more.

    Source:
        Sequential composition; Bun and Steinke 2016, Lemma 2.3 and Proposition 3.3; Dong, Roth and Su 2022,
        Corollary 3.3.
    """
    pure = [loss for loss in losses if isinstance(loss, PureDP)]
    if len(pure) == len(losses):
        return sum(pure[1:], pure[0])
    gaussian = [loss for loss in losses if isinstance(loss, GaussianDP)]
    if len(gaussian) == len(losses):
        return sum(gaussian[1:], gaussian[0])
    if any(isinstance(loss, ApproxDP) for loss in losses):
        return _with_deltas(losses)
    concentrated = [as_concentrated(loss) for loss in losses]
    return sum(concentrated[1:], concentrated[0])


def _with_deltas(losses: Sequence[Loss]) -> ApproxDP:
    pairs = [_with_delta(loss) for loss in losses]
    return _approximate(
        sum((epsilon for epsilon, _ in pairs), Fraction(0)), sum((own for _, own in pairs), Fraction(0))
    )


def _with_delta(loss: Loss) -> tuple[Fraction, Fraction]:
    match loss:
        case PureDP():
            return loss.epsilon, Fraction(0)
        case ApproxDP():
            return loss.epsilon, loss.delta
        case ZeroConcentratedDP() | GaussianDP():
            kind = "Gaussian" if isinstance(loss, GaussianDP) else "zCDP"
            raise UnsupportedError(
                f"a loss with a delta of its own cannot be added to a {kind} one; add pure losses only"
            )


def _approximate(epsilon: Fraction, delta: Fraction) -> ApproxDP:
    if delta >= 1:
        raise ParameterError("these losses' deltas add up to 1 or more, which guarantees nothing; use smaller deltas")
    return ApproxDP(epsilon, delta)


def as_concentrated(loss: Loss) -> ZeroConcentratedDP:
    """The zCDP guarantee that a loss implies.

    Raises:
        UnsupportedError: the loss has a delta of its own, which implies none.

    Source:
        Bun and Steinke 2016, Proposition 3.3, for a pure loss.
    """
    match loss:
        case PureDP():
            return ZeroConcentratedDP(loss.epsilon**2 / 2)
        case GaussianDP():
            return loss.concentrated
        case ZeroConcentratedDP():
            return loss
        case ApproxDP():
            raise UnsupportedError("a loss with a delta of its own implies no zCDP guarantee; use an `ApproxDP` one")


@overload
def larger_loss(
    one: PureDP | ZeroConcentratedDP, other: PureDP | ZeroConcentratedDP
) -> PureDP | ZeroConcentratedDP: ...
@overload
def larger_loss(one: Loss, other: Loss) -> Loss: ...
def larger_loss(one: Loss, other: Loss) -> Loss:
    """The larger of two losses of which only one occurs.

    Both are of one type, or pure and with a delta of its own; of two numbers that a loss has, the larger of each.

    Raises:
        UnsupportedError: one has a delta of its own and the other is concentrated or Gaussian.
    """
    if isinstance(one, PureDP) and isinstance(other, PureDP):
        return max(one, other, key=lambda loss: loss.epsilon)
    if isinstance(one, GaussianDP) and isinstance(other, GaussianDP):
        return GaussianDP(max(one.mu_squared, other.mu_squared), max(one.distance, other.distance))
    if isinstance(one, ZeroConcentratedDP) and isinstance(other, ZeroConcentratedDP):
        return max(one, other, key=lambda loss: loss.rho)
    (epsilon, delta), (other_epsilon, other_delta) = _with_delta(one), _with_delta(other)
    return ApproxDP(max(epsilon, other_epsilon), max(delta, other_delta))


@overload
def group_loss(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP: ...
@overload
def group_loss(loss: GaussianDP, size: int) -> GaussianDP: ...
@overload
def group_loss(loss: Loss, size: int) -> Loss: ...
def group_loss(loss: Loss, size: int) -> Loss:
    """The loss for `size` records of one person from the loss for one record.

    The distance of a mechanism from an ideal one is the same whoever asks, so it does not grow. A delta grows by
    1 + e^epsilon + ... + e^((size - 1) epsilon), here rounded up.

    Raises:
        ParameterError: a delta grows to 1 or more.

    Source:
        Group privacy; Bun and Steinke 2016, Proposition 1.9 for zCDP; Dong, Roth and Su 2022, Theorem 2.14.
    """
    match loss:
        case PureDP():
            return PureDP(loss.epsilon * size)
        case GaussianDP():
            return GaussianDP(loss.mu_squared * size * size, loss.distance)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(loss.rho * size * size)
        case ApproxDP():
            return _approximate(loss.epsilon * size, loss.delta * _deltas(float(loss.epsilon), size))


def _deltas(epsilon: float, size: int) -> Fraction:
    """(e^(size epsilon) - 1) / (e^epsilon - 1), rounded up; anything where that is too large to matter."""
    if size == 1:
        return Fraction(1)
    exponent = (size - 1) * epsilon + _log_complement(size * epsilon) - _log_complement(epsilon)
    return Fraction(math.exp(min(exponent, _LARGEST_EXPONENT))) * (1 + _ROOM)


def _log_complement(exponent: float) -> float:
    """ln(1 - e^-exponent)."""
    return math.log(-math.expm1(-exponent))


@overload
def loss_per_row(loss: PureDP, size: int) -> PureDP: ...
@overload
def loss_per_row(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP: ...
def loss_per_row(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP:
    """The loss for one record that `group_loss` takes to `loss`."""
    if isinstance(loss, PureDP):
        return PureDP(loss.epsilon / size)
    return ZeroConcentratedDP(loss.rho / (size * size))
