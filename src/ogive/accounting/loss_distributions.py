"""Exact composition of pure and approximate guarantees by their loss distributions.

The worst pair of distributions under epsilon is one randomized response (Kairouz, Oh and Viswanath
2015), so the composition of guarantees fixed beforehand is the composition of those. The work is done by
`dp_accounting`; every rounding is towards safety.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ogive.privacy import ApproxDP, PureDP

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
    """How many releases of one pure epsilon together keep (epsilon, delta); rounded down.

    Args:
        step: Epsilon of each.
        epsilon: Of all together.
        delta: Of all together.

    Returns:
        The number; never below what adding up gives, or exactly that where loss distributions cannot
        give more for a reasonable effort.
    """
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
    """An epsilon that charges fixed beforehand keep together at a delta; rounded up.

    Args:
        charges: At least one.
        delta: Of all together, the charges' own deltas included.

    Returns:
        None where floating point cannot tell.
    """
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
    found = max(float(composed.get_epsilon_for_delta(aimed)), _LEAST_EPSILON)
    return Fraction(found * (1 + _RELATIVE_ROOM)) if found < float("inf") else None
