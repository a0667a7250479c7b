"""How much an account may still spend when every charge may depend on earlier answers.

A total that is right for a list of charges fixed beforehand may be wrong for charges that were chosen
after looking at answers, and taking the better of two such rules adds up their deltas. So the rules for
an (epsilon, delta) limit are fixed by the limit and by the first charge, which nobody's answers have
influenced, and divide the limit's delta among themselves. The proof is in the manual, under composition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ogive.accounting.conversions import delta_of, epsilon_of
from ogive.accounting.loss_distributions import most_repeats
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP

# of the limit's delta, what is kept for charges that bring a delta of their own
_KEPT = Fraction(1, 10)
# remaining guarantees are named with this relative room, far above the error of the conversions
_SHOWN_ROOM = Fraction(1, 10**6)


@dataclass(frozen=True)
class Shares:
    """How the delta of a limit is divided among the ways to keep it.

    Fields:
        sums: For the deltas of ApproxDP charges, which add up.
        concentrated: For the conversion of everything from zCDP.
        repeats: For pure charges no larger than the first, counted.
        step: The first charge's epsilon, where charges are counted.
        most: How many charges of one step keep (epsilon, repeats).
    """

    sums: Fraction
    concentrated: Fraction
    repeats: Fraction = Fraction(0)
    step: Fraction = Fraction(0)
    most: int = 0


@lru_cache(maxsize=256)
def shares(limit: ApproxDP, first: Privacy) -> Shares:
    """Divide a limit's delta, knowing no more than the first charge."""
    delta = limit.delta
    kept = delta * _KEPT
    match first:
        case ZeroConcentratedDP():
            return Shares(Fraction(0), delta)
        case ApproxDP():
            return Shares(kept, delta - kept) if first.delta <= kept else Shares(delta, Fraction(0))
        case PureDP():
            half = (delta - kept) / 2
            most = most_repeats(first.epsilon, limit.epsilon, half)
            if _keeps(most, first.epsilon, limit.epsilon, delta - kept):
                return Shares(kept, delta - kept)
            return Shares(kept, half, half, first.epsilon, most)


