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
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar, overload

import numpy as np

from ogive.errors import ParameterError, UnsupportedError
from ogive.privacy import ApproxDP, Charge, GaussianDP, Loss, Privacy, PureDP, ZeroConcentratedDP

# --- Numbers that are rounded to a stated side, and searched for

NumberT = TypeVar("NumberT", float, Fraction)


def rounded_down(value: Fraction) -> Fraction:
    """A number to six decimal digits, never above it; tiny ones are 0."""
    if value < Fraction(1, 10**12):
        return Fraction(0)
    unit = _last_digit(value)
    return value // unit * unit


def rounded_up(value: Fraction) -> Fraction:
    """A number to six decimal digits, never below it."""
    if value <= 0:
        return value
    unit = _last_digit(value)
    return -(-value // unit) * unit


def halved(fits: Callable[[NumberT], bool], low: NumberT, high: NumberT, steps: int) -> tuple[NumberT, NumberT]:
    """The ends of an interval after some halvings, where numbers up to a limit fit; the limit stays inside."""
    for _ in range(steps):
        middle = (low + high) / 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low, high


def shown_up(value: float, form: str = ".6g") -> str:
    """A number from 0 as text, never below the shortest decimal that is this number."""
    if value == 0 or not math.isfinite(value):
        return format(value, form)
    near = Decimal(repr(float(value)))
    digits, by_places = int(form[1:-1]), form.endswith("f")
    unit = Fraction(10) ** (-digits if by_places else near.adjusted() + 1 - digits)
    return format(float(-(-Fraction(near) // unit) * unit), form)


def _last_digit(value: Fraction) -> Fraction:
    unit = Fraction(1)
    while value < unit * 10**5:
        unit /= 10
    while value >= unit * 10**6:
        unit *= 10
    return unit


# --- The exact privacy of Gaussian noise
#
# A mechanism whose sensitivity is mu standard deviations of its Gaussian noise is (epsilon, delta)-DP if and only if
#
#     delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
#
# (Balle and Wang 2018, Theorem 8), for every epsilon >= 0. A mechanism that adds integer noise is not that one, but
# its output lies within a small total variation distance t of it, rounded; then t (1 + e^epsilon) more delta will do:
#
#     P(M in Y) <= P(G in Y) + t <= e^epsilon P(G' in Y) + delta + t
#               <= e^epsilon P(M' in Y) + delta + t (1 + e^epsilon).
#
# Per integer drawn from a discrete Gaussian of parameter sigma the distance from a rounded Gaussian is at most
# `DISTANCE` / sigma^2; `docs/proofs/gaussian.md` has the proof.

DISTANCE = Fraction(202, 10_000)
"""Times the number of integers drawn, over sigma squared: total variation distance from rounded Gaussians."""

LEAST_SIGMA = 1000
"""From here on `DISTANCE` is proved; integers that are to stand for continuous noise are scaled beyond it."""

# relative room for the rounding of floating-point results; far above their error
ROOM = 1e-9
_ROOM = Fraction(1, 10**9)  # the same in exact arithmetic
# no delta is claimed below this: it is where floating point ends
TINIEST = 1e-300
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
    room = ROOM + 4e-16 * (abs(low) + middle + 1) * high
    if low * low > 2 * _LARGEST_EXPONENT:
        return TINIEST if low > 0 else 1.0
    weight = math.exp(-low * low / 2) / 2
    if low < -5:
        result = float(ndtr(-low)) - weight * float(erfcx(high * _ROOT_HALF))
    elif mu < _SHORT:
        points = (low + (_POINTS + 1) * half) * _ROOT_HALF
        falls = 2 / math.sqrt(math.pi) - 2 * points * erfcx(points)
        result = weight * float(_WEIGHTS @ falls) * _ROOT_HALF * half
    else:
        result = weight * float(erfcx(low * _ROOT_HALF) - erfcx(high * _ROOT_HALF))
    return min(1.0, result * (1 + room) + TINIEST)


def distance_delta(distance: Fraction, epsilon: Fraction) -> Fraction:
    """What a distance from Gaussian noise adds to delta; rounded up."""
    if distance == 0:
        return Fraction(0)
    if epsilon > _LARGEST_EXPONENT:
        return Fraction(1)
    return distance * Fraction((1 + math.exp(float(epsilon))) * (1 + ROOM))


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
    if not TINIEST < delta < 1:
        raise ParameterError(f"`delta` must be strictly between {TINIEST:g} and 1, got {float(delta):g}")
    loss, slack = float(epsilon), float(delta) * (1 - 1e-15)
    high = 1.0
    while gaussian_delta(high, loss) <= slack:
        high *= 2
    low = high / 2
    while gaussian_delta(low, loss) > slack:
        low, high = low / 2, low
        if low < TINIEST:
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

    def holds(times: Fraction) -> bool:
        return times * loss.distance < 1 and delta_of_gaussian(_times(loss, times), target.epsilon) <= target.delta

    low, high = Fraction(1), Fraction(2)
    while holds(high):
        low, high = high, 2 * high
    low, _ = halved(holds, low, high, 60)
    # a whole number of measurements is not to be missed by a rounding error
    rounded = [rounded_down(low * (1 + Fraction(1, 10**12))), rounded_down(low)]
    return _times(loss, next((times for times in rounded if times >= 1 and holds(times)), Fraction(1)))


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
    if not TINIEST < delta < 1:
        raise ParameterError(f"`delta` must be strictly between {TINIEST:g} and 1, got {float(delta):g}")
    if 2 * loss.distance >= delta:
        raise ParameterError(f"the distance from Gaussian noise uses up delta = {float(delta):g}")
    high = 1e-6
    while delta_of_gaussian(loss, Fraction(high)) > delta:
        high *= 2
        if high > _LARGEST_EPSILON:
            raise ParameterError(f"no epsilon goes with delta = {float(delta):g}; use a larger delta")
    return Fraction(halved(lambda epsilon: delta_of_gaussian(loss, Fraction(epsilon)) > delta, 0.0, high, 100)[1])


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
    # at the larger mu sigma is smaller and the distance larger, so what is reserved suffices
    distance = integers * DISTANCE / Fraction(per_unit / first) ** 2
    reserved = distance_delta(distance, target.epsilon) * Fraction(1 + 1e-6)
    if reserved * 2 < target.delta:
        return gaussian_mu(target.epsilon, target.delta - reserved)
    result = largest_mu(target, integers * DISTANCE / Fraction(per_unit) ** 2)
    if 2 * result < gaussian_mu(min(target.epsilon, Fraction(1)), target.delta):
        raise ParameterError("the integers are scaled too little for this delta; use more fractional bits")
    return result


def largest_mu(target: ApproxDP, distance: Fraction) -> float:
    """The largest mu that the target covers, where mu squared brings so much distance each; rounded down, 0 if none."""

    def holds(mu: float) -> bool:
        squared = Fraction(mu) ** 2
        loss = GaussianDP(squared, squared * distance) if squared * distance < 1 else None
        return loss is not None and delta_of_gaussian(loss, target.epsilon) <= target.delta

    most = gaussian_mu(target.epsilon, target.delta)
    if holds(most):
        return most
    return halved(holds, 0.0, most, 60)[0] * (1 - 1e-9)  # so that noise that is rounded up still fits


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


# --- Implications between guarantees


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
    _, high = halved(lambda epsilon: delta_of(loss, Fraction(epsilon)) > delta, 0.0, high, 100)
    return Fraction(high * (1 + ROOM))


@lru_cache(maxsize=256)
def gaussian_rho(target: ApproxDP) -> ZeroConcentratedDP:
    """The largest rho whose zCDP implies the target; rounded down.

    Raises:
        ParameterError: epsilon and delta are too small for any rho.
    """
    epsilon, delta = target.epsilon, target.delta

    def holds(rho: float) -> bool:
        return rho > 0 and delta_of(ZeroConcentratedDP(rho), epsilon) <= delta

    high = float(epsilon) + 1.0
    while holds(high):
        high *= 2
    low, _ = halved(holds, 0.0, high, 100)
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


def at_least(charge: Charge, other: Charge) -> bool:
    """Whether one charge is at least another: whatever keeps `other` keeps `charge`."""
    if isinstance(other, ApproxDP):
        return isinstance(charge, ApproxDP) and other.epsilon <= charge.epsilon and other.delta <= charge.delta
    if not isinstance(charge, GaussianDP):
        return covers(charge, other)
    match other:
        case GaussianDP():
            return other.mu_squared <= charge.mu_squared and other.distance <= charge.distance
        case PureDP():
            return max(other.epsilon**2, pure_mu_squared(other.epsilon)) <= charge.mu_squared
        case ZeroConcentratedDP():
            return False


# --- Losses of several measurements, of either of two, and of several records


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
        epsilons, deltas = zip(*map(_with_delta, losses), strict=True)
        return _approximate(sum(epsilons, Fraction(0)), sum(deltas, Fraction(0)))
    concentrated = [as_concentrated(loss) for loss in losses]
    return sum(concentrated[1:], concentrated[0])


def _with_delta(loss: Loss) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of a loss, which must not be concentrated or Gaussian."""
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
