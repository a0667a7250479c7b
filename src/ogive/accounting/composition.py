"""What charges add up to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ogive.accounting.filters import as_gaussian, sum_delta, sum_epsilon, sum_rho
from ogive.accounting.gaussian import epsilon_of_gaussian, pure_mu_squared
from ogive.accounting.loss_distributions import composed_epsilon
from ogive.accounting.losses import TINIEST, covers, epsilon_of
from ogive.accounting.rounding import rounded_up
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, Charge, GaussianDP, Privacy, PureDP, ZeroConcentratedDP

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
    epsilons = [rounded_up(epsilon) for epsilon in _conversions(charges, delta) if epsilon is not None]
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
    found: list[Fraction | None] = []
    if not noisy and rest >= 0:
        found.append(composed_epsilon(others, delta))
    if rest > TINIEST:
        found.append(_converted(charges, rest))
    if noisy and others and rest > TINIEST:
        found.append(sum_epsilon(others) + _converted(noisy, rest))
        for split in _SPLITS:
            beside = composed_epsilon(others, delta - rest * split)
            if beside is not None:
                found.append(beside + _converted(noisy, rest * split))
    return found


def _converted(charges: Sequence[Charge], delta: Fraction) -> Fraction:
    """The smaller of two epsilons: of all charges in zCDP, or as one Gaussian where they can be taken as one."""
    epsilon = epsilon_of(ZeroConcentratedDP(sum_rho(charges)), delta)
    gaussian = as_gaussian(charges) if any(isinstance(charge, GaussianDP) for charge in charges) else None
    if gaussian is None:
        return epsilon
    try:
        return min(epsilon, epsilon_of_gaussian(gaussian, delta))
    except ParameterError:  # the distances use up delta
        return epsilon


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