def _keeps(count: int, step: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether counting repeats is no better than adding up, in epsilon or in zCDP."""
    if count * step <= epsilon:
        return True
    return delta_of(ZeroConcentratedDP(count * step**2 / 2), epsilon) <= delta


def mismatch(limit: Privacy, charge: Privacy) -> str | None:
    """Why a charge of this type never fits a limit of that type and what would, or None if it may."""
    match limit, charge:
        case PureDP(), ZeroConcentratedDP():
            return "its limit is a pure epsilon, which Gaussian noise (zCDP) never keeps; grant PureDP instead"
        case PureDP(), ApproxDP():
            return "its limit is a pure epsilon, which a loss with a delta never keeps; grant PureDP instead"
        case ZeroConcentratedDP(), ApproxDP():
            return "its limit is in zCDP, which a loss with a delta never keeps; grant ZeroConcentratedDP instead"
    return None


def fits(limit: Privacy, charges: Sequence[Privacy], *, first: Privacy | None = None) -> bool:
    """Whether charges, in the order they were made, stay within a limit.

    Each charge may have been chosen after looking at all earlier answers.

    Args:
        limit: What all of them together must keep.
        charges: The loss of each release, of any types.
        first: What the first one was charged before any answer, if it was raised since.
    """
    if not charges:
        return True
    if any(mismatch(limit, charge) for charge in charges):
        return False
    match limit:
        case PureDP():
            return sum_epsilon(charges) <= limit.epsilon
        case ZeroConcentratedDP():
            return sum_rho(charges) <= limit.rho
        case ApproxDP():
            return _fits_approx(limit, charges, shares(limit, first if first is not None else charges[0]))


def _fits_approx(limit: ApproxDP, charges: Sequence[Privacy], divided: Shares) -> bool:
    if sum_delta(charges) > divided.sums:
        return False
    concentrated = any(isinstance(charge, ZeroConcentratedDP) for charge in charges)
    if not concentrated and sum_epsilon(charges) <= limit.epsilon:
        return True
    if (
        divided.most
        and len(charges) <= divided.most
        and all(isinstance(charge, PureDP) and charge.epsilon <= divided.step for charge in charges)
    ):
        return True
    total = ZeroConcentratedDP(sum_rho(charges))
    return divided.concentrated > 0 and delta_of(total, limit.epsilon) <= divided.concentrated


def remaining(limit: Privacy, charges: Sequence[Privacy], *, first: Privacy | None = None) -> Privacy | None:
    """The largest guarantee that one more release can be granted.

    Args:
        limit: What everything together must keep.
        charges: What was charged so far, in order.
        first: What the first one was charged before any answer, if it was raised since.

    Returns:
        A guarantee of the limit's type, or None where nothing is left. Under an ApproxDP limit it has the
        limit's delta, and fits whether the release then adds Laplace or Gaussian noise; where only pure
        releases fit any more it is PureDP.
    """
    match limit:
        case PureDP():
            rest = limit.epsilon - sum_epsilon(charges)
            return PureDP(rest) if rest > 0 else None
        case ZeroConcentratedDP():
            rest = limit.rho - sum_rho(charges)
            return ZeroConcentratedDP(rest) if rest > 0 else None
        case ApproxDP():
            return _remaining_approx(limit, charges, first) if charges else limit


def _remaining_approx(limit: ApproxDP, charges: Sequence[Privacy], first: Privacy | None) -> Privacy | None:
    def pure_fits(epsilon: Fraction) -> bool:
        return epsilon > 0 and fits(limit, [*charges, PureDP(epsilon)], first=first)

    def concentrated_fits(rho: Fraction) -> bool:
        return fits(limit, [*charges, ZeroConcentratedDP(rho)], first=first)

    plain = limit.epsilon - sum_epsilon(charges)
    pure = max(plain if pure_fits(plain) else Fraction(0), _largest(pure_fits, limit.epsilon))
    rho = _largest(concentrated_fits, limit.epsilon + limit.epsilon**2)
    if rho > 0:
        shown = rounded_down(min(pure, epsilon_of(ZeroConcentratedDP(rho), limit.delta) * (1 - _SHOWN_ROOM)))
        if shown > 0:
            return ApproxDP(shown, limit.delta)
    return PureDP(pure) if pure > 0 else None


def _largest(accepts: Callable[[Fraction], bool], high: Fraction) -> Fraction:
    """The largest number up to `high` that is accepted, to 40 bits, rounded down; 0 if none is."""
    if accepts(high):
        return high
    low, top = Fraction(0), high
    for _ in range(40):
        middle = (low + top) / 2
        if accepts(middle):
            low = middle
        else:
            top = middle
    return rounded_down(low)


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


def _last_digit(value: Fraction) -> Fraction:
    unit = Fraction(1)
    while value < unit * 10**5:
        unit /= 10
    while value >= unit * 10**6:
        unit *= 10
    return unit


def sum_epsilon(charges: Sequence[Privacy]) -> Fraction:
    """The epsilons of pure and approximate charges, added up exactly."""
    return sum((charge.epsilon for charge in charges if not isinstance(charge, ZeroConcentratedDP)), Fraction(0))


def sum_delta(charges: Sequence[Privacy]) -> Fraction:
    """The deltas of approximate charges, added up exactly."""
    return sum((charge.delta for charge in charges if isinstance(charge, ApproxDP)), Fraction(0))


def sum_rho(charges: Sequence[Privacy]) -> Fraction:
    """Everything in zCDP, added up exactly; an epsilon counts as epsilon^2 / 2, a delta is left aside."""
    return sum(
        (charge.rho if isinstance(charge, ZeroConcentratedDP) else charge.epsilon**2 / 2 for charge in charges),
        Fraction(0),
    )
