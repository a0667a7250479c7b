"""How much less reports tell when a shuffler mixes those of all participants.

Whoever sees only the shuffled reports of n participants, each epsilon_0-DP for its owner, knows about one of them no
more than from one of two pairs of counts (Feldman, McMillan and Talwar 2021, Theorem 3.2): with
C ~ Bin(n - 1, e^-epsilon_0), A ~ Bin(C, 1/2) and D a bit, 1 with probability q = e^epsilon_0 / (1 + e^epsilon_0),

    (A + D, C - A + 1 - D)    or    (A + 1 - D, C - A + D).

The two are mirror images, so one direction of the divergence is the other. Given C = c the likelihood ratio grows with
the first count. With m = c + 1, U ~ Bin(m, 1/2) and epsilon_0 - epsilon the gap, the divergence at e^epsilon
is the price of a put on U:

    tanh(epsilon_0 / 2) * 2 E[max(0, v - (1 + e^epsilon) U / m)],    v = (1 - e^-gap) / (1 - e^-epsilon_0).

It is a sum of terms above 0, and what tells epsilon from epsilon_0 is the gap, so nothing cancels where both are large.
More clones hide better: one more is one more fair coin, added to one of the counts whatever they are. So of any range
of c the least stands for all.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import special, stats

from ogive.core.arrays import Float64
from ogive.core.checks import whole
from ogive.errors import ParameterError
from ogive.privacy import Rational, exact

MOST_REPORTS = 10**12
"""Most reports that are shuffled together."""

_LARGEST_EPSILON = 700
_LEAST_DELTA = Fraction(1, 10**100)
# relative room for the rounding of floating point: most where 10^12 reports meet a delta of 1e-100, 5e-7
_ROOM = 2e-6
# of delta, what is spent on never looking at very few clones
_TAIL = 1e-6
_MOST_RANGES = 1 << 14
# so few clones on average are none: what they would hide is no more than this part of the divergence
_NO_CLONES = 1e-30
_BISECTIONS = 60
# above this share of heads, and that many coins, a put is computed in closed form; elsewhere its terms soon vanish
_CLOSED_SHARE, _CLOSED_COINS = 1 / 3, 256


def shuffled_epsilon(reports: int, epsilon: Rational, delta: Rational) -> Fraction:
    """Epsilon of shuffled reports at a delta, by the exact clone bound.

    It is rounded up, by at most a part in 10,000 and 0.00001 where delta is at most 0.5; by more above.

    A trusted shuffler must mix the reports and remove everything that identifies them, including the participants'
    numbers. If the number determines the question, as in a hierarchy, only reports on the same question mix.

    Args:
        reports: Number of reports shuffled together, at least 1; the smallest such number if there are several groups.
        epsilon: Epsilon of each report for its owner, above 0 and at most 700.
        delta: Delta of the shuffled reports, from 1e-100 to below 1.

    Returns:
        Epsilon for adjacency REPLACE, at most the reports' own.

    Raises:
        ParameterError: an argument is out of range.

    Source:
        Feldman, McMillan and Talwar 2021, Theorem 3.2.

    Example:
        >>> round(float(shuffled_epsilon(10_000, 1, 1e-6)), 4)
        0.053
    """
    own, slack = _checked(reports, epsilon, delta)
    return _shuffled_epsilon(reports, own, slack)


@lru_cache(maxsize=256)
def _shuffled_epsilon(reports: int, own: Fraction, slack: Fraction) -> Fraction:
    target = float(slack) * (1 - _ROOM)
    clones = _clones(reports, float(own), target)
    low, high = 0.0, float(own)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _delta(clones, float(own), float(own) - middle) <= target:
            high = middle
        else:
            low = middle
        if high - low <= high * _ROOM / 10:
            break
    return min(own, Fraction(high) * (1 + Fraction(_ROOM)))


def shuffled_delta(reports: int, epsilon: Rational, shuffled: Rational) -> float:
    """The delta with which shuffled reports keep an epsilon, by the exact clone bound.

    It is rounded up, by at most a part in 1,000 and 1e-105.

    Args:
        reports: How many are shuffled together, at least 1.
        epsilon: Epsilon of each report for its owner, above 0 and at most 700.
        shuffled: Epsilon of the shuffled reports, at least 0.

    Raises:
        ParameterError: an argument is out of range.
    """
    own, _ = _checked(reports, epsilon, Fraction(1, 2))
    stated = exact(shuffled, "shuffled")
    if stated < 0:
        raise ParameterError(f"`shuffled` must be at least 0, got {shuffled}")
    clones = _clones(reports, float(own), float(_LEAST_DELTA))
    if stated >= own:
        return 0.0
    return min(1.0, _delta(clones, float(own), float(own - stated)) * (1 + _ROOM))


def shuffled_epsilon_bound(reports: int, epsilon: Rational, delta: Rational) -> Fraction:
    """A closed form that is never below `shuffled_epsilon`, and 3 to 5 times as large: a check; rounded up.

    Raises:
        ParameterError: an argument is out of range, or epsilon is above ln(reports / (16 ln(2 / delta))).

    Source:
        Feldman, McMillan and Talwar 2021, Theorem 3.1.
    """
    own, slack = _checked(reports, epsilon, delta)
    logs = -math.log(slack)
    if float(own) > math.log(reports / (16 * (math.log(2) + logs))):
        raise ParameterError(
            f"the closed form needs more than {16 * (math.log(2) + logs) * math.exp(float(own)):.4g} reports "
            f"at this epsilon and delta, got {reports}"
        )
    odds = math.exp(float(own))
    mixed = 8 * math.sqrt(odds * (math.log(4) + logs) / reports) + 8 * odds / reports
    return Fraction(math.log1p((odds - 1) / (odds + 1) * mixed)) * (1 + Fraction(_ROOM))


def _checked(reports: int, epsilon: Rational, delta: Rational) -> tuple[Fraction, Fraction]:
    whole(reports, "reports", 1, MOST_REPORTS)
    own, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    if not 0 < own <= _LARGEST_EPSILON:
        raise ParameterError(f"`epsilon` must be above 0 and at most {_LARGEST_EPSILON}, got {epsilon}")
    if not _LEAST_DELTA <= slack < 1:
        raise ParameterError(f"`delta` must be from 1e-100 to below 1, got {delta}")
    return own, slack


class _Clones:
    """How many other reports look like either of two values: the least of every range, and its probability.

    Fields:
        least: Numbers of clones, shape (ranges,).
        weights: Probability of each range, shape (ranges,).
        fewer: Probability of fewer clones than any of these.
    """

    def __init__(self, least: Float64, weights: Float64, fewer: float) -> None:
        self.least, self.weights, self.fewer = least, weights, fewer


def _clones(reports: int, own: float, delta: float) -> _Clones:
    if (reports - 1) * math.exp(-own) < _NO_CLONES:
        return _Clones(np.zeros(1), np.ones(1), 0.0)
    law = stats.binom(reports - 1, math.exp(-own))
    # Chernoff: beyond these lies less than that part of delta
    mean, log_tail = float(law.mean()), -math.log(delta * _TAIL)
    low = max(0, math.floor(mean - math.sqrt(2 * mean * log_tail)))
    high = min(reports - 1, math.ceil(mean + log_tail / 3 + math.sqrt(log_tail**2 / 9 + 2 * mean * log_tail)))
    step = 1 + (high - low) // _MOST_RANGES
    least = np.arange(low, high + 1, step, dtype=np.float64)
    if step == 1:
        weights = np.asarray(law.pmf(least))
        weights[-1] += law.sf(high)
    else:
        # either tail keeps the relative precision of what lies beyond it
        below, above = law.cdf(least - 1), law.sf(least - 1)
        weights = np.where(least < mean, np.append(below[1:], 1.0) - below, above - np.append(above[1:], 0.0))
    fewer = float(law.cdf(low - 1)) if low > 0 else 0.0
    return _Clones(least, weights, fewer)


def _delta(clones: _Clones, own: float, gap: float) -> float:
    """The divergence at the epsilon `own - gap`, with the probability of fewer clones than are looked at."""
    worth = math.expm1(-gap) / math.expm1(-own)
    result = _put(clones.least + 1, worth, 1 + math.exp(own - gap))
    return 2 * math.tanh(own / 2) * float(clones.weights @ result) + clones.fewer


def _put(coins: Float64, worth: float, scale: float) -> Float64:
    """E[max(0, worth - scale * U / coins)] for U heads of so many fair coins, where worth <= scale / 2."""
    share = worth / scale
    most = np.maximum(np.ceil(coins * share) - 1, 0.0)
    closed = (share > _CLOSED_SHARE) & (coins > _CLOSED_COINS)
    result = np.empty_like(coins)
    result[closed] = scale / coins[closed] * _below(coins[closed], coins[closed] * share, most[closed])
    coins, heads = coins[~closed], most[~closed]
    chance = np.asarray(stats.binom.pmf(heads, coins, 0.5), dtype=np.float64)
    total = np.zeros_like(coins)
    # from the most heads down; each term is at most about half of the last, or there are few
    while np.any(chance > total * 1e-18):
        total += chance * np.maximum(worth - scale * heads / coins, 0.0)
        chance = chance * heads / (coins - heads + 1)
        heads = np.maximum(heads - 1, 0.0)
    result[~closed] = total
    return result


def _below(coins: Float64, limit: Float64, most: Float64) -> Float64:
    """E[max(0, limit - U)] for U heads of so many fair coins, `most` the largest whole number below the limit."""
    chance = np.asarray(stats.binom.pmf(most, coins, 0.5), dtype=np.float64)
    tail = special.betainc(coins - most, most + 1, 0.5)
    return np.asarray(np.maximum((coins - most) / 2 * chance - (coins / 2 - limit) * tail, 0.0))
