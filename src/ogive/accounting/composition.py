"""What charges add up to, and how much an account may still spend."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ogive.accounting import losses
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, Charge, GaussianDP, Privacy, PureDP, ZeroConcentratedDP

# --- Composition of pure and approximate guarantees by their loss distributions
#
# The worst pair of distributions under epsilon is one randomized response (Kairouz, Oh and Viswanath
# 2015), so the composition of guarantees fixed beforehand is the composition of those. The work is done by
# `dp_accounting`; every rounding is towards safety.

# far above what the convolutions lose to floating point, far below any useful delta
_ABSOLUTE_ROOM = 1e-13
_RELATIVE_ROOM = 1e-9
# a count of repeats beyond this gains nothing over zCDP that would be worth its time
_MOST_REPEATS = 2_000
_CELLS_PER_STEP = 64
_MOST_CELLS = 200_000
# a single loss beyond this overflows, and takes nothing from being composed by its distribution
_LARGEST_LOSS = 700
# rounded up, a larger one is a certain failure
_LARGEST_DELTA = 1 - 1e-6
_LEAST_EPSILON = 1e-12


def _raised(epsilon: Fraction) -> float:
    return float(epsilon) * (1 + _RELATIVE_ROOM)


def _pessimistic(epsilon: Fraction, delta: Fraction, interval: float) -> Any:
    # loads slowly, and most ledgers never need it
    from dp_accounting.pld import common, privacy_loss_distribution

    return privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(_raised(epsilon), float(delta) * (1 + _RELATIVE_ROOM)),
        value_discretization_interval=interval,
    )


def _delta(composed: Any, epsilon: Fraction) -> float:
    below = float(epsilon) * (1 - _RELATIVE_ROOM)
    return min(1.0, float(composed.get_delta_for_epsilon(below)) * (1 + _RELATIVE_ROOM) + _ABSOLUTE_ROOM)


@lru_cache(maxsize=256)
def most_repeats(step: Fraction, epsilon: Fraction, delta: Fraction) -> int:
    """How many releases of one pure epsilon together keep (epsilon, delta); rounded down."""
    plain = int(epsilon / step)
    if plain >= _MOST_REPEATS or delta <= 10 * _ABSOLUTE_ROOM or step > _LARGEST_LOSS:
        return plain
    # a grid that the losses +-step lie on, so that nothing is lost to rounding up
    one = _pessimistic(step, Fraction(0), _raised(step))

    def keeps(count: int) -> bool:
        return _delta(one.self_compose(count), epsilon) <= delta

    low = plain  # known to fit
    high = max(2 * plain, plain + 2)
    while high < _MOST_REPEATS and keeps(high):
        low, high = high, 2 * high
    high = min(high, _MOST_REPEATS)
    while high - low > 1:
        middle = (low + high) // 2
        if keeps(middle):
            low = middle
        else:
            high = middle
    return low


def composed_epsilon(charges: Sequence[PureDP | ApproxDP], delta: Fraction) -> Fraction | None:
    """An epsilon that charges fixed beforehand keep together at a delta; rounded up."""
    if float(delta) <= 10 * _ABSOLUTE_ROOM or max(charge.epsilon for charge in charges) > _LARGEST_LOSS:
        return None
    if any(isinstance(charge, ApproxDP) and charge.delta > _LARGEST_DELTA for charge in charges):
        return None
    counted = Counter(
        (charge.epsilon, charge.delta if isinstance(charge, ApproxDP) else Fraction(0)) for charge in charges
    )
    total = sum(epsilon * count for (epsilon, _), count in counted.items())
    smallest = min(epsilon for epsilon, _ in counted)
    interval = max(_raised(smallest) / _CELLS_PER_STEP, float(total) / _MOST_CELLS)
    composed: Any = None
    for (epsilon, own), count in sorted(counted.items()):
        one = _pessimistic(epsilon, own, interval).self_compose(count)
        composed = one if composed is None else composed.compose(one)
    aimed = (float(delta) - _ABSOLUTE_ROOM) * (1 - _RELATIVE_ROOM)
    result = max(float(composed.get_epsilon_for_delta(aimed)), _LEAST_EPSILON)
    return Fraction(result * (1 + _RELATIVE_ROOM)) if result < float("inf") else None


# --- What an account may still spend, where every charge may depend on earlier answers
#
# A total that is right for a list of charges fixed beforehand may be wrong for charges that were chosen
# after looking at answers, and taking the better of two such rules adds up their deltas. So the rules for
# an (epsilon, delta) limit are fixed by the limit and by the first charge, which no answers have
# influenced, and divide the limit's delta among themselves. The proof is in the manual, under composition.

# of the limit's delta, what is kept for charges that bring a delta of their own
_RESERVED = Fraction(1, 10)
# of the share for Gaussian noise, what is kept for its distance from integer noise, which adds up
_DISTANCE = Fraction(1, 100)
# a release that may still be granted may use this much of its delta for its distance
_DISTANCE_LEFT = Fraction(1, 1000)
# what is left below this part of the limit's epsilon is nothing
_NOTHING = Fraction(1, 10**4)
# remaining guarantees are named with this relative room, far above the error of the conversions
_SHOWN_ROOM = Fraction(1, 10**6)


@dataclass(frozen=True)
class Shares:
    """How the delta of a limit is divided among the ways to keep it.

    Fields:
        step: The first charge's epsilon, where charges are counted.
        most: How many charges of one step keep (epsilon, repeats).
        gaussian: For Gaussian and pure charges, composed as Gaussians.
        distances: For the distances of Gaussian charges from Gaussian noise, which add up.
        epsilon: At which Gaussian charges are converted: the limit's, or less where their distance would cost too much.
    """

    sums: Fraction
    concentrated: Fraction
    repeats: Fraction = Fraction(0)
    step: Fraction = Fraction(0)
    most: int = 0
    gaussian: Fraction = Fraction(0)
    distances: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)


@lru_cache(maxsize=256)
def shares(limit: ApproxDP, first: Charge) -> Shares:
    """Divide a limit's delta, knowing no more than the first charge."""
    delta = limit.delta
    reserved = delta * _RESERVED
    match first:
        case ZeroConcentratedDP():
            return Shares(Fraction(0), delta)
        case ApproxDP():
            return Shares(reserved, delta - reserved) if first.delta <= reserved else Shares(delta, Fraction(0))
        case PureDP():
            half = (delta - reserved) / 2
            most = most_repeats(first.epsilon, limit.epsilon, half)
            if _keeps(most, first.epsilon, limit.epsilon, delta - reserved):
                return Shares(reserved, delta - reserved)
            return Shares(reserved, half, half, first.epsilon, most)
        case GaussianDP():
            needed = losses.delta_of_gaussian(first, limit.epsilon)
            if needed > delta:
                return Shares(Fraction(0), delta)
            # what needs more than half of delta alone gets all of it
            return _gaussian_shares(limit, first, delta if needed > delta / 2 else delta / 2)


