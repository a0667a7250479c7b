"""Noise of independent counts: which law serves a guarantee, how far it may reach, and which counts go on beyond it.

All tails are rounded up, so that what is promised of them holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ogive.accounting import loss_per_row
from ogive.columns import Binning
from ogive.errors import ScaleError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, too_much_noise
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import CurveQuery
from ogive.statistics.base import Terms
from ogive.statistics.methods.unbiased import grants
from ogive.strategies import LeastSquaresTree
from ogive.strategies.base import measured_laws

_ROOM = 1 + 1e-9
_SUMMED = 64


def flat_strategy(binning: Binning, terms: Terms, *, chance: float) -> LeastSquaresTree:
    """Every bin counted once, with the noise whose `reach` is shortest among those that meet the terms."""
    results: list[LeastSquaresTree] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    moved = 2 if terms.adjacency is Adjacency.REPLACE else 1
    size = binning.grid.bins
    for grant in grants(terms.privacy):
        try:
            own = loss_per_row(grant, terms.unit.max_rows_per_person)
            laws = measured_laws(own, [Fraction(1)], l1=[moved], l2_squared=[moved])
            results.append(LeastSquaresTree(size, (1,), laws))
        except ScaleError as error:
            failed.append((grant, error))
    if not results:
        raise too_much_noise(terms.privacy, "a count", failed)
    refusals = [terms.refusal(CurveQuery(binning, strategy)) for strategy in results]
    served = [strategy for strategy, reason in zip(results, refusals, strict=True) if reason is None]
    if not served:
        raise UnsupportedError(str(refusals[-1]))
    return min(served, key=lambda strategy: reach(strategy.laws[0], size, chance))


def reach(law: Law, size: int, chance: float) -> int:
    """The smallest t such that some of `size` independent draws is t or more with probability at most `chance`.

    Exact for Laplace noise and for Gaussian noise of small sigma, to floating point; for large sigma at most one
    part in a thousand too large.
    """
    each = -math.expm1(math.log1p(-chance) / size) / _ROOM
    low, high = 0, 1
    while tail(law, high) > each:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(law, middle) > each else (low, middle)
    return high


def tail(law: Law, start: int) -> float:
    """P(Z >= start) for start >= 1, rounded up."""
    from scipy.special import ndtr  # slow to import

    if isinstance(law, DiscreteLaplace):
        inverse = 1 / float(law.scale)
        return math.exp(-start * inverse) / (1 + math.exp(-inverse)) * _ROOM
    assert isinstance(law, DiscreteGaussian)
    sigma = float(law.sigma)
    if sigma < _SUMMED:
        # beyond 40 sigma the terms add up to less than the smallest float
        values = np.arange(start, start + int(40 * sigma) + 2)
        return float(np.exp(law.log_probability(values)).sum()) * _ROOM
    # a decreasing sum is at most its first term and an integral
    first = float(np.exp(law.log_probability(np.array([start])))[0])
    return (first + float(ndtr(-start / sigma))) * _ROOM


def sum_reach(law: Law, terms: int, chance: float) -> float:
    """A value that the sum of some independent draws exceeds with probability at most `chance`.

    Chernoff's bound, with the exact moment generating function of discrete Laplace noise and
    exp(lambda^2 sigma^2 / 2) for discrete Gaussian noise.

    Source: Canonne, Kamath and Steinke 2020, lemma 8 for the Gaussian.
    """
    if terms == 0:
        return 0.0
    needed = -math.log(chance)
    if isinstance(law, DiscreteGaussian):
        return float(law.sigma) * math.sqrt(2 * terms * needed) * _ROOM
    assert isinstance(law, DiscreteLaplace)
    scale = float(law.scale)
    share = np.linspace(0.001, 0.999, 999)  # any lambda below 1 / scale gives a valid bound
    log_moment = (
        2 * math.log(-math.expm1(-1 / scale))
        - np.log(-np.expm1((share - 1) / scale))
        - np.log(-np.expm1(-(share + 1) / scale))
    )
    return float(np.min((terms * log_moment + needed) * scale / share)) * _ROOM


# --- Bins beside those that certainly hold records
#
# A bin that lies d places beyond the bounds extends them if noise alone would reach its count with probability at most
# c / 4^(d - 1). The probability falls as the harm grows: bounds that are d bins of base 2 too wide cost 2^d times the
# noise. No bin needs more than one that is taken by itself. Noise makes the bounds too wide with probability at most
# that of any bin passing the threshold by itself, plus 2 (c + c / 4 + ...) = 8 c / 3.
#
# Source:
#     `docs/proofs/together.md`.

FURTHER = 4
"""How many times smaller the probability is one place further off."""

AT_BOTH_ENDS = 2 * FURTHER / (FURTHER - 1)
"""The probabilities of all places at both ends together, in those of the first."""


def needed_beside(law: Law, size: int, chance: float, most: int) -> tuple[int, ...]:
    """The noisy counts from which on a bin extends the bounds, by its distance from them, 1 first."""
    needed: list[int] = []
    while len(needed) < size:
        count = reach(law, 1, chance / FURTHER ** len(needed)) if not needed or needed[-1] < most else most
        needed.append(min(count, most))
    return tuple(needed)


def extended(counts: Sequence[int], needed: Sequence[int]) -> int:
    """By how many of the bins beyond a bound it moves outwards."""
    taken = 0
    for place, count in enumerate(counts, start=1):
        if count >= needed[place - taken - 1]:
            taken = place
    return taken
