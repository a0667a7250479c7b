"""What charges add up to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ogive.accounting.conversions import TINIEST, delta_of, epsilon_of
from ogive.accounting.filters import sum_delta, sum_epsilon, sum_rho
from ogive.accounting.loss_distributions import composed_epsilon
from ogive.accounting.rounding import rounded_up
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP

# of a delta, what the conversion of zCDP gets where pure charges are composed beside it
_SPLITS = tuple(Fraction(n, 10) for n in (1, 3, 5, 7, 9))


def compose(charges: Sequence[Privacy], *, delta: Fraction | None = None) -> Privacy:
    """The tightest guarantee that is known for charges that were fixed beforehand.

    The releases may depend on each other's answers; how much each costs may not. An account whose users
    choose charges as they go is kept within its limit by `fits`, which allows a little less.

    Args:
        charges: The loss of each release, at least one, of any types.
        delta: Ask for an (epsilon, delta) guarantee with this delta; None for the strongest type that
            the charges have in common.

    Returns:
        PureDP if all are pure, ZeroConcentratedDP if none has a delta, else ApproxDP; rounded up. With
        `delta` always ApproxDP: the least of plain sums, zCDP converted, loss distributions, and pure
        charges by loss distributions beside zCDP ones converted.

    Raises:
        ParameterError: the charges' own deltas use up `delta`.
    """
    if delta is None:
        if all(isinstance(charge, PureDP) for charge in charges):
            return PureDP(sum_epsilon(charges))
        own = sum_delta(charges)
        if own == 0:
            return ZeroConcentratedDP(sum_rho(charges))
        delta = min(2 * own, (1 + own) / 2) if _concentrated(charges) else own
    epsilons = [rounded_up(epsilon) for epsilon in _conversions(charges, delta) if epsilon is not None]
    if sum_delta(charges) <= delta and not _concentrated(charges):
        epsilons.append(sum_epsilon(charges))
    if not epsilons:
        raise ParameterError(f"the charges' own deltas use up delta = {float(delta):g}")
    return ApproxDP(min(epsilons), delta)


def _concentrated(charges: Sequence[Privacy]) -> list[ZeroConcentratedDP]:
    return [charge for charge in charges if isinstance(charge, ZeroConcentratedDP)]


def _conversions(charges: Sequence[Privacy], delta: Fraction) -> list[Fraction | None]:
    own = sum_delta(charges)
    rest = delta - own
    concentrated = _concentrated(charges)
    others = [charge for charge in charges if not isinstance(charge, ZeroConcentratedDP)]
    found: list[Fraction | None] = []
    if not concentrated and rest >= 0:
        found.append(composed_epsilon(others, delta))
    if rest > TINIEST:
        found.append(epsilon_of(ZeroConcentratedDP(sum_rho(charges)), rest))
    if concentrated and others and rest > TINIEST:
        total = ZeroConcentratedDP(sum_rho(concentrated))
        found.append(sum_epsilon(others) + epsilon_of(total, rest))
        for split in _SPLITS:
            beside = composed_epsilon(others, delta - rest * split)
            if beside is not None:
                found.append(beside + epsilon_of(total, rest * split))
    return found


def at_least(charge: Privacy, other: Privacy) -> bool:
    """Whether a charge stands for no less than another: whatever keeps the other keeps the charge."""
    match charge, other:
        case (PureDP(), PureDP()):
            return other.epsilon <= charge.epsilon
        case (ZeroConcentratedDP(), ZeroConcentratedDP()):
            return other.rho <= charge.rho
        case (ZeroConcentratedDP(), PureDP()):
            return other.epsilon**2 / 2 <= charge.rho
        case (ApproxDP(), PureDP()):
            return other.epsilon <= charge.epsilon
        case (ApproxDP(), ApproxDP()):
            return other.epsilon <= charge.epsilon and other.delta <= charge.delta
        case (ApproxDP(), ZeroConcentratedDP()):
            return delta_of(other, charge.epsilon) <= charge.delta
    return False