def _gaussian_shares(limit: ApproxDP, first: GaussianDP, part: Fraction) -> Shares:
    """Divide a part of delta so that the first charge fits into it if it can; the rest is for zCDP."""
    # where the first charge takes least, or further up as long as distances take little
    epsilon = max(losses.best_epsilon(first, limit.epsilon), _epsilon_for_distance(limit.epsilon, first.distance, part))
    rest = part - Fraction(losses.delta_of_gaussian(GaussianDP(first.mu_squared), epsilon))
    distances = min(max(part * _DISTANCE, 2 * losses.distance_delta(first.distance, epsilon)), rest)
    distances = max(distances, Fraction(0))
    return Shares(Fraction(0), limit.delta - part, gaussian=part - distances, distances=distances, epsilon=epsilon)


def _epsilon_for_distance(epsilon: Fraction, distance: Fraction, part: Fraction) -> Fraction:
    """An epsilon up to the limit's at which twice the distance takes no more than a quarter of a part of delta."""
    if 2 * losses.distance_delta(distance, epsilon) * 4 <= part:
        return epsilon
    return min(epsilon, Fraction(max(math.log(float(part / (8 * distance))) - 1e-6, 0.0)))


def _keeps(count: int, step: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether counting repeats is no better than adding up, in epsilon or in zCDP."""
    if count * step <= epsilon:
        return True
    return losses.delta_of(ZeroConcentratedDP(count * step**2 / 2), epsilon) <= delta


def mismatch(limit: Privacy, charge: Charge) -> str | None:
    """Why a charge of this type never fits a limit of that type, with advice, as a marked text; None if it may."""
    match limit, charge:
        case PureDP(), ZeroConcentratedDP() | GaussianDP():
            return "its limit is a pure epsilon, which Gaussian noise (zCDP) never satisfies; use `PureDP` instead"
        case PureDP(), ApproxDP():
            return "its limit is a pure epsilon, which a loss with a delta never satisfies; use `PureDP` instead"
        case ZeroConcentratedDP(), ApproxDP():
            return "its limit is in zCDP, which a loss with a delta never satisfies; use `ZeroConcentratedDP` instead"
    return None


def fits(limit: Privacy, charges: Sequence[Charge], *, first: Charge | None = None) -> bool:
    """Whether charges, in their order, stay within a limit.

    Each charge may depend on all earlier answers.

    Args:
        limit: Guarantee that all charges together must satisfy.
        charges: The loss of each release, of any types.
        first: The first charge before any answer, if it was raised later.
    """
    if not charges:
        return True
    if any(mismatch(limit, charge) for charge, _ in _counted(charges)):
        return False
    match limit:
        case PureDP():
            return sum_epsilon(charges) <= limit.epsilon
        case ZeroConcentratedDP():
            return sum_rho(charges) <= limit.rho
        case ApproxDP():
            return _fits_approx(limit, charges, shares(limit, first if first is not None else charges[0]))


def _fits_approx(limit: ApproxDP, charges: Sequence[Charge], divided: Shares) -> bool:
    if sum_delta(charges) > divided.sums:
        return divided.gaussian > 0 and _fits_gaussian(charges, divided)
    different = [charge for charge, _ in _counted(charges)]
    noisy = any(isinstance(charge, ZeroConcentratedDP | GaussianDP) for charge in different)
    if not noisy and sum_epsilon(charges) <= limit.epsilon:
        return True
    if (
        divided.most
        and len(charges) <= divided.most
        and all(isinstance(charge, PureDP) and charge.epsilon <= divided.step for charge in different)
    ):
        return True
    if divided.gaussian and _fits_gaussian(charges, divided):
        return True
    total = ZeroConcentratedDP(sum_rho(charges))
    return divided.concentrated > 0 and losses.delta_of(total, limit.epsilon) <= divided.concentrated


def _fits_gaussian(charges: Sequence[Charge], divided: Shares) -> bool:
    within = {id(charge): _within_gaussian(charge) for charge, _ in _counted(charges)}
    total = as_gaussian([within[id(charge)] for charge in charges])
    if total is None or losses.distance_delta(total.distance, divided.epsilon) > divided.distances:
        return False
    return losses.delta_of_gaussian(GaussianDP(total.mu_squared), divided.epsilon) <= divided.gaussian


def _within_gaussian(charge: Charge) -> Charge:
    """An (epsilon, delta) charge as the pure one that lies within a distance of it, in terms of Gaussian noise."""
    if not isinstance(charge, ApproxDP):
        return charge
    # more than delta / (1 + e^epsilon), as 1 + e^epsilon is at least 2 + epsilon
    return GaussianDP(losses.pure_mu_squared(charge.epsilon), charge.delta / (2 + charge.epsilon))


def as_gaussian(charges: Sequence[Charge]) -> GaussianDP | None:
    """Gaussian and pure charges as those of one Gaussian, for an epsilon and a delta; None if there are others."""
    mu_squared, distance = Fraction(0), Fraction(0)
    for charge, times in _counted(charges):
        match charge:
            case GaussianDP():
                mu_squared += charge.mu_squared * times
                distance += charge.distance * times
            case PureDP():
                mu_squared += losses.pure_mu_squared(charge.epsilon) * times
            case _:
                return None
    return GaussianDP(mu_squared, distance) if distance < 1 else None


def remaining(limit: Privacy, charges: Sequence[Charge], *, first: Charge | None = None) -> Privacy | None:
    """The largest guarantee that one more release may have.

    Args:
        limit: Guarantee that all releases together must satisfy.
        charges: The charges so far, in order.
        first: The first charge before any answer, if it was raised later.

    Returns:
        A guarantee of the limit's type, or None if nothing is left. Under an ApproxDP limit it has the delta of the
        limit and fits every noise of the release: Laplace, or Gaussian in zCDP or exact accounting. If only pure
        releases fit, it is PureDP. Less than a ten-thousandth of the epsilon of the limit counts as nothing.
    """
    match limit:
        case PureDP():
            rest = limit.epsilon - sum_epsilon(charges)
            return PureDP(rest) if rest > 0 else None
        case ZeroConcentratedDP():
            rest = limit.rho - sum_rho(charges)
            return ZeroConcentratedDP(rest) if rest > 0 else None
        case ApproxDP():
            return _remaining_approx(limit, tuple(charges), first) if charges else limit


@lru_cache(maxsize=256)
def _remaining_approx(limit: ApproxDP, charges: tuple[Charge, ...], first: Charge | None) -> Privacy | None:
    def pure_fits(epsilon: Fraction) -> bool:
        return epsilon > 0 and fits(limit, [*charges, PureDP(epsilon)], first=first)

    def concentrated_fits(rho: Fraction) -> bool:
        return fits(limit, [*charges, ZeroConcentratedDP(rho)], first=first)

    def gaussian_fits(mu_squared: Fraction) -> bool:
        return mu_squared > 0 and fits(limit, [*charges, GaussianDP(mu_squared, distance)], first=first)

    divided = shares(limit, first if first is not None else charges[0])
    distance = limit.delta * _DISTANCE_LEFT / losses.distance_delta(Fraction(1), divided.epsilon or limit.epsilon)
    least = limit.epsilon * _NOTHING
    plain = limit.epsilon - sum_epsilon(charges)
    pure = max(plain if pure_fits(plain) else Fraction(0), _largest(pure_fits, limit.epsilon))
    rho = _largest(concentrated_fits, limit.epsilon + limit.epsilon**2)
    if rho > 0:
        mu_squared = _largest(gaussian_fits, Fraction(losses.gaussian_mu(limit.epsilon, limit.delta)) ** 2)
        if mu_squared > 0:
            noisy = min(
                losses.epsilon_of(ZeroConcentratedDP(rho), limit.delta),
                losses.epsilon_of_gaussian(GaussianDP(mu_squared), limit.delta),
            )
            shown = losses.rounded_down(min(pure, noisy * (1 - _SHOWN_ROOM)))
            if shown > least:
                return ApproxDP(shown, limit.delta)
    return PureDP(pure) if pure > least else None


def _largest(accepts: Callable[[Fraction], bool], high: Fraction) -> Fraction:
    """The largest number up to `high` that is accepted, to 40 bits, rounded down; 0 if none is."""
    if accepts(high):
        return high
    return losses.rounded_down(losses.halved(accepts, Fraction(0), high, 40)[0])


def sum_epsilon(charges: Sequence[Charge]) -> Fraction:
    """The epsilons of pure and approximate charges, added up exactly."""
    each = ((charge, times) for charge, times in _counted(charges) if isinstance(charge, PureDP | ApproxDP))
    return sum((charge.epsilon * times for charge, times in each), Fraction(0))


def sum_delta(charges: Sequence[Charge]) -> Fraction:
    """The deltas of approximate charges, added up exactly."""
    each = ((charge, times) for charge, times in _counted(charges) if isinstance(charge, ApproxDP))
    return sum((charge.delta * times for charge, times in each), Fraction(0))


def sum_rho(charges: Sequence[Charge]) -> Fraction:
    """Everything in zCDP, added up exactly; an epsilon counts as epsilon^2 / 2, a delta is left aside."""
    return sum((_rho(charge) * times for charge, times in _counted(charges)), Fraction(0))


def _counted(charges: Sequence[Charge]) -> list[tuple[Charge, int]]:
    """The objects among some charges, and how often each is there: a ledger repeats the same object for equal ones."""
    held = tuple(charges)
    times = Counter(map(id, held))
    objects = dict(zip(map(id, held), held, strict=True))
    return [(objects[number], count) for number, count in times.items()]


def _rho(charge: Charge) -> Fraction:
    match charge:
        case ZeroConcentratedDP(rho=rho):
            return rho
        case GaussianDP(mu_squared=mu_squared):
            return mu_squared / 2
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon**2 / 2


# --- Charges that were fixed in advance

# of a delta, what the conversion of zCDP gets where pure charges are composed beside it
_SPLITS = tuple(Fraction(n, 10) for n in (1, 3, 5, 7, 9))


def compose(charges: Sequence[Charge], *, delta: Fraction | None = None) -> Privacy:
    """The tightest known guarantee for charges that were fixed in advance.

    The releases may depend on each other's answers, their charges may not. If charges are chosen adaptively, `fits`
    keeps an account within its limit; it allows slightly less.

    Args:
        charges: The loss of each release, at least one, of any types.
        delta: Ask for an (epsilon, delta) guarantee with this delta; None for the strongest type that
            the charges have in common.

    Returns:
        PureDP if all are pure, ZeroConcentratedDP if none has a delta, else ApproxDP; rounded up. With
        `delta` always ApproxDP: the least of plain sums, zCDP converted, Gaussian and pure charges as those
        of one Gaussian, loss distributions, and pure charges by loss distributions beside the others converted.

    Raises:
        ParameterError: the charges' own deltas use up `delta`.
    """
    if delta is None:
        if all(isinstance(charge, PureDP) for charge in charges):
            return PureDP(sum_epsilon(charges))
        own = sum_delta(charges)
        if own == 0:
            return ZeroConcentratedDP(sum_rho(charges))
        delta = min(2 * own, (1 + own) / 2) if _noisy(charges) else own
    epsilons = [losses.rounded_up(epsilon) for epsilon in _conversions(charges, delta) if epsilon is not None]
    if sum_delta(charges) <= delta and not _noisy(charges):
        epsilons.append(sum_epsilon(charges))
    if not epsilons:
        raise ParameterError(f"the charges' own deltas use up delta = {float(delta):g}")
    return ApproxDP(min(epsilons), delta)


def _noisy(charges: Sequence[Charge]) -> list[ZeroConcentratedDP | GaussianDP]:
    return [charge for charge in charges if isinstance(charge, ZeroConcentratedDP | GaussianDP)]


def _conversions(charges: Sequence[Charge], delta: Fraction) -> list[Fraction | None]:
    own = sum_delta(charges)
    rest = delta - own
    noisy = _noisy(charges)
    others = [charge for charge in charges if isinstance(charge, PureDP | ApproxDP)]
    results: list[Fraction | None] = []
    if not noisy and rest >= 0:
        results.append(composed_epsilon(others, delta))
    if rest > losses.TINIEST:
        results.append(_converted(charges, rest))
    if noisy and others and rest > losses.TINIEST:
        results.append(sum_epsilon(others) + _converted(noisy, rest))
        for split in _SPLITS:
            beside = composed_epsilon(others, delta - rest * split)
            if beside is not None:
                results.append(beside + _converted(noisy, rest * split))
    return results


def _converted(charges: Sequence[Charge], delta: Fraction) -> Fraction:
    """The smaller of two epsilons: of all charges in zCDP, or as one Gaussian where they can be taken as one."""
    epsilon = losses.epsilon_of(ZeroConcentratedDP(sum_rho(charges)), delta)
    gaussian = as_gaussian(charges) if any(isinstance(charge, GaussianDP) for charge in charges) else None
    if gaussian is None:
        return epsilon
    try:
        return min(epsilon, losses.epsilon_of_gaussian(gaussian, delta))
    except ParameterError:  # the distances use up delta
        return epsilon
